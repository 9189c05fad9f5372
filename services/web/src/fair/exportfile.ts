/** The file of a match: JSON lines, each in the one way it may be written. Never trusted. */
import { type Bytes, byBytes, unbase64 } from "./bytes";
import { isMatchId, isName, type PartDigest } from "./formulas";

export const LIMITS = { file: 16 * 1024 * 1024, entries: 50_000, entry: 256 * 1024, line: 384 * 1024 };

export interface OpenPart {
  readonly audience: string;
  readonly salt: Bytes;
  readonly body: Bytes;
}

export interface Entry {
  readonly header: Bytes;
  readonly open: Bytes;
  readonly parts: readonly OpenPart[];
  readonly digests: readonly PartDigest[];
  readonly hash: Bytes;
}

export interface LoggedLeaf {
  readonly number: number;
  readonly leaf: Bytes;
  readonly path: readonly Bytes[];
}

export interface Evidence {
  readonly key: string;
  readonly checkpoint: Bytes;
  readonly leaves: readonly LoggedLeaf[];
}

export interface ExportFile {
  readonly game: string;
  readonly matchId: string;
  readonly entries: readonly Entry[];
  readonly evidence: Evidence | null;
  readonly head: Bytes;
}

/** What is wrong with a file, and in which line of it. */
export class ExportError extends Error {
  constructor(
    /** From 1. */
    readonly line: number,
    /** Stable code. */
    readonly code: FileFault,
  ) {
    super(`line ${line}: ${code}`);
  }
}

export type FileFault =
  | "file_too_long"
  | "line_too_long"
  | "not_ascii"
  | "not_json"
  | "not_head"
  | "not_entry"
  | "not_log"
  | "not_end"
  | "not_canonical"
  | "too_many_entries"
  | "entry_too_long"
  | "wrong_count"
  | "after_end"
  | "after_log"
  | "cut_off";

/** The entry of a version stands on this line. */
export const lineOf = (version: number): number => version + 1;

/** Reads a whole file; throws `ExportError`. */
export function readExport(file: Uint8Array): ExportFile {
  if (file.length > LIMITS.file) throw new ExportError(1, "file_too_long");
  const reader = new Reader();
  let begin = 0;
  for (let at = file.indexOf(10); at >= 0; at = file.indexOf(10, begin)) {
    reader.take(file.subarray(begin, at));
    begin = at + 1;
  }
  return reader.close(begin < file.length);
}

type Json = Record<string, unknown>;

class Reader {
  #line = 0;
  #game = "";
  #match = "";
  #entries: Entry[] = [];
  #evidence: Evidence | null = null;
  #head: Bytes | null = null;

