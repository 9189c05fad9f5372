import { createClient } from "@connectrpc/connect";

import { ReplayService } from "../gen/grimoire/v1/replay_pb";
import { TransparencyService } from "../gen/grimoire/v1/transparency_pb";
import { transport } from "./transport";

// Apart from the others, so that a lobby does not load what only replays and audits need.
export const replays = createClient(ReplayService, transport);
export const transparency = createClient(TransparencyService, transport);
