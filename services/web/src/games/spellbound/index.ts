import { fromBinary } from "@bufbuild/protobuf";

import { file_grimoire_games_spellbound_v1_spellbound, type View, ViewSchema } from "../../gen/grimoire/games/spellbound/v1/spellbound_pb";
import { termOf } from "../../play/sentence";
import type { GameModule } from "../module";
import Board from "./Board.svelte";
import { phraseOf } from "./phrases";
import { pointed } from "./pointed";
import { commandName, keyRef, thingName } from "./refs";
import { traceOf } from "./trace";
import { inspect, sections, situation, underWay } from "./words";

const module: GameModule = {
  messages: file_grimoire_games_spellbound_v1_spellbound,
  phraseOf,
  decode: (bytes) => fromBinary(ViewSchema, bytes),
  Board,
  sections: (view, words, names) => sections(view as View, words, names),
  situation: (view, words, names) => situation(view as View, words, names),
  context: (view, words, names) => underWay(view as View, words, names),
  heading: (view, words) => ({ place: termOf(words, (view as View).state), turn: (view as View).turn }),
  inspect: (ref, view, words) => inspect(ref, view as View, words),
  pointed: (prompt) => pointed(prompt),
  thing: thingName,
  commandName,
  trace: traceOf,
  tracesOwn: true,
  offersCommands: "whole",
  refKeys: {},
  keyRef: (key, view) => keyRef(key, view as View),
  keyRefs: { "1 – 9": "spellbound.key_cards", w: "spellbound.wand_own" },
  commandKeys: { e: ["end_card", "end_story", "pass", "skip_turn"] },
  placeKeys: { v: "spellbound.place_villages", c: "spellbound.place_cities", s: "spellbound.place_spells" },
  grave: ["declare_final_battle"],
};

export default module;
