import type { ReadLeaf } from "../fair/logged";

/** One match as the leaves tell it. Times are UTC milliseconds. */
export interface Story {
  readonly matchId: string;
  game: string;
  readonly promised: number;
  started: number | null;
  closed: number | null;
  revealed: number | null;
  outcome: string;
}

/** Every match of a log, and what the counts of its leaves are. */
export interface Census {
  readonly stories: readonly Story[];
  readonly promised: number;
  readonly started: number;
  readonly finished: number;
  /** Voids before the start, by reason. */
  readonly voids: ReadonlyMap<string, number>;
  /** Ends of matches that had started, by outcome. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Neither started nor over, and promised less than a day ago. */
  readonly handshakes: number;
  /** Started and not over. */
  readonly running: number;
  /** Neither started nor over, although a day has passed: longer than any handshake may take. */
  readonly silent: readonly Story[];
  /** Ended, and still sealed. */
  readonly sealed: readonly Story[];
  /** Leaves that contradict others: without a promise, or twice. */
  readonly faults: number;
}

const HANDSHAKE_MS = 25 * 3_600_000;
/** A match that has ended opens its secrets at once, or with the event it belongs to. */
const REVEAL_MS = 3_600_000;

/** Counts a whole log. `now`: the time up to which it goes, UTC milliseconds. */
export function census(leaves: readonly (ReadLeaf | null)[], now: number): Census {
  const stories = new Map<string, Story>();
  let faults = 0;
  for (const leaf of leaves) {
    const story = leaf === null ? undefined : stories.get(leaf.match);
    if (leaf === null || (leaf.kind === "commit") !== (story === undefined)) {
      faults += 1;
      continue;
    }
    if (story === undefined) {
      const { match: matchId, game, time: promised } = leaf;
      stories.set(matchId, { matchId, game, promised, started: null, closed: null, revealed: null, outcome: "" });
    } else if (leaf.kind === "start" && story.started === null && story.closed === null) story.started = leaf.time;
    else if (leaf.kind === "close" && story.closed === null) {
      story.closed = leaf.time;
      story.outcome = leaf.outcome;
    } else if (leaf.kind === "reveal" && story.closed !== null && story.revealed === null) story.revealed = leaf.time;
    else faults += 1;
  }
  const all = [...stories.values()];
  const started = all.filter((story) => story.started !== null);
  const idle = all.filter((story) => story.started === null && story.closed === null);
  const silent = idle.filter((story) => now - story.promised > HANDSHAKE_MS);
  return {
    stories: all,
    promised: all.length,
    started: started.length,
    finished: started.filter((story) => story.closed !== null).length,
    voids: counted(all.filter((story) => story.started === null && story.closed !== null)),
    outcomes: counted(started.filter((story) => story.closed !== null)),
    handshakes: idle.length - silent.length,
    running: started.filter((story) => story.closed === null).length,
    silent,
    sealed: all.filter((story) => story.closed !== null && story.revealed === null && now - story.closed > REVEAL_MS),
    faults,
  };
}

function counted(stories: readonly Story[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { outcome } of stories) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return new Map([...counts].sort((a, b) => b[1] - a[1]));
}
