import { describe, expect, it } from "vitest";

import type { ReadLeaf } from "../fair/logged";
import { census } from "./census";

const HOUR = 3_600_000;
const leaf = (kind: ReadLeaf["kind"], match: string, time: number, outcome = ""): ReadLeaf => ({ kind, match, time, outcome, text: "", game: kind === "commit" ? "toy" : "" });

describe("a log's census", () => {
  const leaves = [
    leaf("commit", "won", 0),
    leaf("start", "won", 1),
    leaf("close", "won", 2, "win"),
    leaf("reveal", "won", 2),
    leaf("commit", "left", 0),
    leaf("close", "left", 5, "void_not_opened"),
    leaf("reveal", "left", 5),
    leaf("commit", "gone", 0),
    leaf("commit", "new", 30 * HOUR - 1),
    leaf("commit", "long", 0),
    leaf("start", "long", 1),
    leaf("commit", "shut", 0),
    leaf("start", "shut", 1),
    leaf("close", "shut", 2, "draw"),
  ];

  it("adds up: every promise is started, void, in its handshake, or silent", () => {
    const found = census(leaves, 30 * HOUR);
    expect(found).toMatchObject({ promised: 6, started: 3, finished: 2, handshakes: 1, running: 1, faults: 0 });
    expect(found.silent.map((story) => story.matchId)).toEqual(["gone"]);
    expect(found.sealed.map((story) => story.matchId)).toEqual(["shut"]);
    expect([...found.voids]).toEqual([["void_not_opened", 1]]);
    const voids = [...found.voids.values()].reduce((a, b) => a + b, 0);
    expect(found.promised).toBe(found.started + voids + found.handshakes + found.silent.length);
  });

  it("counts what contradicts itself", () => {
    const twice = [leaf("commit", "a", 0), leaf("commit", "a", 1), leaf("start", "b", 1), leaf("start", "a", 1), leaf("start", "a", 2), null];
    expect(census(twice, 10)).toMatchObject({ promised: 1, started: 1, faults: 4 });
  });
});
