import type { Manifest } from "../../gen/grimoire/v1/manifest_pb";
import { Leaving } from "../../gen/grimoire/v1/match_pb";
import { type Challenge, SeatRowKind } from "../../gen/grimoire/v1/matchmaking_pb";

/** Who shall sit on a seat of a new table. `level`: of a bot, else empty. */
export interface SeatWish {
  readonly kind: SeatRowKind;
  readonly level: string;
}

export const MINE: SeatWish = { kind: SeatRowKind.MINE, level: "" };
export const OPEN: SeatWish = { kind: SeatRowKind.OPEN, level: "" };
export const FRIEND: SeatWish = { kind: SeatRowKind.FRIEND, level: "" };

/** A bot of this level. */
export function bot(level: string): SeatWish {
  return { kind: SeatRowKind.BOT, level };
}

/** The game leaves the number of seats to the table, or has more than two who sit down. */
export function isForTables(manifest: Manifest): boolean {
  return manifest.maxSeats > 2 || manifest.minSeats !== manifest.maxSeats;
}

/** A table that shows its seats one by one: more than two, or of those that may change hands. */
export function isTable(challenge: Challenge): boolean {
  return challenge.seats.length > 2 || challenge.leaving !== Leaving.UNSPECIFIED;
}

/** How many may sit at a table of this game, the fewest first. */
export function sizes(manifest: Manifest): number[] {
  return Array.from({ length: manifest.maxSeats - manifest.minSeats + 1 }, (_, n) => manifest.minSeats + n);
}

/** Two, or the nearest number that the game allows. */
export function usualSize(manifest: Manifest): number {
  return Math.max(manifest.minSeats, Math.min(2, manifest.maxSeats));
}

/** For how many quick play finds people, the usual number first; none: there is nothing to choose. */
export function quickSizes(manifest: Manifest): readonly number[] {
  if (manifest.quickSeats.length > 0) return manifest.quickSeats.length > 1 ? manifest.quickSeats : [];
  return isForTables(manifest) ? sizes(manifest).filter((size) => size > 1) : [];
}

/** The same wishes for another number of seats: new seats are open, and somebody stays the maker's. */
export function resized(rows: readonly SeatWish[], size: number): readonly SeatWish[] {
  const next = Array.from({ length: size }, (_, n) => rows[n] ?? OPEN);
  return next.some((row) => row.kind === SeatRowKind.MINE) ? next : next.with(0, MINE);
}

/** These wishes with all seats that are not the maker's given to one kind of company. */
export function withOthers(rows: readonly SeatWish[], other: SeatWish): readonly SeatWish[] {
  const first = rows.findIndex((row) => row.kind === SeatRowKind.MINE);
  return rows.map((_, n) => (n === first ? MINE : other));
}

/** Seats that somebody else has still to take. */
export function awaited(rows: readonly SeatWish[]): number {
  return rows.filter((row) => row.kind === SeatRowKind.OPEN).length;
}

/** Whether such a table can be rated: people only, each on one seat. */
export function mayBeRated(rows: readonly SeatWish[]): boolean {
  return rows.filter((row) => row.kind === SeatRowKind.MINE).length === 1 && rows.every((row) => row.kind !== SeatRowKind.BOT);
}

/** The value of a wish in a form. */
export function keyOf({ kind, level }: SeatWish): string {
  return kind === SeatRowKind.BOT ? `bot ${level}` : String(kind);
}

/** The wish of such a value. */
export function wishOf(key: string): SeatWish {
  return key.startsWith("bot ") ? bot(key.slice(4)) : { kind: Number(key) as SeatRowKind, level: "" };
}

/** Open seats of a table, as numbers. */
export function freeSeats(challenge: Challenge): number[] {
  return challenge.seats.filter((seat) => seat.name === "" && !seat.bot).map((seat) => seat.seat);
}
