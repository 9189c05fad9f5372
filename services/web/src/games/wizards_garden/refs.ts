import type { Words } from "../../api/manifest.svelte";
import { has, t } from "../../i18n/index.svelte";
import type { Marks } from "../module";

/** A space is pointed at as where something is, or as where it is to go. */
export function refsOf(space: string): readonly [string, string] {
  return [`at:${space}`, `to:${space}`];
}

/** What a click on a space means now: put back what is selected, else go on with what was begun, else begin. */
export function cellRef(space: string, marks: Marks): string {
  const refs = refsOf(space);
  const found = (set: ReadonlySet<string>) => refs.find((ref) => set.has(ref));
  return found(marks.selected) ?? refs.toReversed().find((ref) => marks.targets.has(ref)) ?? found(marks.usable) ?? refs[0];
}

/** A thing of the picture in words, where its ref alone does not say. */
export function thingName(ref: string, words: Words): string | null {
  const cut = ref.indexOf(":");
  const [kind, id] = [ref.slice(0, cut), ref.slice(cut + 1)];
  switch (kind) {
    case "at":
    case "to":
      return /^[a-e]\d$/.test(id) ? id : null;
    case "slot":
      return t("wizards_garden.own_slot", { n: id });
    case "their_slot":
      return t("wizards_garden.their_slot", { n: id });
    case "open":
      return id === "deck" ? t("wizards_garden.deck") : words.nameOf(id);
    case "group":
      return id.replace(">", " › ");
    case "spell":
    case "kind":
    case "card":
      return words.nameOf(id);
    default:
      return null;
  }
}

/** A command without its things, where the game's sentence cannot do without them. */
export function commandName(code: string): string | null {
  const key = `wizards_garden.command.${code}`;
  return has(key) ? t(key) : null;
}
