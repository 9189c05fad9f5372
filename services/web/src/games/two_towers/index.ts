import { fromBinary } from "@bufbuild/protobuf";

import {
  CardPlayedSchema,
  EffectsAppliedSchema,
  file_grimoire_games_two_towers_v1_two_towers,
  type View,
  ViewSchema,
} from "../../gen/grimoire/games/two_towers/v1/two_towers_pb";
import type { Entry } from "../../match/entries";
import type { GameModule } from "../module";
import Board from "./Board.svelte";
import { phraseOf } from "./phrases";
import { inspect, sections, situation } from "./words";

/** What cards changed, by `seat.field`; what a turn produces is no news. */
function trace(entries: readonly Entry[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  const add = (seat: number, field: string, delta: number) => {
    const sum = (sums.get(`${seat}.${field}`) ?? 0) + delta;
    sums.set(`${seat}.${field}`, sum);
  };
  for (const { type, body } of entries.flatMap((entry) => entry.events)) {
    if (type === "effects_applied") {
      for (const change of fromBinary(EffectsAppliedSchema, body).changes) add(change.seat, change.field, change.delta);
    } else if (type === "card_played") {
      const played = fromBinary(CardPlayedSchema, body);
      add(played.seat, played.resource, -played.cost);
    }
  }
  for (const [key, sum] of sums) if (sum === 0) sums.delete(key);
  return sums;
}

const module: GameModule = {
  messages: file_grimoire_games_two_towers_v1_two_towers,
  phraseOf,
  decode: (bytes) => fromBinary(ViewSchema, bytes),
  Board,
  sections: (view, words, names, me) => sections(view as View, words, names, me),
  situation: (view, words, names, me) => situation(view as View, words, names, me),
  heading: (view, words) => ({
    place: words.itemName("battlefields", (view as View).battlefield) ?? (view as View).battlefield,
    turn: (view as View).turnNo,
  }),
  inspect: (ref, view, words) => inspect(ref, view as View, words),
  trace,
  refKeys: Object.fromEntries([0, 1, 2, 3, 4, 5].map((slot) => [String(slot + 1), `slot:${slot}`])),
  commandKeys: { p: "play_card", d: "discard_card" },
  grave: [],
};

export default module;
