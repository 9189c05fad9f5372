import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";

import { PlayCardSchema } from "../gen/grimoire/games/two_towers/v1/two_towers_pb";
import { ManifestSchema } from "../gen/grimoire/v1/manifest_pb";
import { CreateMatchSchema, MatchMode, TimeControlSchema } from "../gen/grimoire/v1/match_pb";
import { SlotSchema } from "../gen/grimoire/v1/prompt_pb";
import { fault, filled, start } from "./slot";

const slot = (kind: Parameters<typeof create<typeof SlotSchema>>[1]) => create(SlotSchema, kind);

describe("an answer in the command", () => {
  it("names a thing by what stands behind its kind, and keeps the fixed fields", () => {
    const payload = toBinary(PlayCardSchema, create(PlayCardSchema, { card: "ruby" }));
    const command = fromBinary(PlayCardSchema, filled(PlayCardSchema, payload, [["slot", "slot:4"]]));
    expect(command).toMatchObject({ slot: 4, card: "ruby" });
  });

  it("fills numbers, texts, and values of an enum", () => {
    expect(fromBinary(PlayCardSchema, filled(PlayCardSchema, new Uint8Array(), [["slot", 3], ["card", "card:ruby"]]))).toMatchObject({ slot: 3, card: "ruby" });
    expect(fromBinary(CreateMatchSchema, filled(CreateMatchSchema, new Uint8Array(), [["mode", "MATCH_MODE_CASUAL"]])).mode).toBe(MatchMode.CASUAL);
  });

  it("fills a list with several things, in order", () => {
    const command = fromBinary(ManifestSchema, filled(ManifestSchema, new Uint8Array(), [["languages", ["l:fi", "l:en"]]]));
    expect(command.languages).toEqual(["fi", "en"]);
  });

  it("fills a list of pairs: what each thing gets", () => {
    const shared = fromBinary(TimeControlSchema, filled(TimeControlSchema, new Uint8Array(), [["per_prompt", { "class:turn": 30, "class:setup": 60 }]]));
    expect(shared.perPrompt).toMatchObject([
      { deadlineClass: "turn", seconds: 30 },
      { deadlineClass: "setup", seconds: 60 },
    ]);
    const given = fromBinary(CreateMatchSchema, filled(CreateMatchSchema, new Uint8Array(), [["options", { "o:deck": "v:endless" }]]));
    expect(given.options).toMatchObject([{ name: "deck", value: "endless" }]);
  });

  it("refuses a field the command has not, and an answer of another shape", () => {
    expect(() => filled(PlayCardSchema, new Uint8Array(), [["wings", 1]])).toThrow("no field");
    expect(() => filled(PlayCardSchema, new Uint8Array(), [["slot", ["slot:1"]]])).toThrow("takes one");
    expect(() => filled(ManifestSchema, new Uint8Array(), [["languages", "fi"]])).toThrow("several");
  });
});

describe("whether an answer fits", () => {
  it("counts, adds up and compares as the slot says", () => {
    const some = slot({ field: "x", kind: { case: "some", value: { candidates: ["a", "b", "c"], min: 2, max: 3 } } });
    expect(fault(some, ["a"])).toEqual({ key: "some", args: { min: 2, max: 3 } });
    expect(fault(some, ["a", "a"])?.key).toBe("some");
    expect(fault(some, ["a", "c"])).toBeNull();
    const amounts = slot({ field: "x", kind: { case: "amounts", value: { refs: [{ ref: "a", min: 0, max: 2 }, { ref: "b", min: 0, max: 2 }], minSum: 3, maxSum: 3 } } });
    expect(fault(amounts, { a: 1, b: 1 })).toEqual({ key: "sum_exact", args: { min: 3, max: 3, sum: 2 } });
    expect(fault(amounts, { a: 3, b: 0 })?.key).toBe("number");
    expect(fault(amounts, { a: 2, b: 1 })).toBeNull();
    const order = slot({ field: "x", kind: { case: "order", value: { refs: ["a", "b"] } } });
    expect(fault(order, ["b", "a"])).toBeNull();
    expect(fault(order, ["b"])?.key).toBe("order");
    const assign = slot({ field: "x", kind: { case: "assign", value: { refs: [{ ref: "a", choices: ["1", "2"] }] } } });
    expect(fault(assign, { a: "2" })).toBeNull();
    expect(fault(assign, { a: "3" })).not.toBeNull();
    const refs = ["a", "b"].map((ref) => ({ ref, choices: ["sun", "card:imp"] }));
    const scarce = slot({ field: "x", kind: { case: "assign", value: { refs, once: ["card:imp"] } } });
    expect(fault(scarce, { a: "sun", b: "sun" })).toBeNull();
    expect(fault(scarce, { a: "card:imp", b: "card:imp" })).not.toBeNull();
    const name = slot({ field: "x", kind: { case: "name", value: { catalogue: "cards" } } });
    expect(fault(name, "ruby", ["ruby"])).toBeNull();
    expect(fault(name, "ruby", [])).not.toBeNull();
    const number = slot({ field: "x", kind: { case: "number", value: { min: 1, max: 3 } } });
    expect(fault(number, 2.5)?.key).toBe("number");
  });

  it("begins with what is natural, which fits where it can", () => {
    const order = slot({ field: "x", kind: { case: "order", value: { refs: ["a", "b"] } } });
    expect(fault(order, start(order))).toBeNull();
    const payment = slot({ field: "x", kind: { case: "payment", value: { sources: ["m:1", "m:2"], automatic: ["m:2"] } } });
    expect(start(payment)).toEqual(["m:2"]);
    expect(fault(payment, start(payment))).toBeNull();
    const one = slot({ field: "x", kind: { case: "one", value: { candidates: ["a"] } } });
    expect(start(one)).toBeUndefined();
  });
});
