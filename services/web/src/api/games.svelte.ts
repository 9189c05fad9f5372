import { PICTURED } from "../games/order";
import type { GameSummary } from "../gen/grimoire/v1/play_pb";
import { play } from "./clients";
import { type Words, wordsOf } from "./manifest.svelte";

let shown = $state.raw<readonly Words[]>([]);
let asked: Promise<readonly Words[]> | null = null;
let askedIn = "";

/** The games in words, as far as they have come; reading it in markup follows it. */
export function games(): readonly Words[] {
  return shown;
}

/** Those that can be played on this page: it can draw them. */
export function drawn(): readonly Words[] {
  return shown.filter(({ manifest }) => PICTURED.some((one) => one === manifest.game));
}

/** One game in words, if it has come. */
export function gameWords(game: string): Words | undefined {
  return shown.find((words) => words.manifest.game === game);
}

/** A game's name; its code until the words are there. */
export function gameName(game: string): string {
  return gameWords(game)?.manifest.name ?? game;
}

/** Sees to it that all games are there in words of a language; asked once. Throws what the calls throw. */
export async function loadGames(language: string): Promise<void> {
  if (asked === null || askedIn !== language) {
    askedIn = language;
    asked = all(language);
    asked.catch(() => {
      asked = null;
    });
  }
  const words = await asked;
  if (askedIn === language) shown = words;
}

async function all(language: string): Promise<readonly Words[]> {
  const { games: listed } = await play.listGames({ language });
  const words = await Promise.allSettled(listed.map(({ game }: GameSummary) => wordsOf(game, language)));
  const found = words.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  // Those that this page can draw come first, in its own order; the rest as the server names them.
  const place = ({ manifest }: Words): number => (PICTURED.findIndex((one) => one === manifest.game) + PICTURED.length + 1) % (PICTURED.length + 1);
  found.sort((a, b) => place(a) - place(b));
  // One game without words leaves the others; none at all is a fault.
  const fault = words.find((one) => one.status === "rejected");
  if (found.length === 0 && fault !== undefined) throw fault.reason;
  return found;
}
