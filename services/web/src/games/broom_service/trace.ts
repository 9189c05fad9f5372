import { fromBinary } from "@bufbuild/protobuf";

import {
  AmuletTakenSchema,
  CloudCharmedSchema,
  ForestTileTakenSchema,
  PawnMovedSchema,
  PotionDeliveredSchema,
  ResourcesChangedSchema,
  VpChangedSchema,
} from "../../gen/grimoire/games/broom_service/v1/broom_service_pb";
import type { Event } from "../../gen/grimoire/v1/match_pb";
import type { Happened } from "../../match/entries";
import { RESOURCES } from "./picture";

/** What changed: 1 by region where something happened; `vp.<seat>` and `<resource>.<seat>` by how much. */
export function traceOf(entries: readonly Happened[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const event of entries.flatMap((entry) => entry.events)) take(event, found);
  for (const [key, sum] of found) if (sum === 0) found.delete(key);
  return found;
}

function take({ type, body }: Event, found: Map<string, number>): void {
  const add = (key: string, delta: number): void => void found.set(key, (found.get(key) ?? 0) + delta);
  switch (type) {
    case "pawn_moved":
      return void found.set(fromBinary(PawnMovedSchema, body).to, 1);
    case "potion_delivered":
      return void found.set(fromBinary(PotionDeliveredSchema, body).region, 1);
    case "amulet_taken":
      return void found.set(fromBinary(AmuletTakenSchema, body).region, 1);
    case "forest_tile_taken":
      return void found.set(fromBinary(ForestTileTakenSchema, body).region, 1);
    case "cloud_charmed": {
      const { space } = fromBinary(CloudCharmedSchema, body);
      return void found.set(`space.${space}`, 1);
    }
    case "vp_changed": {
      const { seat, delta } = fromBinary(VpChangedSchema, body);
      return add(`vp.${seat}`, delta);
    }
    case "resources_changed": {
      const { seat, deltas } = fromBinary(ResourcesChangedSchema, body);
      for (const one of RESOURCES) add(`${one}.${seat}`, deltas?.[one] ?? 0);
    }
  }
}
