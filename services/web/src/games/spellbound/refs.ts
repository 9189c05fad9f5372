import type { Words } from "../../api/manifest.svelte";
import type { View } from "../../gen/grimoire/games/spellbound/v1/spellbound_pb";
import { has, t } from "../../i18n/index.svelte";
import type { Marks } from "../module";

/** The wand of whose turn it is: the only one that can be used (SB-9.1). */
export const WAND = "wand:now";

/** A place is pointed at as itself, or, once the wand or a spell was begun, as where that leads. */
export function placeRefs(place: string): readonly string[] {
  return [`place:${place}`, `to:${place}`];
}

/** The marks without what only goes on: where to and whom is pointed at once it is clear what for. */
export function beginnings(marks: Marks): Marks {
  return { ...marks, usable: new Set([...marks.usable].filter((ref) => !/^(to|mage):/.test(ref))) };
}

/** Cards of the mage row by their digits, and the wand. */
export function keyRef(key: string, view: View): string | null {
  if (key === "w") return WAND;
  const card = /^[1-9]$/.test(key) ? view.lowerRow[Number(key) - 1] : undefined;
  return card === undefined ? null : `card:${card.card}`;
}

/** A thing of the picture in words, where its ref alone does not say. */
export function thingName(ref: string, words: Words): string | null {
  const cut = ref.indexOf(":");
  const [kind, id] = [ref.slice(0, cut), ref.slice(cut + 1)];
  if (ref === WAND) return t("spellbound.wand_own");
  if (kind === "mage" || kind === "rider") return words.itemName("mages", id);
  return words.nameOf(id);
}

/** A command without its things, where the game's sentence cannot do without them. */
export function commandName(code: string): string | null {
  const key = `spellbound.command.${code}`;
  return has(key) ? t(key) : null;
}
