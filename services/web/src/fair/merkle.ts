/** The tree of the transparency log: RFC 6962's hashes, RFC 9162's verification (2.1.3.2 and 2.1.4.2). */
import { type Bytes, join, same } from "./bytes";
import type { Hasher } from "./hasher";

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

export function leafHash(hasher: Hasher, leaf: Bytes): Promise<Bytes> {
  return hasher.sha256(join(LEAF, leaf));
}

export function nodeHash(hasher: Hasher, left: Bytes, right: Bytes): Promise<Bytes> {
  return hasher.sha256(join(NODE, left, right));
}

/** The root that a leaf's hash and its proof lead to in a tree of `size` leaves; null: the proof has another length. */
export async function rootByInclusion(
  hasher: Hasher,
  number: number,
  size: number,
  leaf: Bytes,
  path: readonly Bytes[],
): Promise<Bytes | null> {
  if (number >= size) return null;
  let place = BigInt(number);
  let last = BigInt(size) - 1n;
  let root = leaf;
  for (const sibling of path) {
    if (last === 0n) return null;
    if ((place & 1n) === 1n || place === last) {
      root = await nodeHash(hasher, sibling, root);
      while (place !== 0n && (place & 1n) === 0n) {
        place >>= 1n;
        last >>= 1n;
      }
    } else {
      root = await nodeHash(hasher, root, sibling);
    }
    place >>= 1n;
    last >>= 1n;
  }
  return last === 0n ? root : null;
}

/** Whether the tree of `to` leaves begins with the tree of `from` leaves. */
export async function isConsistent(
  hasher: Hasher,
  from: number,
  to: number,
  fromRoot: Bytes,
  toRoot: Bytes,
  path: readonly Bytes[],
): Promise<boolean> {
  if (from > to) return false;
  if (from === to) return path.length === 0 && same(fromRoot, toRoot);
  if (from === 0) return path.length === 0;
  const whole = isPowerOfTwo(from) ? [fromRoot, ...path] : path;
  const first = whole[0];
  if (first === undefined) return false;
  let place = BigInt(from) - 1n;
  let last = BigInt(to) - 1n;
  while ((place & 1n) === 1n) {
    place >>= 1n;
    last >>= 1n;
  }
  let old = first;
  let now = first;
  for (const node of whole.slice(1)) {
    if (last === 0n) return false;
    if ((place & 1n) === 1n || place === last) {
      old = await nodeHash(hasher, node, old);
      now = await nodeHash(hasher, node, now);
      while (place !== 0n && (place & 1n) === 0n) {
        place >>= 1n;
        last >>= 1n;
      }
    } else {
      now = await nodeHash(hasher, now, node);
    }
    place >>= 1n;
    last >>= 1n;
  }
  return last === 0n && same(old, fromRoot) && same(now, toRoot);
}

function isPowerOfTwo(n: number): boolean {
  const big = BigInt(n);
  return (big & (big - 1n)) === 0n;
}

/** The root of a tree, leaf by leaf; holds one hash per level only. */
export class Tree {
  readonly #hasher: Hasher;
  /** Roots of perfect subtrees with their heights, left to right. */
  readonly #peaks: { height: number; root: Bytes }[] = [];
  size = 0;

  constructor(hasher: Hasher) {
    this.#hasher = hasher;
  }

  async add(leaf: Bytes): Promise<void> {
    this.size += 1;
    let root = await leafHash(this.#hasher, leaf);
    let height = 0;
    for (let peak = this.#peaks.at(-1); peak?.height === height; peak = this.#peaks.at(-1)) {
      this.#peaks.pop();
      root = await nodeHash(this.#hasher, peak.root, root);
      height += 1;
    }
    this.#peaks.push({ height, root });
  }

  async root(): Promise<Bytes> {
    const last = this.#peaks.at(-1);
    if (last === undefined) return this.#hasher.sha256(new Uint8Array(0));
    let root = last.root;
    for (const peak of this.#peaks.slice(0, -1).reverse()) root = await nodeHash(this.#hasher, peak.root, root);
    return root;
  }
}
