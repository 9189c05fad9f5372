import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";

import { ViewSchema } from "../../gen/grimoire/games/spellbound/v1/spellbound_pb";
import { meetingOf } from "./encounter";

const none: ReadonlyMap<string, number> = new Map();
const moonOf = (card: string): number => ({ danzer: 6, skeleton_army: 2 })[card] ?? 0;

describe("an encounter", () => {
  it("is none before one was counted", () => {
    expect(meetingOf(create(ViewSchema, {}), none, moonOf)).toBeNull();
    expect(meetingOf(create(ViewSchema, { window: { window: "stone", seat: 0 } }), none, moonOf)).toBeNull();
  });

  it("stands part by part with its sum and what came of it", () => {
    const parts = { strength: 3, moonstones: 1, moonPile: 4, minions: 8, sunstones: 2, sunPile: 5, books: 2 };
    const trace = new Map(Object.entries({ ...parts, moon: 16, sun: 9, result: 2, version: 40, seat: 1 }).map(([key, n]) => [`encounter.${key}`, n]));
    expect(meetingOf(create(ViewSchema, {}), trace, moonOf)).toEqual({
      id: 40,
      battle: false,
      seat: 1,
      rows: [
        { part: "strength", moon: 3, sun: null },
        { part: "stones", moon: 1, sun: 2 },
        { part: "piles", moon: 4, sun: 5 },
        { part: "minions", moon: 8, sun: null },
        { part: "books", moon: null, sun: 2 },
      ],
      total: { moon: 16, sun: 9, result: "two_steps" },
    });
    expect(meetingOf(create(ViewSchema, {}), new Map([...trace, ["encounter.seat", -1]]), moonOf)?.seat).toBeNull();
  });

  it("leaves out minions and books where there are none, and nothing else", () => {
    const trace = new Map([["encounter.result", 0], ["encounter.strength", 1]]);
    expect(meetingOf(create(ViewSchema, {}), trace, moonOf)?.rows.map(({ part }) => part)).toEqual(["strength", "stones", "piles"]);
  });

  it("stands there without its sum as long as somebody is asked about the stones, whatever was counted before (SB-16.7)", () => {
    const view = create(ViewSchema, {
      window: { window: "encounter_stones", seat: 0 },
      tower: { strength: 3, sunForce: 5, moonForce: 15, minions: ["skeleton_army", "danzer"] },
      stones: [{ number: 1, stone: "sun" }, { number: 2, stone: "moon", turned: true }, { number: 3, stone: "moon" }],
    });
    expect(meetingOf(view, new Map([["encounter.result", 0], ["encounter.books", 4]]), moonOf)).toEqual({
      id: 0,
      battle: false,
      seat: null,
      rows: [
        { part: "strength", moon: 3, sun: null },
        { part: "stones", moon: 1, sun: 2 },
        { part: "piles", moon: 4, sun: 5 },
        { part: "minions", moon: 8, sun: null },
      ],
      total: null,
    });
    const battle = meetingOf(view, new Map([["encounter.battle", 1], ["encounter.books", 4]]), moonOf);
    expect(battle?.battle).toBe(true);
    expect(battle?.rows.at(-1)).toEqual({ part: "books", moon: null, sun: 4 });
  });
});
