import type { Slot } from "../gen/grimoire/v1/prompt_pb";
import type { NamesOf } from "./composer";
import type { Answer } from "./slot";

/**
 * What a text that was typed means among the lines of a list: a number, a line or its beginning, else words that all
 * stand in one. Places in the list: none, one, or several that fit as well.
 */
export function linesMeant(typed: string, lines: readonly string[]): readonly number[] {
  const text = typed.trim().toLocaleLowerCase();
  if (/^\d+$/.test(text)) return Number(text) >= 1 && Number(text) <= lines.length ? [Number(text) - 1] : [];
  const said = lines.map((line) => line.toLocaleLowerCase());
  const places = (fits: (line: string) => boolean) => said.flatMap((line, n) => (fits(line) ? [n] : []));
  const exact = said.indexOf(text);
  const begun = exact < 0 ? places((line) => line.startsWith(text)) : [exact];
  const parts = text.split(/\s+/);
  return begun.length > 0 ? begun : places((line) => parts.every((part) => line.includes(part)));
}

/** What a slot is answered with, in the order in which it is numbered; nothing for a mere number. */
export function choicesOf({ kind }: Slot, names: NamesOf): readonly string[] {
  switch (kind.case) {
    case "one":
    case "some":
      return kind.value.candidates;
    case "option":
      return kind.value.options;
    case "name":
      return names(kind.value.catalogue);
    case "order":
      return kind.value.refs;
    case "payment":
      return [...new Set([...kind.value.automatic, ...kind.value.sources])];
    case "amounts":
    case "assign":
      return kind.value.refs.map(({ ref }) => ref);
    default:
      return [];
  }
}

/** How a slot is answered by typing: the key of a sentence `play.text.how.<key>`. */
export function howTo({ kind }: Slot): "one" | "some" | "order" | "number" | "amounts" | "assign" {
  switch (kind.case) {
    case "number":
    case "amounts":
    case "assign":
    case "order":
    case "some":
      return kind.case;
    case "payment":
      return "some";
    default:
      return "one";
  }
}

/** Of several things, their numbers; `0` for none; of one of them, its words. */
function several(typed: string, choices: readonly string[], lines: readonly string[]): Answer | null {
  if (/^0+$/.test(typed)) return [];
  const parts = typed.split(/[\s,]+/);
  if (!parts.every((part) => /^\d+$/.test(part))) {
    const [at, other] = linesMeant(typed, lines);
    return at === undefined || other !== undefined ? null : [choices[at] ?? ""];
  }
  const meant = parts.map((part) => choices[Number(part) - 1]);
  return meant.includes(undefined) ? null : (meant as string[]);
}

/** Something for each thing, in their order (`2 0 1`), or for those that are named (`1=2 3=1`); by place among the things. */
function each(typed: string, things: number): ReadonlyMap<number, number> | null {
  const parts = typed.split(/[\s,]+/);
  const pairs = parts.map((part) => /^(\d+)[=:](\d+)$/.exec(part));
  if (pairs.every((pair) => pair !== null)) return new Map(pairs.map((pair) => [Number(pair?.[1]) - 1, Number(pair?.[2])]));
  return parts.length === things && parts.every((part) => /^\d+$/.test(part)) ? new Map(parts.map((part, n) => [n, Number(part)])) : null;
}

/**
 * What a text that was typed answers a slot with; null: it cannot be understood. Whether the slot takes it says `fault`.
 *
 * @param lines the slot's choices in words, in their order.
 * @param now the answer so far; things that are not named keep theirs.
 */
export function typedAnswer(slot: Slot, typed: string, lines: readonly string[], now: Answer | undefined, names: NamesOf): Answer | null {
  const { kind } = slot;
  const text = typed.trim();
  const choices = choicesOf(slot, names);
  const kept = typeof now === "object" && !Array.isArray(now) ? (now as Readonly<Record<string, string | number>>) : {};
  switch (kind.case) {
    case "number":
      return /^\d+$/.test(text) ? Number(text) : null;
    case "some":
    case "payment":
    case "order":
      return several(text, choices, lines);
    case "amounts": {
      const given = each(text, choices.length);
      if (given === null || [...given.keys()].some((n) => choices[n] === undefined)) return null;
      return { ...kept, ...Object.fromEntries([...given].map(([n, amount]) => [choices[n] ?? "", amount])) };
    }
    case "assign": {
      const given = each(text, choices.length);
      if (given === null) return null;
      const chosen = [...given].map(([n, at]) => [choices[n], kind.value.refs[n]?.choices[at - 1]] as const);
      return chosen.some((pair) => pair.includes(undefined)) ? null : { ...kept, ...(Object.fromEntries(chosen) as Record<string, string>) };
    }
    default: {
      const [at, other] = linesMeant(text, lines);
      return at === undefined || other !== undefined ? null : (choices[at] ?? null);
    }
  }
}
