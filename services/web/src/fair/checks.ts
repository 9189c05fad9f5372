/**
 * Checks 1 to 7 of a match, one by one, each with what it computed and what was published.
 *
 * Written from the fairness page alone. A check passes, fails at the first entry that lies, or stays open with its reason.
 */
import { type Bytes, hex, same, utf8 } from "./bytes";
import { DRAW, type Draw, type Event, type Lie, type Log, noncesOf, readLog, sameNonces } from "./log";
import { streamOf, type Stream, MAX_BOUND } from "./draws";
import { type Entry, type Evidence, type ExportFile, lineOf, type OpenPart } from "./exportfile";
import { hmacText, isName, linkBytes, partBytes, sha256Text, text } from "./formulas";
import type { Hasher } from "./hasher";
import type { Kept } from "./keepsake";
import { provedLog, type Witness } from "./logged";
import { Message } from "./wire";

export type Status = "passed" | "failed" | "open";

/** A piece of evidence to look at. `name` says which; the page has the words. */
export type Shown =
  | {
      readonly kind: "hash";
      readonly name: string;
      readonly args: Readonly<Record<string, string | number>>;
      readonly how: "sha256" | "hmac";
      /** Hex, for HMAC. */
      readonly key: string;
      /** The hashed text; or else its bytes in hex. */
      readonly text: string | null;
      readonly bytes: string;
      readonly computed: string;
      readonly published: string | null;
    }
  | { readonly kind: "rows"; readonly rows: readonly (readonly [name: string, value: string])[] }
  | { readonly kind: "seats"; readonly rows: readonly SeatRow[] }
  | { readonly kind: "draws"; readonly rows: readonly DrawRow[]; readonly game: string; readonly joint: string }
  | { readonly kind: "text"; readonly name: string; readonly text: string }
  | { readonly kind: "chain"; readonly rows: readonly (readonly [version: number, hash: string])[] }
  | { readonly kind: "leaves"; readonly rows: readonly LeafRow[] };

export interface SeatRow {
  readonly seat: number;
  readonly seal: string;
  readonly nonce: string;
  readonly computed: string;
  readonly text: string;
  /** As this device kept them; "unknown": nothing is kept here. */
  readonly own: "same" | "other" | "unknown";
}

export interface DrawRow {
  readonly version: number;
  readonly label: string;
  readonly kind: number;
  readonly bound: number;
  readonly results: readonly number[];
  readonly computed: readonly number[] | null;
  readonly good: boolean;
  /** Where in the label's stream it begins. */
  readonly from: number;
}

export interface LeafRow {
  readonly kind: string;
  readonly number: number;
  readonly text: string;
  readonly path: readonly string[];
  readonly hash: string;
}

export interface Check {
  readonly number: number;
  readonly status: Status;
  /** Stable; the page has a sentence for each. */
  readonly code: string;
  readonly args: Readonly<Record<string, string | number>>;
  /** The first entry that lies; 0: none, or not about an entry. */
  readonly version: number;
  /** Line of the file; 0: none. */
  readonly line: number;
  readonly shown: readonly Shown[];
}

export interface Progress {
  readonly check: number;
  readonly done: number;
  readonly total: number;
}

export interface Options {
  readonly hasher: Hasher;
  /** What this device kept of the match. */
  readonly kept?: Kept | null;
  /** What is known of the transparency log from elsewhere. */
  readonly witness?: Witness;
  /** False: recorded without any service, so that no proofs are asked for. */
  readonly inLog?: boolean;
}

/** Entries hashed at once. */
const AT_ONCE = 25;

type Keyed = (data: Bytes) => Promise<Bytes>;

interface Hashes {
  readonly parts: readonly { readonly part: OpenPart; readonly body: Bytes; readonly salt: Bytes | null; readonly computed: Bytes }[];
  /** What is hashed for the chain. */
  readonly bytes: Bytes;
  readonly computed: Bytes;
}

/** A check found a lie. */
class Lying extends Error {
  constructor(
    readonly code: string,
    readonly version: number,
    readonly args: Lie["args"] = {},
  ) {
    super(code);
  }
}

