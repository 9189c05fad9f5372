import { gameWords } from "../../api/games.svelte";
import type { ChallengeSeat } from "../../gen/grimoire/v1/matchmaking_pb";
import { language, t } from "../../i18n/index.svelte";

/** How a seat's holder is called in lists: people by their names, bots by their level in the page's language. */
export function seatName(seat: ChallengeSeat, game: string): string {
  if (!seat.bot) return seat.name;
  const level = gameWords(game)?.manifest.botLevels.find((one) => one.level === seat.level)?.name;
  return t("lobby.bot_named", { name: level ?? (seat.name || seat.level) });
}

/** The others in a match, as a list in words. */
export function othersOf(seats: readonly ChallengeSeat[], game: string): string {
  const names = seats.filter((seat) => !seat.mine).map((seat) => seatName(seat, game));
  return new Intl.ListFormat(language(), { type: "conjunction" }).format(names);
}
