import type { PlacedTile, TowerView } from "../../gen/grimoire/games/broom_service/v1/broom_service_pb";

/** Width of a hexagon in the picture's units, whatever it is on the screen. */
export const UNIT = 100;
const SIDE = UNIT / Math.sqrt(3);
const COLUMNS = 7;
const ROWS = 4;
/** The map that lies; turned by a quarter it stands. */
const WIDTH = (COLUMNS + 0.5) * UNIT;
const HEIGHT = (1.5 * (ROWS - 1) + 2) * SIDE;

/** Half the size of what lies on the map: in the middle of a hexagon, and round it (web brief W-BS-1). */
export const RADIUS = { centre: 0.17 * UNIT, tower: 0.12 * UNIT } as const;
const CORNER = 0.32 * UNIT;
const ASIDE = 0.13 * UNIT;

export type Terrain = "prairie" | "forest" | "hill" | "mountain" | "water";
const TERRAINS: Readonly<Record<string, Terrain>> = { p: "prairie", f: "forest", h: "hill", m: "mountain", w: "water" };

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A region as it always is. */
export interface Plot {
  readonly id: string;
  readonly terrain: Terrain;
  readonly castle: boolean;
  /** Letter of its stone circle; empty: none. */
  readonly circle: string;
  readonly column: number;
  readonly row: number;
}

// Regions by their hexagons, from the top; odd rows are shifted right by half a hexagon. A test compares it with the game's data.
const MAPS: Readonly<Record<string, { rows: readonly string[]; castles: readonly string[]; circles: Readonly<Record<string, string>> }>> = {
  front: {
    rows: ["p1 f1 h1 p2 w1 f2 m1", "h2 p3 f3 m2 p4 h3 f4", "w2 f5 h4 p5 f6 h5 p6", "m3 p7 f7 h6 w3 p8 w4"],
    castles: ["p3", "f6"],
    circles: {},
  },
  back: {
    rows: ["f1 p1 h1 p2 w1 p3 w2", "p4 m1 p5 f2 w3 w4 h2", "h3 p6 w5 p7 m2 w6 p8", "m3 f3 p9 h4 w7 f4 p10"],
    castles: ["p1", "p9"],
    circles: { p4: "A", p10: "B", p7: "C", p3: "D" },
  },
};

const PLOTS = new Map(
  Object.entries(MAPS).map(([board, { rows, castles, circles }]) => [
    board,
    rows.flatMap((line, row) =>
      line.split(" ").map((id, column): Plot => ({ id, terrain: TERRAINS[id.charAt(0)] ?? "water", castle: castles.includes(id), circle: circles[id] ?? "", column, row })),
    ),
  ]),
);

/** Regions of a side of the board, row by row from the top left. */
export function plotsOf(board: string): readonly Plot[] {
  return PLOTS.get(board) ?? [];
}

/** The picture's size in its own units. */
export function sizeOf(turned: boolean): { readonly width: number; readonly height: number } {
  return turned ? { width: HEIGHT, height: WIDTH } : { width: WIDTH, height: HEIGHT };
}

/** Width of a hexagon on the screen, for a map that has so much room; never so small that a finger misses it. */
export function hexSize(width: number, height: number, turned: boolean): number {
  const whole = sizeOf(turned);
  return Math.max(44, Math.min(118, Math.floor(Math.min(width / (whole.width / UNIT), height / (whole.height / UNIT)))));
}

/** A point of the lying map where it is drawn. */
function drawn({ x, y }: Point, turned: boolean): Point {
  return turned ? { x: HEIGHT - y, y: x } : { x, y };
}

function middle({ column, row }: Plot): Point {
  return { x: (column + 0.5 + (row % 2) / 2) * UNIT, y: (1 + 1.5 * row) * SIDE };
}

/** The middle of a region. */
export function centreOf(plot: Plot, turned: boolean): Point {
  return drawn(middle(plot), turned);
}

/** Corners of a hexagon around its middle, as an SVG path; `inset` in units. */
export function hexagon(turned: boolean, inset = 0): string {
  const r = SIDE - inset;
  const corners = corner(turned ? 0 : 30, r);
  return `M${corners.map(({ x, y }) => `${x.toFixed(2)} ${y.toFixed(2)}`).join("L")}Z`;
}

