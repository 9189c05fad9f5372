import type { Component, Snippet } from "svelte";

import type { Words } from "../api/manifest.svelte";
import type { Entry } from "../match/entries";

/** What may be done with the things on a board, as the composer tells. */
export interface Marks {
  readonly usable: ReadonlySet<string>;
  readonly targets: ReadonlySet<string>;
  readonly selected: ReadonlySet<string>;
}

export const NO_MARKS: Marks = { usable: new Set(), targets: new Set(), selected: new Set() };

export interface BoardProps {
  /** The game's View message. */
  view: unknown;
  /** Whose eyes: that seat sits below or left. Null: nobody's. */
  me: number | null;
  words: Words;
  /** Names of the seats, by seat. */
  names: readonly string[];
  marks: Marks;
  /** Changes since one's own last command, by key of the game. */
  trace: ReadonlyMap<string, number>;
  /** Name, presence and clock of a seat, which are the page's; the game puts them where it shows the seat. */
  head: Snippet<[number]> | null;
  /** One's own private things are hidden from whoever looks over one's shoulder, until asked for. */
  covered?: boolean;
  onuncover?: () => void;
  onpick: ((ref: string) => void) | null;
  oninspect: ((ref: string) => void) | null;
}

/** A part of a view in words: a heading and what stands below it. */
export interface Section {
  readonly title: string;
  readonly items: readonly string[];
}

/** A thing in words, for the inspector. */
export interface Facts {
  readonly title: string;
  readonly text: string;
  readonly rows: readonly (readonly [string, string])[];
  readonly rules: readonly string[];
}

/** What a game brings: a picture, the same in words, and nothing else. No network, time, storage or rule. */
export interface GameModule {
  decode(bytes: Uint8Array): unknown;
  Board: Component<BoardProps>;
  /** The whole view in words. */
  sections(view: unknown, words: Words, names: readonly string[], me: number | null): readonly Section[];
  /** The situation in two sentences. */
  situation(view: unknown, words: Words, names: readonly string[], me: number | null): string;
  /** What stands in the page's head: the battlefield, the turn. */
  heading(view: unknown, words: Words): { readonly place: string; readonly turn: number };
  inspect(ref: string, view: unknown, words: Words): Facts | null;
  /** What changed in these entries. */
  trace(entries: readonly Entry[]): ReadonlyMap<string, number>;
  /** Single keys that pick a thing. */
  refKeys: Readonly<Record<string, string>>;
  /** Single keys that choose a command. */
  commandKeys: Readonly<Record<string, string>>;
  /** Commands that are asked for twice. */
  grave: readonly string[];
}

const MODULES: Readonly<Record<string, () => Promise<{ default: GameModule }>>> = {
  two_towers: () => import("./two_towers"),
};

/** The module of a game; null: this page has no picture of it, and words must do. */
export async function moduleOf(game: string): Promise<GameModule | null> {
  return (await MODULES[game]?.())?.default ?? null;
}
