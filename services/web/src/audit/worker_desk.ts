import type { Answer, Question } from "../fair/worker";
import type { Desk, Step } from "./desk";

interface Waiting {
  step(step: Step): void;
  done(result: unknown): void;
  failed(error: Error): void;
}

/** Asks the verifier in its worker; a page makes one and closes it. */
export class WorkerDesk implements Desk {
  readonly #worker = new Worker(new URL("../fair/worker.ts", import.meta.url), { type: "module" });
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;

  constructor() {
    this.#worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      const one = this.#waiting.get(data.id);
      if (one === undefined) return;
      if (!data.done) {
        one.step(data.step);
        return;
      }
      this.#waiting.delete(data.id);
      if ("fault" in data) one.failed(new Error(data.fault));
      else one.done(data.result);
    };
    this.#worker.onerror = (event) => {
      for (const one of this.#waiting.values()) one.failed(new Error(event.message));
      this.#waiting.clear();
    };
  }

  ask<T>(question: Question, step: (step: Step) => void = () => undefined): Promise<T> {
    const id = this.#next++;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { step, done: (result) => resolve(result as T), failed: reject });
      this.#worker.postMessage({ id, question });
    });
  }

  close(): void {
    this.#worker.terminate();
    this.#waiting.clear();
  }
}