  take(bytes: Uint8Array): void {
    this.#line += 1;
    if (bytes.length > LIMITS.line) this.#fail("line_too_long");
    if (this.#head !== null) this.#fail("after_end");
    const text = asciiOf(bytes) ?? this.#fail("not_ascii");
    const read = this.#json(text);
    const kind = read["kind"];
    let again: unknown;
    if (this.#line === 1) again = this.#first(read);
    else if (kind === "end") again = this.#end(read);
    else if (this.#evidence !== null) this.#fail("after_log");
    else if (kind === "log") again = this.#log(read);
    else again = this.#entry(read);
    // The pieces were read strictly, so writing them again in their order is writing them in the one way there is.
    // What says the same in another way is refused: a changed byte anywhere must show.
    if (JSON.stringify(again) !== text) this.#fail("not_canonical");
  }

  close(rest: boolean): ExportFile {
    this.#line += 1;
    if (rest || this.#head === null) this.#fail("cut_off");
    return { game: this.#game, matchId: this.#match, entries: this.#entries, evidence: this.#evidence, head: this.#head };
  }

  #json(text: string): Json {
    try {
      const read: unknown = JSON.parse(text);
      if (typeof read === "object" && read !== null && !Array.isArray(read)) return read as Json;
    } catch {
      // Said below, as for all that is no object.
    }
    return this.#fail("not_json");
  }

  #first(read: Json): unknown {
    const { kind, format, game, match_id: match } = read;
    const good = kind === "grimoire-export" && format === 1 && isText(game) && isName(game) && isText(match) && isMatchId(match);
    if (!good) return this.#fail("not_head");
    this.#game = game;
    this.#match = match;
    return { kind, format, game, match_id: match };
  }

  #entry(read: Json): unknown {
    if (this.#entries.length >= LIMITS.entries) this.#fail("too_many_entries");
    const header = bytesOf(read["header"]);
    const open = bytesOf(read["public"]);
    const parts = listOf(read["parts"], partOf);
    const digests = listOf(read["digests"], digestOf);
    const hash = bytesOf(read["hash"]);
    if (read["kind"] !== "entry" || !header || !open || !parts || !digests || !hash) return this.#fail("not_entry");
    if (parts.reduce((sum, part) => sum + part.body.length, header.length + open.length) > LIMITS.entry) {
      this.#fail("entry_too_long");
    }
    this.#entries.push({ header, open, parts, digests, hash });
    const { header: h, public: o, hash: x } = read;
    return { kind: "entry", header: h, public: o, parts: again(read["parts"], PART), digests: again(read["digests"], DIGEST), hash: x };
  }

  #log(read: Json): unknown {
    const key = read["key"];
    const checkpoint = bytesOf(read["checkpoint"]);
    const leaves = listOf(read["leaves"], leafOf);
    if (!isText(key) || !checkpoint || !leaves || leaves.length < 1 || leaves.length > 4) return this.#fail("not_log");
    this.#evidence = { key, checkpoint, leaves };
    return { kind: "log", key, checkpoint: read["checkpoint"], leaves: again(read["leaves"], LEAF) };
  }

  #end(read: Json): unknown {
    const { entries } = read;
    const head = bytesOf(read["head"]);
    if (!isCount(entries) || !head) return this.#fail("not_end");
    if (entries !== this.#entries.length) this.#fail("wrong_count");
    this.#head = head;
    return { kind: "end", entries, head: read["head"] };
  }

  #fail(code: FileFault): never {
    throw new ExportError(this.#line, code);
  }
}

const isText = (value: unknown): value is string => typeof value === "string";
const isCount = (value: unknown): value is number => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

function bytesOf(value: unknown): Bytes | null {
  return isText(value) ? unbase64(value) : null;
}

function listOf<T>(value: unknown, one: (item: Json) => T | null): T[] | null {
  if (!Array.isArray(value)) return null;
  const items: T[] = [];
  for (const raw of value as unknown[]) {
    const item = typeof raw === "object" && raw !== null ? one(raw as Json) : null;
    if (item === null) return null;
    items.push(item);
  }
  return items;
}

const PART = ["audience", "salt", "body"];
const DIGEST = ["audience", "digest"];
const LEAF = ["number", "leaf", "path"];

/** A list with the keys that belong there, in their order, and no others. */
function again(list: unknown, keys: readonly string[]): unknown {
  return (list as Json[]).map((item) => Object.fromEntries(keys.map((key) => [key, item[key]])));
}

const AUDIENCE = /^[a-z0-9/]{1,64}$/;

function partOf(read: Json): OpenPart | null {
  const { audience } = read;
  const salt = bytesOf(read["salt"]);
  const body = bytesOf(read["body"]);
  return isText(audience) && AUDIENCE.test(audience) && salt && body ? { audience, salt, body } : null;
}

function digestOf(read: Json): PartDigest | null {
  const { audience } = read;
  const digest = bytesOf(read["digest"]);
  return isText(audience) && AUDIENCE.test(audience) && digest ? { audience, digest } : null;
}

function leafOf(read: Json): LoggedLeaf | null {
  const { number } = read;
  const leaf = bytesOf(read["leaf"]);
  const path = Array.isArray(read["path"]) ? (read["path"] as unknown[]).map(bytesOf) : null;
  if (!isCount(number) || !leaf || !path || path.some((node) => node === null)) return null;
  return { number, leaf, path: path as Bytes[] };
}

const latin1 = new TextDecoder("latin1");

/** The line as text; null: there is more in it than printable ASCII. */
function asciiOf(bytes: Uint8Array): string | null {
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte < 0x20 || byte > 0x7e) return null;
  }
  return latin1.decode(bytes);
}

/** Audiences in strictly rising order of their bytes. */
export function isSorted(audiences: readonly string[]): boolean {
  return audiences.every((name, n) => n === 0 || byBytes(audiences[n - 1] as string, name) < 0);
}
