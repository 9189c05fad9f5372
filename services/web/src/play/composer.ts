import type { LegalEntry, Prompt, Slot } from "../gen/grimoire/v1/prompt_pb";
import { type Answer, fault, start } from "./slot";

/** Ids of a catalogue, for slots that ask for a name. */
export type NamesOf = (catalogue: string) => readonly string[];

/**
 * A command in the making: what is legal, narrowed down by what is picked. Never changed: each step gives a new one that
 * remembers the one before, so undoing is always possible and always ends with nothing chosen.
 */
export interface Draft {
  readonly prompt: Prompt;
  /** Refs, in the order they were picked. */
  readonly picked: readonly string[];
  /** Code of the chosen command; empty: open. */
  readonly command: string;
  /** Answers to slots by field; slots for one thing may be answered by picking it as well. */
  readonly answers: Readonly<Record<string, Answer>>;
  /** The entry that was chosen itself, where pointing alone cannot tell it from another. */
  readonly exact: LegalEntry | null;
  readonly before: Draft | null;
}

/** Nothing chosen yet. */
export function draftOf(prompt: Prompt): Draft {
  return { prompt, picked: [], command: "", answers: {}, exact: null, before: null };
}

export function isEmpty(draft: Draft): boolean {
  return draft.picked.length === 0 && draft.command === "" && Object.keys(draft.answers).length === 0;
}

function ones(entry: LegalEntry): Slot[] {
  return entry.slots.filter((slot) => slot.kind.case === "one");
}

function candidates({ kind }: Slot): readonly string[] {
  if (kind.case === "amounts") return kind.value.refs.map(({ ref }) => ref);
  return kind.case === "one" || kind.case === "some" ? kind.value.candidates : kind.case === "payment" ? kind.value.sources : [];
}

/** Slots that are answered by picking, once it is clear which command is meant. */
function isForSeveral({ kind }: Slot): boolean {
  return kind.case === "some" || kind.case === "amounts";
}

