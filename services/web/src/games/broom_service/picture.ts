import type { CloudView, SeatView, TowerView, View } from "../../gen/grimoire/games/broom_service/v1/broom_service_pb";

/** Clouds that lie on a region. */
export function cloudsAt(view: View, region: string): readonly CloudView[] {
  return view.clouds.filter((cloud) => cloud.region === region);
}

/** Towers of a match that can be seen: not those under a tile. */
export function towersOf(view: View): readonly TowerView[] {
  return view.towers.filter(({ covered }) => !covered);
}

/** Towers that a pawn on a region can serve. */
export function towersAt(view: View, region: string): readonly TowerView[] {
  return towersOf(view).filter(({ touches }) => touches.includes(region));
}

/** A pawn with whose it is. */
export interface Standing {
  readonly seat: number;
  readonly pawn: number;
}

/** Pawns on a region, one's own first. */
export function pawnsIn(view: View, region: string, me: number | null): readonly Standing[] {
  const all = view.seats.flatMap(({ seat, pawns }) => pawns.flatMap((at, pawn) => (at === region ? [{ seat, pawn }] : [])));
  return [...all.filter(({ seat }) => seat === me), ...all.filter(({ seat }) => seat !== me)];
}

/** The tile of a region; empty: none. */
export function tileAt(view: View, region: string): string {
  return view.tiles.find((tile) => tile.region === region)?.tile ?? "";
}

/** Seats in the order of the table, one's own first. */
export function seatsFrom(view: View, me: number | null): readonly SeatView[] {
  return me === null ? view.seats : [...view.seats.filter(({ seat }) => seat >= me), ...view.seats.filter(({ seat }) => seat < me)];
}

/** Resources in the order of the catalogue, as fields of a view. */
export const RESOURCES = ["orange", "green", "purple", "wand"] as const;

export interface Amounts {
  readonly orange: number;
  readonly green: number;
  readonly purple: number;
  readonly wand: number;
}

/** What was laid down and passed in the last trick that has begun, in order. */
export function trickOf(view: View): View["plays"] {
  return view.plays.filter((play) => play.trickNo === view.trickNo);
}

/** Steps that may be taken now: the top of the stack (BS-6.1). */
export function openSteps(view: View): View["steps"] {
  const top = Math.max(0, ...view.steps.map(({ group }) => group));
  return view.steps.filter(({ group }) => group === top);
}

/** A seat's roles as its own cards: those of its hand, and nobody else's. */
export function ownRoles(view: View, me: number | null): readonly string[] {
  return me === null ? [] : (view.seats.find(({ seat }) => seat === me)?.roles ?? []);
}
