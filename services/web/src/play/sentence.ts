import { type DescField, type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";

import type { Words } from "../api/manifest.svelte";
import { loadedModule, messageOf } from "../games/module";
import type { Rejection } from "../gen/grimoire/v1/envelope_pb";
import { TemplateKind } from "../gen/grimoire/v1/manifest_pb";
import {
  ClockExtendedSchema,
  type Event,
  FairnessRevealedSchema,
  MatchCreatedSchema,
  MatchStartedSchema,
  MatchVoidedSchema,
  NonceOpenedSchema,
  NonceSealedSchema,
  SeatBackSchema,
  SeatBoundSchema,
  SeatLeftSchema,
} from "../gen/grimoire/v1/match_pb";
import type { Label, LegalEntry, Slot } from "../gen/grimoire/v1/prompt_pb";
import { has, langOf, language, t } from "../i18n/index.svelte";
import { short } from "../match/chain";
import type { Say } from "./phrase";
import type { Answer } from "./slot";
import type { Told } from "./told";

export { MARKS, markOf } from "./marks";

/** Fields whose number is a seat. */
const SEATS = new Set(["seat", "winner", "first_seat", "active_seat"]);
/** Fields whose text is a term of the game. */
const TERMS = new Set(["resource", "field", "phase", "kind", "with", "where", "pile"]);

function readable(key: string): string {
  return key.replaceAll("_", " ");
}

/** A word of the game. */
export function termOf(words: Words, key: string): string {
  return words.template(TemplateKind.TERM, key)?.text ?? readable(key);
}

/** Why a match ended, in the game's words. */
export function reasonOf(words: Words, key: string): string {
  return words.template(TemplateKind.REASON, key)?.text ?? readable(key);
}

/** A seat's name, or its number where nobody is known to sit there. */
export function seatName(names: readonly string[], seat: number): string {
  return names[seat] || t("match.seat", { n: seat + 1 });
}

/** An argument as people read it: seats and things of a catalogue by name, the game's words in this language. */
function argumentText(words: Words, names: readonly string[], name: string, value: string): string {
  if (SEATS.has(name) && /^\d+$/.test(value)) return seatName(names, Number(value));
  const known = words.itemName(name, value) ?? words.itemName(`${name}s`, value);
  if (known !== null) return known;
  if (TERMS.has(name)) return termOf(words, value);
  if (name === "name") return words.manifest.options.find((option) => option.name === value)?.label ?? value;
  // A bare number names a thing of the field's own catalogue, or nothing: it may be an amount.
  return /^\d+$/.test(value) ? value : (words.nameOf(value) ?? value);
}

// ---- events ---------------------------------------------------------------------------------------------------------

/**
 * One sentence for an event, a game's or the platform's; empty where there is nothing to say.
 *
 * @param names of the seats, by seat.
 * @param before the same before the event, where a seat may have changed hands.
 */
export function eventSentence(words: Words, game: string, event: Event, names: readonly string[], before = names): string {
  const schema = messageOf(game, event.type);
  if (schema === null) return platformSentence(event, names, before);
  const message = fromBinary(schema, event.body);
  const say: Say = Object.assign((key: string, args: Record<string, string>) => words.say(TemplateKind.EVENT, key, args), {
    seat: (seat: number) => seatName(names, seat),
    term: (key: string) => termOf(words, key),
    item: (id: string) => words.nameOf(id) ?? id,
  });
  const phrase = loadedModule(game)?.phraseOf(message, say) ?? null;
  if (phrase === null) return "";
  const key = phrase.key ?? event.type;
  if (words.template(TemplateKind.EVENT, key) === null) return "";
  const said = words.say(TemplateKind.EVENT, key, { ...argumentsOf(words, schema, message, names), ...phrase.args });
  // Things are not written with a capital, unless a sentence begins with one; people are called as they are.
  const first = /^\{(\w+)\}/.exec(words.template(TemplateKind.EVENT, key)?.text ?? "")?.[1];
  return first === undefined || SEATS.has(first) ? said : said.charAt(0).toLocaleUpperCase() + said.slice(1);
}

/** The `lang` of an event's sentence: the game's, unless it is one of the platform's. */
export function eventLang(words: Words, game: string, event: Event): string | undefined {
  return messageOf(game, event.type) === null ? undefined : words.lang;
}

function argumentsOf(words: Words, schema: DescMessage, message: Message, names: readonly string[]): Record<string, string> {
  const open = reflect(schema, message);
  const args: Record<string, string> = {};
  for (const field of schema.fields) {
    const text = fieldText(words, names, field, field.fieldKind === "list" ? [...open.get(field)] : [open.get(field)]);
    if (text !== null) args[field.name] = text;
  }
  return args;
}

function fieldText(words: Words, names: readonly string[], field: DescField, values: readonly unknown[]): string | null {
  if (field.message !== undefined) return null;
  const texts = values.map((value) => {
    const text = String(value);
    if (field.name === "reasons") return reasonOf(words, text);
    if (field.name === "ladder_step") return text === "" ? "" : reasonOf(words, `ladder.${text}`);
    return argumentText(words, names, field.fieldKind === "list" ? field.name.replace(/s$/, "") : field.name, text);
  });
  return texts.join(", ");
}

/** One of the platform's events in a sentence; prompts are shown as prompts, and a game says itself how it ended. */
function platformSentence({ type, body }: Event, names: readonly string[], before: readonly string[]): string {
  switch (type) {
    case "match_created":
      return t("match.event.match_created", { hash: short(fromBinary(MatchCreatedSchema, body).serverCommitment) });
    case "nonce_sealed": {
      const { seat, seal } = fromBinary(NonceSealedSchema, body);
      return t("match.event.nonce_sealed", { seat: seatName(names, seat), hash: short(seal) });
    }
    case "nonce_opened":
      return t("match.event.nonce_opened", { seat: seatName(names, fromBinary(NonceOpenedSchema, body).seat) });
    case "nonces_revealed":
      return t("match.event.nonces_revealed");
    case "match_started":
      return t("match.event.match_started", { hash: short(fromBinary(MatchStartedSchema, body).dealDigest) });
    case "clock_extended":
      return t("match.event.clock_extended", { s: Math.round(fromBinary(ClockExtendedSchema, body).byMs / 1000) });
    case "seat_left": {
      const { seat, reason } = fromBinary(SeatLeftSchema, body);
      const key = `match.event.seat_left_${reason}`;
      return t(has(key) ? key : "match.event.seat_left", { seat: seatName(names, seat) });
    }
    case "seat_back":
      return t("match.event.seat_back", { seat: seatName(names, fromBinary(SeatBackSchema, body).seat) });
    case "seat_bound": {
      const { seat, reason } = fromBinary(SeatBoundSchema, body);
      const [name, other] = [seatName(names, seat), seatName(before, seat)];
      if (name === other) return t("match.event.seat_bound_other", { seat: other });
      return t(reason === "returned" ? "match.event.seat_bound_back" : "match.event.seat_bound", { name, seat: other });
    }
    case "match_voided":
      return voidSentence(fromBinary(MatchVoidedSchema, body), names);
    case "fairness_revealed":
      return t("match.event.fairness_revealed", { seed: short(fromBinary(FairnessRevealedSchema, body).serverSeed) });
    default:
      return "";
  }
}

function voidSentence(voided: { reason: string; seats: readonly number[] }, names: readonly string[]): string {
  const seats = new Intl.ListFormat(language()).format(voided.seats.map((seat) => seatName(names, seat)));
  const key = `match.event.match_voided.${voided.reason}`;
  return has(key) ? t(key, { seats }) : t("match.event.match_voided", { reason: readable(voided.reason) });
}

// ---- commands and things --------------------------------------------------------------------------------------------

/** A legal command in words, e.g. `Play Ruby`. */
export function labelText(words: Words, label: Label | undefined, names: readonly string[] = []): string {
  if (label === undefined) return "";
  const args = Object.fromEntries(label.arguments.map(({ name, value }) => [name, argumentText(words, names, name, value)]));
  const found = words.template(TemplateKind.COMMAND, label.key);
  return found === null ? [readable(label.key), ...Object.values(args)].join(" ") : words.say(TemplateKind.COMMAND, label.key, args);
}

/** An entry in words. */
export function entryText(words: Words, entry: LegalEntry, names: readonly string[] = []): string {
  const said = labelText(words, entry.label, names) || readable(entry.type);
  // What was pointed at and the label does not tell.
  const told = new Set(["", ...(entry.label?.arguments.map(({ name }) => name) ?? [])]);
  const more = entry.fixed.filter(({ name }) => !told.has(name)).map(({ ref }) => thingText(words, ref, names));
  return more.length === 0 ? said : `${said}: ${more.join(", ")}`;
}

/** An entry in words, with the answers to what it leaves open. */
export function wholeText(words: Words, entry: LegalEntry, answers: readonly (readonly [string, Answer])[], names: readonly string[] = []): string {
  const said = answers.map(([, answer]) => {
    if (typeof answer === "number") return String(answer);
    if (typeof answer === "string") return thingText(words, answer, names);
    if (Array.isArray(answer)) return (answer as readonly string[]).map((ref) => thingText(words, ref, names)).join(", ");
    return Object.entries(answer)
      .filter(([, given]) => given !== 0)
      .map(([ref, given]) => `${thingText(words, ref, names)} ${typeof given === "number" ? given : thingText(words, given, names)}`)
      .join(", ");
  });
  const answered = said.filter((text) => text !== "").join(", ");
  return [entryText(words, entry, names), answered].filter((text) => text !== "").join(": ");
}

/** A command without its things, e.g. `Play`. */
export function commandText(words: Words, code: string): string {
  const named = loadedModule(words.manifest.game)?.commandName?.(code) ?? null;
  if (named !== null) return named;
  const text = words.template(TemplateKind.COMMAND, code)?.text ?? readable(code);
  const bare = text.replace(/\{\w+\}/g, "").replace(/\s+/g, " ").trim();
  return bare.charAt(0).toUpperCase() + bare.slice(1);
}

/** The same with its language: some games leave it to the page to name their commands. */
export function commandTold(words: Words, code: string): Told {
  const named = loadedModule(words.manifest.game)?.commandName?.(code) ?? null;
  return { text: commandText(words, code), lang: named === null ? words.lang : words.langOf(named) };
}

/** What a seat is asked. */
export function promptText(words: Words, kind: string): string {
  return words.template(TemplateKind.PROMPT, kind)?.text ?? readable(kind);
}

/** A ref in words: `card:ruby` is `Ruby`. */
export function thingText(words: Words, ref: string, names: readonly string[] = []): string {
  return thingTold(words, ref, names).text;
}

/** The same with its language. */
export function thingTold(words: Words, ref: string, names: readonly string[] = []): Told {
  const at = ref.indexOf(":");
  const wholly = (text: string): Told => ({ text, lang: words.lang });
  if (at < 0) return wholly(termOf(words, ref));
  const [kind, name] = [ref.slice(0, at), ref.slice(at + 1)];
  if (kind === "option") return wholly(termOf(words, name));
  const pictured = loadedModule(words.manifest.game)?.thing?.(ref, words) ?? null;
  if (pictured !== null) return { text: pictured, lang: words.langOf(pictured) };
  const known = argumentText(words, names, kind, name);
  // Who sits somewhere is called by their own name, or by the page.
  if (known !== name) return SEATS.has(kind) ? { text: known, lang: undefined } : wholly(known);
  // People count from one.
  const shown = kind === "slot" && /^\d+$/.test(name) ? String(Number(name) + 1) : name;
  const found = words.template(TemplateKind.REF, kind);
  return wholly(found === null ? `${readable(kind)} ${shown}` : words.say(TemplateKind.REF, kind, { [kind]: shown }));
}

/** What a slot asks for. */
export function slotText(words: Words, slot: Slot): string {
  return termOf(words, slot.label?.key || slot.field);
}

/** Why not, as a sentence: the game's wording, else this client's, else the server's. */
export function rejectionText(words: Words | null, rejection: Pick<Rejection, "code" | "message" | "arguments">): string {
  return rejectionTold(words, rejection).text;
}

/** The same with its language. */
export function rejectionTold(words: Words | null, rejection: Pick<Rejection, "code" | "message" | "arguments">): Told {
  const template = words?.template(TemplateKind.REJECTION, rejection.code) ?? null;
  if (words !== null && template !== null) {
    const args = Object.fromEntries(rejection.arguments.map(({ name, value }) => [name, argumentText(words, [], name, value)]));
    const wanted = [...template.text.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
    if (wanted.every((name) => name in args)) return { text: words.say(TemplateKind.REJECTION, rejection.code, args), lang: words.lang };
  }
  const key = `match.rejection.${rejection.code}`;
  if (has(key)) return { text: t(key), lang: undefined };
  // The server's own sentence is English.
  return rejection.message === "" ? { text: t("match.rejection.other", { code: rejection.code }), lang: undefined } : { text: rejection.message, lang: langOf("en") };
}
