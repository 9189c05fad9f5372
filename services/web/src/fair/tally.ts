/** Do the draws of many matches look drawn? Five tests for each game; the formulas stand in the statistics page of the fairness library. */
import { DRAW, type Draw } from "./log";

/** Places and cards are counted in so many neighbouring blocks at most. */
const CELLS = 64;
/** Fewer than this expected in a cell, and cells are joined. */
const EXPECTED = 5;
/** Draws from which on sums are taken for normal. */
const ENOUGH = 30;
const GAPS = 8;

export type Test = "positions" | "neighbours" | "rises" | "runs" | "gaps";

export interface TestResult {
  readonly test: Test;
  /** Chi-squared, or z where there are no degrees of freedom. */
  readonly statistic: number;
  readonly degrees: number;
  readonly draws: number;
  /** How likely fair draws are to go at least so far. */
  readonly p: number;
}

/** How often cards of one block came to places of another, with what is expected. */
export interface Grid {
  readonly label: string;
  readonly bound: number;
  readonly shuffles: number;
  readonly sizes: readonly number[];
  readonly counts: readonly (readonly number[])[];
}

interface Term {
  readonly value: number;
  readonly degrees: number;
  readonly draws: number;
}

const NOTHING: Term = { value: 0, degrees: 0, draws: 0 };

/** All draws of one game. Matches come in the order in which they were promised. */
export class Tally {
  readonly #shuffles = new Map<string, Shuffles>();
  readonly #samples = new Map<string, Samples>();
  readonly #numbers = new Map<string, Numbers>();
  matches = 0;
  draws = 0;

  add(draws: readonly Draw[]): void {
    this.matches += 1;
    for (const draw of draws) if (draw.bound >= 2) this.#take(draw);
  }

