import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { geometryOf, heightOf } from "./geometry";

const GOALS = [50, 75, 100, 125, 150, 200];

describe("the scene", () => {
  it("keeps everything inside the box and apart from each other, whatever the size", () => {
    fc.assert(
      fc.property(fc.integer({ min: 300, max: 1600 }), fc.integer({ min: 110, max: 900 }), (width, height) => {
        const geo = geometryOf(width, height);
        const [left, right] = geo.towers;
        const half = geo.towerWidth / 2;
        expect(left - half).toBeGreaterThanOrEqual(0);
        expect(right + half).toBeLessThanOrEqual(width);
        expect(geo.walls[0] - geo.wallWidth / 2).toBeGreaterThan(left + half);
        expect(geo.walls[1] + geo.wallWidth / 2).toBeLessThan(right - half);
        expect(geo.walls[0] + geo.wallWidth / 2).toBeLessThan(geo.walls[1] - geo.wallWidth / 2);
        expect(geo.goal - geo.roof).toBeGreaterThan(0);
        expect(geo.ground).toBeGreaterThan(geo.goal);
        expect(geo.ground).toBeLessThan(height);
      }),
    );
  });

  it("draws towers and walls on one scale up to the goal, and never out of the box", () => {
    for (const goal of GOALS) {
      const geo = geometryOf(960, 400);
      expect(heightOf(0, goal, geo)).toBe(0);
      expect(heightOf(goal, goal, geo)).toBe(geo.ground - geo.goal);
      expect(heightOf(goal / 2, goal, geo)).toBe(Math.round((geo.ground - geo.goal) / 2));
      expect(heightOf(500, goal, geo)).toBeLessThan(geo.ground);
    }
  });
});
