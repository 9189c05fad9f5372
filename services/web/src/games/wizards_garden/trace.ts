import { fromBinary } from "@bufbuild/protobuf";

import {
  FireCollectedSchema,
  FireReturnedSchema,
  FishFireLaidSchema,
  FishFireRemovedSchema,
  GnomeBroughtSchema,
  GnomeDestroyedSchema,
  GnomeFreedSchema,
  GnomeMovedSchema,
  GnomePossessedSchema,
  GroupAdvancedSchema,
  LanternDimmedSchema,
  LanternPlacedSchema,
  PestBroughtSchema,
  PestDestroyedSchema,
  PestMovedSchema,
  SurvivorsPlacedSchema,
  WaterCollectedSchema,
  WaterReturnedSchema,
} from "../../gen/grimoire/games/wizards_garden/v1/wizards_garden_pb";
import type { Event } from "../../gen/grimoire/v1/match_pb";
import type { Happened } from "../../match/entries";
import { seatOfGnome } from "./picture";

/** Spaces where something happened, each with 1; and by `seat.what` what a side gained or lost: fire, lanterns, gnomes. */
export function traceOf(entries: readonly Happened[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const add = (key: string, delta: number) => found.set(key, (found.get(key) ?? 0) + delta);
  for (const event of entries.flatMap((entry) => entry.events)) {
    for (const space of spacesOf(event)) if (/^[a-e][1-7]$/.test(space)) found.set(space, 1);
    count(event, add);
  }
  for (const [key, sum] of found) if (sum === 0) found.delete(key);
  return found;
}

function spacesOf({ type, body }: Event): readonly string[] {
  switch (type) {
    case "gnome_moved":
      return pair(fromBinary(GnomeMovedSchema, body));
    case "pest_moved":
      return pair(fromBinary(PestMovedSchema, body));
    case "gnome_brought":
      return [fromBinary(GnomeBroughtSchema, body).to];
    case "pest_brought":
      return [fromBinary(PestBroughtSchema, body).to];
    case "gnome_destroyed":
      return [fromBinary(GnomeDestroyedSchema, body).space];
    case "pest_destroyed":
      return [fromBinary(PestDestroyedSchema, body).space];
    case "group_advanced":
      return [fromBinary(GroupAdvancedSchema, body).to];
    case "survivors_placed":
      return [fromBinary(SurvivorsPlacedSchema, body).to];
    case "water_collected":
      return [fromBinary(WaterCollectedSchema, body).deposit];
    case "water_returned":
      return [fromBinary(WaterReturnedSchema, body).deposit];
    case "fish_fire_laid":
      return [fromBinary(FishFireLaidSchema, body).space];
    case "fish_fire_removed":
      return [fromBinary(FishFireRemovedSchema, body).space];
    case "gnome_possessed":
      return [fromBinary(GnomePossessedSchema, body).space];
    case "gnome_freed":
      return [fromBinary(GnomeFreedSchema, body).space];
    case "lantern_placed":
      return [fromBinary(LanternPlacedSchema, body).space];
    case "lantern_dimmed":
      return [fromBinary(LanternDimmedSchema, body).space];
    default:
      return [];
  }
}

function pair({ from, to }: { from: string; to: string }): string[] {
  return [from, to];
}

function count({ type, body }: Event, add: (key: string, delta: number) => void): void {
  switch (type) {
    case "fire_collected":
      return add(`${fromBinary(FireCollectedSchema, body).seat}.fire`, 1);
    case "fire_returned": {
      const { seat, amount } = fromBinary(FireReturnedSchema, body);
      return add(`${seat}.fire`, -amount);
    }
    case "lantern_placed":
      return add(`${fromBinary(LanternPlacedSchema, body).seat}.lanterns`, 1);
    case "lantern_dimmed":
      return add(`${fromBinary(LanternDimmedSchema, body).seat}.lanterns`, -1);
    case "gnome_destroyed":
      return add(`${seatOfGnome(fromBinary(GnomeDestroyedSchema, body).piece)}.gnomes`, -1);
  }
}
