import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";

import { BattleDeclaredSchema, EncounterCountedSchema, PositionArrangedSchema, ViewSchema } from "../../gen/grimoire/games/spellbound/v1/spellbound_pb";
import { type Event, EventSchema } from "../../gen/grimoire/v1/match_pb";
import type { Happened } from "../../match/entries";
import { meetingOf } from "./encounter";
import { traceOf } from "./trace";

const none: ReadonlyMap<string, number> = new Map();
const moonOf = (card: string): number => ({ danzer: 6, skeleton_army: 2 })[card] ?? 0;
const event = (type: string, body: Uint8Array<ArrayBuffer>): Event => create(EventSchema, { type, body });
const happened = (version: number, seat: number | null, ...events: Event[]): Happened => ({ version, seat, events });

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
  });

  describe("of the final battle", () => {
    const asked = create(ViewSchema, { window: { window: "encounter_stones", seat: 1 } });
    const declared = happened(7, 0, event("battle_declared", toBinary(BattleDeclaredSchema, create(BattleDeclaredSchema, { books: [{ book: "red", use: "danzer" }, { book: "blue", use: "sun" }, { book: "green", use: "sun" }] }))));
    const passed = happened(8, 1, event("passed", new Uint8Array()));
    const counted = happened(9, 1, event("encounter_counted", toBinary(EncounterCountedSchema, create(EncounterCountedSchema, { sun: 6, moon: 4, parts: { books: 2 }, result: "won" }))));

    it("knows it from what was declared, whoever acted since and whatever is marked", () => {
      for (const marked of [[declared], [passed], []]) {
        const meeting = meetingOf(asked, traceOf(marked, [declared, passed]), moonOf);
        expect(meeting?.battle).toBe(true);
        expect(meeting?.rows.at(-1)).toEqual({ part: "books", moon: null, sun: 2 });
      }
    });

    it("says so with books that are no sun force, and in a match that was begun in its midst", () => {
      const none = happened(7, 0, event("battle_declared", new Uint8Array()));
      expect(meetingOf(asked, traceOf([], [none]), moonOf)).toMatchObject({ battle: true, rows: [{ part: "strength" }, { part: "stones" }, { part: "piles" }] });
      const arranged = (fields: object) => happened(1, null, event("position_arranged", toBinary(PositionArrangedSchema, create(PositionArrangedSchema, fields))));
      expect(meetingOf(asked, traceOf([], [arranged({ battle: true, battleBooks: 3 })]), moonOf)?.rows.at(-1)).toEqual({ part: "books", moon: null, sun: 3 });
      expect(meetingOf(asked, traceOf([], [arranged({})]), moonOf)?.battle).toBe(false);
    });

    it("is told from an encounter by how the match ended", () => {
      const trace = traceOf([counted], [declared, passed, counted]);
      for (const reason of ["final_battle", "final_battle_lost"]) expect(meetingOf(create(ViewSchema, { result: { reason } }), trace, moonOf)).toMatchObject({ battle: true, id: 9, seat: 1 });
      // One that was counted before is none, though a battle was declared since.
      expect(meetingOf(create(ViewSchema, {}), trace, moonOf)?.battle).toBe(false);
    });
  });
});
