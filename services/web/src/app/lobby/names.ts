import type { ChallengeSeat } from "../../gen/grimoire/v1/matchmaking_pb";
import { language, t } from "../../i18n/index.svelte";

/** How a seat's holder is called in lists: people by their names, bots by their level. */
export function seatName(seat: ChallengeSeat): string {
  return seat.bot ? t("lobby.bot_named", { name: seat.name || seat.level }) : seat.name;
}

/** The others in a match, as a list in words. */
export function othersOf(seats: readonly ChallengeSeat[]): string {
  const names = seats.filter((seat) => !seat.mine).map(seatName);
  return new Intl.ListFormat(language(), { type: "conjunction" }).format(names);
}
