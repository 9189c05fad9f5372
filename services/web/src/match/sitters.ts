import { matchmaking } from "../api/clients";
import type { Words } from "../api/manifest.svelte";
import type { MatchHead } from "../gen/grimoire/v1/frame_pb";
import { OccupantKind, SeatBoundSchema, type SeatOccupant } from "../gen/grimoire/v1/match_pb";
import type { ChallengeSeat, MatchSummary, Table } from "../gen/grimoire/v1/matchmaking_pb";
import { t } from "../i18n/index.svelte";
import { type Entry, eventsOf } from "./entries";

/** Who holds a seat, as the match's log says it. */
export type Holder = Pick<SeatOccupant, "seat" | "occupantId" | "kind" | "level">;

/** A seat has got another holder with the entry of this version. */
export interface Handover extends Holder {
  readonly version: number;
}

/** Looks a match up among those that run or are over, one's own first; null: it is not listed. Throws what the call throws. */
export async function summaryOf(matchId: string, game: string): Promise<MatchSummary | null> {
  for (const mine of [true, false]) {
    for (const finished of [false, true]) {
      const { matches } = await matchmaking.listMatches({ mine, finished, game, limit: 200 });
      const found = matches.find((match) => match.matchId === matchId);
      if (found !== undefined) return found;
    }
  }
  return null;
}

/** Who sits where now. */
export function holdersOf(head: Pick<MatchHead, "seats" | "created"> | null): readonly Holder[] {
  if (head === null) return [];
  return head.seats.length > 0 ? head.seats : (head.created?.seats ?? []);
}

/** How seats changed hands in these entries. */
export function handoversOf(entries: readonly Entry[]): readonly Handover[] {
  return entries.flatMap((entry) =>
    eventsOf([entry], "seat_bound", SeatBoundSchema).map(({ seat, occupantId, kind, level }) => ({
      version: entry.version,
      seat,
      occupantId,
      kind,
      level,
    })),
  );
}

/** Who sat where after the first so many of these handovers. */
export function holdersAfter(first: readonly Holder[], handovers: readonly Handover[], count: number): readonly Holder[] {
  return first.map((holder) => handovers.slice(0, count).findLast(({ seat }) => seat === holder.seat) ?? holder);
}

/**
 * People's names by their pseudonyms in this match: whoever plays a seat of somebody else sat down at the beginning too.
 *
 * @param first who sat where at the beginning.
 * @param now who does now.
 * @param listed the seats as the lobby lists them now; where a table is known it says more.
 */
export function peopleOf(
  first: readonly Holder[],
  now: readonly Holder[],
  listed: readonly ChallengeSeat[],
  table: Table | null,
): ReadonlyMap<string, string> {
  const people = new Map<string, string>();
  const learn = (holders: readonly Holder[], seats: readonly (ChallengeSeat | undefined)[]): void => {
    for (const seat of seats) {
      const holder = holders.find((one) => one.seat === seat?.seat);
      if (seat !== undefined && !seat.bot && seat.name !== "" && holder?.kind === OccupantKind.PERSON) people.set(holder.occupantId, seat.name);
    }
  };
  learn(now, listed);
  learn(first, table?.seats.map((seat) => seat.first ?? seat.now) ?? []);
  return people;
}

/** Names by seat: people as they are called, built-in players by their level; empty where nobody is known. Who sits on several seats is told apart by their numbers. */
export function namesOf(holders: readonly Holder[], people: ReadonlyMap<string, string>, words: Words | null): string[] {
  const names: string[] = [];
  for (const holder of holders) names[holder.seat] = nameOf(holder, people, words);
  const count = (name: string): number => names.filter((other) => other === name).length;
  return names.map((name, seat) => (name !== "" && count(name) > 1 ? t("match.on_seat", { name, n: seat + 1 }) : name));
}

function nameOf({ occupantId, kind, level }: Holder, people: ReadonlyMap<string, string>, words: Words | null): string {
  if (kind !== OccupantKind.BOT || level === "") return people.get(occupantId) ?? "";
  return t("match.bot", { level: words?.manifest.botLevels.find((one) => one.level === level)?.name ?? level });
}
