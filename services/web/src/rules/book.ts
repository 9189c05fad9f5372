import type { Words } from "../api/manifest.svelte";
import { type Catalogue, type CatalogueItem, type Clause, type Template, TemplateKind } from "../gen/grimoire/v1/manifest_pb";

/** A numbered rule with the rules below it: "TT-4" with "TT-4.1" to "TT-4.10". */
export interface Chapter {
  readonly head: Clause;
  readonly parts: readonly Clause[];
}

/** Things of one catalogue that belong together, e.g. all red cards. */
export interface Group {
  /** Value of the fact they share; empty: there is none. */
  readonly key: string;
  readonly items: readonly CatalogueItem[];
}

/** A catalogue as the page shows it. */
export interface Shelf {
  readonly name: string;
  readonly label: string;
  readonly size: number;
  /** Every item has the same facts and no text of its own: a table says it best. */
  readonly isTable: boolean;
  readonly groups: readonly Group[];
}

/** The whole book of a game, or what of it fits a search. */
export interface Book {
  readonly chapters: readonly Chapter[];
  readonly shelves: readonly Shelf[];
  readonly refusals: readonly Template[];
  readonly terms: readonly Template[];
  /** How many entries there are. */
  readonly size: number;
}

/** The fact by which a catalogue is put in groups. */
const GROUPED_BY = "colour";

/**
 * A game's book.
 *
 * @param find words to look for; an entry must have all of them. Empty: everything.
 */
export function bookOf(words: Words, find = ""): Book {
  const wanted = folded(find).split(/\s+/).filter(Boolean);
  const fits = (...texts: string[]): boolean => {
    const text = folded(texts.join(" "));
    return wanted.every((word) => text.includes(word));
  };
  const chapters = chaptersOf(words.manifest.clauses, (clause) => fits(clause.rule, clause.title, clause.text));
  const shelves = told(words).map((catalogue) => shelfOf(catalogue, words, fits));
  const kept = (kind: TemplateKind): Template[] =>
    words.manifest.templates.filter((entry) => entry.kind === kind && fits(entry.text, entry.rule));
  const refusals = kept(TemplateKind.REJECTION);
  const terms = kept(TemplateKind.TERM);
  const rules = chapters.reduce((sum, chapter) => sum + 1 + chapter.parts.length, 0);
  const items = shelves.reduce((sum, shelf) => sum + shelf.size, 0);
  return { chapters, shelves, refusals, terms, size: rules + items + refusals.length + terms.length };
}

/** Catalogues that say more of their things than how they are called. */
function told(words: Words): readonly Catalogue[] {
  return words.manifest.catalogues.filter(({ items }) => items.some((item) => item.text !== "" || item.facts.length > 2));
}

/** A fact's value of an item; empty where it has none. */
export function fact(item: CatalogueItem, name: string): string {
  return item.facts.find((each) => each.name === name)?.value ?? "";
}

/** The game's word for a fact's name or value; the thing itself where it has none. */
export function term(words: Words, key: string): string {
  return words.template(TemplateKind.TERM, key)?.text ?? key;
}

/** Items that name a rule as theirs, unless it is everybody's rule. */
export function usersOf(words: Words, rule: string): readonly CatalogueItem[] {
  return told(words).flatMap((catalogue) => {
    const users = catalogue.items.filter((item) => item.rules.includes(rule));
    return users.length < catalogue.items.length ? users : [];
  });
}

/**
 * The id of the entry that a path's last part means: a rule ("TT-4.6"), a catalogue ("cards"), a card ("quartz"), the code
 * of a refusal ("cannot_afford") or one of the page's own parts ("options"). Null: there is none.
 */
export function entryOf(words: Words, section: string): string | null {
  const { clauses, templates } = words.manifest;
  const catalogues = told(words);
  if (clauses.some((clause) => clause.rule === section)) return section;
  if (["options", "refusals", "terms"].includes(section) || catalogues.some((each) => each.name === section)) return section;
  for (const catalogue of catalogues) {
    if (catalogue.items.some((item) => item.id === section)) return itemEntry(catalogue.name, section);
  }
  const isCode = templates.some((entry) => entry.kind === TemplateKind.REJECTION && entry.key === section);
  return isCode ? refusalEntry(section) : null;
}

export function itemEntry(shelf: string, id: string): string {
  return `${shelf}.${id}`;
}

export function refusalEntry(code: string): string {
  return `refusals.${code}`;
}

function chaptersOf(clauses: readonly Clause[], fits: (clause: Clause) => boolean): Chapter[] {
  const chapters: { head: Clause; parts: Clause[] }[] = [];
  for (const clause of clauses) {
    if (!clause.rule.includes(".")) chapters.push({ head: clause, parts: [] });
    else chapters.at(-1)?.parts.push(clause);
  }
  // A chapter that was found is shown whole: its parts explain it.
  return chapters
    .map(({ head, parts }) => ({ head, parts: fits(head) ? parts : parts.filter(fits) }))
    .filter(({ head, parts }) => parts.length > 0 || fits(head));
}

function shelfOf(catalogue: Catalogue, words: Words, fits: (...texts: string[]) => boolean): Shelf {
  const kept = catalogue.items.filter((item) =>
    fits(item.name, item.text, item.shortText, ...item.rules, term(words, fact(item, GROUPED_BY))),
  );
  const groups = new Map<string, CatalogueItem[]>();
  for (const item of kept) {
    const key = fact(item, GROUPED_BY);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return {
    name: catalogue.name,
    label: catalogue.label,
    size: kept.length,
    isTable: catalogue.items.every((item) => item.text === "" && item.facts.length > 2),
    // Groups of one thing each are none.
    groups: groups.size === kept.length ? [{ key: "", items: kept }] : [...groups].map(([key, items]) => ({ key, items })),
  };
}

function folded(text: string): string {
  return text.toLocaleLowerCase();
}
