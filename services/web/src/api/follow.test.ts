import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import {
  type FollowRequest,
  type FollowResponse,
  FollowResponseSchema,
  WatchLobbyRequestSchema,
  WatchLobbyResponseSchema,
} from "../gen/grimoire/v1/lobby_pb";
import { lobby } from "./clients";
import { type Follower, Line, type Rider, ride } from "./follow";

/** A stream that a test feeds by hand. */
class Stream {
  readonly #waiting: ((next: () => FollowResponse | null) => void)[] = [];
  readonly #come: (() => FollowResponse | null)[] = [];

  constructor(
    readonly request: Partial<FollowRequest>,
    signal: AbortSignal,
  ) {
    signal.addEventListener("abort", () => this.fail(new ConnectError("aborted", Code.Canceled)));
  }

  send(news: FollowResponse): void {
    this.#put(() => news);
  }
  end(): void {
    this.#put(() => null);
  }
  fail(error: Error): void {
    this.#put(() => {
      throw error;
    });
  }
  #put(next: () => FollowResponse | null): void {
    const taker = this.#waiting.shift();
    if (taker === undefined) this.#come.push(next);
    else taker(next);
  }
  async *[Symbol.asyncIterator](): AsyncGenerator<FollowResponse> {
    for (;;) {
      const next = this.#come.shift() ?? (await new Promise<() => FollowResponse | null>((resolve) => this.#waiting.push(resolve)));
      const news = next();
      if (news === null) return;
      yield news;
    }
  }
}

let streams: Stream[] = [];
let lines: Line[] = [];
const latest = (): Stream => streams.at(-1) as Stream;
const matchNews = create(FollowResponseSchema, { news: { case: "match", value: { matchId: "m" } } });
const lobbyNews = create(FollowResponseSchema, { news: { case: "lobby", value: create(WatchLobbyResponseSchema, { whole: true }) } });

function follower(more: Partial<Follower> = {}): Follower & { seen: FollowResponse[]; links: string[]; codes: string[] } {
  const seen: FollowResponse[] = [];
  const links: string[] = [];
  const codes: string[] = [];
  return {
    seen,
    links,
    codes,
    request: () => ({ matches: [{ matchId: "m", sinceVersion: BigInt(seen.length) }] }),
    take: (news) => void seen.push(news),
    link: (state, attempt) => void links.push(`${state} ${attempt}`),
    refused: (code) => void codes.push(code),
    ...more,
  };
}

function open(who: Follower): Line {
  const line = new Line(who);
  lines.push(line);
  return line;
}

beforeEach(() => {
  vi.useFakeTimers();
  streams = [];
  lines = [];
  vi.spyOn(lobby, "follow").mockImplementation((request, options) => {
    const stream = new Stream(request as Partial<FollowRequest>, options?.signal as AbortSignal);
    streams.push(stream);
    return stream;
  });
});

afterEach(() => {
  ride(null);
  for (const line of lines) line.close();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("a line", () => {
  test("takes what comes, and resumes from what has been seen", async () => {
    const who = follower();
    open(who);
    latest().send(matchNews);
    await vi.advanceTimersByTimeAsync(0);
    expect(who.seen).toEqual([matchNews]);
    latest().fail(new ConnectError("gone", Code.Unavailable));
    await vi.advanceTimersByTimeAsync(0);
    expect(who.links.at(-1)).toBe("stale 1");
    await vi.advanceTimersByTimeAsync(500);
    expect(streams).toHaveLength(2);
    expect(latest().request.matches?.[0]?.sinceVersion).toBe(1n);
    latest().send(matchNews);
    await vi.advanceTimersByTimeAsync(0);
    expect(who.links.at(-1)).toBe("live 0");
  });

  test("waits longer after each vain attempt, and says from the third on that it is lost", async () => {
    const who = follower();
    open(who);
    for (const most of [500, 1000, 2000, 4000]) {
      latest().end();
      await vi.advanceTimersByTimeAsync(0);
      const before = streams.length;
      await vi.advanceTimersByTimeAsync(most / 2 - 1);
      expect(streams).toHaveLength(before);
      await vi.advanceTimersByTimeAsync(most / 2 + 1);
      expect(streams).toHaveLength(before + 1);
    }
    expect(who.links).toEqual(["stale 1", "stale 2", "lost 3", "lost 4"]);
  });

  test("does not wait when it is told to try again", async () => {
    const who = follower();
    const line = open(who);
    line.again();
    await vi.advanceTimersByTimeAsync(0);
    expect(streams).toHaveLength(2);
    expect(who.links).toEqual([]);
    latest().end();
    await vi.advanceTimersByTimeAsync(0);
    line.again();
    await vi.advanceTimersByTimeAsync(0);
    expect(streams).toHaveLength(3);
  });

  test("takes silence for a lost connection", async () => {
    const who = follower();
    open(who);
    await vi.advanceTimersByTimeAsync(24_000);
    latest().send(matchNews);
    await vi.advanceTimersByTimeAsync(24_000);
    expect(streams).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(streams).toHaveLength(2);
  });

  test("ends where the server refuses for good", async () => {
    const who = follower();
    open(who);
    latest().fail(new ConnectError("no", Code.NotFound));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(who.codes).toEqual(["notfound"]);
    expect(streams).toHaveLength(1);
  });

  test("stays closed", async () => {
    const line = open(follower());
    line.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(streams).toHaveLength(1);
  });
});

describe("a rider", () => {
  const taken: boolean[] = [];
  let alone: boolean[] = [];
  const rider: Rider = {
    request: () => create(WatchLobbyRequestSchema, { language: "fi", onlyMine: true }),
    take: (news) => void taken.push(news.whole),
    alone: (is) => void alone.push(is),
  };
  beforeEach(() => {
    taken.length = 0;
    alone = [];
  });

  test("is carried by a page's own stream, which keeps its own news", async () => {
    ride(rider);
    expect(alone).toEqual([true]);
    const who = follower();
    const line = open(who);
    expect(alone).toEqual([true, false]);
    expect(latest().request.lobby).toMatchObject({ language: "fi", onlyMine: true });
    latest().send(lobbyNews);
    latest().send(matchNews);
    await vi.advanceTimersByTimeAsync(0);
    expect(taken).toEqual([true]);
    expect(who.seen).toEqual([matchNews]);
    line.close();
    expect(alone).toEqual([true, false, true]);
  });

  test("gets on while a stream is open", async () => {
    open(follower());
    expect(latest().request.lobby).toBeUndefined();
    ride(rider);
    expect(alone).toEqual([false]);
    await vi.advanceTimersByTimeAsync(0);
    expect(latest().request.lobby).toBeDefined();
  });

  test("is not put on a stream that follows the lobby itself", () => {
    ride(rider);
    open(follower({ request: () => ({ lobby: { language: "en" } }) }));
    expect(alone).toEqual([true]);
    expect(latest().request.lobby).toMatchObject({ language: "en" });
  });

  test("is left standing where the stream is refused", async () => {
    ride(rider);
    open(follower());
    latest().fail(new ConnectError("no", Code.NotFound));
    await vi.advanceTimersByTimeAsync(0);
    expect(alone).toEqual([true, false, true]);
  });
});
