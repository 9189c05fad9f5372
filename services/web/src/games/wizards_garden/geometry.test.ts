import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { BADGES, cellSize, PLOTS, placeOf, UNIT, WEDGE, wedgeOf } from "./geometry";

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const data = JSON.parse(readFileSync("../wizards_garden/data/wizards_garden.json", "utf8")) as {
  board: { spaces: { id: string; kind: string; has_deposit: boolean; terrace_owner: string | null; x: number; y: number; adjacent: string[] }[] };
};
const spaces = data.board.spaces;

/** How deep two boxes lie in each other; negative: they do not touch. */
function overlap(a: Box, b: Box): number {
  const wide = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const high = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return Math.min(wide, high);
}

describe("the yard", () => {
  it("is the one of the game's data", () => {
    const told = (id: string, kind: string, deposit: boolean, terrace: number | null) => ({ id, kind, deposit, terrace });
    const owners = ["blue", "red"];
    expect([...PLOTS].sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
      [...spaces]
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .map((each) => told(each.id, each.kind, each.has_deposit, each.terrace_owner === null ? null : owners.indexOf(each.terrace_owner))),
    );
  });

  it("has one's own terrace below, whichever seat one has (W-WG-1)", () => {
    for (const { id, x, y } of spaces) {
      expect(placeOf(id, 0)).toEqual({ column: x, row: 7 - y });
      expect(placeOf(id, null)).toEqual(placeOf(id, 0));
      expect(placeOf(id, 1)).toEqual({ column: 4 - x, row: y - 1 });
    }
    expect([placeOf("c1", 0).row, placeOf("c7", 1).row]).toEqual([6, 6]);
  });

  it("has spaces that fingers hit, and no more of them than fit", () => {
    for (const [width, height] of [[285, 399], [500, 720], [900, 500], [200, 200]] as const) {
      const side = cellSize(width, height);
      expect(side).toBeGreaterThanOrEqual(44);
      if (side > 44) expect(side * 5 <= width && side * 7 <= height).toBe(true);
    }
  });
});

describe("threats on borders", () => {
  it.each([0, 1])("point from their origin to their target, seen from seat %i", (seat) => {
    for (const { id, adjacent } of spaces) {
      for (const target of adjacent) {
        const { x, y, turn } = wedgeOf(id, target, seat);
        const [from, to] = [placeOf(id, seat), placeOf(target, seat)];
        const [dx, dy] = [Math.round(Math.sin((turn * Math.PI) / 180)), -Math.round(Math.cos((turn * Math.PI) / 180))];
        expect([from.column + dx, from.row + dy]).toEqual([to.column, to.row]);
        expect([x, y]).toEqual([(from.column + to.column + 1) * (UNIT / 2), (from.row + to.row + 1) * (UNIT / 2)]);
      }
    }
  });

  it("lie beside each other where two threaten each other", () => {
    const [one, other] = [wedgeOf("c4", "c5", 0, true), wedgeOf("c5", "c4", 0, true)];
    expect(Math.abs(one.x - other.x)).toBeGreaterThanOrEqual(2 * WEDGE.half);
  });
});

it("covers nothing where a bearer with water is threatened from all sides (W-WG-2)", () => {
  const size = 57;
  const { half, back, tip } = WEDGE;
  const middle = UNIT / 2;
  const wedges: Box[] = [
    { x: middle - half, y: -back, width: 2 * half, height: back + tip },
    { x: middle - half, y: UNIT - tip, width: 2 * half, height: back + tip },
    { x: -back, y: middle - half, width: back + tip, height: 2 * half },
    { x: UNIT - tip, y: middle - half, width: back + tip, height: 2 * half },
  ];
  const boxes: Box[] = [BADGES.lantern, BADGES.water, BADGES.rider, ...wedges];
  for (const [n, one] of boxes.entries()) {
    for (const other of boxes.slice(n + 1)) expect((overlap(one, other) * size) / UNIT).toBeLessThanOrEqual(4);
  }
  for (const badge of Object.values(BADGES)) expect(badge.x >= 0 && badge.x + badge.width <= UNIT && badge.y >= 0 && badge.y + badge.height <= UNIT).toBe(true);
});
