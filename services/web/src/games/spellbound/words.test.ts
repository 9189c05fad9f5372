import { readFileSync } from "node:fs";

import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";

import { Words } from "../../api/manifest.svelte";
import {
  BattleDeclaredSchema,
  BookMovedSchema,
  EncounterCountedSchema,
  MageMovedSchema,
  PieceMovedSchema,
  ResultSchema,
  type View,
  ViewSchema,
  WandChargedSchema,
} from "../../gen/grimoire/games/spellbound/v1/spellbound_pb";
import { ManifestSchema, TemplateKind } from "../../gen/grimoire/v1/manifest_pb";
import type { Entry } from "../../match/entries";
import { pathOf } from "./art";
import { thingName } from "./refs";
import { traceOf } from "./trace";
import { inspect, sections, situation, underWay } from "./words";

const data = JSON.parse(readFileSync("../spellbound/data/spellbound.json", "utf8")) as {
  types: Record<string, { name: { en: string }; text: { en: string } }>;
  cards: { id: string; type: string }[];
};
const NAMES = ["Mira", "Otso"];
const readable = (id: string) => ({ id, name: id.replaceAll("_", " ").replace(/ 0(\d)$/, " $1") });
const places = ["city_red", "city_blue", "city_green", "city_yellow", "wilderness", ...Array.from({ length: 12 }, (_, n) => `village_${String(n + 1).padStart(2, "0")}`)];
const words = new Words(
  create(ManifestSchema, {
    game: "spellbound",
    catalogues: [
      { name: "cards", items: data.cards.map(({ id, type }) => ({ ...readable(id), text: data.types[type]?.text.en ?? "", rules: ["SB-8"] })) },
      { name: "places", items: places.map(readable) },
      { name: "books", items: ["red", "blue", "green", "yellow", "silver"].map((book) => ({ id: book, name: `${book} book` })) },
      { name: "pieces", items: ["hat_red", "hat_blue", "hat_green", "hat_yellow", "troll"].map(readable) },
      { name: "mages", items: ["0", "1", "2"].map((id) => ({ id, name: `mage ${"ABC"[Number(id)]}` })) },
    ],
    templates: [
      ...places.flatMap((place) => ["at", "to"].map((form) => ({ kind: TemplateKind.EVENT, key: `${form}.${place}`, text: `${form} ${place}` }))),
      { kind: TemplateKind.REASON, key: "final_battle", text: "beaten" },
    ],
    options: [{ name: "troll_buster", label: "Troll Buster" }, { name: "dan", label: "Dan", choices: [{ value: "7", label: "7th Dan" }] }],
  }),
);

// Every number differs from every other, so that one that is left out cannot hide behind another.
const FIELDS = {
  state: "story",
  turn: 601,
  turnMage: 0,
  actingMage: 0,
  activeSeat: 0,
  mages: [
    { mage: 0, seat: 0, place: "city_red", wand: 603, spells: ["teleport"] },
    { mage: 1, seat: 1, place: "village_03", wand: 604 },
    { mage: 2, seat: 0, place: "wilderness", wand: 605 },
  ],
  tracks: [
    { book: "red", piece: "hat_red", place: "city_red", pieceAt: 606, bookState: "on_track", bookAt: 607, length: 9 },
    { book: "blue", piece: "hat_blue", place: "city_blue", pieceAt: 608, bookState: "gained", bookAt: 9, length: 9 },
    { book: "green", piece: "hat_green", place: "city_green", pieceAt: 609, bookState: "lost", length: 9 },
  ],
  villages: [
    { village: "village_01" },
    { village: "village_02", faceDown: true },
    { village: "village_03", card: "lizardman_1", requirement: 610, amount: 611, influence: [{ card: "basic_influence_blue", amount: 1 }] },
    { village: "village_04", card: "witchs_tower" },
  ],
  watchman: "city_blue",
  lowerRow: [{ card: "dragon_1", group: "ally", sun: 612 }],
  upperRow: [{ card: "troll_b", group: "troll", moon: 613, new: true }, { card: "squire", group: "ally", guard: true }],
  tower: { witch: 614, strength: 615, sunPile: ["pixies_1", "pixies_2"], moonPile: ["witch_blue_a"], minions: ["danzer"], sunForce: 616, moonForce: 617, village: "village_04" },
  bag: { sun: 618, moon: 619 },
  drawn: { sun: 620, moon: 621 },
  supply: { sun: 622, moon: 623 },
  deckCount: 624,
  discards: ["warrior_1"],
  wickedDeckCount: 625,
  wickedTop: "witch_red_b",
  spellDeckCount: 626,
  setAsideCount: 627,
  boxCount: 628,
  removed: ["scry"],
  deckCards: ["ranger_1"],
  deckEnds: 629,
  policies: ["always", "never"],
  booksGained: 630,
  booksLost: 631,
};
const view: View = create(ViewSchema, FIELDS);

