/** Draws: words from a keyed stream, and what is made of them. */
import { type Bytes, utf8 } from "./bytes";
import { text } from "./formulas";
import type { Hasher } from "./hasher";

const WORDS = 2n ** 64n;
export const MAX_BOUND = 2 ** 32;

/** One word of a stream as it was used: its place, and whether it was rejected to keep all results equally likely. */
export interface UsedWord {
  readonly number: number;
  readonly word: bigint;
  readonly bound: number;
  readonly rejected: boolean;
  readonly result: number;
}

type Keyed = (data: Bytes) => Promise<Bytes>;

/** The stream of one label. */
export class Stream {
  readonly #game: string;
  readonly #keyed: Keyed;
  readonly #label: string;
  #block = new DataView(new ArrayBuffer(0));
  #next = 0;
  /** Every word used, where it was asked for. */
  readonly trace: UsedWord[] | null;

  constructor(game: string, keyed: Keyed, label: string, { traced = false } = {}) {
    this.#game = game;
    this.#keyed = keyed;
    this.#label = label;
    this.trace = traced ? [] : null;
  }

  /** How many words were used so far. */
  get used(): number {
    return this.#next;
  }

  async word(): Promise<bigint> {
    const place = this.#next % 4;
    if (place === 0) {
      const block = await this.#keyed(utf8(text.block(this.#game, this.#label, this.#next / 4)));
      this.#block = new DataView(block.buffer);
    }
    this.#next += 1;
    return this.#block.getBigUint64(8 * place);
  }

  /** A number from 0 to n-1, each as likely as any other; 1 <= n <= 2^32. */
  async below(n: number): Promise<number> {
    if (!Number.isInteger(n) || n < 1 || n > MAX_BOUND) throw new RangeError("a bound is from 1 to 2^32");
    const bound = BigInt(n);
    const limit = (WORDS / bound) * bound;
    for (;;) {
      const number = this.#next;
      const word = await this.word();
      const rejected = word >= limit;
      const result = Number(word % bound);
      this.trace?.push({ number, word, bound: n, rejected, result });
      if (!rejected) return result;
    }
  }

  /** For each place of a shuffle of n things, which one comes there. Place 0 is the top. */
  async shuffle(n: number): Promise<number[]> {
    const order = Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i--) swap(order, i, await this.below(i + 1));
    return order;
  }

  /** k out of n things, in the order in which they come. */
  async sample(n: number, k: number): Promise<number[]> {
    const order = Array.from({ length: n }, (_, i) => i);
    for (let t = 0; t < k; t++) swap(order, t, t + (await this.below(n - t)));
    return order.slice(0, k);
  }
}

function swap(order: number[], a: number, b: number): void {
  const kept = order[a] as number;
  order[a] = order[b] as number;
  order[b] = kept;
}

export async function streamOf(hasher: Hasher, game: string, joint: Bytes, label: string, traced = false): Promise<Stream> {
  return new Stream(game, await hasher.hmac(joint), label, { traced });
}
