import { gameName } from "../../api/games.svelte";
import { MatchMode } from "../../gen/grimoire/v1/match_pb";
import type { Challenge } from "../../gen/grimoire/v1/matchmaking_pb";
import { isMine } from "./rows";

/** Which challenges are shown. It outlives the page, so that going back finds it as it was. */
export const filter = $state<{ text: string; game: string; mode: "" | "rated" | "casual" }>({ text: "", game: "", mode: "" });

/** Whether a challenge is shown; one's own always are. */
export function fits(challenge: Challenge): boolean {
  if (isMine(challenge)) return true;
  if (filter.game !== "" && challenge.game !== filter.game) return false;
  if (filter.mode !== "" && (challenge.mode === MatchMode.RATED) !== (filter.mode === "rated")) return false;
  const words = filter.text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const text = [
    gameName(challenge.game),
    ...challenge.seats.map((seat) => seat.name),
    ...challenge.options.map((option) => option.valueLabel),
  ]
    .join(" ")
    .toLocaleLowerCase();
  return words.every((word) => text.includes(word));
}
