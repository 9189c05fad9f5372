import type { MessageFormatElement } from "@formatjs/icu-messageformat-parser";
import { IntlMessageFormat } from "intl-messageformat";

/** Languages of the interface. A game's own texts may come in others too. */
export const LANGUAGES = ["en", "fi", "el"] as const;
export type Language = (typeof LANGUAGES)[number];
export type Argument = string | number | boolean | Date;

/** Texts by key; the build has parsed those with arguments (see vite.config.ts). */
type Catalogue = Record<string, string | MessageFormatElement[]>;
// English is also the fallback. What the lobby says comes with the page, the rest with the first page that is another.
let english = merge(import.meta.glob<Catalogue>(["./en/shell.json", "./en/lobby.json"], { eager: true, import: "default" }));
const others = import.meta.glob<Catalogue>(["./en/*.json", "!./en/shell.json", "!./en/lobby.json"], { import: "default" });
const translations: Readonly<Record<Exclude<Language, "en">, Record<string, () => Promise<Catalogue>>>> = {
  fi: import.meta.glob<Catalogue>("./fi/*.json", { import: "default" }),
  el: import.meta.glob<Catalogue>("./el/*.json", { import: "default" }),
};

function merge(parts: Record<string, Catalogue>): Catalogue {
  return Object.assign({}, ...Object.values(parts)) as Catalogue;
}

const STORE = "grimoire.language";
let translated: Catalogue = {};
let catalogue = $state.raw<Catalogue>(english);
let current = $state<Language>("en");
const formats = new Map<string, IntlMessageFormat>();

function isLanguage(code: string): code is Language {
  return (LANGUAGES as readonly string[]).includes(code);
}

/** The language that was chosen on this device; empty: none was. */
export function chosen(): string {
  try {
    return localStorage.getItem(STORE) ?? "";
  } catch {
    return "";
  }
}

/** What was chosen on this device, else what the browser prefers, else English. */
export function preferred(): Language {
  const wanted = [chosen(), ...navigator.languages].map((tag) => tag.slice(0, 2));
  return wanted.find(isLanguage) ?? "en";
}

/** The language shown now; reading it in markup follows it. */
export function language(): Language {
  return current;
}

/**
 * The `lang` of a part of the page whose words are in this language: nothing where the whole page speaks it (WCAG 3.1.2).
 * A game that is not translated says what it has to say in English.
 */
export function langOf(code: string | undefined): string | undefined {
  return code === undefined || code === "" || code === current ? undefined : code;
}

/** Changes the language of the whole page. `keep`: it was chosen, not guessed. */
export async function setLanguage(next: Language, keep = true): Promise<void> {
  translated = next === "en" ? {} : merge(await loaded(translations[next]));
  catalogue = { ...english, ...translated };
  current = next;
  document.documentElement.lang = next;
  if (!keep) return;
  try {
    localStorage.setItem(STORE, next);
  } catch {
    // A browser that keeps nothing still speaks it.
  }
}

let whole: Promise<void> | null = null;

/** The texts of all pages are there afterwards, not only the lobby's. */
export function loadTexts(): Promise<void> {
  whole ??= loaded(others).then(
    (parts) => {
      english = { ...english, ...merge(parts) };
      catalogue = { ...english, ...translated };
    },
    (error: unknown) => {
      whole = null;
      throw error;
    },
  );
  return whole;
}

async function loaded(parts: Record<string, () => Promise<Catalogue>>): Promise<Record<string, Catalogue>> {
  const read = await Promise.all(Object.entries(parts).map(async ([path, load]) => [path, await load()] as const));
  return Object.fromEntries(read);
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
  if (typeof text === "string") return text;
  const id = `${current} ${key}`;
  let format = formats.get(id);
  if (format === undefined) {
    format = new IntlMessageFormat(text, key in translated ? current : "en");
    formats.set(id, format);
  }
  return String(format.format(args));
}

/** There is such a text. */
export function has(key: string): boolean {
  return key in catalogue;
}
