import type { DescFile, DescMessage, Message } from "@bufbuild/protobuf";
import type { Component, Snippet } from "svelte";

import type { Words } from "../api/manifest.svelte";
import type { Prompt } from "../gen/grimoire/v1/prompt_pb";
import type { Happened } from "../match/entries";
import type { Phrase, Say } from "../play/phrase";
import { PICTURED } from "./order";

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
  /** Sends a command of one's own that may be sent at any time; null: one only looks on. */
  onstanding?: ((type: string, payload: Uint8Array) => void) | null;
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
  /** Its commands, events and view. */
  messages: DescFile;
  /** Which of the game's sentences an event is, where its code alone does not say; null: it is not news to anybody. */
  phraseOf(event: Message, say: Say): Phrase | null | undefined;
  decode(bytes: Uint8Array): unknown;
  Board: Component<BoardProps>;
  /** The whole view in words. */
  sections(view: unknown, words: Words, names: readonly string[], me: number | null): readonly Section[];
  /** The situation in two sentences. */
  situation(view: unknown, words: Words, names: readonly string[], me: number | null): string;
  /** What the open question is about, beside the question itself; empty: nothing more. */
  context?(view: unknown, words: Words, names: readonly string[]): string;
  /** What stands in the page's head: the battlefield, the turn. */
  heading(view: unknown, words: Words): { readonly place: string; readonly turn: number };
  inspect(ref: string, view: unknown, words: Words): Facts | null;
  /** The same prompt with the things of the picture that each command is about, where they are not its fields. */
  pointed?(prompt: Prompt, view: unknown): Prompt;
  /** A thing of the picture in words, where its ref alone does not say. */
  thing?(ref: string, words: Words): string | null;
  /** What changed in these entries. `log`: all entries so far, for what stands there until it is over. */
  trace(entries: readonly Happened[], log?: readonly Happened[]): ReadonlyMap<string, number>;
  /** A command without its things, where leaving them out of the game's sentence makes none. */
  commandName?(code: string): string | null;
  /** What may be done is offered before anything is pointed at: by name what several things can be used for, or only whole commands. */
  offersCommands?: boolean | "whole";
  /** Single keys that pick a thing. */
  refKeys: Readonly<Record<string, string>>;
  /** A single key that picks a thing of this view; null: it picks none. */
  keyRef?(key: string, view: unknown): string | null;
  /** Those keys, each with the key of the text that says what it picks. */
  keyRefs?: Readonly<Record<string, string>>;
  /** What one's own command led to is marked as well: most of it happens by itself. */
  tracesOwn?: boolean;
  /** Single keys that choose a command, the first of them that is legal. */
  commandKeys: Readonly<Record<string, string | readonly string[]>>;
  /** Single keys that lead to a place of the picture: the key of the text that names it, which is its `data-place`. */
  placeKeys?: Readonly<Record<string, string>>;
  /** Commands that are asked for twice. */
  grave: readonly string[];
}

const MODULES: Readonly<Record<(typeof PICTURED)[number], () => Promise<{ default: GameModule }>>> = {
  broom_service: () => import("./broom_service"),
  two_towers: () => import("./two_towers"),
  spellbound: () => import("./spellbound"),
  wizards_garden: () => import("./wizards_garden"),
};

/** Those that were loaded. */
const loaded = new Map<string, GameModule>();

/** The module of a game; null: this page has no picture of it, and words must do. */
export async function moduleOf(game: string): Promise<GameModule | null> {
  const known = PICTURED.find((one) => one === game);
  if (known === undefined) return null;
  const { default: module } = await MODULES[known]();
  loaded.set(game, module);
  return module;
}

/** The same, if it was loaded already. */
export function loadedModule(game: string): GameModule | null {
  return loaded.get(game) ?? null;
}

/** The message of a command or event of a loaded game: `play_card` is `PlayCard`. Null: there is none, and bare words must do. */
export function messageOf(game: string, code: string): DescMessage | null {
  const name = code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return loaded.get(game)?.messages.messages.find((message) => message.name === name) ?? null;
}
