import type { SeatView, View } from "../../gen/grimoire/games/wizards_garden/v1/wizards_garden_pb";
import { type Plot, PLOTS } from "./geometry";

export const KINDS = ["pest", "water", "spirit", "gnome", "fire"] as const;
export type Kind = (typeof KINDS)[number];

/** A gnome in the yard; `lantern`: the kind of the one it bears. */
export interface Gnome {
  readonly id: string;
  readonly seat: number;
  readonly lantern: string;
  readonly bright: boolean;
}

/** A threat on a border, or the attack it has become. */
export interface Threat {
  /** `a3>a4`. */
  readonly id: string;
  readonly origin: string;
  readonly target: string;
  /** Whose attack it is. */
  readonly seat: number;
  /** Ids of pests and of a gnome; both: a possessed pair. */
  readonly pests: readonly string[];
  readonly gnome: string;
  readonly inTransit: boolean;
  /** 0: its fire will be named. */
  readonly strength: number;
}

/** A space and all that is on it: at most one of gnome, pests, a pair of both, and fire. */
export interface Cell extends Plot {
  readonly gnome: Gnome | null;
  /** With a gnome: the one that possesses it. */
  readonly pests: readonly string[];
  readonly fish: number;
  readonly water: number;
  /** Whose deposit it is. */
  readonly holder: number | null;
  /** Aimed at what is here. */
  readonly threats: readonly Threat[];
}

/** A gnome's colour is the beginning of its id. */
export function seatOfGnome(id: string): number {
  return id.startsWith("red") ? 1 : 0;
}

export function isGnome(piece: string): boolean {
  return piece.includes("gnome");
}

/** A card's kind: `spirit_fire_03` is of fire. */
export function kindOf(card: string): Kind {
  return KINDS.find((kind) => card.startsWith(`spirit_${kind}`)) ?? "spirit";
}

/** All threats, each with who makes it: only whose turn it is threatens (WG-8.3). */
export function threatsOf(view: View): Threat[] {
  return view.groups.map(({ group, origin, target, pieces, inTransit, strength }) => ({
    id: group,
    origin,
    target,
    seat: view.activeSeat,
    pests: pieces.filter((piece) => !isGnome(piece)),
    gnome: pieces.find(isGnome) ?? "",
    inTransit,
    strength,
  }));
}

/** The whole yard, space by space. */
export function cellsOf(view: View): Cell[] {
  const held = new Map(view.spaces.map((space) => [space.space, space]));
  const threats = threatsOf(view);
  return PLOTS.map((plot) => {
    const space = held.get(plot.id);
    const gnome = space === undefined || space.gnome === "" ? null : space.gnome;
    return {
      ...plot,
      gnome: gnome === null ? null : { id: gnome, seat: seatOfGnome(gnome), lantern: space?.lantern ?? "", bright: space?.bright ?? false },
      pests: space?.pests ?? [],
      fish: space?.fishFire ?? 0,
      water: space?.water ?? 0,
      holder: space?.heldBy ?? null,
      threats: threats.filter((threat) => threat.target === plot.id),
    };
  });
}

/** The seats with one's own last, as they lie on the table from above. */
export function seatsFrom(view: View, me: number | null): SeatView[] {
  return [...view.seats].sort((a, b) => Number(a.seat === (me ?? 0)) - Number(b.seat === (me ?? 0)));
}

/** Spaces of pieces in the yard, by piece. */
export function standing(view: View): ReadonlyMap<string, string> {
  return new Map(view.spaces.flatMap(({ space, gnome, pests }) => [...(gnome === "" ? [] : [gnome]), ...pests].map((piece) => [piece, space] as const)));
}
