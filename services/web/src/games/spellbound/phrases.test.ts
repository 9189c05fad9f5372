import { readFileSync } from "node:fs";

import { create, type DescMessage, getOption } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";

import { file_grimoire_games_spellbound_v1_spellbound as file } from "../../gen/grimoire/games/spellbound/v1/spellbound_pb";
import { event as isEvent } from "../../gen/grimoire/v1/visibility_pb";
import type { Say } from "../../play/phrase";
import { phraseOf } from "./phrases";

const texts = readFileSync("../spellbound/data/en.toml", "utf8");
const events = new Map([...(texts.split("[events]")[1]?.split("\n[")[0] ?? "").matchAll(/^"?([\w.]+)"? = "(.*)"$/gm)].map(([, key, text]) => [key, text]));
const asked: string[] = [];
const say: Say = Object.assign((key: string) => (asked.push(key), key), { seat: (seat: number) => `seat ${seat}`, term: (key: string) => key, item: (id: string) => `item ${id}` });

const code = (name: string) => name.replace(/(?<!^)([A-Z])/g, "_$1").toLowerCase();
const phrase = (name: string, fields: object) => phraseOf(create(file.messages.find((one) => one.name === name) as DescMessage, fields as never), say);

const each = (field: string, ...values: string[]) => values.map((value) => ({ [field]: value }));
/** What the fields that choose among sentences may be. */
const CHOICES: Readonly<Record<string, readonly object[]>> = {
  PiecesPlaced: [{ hats: [2, 2, 2, 2], books: [4, 4, 4, 4, 4], bag: { sun: 3, moon: 2 } }],
  DestinyDeckSet: [{}, { number: 1 }],
  SentToTower: each("pile", "sun", "moon"),
  CardPlayed: each("mode", "action", "research", "move", "influence", "decimate", "ride"),
  CardEnded: each("to", "discards", "village_03", "guard"),
  CardDiscarded: each("cause", "discard_card", "cost", "warrior", "warlock", "ranger", "changeling", "wand", "sun_burst", "influence", "fortuna", "guard", "end_of_deck"),
  MageMoved: each("cause", "card", "wand", "ride", "teleport"),
  RideAnswered: [{ accept: true }, { accept: false }],
  WandCharged: each("cause", "magic", "fairy_spring"),
  WandUsed: [{ level: 1 }, { level: 2 }, { level: 3 }],
  StoneDrawn: each("stone", "sun", "moon"),
  AllyRecruited: [{}, { toDiscards: ["centaur_2"] }],
  VillageRestocked: [{}, { card: "centaur_2" }],
  WatchmanMoved: [{ to: "city_red" }, { from: "city_red", to: "city_blue" }],
  FortunaResolved: each("stone", "sun", "moon", ""),
  DestinyCardDrawn: each("to", "lower", "upper", "discards"),
  BatchFormed: each("cause", "witch", "troll", "not_moved", "purge", "empty_places", "tower_step"),
  PieceMoved: [{ by: 1 }, { by: -1 }],
  WickedCardAdded: [{}, { nextTop: "troll_a" }],
  EncounterCounted: each("result", "won", "one_step", "two_steps", "annihilation", "lost"),
  EncounterWon: [{}, { minion: "danzer" }],
  BattleDeclared: [{ books: [{ book: "red", use: "sun" }] }, { destroyed: ["danzer"] }],
  WindowOpened: each("window", "story_end", "moves", "end_of_deck", "stone", "encounter_stones"),
  ReactionPolicySet: each("policy", "when_it_matters", "always", "never"),
  MatchEnded: each("reason", "final_battle", "books_lost", "pieces_at_end", "witch_at_top", "wicked_deck_empty", "annihilation", "final_battle_lost", "resigned"),
};

describe("events", () => {
  const all = file.messages.filter((message) => getOption(message, isEvent));
  expect(all.length).toBeGreaterThan(45);
  it.each(all.map(({ name }) => name))("%s has a sentence, or is no news", (name) => {
    for (const fields of CHOICES[name] ?? [{}]) {
      const said = phrase(name, fields);
      if (said !== null) expect([...events.keys()], JSON.stringify(fields)).toContain(said?.key ?? code(name));
    }
    for (const key of asked) expect([...events.keys()]).toContain(key);
  });

  it("name places in the form that the sentence needs, and mages by name", () => {
    expect(phrase("MageMoved", { mage: 1, from: "city_red", to: "village_03", cause: "card" })).toEqual({
      key: "mage_moved_card",
      args: { mage: "item 1", source: "from.city_red", goal: "to.village_03", place: "at.village_03" },
    });
    expect(phrase("SpellCast", { mage: 0, spell: "teleport", target: 2, to: "wilderness" })?.args).toMatchObject({ target: "item 2", goal: "to.wilderness" });
  });

  it("fill every argument of their sentence that is no plain field", () => {
    const plain = (name: string) => new Set(file.messages.find((one) => one.name === name)?.fields.map((field) => field.name));
    for (const { name } of all) {
      for (const fields of CHOICES[name] ?? [{ from: "city_red", to: "city_blue", village: "village_01" }]) {
        const said = phrase(name, fields);
        const wanted = [...(events.get(said?.key ?? "") ?? "").matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
        for (const argument of wanted.filter((one) => !plain(name).has(one) && !["place", "goal", "source"].includes(one))) expect(Object.keys(said?.args ?? {}), `${said?.key ?? name}`).toContain(argument);
      }
    }
  });

  it("do not tell of the bare end of a turn, nor twice what a wicked card moves", () => {
    expect(phrase("TurnEnded", {})).toBeNull();
    expect(phrase("BatchFormed", { cause: "witch" })).toBeNull();
  });
});
