import { fromBinary } from "@bufbuild/protobuf";

import { file_grimoire_games_broom_service_v1_broom_service, type View, ViewSchema } from "../../gen/grimoire/games/broom_service/v1/broom_service_pb";
import type { GameModule } from "../module";
import Board from "./Board.svelte";
import { phraseOf } from "./phrases";
import { commandName, keyRef, thingName } from "./refs";
import { pointed } from "./pointed";
import { traceOf } from "./trace";
import { capital, inspect, nameOf, sections, situation, underWay } from "./words";

const module: GameModule = {
  messages: file_grimoire_games_broom_service_v1_broom_service,
  phraseOf,
  decode: (bytes) => fromBinary(ViewSchema, bytes),
  Board,
  sections: (view, words, names, me) => sections(view as View, words, names, me),
  situation: (view, words, names) => situation(view as View, words, names),
  context: (view, words) => underWay(view as View, words),
  heading: (view, words) => ({ place: capital(nameOf(words, (view as View).event)), turn: (view as View).round }),
  inspect: (ref, view, words) => inspect(ref, view as View, words),
  pointed: (prompt, view) => pointed(prompt, view as View),
  thing: thingName,
  commandName,
  trace: traceOf,
  tracesOwn: true,
  offersCommands: true,
  refKeys: {},
  keyRef: (key, view) => keyRef(key, view as View),
  keyRefs: { "1 – 0": "broom_service.key_roles", b: "broom_service.key_brave", c: "broom_service.key_cowardly" },
  commandKeys: { k: ["skip_step", "decline_extra", "decline_set"] },
  placeKeys: { r: "broom_service.place_region", g: "broom_service.place_map" },
  grave: [],
};

export default module;