/** The one entry left in which a thing is one of several; null: there is none, or no telling which. */
function oneOfSeveral(draft: Draft, ref: string): { readonly entry: LegalEntry; readonly slot: Slot } | null {
  const found = remaining(draft).flatMap((entry) =>
    entry.slots.filter((slot) => slot.kind.case === "some" && candidates(slot).includes(ref)).map((slot) => ({ entry, slot })),
  );
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** Things of which several are meant, and any of which says which command that is. */
function leading(draft: Draft): readonly string[] {
  const refs = remaining(draft).flatMap((entry) => entry.slots.filter(({ kind }) => kind.case === "some").flatMap(candidates));
  return refs.filter((ref) => oneOfSeveral(draft, ref) !== null);
}

function isFixed(entry: LegalEntry, ref: string): boolean {
  return entry.fixed.some((field) => field.ref === ref);
}

/** Which slots are answered by what was pointed at; null: it cannot all be meant at once. */
function taken(entry: LegalEntry, picked: readonly string[]): Record<string, string> | null {
  const found: Record<string, string> = {};
  for (const ref of picked) {
    if (isFixed(entry, ref)) continue;
    const slot = ones(entry).find((one) => !(one.field in found) && candidates(one).includes(ref));
    if (slot === undefined) return null;
    found[slot.field] = ref;
  }
  return found;
}

/** Entries that fit everything that was chosen. */
export function remaining(draft: Draft): readonly LegalEntry[] {
  return draft.prompt.legal.filter(
    (entry) =>
      (draft.exact === null || entry === draft.exact) &&
      (draft.command === "" || entry.type === draft.command) &&
      taken(entry, draft.picked) !== null,
  );
}

/** The one entry that is left; its slots may still be open. */
export function settled(draft: Draft): LegalEntry | null {
  const left = remaining(draft);
  return left.length === 1 ? (left[0] ?? null) : null;
}

/** Codes of the commands that are left, in order. */
export function commands(draft: Draft): readonly string[] {
  return [...new Set(remaining(draft).map((entry) => entry.type))];
}

/** The one entry that a command would be now; null: there are several, or none. */
export function only(draft: Draft, command: string): LegalEntry | null {
  const left = remaining(draft).filter((entry) => entry.type === command);
  return left.length === 1 ? (left[0] ?? null) : null;
}

/** Of the entries of a command, those that ask for nothing beyond what was picked, where others do. */
export function whole(draft: Draft, command: string): readonly LegalEntry[] {
  const known = new Set([...draft.picked, ...common(draft)]);
  return remaining(draft).filter(({ type, fixed, slots }) => type === command && slots.length === 0 && fixed.every(({ ref }) => known.has(ref)));
}

function refsOf(entry: LegalEntry): readonly string[] {
  return [...entry.fixed.map((field) => field.ref), ...ones(entry).flatMap(candidates)];
}

/** Things that may be picked at all. */
export function usable(draft: Draft): ReadonlySet<string> {
  const open = settled(draft);
  const several = open === null ? [] : open.slots.filter(isForSeveral).flatMap(candidates);
  return new Set([...draft.prompt.legal.flatMap(refsOf), ...leading(draftOf(draft.prompt)), ...several]);
}

/** Of these, what goes on from here: the rest would begin anew. */
export function targets(draft: Draft): ReadonlySet<string> {
  if (draft.picked.length === 0 && draft.command === "") return new Set();
  const open = settled(draft);
  const several = open === null ? [] : open.slots.filter(isForSeveral).flatMap(candidates);
  const left = remaining(draft).flatMap((entry) => {
    const done = taken(entry, draft.picked) ?? {};
    const free = ones(entry).filter((slot) => !(slot.field in done));
    return [...entry.fixed.map((field) => field.ref), ...free.flatMap(candidates)];
  });
  return new Set([...left, ...(open === null ? leading(draft) : several)].filter((ref) => !draft.picked.includes(ref)));
}

/** Refs that stand fixed in every entry that is left, in order: what a picked thing brings with it. */
export function common(draft: Draft): readonly string[] {
  const left = remaining(draft);
  const first = left[0];
  if (first === undefined || draft.picked.length === 0) return [];
  return first.fixed.map((field) => field.ref).filter((ref) => left.every((entry) => isFixed(entry, ref)));
}

/** Everything that is chosen: picked things, and those in slots for several. */
export function selected(draft: Draft): ReadonlySet<string> {
  const several = Object.values(draft.answers).flatMap((answer) => {
    if (typeof answer !== "object") return [];
    return Array.isArray(answer) ? (answer as string[]) : Object.entries(answer).flatMap(([ref, n]) => (typeof n === "number" && n > 0 ? [ref] : []));
  });
  return new Set([...draft.picked, ...common(draft), ...several]);
}

/** Picks a thing, or puts it back; what no longer fits with it is dropped. Unchanged if nothing legal has this thing. */
export function pick(draft: Draft, ref: string): Draft {
  if (draft.picked.includes(ref)) {
    return { ...draft, picked: draft.picked.filter((one) => one !== ref), answers: {}, exact: null, before: draft };
  }
  const open = settled(draft);
  const several = open?.slots.find((slot) => isForSeveral(slot) && candidates(slot).includes(ref));
  if (open !== null && several !== undefined) return several.kind.case === "amounts" ? raise(draft, several, ref) : toggle(draft, several, ref);
  if (!draft.prompt.legal.some((entry) => refsOf(entry).includes(ref))) return begunBy(draft, ref);
  const fits = (picked: readonly string[], command: string) =>
    draft.prompt.legal.some((entry) => (command === "" || entry.type === command) && taken(entry, picked) !== null);
  const command = fits([ref], draft.command) ? draft.command : "";
  let kept: readonly string[] = [ref];
  for (const old of draft.picked) {
    const wider = [...kept.slice(0, -1), old, ref];
    if (fits(wider, command)) kept = wider;
  }
  return { ...draft, picked: kept, command, answers: {}, exact: null, before: draft };
}

/** With a thing that is one of several: the command is clear by it, and the first of them is chosen. */
function begunBy(draft: Draft, ref: string): Draft {
  for (const base of [draft, draftOf(draft.prompt)]) {
    const found = oneOfSeveral(base, ref);
    if (found !== null) return { ...base, exact: found.entry, answers: { [found.slot.field]: [ref] }, before: draft };
  }
  return draft;
}

function toggle(draft: Draft, slot: Slot, ref: string): Draft {
  const given = draft.answers[slot.field];
  const now: readonly string[] = Array.isArray(given) ? (given as readonly string[]) : [];
  if (now.includes(ref)) return answer(draft, slot.field, now.filter((one) => one !== ref));
  const max = slot.kind.case === "some" ? slot.kind.value.max : now.length + 1;
  // A full hand of one is changed, not refused.
  return answer(draft, slot.field, [...(now.length < max ? now : now.slice(1)), ref]);
}

/** One more for a thing; none of it any more when there is no more to give. */
function raise(draft: Draft, slot: Slot, ref: string): Draft {
  if (slot.kind.case !== "amounts") return draft;
  const { refs, maxSum } = slot.kind.value;
  const given = { ...((draft.answers[slot.field] ?? start(slot)) as Readonly<Record<string, number>>) };
  const range = refs.find((one) => one.ref === ref);
  const now = given[ref] ?? 0;
  const sum = Object.values(given).reduce((total, n) => total + n, 0);
  return answer(draft, slot.field, { ...given, [ref]: now < (range?.max ?? 0) && sum < maxSum ? now + 1 : (range?.min ?? 0) });
}

/** Chooses the command, or opens the choice again. Unchanged if no such command fits what was picked. */
export function choose(draft: Draft, command: string): Draft {
  const next = command === draft.command ? "" : command;
  const chosen = { ...draft, command: next, exact: null, before: draft };
  return remaining(chosen).length === 0 ? draft : { ...chosen, answers: {} };
}

/** So few entries of one command may be chosen by what they say, too; so few where a thing was picked. */
const FEW = 6;
const FEWER = 3;

/** Entries to be chosen by what they say: no pointing decides among them any more, or they are few. */
export function alike(draft: Draft): readonly LegalEntry[] {
  const left = remaining(draft);
  if (left.length < 2) return [];
  if (draft.picked.length > 0 && targets(draft).size === 0) return left;
  return left.length <= (draft.command !== "" ? FEW : draft.picked.length > 0 && commands(draft).length === 1 ? FEWER : 0) ? left : [];
}

/** Answers a slot of the settled entry; changing the same answer again is one step. */
export function answer(draft: Draft, field: string, value: Answer): Draft {
  const slot = settled(draft)?.slots.find((one) => one.field === field);
  if (slot === undefined) return draft;
  const again = draft.before !== null && field in draft.answers && !(field in draft.before.answers) && !isForSeveral(slot);
  return { ...draft, answers: { ...draft.answers, [field]: value }, before: again ? draft.before : draft };
}

/** One step back; nothing chosen stays nothing chosen. */
export function undo(draft: Draft): Draft {
  return draft.before ?? draft;
}

/** What a slot has been answered with so far, picked things and natural beginnings included. */
export function answerTo(draft: Draft, entry: LegalEntry, slot: Slot): Answer | undefined {
  return draft.answers[slot.field] ?? taken(entry, draft.picked)?.[slot.field] ?? start(slot);
}

/** The slot of an entry that still lacks an answer, the first in order; null: it is complete. */
export function missing(draft: Draft, entry: LegalEntry, names: NamesOf): Slot | null {
  return (
    entry.slots.find((slot) => {
      const known = slot.kind.case === "name" ? names(slot.kind.value.catalogue) : [];
      return fault(slot, answerTo(draft, entry, slot), known) !== null;
    }) ?? null
  );
}

/** The entry that would be sent now, all slots answered; null: something is still open. */
export function complete(draft: Draft, names: NamesOf): LegalEntry | null {
  const entry = settled(draft);
  return entry !== null && missing(draft, entry, names) === null ? entry : null;
}

/** All answers of a complete entry, in the order of its slots. */
export function answersOf(draft: Draft, entry: LegalEntry): (readonly [string, Answer])[] {
  return entry.slots.map((slot) => {
    const given = answerTo(draft, entry, slot);
    if (given === undefined) throw new Error(`${slot.field} has no answer`);
    return [slot.field, given] as const;
  });
}

/** The same choice for a renewed prompt, as far as it is still possible. */
export function keptFor(draft: Draft, prompt: Prompt): Draft {
  let fresh = draftOf(prompt);
  for (const ref of draft.picked) fresh = pick(fresh, ref);
  if (draft.command !== "") fresh = choose(fresh, draft.command);
  for (const [field, value] of Object.entries(draft.answers)) fresh = answer(fresh, field, value);
  return fresh;
}
