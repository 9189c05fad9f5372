import type { Challenge } from "../../gen/grimoire/v1/matchmaking_pb";
import { ChallengeStatus } from "../../gen/grimoire/v1/matchmaking_pb";

/** How long a row that is gone stays to be seen, struck through. */
export const GONE_MS = 3000;

/** A line of the table. `goneMs`: when it went (0: it is there). */
export interface Row {
  readonly challenge: Challenge;
  readonly goneMs: number;
  readonly status: ChallengeStatus;
}

/** What is shown, in its order, and what waits to be shown. */
export interface Table {
  readonly rows: readonly Row[];
  readonly waiting: readonly Challenge[];
}

export const EMPTY: Table = { rows: [], waiting: [] };

/** The caller sits in it. */
export function isMine(challenge: Challenge): boolean {
  return challenge.seats.some((seat) => seat.mine);
}

/**
 * The table after news.
 *
 * @param held the pointer or the focus is on the table: what is new waits, so that no row moves under it (W-LOB-1).
 */
export function arrive(table: Table, news: readonly Challenge[], held: boolean): Table {
  const fresh = new Map(news.map((challenge) => [challenge.challengeId, challenge]));
  const rows = table.rows.map((row) => changed(row, fresh));
  const waiting = table.waiting.map((challenge) => take(fresh, challenge.challengeId) ?? challenge);
  const added = [...fresh.values()].toSorted((a, b) => Number(b.createdMs - a.createdMs));
  // One's own is shown at once: who makes one wants to see it.
  const now = held ? added.filter(isMine) : added;
  const later = held ? added.filter((challenge) => !isMine(challenge)) : [];
  const next = { rows, waiting: [...later, ...waiting] };
  return now.length === 0 ? next : { ...next, rows: order([...now.map(rowOf), ...rows]) };
}

/** The table after some have gone; they stay struck through for a moment. */
export function depart(table: Table, gone: ReadonlyMap<string, ChallengeStatus>, nowMs: number): Table {
  return {
    rows: table.rows.map((row) => {
      const status = gone.get(row.challenge.challengeId);
      return status === undefined || row.goneMs > 0 ? row : { ...row, status, goneMs: nowMs };
    }),
    waiting: table.waiting.filter((challenge) => !gone.has(challenge.challengeId)),
  };
}

/** The table without rows that have been struck through long enough; while it is held, they stay where they are. */
export function sweep(table: Table, nowMs: number, held: boolean): Table {
  if (held || !table.rows.some((row) => row.goneMs > 0 && nowMs - row.goneMs >= GONE_MS)) return table;
  return { ...table, rows: table.rows.filter((row) => row.goneMs === 0 || nowMs - row.goneMs < GONE_MS) };
}

/** The table with what waited. */
export function reveal(table: Table): Table {
  return { rows: order([...table.waiting.map(rowOf), ...table.rows]), waiting: [] };
}

function rowOf(challenge: Challenge): Row {
  return { challenge, goneMs: 0, status: challenge.status };
}

function changed(row: Row, fresh: Map<string, Challenge>): Row {
  const challenge = take(fresh, row.challenge.challengeId);
  return challenge === undefined ? row : rowOf(challenge);
}

function take(fresh: Map<string, Challenge>, id: string): Challenge | undefined {
  const challenge = fresh.get(id);
  fresh.delete(id);
  return challenge;
}

function order(rows: readonly Row[]): readonly Row[] {
  return [...rows.filter((row) => isMine(row.challenge)), ...rows.filter((row) => !isMine(row.challenge))];
}
