/** Columns and rows of the yard. */
export const COLUMNS = 5;
export const ROWS = 7;
/** The picture's own units: a space is so wide, whatever it is on the screen. */
export const UNIT = 100;

/** A space of the yard as it always is. */
export interface Plot {
  readonly id: string;
  readonly kind: "plain" | "deposit" | "terrace" | "pit";
  readonly deposit: boolean;
  /** Whose terrace it belongs to. */
  readonly terrace: number | null;
}

// From the top: `.` plain, `o` deposit, `#` pit, `b` `r` terrace, `B` `R` with its deposit. A test compares it with the game's data.
const YARD = [".rRr.", "o.r.o", ".#.#.", "o.o.o", ".#.#.", "o.b.o", ".bBb."];

/** All spaces, a1 first. */
export const PLOTS: readonly Plot[] = YARD.toReversed().flatMap((row, y) =>
  [...row].map((sign, x) => ({
    id: `${String.fromCharCode(97 + x)}${y + 1}`,
    kind: sign === "." ? "plain" : sign === "o" ? "deposit" : sign === "#" ? "pit" : "terrace",
    deposit: "oBR".includes(sign),
    terrace: "bB".includes(sign) ? 0 : "rR".includes(sign) ? 1 : null,
  })),
);

/** Where a space is drawn: column from the left, row from the top. */
export interface Place {
  readonly column: number;
  readonly row: number;
}

/** `a4` as the board's data has it: x from column a, y from row 1. */
export function spotOf(space: string): { readonly x: number; readonly y: number } {
  return { x: space.charCodeAt(0) - 97, y: Number(space.slice(1)) };
}

/** One's own terrace lies below: red sees the yard turned by 180 degrees. */
export function placeOf(space: string, seat: number | null): Place {
  const { x, y } = spotOf(space);
  return seat === 1 ? { column: COLUMNS - 1 - x, row: y - 1 } : { column: x, row: ROWS - y };
}

/** Side of a space in pixels, for a box that has room for the yard alone; never so small that a finger misses it. */
export function cellSize(width: number, height: number): number {
  return Math.max(44, Math.min(108, Math.floor(width / COLUMNS), Math.floor(height / ROWS)));
}

/** A threat on a border, in the picture's units: where its wedge points, as a turn of one that points up. */
export interface Wedge {
  readonly x: number;
  readonly y: number;
  readonly turn: number;
}

/** The wedge of a group on the border between two spaces; `aside`: another one points the other way there. */
export function wedgeOf(origin: string, target: string, seat: number | null, aside = false): Wedge {
  const from = placeOf(origin, seat);
  const to = placeOf(target, seat);
  const [dx, dy] = [to.column - from.column, to.row - from.row];
  const shift = aside ? 15 : 0;
  return {
    x: (from.column + to.column + 1) * (UNIT / 2) - dy * shift,
    y: (from.row + to.row + 1) * (UNIT / 2) + dx * shift,
    turn: dy < 0 ? 0 : dx > 0 ? 90 : dy > 0 ? 180 : 270,
  };
}

/** Boxes of what lies on a space, in its own units: whatever is there, nothing covers anything (W-WG-2). */
export const BADGES = {
  /** The lantern of who stands there. */
  lantern: { x: 65, y: 3, width: 32, height: 32 },
  /** Water, whoever stands there. */
  water: { x: 3, y: 74, width: 33, height: 23 },
  /** The beetle of a possessed gnome. */
  rider: { x: 64, y: 63, width: 33, height: 34 },
} as const;

/** Half the width of a wedge at its base, and how far it reaches into each of its spaces. */
export const WEDGE = { half: 14, back: 13, tip: 21 } as const;

/** Where the pests of a space stand in it, and their radius: alone, side by side, or at their gnome's corner. */
export function pestsAt(count: number, riding: boolean): readonly { readonly x: number; readonly y: number; readonly r: number }[] {
  const { x, y, width, height } = BADGES.rider;
  if (riding) return [{ x: x + width / 2, y: y + height / 2, r: width / 2 }];
  return count > 1 ? [{ x: 29, y: 52, r: 21 }, { x: 71, y: 52, r: 21 }] : [{ x: 50, y: 52, r: 29 }];
}
