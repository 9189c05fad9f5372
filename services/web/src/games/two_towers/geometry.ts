/** Where things stand in a scene of this size; a battlefield's heights and the box are all it needs. Pixels. */
export interface Geometry {
  readonly width: number;
  readonly height: number;
  /** The ground's y. */
  readonly ground: number;
  /** The goal line's y: the tower's full height. */
  readonly goal: number;
  readonly towers: readonly [number, number];
  readonly walls: readonly [number, number];
  readonly towerWidth: number;
  readonly wallWidth: number;
  readonly roof: number;
}

export function geometryOf(width: number, height: number): Geometry {
  const narrow = width < 560;
  const band = narrow ? 30 : 44;
  const roof = Math.min(narrow ? 26 : 54, height * 0.16);
  const ground = Math.max(40, height - band);
  const towerWidth = Math.round(Math.min(112, Math.max(46, width * 0.125)));
  const wallWidth = Math.round(Math.min(64, Math.max(30, width * 0.075)));
  const edge = narrow ? Math.max(towerWidth / 2 + 8, width * 0.11) : width * 0.16;
  const gap = towerWidth / 2 + wallWidth / 2 + (narrow ? 12 : Math.min(56, width * 0.05));
  return {
    width,
    height,
    ground,
    goal: roof + 16,
    towers: [edge, width - edge],
    walls: [edge + gap, width - edge - gap],
    towerWidth,
    wallWidth,
    roof,
  };
}

/** The height of a value on the one scale of towers and walls; never more than the box has room for. */
export function heightOf(value: number, goalTower: number, { ground, goal }: Geometry): number {
  const full = ground - goal;
  return Math.min(full + 10, Math.round((Math.max(0, value) * full) / Math.max(1, goalTower)));
}

/** It stands out of the picture: drawn with a torn edge. */
export function isCut(value: number, goalTower: number): boolean {
  return value > goalTower;
}
