import type { Manifest, Template } from "../gen/grimoire/v1/manifest_pb";
import { TemplateKind } from "../gen/grimoire/v1/manifest_pb";
import { langOf } from "../i18n/index.svelte";
import { play } from "./clients";

/** A game in words: its manifest with look-ups. One language. */
export class Words {
  readonly manifest: Manifest;
  readonly #templates = new Map<string, Template>();
  readonly #names = new Map<string, string>();
  #texts: ReadonlySet<string> | null = null;

  constructor(manifest: Manifest) {
    this.manifest = manifest;
    for (const template of manifest.templates) this.#templates.set(`${template.kind} ${template.key}`, template);
    for (const catalogue of manifest.catalogues) {
      for (const item of catalogue.items) this.#names.set(`${catalogue.name}:${item.id}`, item.name);
    }
  }

  /** The `lang` of what is wholly the game's; undefined where the page speaks its language. */
  get lang(): string | undefined {
    return langOf(this.manifest.language);
  }

  /**
   * The `lang` of a text on the page: the game's if it stands in the manifest as it is, e.g. a card's name.
   *
   * @returns undefined for the page's own words, and for sentences of both.
   */
  langOf(text: string): string | undefined {
    const { lang } = this;
    if (lang === undefined) return undefined;
    this.#texts ??= textsOf(this.manifest);
    return this.#texts.has(text.toLowerCase()) ? lang : undefined;
  }

  /** The raw template of a kind and key; null if the game has none. */
  template(kind: TemplateKind, key: string): Template | null {
    return this.#templates.get(`${kind} ${key}`) ?? null;
  }

  /** The name of a catalogue's item. */
  itemName(catalogue: string, id: string): string | null {
    return this.#names.get(`${catalogue}:${id}`) ?? null;
  }

  /** The name of an item of whichever catalogue has this id. */
  nameOf(id: string): string | null {
    return this.manifest.catalogues.map(({ name }) => this.itemName(name, id)).find((name) => name !== null) ?? null;
  }

  /** A template with its {arguments} filled in; the key itself where the game has no such text. */
  say(kind: TemplateKind, key: string, args: Record<string, string> = {}): string {
    const text = this.template(kind, key)?.text ?? key;
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => args[name] ?? whole);
  }
}

/** All that a game says without filling anything in; where a sentence begins, it may be written with a capital. */
function textsOf({ name, options, catalogues, templates, clauses }: Manifest): ReadonlySet<string> {
  const texts = [
    name,
    ...options.flatMap(({ label, choices }) => [label, ...choices.flatMap((choice) => [choice.label, choice.note])]),
    ...catalogues.flatMap(({ label, items }) => [label, ...items.flatMap((item) => [item.name, item.text, item.shortText])]),
    ...templates.map(({ text }) => text),
    ...clauses.flatMap(({ title, text }) => [title, text]),
  ];
  return new Set(texts.map((text) => text.toLowerCase()));
}

const known = new Map<string, Words>();

/** The manifest of a game in a language, fetched once a page. Throws what the call throws. */
export async function wordsOf(game: string, language: string): Promise<Words> {
  const key = `${game} ${language}`;
  const kept = known.get(key);
  const answer = await play.describeGame({
    game,
    language,
    ...(kept === undefined ? {} : { knownDigest: kept.manifest.digest }),
  });
  if (answer.manifest !== undefined) known.set(key, new Words(answer.manifest));
  const words = known.get(key);
  if (words === undefined) throw new Error("the server sent no manifest");
  return words;
}