/** A check cannot be made. */
class Open extends Error {
  constructor(
    readonly code: string,
    readonly args: Lie["args"] = {},
  ) {
    super(code);
  }
}

interface Found {
  readonly code: string;
  readonly args?: Lie["args"];
}

/** Makes all checks, telling how far each is; the last, 8, is never made here and says so. */
export async function* audit(file: ExportFile, options: Options): AsyncGenerator<Check | Progress> {
  const work = new Audit(file, options);
  const seeds: Check[] = [];
  for (const number of [1, 2, 3]) {
    yield { check: number, done: 0, total: 1 };
    const made = await work.make(number);
    seeds.push(made);
    yield made;
  }
  const trusted = seeds[0]?.status !== "failed" && seeds[1]?.status !== "failed";
  for (const number of [4, 5]) {
    yield { check: number, done: 0, total: 1 };
    yield trusted ? await work.make(number) : plain(number, "open", "no_trusted_seed");
  }
  for await (const step of work.chain()) yield step;
  yield { check: 7, done: 0, total: 1 };
  yield await work.make(7);
  yield plain(8, "open", "rules_walk");
}

/** The report on a file that cannot be read: check 6 fails at its line, nothing else is made. */
export function unreadable(line: number, code: string): Check[] {
  return [1, 2, 3, 4, 5, 6, 7, 8].map((number) =>
    number === 6
      ? { ...plain(6, "failed", "file_unreadable"), args: { fault: code, line }, line }
      : plain(number, "open", number === 8 ? "rules_walk" : "no_file"),
  );
}

function plain(number: number, status: Status, code: string): Check {
  return { number, status, code, args: {}, version: 0, line: 0, shown: [] };
}

class Audit {
  readonly #log: Log;
  readonly #hasher: Hasher;
  readonly #file: ExportFile;
  readonly #options: Options;
  readonly #lies: Record<number, Lie[]> = {};
  #shown: Shown[] = [];
  #seedFits = true;

  constructor(file: ExportFile, options: Options) {
    this.#file = file;
    this.#hasher = options.hasher;
    this.#options = options;
    this.#log = readLog(file.entries, file.matchId, file.game);
  }

  async make(number: number): Promise<Check> {
    this.#shown = [];
    let status: Status = "passed";
    let found: Found & { version?: number };
    try {
      const checks = [() => this.#commitment(), () => this.#nonces(), () => this.#joint(), () => this.#draws(), () => this.#deal()];
      found = await (number === 7 ? this.#logged() : (checks[number - 1] as () => Promise<Found>)());
    } catch (error) {
      if (error instanceof Lying) {
        status = "failed";
        found = error;
      } else if (error instanceof Open) {
        status = "open";
        found = error;
      } else throw error;
    }
    if (number === 1) this.#seedFits = status === "passed";
    return this.#report(number, status, found);
  }

  #report(number: number, status: Status, found: Found & { version?: number }): Check {
    // Of all that lies in one check the earliest entry is named.
    const first = [...(this.#lies[number] ?? [])].sort((a, b) => (a.version || Infinity) - (b.version || Infinity))[0];
    if (first !== undefined && (status !== "failed" || (first.version || Infinity) < (found.version || Infinity))) {
      status = "failed";
      found = first;
    }
    const version = status === "failed" ? (found.version ?? 0) : 0;
    let line = version > 0 ? lineOf(version) : 0;
    if (number === 7 && status === "failed" && line === 0 && this.#file.evidence !== null) line = lineOf(this.#file.entries.length + 1);
    return { number, status, code: found.code, args: { ...found.args }, version, line, shown: this.#shown };
  }

  #created(): Event {
    const { created, game, matchId } = this.#log;
    if (created === null || !isName(game)) throw new Lying("no_created", 1);
    if (matchId === "") throw new Lying("no_created", 1);
    return created;
  }

  #revealed(): Event {
    const { revealed } = this.#log;
    if (revealed === null) throw new Open("secret_yet");
    return revealed;
  }

  #seed(): Bytes {
    const said = this.#revealed();
    const seed = said.whole.bytes(1);
    if (seed.length !== 32) throw new Lying("seed_size", said.version);
    return seed;
  }

  async #hash(name: string, hashed: string, published: Bytes | null, key: Bytes | null = null, args: Lie["args"] = {}): Promise<Bytes> {
    const computed = key === null ? await sha256Text(this.#hasher, hashed) : await hmacText(this.#hasher, key, hashed);
    this.#shown.push({
      kind: "hash",
      name,
      args,
      how: key === null ? "sha256" : "hmac",
      key: key === null ? "" : hex(key),
      text: hashed,
      bytes: "",
      computed: hex(computed),
      published: published === null ? null : hex(published),
    });
    return computed;
  }

