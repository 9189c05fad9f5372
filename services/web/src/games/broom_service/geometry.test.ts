import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import type { PlacedTile, TowerView } from "../../gen/grimoire/games/broom_service/v1/broom_service_pb";
import { centreOf, letterAt, plotsOf, RADIUS, sizeOf, spotsOf, UNIT } from "./geometry";

const data = JSON.parse(readFileSync("../broom_service/data/broom_service.json", "utf8")) as {
  boards: {
    id: string;
    regions: { id: string; terrain: string; hex: [number, number]; adjacent: string[]; castle: boolean; stone_circle: string | null; tile_site: string | null }[];
    towers: { id: string; touches: string[] }[];
  }[];
};

/** Towers of a side, and a tile on each site. */
function laidOn(board: (typeof data.boards)[number]): { towers: TowerView[]; tiles: PlacedTile[] } {
  const towers = board.towers.map(({ id, touches }) => ({ tower: id, touches }) as unknown as TowerView);
  const tiles = board.regions.filter(({ tile_site: site }) => site !== null).map(({ id }) => ({ region: id, tile: "some" }) as unknown as PlacedTile);
  return { towers, tiles };
}

describe.each(data.boards)("the $id of the board", (board) => {
  it("is the one of the game's data", () => {
    const told = board.regions.map(({ id, terrain, castle, stone_circle: circle, hex }) => ({ id, terrain, castle, circle: circle ?? "", column: hex[0], row: hex[1] }));
    expect(plotsOf(board.id)).toEqual(told);
  });

  it.each([false, true])("draws no symbol on another (W-BS-1); turned: %s", (turned) => {
    const { towers, tiles } = laidOn(board);
    const spots = [...spotsOf(board.id, towers, tiles, turned)].map(([key, at]) => ({ key, at, r: RADIUS.tower }));
    const centres = plotsOf(board.id).map((plot) => ({ key: plot.id, at: centreOf(plot, turned), r: RADIUS.centre }));
    const all = [...spots, ...centres];
    const deep = all.flatMap((a, n) => all.slice(n + 1).map((b) => [a.key, b.key, a.r + b.r - Math.hypot(a.at.x - b.at.x, a.at.y - b.at.y)] as const)).filter(([, , by]) => by > 1);
    expect(deep).toEqual([]);
    const letters = plotsOf(board.id).map((plot) => letterAt(plot, spotsOf(board.id, towers, tiles, turned), turned));
    for (const letter of letters) for (const { at, r } of spots) expect(Math.hypot(letter.x - at.x, letter.y - at.y)).toBeGreaterThan(r + 5);
    const { width, height } = sizeOf(turned);
    for (const { at, r } of spots) expect(at.x > r && at.y > r && at.x < width - r && at.y < height - r).toBe(true);
  });

  it("puts neighbours side by side", () => {
    const at = new Map(plotsOf(board.id).map((plot) => [plot.id, centreOf(plot, false)]));
    for (const { id, adjacent } of board.regions) {
      for (const other of adjacent) {
        const [a, b] = [at.get(id), at.get(other)];
        expect(a !== undefined && b !== undefined && Math.hypot(a.x - b.x, a.y - b.y)).toBeCloseTo(UNIT);
      }
    }
  });
});
