import { create } from "@bufbuild/protobuf";

import { file_grimoire_games_spellbound_v1_spellbound as file } from "../../gen/grimoire/games/spellbound/v1/spellbound_pb";
import { type FixedField, FixedFieldSchema, type LegalEntry, LegalEntrySchema, type Prompt, PromptSchema, type Slot, SlotSchema } from "../../gen/grimoire/v1/prompt_pb";
import { filled } from "../../play/slot";
import { WAND } from "./refs";

/** Fields that are no things: a command's label says them. */
const TOLD = new Set(["mode", "step", "level", "accept", "rider"]);
/** Slots that stay a question if there is a choice: books and pieces are few, and the bar lists them. */
const ASKED = new Set(["book", "books", "piece"]);
/** What is rare comes later, and what ends something last. */
const LATER = ["discard_influence", "declare_final_battle", "skip_turn", "end_card", "end_story", "pass"];

/**
 * The same prompt in things of the picture: cards, places, the wand, spells, mages. A command becomes one for each of the
 * things that it could be for, so that pointing at a thing leaves a choice of whole commands. Wand and spells that bring
 * somebody somewhere name a place as `to:`: a click on a place is a step of the card in progress unless they were begun.
 */
export function pointed(prompt: Prompt): Prompt {
  const legal = prompt.legal.flatMap((entry) => expanded(begun(entry)));
  return create(PromptSchema, { ...prompt, legal: legal.sort((a, b) => LATER.indexOf(a.type) - LATER.indexOf(b.type)) });
}

function begun(entry: LegalEntry): LegalEntry {
  const fixed = entry.fixed.filter(({ name }) => !TOLD.has(name));
  const slots = entry.type === "card_step" ? entry.slots : entry.slots.map(elsewhere);
  const wand = entry.type === "use_wand" ? [field(WAND)] : [];
  return create(LegalEntrySchema, { ...entry, fixed: [...wand, ...fixed.map(({ name, ref }) => field(ref.replace(/^village:/, "place:"), name))], slots });
}

/** Named, it is told of by what stands in its place in the command's label, or behind it. */
function field(ref: string, name = ""): FixedField {
  // The label of a spell says which it is, and of whom it tells.
  return create(FixedFieldSchema, { name: name === "spell" ? "" : name, ref });
}

function elsewhere(slot: Slot): Slot {
  if (slot.field !== "to" || slot.kind.case !== "one") return slot;
  const candidates = slot.kind.value.candidates.map((ref) => ref.replace("place:", "to:"));
  return create(SlotSchema, { ...slot, kind: { case: "one", value: { ...slot.kind.value, candidates } } });
}

/** A command for each thing that an open slot could be answered with. */
function expanded(entry: LegalEntry): readonly LegalEntry[] {
  const slot = entry.slots.find((one) => answersOf(one).length === 1 || (answersOf(one).length > 1 && !ASKED.has(one.field)));
  const schema = file.messages.find(({ name }) => name === entry.type.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase()));
  if (slot === undefined || schema === undefined) return [entry];
  return answersOf(slot).flatMap((ref) =>
    expanded(
      create(LegalEntrySchema, {
        ...entry,
        payload: filled(schema, entry.payload, [[slot.field, slot.kind.case === "some" ? [ref] : ref]]),
        fixed: [...entry.fixed, field(ref, slot.field)],
        slots: entry.slots.filter((other) => other !== slot),
      }),
    ),
  );
}

/** Things that a slot is answered with by one of them; none: it asks for several. */
function answersOf({ kind }: Slot): readonly string[] {
  if (kind.case === "one") return kind.value.candidates;
  return kind.case === "some" && kind.value.max === 1 ? kind.value.candidates : [];
}
