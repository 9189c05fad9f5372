import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";

import { SlotSchema } from "../gen/grimoire/v1/prompt_pb";
import { choicesOf, linesMeant, typedAnswer } from "./typed";

const CARDS = ["card:ruby", "card:opal", "card:onyx"];
const LINES = ["Spirit of water", "Spirit of fire", "Water"];
const none = () => [];
const slot = (kind: Parameters<typeof create<typeof SlotSchema>>[1]) => create(SlotSchema, kind);

describe("a line that is meant", () => {
  it.each([
    ["2", [1]],
    ["0", []],
    ["4", []],
    ["spirit of f", [1]],
    ["fire spirit", [1]],
    ["spirit", [0, 1]],
    ["water", [2]],
    ["earth", []],
  ])("is found by %j", (text, places) => expect(linesMeant(text, LINES)).toEqual(places));

  it("is the first of those that read alike", () => expect(linesMeant("ruby", ["Ruby", "Ruby"])).toEqual([0]));
});

describe("an answer that is typed", () => {
  const one = slot({ field: "card", kind: { case: "one", value: { candidates: CARDS } } });
  const some = slot({ field: "cards", kind: { case: "some", value: { candidates: CARDS, min: 0, max: 2 } } });
  const order = slot({ field: "order", kind: { case: "order", value: { refs: CARDS } } });
  const count = slot({ field: "n", kind: { case: "number", value: { min: 1, max: 5 } } });
  const cost = slot({ field: "sources", kind: { case: "payment", value: { automatic: ["card:opal"], sources: CARDS } } });
  const amounts = slot({
    field: "shares",
    kind: { case: "amounts", value: { refs: CARDS.map((ref) => ({ ref, min: 0, max: 3 })), minSum: 0, maxSum: 3 } },
  });
  const assign = slot({
    field: "lots",
    kind: { case: "assign", value: { refs: CARDS.map((ref) => ({ ref, choices: ["option:left", "option:right"] })) } },
  });
  const kept = { "card:ruby": 1, "card:opal": 1, "card:onyx": 1 };

  it.each([
    ["by number", one, "3", undefined, "card:onyx"],
    ["by its words", one, "spirit of f", undefined, "card:opal"],
    ["not where two fit", one, "spirit", undefined, null],
    ["with several", some, "1, 3", [], ["card:ruby", "card:onyx"]],
    ["with one of several by its words", some, "fire", [], ["card:opal"]],
    ["with none of several", some, "0", ["card:ruby"], []],
    ["not with what there is not", some, "1 4", [], null],
    ["with an order", order, "3 1 2", CARDS, ["card:onyx", "card:ruby", "card:opal"]],
    ["with what pays", cost, "2", ["card:opal"], ["card:ruby"]],
    ["with a number", count, "4", 1, 4],
    ["not with a word for a number", count, "four", 1, null],
    ["with all amounts", amounts, "2 0 1", kept, { "card:ruby": 2, "card:opal": 0, "card:onyx": 1 }],
    ["with some amounts", amounts, "2=0 3=2", kept, { "card:ruby": 1, "card:opal": 0, "card:onyx": 2 }],
    ["not with amounts of unknown things", amounts, "4=1", kept, null],
    ["not with too few amounts", amounts, "1 1", kept, null],
    ["with a choice for one", assign, "3=2", { "card:ruby": "option:left" }, { "card:ruby": "option:left", "card:onyx": "option:right" }],
    ["not with an unknown choice", assign, "3=3", {}, null],
  ] as const)("is taken %s", (_, asked, text, now, given) => {
    const lines = choicesOf(asked, none).map((ref) => (asked === cost ? ref : (LINES[CARDS.indexOf(ref)] ?? ref)));
    expect(typedAnswer(asked, text, lines, now, none)).toEqual(given);
  });

  it("is looked up among the names of a catalogue", () => {
    const name = slot({ field: "spell", kind: { case: "name", value: { catalogue: "spells" } } });
    expect(typedAnswer(name, "bolt", ["Fire bolt", "Fish"], undefined, () => ["fire_bolt", "fish"])).toBe("fire_bolt");
  });
});
