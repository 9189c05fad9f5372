import type { GameSummary } from "../gen/grimoire/v1/play_pb";
import { play } from "./clients";
import { type Words, wordsOf } from "./manifest.svelte";

let listed: Promise<readonly GameSummary[]> | null = null;
let listedIn = "";

/** The games that are played here, in words of a language; asked once. Throws what the call throws. */
export async function gamesOf(language: string): Promise<readonly GameSummary[]> {
  if (listed === null || listedIn !== language) {
    listedIn = language;
    listed = play.listGames({ language }).then((answer) => answer.games);
    listed.catch(() => {
      listed = null;
    });
  }
  return listed;
}

/** Every game with its words. */
export async function allWords(language: string): Promise<readonly Words[]> {
  const games = await gamesOf(language);
  return Promise.all(games.map(({ game }) => wordsOf(game, language)));
}
