/** The verifier beside the page, so that a long log never makes the page wait. */
import { audit, type Check, type Progress, unreadable } from "./checks";
import { hex, unhex } from "./bytes";
import { streamOf, type UsedWord } from "./draws";
import { ExportError, readExport } from "./exportfile";
import { bestHasher, type Hasher } from "./hasher";
import type { Kept } from "./keepsake";
import type { Draw } from "./log";
import { type ReadLeaf, readLeaf, type Witness } from "./logged";
import { Tree } from "./merkle";
import { type Checkpoint, isSigned, readCheckpoint, readKey } from "./note";
import { VECTORS } from "./vectors";

export type Question =
  | { readonly kind: "peek"; readonly file: Uint8Array }
  | { readonly kind: "head"; readonly note: Uint8Array }
  | { readonly kind: "audit"; readonly file: Uint8Array; readonly kept: Kept | null; readonly witness: Witness }
  | { readonly kind: "vectors" }
  /** The next leaves of a log; the first ones begin a new tree. Roots are wanted at some sizes. */
  | { readonly kind: "leaves"; readonly first: number; readonly leaves: readonly Uint8Array[]; readonly at: readonly number[] }
  | { readonly kind: "signed"; readonly note: Uint8Array; readonly key: string }
  /** A whole match, for its draws. */
  | { readonly kind: "draws"; readonly file: Uint8Array; readonly key: string }
  | {
      readonly kind: "walk";
      readonly game: string;
      readonly joint: string;
      readonly label: string;
      readonly draw: number;
      readonly bound: number;
      readonly count: number;
      readonly from: number;
    };

/** What stands at the head of a file, before anything is believed. */
export interface Peek {
  readonly game: string;
  readonly matchId: string;
  readonly entries: number;
  readonly key: string;
  readonly checkpoint: Uint8Array<ArrayBuffer> | null;
  readonly size: number;
  readonly hasher: "webcrypto" | "noble";
}

/** Leaves as they were read, null where one is not written as it must be, and the roots at the sizes asked for. */
export interface ReadLeaves {
  readonly leaves: readonly (ReadLeaf | null)[];
  readonly roots: readonly (readonly [size: number, root: string])[];
}

/** What a match gives to statistics. */
export interface JudgedDraws {
  readonly game: string;
  /** The first check that fails; 0: none. */
  readonly failed: number;
  readonly draws: readonly Draw[];
}

export interface VectorResult {
  readonly name: string;
  readonly expected: string;
  readonly computed: string;
}

export type Answer =
  | { readonly id: number; readonly done: false; readonly step: Check | Progress | VectorResult }
  | { readonly id: number; readonly done: true; readonly result: unknown }
  | { readonly id: number; readonly done: true; readonly fault: string };

/** Answers one question; steps come before the result. */
export async function answer(question: Question, tell: (step: Check | Progress | VectorResult) => void): Promise<unknown> {
  const hasher = await bestHasher();
  switch (question.kind) {
    case "peek": {
      try {
        const file = readExport(question.file);
        const head = file.evidence === null ? null : readCheckpoint(file.evidence.checkpoint);
        return {
          game: file.game,
          matchId: file.matchId,
          entries: file.entries.length,
          key: file.evidence?.key ?? "",
          checkpoint: head === null ? null : (file.evidence?.checkpoint ?? null),
          size: head?.size ?? 0,
          hasher: hasher.name,
        } satisfies Peek;
      } catch (error) {
        if (error instanceof ExportError) return null;
        throw error;
      }
    }
    case "head":
      return readCheckpoint(question.note) satisfies Checkpoint | null;
    case "audit":
      try {
        const file = readExport(question.file);
        for await (const step of audit(file, { hasher, kept: question.kept, witness: question.witness })) tell(step);
      } catch (error) {
        if (!(error instanceof ExportError)) throw error;
        for (const check of unreadable(error.line, error.code)) tell(check);
      }
      return null;
    case "leaves":
      return addLeaves(hasher, question);
    case "signed": {
      const [checkpoint, key] = [readCheckpoint(question.note), await readKey(hasher, question.key)];
      return checkpoint !== null && key !== null && (await isSigned(hasher, checkpoint, key)) ? checkpoint : null;
    }
    case "draws":
      return drawsOf(hasher, question);
    case "vectors":
      for (const { name, expected, compute } of VECTORS) tell({ name, expected, computed: await compute(hasher) });
      return null;
    case "walk":
      return walk(question);
  }
}

let tree: Tree | null = null;

async function addLeaves(hasher: Hasher, { first, leaves, at }: Extract<Question, { kind: "leaves" }>): Promise<ReadLeaves> {
  if (first === 0 || tree === null) tree = new Tree(hasher);
  if (tree.size !== first) throw new Error("leaves are missing in between");
  const roots: [number, string][] = [];
  for (const leaf of leaves) {
    await tree.add(Uint8Array.from(leaf));
    if (at.includes(tree.size)) roots.push([tree.size, hex(await tree.root())]);
  }
  return { leaves: leaves.map(readLeaf), roots };
}

async function drawsOf(hasher: Hasher, asked: Extract<Question, { kind: "draws" }>): Promise<JudgedDraws> {
  let failed = 0;
  let draws: readonly Draw[] = [];
  try {
    const file = readExport(asked.file);
    for await (const step of audit(file, { hasher, witness: { key: asked.key } })) {
      if (!("status" in step)) continue;
      if (step.status === "failed" && failed === 0) failed = step.number;
      const shown = step.number === 4 ? step.shown.find((one) => one.kind === "draws") : undefined;
      if (shown?.kind === "draws") draws = shown.rows.map(({ label, kind, bound, results }) => ({ label, kind, bound, results }));
    }
    return { game: file.game, failed, draws: failed === 0 ? draws : [] };
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    return { game: "", failed: 6, draws: [] };
  }
}

async function walk(asked: Extract<Question, { kind: "walk" }>): Promise<readonly UsedWord[]> {
  const stream = await streamOf(await bestHasher(), asked.game, unhex(asked.joint), asked.label, true);
  while (stream.used < asked.from) await stream.word();
  if (asked.draw === 2) await stream.shuffle(asked.bound);
  else if (asked.draw === 3) await stream.sample(asked.bound, asked.count);
  else await stream.below(asked.bound);
  return stream.trace ?? [];
}

if (typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope) {
  self.onmessage = ({ data }: MessageEvent<{ id: number; question: Question }>) => {
    const { id, question } = data;
    const post = (message: Answer): void => self.postMessage(message);
    answer(question, (step) => post({ id, done: false, step })).then(
      (result) => post({ id, done: true, result }),
      (fault: unknown) => post({ id, done: true, fault: String(fault) }),
    );
  };
}
