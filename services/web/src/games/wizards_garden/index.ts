import { fromBinary } from "@bufbuild/protobuf";

import {
  file_grimoire_games_wizards_garden_v1_wizards_garden,
  type View,
  ViewSchema,
} from "../../gen/grimoire/games/wizards_garden/v1/wizards_garden_pb";
import type { GameModule } from "../module";
import Board from "./Board.svelte";
import { phraseOf } from "./phrases";
import { pointed } from "./pointed";
import { traceOf } from "./trace";
import { termOf } from "../../play/sentence";
import { commandName, thingName } from "./refs";
import { inspect, sections, situation, underWay } from "./words";

const module: GameModule = {
  messages: file_grimoire_games_wizards_garden_v1_wizards_garden,
  phraseOf,
  decode: (bytes) => fromBinary(ViewSchema, bytes),
  Board,
  sections: (view, words, names, me) => sections(view as View, words, names, me),
  situation: (view, words, names, me) => situation(view as View, words, names, me),
  context: (view, words, names) => underWay(view as View, words, names),
  heading: (view, words) => ({ place: termOf(words, (view as View).phase), turn: (view as View).turnNo }),
  inspect: (ref, view, words) => inspect(ref, view as View, words),
  pointed: (prompt, view) => pointed(prompt, view as View),
  thing: thingName,
  commandName,
  trace: traceOf,
  offersCommands: true,
  refKeys: {},
  commandKeys: { e: ["end_action", "end_phase"] },
  placeKeys: { g: "wizards_garden.place_threats" },
  grave: [],
};

export default module;
