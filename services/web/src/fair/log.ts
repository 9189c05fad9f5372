/** What a log says of itself: its entries decoded, the handshake, the end. Nothing is computed here. */
import { type Bytes, hex, join, same } from "./bytes";
import { type Entry, isSorted } from "./exportfile";
import { isMatchId, isName } from "./formulas";
import { Message, WireError } from "./wire";

export type Args = Readonly<Record<string, string | number>>;

/** Something that lies, found in an entry (version 0: not about an entry). */
export interface Lie {
  readonly code: string;
  readonly version: number;
  readonly args: Args;
}

export const ACTOR = { seat: 1, clock: 2, host: 3 } as const;
export const ANALYSIS = 3;
export const DRAW = { below: 1, shuffle: 2, sample: 3 } as const;
const OUTCOMES = ["", "win", "draw", "shared", "coop_won", "coop_lost", "void"];
const VOIDERS = ["", "handshake", "host", "consent"];

export interface Draw {
  readonly label: string;
  readonly kind: number;
  readonly bound: number;
  readonly results: readonly number[];
}

export interface Event {
  readonly version: number;
  readonly type: string;
  /** As far as it is open here: the public piece, then the pieces of open parts by audience. */
  readonly whole: Message;
}

export interface Read {
  readonly version: number;
  readonly header: Message;
  readonly time: number;
  readonly events: readonly Event[];
  /** The command's record; null: not open, or it cannot be read. */
  readonly record: Message | null;
  readonly recordOpen: boolean;
  readonly draws: readonly Draw[];
}

/** Everything the checks ask about a log. */
export interface Log {
  readonly game: string;
  readonly matchId: string;
  readonly seats: number;
  readonly entries: readonly Read[];
  readonly raw: readonly Entry[];
  readonly created: Event | null;
  readonly nonces: Event | null;
  readonly started: Event | null;
  readonly ended: Event | null;
  readonly revealed: Event | null;
  readonly analysis: boolean;
  /** What is wrong with its form; all of it belongs to check 6. */
  readonly lies: readonly Lie[];
}

/** Fields that an audience of a platform event sees; the rest of the platform's events are public. */
const SEAT_ONLY: Readonly<Record<string, ReadonlySet<number>>> = { nonce_opened: new Set([2]) };
const SEALED: Readonly<Record<string, ReadonlySet<number>>> = { match_started: new Set([2]) };
const PLATFORM = new Set([
  "match_created",
  "nonce_sealed",
  "nonce_opened",
  "nonces_revealed",
  "match_started",
  "prompt_opened",
  "prompt_closed",
  "clock_extended",
  "seat_left",
  "seat_back",
  "seat_bound",
  "match_closed",
  "match_voided",
  "fairness_revealed",
]);

/** Where texts and messages lie in the platform's events: all of them must be readable, also those nobody asks for. */
const INSIDE: Readonly<Record<string, readonly (readonly number[])[]>> = {
  match_created: [[1], [4], [13], [6, 1], [6, 2], [7, 2], [7, 4], [9, 1, 1], [10, 2, 1], [11, 1]],
  nonces_revealed: [[1, 0]],
  match_started: [[2]],
  prompt_opened: [[3], [4]],
  seat_left: [[2]],
  seat_bound: [[2], [4], [5]],
  match_closed: [[3]],
  match_voided: [[2]],
  fairness_revealed: [[2, 0]],
};

/** Reads what lies at a path of fields; 0 at its end: the message alone. Throws `WireError`. */
function readThrough(message: Message, path: readonly number[]): void {
  const [number = 0, ...rest] = path;
  if (number === 0) return;
  if (rest.length === 0) message.texts(number);
  else for (const inner of message.messages(number)) readThrough(inner, rest);
}

const EMPTY = new Message(new Uint8Array(0));

/** Reads a log of any origin. `matchId`: as the file's first line says. */
export function readLog(raw: readonly Entry[], matchId: string, game: string): Log {
  return new Reading(raw, matchId, game).log();
}

class Reading {
  readonly #lies: Lie[] = [];
  readonly #entries: Read[] = [];
  readonly #ids = new Set<string>();
  readonly #marks = new Map<string, Event>();
  #time = 0;
  #seats = 0;
  #ended = 0;

  constructor(
    readonly raw: readonly Entry[],
    readonly matchId: string,
    readonly game: string,
  ) {}

