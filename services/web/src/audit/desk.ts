import type { Check, Progress } from "../fair/checks";
import type { Question, VectorResult } from "../fair/worker";

export type Step = Check | Progress | VectorResult;

/** Whoever answers for the verifier: a worker beside the page, or the page itself. */
export interface Desk {
  /** The answer; `step` is told what comes before it. */
  ask<T>(question: Question, step?: (step: Step) => void): Promise<T>;
  close(): void;
}
