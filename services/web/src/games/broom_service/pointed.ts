import { create } from "@bufbuild/protobuf";

import type { View } from "../../gen/grimoire/games/broom_service/v1/broom_service_pb";
import { type FixedField, FixedFieldSchema, type LegalEntry, LegalEntrySchema, type Prompt, PromptSchema } from "../../gen/grimoire/v1/prompt_pb";

/** Of steps people choose what they do; which open step that uses up is told by the command's label, where it matters. */
const TOLD = new Set(["step", "size"]);
/** What gives something up comes last. */
const LATER = ["skip_step", "decline_extra", "decline_set"];

/**
 * The same prompt in things of the picture: roles, regions, towers, clouds, pawns; and of a role how it is played, `play:brave`,
 * `play:cowardly`, `play:event` or `play:<tile>`, each of which means one command. The role that is followed goes without saying.
 */
export function pointed(prompt: Prompt, view: View): Prompt {
  const legal = prompt.legal.map((entry) => create(LegalEntrySchema, { ...entry, fixed: fixedOf(entry, view) }));
  return create(PromptSchema, { ...prompt, legal: legal.sort((a, b) => LATER.indexOf(a.type) - LATER.indexOf(b.type)) });
}

function fixedOf(entry: LegalEntry, view: View): FixedField[] {
  const found = (field: string) => entry.fixed.find(({ name }) => name === field)?.ref ?? "";
  if (entry.type !== "play_role") return entry.fixed.filter(({ name }) => !TOLD.has(name));
  const way = (found("instead") || found("stance")).replace(/^\w+:/, "");
  const kept = entry.fixed.filter(({ name }) => name === "role" && view.stage !== "follow");
  return way === "" ? kept : [create(FixedFieldSchema, { ref: `play:${way}` }), ...kept];
}
