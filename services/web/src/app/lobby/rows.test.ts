import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";

import { type Challenge, ChallengeSchema, ChallengeStatus } from "../../gen/grimoire/v1/matchmaking_pb";
import { arrive, depart, EMPTY, GONE_MS, reveal, sweep, type Table } from "./rows";

function challenge(id: string, createdMs: number, more: MessageInitShape<typeof ChallengeSchema> = {}): Challenge {
  return create(ChallengeSchema, { challengeId: id, createdMs: BigInt(createdMs), status: ChallengeStatus.OPEN, ...more });
}

const ids = (table: Table): string[] => table.rows.map((row) => row.challenge.challengeId);
const old = challenge("old", 1);
const young = challenge("young", 2);

describe("the table of challenges", () => {
  test("shows the newest first", () => {
    expect(ids(arrive(EMPTY, [old, young], false))).toEqual(["young", "old"]);
  });

  test("lets what is new wait while it is held, so that no row moves", () => {
    const table = arrive(arrive(EMPTY, [old], false), [young], true);
    expect(ids(table)).toEqual(["old"]);
    expect(table.waiting).toEqual([young]);
    expect(ids(reveal(table))).toEqual(["young", "old"]);
    expect(reveal(table).waiting).toEqual([]);
  });

  test("shows one's own at once, and first", () => {
    const mine = challenge("mine", 3, { seats: [{ mine: true }] });
    expect(ids(arrive(arrive(EMPTY, [old], false), [mine], true))).toEqual(["mine", "old"]);
    expect(ids(arrive(arrive(EMPTY, [mine], false), [challenge("newer", 4)], false))).toEqual(["mine", "newer"]);
  });

  test("changes a row where it stands, and what waits where it waits", () => {
    const table = arrive(arrive(EMPTY, [old, young], false), [challenge("late", 9)], true);
    const changed = arrive(table, [challenge("old", 1, { game: "x" }), challenge("late", 9, { game: "y" })], true);
    expect(ids(changed)).toEqual(["young", "old"]);
    expect(changed.rows[1]?.challenge.game).toBe("x");
    expect(changed.waiting.map(({ game }) => game)).toEqual(["y"]);
  });

  test("keeps a row that is gone for a moment, struck through", () => {
    const table = depart(arrive(EMPTY, [old, young], false), new Map([["old", ChallengeStatus.MATCHED]]), 1000);
    expect(table.rows[1]).toMatchObject({ goneMs: 1000, status: ChallengeStatus.MATCHED });
    expect(sweep(table, 1000 + GONE_MS - 1, false)).toBe(table);
    expect(sweep(table, 1000 + GONE_MS, true)).toBe(table);
    expect(ids(sweep(table, 1000 + GONE_MS, false))).toEqual(["young"]);
  });

  test("forgets what is gone before it was shown", () => {
    const table = arrive(arrive(EMPTY, [old], false), [young], true);
    expect(depart(table, new Map([["young", ChallengeStatus.CANCELLED]]), 5).waiting).toEqual([]);
  });
});
