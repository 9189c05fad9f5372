import type { View } from "../../gen/grimoire/games/spellbound/v1/spellbound_pb";
import { PARTS, RESULTS } from "./trace";

type Counted = (typeof PARTS)[number];

/** Parts of an encounter as they are laid side by side: what counts for the moon, and what for the sun; null: nothing ever does. */
const ROWS = [
  ["strength", "strength", null],
  ["stones", "moonstones", "sunstones"],
  ["piles", "moonPile", "sunPile"],
  ["minions", "minions", null],
  ["books", null, "books"],
] as const satisfies readonly (readonly [string, Counted | null, Counted | null])[];

/** How a match ends whose final battle was fought (SB-15.5). */
const BATTLES: readonly string[] = ["final_battle", "final_battle_lost"];

/** Of these nothing is said where there are none. */
const RARE: readonly string[] = ["minions", "books"];

export interface Row {
  readonly part: (typeof ROWS)[number][0];
  readonly moon: number | null;
  readonly sun: number | null;
}

/** An encounter or the final battle, part by part (SB-14.6). */
export interface Meeting {
  /** Tells it from the one before. */
  readonly id: number;
  /** The final battle. */
  readonly battle: boolean;
  readonly rows: readonly Row[];
  /** Null: somebody is still asked about the stones. */
  readonly total: { readonly moon: number; readonly sun: number; readonly result: (typeof RESULTS)[number] } | null;
  /** Who did what led to it; null: the clock. */
  readonly seat: number | null;
}

/**
 * The encounter that is under way or was counted last; null: there was none since one's own last command.
 *
 * @param trace what changed, see traceOf.
 * @param moonOf the moon force of a card.
 */
export function meetingOf(view: View, trace: ReadonlyMap<string, number>, moonOf: (card: string) => number): Meeting | null {
  if (view.window?.window === "encounter_stones") {
    const books = trace.get("battle.books");
    return { id: 0, battle: books !== undefined, rows: rowsOf(soFar(view, books ?? 0, moonOf)), total: null, seat: null };
  }
  const result = RESULTS[trace.get("encounter.result") ?? -1];
  if (result === undefined) return null;
  const seat = trace.get("encounter.seat") ?? -1;
  return {
    id: trace.get("encounter.version") ?? 0,
    // Nothing is counted after the battle, so that it was the last.
    battle: BATTLES.includes(view.result?.reason ?? ""),
    rows: rowsOf((part) => trace.get(`encounter.${part}`) ?? 0),
    total: { moon: trace.get("encounter.moon") ?? 0, sun: trace.get("encounter.sun") ?? 0, result },
    seat: seat < 0 ? null : seat,
  };
}

function rowsOf(force: (part: Counted) => number): Row[] {
  return ROWS.map(([part, moon, sun]) => ({ part, moon: moon === null ? null : force(moon), sun: sun === null ? null : force(sun) })).filter(
    ({ part, moon, sun }) => !RARE.includes(part) || (moon ?? 0) + (sun ?? 0) > 0,
  );
}

/** The stones lie there, and may still be turned (SB-16.7). */
function soFar({ tower, stones }: View, books: number, moonOf: (card: string) => number): (part: Counted) => number {
  const suns = stones.filter(({ stone, turned }) => stone === "sun" || turned).length;
  const minions = (tower?.minions ?? []).reduce((sum, minion) => sum + moonOf(minion), 0);
  const forces: Readonly<Partial<Record<Counted, number>>> = {
    strength: tower?.strength ?? 0,
    moonstones: stones.length - suns,
    moonPile: (tower?.moonForce ?? 0) - (tower?.strength ?? 0) - minions,
    minions,
    sunstones: suns,
    sunPile: tower?.sunForce ?? 0,
    books,
  };
  return (part) => forces[part] ?? 0;
}