  #take({ label, kind, bound, results }: Draw): void {
    this.draws += 1;
    const pattern = label
      .split("/")
      .map((piece) => (/^\d+$/.test(piece) ? "*" : piece))
      .join("/");
    if (kind === DRAW.below) made(this.#numbers, `${pattern} ${bound}`, () => new Numbers(bound)).take(results[0] ?? 0);
    else if (results.length === bound) made(this.#shuffles, `${pattern} ${bound}`, () => new Shuffles(pattern, bound)).take(results);
    else if (results.length > 0) {
      made(this.#samples, `${pattern} ${bound} ${results.length}`, () => new Samples(bound, results.length)).take(results);
    }
  }

  /** All tests for which there are enough draws. */
  results(): TestResult[] {
    const shuffles = [...this.#shuffles.values()];
    const numbers = [...this.#numbers.values()];
    const halves = [...shuffles, ...numbers].map((group) => group.halves);
    const found = [
      added("positions", [...shuffles, ...this.#samples.values(), ...numbers].map((group) => group.positions())),
      normal("neighbours", shuffles.map((group) => group.neighbours)),
      normal("rises", shuffles.map((group) => group.rises)),
      added("runs", halves.map((one) => one.runs())),
      added("gaps", halves.map((one) => one.gaps())),
    ];
    return found.filter((one) => one !== null);
  }

  /** The shuffles of which there are most, as a grid of at most so many blocks; null: there are none. */
  grid(blocks: number): Grid | null {
    const most = [...this.#shuffles.values()].sort((a, b) => b.count - a.count)[0];
    return most === undefined ? null : most.grid(blocks);
  }
}

function made<T>(groups: Map<string, T>, key: string, make: () => T): T {
  const kept = groups.get(key) ?? make();
  groups.set(key, kept);
  return kept;
}

function added(test: Test, terms: readonly Term[]): TestResult | null {
  const tested = terms.filter((term) => term.degrees > 0);
  const degrees = total(tested.map((term) => term.degrees));
  if (degrees === 0) return null;
  const statistic = total(tested.map((term) => term.value));
  return { test, statistic, degrees, draws: total(tested.map((term) => term.draws)), p: chiSquaredTail(statistic, degrees) };
}

/** Sums of independent counts, with their means and variances. */
class Sum {
  draws = 0;
  over = 0;
  variance = 0;

  add(value: number, mean: number, variance: number): void {
    this.draws += 1;
    this.over += value - mean;
    this.variance += variance;
  }
}

function normal(test: Test, sums: readonly Sum[]): TestResult | null {
  const draws = total(sums.map((one) => one.draws));
  const variance = total(sums.map((one) => one.variance));
  if (draws < ENOUGH || variance <= 0) return null;
  const z = total(sums.map((one) => one.over)) / Math.sqrt(variance);
  // Both tails of the normal are the upper tail of its square.
  return { test, statistic: z, degrees: 0, draws, p: chiSquaredTail(z * z, 1) };
}

/** A sequence reduced to low and high. */
class Halves {
  readonly #middle: number;
  readonly #low: number;
  readonly #counts = { low: 0, high: 0 };
  readonly #waits: number[] = Array<number>(GAPS + 1).fill(0);
  #runs = 0;
  #wasLow: boolean | null = null;
  #since: number | null = null;

  constructor(bound: number) {
    this.#middle = Math.floor(bound / 2);
    this.#low = this.#middle / bound;
  }

  take(value: number): void {
    const low = value < this.#middle;
    if (low !== this.#wasLow) this.#runs += 1;
    this.#wasLow = low;
    this.#counts[low ? "low" : "high"] += 1;
    if (!low) {
      if (this.#since !== null) this.#since += 1;
      return;
    }
    if (this.#since !== null) bump(this.#waits, Math.min(this.#since, GAPS));
    this.#since = 0;
  }

  /** Wald and Wolfowitz. */
  runs(): Term {
    const { low, high } = this.#counts;
    if (Math.min(low, high) < ENOUGH / 2) return NOTHING;
    const mean = (2 * low * high) / (low + high) + 1;
    const variance = ((mean - 1) * (mean - 2)) / (low + high - 1);
    return { value: (this.#runs - mean) ** 2 / variance, degrees: 1, draws: low + high };
  }

  /** Waits for a low one: geometric. */
  gaps(): Term {
    const count = total(this.#waits);
    const high = 1 - this.#low;
    const expected = Array.from({ length: GAPS }, (_, g) => count * this.#low * high ** g);
    expected.push(count * high ** GAPS);
    const observed = [...this.#waits];
    while (expected.length > 1 && (expected.at(-1) ?? 0) < EXPECTED) {
      const [more, seen] = [expected.pop() ?? 0, observed.pop() ?? 0];
      bump(expected, expected.length - 1, more);
      bump(observed, observed.length - 1, seen);
    }
    if (expected.length < 2) return NOTHING;
    return { value: chiSquared(observed, expected), degrees: expected.length - 1, draws: count };
  }
}

class Numbers {
  readonly halves: Halves;
  readonly #cells: number[];

  constructor(readonly bound: number) {
    this.halves = new Halves(bound);
    this.#cells = Array<number>(Math.min(bound, CELLS)).fill(0);
  }

  take(value: number): void {
    bump(this.#cells, Math.floor((value * this.#cells.length) / this.bound));
    this.halves.take(value);
  }

  positions(): Term {
    const count = total(this.#cells);
    let [cells, sizes] = [this.#cells, sizesOf(this.bound, this.#cells.length)];
    while (cells.length > 1 && (count * Math.min(...sizes)) / this.bound < EXPECTED) [cells, sizes] = [joined(cells), joined(sizes)];
    if (cells.length < 2) return NOTHING;
    const expected = sizes.map((size) => (count * size) / this.bound);
    return { value: chiSquared(cells, expected), degrees: cells.length - 1, draws: count };
  }
}

class Samples {
  readonly #cells: number[];
  #count = 0;

  constructor(
    readonly bound: number,
    readonly size: number,
  ) {
    this.#cells = Array<number>(Math.min(bound, CELLS)).fill(0);
  }

  take(results: readonly number[]): void {
    this.#count += 1;
    for (const value of results) bump(this.#cells, Math.floor((value * this.#cells.length) / this.bound));
  }

  positions(): Term {
    const { bound: n, size: m } = this;
    const count = this.#count;
    let [cells, sizes] = [this.#cells, sizesOf(n, this.#cells.length)];
    while (cells.length > 1 && (count * m * Math.min(...sizes)) / n < EXPECTED) [cells, sizes] = [joined(cells), joined(sizes)];
    if (cells.length < 2) return NOTHING;
    const spread = total(cells.map((seen, i) => (seen - (count * m * (sizes[i] ?? 0)) / n) ** 2 / (sizes[i] ?? 1)));
    return { value: (spread * n * (n - 1)) / (count * m * (n - m)), degrees: cells.length - 1, draws: count };
  }
}

class Shuffles {
  readonly halves: Halves;
  readonly neighbours = new Sum();
  readonly rises = new Sum();
  readonly #cells: number[][];
  count = 0;

  constructor(
    readonly label: string,
    readonly bound: number,
  ) {
    this.halves = new Halves(bound);
    const size = Math.min(bound, CELLS);
    this.#cells = Array.from({ length: size }, () => Array<number>(size).fill(0));
  }

  take(results: readonly number[]): void {
    const n = this.bound;
    const cell = (index: number): number => Math.floor((index * this.#cells.length) / n);
    this.count += 1;
    for (const [place, card] of results.entries()) bump(this.#cells[cell(card)] as number[], cell(place));
    let kept = 0;
    let rising = 0;
    for (let i = 1; i < results.length; i++) {
      const [before, after] = [results[i - 1] as number, results[i] as number];
      if (after === before + 1) kept += 1;
      if (after > before) rising += 1;
    }
    const mean = (n - 1) / n;
    this.neighbours.add(kept, mean, (n - 2) / n + mean - mean * mean);
    this.rises.add(rising, (n - 1) / 2, (n + 1) / 12);
    this.halves.take(results[0] ?? 0);
  }

  positions(): Term {
    const n = this.bound;
    const { cells, sizes } = this.#joinedUntil((least) => (this.count * least ** 2) / n >= EXPECTED);
    if (cells.length < 2) return NOTHING;
    const spread = total(
      cells.flatMap((row, i) =>
        row.map((seen, j) => {
          const [a, b] = [sizes[i] ?? 1, sizes[j] ?? 1];
          return (seen - (this.count * a * b) / n) ** 2 / (a * b);
        }),
      ),
    );
    return { value: (spread * (n - 1)) / this.count, degrees: (cells.length - 1) ** 2, draws: this.count };
  }

  grid(blocks: number): Grid {
    const { cells, sizes } = this.#joinedUntil((_, count) => count <= blocks);
    return { label: this.label, bound: this.bound, shuffles: this.count, sizes, counts: cells };
  }

  #joinedUntil(good: (least: number, count: number) => boolean): { cells: number[][]; sizes: number[] } {
    let cells = this.#cells;
    let sizes = sizesOf(this.bound, cells.length);
    while (cells.length > 1 && !good(Math.min(...sizes), cells.length)) {
      sizes = joined(sizes);
      const rows = cells.map(joined);
      cells = Array.from({ length: sizes.length }, (_, i) => (rows[2 * i] ?? []).map((seen, j) => seen + (rows[2 * i + 1]?.[j] ?? 0)));
    }
    return { cells, sizes };
  }
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

function bump(counts: number[], at: number, by = 1): void {
  counts[at] = (counts[at] ?? 0) + by;
}

function chiSquared(observed: readonly number[], expected: readonly number[]): number {
  return total(observed.map((seen, i) => (seen - (expected[i] ?? 1)) ** 2 / (expected[i] ?? 1)));
}

/** How many of 0 … n-1 fall into each of so many cells. */
function sizesOf(n: number, cells: number): number[] {
  const edges = Array.from({ length: cells + 1 }, (_, cell) => Math.ceil((cell * n) / cells));
  return edges.slice(1).map((edge, i) => edge - (edges[i] ?? 0));
}

/** Neighbours joined two and two. */
function joined(cells: readonly number[]): number[] {
  return Array.from({ length: Math.ceil(cells.length / 2) }, (_, i) => (cells[2 * i] ?? 0) + (cells[2 * i + 1] ?? 0));
}

/** Holm's correction: among a thousand true p-values one is below 0.001. */
export function corrected(ps: readonly number[]): number[] {
  const order = ps.map((_, i) => i).sort((a, b) => (ps[a] ?? 1) - (ps[b] ?? 1));
  const found = Array<number>(ps.length).fill(1);
  let worst = 0;
  for (const [rank, i] of order.entries()) {
    worst = Math.max(worst, Math.min(1, (ps.length - rank) * (ps[i] ?? 1)));
    found[i] = worst;
  }
  return found;
}

/** P(X >= value) for chi-squared X: the regularised upper incomplete gamma function. */
export function chiSquaredTail(value: number, degrees: number): number {
  const [a, x] = [degrees / 2, value / 2];
  if (x <= 0) return 1;
  const scale = Math.exp(a * Math.log(x) - x - logGamma(a));
  const tail = x < a + 1 ? 1 - scale * series(a, x) : scale * fraction(a, x);
  return Math.min(1, Math.max(0, tail));
}

function series(a: number, x: number): number {
  let term = 1 / a;
  let sum = term;
  for (let n = 1; n < 100_000 && term > sum * 1e-16; n++) {
    term *= x / (a + n);
    sum += term;
  }
  return sum;
}

/** Lentz's continued fraction. */
function fraction(a: number, x: number): number {
  const tiny = 1e-300;
  let b = x + 1 - a;
  let c = 1 / tiny;
  let d = 1 / b;
  let value = d;
  for (let n = 1; n < 100_000; n++) {
    const factor = -n * (n - a);
    b += 2;
    d = factor * d + b;
    d = 1 / (Math.abs(d) < tiny ? tiny : d);
    c = b + factor / c;
    if (Math.abs(c) < tiny) c = tiny;
    const change = c * d;
    value *= change;
    if (Math.abs(change - 1) < 1e-15) break;
  }
  return value;
}

/** Stirling's series, far enough out that its few terms are exact to the last digits. */
function logGamma(z: number): number {
  let shift = 0;
  let at = z;
  for (; at < 15; at += 1) shift += Math.log(at);
  const inverse = 1 / at;
  const square = inverse * inverse;
  const tail = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))));
  return (at - 0.5) * Math.log(at) - at + 0.5 * Math.log(2 * Math.PI) + tail - shift;
}
