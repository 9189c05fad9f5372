import { create } from "@bufbuild/protobuf";

import { type Failure, failureOf } from "../api/errors";
import { hex, unhex, uuid7 } from "../api/ids";
import { tab } from "../api/shelf";
import { type Command, type CommandReply, CommandSchema, type Rejection } from "../gen/grimoire/v1/envelope_pb";

/** Sends one command once; throws what the call throws. */
export type Submit = (command: Command, signal: AbortSignal, timeoutMs: number) => Promise<CommandReply>;

export interface Waits {
  /** Without a reply for so long the same command is sent again. */
  readonly replyMs: number;
  /** Pauses between vain attempts; the last one repeats. */
  readonly pausesMs: readonly number[];
}

const WAITS: Waits = { replyMs: 3000, pausesMs: [300, 1000, 2000, 4000] };

/** Codes that mean: the same again, a little later. */
const LATER = new Set(["rate_limited", "overloaded", "not_logged_yet", "not_judged"]);

/** How the sending of a command ended; `seen`: its entry came before its reply. */
export type Fate =
  | { readonly kind: "accepted" | "seen" }
  | { readonly kind: "rejected"; readonly rejection: Rejection }
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "stopped" };

/**
 * Sends a command until there is a reply: the same bytes with the same id, which makes that safe.
 *
 * @param stop aborted with the reason "seen" when its entry has come, with any other to give up.
 * @param again told before each attempt after the first.
 */
export async function exchange(
  submit: Submit,
  command: Command,
  stop: AbortSignal,
  again: () => void = () => undefined,
  waits: Waits = WAITS,
): Promise<Fate> {
  for (let attempt = 0; ; attempt += 1) {
    if (attempt > 0) again();
    let pause = waits.pausesMs[Math.min(attempt, waits.pausesMs.length - 1)] ?? 0;
    try {
      const { result } = await submit(command, stop, waits.replyMs);
      if (result.case === "accepted") return { kind: "accepted" };
      if (result.case === "rejection") {
        if (!LATER.has(result.value.code)) return { kind: "rejected", rejection: result.value };
        pause = Math.max(pause, result.value.retryAfterMs);
      }
    } catch (error) {
      const failure = failureOf(error);
      if (failure.rejection !== null && LATER.has(failure.code)) pause = Math.max(pause, failure.rejection.retryAfterMs);
      else if (!stop.aborted && !failure.again && failure.code !== "unavailable") return { kind: "failed", failure };
    }
    if (!stop.aborted) await slept(pause, stop);
    if (stop.aborted) return { kind: stop.reason === "seen" ? "seen" : "stopped" };
  }
}

function slept(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      stop.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    stop.addEventListener("abort", done);
  });
}

/** A command that has been sent and whose fate is not known yet. */
export interface Pending {
  readonly id: string;
  readonly command: Command;
}

interface Kept {
  id: string;
  seat: number;
  prompt: number | null;
  type: string;
  payload: string;
}

/** The commands of one seat of one match: at most one is under way, and it survives a reload of the page. */
export class Commands {
  readonly #matchId: string;
  readonly #submit: Submit;
  readonly #waits: Waits;
  #stop: AbortController | null = null;
  #pending: Pending | null = null;

  /** @param told called whenever `pending` changes, and before the same is sent again. */
  constructor(
    matchId: string,
    submit: Submit,
    private readonly told: (pending: Pending | null, attempt: number) => void,
    waits: Waits = WAITS,
  ) {
    this.#matchId = matchId;
    this.#submit = submit;
    this.#waits = waits;
  }

  get pending(): Pending | null {
    return this.#pending;
  }

  /** Sends a new command; null: another is under way, so nothing was sent. */
  send(seat: number, type: string, payload: Uint8Array, promptId: number | null): Promise<Fate> | null {
    if (this.#pending !== null) return null;
    return this.#run(this.#make(uuid7(), seat, type, payload, promptId));
  }

  /** What was under way when the page was left; it has to be looked for among the entries before it is `resume`d. */
  left(): Pending | null {
    try {
      const kept = JSON.parse(tab.get(this.#key) ?? "null") as Kept | null;
      return kept === null ? null : this.#make(unhex(kept.id), kept.seat, kept.type, unhex(kept.payload), kept.prompt);
    } catch {
      return null;
    }
  }

  /** Sends what was under way once more, with the same id. */
  resume(pending: Pending): Promise<Fate> | null {
    return this.#pending === null ? this.#run(pending) : null;
  }

  forget(): void {
    tab.remove(this.#key);
  }

  /** An entry with this command id has come. */
  seen(commandId: string): void {
    if (this.#pending?.id === commandId) this.#stop?.abort("seen");
  }

  close(): void {
    this.#stop?.abort("closed");
  }

  get #key(): string {
    return `grimoire.pending.${this.#matchId}`;
  }

  #make(id: Uint8Array, seat: number, type: string, payload: Uint8Array, promptId: number | null): Pending {
    const command = create(CommandSchema, { commandId: id, matchId: this.#matchId, seat, type, payload });
    if (promptId !== null) command.promptId = promptId;
    return { id: hex(id), command };
  }

  async #run(pending: Pending): Promise<Fate> {
    const stop = new AbortController();
    const { seat, promptId, type, payload } = pending.command;
    const kept: Kept = { id: pending.id, seat: seat ?? 0, prompt: promptId ?? null, type, payload: hex(payload) };
    tab.set(this.#key, JSON.stringify(kept));
    this.#pending = pending;
    this.#stop = stop;
    let attempt = 1;
    this.told(pending, attempt);
    const fate = await exchange(this.#submit, pending.command, stop.signal, () => this.told(pending, ++attempt), this.#waits);
    this.#pending = null;
    if (fate.kind !== "stopped") this.forget();
    this.told(null, attempt);
    return fate;
  }
}
