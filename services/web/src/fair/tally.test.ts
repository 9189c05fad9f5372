import { describe, expect, it } from "vitest";

import { DRAW, type Draw } from "./log";
import { chiSquaredTail, corrected, Tally } from "./tally";

/** A small generator with a known seed: tests of chance must not be chancy. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffled(n: number, next: () => number): number[] {
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [order[i], order[j]] = [order[j] as number, order[i] as number];
  }
  return order;
}

const shuffle = (results: readonly number[]): Draw => ({ label: "deck", kind: DRAW.shuffle, bound: results.length, results });

describe("tails", () => {
  it.each([
    [3.841458820694124, 1, 0.05],
    [18.307038053275146, 10, 0.05],
    [29.58829844507442, 10, 0.001],
    [124.34211340400408, 100, 0.05],
    [3969, 3969, 0.4970152],
  ])("chi-squared %d with %d degrees", (value, degrees, p) => {
    expect(chiSquaredTail(value, degrees)).toBeCloseTo(p, 6);
  });

  it("corrects by Holm", () => {
    expect(corrected([0.01, 0.04, 0.03])).toEqual([0.03, 0.06, 0.06]);
  });
});

describe("tests of draws", () => {
  it("finds nothing in fair ones", () => {
    const next = numbers(1);
    const tally = new Tally();
    for (let n = 0; n < 400; n++) tally.add([shuffle(shuffled(52, next)), { label: `draw/${n}`, kind: DRAW.below, bound: 102, results: [Math.floor(next() * 102)] }]);
    const found = tally.results();
    expect(found.map((one) => one.test)).toEqual(["positions", "neighbours", "rises", "runs", "gaps"]);
    for (const { p } of found) expect(p).toBeGreaterThan(0.001);
    const grid = tally.grid(13);
    expect(grid?.counts.flat().reduce((a, b) => a + b, 0)).toBe(400 * 52);
  });

  it("finds a deck cut instead of shuffled", () => {
    const next = numbers(2);
    const tally = new Tally();
    for (let n = 0; n < 100; n++) {
      const cut = Math.floor(next() * 52);
      tally.add([shuffle(Array.from({ length: 52 }, (_, i) => (i + cut) % 52))]);
    }
    const p = Object.fromEntries(tally.results().map((one) => [one.test, one.p]));
    expect(p["neighbours"]).toBeLessThan(1e-9);
    expect(p["rises"]).toBeLessThan(1e-9);
  });

  it("finds a coin that alternates, and one that leans", () => {
    const tally = new Tally();
    for (let n = 0; n < 200; n++) tally.add([{ label: "first", kind: DRAW.below, bound: 2, results: [n % 2] }]);
    const p = Object.fromEntries(tally.results().map((one) => [one.test, one.p]));
    expect(p["runs"]).toBeLessThan(1e-9);
    expect(p["gaps"]).toBeLessThan(1e-9);
    expect(p["positions"]).toBe(1);
  });
});
