/** Shapes by which seats are told apart, never by colour alone. */
export const MARKS = ["●", "▲", "■", "◆", "✚"] as const;

/** A seat's shape. */
export function markOf(seat: number): string {
  return MARKS[seat] ?? String(seat + 1);
}
