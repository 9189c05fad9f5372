import { replays } from "../api/logs";
import { type MatchHead, MatchStatus, type Viewer } from "../gen/grimoire/v1/frame_pb";
import { type Mark, MarkKind, type ReplayFrame } from "../gen/grimoire/v1/rules_pb";
import { asReader } from "./reader.svelte";
import { type Eyes, eyesOf, viewerOf } from "./eyes";

/** Versions fetched at once, as the server sends them. */
export const WINDOW = 64;
/** Windows kept of one pair of eyes; beyond it the farthest from the cursor goes. */
const KEPT = 40;
const LIVE_EVERY_MS = 4000;

/** One replay: a match at any version through any eyes. Fetches windows around the cursor and keeps them. */
export class Film {
  readonly matchId: string;
  head = $state.raw<MatchHead | null>(null);
  viewers = $state.raw<readonly Viewer[]>([]);
  imported = $state(false);
  marks = $state.raw<readonly Mark[]>([]);
  eyes = $state<Eyes>("public");
  version = $state(1);
  /** Frames by version, of the chosen eyes. */
  frames = $state.raw<ReadonlyMap<number, ReplayFrame>>(new Map());
  /** Windows that could not be fetched, by number. */
  failed = $state.raw<ReadonlySet<number>>(new Set());
  #asked = new Map<number, AbortController>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #closed = false;

  constructor(matchId: string) {
    this.matchId = matchId;
  }

  readonly last = $derived(Number(this.head?.version ?? 0n));
  readonly frame = $derived(this.frames.get(this.version) ?? null);
  readonly isLive = $derived(this.head?.status === MatchStatus.RUNNING || this.head?.status === MatchStatus.HANDSHAKE);
  /** Versions at which a turn begins. */
  readonly turns = $derived(this.marks.filter((mark) => mark.kind === MarkKind.TURN).map((mark) => Number(mark.version)));

  /** Learns what the match is, and goes to a version through some eyes. Throws what the calls throw. */
  async open(version: number, eyes: Eyes | null): Promise<void> {
    await this.#look();
    const allowed = this.viewers.map(eyesOf);
    const best = this.head?.revealed === true ? "public" : (allowed[0] ?? "public");
    this.eyes = eyes !== null && allowed.includes(eyes) ? eyes : best;
    this.go(version > 0 ? version : 1);
    if (this.isLive) this.#timer = setInterval(() => void this.#look().catch(() => undefined), LIVE_EVERY_MS);
    await this.#marks();
    // Who named no version begins where the match does, not with its handshake.
    const start = this.marks.find((mark) => mark.kind === MarkKind.START);
    if (version === 0 && this.version === 1 && start !== undefined) this.go(Number(start.version));
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#forget();
  }

  /** Shows a version; what is beyond the ends is the end. */
  go(version: number): void {
    this.version = Math.max(1, Math.min(this.last, Math.round(version)));
    this.#fetch();
  }

  /** The next turn's beginning, or the one before; the ends where there is none. */
  turn(by: 1 | -1): void {
    const found = by > 0 ? this.turns.find((at) => at > this.version) : this.turns.findLast((at) => at < this.version);
    this.go(found ?? (by > 0 ? this.last : 1));
  }

  /** Which turn a version belongs to, from 1; 0: none has begun. */
  turnAt(version: number): number {
    return this.turns.filter((at) => at <= version).length;
  }

  look(eyes: Eyes): void {
    if (eyes === this.eyes) return;
    this.eyes = eyes;
    this.#forget();
    this.#fetch();
  }

  /** The windows that failed are asked for again. */
  again(): void {
    this.failed = new Set();
    this.#fetch();
  }

  async #look(): Promise<void> {
    const { head, viewers, imported } = await asReader(() => replays.getMatch({ matchId: this.matchId }));
    if (this.#closed || head === undefined) return;
    const grown = head.version !== this.head?.version;
    const opened = head.revealed && this.head?.revealed === false;
    this.head = head;
    this.viewers = viewers;
    this.imported = imported;
    if (opened) this.#forget();
    if (grown && this.frames.size > 0) {
      // The last window has grown.
      this.#asked.delete(windowOf(this.last));
      this.#asked.delete(windowOf(Math.max(1, this.last - 1)));
      this.#fetch();
      void this.#marks().catch(() => undefined);
    }
    if (!this.isLive) clearInterval(this.#timer);
  }

  async #marks(): Promise<void> {
    const { marks } = await asReader(() => replays.getMarks({ matchId: this.matchId }));
    if (!this.#closed) this.marks = marks;
  }

  #forget(): void {
    for (const asked of this.#asked.values()) asked.abort();
    this.#asked.clear();
    this.frames = new Map();
    this.failed = new Set();
  }

  /** The cursor's window first, then those around it. */
  #fetch(): void {
    if (this.#closed || this.last === 0) return;
    const here = windowOf(this.version);
    for (const number of [here, here + 1, here - 1, here + 2]) {
      if (number < 0 || number * WINDOW >= this.last || this.#asked.has(number) || this.failed.has(number)) continue;
      const abort = new AbortController();
      this.#asked.set(number, abort);
      void this.#window(number, this.eyes, abort.signal);
    }
  }

  async #window(number: number, eyes: Eyes, signal: AbortSignal): Promise<void> {
    const from = BigInt(number * WINDOW + 1);
    const to = BigInt(Math.min((number + 1) * WINDOW, this.last));
    try {
      await asReader(async () => {
        const asked = { matchId: this.matchId, viewer: viewerOf(eyes), from, to };
        for await (const { frames } of replays.streamFrames(asked, { signal, timeoutMs: 30_000 })) this.#take(frames);
      });
      this.#trim();
    } catch {
      if (signal.aborted) return;
      this.#asked.delete(number);
      this.failed = new Set([...this.failed, number]);
    }
  }

  #take(frames: readonly ReplayFrame[]): void {
    const all = new Map(this.frames);
    for (const frame of frames) all.set(Number(frame.version), frame);
    this.frames = all;
  }

  #trim(): void {
    if (this.#asked.size <= KEPT) return;
    const here = windowOf(this.version);
    const far = [...this.#asked.keys()].sort((a, b) => Math.abs(b - here) - Math.abs(a - here)).slice(0, this.#asked.size - KEPT);
    const gone = new Set(far);
    for (const number of far) this.#asked.delete(number);
    this.frames = new Map([...this.frames].filter(([version]) => !gone.has(windowOf(version))));
  }
}

function windowOf(version: number): number {
  return Math.floor((version - 1) / WINDOW);
}
