import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";

import { ManifestSchema } from "../../gen/grimoire/v1/manifest_pb";
import { Leaving } from "../../gen/grimoire/v1/match_pb";
import { ChallengeSchema, SeatRowKind } from "../../gen/grimoire/v1/matchmaking_pb";
import { awaited, bot, freeSeats, FRIEND, isForTables, isTable, keyOf, mayBeRated, MINE, OPEN, quickSizes, resized, sizes, usualSize, wishOf, withOthers } from "./seats";

const game = (minSeats: number, maxSeats: number, quickSeats: number[] = []) => create(ManifestSchema, { minSeats, maxSeats, quickSeats });
const table = (more: MessageInitShape<typeof ChallengeSchema>) => create(ChallengeSchema, more);

describe("seats of a table", () => {
  test.each([
    [game(2, 2), false, [2], 2, []],
    [game(1, 4), true, [1, 2, 3, 4], 2, [2, 3, 4]],
    [game(2, 5, [4, 3, 5]), true, [2, 3, 4, 5], 2, [4, 3, 5]],
    [game(3, 5), true, [3, 4, 5], 3, [3, 4, 5]],
    [game(1, 1), false, [1], 1, []],
    [game(2, 5, [4]), true, [2, 3, 4, 5], 2, []],
  ])("are as many as the game allows: %#", (manifest, tables, all, usual, quick) => {
    expect(isForTables(manifest)).toBe(tables);
    expect(sizes(manifest)).toEqual(all);
    expect(usualSize(manifest)).toBe(usual);
    expect(quickSizes(manifest)).toEqual(quick);
  });

  test("stay as they are when there are more, and one is always the maker's", () => {
    expect(resized([MINE, bot("calm")], 3)).toEqual([MINE, bot("calm"), OPEN]);
    expect(resized([OPEN, OPEN, MINE], 2)).toEqual([MINE, OPEN]);
  });

  test("are given to one kind of company at once, but for the maker's first", () => {
    expect(withOthers([OPEN, MINE, FRIEND], bot("calm"))).toEqual([bot("calm"), MINE, bot("calm")]);
    expect(withOthers([MINE, OPEN], MINE)).toEqual([MINE, MINE]);
  });

  test("wait for whoever comes only where they are open", () => {
    expect(awaited([MINE, OPEN, FRIEND, bot("calm"), OPEN])).toBe(2);
  });

  test("count for ratings when each has a person of its own", () => {
    expect(mayBeRated([MINE])).toBe(true);
    expect(mayBeRated([MINE, OPEN, FRIEND])).toBe(true);
    expect(mayBeRated([MINE, MINE])).toBe(false);
    expect(mayBeRated([MINE, bot("calm")])).toBe(false);
  });

  test("are chosen in a form and read from it again", () => {
    for (const wish of [MINE, OPEN, FRIEND, bot("very calm")]) expect(wishOf(keyOf(wish))).toEqual(wish);
    expect(MINE.kind).toBe(SeatRowKind.MINE);
  });

  test("are shown one by one where there are several, or may change hands", () => {
    expect(isTable(table({ seats: [{}, {}] }))).toBe(false);
    expect(isTable(table({ seats: [{}, {}], leaving: Leaving.VOTED }))).toBe(true);
    expect(isTable(table({ seats: [{}, {}, {}] }))).toBe(true);
    expect(freeSeats(table({ seats: [{ seat: 0, name: "Ada" }, { seat: 1 }, { seat: 2, bot: true }] }))).toEqual([1]);
  });
});