  // ---- 1 -----------------------------------------------------------------------------------------------------------

  async #commitment(): Promise<Found> {
    const created = this.#created();
    const published = created.whole.bytes(8);
    const rows: [string, string][] = [["commitment", hex(published)]];
    const at = this.#log.entries[0]?.time;
    if (at !== undefined) rows.push(["committed_at", new Date(at).toISOString()]);
    const sealing = this.#log.entries.find((entry) => entry.events.some((event) => event.type === "nonce_sealed"));
    if (sealing !== undefined) rows.push(["first_seal_at", new Date(sealing.time).toISOString()]);
    const commit = this.#file.evidence?.leaves[0];
    if (commit !== undefined) rows.push(["commit_leaf", String(commit.number)]);
    this.#shown.push({ kind: "rows", rows });
    if (this.#log.revealed === null) throw new Open("not_revealed");
    const seed = this.#seed();
    const computed = await this.#hash("commitment", text.commitment(this.#log.game, this.#log.matchId, seed), published);
    if (!same(computed, published)) throw new Lying("commitment_differs", this.#revealed().version);
    return { code: "commitment_holds" };
  }

  // ---- 2 -----------------------------------------------------------------------------------------------------------

  async #nonces(): Promise<Found> {
    this.#created();
    const log = this.#log;
    const seals = new Map<number, Bytes>();
    const opened = new Map<number, Bytes>();
    const shownOnce = new Map<number, SeatRow>();
    const kept = this.#options.kept ?? null;
    const show = (): void => {
      const rows = [...seals].map(([seat, seal]): SeatRow =>
        shownOnce.get(seat) ?? { seat, seal: hex(seal), nonce: "", computed: "", text: "", own: "unknown" },
      );
      this.#shown.push({ kind: "seats", rows: rows.sort((a, b) => a.seat - b.seat) });
    };
    const fit = async (version: number, seat: number, nonce: Bytes): Promise<void> => {
      if (nonce.length !== 32) throw new Lying("nonce_size", version, { seat });
      const hashed = text.seal(log.game, log.matchId, seat, nonce);
      const computed = await sha256Text(this.#hasher, hashed);
      const seal = seals.get(seat) as Bytes;
      const mine = kept !== null && kept.seat === seat;
      const own = !mine ? "unknown" : kept.nonce === hex(nonce) && kept.seal === hex(seal) ? "same" : "other";
      shownOnce.set(seat, { seat, seal: hex(seal), nonce: hex(nonce), computed: hex(computed), text: hashed, own });
      if (!same(computed, seal)) throw new Lying("seal_differs", version, { seat });
    };
    try {
      for (const entry of log.entries) {
        for (const event of entry.events) {
          const { version } = event;
          const seat = event.whole.uint(1);
          if (event.type === "nonce_sealed" || event.type === "nonce_opened") {
            const bySeat = entry.header.uint(5) === 1 && entry.header.uint(6) === seat;
            if (seat >= log.seats) throw new Lying("no_such_seat", version, { seat });
            if (!bySeat) throw new Lying("not_own_command", version, { seat });
          }
          if (event.type === "nonce_sealed") {
            if (seals.size === log.seats) throw new Lying("sealed_late", version, { seat });
            if (opened.size > 0) throw new Lying("sealed_late", version, { seat });
            seals.set(seat, event.whole.bytes(2));
          } else if (event.type === "nonce_opened") {
            if (seals.size < log.seats) throw new Lying("opened_early", version, { seat });
            if (opened.has(seat)) throw new Lying("opened_twice", version, { seat });
            const nonce = event.whole.bytes(2);
            opened.set(seat, nonce);
            // While the match runs, other seats' openings are hidden until all are in.
            if (nonce.length > 0 || log.revealed !== null) await fit(version, seat, nonce);
          } else if (event.type === "nonces_revealed") {
            const listed = noncesOf(event.whole.messages(1));
            const whole = listed !== null && listed.size === log.seats && opened.size === log.seats;
            if (!whole || [...listed.keys()].some((n) => !opened.has(n))) throw new Lying("nonces_not_all", version);
            for (const [n, nonce] of listed) {
              const before = opened.get(n) as Bytes;
              if (before.length > 0 && !same(before, nonce)) throw new Lying("nonce_differs", version, { seat: n });
              opened.set(n, nonce);
              await fit(version, n, nonce);
            }
          }
        }
      }
      this.#keptNonce(kept, seals, opened);
      return this.#afterNonces(seals, opened);
    } finally {
      show();
    }
  }

  #keptNonce(kept: Kept | null, seals: ReadonlyMap<number, Bytes>, opened: ReadonlyMap<number, Bytes>): void {
    if (kept === null) return;
    const seal = seals.get(kept.seat);
    const nonce = opened.get(kept.seat);
    const version = this.#log.entries.find((entry) => entry.events.some((e) => e.type === "nonce_sealed" && e.whole.uint(1) === kept.seat))?.version ?? 0;
    if (seal !== undefined && hex(seal) !== kept.seal) throw new Lying("own_seal_differs", version, { seat: kept.seat });
    if (nonce !== undefined && nonce.length > 0 && hex(nonce) !== kept.nonce) {
      throw new Lying("own_nonce_differs", version, { seat: kept.seat });
    }
  }

