/** Forgery for tests: files rewritten as a clever cheat would, with everything recomputed that can be. */
import { ed25519 } from "@noble/curves/ed25519.js";

import { base64, type Bytes, hex, join, lines, utf8 } from "./bytes";
import type { Entry, Evidence, ExportFile, LoggedLeaf } from "./exportfile";
import { hmacText, linkHash, partBytes, sha256Text, text } from "./formulas";
import type { Hasher } from "./hasher";
import { outcomeOf, readLog } from "./log";
import { leafHash, nodeHash } from "./merkle";
import { type Field, fields } from "./wire";

/** A file as it is written; the inverse of `readExport`. */
export function writeExport({ game, matchId, entries, evidence, head }: ExportFile): Bytes {
  const rows: unknown[] = [{ kind: "grimoire-export", format: 1, game, match_id: matchId }];
  for (const { header, open, parts, digests, hash } of entries) {
    rows.push({
      kind: "entry",
      header: base64(header),
      public: base64(open),
      parts: parts.map(({ audience, salt, body }) => ({ audience, salt: base64(salt), body: base64(body) })),
      digests: digests.map(({ audience, digest }) => ({ audience, digest: base64(digest) })),
      hash: base64(hash),
    });
  }
  if (evidence !== null) {
    const leaves = evidence.leaves.map(({ number, leaf, path }) => ({ number, leaf: base64(leaf), path: path.map(base64) }));
    rows.push({ kind: "log", key: evidence.key, checkpoint: base64(evidence.checkpoint), leaves });
  }
  rows.push({ kind: "end", entries: entries.length, head: base64(head) });
  return utf8(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

function varint(value: bigint): number[] {
  const digits: number[] = [];
  for (; value > 127n; value >>= 7n) digits.push(Number(value & 127n) | 128);
  return [...digits, Number(value)];
}

function encoded(list: readonly Field[]): Bytes {
  return join(
    ...list.flatMap(({ number, type, value, bytes }) => {
      const tag = Uint8Array.from(varint(BigInt(number) * 8n + BigInt(type)));
      if (type === 0) return [tag, Uint8Array.from(varint(value))];
      return type === 2 ? [tag, Uint8Array.from(varint(BigInt(bytes.length))), bytes] : [tag, bytes];
    }),
  );
}

/** A message with its nth field of a number changed. */
export function edited(message: Bytes, number: number, change: (field: Field) => Partial<Field>, nth = 0): Bytes {
  let seen = 0;
  let done = false;
  const list = fields(message).map((field) => {
    if (field.number !== number || seen++ !== nth) return field;
    done = true;
    return { ...field, ...change(field) };
  });
  if (!done) throw new Error(`there is no field ${number}`);
  return encoded(list);
}

/** Bytes with their first one changed. */
export function flipped(bytes: Bytes): Bytes {
  const copy = bytes.slice();
  copy[0] = (copy[0] ?? 0) ^ 1;
  return copy;
}

/** The body of the first event of a type in an entry's open bytes, changed. */
export function eventEdited(open: Bytes, type: string, change: (body: Bytes) => Bytes): Bytes {
  const nth = fields(open).findIndex((event) => new TextDecoder().decode(fields(event.bytes)[0]?.bytes) === type);
  return edited(open, 1, (event) => ({ bytes: edited(event.bytes, 2, ({ bytes }) => ({ bytes: change(bytes) })) }), nth);
}

/** Every digest and hash recomputed from a version on, so that the chain hangs together. */
export async function rehashed(hasher: Hasher, file: ExportFile): Promise<ExportFile> {
  let before = await sha256Text(hasher, text.genesis(file.matchId));
  const entries: Entry[] = [];
  for (const entry of file.entries) {
    const opened = new Map<string, Bytes>();
    for (const { audience, salt, body } of entry.parts) opened.set(audience, await hasher.sha256(partBytes(audience, salt, body)));
    const digests = entry.digests.map(({ audience, digest }) => ({ audience, digest: opened.get(audience) ?? digest }));
    before = await linkHash(hasher, before, entry.header, entry.open, digests);
    entries.push({ ...entry, digests, hash: before });
  }
  return { ...file, entries, head: before };
}

/** Every salt follows from another seed. */
export async function resalted(hasher: Hasher, file: ExportFile, seed: Bytes): Promise<ExportFile> {
  const entries: Entry[] = [];
  for (const [n, entry] of file.entries.entries()) {
    const parts = [];
    for (const part of entry.parts) {
      const salt = await hmacText(hasher, seed, text.partSalt(file.matchId, n + 1, part.audience));
      parts.push({ ...part, salt: salt.slice(0, 16) });
    }
    entries.push({ ...entry, parts });
  }
  return { ...file, entries };
}

/** A log of one's own: leaves under a key of one's own. */
export class ForgedLog {
  readonly #leaves: Bytes[] = [];

  private constructor(
    readonly hasher: Hasher,
    readonly secret: Uint8Array,
    readonly name: string,
    readonly key: string,
    readonly id: Bytes,
  ) {}

  static async open(hasher: Hasher, secret = new Uint8Array(32).fill(7)): Promise<ForgedLog> {
    const body = join(Uint8Array.of(1), ed25519.getPublicKey(secret));
    const name = `grimoire/${hex(await hasher.sha256(body.slice(1))).slice(0, 16)}`;
    const id = (await hasher.sha256(join(utf8(`${name}\n`), body))).slice(0, 4);
    return new ForgedLog(hasher, secret, name, `${name}+${hex(id)}+${base64(body)}`, id);
  }

  get size(): number {
    return this.#leaves.length;
  }

  add(...leaves: readonly Bytes[]): void {
    this.#leaves.push(...leaves);
  }

  async #root(leaves: readonly Bytes[]): Promise<Bytes> {
    const [first] = leaves;
    if (first === undefined) return this.hasher.sha256(new Uint8Array(0));
    if (leaves.length === 1) return leafHash(this.hasher, first);
    const half = 2 ** Math.floor(Math.log2(leaves.length - 1));
    return nodeHash(this.hasher, await this.#root(leaves.slice(0, half)), await this.#root(leaves.slice(half)));
  }

  async #path(number: number, leaves: readonly Bytes[]): Promise<Bytes[]> {
    if (leaves.length === 1) return [];
    const half = 2 ** Math.floor(Math.log2(leaves.length - 1));
    const [left, right] = [leaves.slice(0, half), leaves.slice(half)];
    return number < half
      ? [...(await this.#path(number, left)), await this.#root(right)]
      : [...(await this.#path(number - half, right)), await this.#root(left)];
  }

  /** RFC 6962, 2.1.2. */
  async consistency(from: number): Promise<Bytes[]> {
    const proof = async (m: number, leaves: readonly Bytes[], whole: boolean): Promise<Bytes[]> => {
      if (m === leaves.length) return whole ? [] : [await this.#root(leaves)];
      const half = 2 ** Math.floor(Math.log2(leaves.length - 1));
      const [left, right] = [leaves.slice(0, half), leaves.slice(half)];
      return m <= half
        ? [...(await proof(m, left, whole)), await this.#root(right)]
        : [...(await proof(m - half, right, false)), await this.#root(left)];
    };
    return proof(from, this.#leaves, true);
  }

  async checkpoint(size = this.size): Promise<Bytes> {
    const root = await this.#root(this.#leaves.slice(0, size));
    const signed = `${this.name}\n${size}\n${base64(root)}\n`;
    const signature = ed25519.sign(utf8(signed), this.secret);
    return utf8(`${signed}\n\u2014 ${this.name} ${base64(join(this.id, signature))}\n`);
  }

  async evidence(numbers: readonly number[]): Promise<Evidence> {
    const leaves: LoggedLeaf[] = [];
    for (const number of numbers) {
      leaves.push({ number, leaf: this.#leaves[number] as Bytes, path: await this.#path(number, this.#leaves) });
    }
    return { key: this.key, checkpoint: await this.checkpoint(), leaves };
  }
}

/** What the log should hold of a match. */
export function leavesOf(file: ExportFile): Bytes[] {
  const log = readLog(file.entries, file.matchId, file.game);
  const when = (version: number): number => log.entries[version - 1]?.time ?? 0;
  const head = (version: number): string => hex(file.entries[version - 1]?.hash ?? new Uint8Array(0));
  const { created, started, ended, revealed } = log;
  const found: string[] = [];
  if (created) {
    const { whole, version } = created;
    found.push(lines("grimoire/log/commit/1", file.matchId, whole.text(1), hex(whole.bytes(3)), hex(whole.bytes(8)), when(version)));
  }
  if (started) found.push(lines("grimoire/log/start/1", file.matchId, head(started.version), when(started.version)));
  if (ended) {
    const { version } = ended;
    found.push(lines("grimoire/log/close/1", file.matchId, outcomeOf(ended), version, head(version), when(version)));
  }
  if (revealed) found.push(lines("grimoire/log/reveal/1", file.matchId, head(revealed.version), when(revealed.version)));
  return found.map(utf8);
}