  log(): Log {
    if (this.raw.length === 0) this.#lie("log_empty", 1);
    for (const [n, entry] of this.raw.entries()) {
      try {
        this.#entry(entry, n + 1);
      } catch (error) {
        if (!(error instanceof WireError)) throw error;
        this.#lie("entry_unreadable", n + 1);
        this.#entries.push({ version: n + 1, header: EMPTY, time: this.#time, events: [], ...this.#record(entry, n + 1) });
      }
    }
    const created = this.#marks.get("match_created") ?? null;
    const game = created?.whole.text(1) ?? "";
    if (created !== null && (game !== this.game || !isName(game) || !isMatchId(this.matchId))) this.#lie("other_game", 1);
    return {
      game,
      matchId: this.matchId,
      seats: this.#seats,
      entries: this.#entries,
      raw: this.raw,
      created,
      nonces: this.#marks.get("nonces_revealed") ?? null,
      started: this.#marks.get("match_started") ?? null,
      ended: this.#marks.get("match_closed") ?? this.#marks.get("match_voided") ?? null,
      revealed: this.#marks.get("fairness_revealed") ?? null,
      analysis: created?.whole.uint(5) === ANALYSIS,
      lies: this.#lies,
    };
  }

  #lie(code: string, version: number, args: Args = {}): void {
    this.#lies.push({ code, version, args });
  }

  #entry(raw: Entry, version: number): void {
    const header = new Message(raw.header);
    const time = header.int(3);
    if (header.uint(2) !== version) this.#lie("version_gap", version, { said: header.uint(2) });
    if (header.text(1) !== this.matchId) this.#lie("other_match", version);
    if (time < this.#time) this.#lie("time_back", version);
    this.#time = Math.max(this.#time, time);
    const id = hex(header.bytes(4));
    if (id.length !== 32) this.#lie("command_id_size", version);
    else if (this.#ids.has(id)) this.#lie("command_id_twice", version);
    this.#ids.add(id);

    const pieces = this.#pieces(raw, version);
    const listed = new Message(raw.open).messages(1);
    const events: Event[] = [];
    const types = listed.map((event) => event.text(1));
    for (const [index, event] of listed.entries()) {
      const type = types[index] ?? "";
      const mine = pieces.filter((piece) => piece.index === index).map((piece) => piece.body);
      const whole = PLATFORM.has(type) ? this.#whole(type, join(event.bytes(2), ...mine), version) : EMPTY;
      const read = { version, type, whole: whole ?? EMPTY };
      this.#order(read, version === 1 && index === 0, whole !== null);
      if (whole !== null) events.push(read);
    }
    this.#audiences(raw, version, listed, pieces);
    const command = this.#record(raw, version);
    const { record } = command;
    if (record !== null && (record.uint(1) !== header.uint(5) || record.uint(2) !== header.uint(6))) {
      this.#lie("other_actor", version);
    }
    this.#entries.push({ version, header, time, events, ...command });
  }

  #record(raw: Entry, version: number): Pick<Read, "record" | "recordOpen" | "draws"> {
    const part = raw.parts.find((one) => one.audience === "command");
    if (part === undefined) return { record: null, recordOpen: false, draws: [] };
    try {
      const record = new Message(part.body);
      // All texts are read, so that what stands here can be relied on later.
      record.text(4);
      record.text(7);
      return { record, recordOpen: true, draws: record.messages(6).map(drawOf) };
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#lie("record_unreadable", version);
      return { record: null, recordOpen: true, draws: [] };
    }
  }

  /** A platform's event; a game's own are bytes here. Null: it cannot be read, which does not spoil its neighbours. */
  #whole(type: string, body: Bytes, version: number): Message | null {
    try {
      const whole = new Message(body);
      for (const path of INSIDE[type] ?? []) readThrough(whole, path);
      return whole;
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#lie("event_unreadable", version, { type });
      return null;
    }
  }

  #pieces(raw: Entry, version: number): Piece[] {
    const found: Piece[] = [];
    for (const part of raw.parts) {
      if (part.audience === "command") continue;
      let last = -1;
      for (const piece of new Message(part.body).messages(1)) {
        const index = piece.uint(1);
        if (index <= last) this.#lie("piece_order", version, { audience: part.audience });
        last = index;
        found.push({ audience: part.audience, index, body: piece.bytes(2) });
      }
    }
    return found;
  }

  #order(event: Event, isFirst: boolean, isRead: boolean): void {
    const { type, version } = event;
    if (isFirst !== (type === "match_created")) {
      this.#lie(isFirst ? "not_created_first" : "created_twice", version);
    }
    if (this.#marks.has("fairness_revealed")) this.#lie("after_reveal", version, { type });
    else if (this.#ended > 0 && type !== "fairness_revealed") this.#lie("after_end", version, { type });
    else if (this.#ended === 0 && type === "fairness_revealed") this.#lie("reveal_before_end", version);
    if (!PLATFORM.has(type) && !this.#marks.has("match_started")) this.#lie("game_before_start", version, { type });
    const once = ["nonces_revealed", "match_started", "match_closed", "match_voided", "fairness_revealed"].includes(type);
    if (once && this.#marks.has(type) && type !== "fairness_revealed") this.#lie("twice", version, { type });
    if (isRead && (once || type === "match_created") && !this.#marks.has(type)) this.#marks.set(type, event);
    if (type === "match_closed" || type === "match_voided") this.#ended = version;
    if (this.#marks.get(type) === event && type === "match_created") this.#seats = event.whole.messages(7).length;
  }

  /** Parts are those that the platform's events ask for; events of a game may ask for more. */
  #audiences(raw: Entry, version: number, listed: readonly Message[], pieces: readonly Piece[]): void {
    const named = raw.digests.map((part) => part.audience);
    if (!isSorted(named) || !isSorted(raw.parts.map((part) => part.audience))) this.#lie("parts_order", version);
    for (const part of raw.parts) {
      if (!named.includes(part.audience)) this.#lie("part_without_digest", version, { audience: part.audience });
    }
    const asked = new Set(["command"]);
    let mayAskMore = false;
    for (const event of listed) {
      const type = event.text(1);
      if (!PLATFORM.has(type)) mayAskMore = true;
      if (type in SEALED) asked.add("sealed");
      if (type in SEAT_ONLY) asked.add(`seat/${new Message(event.bytes(2)).uint(1)}`);
    }
    for (const audience of asked) if (!named.includes(audience)) this.#lie("part_missing", version, { audience });
    for (const audience of named) {
      const seat = /^seat\/(0|[1-9][0-9]?)$/.exec(audience)?.[1];
      const exists = audience === "command" || audience === "sealed" || (seat !== undefined && Number(seat) < this.#seats);
      if (!exists || (!asked.has(audience) && !mayAskMore)) this.#lie("part_too_many", version, { audience });
    }
    for (const piece of pieces) {
      const event = listed[piece.index];
      if (event === undefined) this.#lie("piece_of_nothing", version, { audience: piece.audience });
      else if (PLATFORM.has(event.text(1)) && !fits(piece, event)) {
        this.#lie("piece_not_theirs", version, { audience: piece.audience, type: event.text(1) });
      }
    }
    for (const event of listed) {
      const hidden = SEALED[event.text(1)] ?? SEAT_ONLY[event.text(1)];
      if (hidden !== undefined && new Message(event.bytes(2)).numbers().some((number) => hidden.has(number))) {
        this.#lie("secret_in_public", version, { type: event.text(1) });
      }
    }
  }
}

interface Piece {
  readonly audience: string;
  readonly index: number;
  readonly body: Bytes;
}

function fits(piece: Piece, event: Message): boolean {
  const type = event.text(1);
  const isSeat = piece.audience === `seat/${new Message(event.bytes(2)).uint(1)}`;
  const theirs = piece.audience === "sealed" ? SEALED[type] : isSeat ? SEAT_ONLY[type] : undefined;
  return new Message(piece.body).numbers().every((number) => theirs?.has(number) === true);
}

function drawOf(message: Message): Draw {
  return { label: message.text(1), kind: message.uint(2), bound: message.uint(3), results: message.uints(4) };
}

/** Nonces by seat as an event lists them; null: a seat comes twice. */
export function noncesOf(listed: readonly Message[]): Map<number, Bytes> | null {
  const nonces = new Map(listed.map((one) => [one.uint(1), one.bytes(2)] as const));
  return nonces.size === listed.length ? nonces : null;
}

/** Two lists of nonces say the same. */
export function sameNonces(a: ReadonlyMap<number, Bytes>, b: ReadonlyMap<number, Bytes>): boolean {
  return a.size === b.size && [...a].every(([seat, nonce]) => same(nonce, b.get(seat) ?? new Uint8Array(0)));
}

/** The outcome's code as leaves of the transparency log name it. */
export function outcomeOf(ended: Event): string {
  if (ended.type === "match_closed") return OUTCOMES[ended.whole.uint(1)] ?? "";
  const by = VOIDERS[ended.whole.uint(1)] ?? "";
  return by === "handshake" ? `void_${ended.whole.text(2)}` : `void_${by}`;
}
