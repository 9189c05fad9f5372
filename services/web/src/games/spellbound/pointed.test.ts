import { create, fromBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";

import { CardStepSchema, PlayCardSchema, SendToTowerSchema, ViewSchema } from "../../gen/grimoire/games/spellbound/v1/spellbound_pb";
import { PromptSchema } from "../../gen/grimoire/v1/prompt_pb";
import { choose, commands, draftOf, only, pick, remaining, selected, targets, usable, whole } from "../../play/composer";
import { meant } from "../../play/pointing";
import type { Marks } from "../module";
import { pointed } from "./pointed";
import { beginnings, keyRef, placeRefs } from "./refs";

const fixed = (fields: Record<string, string>) => Object.entries(fields).map(([name, value]) => ({ name, ref: `${name}:${value}` }));
const one = (field: string, ...candidates: string[]) => ({ field, kind: { case: "one", value: { candidates } } });
const some = (max: number, ...candidates: string[]) => ({ field: "cards", kind: { case: "some", value: { candidates, min: 1, max } } });
const entry = (type: string, fields: Record<string, string>, ...slots: object[]) => ({ type, fixed: fixed(fields), slots });
const prompt = (...legal: object[]) => pointed(create(PromptSchema, { promptId: 1, kind: "card", legal } as never));
const refs = (...legal: object[]) => prompt(...legal).legal.map((each) => each.fixed.map(({ ref }) => ref));
const marksOf = (draft: ReturnType<typeof draftOf>): Marks => ({ usable: usable(draft), targets: targets(draft), selected: selected(draft) });

const story = prompt(
  entry("end_story", {}),
  entry("use_wand", { level: "1" }, one("to", "place:city_red", "place:village_03")),
  entry("use_wand", { level: "2" }),
  entry("play_card", { card: "halfling_1", mode: "one" }),
  entry("play_card", { card: "vampire_1", mode: "feed" }, one("discard", "card:halfling_1")),
  entry("discard_card", {}, one("card", "card:halfling_1", "card:vampire_1")),
  entry("discard_influence", { village: "village_03" }, some(1, "card:ranger_1")),
  entry("cast_spell", { spell: "teleport", mage: "1" }, one("to", "place:city_red")),
);

describe("commands in things of the picture", () => {
  it("are about each thing that they could be for, and end with what ends something", () => {
    expect(story.legal.map(({ type, fixed: things }) => [type, ...things.map(({ ref }) => ref)].join(" "))).toEqual([
      "use_wand wand:now to:city_red",
      "use_wand wand:now to:village_03",
      "use_wand wand:now",
      "play_card card:halfling_1",
      "play_card card:vampire_1 card:halfling_1",
      "discard_card card:halfling_1",
      "discard_card card:vampire_1",
      "cast_spell spell:teleport mage:1 to:city_red",
      "discard_influence place:village_03 card:ranger_1",
      "end_story",
    ]);
  });

  it("hold what was pointed at in their payload", () => {
    const [step] = prompt(entry("card_step", { step: "move" }, one("to", "place:village_07"))).legal;
    expect(fromBinary(CardStepSchema, step?.payload ?? new Uint8Array()).to).toBe("village_07");
    expect(fromBinary(PlayCardSchema, story.legal[4]?.payload ?? new Uint8Array()).discard).toBe("halfling_1");
    const [sent] = prompt(entry("send_to_tower", {}, some(1, "card:ranger_1"))).legal;
    expect(fromBinary(SendToTowerSchema, sent?.payload ?? new Uint8Array()).cards).toEqual(["ranger_1"]);
  });

  it("leave books, hats and the battle to be asked, and Pixies to be counted", () => {
    expect(refs(entry("cast_spell", { spell: "book_wyrm" }, one("book", "book:red", "book:blue")))).toEqual([["spell:book_wyrm"]]);
    const pixies = prompt(entry("send_to_tower", {}, some(1, "card:ranger_1")), entry("send_to_tower", {}, some(2, "card:pixies_1", "card:pixies_2")));
    let draft = pick(draftOf(pixies), "card:pixies_2");
    expect(draft.answers).toEqual({ cards: ["card:pixies_2"] });
    draft = pick(draft, "card:pixies_1");
    expect(draft.answers).toEqual({ cards: ["card:pixies_2", "card:pixies_1"] });
    expect([...usable(draftOf(pixies))].sort()).toEqual(["card:pixies_1", "card:pixies_2", "card:ranger_1"]);
  });
});

describe("pointing", () => {
  const at = (place: string, draft = draftOf(story)) => meant(placeRefs(place), beginnings(marksOf(draft)));

  it("at a place means a step of the card, unless the wand or a spell was begun", () => {
    expect(at("city_red")).toBe("place:city_red");
    expect(beginnings(marksOf(draftOf(story))).usable.has("to:city_red")).toBe(false);
    const wand = pick(draftOf(story), "wand:now");
    expect(at("city_red", wand)).toBe("to:city_red");
    expect(only(pick(wand, "to:city_red"), "use_wand")).toBe(story.legal[0]);
    expect(whole(wand, "use_wand")).toEqual([story.legal[2]]);
    const spell = pick(pick(draftOf(story), "spell:teleport"), "mage:1");
    expect(remaining(pick(spell, at("city_red", spell)))).toEqual([story.legal[7]]);
  });

  it("at a card leaves its uses and its discarding; at a second one the price", () => {
    const card = pick(draftOf(story), "card:halfling_1");
    expect(commands(card)).toEqual(["play_card", "discard_card"]);
    expect(whole(card, "play_card")).toEqual([story.legal[3]]);
    expect(remaining(choose(pick(pick(draftOf(story), "card:vampire_1"), "card:halfling_1"), "play_card"))).toEqual([story.legal[4]]);
  });

  it("is done by keys as well", () => {
    const view = create(ViewSchema, { lowerRow: [{ card: "dragon_1" }, { card: "ranger_2" }] });
    expect(["1", "2", "3", "w", "0", "x"].map((key) => keyRef(key, view))).toEqual(["card:dragon_1", "card:ranger_2", null, "wand:now", null, null]);
  });
});
