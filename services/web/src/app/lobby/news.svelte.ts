import { create } from "@bufbuild/protobuf";

import { type Link, Line, ride } from "../../api/follow";
import { type OwnMatch, WatchLobbyRequestSchema, type WatchLobbyResponse } from "../../gen/grimoire/v1/lobby_pb";
import { ChallengeStatus, type MatchSummary } from "../../gen/grimoire/v1/matchmaking_pb";
import { setServerTime } from "../clock.svelte";
import { account } from "../session.svelte";
import { arrive, depart, EMPTY, reveal, sweep, type Table } from "./rows";

/** Everything the lobby tells, for the whole site: one stream, whichever page is shown. */
class LobbyNews {
  /** The first answer has come. */
  known = $state(false);
  link = $state<Link>("live");
  attempt = $state(0);
  /** The stream was refused for good: its code. */
  refusal = $state("");
  table = $state.raw<Table>(EMPTY);
  /** The pointer or the focus is on the table of challenges. */
  held = $state(false);
  #matches = $state.raw<ReadonlyMap<string, MatchSummary>>(new Map());
  #own = $state.raw<ReadonlyMap<string, OwnMatch>>(new Map());
  #line: Line | null = null;
  #wish = "";
  readonly #begun = new Set<(matchId: string) => void>();

  /** Running matches that may be watched, the newest first. */
  get matches(): readonly MatchSummary[] {
    return [...this.#matches.values()].toSorted((a, b) => Number(b.createdMs - a.createdMs));
  }

  /** One's own running matches: those that wait for us first, the soonest deadline before others. */
  get own(): readonly OwnMatch[] {
    return [...this.#own.values()].toSorted(urgency);
  }

  /** How many of one's own matches wait for us. */
  get calls(): number {
    return this.own.filter((match) => match.requiredPrompts > 0).length;
  }

  /**
   * Follows the lobby as a page needs it; a new wish replaces the old one.
   *
   * @param language of names and options.
   * @param onlyMine only one's own matches.
   * @param who account id; empty: nobody. Another one sees other things, so it is a new stream.
   */
  follow(language: string, onlyMine: boolean, who: string): void {
    const wish = `${language} ${onlyMine} ${who}`;
    if (wish === this.#wish) return;
    this.#wish = wish;
    this.known = false;
    this.refusal = "";
    this.#close();
    if (!onlyMine) {
      ride(null);
      this.#open(wish, { language, onlyMine });
      return;
    }
    ride({
      request: () => create(WatchLobbyRequestSchema, { language, onlyMine }),
      take: (news) => {
        if (this.#wish === wish) this.take(news);
      },
      alone: (alone) => {
        this.#close();
        if (alone && this.#wish === wish) this.#open(wish, { language, onlyMine });
      },
    });
  }

  #open(wish: string, lobby: { language: string; onlyMine: boolean }): void {
    this.#line = new Line({
      request: () => ({ lobby }),
      take: (news) => {
        if (news.news.case === "lobby" && this.#wish === wish) this.take(news.news.value);
      },
      link: (state, attempt) => {
        this.link = state;
        this.attempt = attempt;
      },
      refused: (code) => {
        this.refusal = code;
        this.known = true;
      },
    });
  }

  #close(): void {
    this.#line?.close();
    this.#line = null;
    this.link = "live";
  }

  /** Tries again at once. */
  again(): void {
    this.#line?.again();
  }

  /** Is told of each match that a challenge of ours has become. Returns how to stop. */
  onBegun(listener: (matchId: string) => void): () => void {
    this.#begun.add(listener);
    return () => this.#begun.delete(listener);
  }

  /** Takes what the server tells. */
  take(news: WatchLobbyResponse): void {
    if (news.serverTimeMs > 0n) setServerTime(Number(news.serverTimeMs));
    if (news.whole) this.#restart(news);
    const now = Date.now();
    this.table = arrive(this.table, news.challenges, this.held && !news.whole);
    if (news.gone.length > 0) {
      this.table = depart(this.table, new Map(news.gone.map((gone) => [gone.challengeId, gone.status])), now);
      setTimeout(() => this.sweep(), 3100);
    }
    if (news.matches.length > 0 || news.endedMatchIds.length > 0) this.#takeMatches(news);
    if (news.own.length > 0) this.#takeOwn(news.own);
    this.known = true;
    for (const gone of news.gone) {
      if (gone.status === ChallengeStatus.MATCHED && gone.matchId !== "") this.#begun.forEach((tell) => tell(gone.matchId));
    }
  }

  /** Shows the challenges that waited. */
  reveal(): void {
    this.table = reveal(this.table);
  }

  /** Removes what has been struck through long enough. */
  sweep(): void {
    this.table = sweep(this.table, Date.now(), this.held);
  }

  #restart(news: WatchLobbyResponse): void {
    const still = new Map(news.challenges.map((challenge) => [challenge.challengeId, challenge]));
    this.table = {
      rows: this.table.rows.filter((row) => still.has(row.challenge.challengeId)),
      waiting: [],
    };
    this.#matches = new Map();
    this.#own = new Map();
  }

  #takeMatches(news: WatchLobbyResponse): void {
    const matches = new Map(this.#matches);
    for (const match of news.matches) matches.set(match.matchId, match);
    for (const id of news.endedMatchIds) matches.delete(id);
    this.#matches = matches;
  }

  #takeOwn(changes: readonly OwnMatch[]): void {
    const own = new Map(this.#own);
    for (const match of changes) {
      if (match.summary === undefined) own.delete(match.matchId);
      else own.set(match.matchId, match);
    }
    this.#own = own;
  }
}

function urgency(a: OwnMatch, b: OwnMatch): number {
  const waits = Number(b.requiredPrompts > 0) - Number(a.requiredPrompts > 0);
  if (waits !== 0) return waits;
  const far = (match: OwnMatch): number => (match.deadlineMs > 0n ? Number(match.deadlineMs) : Infinity);
  if (far(a) !== far(b)) return far(a) - far(b);
  return Number((b.summary?.createdMs ?? 0n) - (a.summary?.createdMs ?? 0n));
}

export const lobbyNews = new LobbyNews();

/** The account by which the lobby is seen; empty: nobody's. */
export function viewer(): string {
  return account()?.accountId ?? "";
}
