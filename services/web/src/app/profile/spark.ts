/** A line of ratings as an SVG path, and where its band of uncertainty lies. */
export interface Spark {
  readonly line: string;
  readonly band: string;
  /** Of the last point. */
  readonly x: number;
  readonly y: number;
  readonly low: number;
  readonly high: number;
}

export interface Point {
  readonly points: number;
  readonly deviation: number;
}

/**
 * The picture of a history of ratings, oldest first, in a box of `width` x `height`.
 *
 * The band is two deviations wide on each side: that is where the truth likely lies.
 */
export function spark(history: readonly Point[], width: number, height: number): Spark | null {
  const last = history.at(-1);
  if (last === undefined) return null;
  const low = Math.min(...history.map((point) => point.points - 2 * point.deviation));
  const high = Math.max(...history.map((point) => point.points + 2 * point.deviation));
  const span = Math.max(1, high - low);
  const x = (n: number): number => (history.length === 1 ? width : (n / (history.length - 1)) * width);
  const y = (points: number): number => height - ((points - low) / span) * height;
  const at = (n: number, points: number): string => `${x(n).toFixed(1)} ${y(points).toFixed(1)}`;
  const upper = history.map((point, n) => at(n, point.points + 2 * point.deviation));
  const lower = history.map((point, n) => at(n, point.points - 2 * point.deviation)).toReversed();
  return {
    line: `M${history.map((point, n) => at(n, point.points)).join("L")}`,
    band: `M${[...upper, ...lower].join("L")}Z`,
    x: x(history.length - 1),
    y: y(last.points),
    low,
    high,
  };
}