function corner(first: number, r: number): readonly Point[] {
  return Array.from({ length: 6 }, (_, n) => ({ x: r * Math.cos(((first + 60 * n) * Math.PI) / 180), y: r * Math.sin(((first + 60 * n) * Math.PI) / 180) }));
}

function mean(points: readonly Point[]): Point {
  const sum = points.reduce((a, b) => ({ x: a.x + b.x, y: a.y + b.y }), { x: 0, y: 0 });
  return { x: sum.x / points.length, y: sum.y / points.length };
}

function apart(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** Where the towers and tiles of a match are drawn, by id of the tower and `tile:<region>`. */
export type Spots = ReadonlyMap<string, Point>;

/**
 * Towers of several regions stand on what these share, two of the same regions a little along it; those of one region, and
 * tiles, in the corner of it that is farthest from all others. Covered towers keep their places, so that no other one moves.
 */
export function spotsOf(board: string, towers: readonly TowerView[], tiles: readonly PlacedTile[], turned: boolean): Spots {
  const plots = new Map(plotsOf(board).map((plot) => [plot.id, middle(plot)]));
  const laid = new Map<string, Point>();
  const sharing = new Map<string, TowerView[]>();
  for (const tower of towers) {
    if (tower.touches.length < 2) continue;
    const key = [...tower.touches].sort().join(" ");
    sharing.set(key, [...(sharing.get(key) ?? []), tower]);
  }
  for (const group of sharing.values()) {
    const regions = (group[0]?.touches ?? []).flatMap((id) => plots.get(id) ?? []);
    const at = mean(regions);
    const [a, b] = regions;
    // Along the edge is across the line between the two middles.
    const along = a === undefined || b === undefined ? { x: 0, y: 0 } : { x: -(b.y - a.y) / apart(a, b), y: (b.x - a.x) / apart(a, b) };
    group.forEach((tower, n) => {
      const by = group.length === 1 ? 0 : ASIDE * (2 * n - (group.length - 1));
      laid.set(tower.tower, { x: at.x + along.x * by, y: at.y + along.y * by });
    });
  }
  const inCorner = (key: string, region: string): void => {
    const at = plots.get(region);
    if (at === undefined) return;
    const others = [...laid.values()];
    const room = (point: Point) => Math.min(...others.map((other) => apart(point, other)), UNIT);
    const corners = corner(30, CORNER).map(({ x, y }) => ({ x: at.x + x, y: at.y + y }));
    laid.set(key, corners.reduce((best, next) => (room(next) > room(best) + 1e-6 ? next : best)));
  };
  const vat = tiles.find(({ tile }) => tile === "h_vat")?.region;
  for (const { tower, touches } of towers) if (touches.length === 1 && !(touches[0] === vat && tower === "h_vat")) inCorner(tower, touches[0] ?? "");
  for (const { region } of tiles) inCorner(`tile:${region}`, region);
  return new Map([...laid].map(([key, point]) => [key, drawn(point, turned)]));
}

/** Where up to four pawns stand around the middle of a region; more are counted. */
export function pawnsAt(count: number): readonly Point[] {
  const d = 0.085 * UNIT;
  const places: readonly (readonly Point[])[] = [
    [],
    [{ x: 0, y: 0 }],
    [{ x: -d, y: 0 }, { x: d, y: 0 }],
    [{ x: -d, y: d }, { x: d, y: d }, { x: 0, y: -d }],
    [{ x: -d, y: -d }, { x: d, y: -d }, { x: -d, y: d }, { x: d, y: d }],
  ];
  return places[Math.min(count, 4)] ?? [];
}

/** Where a region's letter is drawn: beside its middle, away from all that lies there. */
export function letterAt(plot: Plot, spots: Spots, turned: boolean): Point {
  const at = centreOf(plot, turned);
  const room = (point: Point) => Math.min(...[...spots.values()].map((other) => apart(point, other)), UNIT);
  const places = Array.from({ length: 12 }, (_, n) => ({ x: at.x + 0.38 * UNIT * Math.cos((n * Math.PI) / 6), y: at.y + 0.38 * UNIT * Math.sin((n * Math.PI) / 6) }));
  return places.reduce((best, next) => (room(next) > room(best) + 1e-6 ? next : best));
}