function everything(of: View): string {
  return sections(of, words, NAMES)
    .flatMap((section) => [section.title, ...section.items])
    .join("\n");
}

describe("the view in words", () => {
  it("tells every number, name and place of the view (W-A11Y-2)", () => {
    const text = everything(view).replaceAll("Mage ", "mage ");
    for (const number of Array.from({ length: 31 }, (_, n) => 601 + n).filter((n) => n !== 602)) expect(text).toMatch(new RegExp(`(^|\\D)${number}(\\D|$)`, "m"));
    const cards = ["teleport", "lizardman 1", "basic influence blue", "dragon 1", "troll b", "squire", "pixies 1", "witch blue a", "danzer", "warrior 1", "witch red b", "scry", "ranger 1"];
    for (const told of [...cards, "Mira", "Otso", "mage A", "mage B", "mage C", "always", "never", "book gained", "book lost", "on guard", "has not acted", "face down", "its turn"]) expect(text).toContain(told);
    expect(text).toMatch(/^City red: .*there: mage A$/m);
    expect(text).toMatch(/^City blue: .*there: watchman$/m);
    expect(text).toMatch(/^Village 3: lizardman 1, influence 611 of 610; lying there: basic influence blue; there: mage B$/m);
    expect(text).toContain("Meeting place for the final battle: at village_04");
  });

  it("tells what only some views have", () => {
    const differs = (more: object, ...told: string[]) => {
      const text = everything(create(ViewSchema, { ...FIELDS, ...more }));
      expect(text).not.toBe(everything(view));
      for (const each of told) expect(text).toContain(each);
    };
    differs({ turn: 0 }, "Before the first turn");
    differs({ actingMage: 1 }, "acts with mage B", "led in this turn");
    differs({ moved: true }, "has moved");
    differs({ progress: { card: "dragon_1", left: [{ any: ["move", "magic"], times: 2 }, { any: ["influence"], times: 0 }], village: "village_03", given: 2, rider: 1 } }, "dragon 1, left: step.move or step.magic, 2 times", "influence given at village_03: 2", "mage B rides along");
    differs({ ride: { mage: 0, rider: 1, to: "village_01" } }, "mage A asks mage B to ride along to village_01");
    differs({ batch: { cause: "purge", moves: ["hat_red", "troll", "troll"] } }, "About to move on: hat red, troll ×2");
    differs({ stones: [{ number: 1, stone: "moon" }, { number: 2, stone: "moon", turned: true }, { number: 3, stone: "sun" }] }, "moonstone, moonstone counted as sun, sunstone");
    differs({ window: { window: "stone", seat: 1, passed: [0] } }, "Asked now, stone: Otso", "passed: Mira");
    differs({ idlePiece: "hat_red" }, "the hat red moves on");
    differs({ lowerRow: [{ card: "fortuna_deck", group: "fortuna" }] }, "Fortuna waits");
    differs({ lowerRow: [{ card: "fortuna_deck", group: "fortuna" }], fortunaVisited: true }, "Fortuna was visited");
    differs({ upperRow: ["a", "b", "c"].map((n) => ({ card: `witch_red_${n}`, group: "witch", moon: 1 })) }, "purged");
    differs({ lowerRow: ["a", "b", "c", "d"].map((n) => ({ card: `basic_${n}`, group: "basic" })) }, "Before the story can end, play or discard 2 more cards: at most 2 may stay");
    differs({ trollBuster: true, dan: 7, arranged: true }, "Played with: Troll Buster, 7th Dan", "arranged");
    differs({ result: create(ResultSchema, { result: "won", reason: "final_battle" }) }, "The match is won: beaten");
    differs({ deck: ["centaur_1"], setAside: ["centaur_2"], box: ["vampire_1"], faceDown: ["", "halfling_1"] }, "Hidden before the end", "centaur 1", "Village 2: halfling 1", "centaur 2", "vampire 1");
  });

  it("says the situation, and which book is caught next", () => {
    expect(situation(view, words, NAMES)).toMatch(/^Turn 601, mage A \(Mira\): story\. Books gained 630 of 4, lost 631 of 2; .*Caught with the next move: red book\.$/);
    expect(underWay(view, words, NAMES)).toBe("");
  });

  it("says why a story cannot end yet, and nothing of it where it can or none is told (SB-6.7)", () => {
    const card = (group: string, n: number) => ({ card: `${group}_${n}`, group });
    const told = (more: object) => underWay(create(ViewSchema, { ...FIELDS, ...more }), words, NAMES);
    const three = [card("basic", 1), card("fortuna", 1), card("ally", 1), card("ally", 2)];
    expect(told({ lowerRow: three })).toBe("Before the story can end, play or discard one more card: at most 2 may stay");
    expect(told({ lowerRow: three.slice(0, 3) })).toBe("");
    expect(told({ lowerRow: three, state: "witching" })).toBe("");
    expect(told({ lowerRow: three, result: create(ResultSchema, { result: "lost", reason: "books_lost" }) })).toBe("");
  });
});

