import type { View } from "../../gen/grimoire/games/broom_service/v1/broom_service_pb";
import type { Words } from "../../api/manifest.svelte";
import { has, t } from "../../i18n/index.svelte";
import type { Marks } from "../module";
import { plotsOf } from "./geometry";
import { cloudsAt, ownRoles, pawnsIn } from "./picture";

/** A region is pointed at as itself, as one's own pawns in it, as its stone circle, and as the cloud on it where there is but one. */
export function regionRefs(view: View, region: string, me: number | null): readonly string[] {
  const circle = plotsOf(view.board).find(({ id }) => id === region)?.circle ?? "";
  const clouds = cloudsAt(view, region);
  const [cloud] = clouds;
  const own = pawnsIn(view, region, me).filter(({ seat }) => seat === me);
  return [
    `region:${region}`,
    ...own.map(({ pawn }) => `pawn:${pawn}`),
    ...(circle === "" ? [] : [`circle:${circle}`]),
    ...(clouds.length === 1 && cloud !== undefined ? [`space:${cloud.space}`] : []),
  ];
}

/** The marks in which a flight begins with its pawn: until anything is picked, where that stands is no place for another to fly to. */
export function beginnings(marks: Marks, view: View, me: number | null): Marks {
  if (marks.selected.size > 0) return marks;
  const pawns = view.seats.find(({ seat }) => seat === me)?.pawns ?? [];
  const without = (refs: ReadonlySet<string>): ReadonlySet<string> => {
    const taken = new Set(pawns.flatMap((region, pawn) => (refs.has(`pawn:${pawn}`) ? [`region:${region}`] : [])));
    return new Set([...refs].filter((ref) => !taken.has(ref)));
  };
  return { ...marks, usable: without(marks.usable), targets: without(marks.targets) };
}

/** All roles in the order of the catalogue, as the choice of roles shows them. */
export const ROLES = [
  "root_gatherer",
  "herb_gatherer",
  "fruit_gatherer",
  "hill_witch",
  "forest_witch",
  "mountain_witch",
  "prairie_witch",
  "hill_druid",
  "valley_druid",
  "weather_fairy",
] as const;

/** All ten lie on the table while roles are chosen, else those that a seat holds. */
export function rolesShown(view: View, me: number | null): readonly string[] {
  return view.stage === "choose" && me !== null && view.asked.includes(me) ? ROLES : ownRoles(view, me);
}

/** Roles by their digits, 0 is the tenth; how one is played by its letter. */
export function keyRef(key: string, view: View): string | null {
  if (key === "b") return "play:brave";
  if (key === "c") return "play:cowardly";
  if (!/^\d$/.test(key)) return null;
  // Only one's own hand holds roles in a view.
  const mine = view.seats.find(({ roles }) => roles.length > 0);
  const role = rolesShown(view, view.stage === "choose" ? (view.asked[0] ?? null) : (mine?.seat ?? null))[key === "0" ? 9 : Number(key) - 1];
  return role === undefined ? null : `role:${role}`;
}

/** A thing of the picture in words, where its ref alone does not say. */
export function thingName(ref: string, words: Words): string | null {
  const cut = ref.indexOf(":");
  const [kind, id] = [ref.slice(0, cut), ref.slice(cut + 1)];
  if (kind === "play" || kind === "stance" || kind === "instead") return words.itemName("stances", id) ?? words.nameOf(id);
  if (kind === "pawn") return words.itemName("pawns", id);
  return words.nameOf(id);
}

/** A command without its things, where the game's sentence cannot do without them. */
export function commandName(code: string): string | null {
  const key = `broom_service.command.${code}`;
  return has(key) ? t(key) : null;
}
