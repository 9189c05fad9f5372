/** The verifier beside the page, so that a long log never makes the page wait. */
import { audit, type Check, type Progress, unreadable } from "./checks";
import { unhex } from "./bytes";
import { streamOf, type UsedWord } from "./draws";
import { ExportError, readExport } from "./exportfile";
import { bestHasher } from "./hasher";
import type { Kept } from "./keepsake";
import type { Witness } from "./logged";
import { type Checkpoint, readCheckpoint } from "./note";
import { VECTORS } from "./vectors";

export type Question =
  | { readonly kind: "peek"; readonly file: Uint8Array }
  | { readonly kind: "head"; readonly note: Uint8Array }
  | { readonly kind: "audit"; readonly file: Uint8Array; readonly kept: Kept | null; readonly witness: Witness }
  | { readonly kind: "vectors" }
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
    case "vectors":
      for (const { name, expected, compute } of VECTORS) tell({ name, expected, computed: await compute(hasher) });
      return null;
    case "walk":
      return walk(question);
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
