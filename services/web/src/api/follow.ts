import type { MessageInitShape } from "@bufbuild/protobuf";

import type {
  FollowRequestSchema,
  FollowResponse,
  WatchLobbyRequest,
  WatchLobbyResponse,
} from "../gen/grimoire/v1/lobby_pb";
import { lobby } from "./clients";
import { failureOf } from "./errors";

/** `live`: frames come. `stale`: none came for a while, a new stream is being opened. `lost`: and it could not be. */
export type Link = "live" | "stale" | "lost";

const SILENCE_MS = 25_000;
const WAITS_MS = [500, 1000, 2000, 4000, 8000];
const HIDDEN_MS = 5_000;

export interface Follower {
  /** What to ask for now: called for each new stream, so that it resumes from what has been seen. */
  request(): MessageInitShape<typeof FollowRequestSchema>;
  take(news: FollowResponse): void;
  link(state: Link, attempt: number): void;
  /** The server refuses for good (signed out, no such match); the stream is not tried again. */
  refused(code: string, sentence: string): void;
}

/**
 * Wants the lobby's news on every page, and rides on the page's own stream where that has none of the lobby: browsers
 * open few connections to one host, and each open stream holds one.
 */
export interface Rider {
  request(): WatchLobbyRequest;
  take(news: WatchLobbyResponse): void;
  /** Whether there is no stream to ride on now. */
  alone(alone: boolean): void;
}

let rider: Rider | null = null;
const carriers = new Set<Line>();

/** Rides on the page's streams from now on; null: no more. */
export function ride(next: Rider | null): void {
  rider = next;
  for (const line of carriers) line.again();
  rider?.alone(carriers.size === 0);
}

/** Codes that another try does not change. */
const FINAL = new Set(["no_such_match", "unauthenticated", "not_allowed", "not_found", "permissiondenied", "notfound"]);

/**
 * Keeps one stream of news open for a page: resumes after silence, errors, `offline`, and a page hidden for long;
 * waits 0.5 to 8 s with jitter between vain attempts, without end, and not at all on `online` or `again()`.
 */
export class Line {
  readonly #follower: Follower;
  #abort = new AbortController();
  #wake: (() => void) | null = null;
  #ended = false;
  #attempt = 0;
  #hiddenAt = 0;
  #atOnce = false;
  #silence: ReturnType<typeof setTimeout> | undefined;

  constructor(follower: Follower) {
    this.#follower = follower;
    addEventListener("online", this.again);
    addEventListener("offline", this.#cut);
    document.addEventListener("visibilitychange", this.#seen);
    if (follower.request().lobby === undefined) {
      carriers.add(this);
      rider?.alone(false);
    }
    void this.#run();
  }

  /** Opens a new stream at once. */
  readonly again = (): void => {
    this.#atOnce = this.#wake === null;
    this.#wake?.();
    this.#abort.abort();
  };

  close(): void {
    this.#ended = true;
    removeEventListener("online", this.again);
    removeEventListener("offline", this.#cut);
    document.removeEventListener("visibilitychange", this.#seen);
    clearTimeout(this.#silence);
    this.#carryNoMore();
    this.again();
  }

  #carryNoMore(): void {
    if (carriers.delete(this) && carriers.size === 0) rider?.alone(true);
  }

  readonly #cut = (): void => {
    this.#abort.abort();
  };

  readonly #seen = (): void => {
    if (document.hidden) this.#hiddenAt = Date.now();
    else if (Date.now() - this.#hiddenAt > HIDDEN_MS) this.again();
  };

  async #run(): Promise<void> {
    while (!this.#ended) {
      this.#abort = new AbortController();
      const { signal } = this.#abort;
      try {
        this.#listen();
        const carried = carriers.has(this) ? rider : null;
        const asked = this.#follower.request();
        const request = carried === null ? asked : { ...asked, lobby: carried.request() };
        for await (const news of lobby.follow(request, { signal, timeoutMs: 0 })) {
          this.#listen();
          if (this.#attempt > 0 || news.news.case !== undefined) this.#follower.link("live", 0);
          this.#attempt = 0;
          if (carried !== null && news.news.case === "lobby") carried.take(news.news.value);
          else this.#follower.take(news);
        }
      } catch (error) {
        const failure = failureOf(error);
        if (FINAL.has(failure.code)) {
          this.#follower.refused(failure.code, failure.sentence);
          this.#carryNoMore();
          break;
        }
      }
      clearTimeout(this.#silence);
      if (!this.#ended) await this.#pause();
    }
  }

  #listen(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#abort.abort(), SILENCE_MS);
  }

  async #pause(): Promise<void> {
    if (this.#atOnce) {
      this.#atOnce = false;
      return;
    }
    this.#attempt += 1;
    this.#follower.link(this.#attempt < 3 && navigator.onLine ? "stale" : "lost", this.#attempt);
    const full = WAITS_MS[Math.min(this.#attempt, WAITS_MS.length) - 1] ?? 8000;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, full * (0.5 + Math.random() / 2));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = null;
  }
}
