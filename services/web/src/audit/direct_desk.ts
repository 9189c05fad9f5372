import { answer, type Question } from "../fair/worker";
import type { Desk, Step } from "./desk";

/** The verifier in the page itself: a page saved to a disk cannot start a worker everywhere. */
export class DirectDesk implements Desk {
  async ask<T>(question: Question, step: (step: Step) => void = () => undefined): Promise<T> {
    // What is drawn before comes to the screen first.
    await new Promise((resolve) => setTimeout(resolve));
    return (await answer(question, step)) as T;
  }

  close(): void {
    // Nothing is held.
  }
}
