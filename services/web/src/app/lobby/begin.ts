import { create } from "@bufbuild/protobuf";

import { matchmaking } from "../../api/clients";
import { granted, RefusedError } from "../../api/errors";
import { uuid7 } from "../../api/ids";
import { RejectionSchema } from "../../gen/grimoire/v1/envelope_pb";
import { MatchMode } from "../../gen/grimoire/v1/match_pb";
import { type Challenge, ChallengeStatus } from "../../gen/grimoire/v1/matchmaking_pb";
import { ensureAccount } from "../session.svelte";
import type { SeatWish } from "./seats";

/** Options that differ from the game's defaults, by name. */
export type Changes = Record<string, string>;

/** As they travel. */
export function optionValues(changes: Changes): { name: string; value: string }[] {
  return Object.entries(changes).map(([name, value]) => ({ name, value }));
}

/** Begins a match against a bot and gives its id; a guest is made where nobody is signed in. */
export async function beginWithBot(game: string, level: string, changes: Changes, language: string): Promise<string> {
  await ensureAccount();
  const options = optionValues(changes);
  const answer = await matchmaking.playBot({ game, level, options, language, requestId: uuid7() });
  return matchOf(granted(answer).challenge, language);
}

/** Begins a match at a table on which nobody else sits down by himself, and gives its id. */
export async function beginTable(game: string, rows: readonly SeatWish[], language: string): Promise<string> {
  await ensureAccount();
  const answer = await matchmaking.createChallenge({ game, rows: [...rows], mode: MatchMode.CASUAL, language, requestId: uuid7() });
  return matchOf(granted(answer).challenge, language);
}

/** Joins a challenge, on these seats or the first open one; the id of its match, empty while seats are still open. */
export async function join(challengeId: string, language: string, seats: readonly number[] = []): Promise<string> {
  await ensureAccount();
  const { challenge } = granted(await matchmaking.joinChallenge({ challengeId, language, seats: [...seats] }));
  return begunOf(challenge, language);
}

/** The id of a challenge's match; empty while seats are still open. */
export async function begunOf(challenge: Challenge | undefined, language: string): Promise<string> {
  return challenge?.status === ChallengeStatus.OPEN ? "" : matchOf(challenge, language);
}

/** The match of a challenge whose seats are all taken: waits until it is there. */
async function matchOf(challenge: Challenge | undefined, language: string): Promise<string> {
  if (challenge === undefined) throw new Error("no challenge in the answer");
  if (challenge.matchId !== "") return challenge.matchId;
  const { challengeId } = challenge;
  for await (const { challenge: now } of matchmaking.watchChallenge({ challengeId, language })) {
    if (now === undefined) continue;
    if (now.matchId !== "") return now.matchId;
    if (now.status === ChallengeStatus.CANCELLED || now.status === ChallengeStatus.EXPIRED) break;
  }
  throw new RefusedError(create(RejectionSchema, { code: "challenge_gone" }));
}
