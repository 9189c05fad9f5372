import type { CardView, MageView, TrackView, View, VillageView } from "../../gen/grimoire/games/spellbound/v1/spellbound_pb";

/** Mages by their letters, as villages, spaces and wands have numbers. */
const LETTERS = ["A", "B", "C", "D"] as const;

export function letterOf(mage: number): string {
  return LETTERS[mage] ?? String(mage + 1);
}

/** Mages that stand at a place. */
export function magesAt(view: View, place: string): readonly MageView[] {
  return view.mages.filter((mage) => mage.place === place);
}

/** How far the book is ahead of the piece; 0: it is not on its track. */
export function gapOf(track: TrackView): number {
  return track.bookState === "on_track" ? track.bookAt - track.pieceAt : 0;
}

/** So many wicked cards are purged at the end of the story (SB-11.4). */
const PURGED_AT = 3;

export function isPurged(view: View): boolean {
  return view.upperRow.filter(({ guard }) => !guard).length >= PURGED_AT;
}

/** So many cards may stay in the mage row when the story ends, besides Fortuna (SB-6.7). */
export const STAY = 2;

/** How many cards must still be played or discarded before the story can end; 0: it can, or no story is told. */
export function tooMany({ state, result, lowerRow }: View): number {
  if (state !== "story" || result !== undefined) return 0;
  return Math.max(0, lowerRow.filter(({ group }) => group !== "fortuna").length - STAY);
}

/** What is forgotten at the end of the story, as keys of texts. */
export function warningsOf(view: View): readonly ("idle" | "fortuna" | "fortuna_visited" | "purge")[] {
  if (view.result !== undefined) return [];
  return [
    ...(view.idlePiece === "" ? [] : (["idle"] as const)),
    ...(view.lowerRow.some(({ group }) => group === "fortuna") ? ([view.fortunaVisited ? "fortuna_visited" : "fortuna"] as const) : []),
    ...(isPurged(view) ? (["purge"] as const) : []),
  ];
}

/** A village by its number. */
export function numberOf({ village }: VillageView): number {
  return Number(village.slice(-2));
}

/** Moon force of the moon pile alone: without the witch's own strength and the minions. */
export function strengthOfCard({ sun, moon }: CardView): { readonly sign: "☀" | "☾"; readonly n: number } | null {
  if (sun > 0) return { sign: "☀", n: sun };
  return moon > 0 ? { sign: "☾", n: moon } : null;
}

/** Seats in the order of the table, one's own first. */
export function seatsFrom(view: View, me: number | null): readonly number[] {
  const seats = [...new Set(view.mages.map(({ seat }) => seat))].sort((a, b) => a - b);
  return me === null ? seats : [...seats.filter((seat) => seat === me), ...seats.filter((seat) => seat > me), ...seats.filter((seat) => seat < me)];
}

/** Cards that are called alike, counted, in their order. */
export function counted(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, n]) => (n > 1 ? `${name} ×${n}` : name)).join(", ");
}

/** Whom the match waits for: who is asked about a spell, the rider, else whose turn it is. */
export function askedSeat(view: View): number | null {
  if (view.result !== undefined || view.turn === 0) return null;
  if (view.window !== undefined) return view.window.seat;
  if (view.ride !== undefined) return view.mages.find(({ mage }) => mage === view.ride?.rider)?.seat ?? null;
  return view.activeSeat;
}
