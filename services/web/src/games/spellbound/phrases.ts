import type { Message } from "@bufbuild/protobuf";
import { isMessage } from "@bufbuild/protobuf";

import {
  AllyRecruitedSchema,
  BagRefilledSchema,
  BatchFormedSchema,
  BattleDeclaredSchema,
  CardEndedSchema,
  CardPlayedSchema,
  DestinyDeckSetSchema,
  EncounterCountedSchema,
  EncounterWonSchema,
  PieceMovedSchema,
  PiecesPlacedSchema,
  PositionArrangedSchema,
  RideAnsweredSchema,
  TowerClearedSchema,
  TurnEndedSchema,
  VillageRestockedSchema,
  WatchmanMovedSchema,
  WickedCardAddedSchema,
  WindowClosedSchema,
} from "../../gen/grimoire/games/spellbound/v1/spellbound_pb";
import type { Phrase, Say } from "../../play/phrase";

/** Events whose code and this field name the sentence. */
const VARIANTS: Readonly<Record<string, string>> = {
  SentToTower: "pile",
  MageMoved: "cause",
  WandCharged: "cause",
  WandUsed: "level",
  StoneDrawn: "stone",
  FortunaResolved: "stone",
  DestinyCardDrawn: "to",
  CardDiscarded: "cause",
  WindowOpened: "window",
  ReactionPolicySet: "policy",
  MatchEnded: "reason",
};
/** Uses of a card that are worth telling; of the others the card's name says enough. */
const PLAYED = new Set(["research", "move", "influence", "decimate"]);
/** Fields whose number is a mage. */
const MAGES = ["mage", "rider", "puppet", "target"];
/** A field, the argument it gives, and which form of the place that is. */
const PLACES = [
  ["village", "place", "at"],
  ["to", "place", "at"],
  ["to", "goal", "to"],
  ["from", "source", "from"],
] as const;
const PLACE = /^(city_|village_|wilderness$)/;

/** Which of the game's sentences an event is, where its code alone does not say; null: it is not news to anybody. */
export function phraseOf(event: Message, say: Say): Phrase | null | undefined {
  if (isMessage(event, TurnEndedSchema) || isMessage(event, WindowClosedSchema)) return null;
  const name = event.$typeName.split(".").at(-1) ?? "";
  const code = name.replace(/(?<!^)([A-Z])/g, "_$1").toLowerCase();
  const fields = event as unknown as Readonly<Record<string, unknown>>;
  const args = { ...argumentsOf(fields, say), ...more(event, say) };
  const variant = VARIANTS[name];
  if (variant !== undefined) return { key: `${code}_${String(fields[variant]) || "none"}`, args };
  const ending = endingOf(event);
  return ending === null ? null : { key: ending === "" ? code : `${code}_${ending}`, args };
}

function argumentsOf(fields: Readonly<Record<string, unknown>>, say: Say): Record<string, string> {
  const args: Record<string, string> = {};
  for (const name of MAGES) if (typeof fields[name] === "number") args[name] = say.item(String(fields[name]));
  for (const [field, argument, form] of PLACES) {
    const place = fields[field];
    if (typeof place === "string" && PLACE.test(place)) args[argument] = say(`${form}.${place}`, {});
  }
  return args;
}

/** What follows the code of an event that is worded by what it holds; null: it is not said. */
function endingOf(event: Message): string | null {
  if (isMessage(event, DestinyDeckSetSchema)) return event.number > 0 ? "swept" : "";
  if (isMessage(event, CardPlayedSchema)) return PLAYED.has(event.mode) ? event.mode : "";
  if (isMessage(event, CardEndedSchema)) return event.to === "guard" ? "guard" : PLACE.test(event.to) ? "village" : "";
  if (isMessage(event, RideAnsweredSchema)) return event.accept ? "yes" : "no";
  if (isMessage(event, AllyRecruitedSchema)) return event.toDiscards.length > 0 ? "with" : "";
  if (isMessage(event, VillageRestockedSchema)) return event.card === "" ? "none" : "";
  if (isMessage(event, WatchmanMovedSchema)) return event.from === "" ? "set" : "";
  // What a wicked card moves is said when it acts, and when the piece moves.
  if (isMessage(event, BatchFormedSchema)) return event.cause === "witch" || event.cause === "troll" ? null : event.cause;
  if (isMessage(event, PieceMovedSchema)) return event.by > 0 ? "on" : "back";
  if (isMessage(event, WickedCardAddedSchema)) return event.nextTop === "" ? "last" : "";
  if (isMessage(event, EncounterCountedSchema)) return event.result;
  if (isMessage(event, EncounterWonSchema)) return event.minion === "" ? "none" : "";
  if (isMessage(event, BattleDeclaredSchema)) return event.destroyed.length > 0 ? "destroying" : "";
  return "";
}

/** Arguments that are not plain fields. */
function more(event: Message, say: Say): Record<string, string> {
  const stones = (of: { sun: number; moon: number } | undefined) => say("stones", { sun: String(of?.sun ?? 0), moon: String(of?.moon ?? 0) });
  if (isMessage(event, PiecesPlacedSchema)) return { hat: String(event.hats[0]), book: String(event.books[0]), stones: stones(event.bag) };
  if (isMessage(event, BagRefilledSchema)) return { stones: stones(event) };
  if (isMessage(event, TowerClearedSchema)) return { n: String(event.cards.length) };
  if (isMessage(event, BattleDeclaredSchema)) return { n: String(event.books.filter(({ use }) => use === "sun").length) };
  if (isMessage(event, PositionArrangedSchema)) return { mage: say.item(String(event.turnMage)) };
  return {};
}
