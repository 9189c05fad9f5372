import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";

import { EventSchema, OccupantKind, SeatBoundSchema } from "../gen/grimoire/v1/match_pb";
import { ChallengeSeatSchema, TableSchema } from "../gen/grimoire/v1/matchmaking_pb";
import type { Entry } from "./entries";
import { handoversOf, type Holder, holdersAfter, holdersOf, namesOf, peopleOf } from "./sitters";

const PERSON = OccupantKind.PERSON;
const holder = (seat: number, occupantId: string, kind = PERSON, level = ""): Holder => ({ seat, occupantId, kind, level });
const listed = (seat: number, name: string, more = {}) => create(ChallengeSeatSchema, { seat, name, ...more });

const first = [holder(0, "a"), holder(1, "b"), holder(2, "a"), holder(3, "c", OccupantKind.BOT, "calm")];

function bound(version: number, seat: number, occupantId: string, kind: OccupantKind = PERSON, level = ""): Entry {
  const body = toBinary(SeatBoundSchema, create(SeatBoundSchema, { seat, occupantId, kind, level }));
  const events = [create(EventSchema, { type: "seat_bound", body })];
  return { version, timeMs: 0, commandId: "", seat: null, events, open: events, hash: new Uint8Array() };
}

describe("who sits where", () => {
  test("is what the match's head says, and until a seat changes hands what its first entry said", () => {
    expect(holdersOf(null)).toEqual([]);
    expect(holdersOf({ seats: [], created: { seats: first } } as never)).toBe(first);
    expect(holdersOf({ seats: [first[1]], created: { seats: first } } as never)).toEqual([first[1]]);
  });

  test("is known for every moment of the log", () => {
    const handovers = handoversOf([bound(9, 1, "x", OccupantKind.BOT, "calm"), bound(20, 1, "a"), bound(30, 1, "b")]);
    expect(handovers.map(({ version }) => version)).toEqual([9, 20, 30]);
    const then = [0, 1, 2, 3].map((count) => holdersAfter(first, handovers, count)[1]?.occupantId);
    expect(then).toEqual(["b", "x", "a", "b"]);
  });

  test("has names; several seats of one are told apart by number", () => {
    const people = peopleOf(first, first, [listed(0, "Ada"), listed(1, "Bo"), listed(2, "Ada"), listed(3, "Calm", { bot: true })], null);
    expect(namesOf(first, people, null)).toEqual(["Ada (1)", "Bo", "Ada (3)", "Computer (calm)"]);
  });

  test("knows who left by the table, and a fellow who plays on", () => {
    const now = holdersAfter(first, handoversOf([bound(9, 1, "a")]), 1);
    const table = create(TableSchema, {
      seats: [
        { seat: 0, now: { seat: 0, name: "Ada" } },
        { seat: 1, now: { seat: 1, name: "Ada" }, first: { seat: 1, name: "Bo" } },
      ],
    });
    const people = peopleOf(first, now, [listed(0, "Ada"), listed(1, "Ada")], table);
    expect(namesOf(first, people, null)[1]).toBe("Bo");
    expect(namesOf(now, people, null).slice(0, 3)).toEqual(["Ada (1)", "Ada (2)", "Ada (3)"]);
  });

  test("is nobody's name where nobody is known, also of a program's account", () => {
    expect(namesOf([holder(0, "a"), holder(1, "p", OccupantKind.BOT)], new Map(), null)).toEqual(["", ""]);
  });
});