  #afterNonces(seals: ReadonlyMap<number, Bytes>, opened: ReadonlyMap<number, Bytes>): Found {
    const { revealed, nonces, seats, ended } = this.#log;
    if (revealed === null) {
      throw new Open(nonces === null ? "seals_so_far" : "nonces_so_far", { seats, sealed: seals.size, opened: opened.size });
    }
    const said = noncesOf(revealed.whole.messages(2));
    if (said === null || !sameNonces(said, opened)) throw new Lying("revealed_nonces_differ", revealed.version);
    if (nonces !== null) return { code: "nonces_hold", args: { seats } };
    if (ended?.type === "match_closed") throw new Lying("nonces_never_revealed", revealed.version);
    if (ended !== null && ended.whole.uint(1) === 1) {
      const missing = (done: ReadonlyMap<number, Bytes>): number[] =>
        Array.from({ length: seats }, (_, seat) => seat).filter((seat) => !done.has(seat));
      const reason = ended.whole.text(2);
      const guilty = missing(reason === "not_sealed" ? seals : opened);
      const blamed = ended.whole.uints(3);
      const right = blamed.length === guilty.length && guilty.every((seat) => blamed.includes(seat));
      const phase = reason === "not_sealed" ? seals.size < seats : reason === "not_opened" && seals.size === seats;
      if (!right || !phase || guilty.length === 0) throw new Lying("wrong_blame", ended.version, { reason });
    }
    return { code: "nonces_void", args: { sealed: seals.size, opened: opened.size, seats } };
  }

  // ---- 3 -----------------------------------------------------------------------------------------------------------

  /** J as it must be; null where the handshake never ended. */
  async #recomputed(show: boolean, published: Bytes | null = null): Promise<Bytes | null> {
    const { nonces, seats, game, matchId } = this.#log;
    if (nonces === null) return null;
    const listed = noncesOf(nonces.whole.messages(1));
    const all = Array.from({ length: seats }, (_, seat) => listed?.get(seat));
    if (listed?.size !== seats || all.some((nonce) => nonce?.length !== 32)) throw new Lying("nonces_not_all", nonces.version);
    const hashed = text.joint(game, matchId, this.#seed(), all as Bytes[]);
    return show ? this.#hash("joint", hashed, published) : sha256Text(this.#hasher, hashed);
  }

  async #joint(): Promise<Found> {
    this.#created();
    const said = this.#revealed();
    this.#seed();
    const published = said.whole.bytes(3);
    const joint = await this.#recomputed(true, published);
    if (joint === null) {
      if (published.length > 0) throw new Lying("joint_claimed", said.version);
      return { code: "joint_none" };
    }
    if (!same(joint, published)) throw new Lying("joint_differs", said.version);
    return { code: "joint_holds" };
  }

  // ---- 4 -----------------------------------------------------------------------------------------------------------

  async #draws(): Promise<Found> {
    this.#created();
    this.#revealed();
    const log = this.#log;
    const joint = await this.#recomputed(false);
    const used = new Map<string, number>();
    const rows: DrawRow[] = [];
    let byHand = 0;
    let bad: Lying | null = null;
    const lie = (code: string, version: number, args: Lie["args"] = {}): void => {
      bad ??= new Lying(code, version, args);
    };
    for (const entry of log.entries) {
      const { version } = entry;
      if (!log.analysis && entry.events.some((event) => event.type === "position_arranged")) lie("arranged", version);
      if (entry.record === null) {
        lie(entry.recordOpen ? "record_unreadable" : "record_closed", version);
        continue;
      }
      if (version === 1 && !log.analysis && entry.record.text(4) === "create_match" && hasPosition(entry.record.bytes(5))) {
        lie("begins_arranged", version);
      }
      if (entry.draws.length > 0 && (joint === null || version < (log.nonces?.version ?? Infinity))) {
        lie("drawn_early", version);
        continue;
      }
      const streams = new Map<string, Stream>();
      for (const draw of entry.draws) {
        const before = used.get(draw.label);
        if (before !== undefined && before !== version) lie("label_twice", version, { label: draw.label, before });
        used.set(draw.label, version);
        const stream = streams.get(draw.label) ?? (await streamOf(this.#hasher, log.game, joint as Bytes, draw.label));
        streams.set(draw.label, stream);
        const from = stream.used;
        const computed = await redraw(stream, draw);
        const good = computed !== null && computed.length === draw.results.length && computed.every((n, i) => n === draw.results[i]);
        rows.push({ version, label: draw.label, kind: draw.kind, bound: draw.bound, results: draw.results, computed, good, from });
        if (!good) {
          byHand += 1;
          if (!log.analysis) lie(computed === null ? "draw_malformed" : "draw_differs", version, { label: draw.label });
        }
      }
    }
    rows.sort((a, b) => Number(a.good) - Number(b.good) || a.version - b.version);
    this.#shown.push({ kind: "draws", rows, game: log.game, joint: joint === null ? "" : hex(joint) });
    if (bad !== null) throw bad as Lying;
    if (rows.length === 0) return { code: "draws_none" };
    return byHand > 0
      ? { code: "draws_by_hand", args: { count: rows.length, hand: byHand } }
      : { code: "draws_hold", args: { count: rows.length, labels: used.size } };
  }

  // ---- 5 -----------------------------------------------------------------------------------------------------------

  async #deal(): Promise<Found> {
    this.#created();
    const said = this.#revealed();
    const { started, ended, game, matchId } = this.#log;
    const joint = await this.#recomputed(false);
    const published = said.whole.bytes(4);
    if (joint === null) {
      if (published.length > 0) throw new Lying("salt_claimed", said.version);
      if (started !== null) throw new Lying("started_early", started.version);
      return { code: "deal_none" };
    }
    const salt = await this.#hash("salt", text.salt(game), published, joint);
    if (!same(salt, published)) throw new Lying("salt_differs", said.version);
    if (started === null) {
      if (ended?.type === "match_closed") throw new Lying("never_started", said.version);
      return { code: "deal_none" };
    }
    const deal = started.whole.texts(2);
    if (deal.some((line) => !/^[\x20-\x7e]*$/.test(line))) throw new Lying("deal_not_ascii", started.version);
    const digest = await this.#hash("deal", text.deal(game, matchId, salt, deal), started.whole.bytes(1));
    if (!same(digest, started.whole.bytes(1))) throw new Lying("deal_differs", started.version);
    return { code: "deal_holds", args: { lines: deal.length } };
  }

  // ---- 6 -----------------------------------------------------------------------------------------------------------

  /** Parts and chain, entry by entry, in small steps so that progress can be shown. */
  async *chain(): AsyncGenerator<Check | Progress> {
    this.#shown = [];
    const log = this.#log;
    const { raw, matchId, revealed } = log;
    const hasher = this.#hasher;
    const lies: Lie[] = [...log.lies];
    this.#lies[6] = lies;
    const seed = revealed !== null && this.#seedFits ? revealed.whole.bytes(1) : null;
    const salted = seed !== null && seed.length === 32 ? await hasher.hmac(seed) : null;
    const genesis = await this.#hash("genesis", text.genesis(matchId), null);
    const rows: [number, string][] = [];
    for (let first = 0; first < raw.length; first += AT_ONCE) {
      yield { check: 6, done: first, total: raw.length };
      // Each entry is judged by the hash that the one before it claims, so that all can be computed at once.
      const block = raw.slice(first, first + AT_ONCE);
      const judged = await Promise.all(
        block.map((entry, k) => this.#hashes(entry, raw[first + k - 1]?.hash ?? genesis, first + k + 1, salted)),
      );
      for (const [k, entry] of block.entries()) {
        const version = first + k + 1;
        this.#linked(entry, version, judged[k] as Hashes, lies);
        rows.push([version, hex(entry.hash)]);
      }
    }
    this.#shown.push({ kind: "chain", rows });
    this.#ends(lies);
    this.#keptHeads(lies, rows);
    const code = revealed === null ? "chain_so_far" : "chain_holds";
    const report = this.#report(6, "passed", { code, args: { entries: raw.length } });
    const last = raw.at(-1);
    if (report.status === "passed" && last !== undefined && !same(last.hash, this.#file.head)) {
      const line = lineOf(raw.length + 1) + (this.#file.evidence === null ? 0 : 1);
      yield { ...report, status: "failed", code: "other_head", args: {}, line };
    } else yield report;
  }

  /** Everything of one entry that is a hash. */
  async #hashes(entry: Entry, before: Bytes, version: number, salted: Keyed | null): Promise<Hashes> {
    const hasher = this.#hasher;
    const parts = await Promise.all(
      entry.parts.map(async (part) => {
        const body = partBytes(part.audience, part.salt, part.body);
        const salt = salted === null ? null : (await salted(utf8(text.partSalt(this.#log.matchId, version, part.audience)))).subarray(0, 16);
        return { part, body, salt, computed: await hasher.sha256(body) };
      }),
    );
    const bytes = await linkBytes(hasher, before, entry.header, entry.open, entry.digests);
    return { parts, bytes, computed: await hasher.sha256(bytes) };
  }

  /** What an entry claims against what was computed. */
  #linked(entry: Entry, version: number, hashes: Hashes, lies: Lie[]): void {
    const digests = new Map(entry.digests.map((part) => [part.audience, part.digest]));
    for (const { part, body, salt, computed } of hashes.parts) {
      const { audience } = part;
      const said = digests.get(audience);
      if (said !== undefined && !same(computed, said)) {
        lies.push({ code: "part_differs", version, args: { audience } });
        this.#pin("part", { version, audience }, body, computed, said);
      }
      if (salt !== null && !same(salt, part.salt)) lies.push({ code: "part_salt_differs", version, args: { audience } });
    }
    if (this.#log.revealed !== null) {
      const closed = entry.digests.find((part) => !entry.parts.some((open) => open.audience === part.audience));
      if (closed !== undefined) lies.push({ code: "part_closed", version, args: { audience: closed.audience } });
    }
    if (entry.digests.some((part) => part.digest.length !== 32)) lies.push({ code: "digest_size", version, args: {} });
    const { bytes, computed } = hashes;
    if (!same(computed, entry.hash)) {
      if (!lies.some((lie) => lie.code === "hash_differs")) this.#pin("link", { version }, bytes, computed, entry.hash);
      lies.push({ code: "hash_differs", version, args: {} });
    } else if (version === this.#log.raw.length) this.#pin("link", { version }, bytes, computed, entry.hash);
  }

  #pin(name: string, args: Lie["args"], bytes: Bytes, computed: Bytes, published: Bytes): void {
    if (this.#shown.length > 12) return;
    this.#shown.push({
      kind: "hash",
      name,
      args,
      how: "sha256",
      key: "",
      text: null,
      bytes: hex(bytes),
      computed: hex(computed),
      published: hex(published),
    });
  }

  /** A revealed log has a beginning and an end. */
  #ends(lies: Lie[]): void {
    const { revealed, ended } = this.#log;
    const last = this.#log.raw.length;
    if (revealed !== null && ended === null) lies.push({ code: "reveal_before_end", version: revealed.version, args: {} });
    if (revealed !== null && revealed.version !== last) lies.push({ code: "after_reveal", version: revealed.version + 1, args: { type: "" } });
    if (revealed === null && ended !== null && last > ended.version) {
      lies.push({ code: "after_end", version: ended.version + 1, args: { type: "" } });
    }
    if (revealed !== null && ended !== null && revealed.version > ended.version + 1) {
      lies.push({ code: "after_end", version: ended.version + 1, args: { type: "" } });
    }
  }

  #keptHeads(lies: Lie[], rows: readonly (readonly [number, string])[]): void {
    const kept = this.#options.kept;
    if (!kept) return;
    const seen: [string, string][] = [];
    for (const { version, hash } of kept.heads) {
      const at = version > 0 ? rows[version - 1] : rows.find(([, said]) => said === hash);
      seen.push(["own_head", hash]);
      if (at === undefined) lies.push({ code: "own_head_missing", version: 0, args: { hash } });
      else if (at[1] !== hash) lies.push({ code: "own_head_differs", version, args: { hash } });
    }
    if (seen.length > 0) this.#shown.push({ kind: "rows", rows: seen });
  }

  // ---- 7 -----------------------------------------------------------------------------------------------------------

  async #logged(): Promise<Found> {
    const log = this.#log;
    const { evidence } = this.#file as { evidence: Evidence | null };
    if (log.analysis) {
      if (evidence !== null) throw new Lying("analysis_in_log", 1);
      throw new Open("analysis_not_logged");
    }
    if (evidence === null) {
      if (log.revealed !== null && this.#options.inLog !== false) throw new Lying("no_proofs", 0);
      throw new Open("no_proofs_here");
    }
    const found = await provedLog(this.#hasher, log, evidence, this.#options.witness ?? {});
    this.#shown.push(...found.shown);
    if (found.lie !== null) throw new Lying(found.lie.code, found.lie.version, found.lie.args);
    if (found.open !== null) throw new Open(found.open.code, found.open.args);
    return { code: found.code, args: found.args };
  }
}

/** The command that created the match brings a position along; what cannot be read is taken for one. */
function hasPosition(payload: Bytes): boolean {
  try {
    const command = new Message(payload);
    // Everything in it must be readable, not only what is asked for.
    command.text(1);
    for (const option of command.messages(3)) [1, 2].forEach((number) => option.text(number));
    for (const seat of command.messages(4)) [2, 4].forEach((number) => seat.text(number));
    for (const series of command.messages(5)) series.text(1);
    return command.bytes(7).length > 0;
  } catch {
    return true;
  }
}

/** The draw as the stream gives it; null: what is recorded is no draw. */
async function redraw(stream: Stream, draw: Draw): Promise<readonly number[] | null> {
  const { kind, bound, results } = draw;
  if (!isName(draw.label) || bound < 1 || bound > MAX_BOUND) return null;
  if (kind === DRAW.below) return results.length === 1 ? [await stream.below(bound)] : null;
  if (kind === DRAW.shuffle) return results.length === bound ? stream.shuffle(bound) : null;
  if (kind === DRAW.sample) return results.length <= bound && results.length >= 1 && bound <= 2 ** 20 ? stream.sample(bound, results.length) : null;
  return null;
}
