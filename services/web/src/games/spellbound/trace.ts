import { fromBinary } from "@bufbuild/protobuf";

import {
  BattleDeclaredSchema,
  BookMovedSchema,
  DestinyCardDrawnSchema,
  EncounterCountedSchema,
  InfluenceAddedSchema,
  MageMovedSchema,
  PieceMovedSchema,
  type Parts,
  PositionArrangedSchema,
  VillageRevealedSchema,
  WandChargedSchema,
} from "../../gen/grimoire/games/spellbound/v1/spellbound_pb";
import type { Event } from "../../gen/grimoire/v1/match_pb";
import type { Happened } from "../../match/entries";

/** The parts that an encounter counts, in the order of the table, the witch's first (SB-14.6). */
export const PARTS = ["strength", "moonstones", "moonPile", "minions", "sunstones", "sunPile", "books"] as const satisfies readonly (keyof Parts)[];
export const RESULTS = ["won", "one_step", "two_steps", "annihilation", "lost"] as const;

/**
 * What changed: by piece or book the spaces that it moved, by place, village or card 1 where something happened; and of the
 * last encounter `encounter.<part>`, `encounter.sun`, `encounter.moon`, `encounter.result`, a number of RESULTS, and of the
 * command that led to it `encounter.version` and `encounter.seat`, -1 for the clock. Of the final battle, once it was declared,
 * `battle.books`: so many books are sun force; nothing but the match's end follows it, so that it stands whatever else is marked.
 *
 * @param entries what is marked.
 * @param log all that has happened so far.
 */
export function traceOf(entries: readonly Happened[], log: readonly Happened[] = entries): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const entry of entries) for (const event of entry.events) take(event, entry, found);
  for (const [key, sum] of found) if (sum === 0 && !key.startsWith("encounter.")) found.delete(key);
  const books = battleBooks(log);
  if (books !== null) found.set("battle.books", books);
  return found;
}

/** Books that are sun force in the final battle; null: none was declared. */
function battleBooks(log: readonly Happened[]): number | null {
  const declared = log.flatMap(({ events }) => events).findLast(({ type }) => type === "battle_declared" || type === "position_arranged");
  if (declared === undefined) return null;
  if (declared.type === "battle_declared") return fromBinary(BattleDeclaredSchema, declared.body).books.filter(({ use }) => use === "sun").length;
  const { battle, battleBooks: books } = fromBinary(PositionArrangedSchema, declared.body);
  return battle ? books : null;
}

function take({ type, body }: Event, { version, seat }: Happened, found: Map<string, number>): void {
  const add = (key: string, delta: number): void => void found.set(key, (found.get(key) ?? 0) + delta);
  switch (type) {
    case "piece_moved": {
      const { piece, by } = fromBinary(PieceMovedSchema, body);
      return add(piece, by);
    }
    case "book_moved":
      return add(fromBinary(BookMovedSchema, body).book, 1);
    case "mage_moved":
      return void found.set(fromBinary(MageMovedSchema, body).to, 1);
    case "village_revealed":
      return void found.set(fromBinary(VillageRevealedSchema, body).village, 1);
    case "influence_added":
      return void found.set(fromBinary(InfluenceAddedSchema, body).village, 1);
    case "destiny_card_drawn":
      return void found.set(fromBinary(DestinyCardDrawnSchema, body).card, 1);
    case "wand_charged":
      return add(`wand.${fromBinary(WandChargedSchema, body).mage}`, 1);
    case "encounter_counted": {
      const { sun, moon, parts, result } = fromBinary(EncounterCountedSchema, body);
      for (const part of PARTS) found.set(`encounter.${part}`, parts?.[part] ?? 0);
      found.set("encounter.sun", sun);
      found.set("encounter.moon", moon);
      found.set("encounter.version", version);
      found.set("encounter.seat", seat ?? -1);
      found.set("encounter.result", RESULTS.findIndex((each) => each === result));
    }
  }
}
