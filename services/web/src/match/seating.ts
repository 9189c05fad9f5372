import { matchmaking } from "../api/clients";
import { failureOf } from "../api/errors";
import type { Table } from "../gen/grimoire/v1/matchmaking_pb";

/** Who sits where in a match; null: it cannot be said now. A question, not a stream: a browser has few connections. */
export async function tableOf(matchId: string, language: string): Promise<Table | null> {
  try {
    return (await matchmaking.getTable({ matchId, language })).table ?? null;
  } catch {
    return null;
  }
}

/** Says who shall play a seat that was left; `fellow` null: a bot. Gives the table, or why not as a sentence. */
export async function vote(matchId: string, seat: number, fellow: number | null, language: string): Promise<Table | string> {
  return answered(() => matchmaking.voteOnSeat({ matchId, seat, language, ...(fellow === null ? {} : { fellow }) }));
}

/** Takes the seats that one sat down on back. Gives the table, or why not as a sentence. */
export async function comeBack(matchId: string, language: string): Promise<Table | string> {
  return answered(() => matchmaking.returnToSeat({ matchId, language }));
}

async function answered(call: () => Promise<{ table?: Table | undefined; rejection?: { message: string } | undefined }>): Promise<Table | string> {
  try {
    const { table, rejection } = await call();
    return table ?? rejection?.message ?? "";
  } catch (error) {
    return failureOf(error).sentence;
  }
}
