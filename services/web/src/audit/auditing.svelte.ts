import { device } from "../api/shelf";
import type { Check, Progress } from "../fair/checks";
import { readKept, type Kept } from "../fair/keepsake";
import type { Peek } from "../fair/worker";
import type { Desk } from "./desk";
import { keepLog } from "./known_log";
import type { Gathered } from "./witness";

export const NUMBERS = [1, 2, 3, 4, 5, 6, 7, 8] as const;

/** What a page can learn beside the file: from this browser's memory and from the server. */
export interface Sources {
  /** The file of a match; null: this page knows no server. */
  readonly fetch: ((matchId: string) => Promise<Uint8Array<ArrayBuffer>>) | null;
  gather(desk: Desk, peek: Peek, ownServer: boolean, typedKey: string): Promise<Gathered>;
}

/** One audit on the page: where the file came from, how far it is, what was found. */
export class Auditing {
  readonly desk: Desk;
  readonly #sources: Sources;
  bytes = $state.raw<Uint8Array<ArrayBuffer> | null>(null);
  name = $state("");
  peek = $state.raw<Peek | null>(null);
  checks = $state.raw<readonly Check[]>([]);
  progress = $state.raw<Progress | null>(null);
  running = $state(false);
  kept = $state.raw<Kept | null>(null);
  /** The file came from this server, not from a disk. */
  fetched = $state(false);
  logKey = $state("");
  #run = 0;

  constructor(desk: Desk, sources: Sources) {
    this.desk = desk;
    this.#sources = sources;
  }

  /** This page can fetch matches from a server. */
  get online(): boolean {
    return this.#sources.fetch !== null;
  }

  /** Loads the file of a match from this server. Throws what the call throws. */
  async fetch(matchId: string): Promise<void> {
    if (this.#sources.fetch !== null) await this.open(await this.#sources.fetch(matchId), `${matchId}.jsonl`, true);
  }

  /** Audits a file's bytes. */
  async open(bytes: Uint8Array<ArrayBuffer>, name: string, fetched = false): Promise<void> {
    this.bytes = bytes;
    this.name = name;
    this.fetched = fetched;
    this.kept = null;
    await this.again();
  }

  /** Makes all checks anew, e.g. with a key or keepsake that was given meanwhile. */
  async again(): Promise<void> {
    const { bytes } = this;
    if (bytes === null) return;
    const run = ++this.#run;
    this.checks = [];
    this.running = true;
    try {
      const peek = await this.desk.ask<Peek | null>({ kind: "peek", file: bytes });
      if (run !== this.#run) return;
      this.peek = peek;
      this.kept ??= peek === null ? null : ownKeepsake(peek.matchId);
      const gathered = peek === null ? { witness: {}, newest: null } : await this.#sources.gather(this.desk, peek, this.fetched, this.logKey.trim());
      if (run !== this.#run) return;
      const kept = $state.snapshot(this.kept);
      await this.desk.ask({ kind: "audit", file: bytes, kept, witness: gathered.witness }, (step) => {
        if (run !== this.#run) return;
        if ("status" in step) this.checks = [...this.checks, step].sort((a, b) => a.number - b.number);
        else if ("check" in step) this.progress = step;
      });
      const logged = this.checks.find((check) => check.number === 7);
      if (gathered.newest !== null && logged !== undefined && logged.status !== "failed") keepLog(gathered.newest);
    } finally {
      if (run === this.#run) {
        this.running = false;
        this.progress = null;
      }
    }
  }

  close(): void {
    this.#run += 1;
    this.desk.close();
  }
}

function ownKeepsake(matchId: string): Kept | null {
  try {
    return readKept(device.get(`grimoire.keepsake.${matchId}`) ?? "");
  } catch {
    return null;
  }
}

/** What the checks say together. */
export interface Verdict {
  readonly state: "running" | "failed" | "holds" | "unfinished" | "open" | "unreadable";
  readonly holding: number;
  /** The one to be named: the failing one that lies earliest. */
  readonly named: Check | null;
}

/** Open checks that hold as far as they can be made. */
export const SO_FAR = new Set(["seals_so_far", "nonces_so_far", "chain_so_far", "logged_so_far"]);

export function verdictOf(checks: readonly Check[], running: boolean): Verdict {
  const failed = checks.filter((check) => check.status === "failed");
  const named = [...failed].sort((a, b) => (a.version || Infinity) - (b.version || Infinity) || a.number - b.number)[0] ?? null;
  const holding = checks.filter((check) => check.status === "passed" || SO_FAR.has(check.code)).length;
  if (named !== null && named.code === "file_unreadable") return { state: "unreadable", holding: 0, named };
  if (named !== null) return { state: "failed", holding, named };
  if (running || checks.length < 8) return { state: "running", holding, named: null };
  if (checks.some((check) => check.code === "not_revealed")) return { state: "unfinished", holding, named: null };
  const open = checks.find((check) => check.number < 8 && check.status === "open") ?? null;
  return { state: open === null ? "holds" : "open", holding, named: open };
}
