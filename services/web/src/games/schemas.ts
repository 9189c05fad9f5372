import type { DescFile, DescMessage } from "@bufbuild/protobuf";

import { file_grimoire_games_two_towers_v1_two_towers } from "../gen/grimoire/games/two_towers/v1/two_towers_pb";

/** The messages of each game; a game that is not here can still be followed, in bare words. */
const FILES: Readonly<Record<string, DescFile>> = {
  two_towers: file_grimoire_games_two_towers_v1_two_towers,
};

/** The message of a command or event: `play_card` is `PlayCard`. */
export function messageOf(game: string, code: string): DescMessage | null {
  const name = code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return FILES[game]?.messages.find((message) => message.name === name) ?? null;
}