describe("a thing in words", () => {
  it("is shown in full: cards, spells, the wand, places, books, pieces, mages", () => {
    expect(inspect("card:dragon_1", view, words)).toMatchObject({ title: "dragon 1", text: data.types["dragon"]?.text.en });
    expect(inspect("wand:now", view, words)?.text).toContain("Level 1");
    expect(inspect("place:village_04", view, words)).toMatchObject({ title: "Village 4", rules: ["SB-7.2", "SB-8"] });
    expect(inspect("to:city_red", view, words)?.text).toContain("caught with the next move");
    expect(inspect("book:green", view, words)?.text).toContain("book lost");
    expect(inspect("piece:hat_red", view, words)?.title).toBe("Hat red");
    expect(inspect("mage:2", view, words, NAMES)?.text).toBe("Mage C (Mira): wilderness, wand 605; no spells");
    for (const ref of ["card:nothing", "mage:7", "place:nowhere", "book:nothing", "option:sun"]) expect(inspect(ref, view, words)).toBeNull();
  });

  it("is called by its name", () => {
    expect(["card:danzer", "to:city_red", "mage:1", "wand:now", "piece:troll", "option:sun"].map((ref) => thingName(ref, words))).toEqual(["danzer", "city red", "mage B", "the wand", "troll", null]);
  });

  it("has a picture, every card of the game but those that are not played", () => {
    const bare = data.cards.filter(({ id, type }) => pathOf(id) === null && pathOf(type) === null).map(({ type }) => type);
    expect(new Set(bare)).toEqual(new Set(["help", "blank"]));
    expect(pathOf("troll_bane")).not.toBe(pathOf("troll_a"));
    expect(pathOf("hat_red")).toBe(pathOf("witch_blue_a"));
  });
});

describe("what changed", () => {
  it("is counted by piece and book, and the last encounter kept whole", () => {
    const event = (type: string, body: Uint8Array) => ({ type, body });
    const events = [
      event("piece_moved", toBinary(PieceMovedSchema, create(PieceMovedSchema, { piece: "hat_red", by: 1 }))),
      event("piece_moved", toBinary(PieceMovedSchema, create(PieceMovedSchema, { piece: "troll", by: 1 }))),
      event("piece_moved", toBinary(PieceMovedSchema, create(PieceMovedSchema, { piece: "troll", by: -1 }))),
      event("book_moved", toBinary(BookMovedSchema, create(BookMovedSchema, { book: "silver" }))),
      event("mage_moved", toBinary(MageMovedSchema, create(MageMovedSchema, { from: "city_red", to: "village_03" }))),
      event("wand_charged", toBinary(WandChargedSchema, create(WandChargedSchema, { mage: 1 }))),
      event("encounter_counted", toBinary(EncounterCountedSchema, create(EncounterCountedSchema, { sun: 3, moon: 7, result: "one_step", parts: { strength: 2, moonstones: 1, moonPile: 4, sunPile: 3 } }))),
    ];
    const declared = create(BattleDeclaredSchema, { books: ["sun", "danzer", "sun"].map((use) => ({ use })) });
    const battle = traceOf([{ version: 1, seat: 0, events: [event("battle_declared", toBinary(BattleDeclaredSchema, declared))] }] as unknown as readonly Entry[]);
    expect([...battle.entries()]).toEqual([["battle.books", 2]]);
    const found = traceOf([{ version: 12, seat: 1, events }] as unknown as readonly Entry[]);
    expect([...found.entries()].filter(([key]) => !key.startsWith("encounter"))).toEqual([["hat_red", 1], ["silver", 1], ["village_03", 1], ["wand.1", 1]]);
    expect(["strength", "moonstones", "minions", "sun", "moon", "result", "version", "seat"].map((key) => found.get(`encounter.${key}`))).toEqual([2, 1, 0, 3, 7, 1, 12, 1]);
  });
});
