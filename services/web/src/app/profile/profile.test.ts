import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";

import { OutcomeKind } from "../../gen/grimoire/v1/match_pb";
import { type MatchSummary, MatchSummarySchema } from "../../gen/grimoire/v1/matchmaking_pb";
import { resultOf } from "./result";
import { spark } from "./spark";

function match(kind: OutcomeKind, ranks: number[], mine: number | null = 0): MatchSummary {
  return create(MatchSummarySchema, {
    finished: true,
    closed: { kind, ranks },
    seats: [0, 1].map((seat) => ({ seat, mine: seat === mine })),
  });
}

describe("how a match ended for me", () => {
  test.each([
    [match(OutcomeKind.WIN, [1, 2]), "won"],
    [match(OutcomeKind.WIN, [2, 1]), "lost"],
    [match(OutcomeKind.DRAW, [1, 1]), "drawn"],
    [match(OutcomeKind.SHARED, [1, 1]), "drawn"],
    [match(OutcomeKind.COOP_WON, []), "won"],
    [match(OutcomeKind.COOP_LOST, []), "lost"],
    [match(OutcomeKind.VOID, []), "void"],
    [match(OutcomeKind.WIN, [1, 2], null), "over"],
    [create(MatchSummarySchema, {}), "running"],
  ])("%#: %s", (summary, result) => {
    expect(resultOf(summary)).toBe(result);
  });
});

describe("a line of ratings", () => {
  test("spans its box from the lowest to the highest that is likely", () => {
    const picture = spark([{ points: 1500, deviation: 100 }, { points: 1600, deviation: 50 }], 100, 40);
    expect(picture).toMatchObject({ low: 1300, high: 1700, x: 100, y: 10 });
    expect(picture?.line).toBe("M0.0 20.0L100.0 10.0");
    expect(picture?.band).toBe("M0.0 0.0L100.0 0.0L100.0 20.0L0.0 40.0Z");
  });

  test("of nothing is none, of one point stands at the end", () => {
    expect(spark([], 100, 40)).toBeNull();
    expect(spark([{ points: 1500, deviation: 0 }], 100, 40)).toMatchObject({ x: 100, y: 40 });
  });
});
