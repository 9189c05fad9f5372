import { create } from "@bufbuild/protobuf";

import { file_grimoire_games_wizards_garden_v1_wizards_garden as file, type View } from "../../gen/grimoire/games/wizards_garden/v1/wizards_garden_pb";
import {
  type FixedField,
  FixedFieldSchema,
  type LegalEntry,
  LegalEntrySchema,
  type Prompt,
  PromptSchema,
  type Slot,
  SlotSchema,
} from "../../gen/grimoire/v1/prompt_pb";
import { filled } from "../../play/slot";
import { standing } from "./picture";

/** A command on its way from fields to things of the picture. */
interface Draft {
  readonly entry: LegalEntry;
  readonly payload: Uint8Array;
  /** What is fixed, by field. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly open: readonly Slot[];
}

/**
 * The same prompt in things of the picture. A command names a gnome, a pit, a target; a person points at two spaces: where
 * something is (`at:`), and where it is to go (`to:`). Spells are pointed at themselves, threats by either end, cards where
 * they lie. What is to be pointed at is no question for the bar: it becomes a command for each of its answers.
 */
export function pointed(prompt: Prompt, view: View): Prompt {
  const at = standing(view);
  const drafts = prompt.legal.flatMap((entry) => expanded(begun(entry)));
  const legal = different(drafts, view, at);
  // Giving up comes after all that may still be done.
  const isGivingUp = ({ type }: LegalEntry): number => Number(type === "withdraw") + 2 * Number(type.startsWith("end_"));
  return create(PromptSchema, { ...prompt, legal: legal.sort((a, b) => isGivingUp(a) - isGivingUp(b)) });
}

function valueOf(ref: string): string {
  return ref.slice(ref.indexOf(":") + 1);
}

function begun(entry: LegalEntry): Draft {
  return { entry, payload: entry.payload, values: new Map(entry.fixed.map(({ name, ref }) => [name, [valueOf(ref)]])), open: entry.slots };
}

/** Fields that are asked for after all, because what they name is no place: the price of a step. */
const ASKED = new Set(["discard"]);

/** A command for each answer to what can be pointed at. */
function expanded(draft: Draft): readonly Draft[] {
  const slot = draft.open.find((one) => !(ASKED.has(one.field) && draft.entry.type !== "cast_feather") && answersOf(one).length > 0);
  if (slot === undefined) return [draft];
  const schema = file.messages.find((message) => message.name === pascal(draft.entry.type));
  if (schema === undefined) return [draft];
  return answersOf(slot).flatMap((answer) =>
    expanded({
      entry: draft.entry,
      payload: filled(schema, draft.payload, [[slot.field, slot.kind.case === "some" ? answer : (answer[0] ?? "")]]),
      values: new Map([...draft.values, [slot.field, answer.map(valueOf)]]),
      open: draft.open.filter((other) => other !== slot),
    }),
  );
}

function pascal(code: string): string {
  return code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** All answers of a slot for one thing, or of one for several that leaves no choice; none: it stays a question. */
function answersOf({ kind }: Slot): readonly (readonly string[])[] {
  if (kind.case === "one") return kind.value.candidates.map((one) => [one]);
  return kind.case === "some" && kind.value.min === kind.value.candidates.length ? [kind.value.candidates] : [];
}

function entryOf({ entry, payload, values, open }: Draft, view: View, at: ReadonlyMap<string, string>): LegalEntry {
  const fixed = [...values].flatMap(([name, some]) =>
    some.map((value) => field(thingOf(entry.type, name, value, view, at) ?? `${name}:${value}`, some.length > 1 || name === "pests" ? "" : name)),
  );
  // The one where pests of a stack are is pointed at, whichever of them are meant.
  const several = open.find(({ field: name, kind }) => name === "pests" && kind.case === "some");
  if (several?.kind.case === "some") fixed.unshift(field(`at:${at.get(valueOf(several.kind.value.candidates[0] ?? "")) ?? ""}`));
  const group = values.get("group")?.[0];
  if (group !== undefined) {
    const [origin, target] = group.split(">");
    fixed.unshift(field(`at:${origin ?? ""}`), field(`to:${target ?? ""}`));
  }
  if (entry.type.startsWith("cast_")) fixed.unshift(field(`spell:${entry.type.slice(5)}`));
  const flags = entry.type === "end_phase" && view.phase === "attack" && view.groups.length > 0 ? [...entry.flags, "withdraws_all"] : entry.flags;
  return create(LegalEntrySchema, { ...entry, payload, fixed: unlike(fixed), slots: open.map(amountsAt), flags });
}

/** Two pests of a stack are one thing to point at. */
function unlike(fixed: readonly FixedField[]): FixedField[] {
  return fixed.filter(({ ref }, n) => fixed.findIndex((other) => other.ref === ref) === n);
}

/** Named, it is told of by what stands in its place in the command's label, or behind it. */
function field(ref: string, name = ""): FixedField {
  return create(FixedFieldSchema, { name, ref });
}

/** Amounts are laid on spaces of the picture. */
function amountsAt(slot: Slot): Slot {
  if (slot.kind.case !== "amounts") return slot;
  const refs = slot.kind.value.refs.map((one) => ({ ...one, ref: `at:${valueOf(one.ref)}` }));
  return create(SlotSchema, { ...slot, kind: { case: "amounts", value: { ...slot.kind.value, refs } } });
}

/** The thing that a field's value is in the picture; null: it is in none. */
function thingOf(command: string, name: string, value: string, view: View, at: ReadonlyMap<string, string>): string | null {
  switch (name) {
    case "gnome":
    case "pest":
    case "pests":
      return at.has(value) ? `at:${at.get(value) ?? ""}` : null;
    case "from":
    case "deposit":
    case "space":
      return `at:${value}`;
    case "target":
      return command === "cast_skull" ? `at:${value}` : `to:${value}`;
    case "to":
      return command === "choose_space" ? end(value, view) : `to:${value}`;
    case "discard":
    case "spirits":
      return `card:${value}`;
    case "source":
      return `open:${value}`;
    case "a":
    case "b":
      return lying(value, view);
    case "index":
      return `pending:${value}`;
    default:
      return null;
  }
}

/** Either end of the battle's border. */
function end(to: string, { battle }: View): string {
  return to === "target" ? `to:${battle?.target ?? ""}` : `at:${battle?.group.split(">")[0] ?? ""}`;
}

/** Where a card lies face up. */
function lying(card: string, view: View): string {
  for (const side of view.seats) {
    const slot = side.spirits.indexOf(card);
    if (slot >= 0) return `${side.seat === (view.ownSeat ?? 0) ? "slot" : "their_slot"}:${slot}`;
  }
  return `open:${card}`;
}

/** Of commands about the same things, those that do something different: pests of a stack are alike unless one threatens. */
function different(drafts: readonly Draft[], view: View, at: ReadonlyMap<string, string>): LegalEntry[] {
  const threatening = new Map(view.groups.flatMap(({ group, pieces }) => pieces.map((piece) => [piece, group] as const)));
  const seen = new Set<string>();
  return drafts.flatMap((draft) => {
    const entry = entryOf(draft, view, at);
    if (entry.type !== "move_pest" && entry.type !== "cast_eye") return [entry];
    const group = threatening.get(draft.values.get("pest")?.[0] ?? "") ?? "";
    const key = [entry.type, group, ...entry.fixed.map(({ ref }) => ref).sort()].join(" ");
    if (seen.has(key)) return [];
    seen.add(key);
    return [entry];
  });
}
