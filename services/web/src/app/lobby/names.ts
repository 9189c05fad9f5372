import { gameWords } from "../../api/games.svelte";
import { Leaving, OutcomeKind } from "../../gen/grimoire/v1/match_pb";
import type { ChallengeSeat, MatchSummary } from "../../gen/grimoire/v1/matchmaking_pb";
import { language, t } from "../../i18n/index.svelte";

/** How a seat's holder is called in lists: people by their names, bots by their level in the page's language. */
export function seatName(seat: ChallengeSeat, game: string): string {
  if (!seat.bot) return seat.name;
  const level = gameWords(game)?.manifest.botLevels.find((one) => one.level === seat.level)?.name;
  return t("lobby.bot_named", { name: level ?? (seat.name || seat.level) });
}

/** With or against whom one plays, in words. */
export function companyOf(match: MatchSummary | undefined): string {
  const names = (match?.seats ?? []).filter((seat) => !seat.mine).map((seat) => seatName(seat, match?.game ?? ""));
  if (names.length === 0) return t("lobby.alone");
  const together = match?.leaving === Leaving.VOTED || match?.closed?.kind === OutcomeKind.COOP_WON || match?.closed?.kind === OutcomeKind.COOP_LOST;
  const list = new Intl.ListFormat(language(), { type: "conjunction" }).format([...new Set(names)]);
  return t(together || names.length > 1 ? "lobby.with" : "lobby.against", { names: list });
}
