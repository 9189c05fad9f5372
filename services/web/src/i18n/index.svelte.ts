import { IntlMessageFormat } from "intl-messageformat";

/** Languages of the interface. A game's own texts may come in others too. */
export const LANGUAGES = ["en", "fi"] as const;
export type Language = (typeof LANGUAGES)[number];
export type Argument = string | number | boolean | Date;

type Catalogue = Record<string, string>;
// English comes with the page (it is also the fallback); the others are loaded when they are chosen.
const english = merge(import.meta.glob<Catalogue>("./en/*.json", { eager: true, import: "default" }));
const finnish = import.meta.glob<Catalogue>("./fi/*.json", { import: "default" });

function merge(parts: Record<string, Catalogue>): Catalogue {
  return Object.assign({}, ...Object.values(parts)) as Catalogue;
}

const STORE = "grimoire.language";
let catalogue = $state.raw<Catalogue>(english);
let current = $state<Language>("en");
const formats = new Map<string, IntlMessageFormat>();

function isLanguage(code: string): code is Language {
  return (LANGUAGES as readonly string[]).includes(code);
}

/** What was chosen on this device, else what the browser prefers, else English. */
export function preferred(): Language {
  const wanted = [localStorage.getItem(STORE) ?? "", ...navigator.languages].map((tag) => tag.slice(0, 2));
  return wanted.find(isLanguage) ?? "en";
}

/** The language shown now; reading it in markup follows it. */
export function language(): Language {
  return current;
}

/** Changes the language of the whole page. `keep`: it was chosen, not guessed. */
export async function setLanguage(next: Language, keep = true): Promise<void> {
  const parts = next === "en" ? {} : await loaded();
  catalogue = { ...english, ...merge(parts) };
  current = next;
  document.documentElement.lang = next;
  if (keep) localStorage.setItem(STORE, next);
}

async function loaded(): Promise<Record<string, Catalogue>> {
  const parts = await Promise.all(Object.entries(finnish).map(async ([path, load]) => [path, await load()] as const));
  return Object.fromEntries(parts);
}

/**
 * A text of the interface (ICU message), in the current language.
 *
 * @param key e.g. "lobby.join"; a key nobody wrote is shown as it is.
 * @example t("lobby.new", { n: 3 }) // "3 new challenges"
 */
export function t(key: string, args?: Record<string, Argument>): string {
  const text = catalogue[key];
  if (text === undefined) return key;
  if (args === undefined && !/[{'<]/.test(text)) return text;
  const id = `${current} ${text}`;
  let format = formats.get(id);
  if (format === undefined) {
    format = new IntlMessageFormat(text, current, undefined, { ignoreTag: true });
    formats.set(id, format);
  }
  return String(format.format(args));
}

/** There is such a text. */
export function has(key: string): boolean {
  return key in catalogue;
}
