import { transparency } from "../api/logs";
import { WorkerDesk } from "../audit/worker_desk";
import { keepLog, knownLog } from "../audit/known_log";
import { hex } from "../fair/bytes";
import type { ReadLeaf } from "../fair/logged";
import type { Checkpoint } from "../fair/note";
import { Tally } from "../fair/tally";
import type { JudgedDraws, ReadLeaves } from "../fair/worker";
import type { LogSummary } from "../gen/grimoire/v1/transparency_pb";
import { exportOf } from "../replay/file";
import { asReader } from "../replay/reader.svelte";
import { type Census, census, type Story } from "./census";

const PAGE = 1000;
const AT_ONCE = 2;

export type LogState = "loading" | "holds" | "unsigned" | "other_key" | "other_root" | "cut_back" | "rewritten";

/** The whole log and its draws, counted in this browser. */
export class Survey {
  readonly desk = new WorkerDesk();
  log = $state<LogState>("loading");
  size = $state(0);
  read = $state(0);
  key = $state("");
  note = $state("");
  /** The newest head this browser had kept before, and found again in this tree; 0: none. */
  before = $state(0);
  census = $state.raw<Census | null>(null);
  said = $state.raw<LogSummary | null>(null);
  /** By game. */
  tallies = $state.raw<ReadonlyMap<string, Tally>>(new Map());
  judged = $state(0);
  wanted = $state(0);
  /** Matches whose files do not hold. */
  lying = $state.raw<readonly { readonly matchId: string; readonly check: number }[]>([]);
  /** Matches whose files could not be fetched. */
  absent = $state.raw<readonly string[]>([]);
  judging = $state(false);
  #closed = false;

  close(): void {
    this.#closed = true;
    this.desk.close();
  }

  /** Reads the log from its first leaf to its newest signed head. Throws what the calls throw. */
  async readLog(): Promise<void> {
    this.log = "loading";
    const shown = await asReader(() => transparency.getCheckpoint({}));
    const note = Uint8Array.from(shown.checkpoint);
    const head = await this.desk.ask<Checkpoint | null>({ kind: "signed", note, key: shown.key });
    this.key = shown.key;
    this.note = new TextDecoder().decode(note);
    if (head === null) {
      this.log = "unsigned";
      return;
    }
    this.size = head.size;
    const known = knownLog();
    const leaves: (ReadLeaf | null)[] = [];
    const roots = new Map<number, string>();
    const at = known === null ? [head.size] : [known.size, head.size];
    for (let first = 0; first < head.size && !this.#closed; first += PAGE) {
      const page = await asReader(() => transparency.getLeaves({ first: BigInt(first), count: Math.min(PAGE, head.size - first) }));
      if (page.leaves.length === 0) break;
      const found = await this.desk.ask<ReadLeaves>({ kind: "leaves", first, leaves: page.leaves, at });
      leaves.push(...found.leaves);
      for (const [size, root] of found.roots) roots.set(size, root);
      this.read = leaves.length;
    }
    if (this.#closed) return;
    const keptHead = known === null ? null : await this.desk.ask<Checkpoint | null>({ kind: "head", note: known.checkpoint });
    if (head.size > 0 && roots.get(head.size) !== hex(head.root)) this.log = "other_root";
    else if (known !== null && known.key !== shown.key) this.log = "other_key";
    else if (known !== null && known.size > head.size) this.log = "cut_back";
    else if (keptHead !== null && keptHead.size > 0 && roots.get(keptHead.size) !== hex(keptHead.root)) this.log = "rewritten";
    else {
      this.log = "holds";
      this.before = known?.size ?? 0;
      keepLog({ key: shown.key, checkpoint: note, size: head.size });
    }
    this.census = census(leaves, Date.now());
    const { summary } = await asReader(() => transparency.summary({}));
    this.said = summary ?? null;
  }

  /** Fetches the newest finished matches, checks each, and counts its draws. */
  async judge(most: number): Promise<void> {
    const finished = (this.census?.stories ?? []).filter((story) => story.revealed !== null).slice(-most);
    this.judging = true;
    this.judged = 0;
    this.wanted = finished.length;
    this.lying = [];
    this.absent = [];
    const found = new Map<string, JudgedDraws>();
    const queue = [...finished];
    const work = async (): Promise<void> => {
      for (let story = queue.shift(); story !== undefined && !this.#closed; story = queue.shift()) {
        const judged = await this.#one(story);
        if (judged !== null) found.set(story.matchId, judged);
        this.judged += 1;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    const tallies = new Map<string, Tally>();
    // In the order in which the matches were promised: runs and gaps depend on it.
    for (const { matchId } of finished) {
      const judged = found.get(matchId);
      if (judged === undefined || judged.failed > 0) continue;
      const tally = tallies.get(judged.game) ?? new Tally();
      tally.add(judged.draws);
      tallies.set(judged.game, tally);
    }
    this.tallies = tallies;
    this.judging = false;
  }

  async #one(story: Story): Promise<JudgedDraws | null> {
    try {
      const file = await exportOf(story.matchId);
      const judged = await this.desk.ask<JudgedDraws>({ kind: "draws", file, key: this.key });
      if (judged.failed > 0) this.lying = [...this.lying, { matchId: story.matchId, check: judged.failed }];
      return judged;
    } catch {
      this.absent = [...this.absent, story.matchId];
      return null;
    }
  }
}
