import { transparency } from "../api/logs";
import type { Witness } from "../fair/logged";
import type { Checkpoint } from "../fair/note";
import type { Peek } from "../fair/worker";
import { asReader } from "../replay/reader.svelte";
import type { Desk } from "./desk";
import { knownLog, type KnownLog } from "./known_log";

type Path = readonly Uint8Array<ArrayBuffer>[] | null;

export interface Gathered {
  readonly witness: Witness;
  /** To be kept once the check holds; null: the server showed none. */
  readonly newest: KnownLog | null;
}

const owned = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => Uint8Array.from(bytes);

/** Everything this browser can learn about the log of a file: what it kept, what the server shows now, what joins them. */
export async function gatherWitness(desk: Desk, peek: Peek, ownServer: boolean, typedKey: string): Promise<Gathered> {
  const known = knownLog();
  const isOurs = ownServer || known?.key === peek.key;
  const key = typedKey || (isOurs ? known?.key : undefined);
  const base: Witness = key === undefined ? {} : { key };
  if (peek.checkpoint === null || !isOurs) return { witness: base, newest: null };
  const newest = await newestHead(desk);
  const kept = known ?? newest;
  if (kept === null) return { witness: base, newest: null };
  const witness: Witness = {
    ...base,
    kept: { checkpoint: kept.checkpoint, path: await path(peek.size, kept.size) },
    ...(newest === null ? {} : { newest: { checkpoint: newest.checkpoint, fromKept: await path(kept.size, newest.size) } }),
  };
  return { witness, newest };
}

async function newestHead(desk: Desk): Promise<KnownLog | null> {
  try {
    const shown = await asReader(() => transparency.getCheckpoint({}));
    const checkpoint = owned(shown.checkpoint);
    const head = await desk.ask<Checkpoint | null>({ kind: "head", note: checkpoint });
    return head === null ? null : { key: shown.key, checkpoint, size: head.size };
  } catch {
    return null;
  }
}

async function path(a: number, b: number): Promise<Path> {
  if (a === b) return [];
  try {
    const proof = await asReader(() => transparency.getConsistency({ from: BigInt(Math.min(a, b)), to: BigInt(Math.max(a, b)) }));
    return proof.path.map(owned);
  } catch {
    return null;
  }
}
