import { matchmaking } from "../api/clients";
import type { Words } from "../api/manifest.svelte";
import { type MatchCreated, OccupantKind } from "../gen/grimoire/v1/match_pb";
import type { MatchSummary } from "../gen/grimoire/v1/matchmaking_pb";
import { t } from "../i18n/index.svelte";

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

/** Names by seat: people as they are called, built-in players by their level; empty where nobody is known. */
export function namesOf(created: MatchCreated | null, summary: MatchSummary | null, words: Words | null): string[] {
  const count = created?.seats.length ?? summary?.seats.length ?? 0;
  return Array.from({ length: count }, (_, seat) => {
    const sits = created?.seats.find((one) => one.seat === seat);
    if (sits?.kind === OccupantKind.BOT) {
      const level = words?.manifest.botLevels.find((one) => one.level === sits.level)?.name ?? sits.level;
      return t("match.bot", { level });
    }
    return summary?.seats.find((one) => one.seat === seat)?.name ?? "";
  });
}
