import { create } from "@bufbuild/protobuf";

import type { View } from "../../gen/grimoire/games/wizards_garden/v1/wizards_garden_pb";
import { type FixedField, FixedFieldSchema, type LegalEntry, LegalEntrySchema, type Prompt, PromptSchema, type Slot, SlotSchema } from "../../gen/grimoire/v1/prompt_pb";
import { standing } from "./picture";

/**
 * The same prompt in things of the picture. A command names a gnome, a pit, a target; a person points at two spaces: where
 * something is (`at:`), and where it is to go (`to:`). Spells are pointed at themselves, threats by either end.
 */
export function pointed(prompt: Prompt, view: View): Prompt {
  const at = standing(view);
  return create(PromptSchema, { ...prompt, legal: prompt.legal.map((entry) => entryOf(entry, view, at)) });
}

function entryOf(entry: LegalEntry, view: View, at: ReadonlyMap<string, string>): LegalEntry {
  const refOf = (field: string, ref: string) => thingOf(entry.type, field, ref.slice(ref.indexOf(":") + 1), view, at) ?? ref;
  const fixed = entry.fixed.map(({ name, ref }) => field(refOf(name, ref), name));
  const group = entry.fixed.find(({ name }) => name === "group");
  if (group !== undefined) {
    const [origin, target] = group.ref.slice(6).split(">");
    fixed.unshift(field(`at:${origin ?? ""}`), field(`to:${target ?? ""}`));
  }
  if (entry.type.startsWith("cast_")) fixed.unshift(field(`spell:${entry.type.slice(5)}`));
  const slots = entry.slots.map((slot) => slotOf(slot, (ref) => refOf(slot.field, ref)));
  const flags = entry.type === "end_phase" && view.phase === "attack" && view.groups.length > 0 ? [...entry.flags, "withdraws_all"] : entry.flags;
  return create(LegalEntrySchema, { ...entry, fixed, slots, flags });
}

function field(ref: string, name = ""): FixedField {
  return create(FixedFieldSchema, { name, ref });
}

function slotOf(slot: Slot, refOf: (ref: string) => string): Slot {
  const { kind } = slot;
  if (kind.case === "one" || kind.case === "some") {
    return create(SlotSchema, { ...slot, kind: { case: kind.case, value: { ...kind.value, candidates: kind.value.candidates.map(refOf) } as never } });
  }
  if (kind.case === "amounts") {
    return create(SlotSchema, { ...slot, kind: { case: "amounts", value: { ...kind.value, refs: kind.value.refs.map((one) => ({ ...one, ref: refOf(one.ref) })) } } });
  }
  return slot;
}

/** The thing that a field's value is in the picture; null: it is in none. */
function thingOf(command: string, field: string, value: string, view: View, at: ReadonlyMap<string, string>): string | null {
  switch (field) {
    case "gnome":
    case "pest":
      return at.has(value) ? `at:${at.get(value) ?? ""}` : null;
    case "from":
    case "deposit":
    case "space":
    case "water":
    case "fires":
      return `at:${value}`;
    case "target":
      return command === "cast_skull" ? `at:${value}` : `to:${value}`;
    case "to":
      return command === "choose_space" ? null : `to:${value}`;
    case "card":
    case "discard":
    case "spirits":
      return `card:${value}`;
    case "source":
      return `open:${value}`;
    case "a":
    case "b":
      return lying(value, view);
    default:
      return null;
  }
}

/** Where a card lies face up. */
function lying(card: string, view: View): string {
  for (const side of view.seats) {
    const slot = side.spirits.indexOf(card);
    if (slot >= 0) return `${side.seat === (view.ownSeat ?? 0) ? "slot" : "their_slot"}:${slot}`;
  }
  return `open:${card}`;
}
