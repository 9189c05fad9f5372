import type { Message } from "@bufbuild/protobuf";
import { isMessage } from "@bufbuild/protobuf";

import {
  CloudCharmedSchema,
  CountsRevealedSchema,
  ExtraAnsweredSchema,
  ExtrasRevealedSchema,
  MatchEndedSchema,
  OfferMadeSchema,
  OffersRevealedSchema,
  PawnMovedSchema,
  PotionDeliveredSchema,
  ResourcesChangedSchema,
  RolePlayedSchema,
  RolesChosenSchema,
  SeatRetiredSchema,
  SeatsAskedSchema,
  StepClosedSchema,
  StepOpenedSchema,
  StepUsedSchema,
  TableLaidSchema,
  TimeoutsClearedSchema,
  TrickEndedSchema,
  VpChangedSchema,
} from "../../gen/grimoire/games/broom_service/v1/broom_service_pb";
import type { Phrase, Say } from "../../play/phrase";
import { type Amounts, RESOURCES } from "./picture";

/** Seats under other names than `seat`. */
const SEATS = ["by", "leader", "nextLeader", "firstSeat", "braveSeat"] as const;
/** A field, the argument it gives, and which form of the region that is. */
const PLACES = [
  ["region", "place", "at"],
  ["region", "source", "from"],
  ["to", "goal", "to"],
  ["from", "source", "from"],
] as const;
/** Told with a delivery, a charm, offers and sets: what came and went with them. */
const RESOURCES_TOLD = new Set(["delivery", "charm", "the_upper_hand", "the_works"]);
const POINTS_TOLD = new Set(["delivery", "charm", "the_works"]);
/** Reasons of points that are no event of a round. */
const OWN_SENTENCE = new Set(["bewitched", "show", "five_points"]);

/** Which of the game's sentences an event is, where its code alone does not say; null: it is not news to anybody. */
export function phraseOf(event: Message, say: Say): Phrase | null | undefined {
  const ending = endingOf(event);
  if (ending === null) return null;
  const name = event.$typeName.split(".").at(-1) ?? "";
  const code = name.replace(/(?<!^)([A-Z])/g, "_$1").toLowerCase();
  const args = { ...argumentsOf(event as unknown as Readonly<Record<string, unknown>>, say), ...more(event, say) };
  return { key: ending === "" ? code : `${code}_${ending}`, args };
}

function argumentsOf(fields: Readonly<Record<string, unknown>>, say: Say): Record<string, string> {
  const args: Record<string, string> = {};
  for (const name of SEATS) if (typeof fields[name] === "number") args[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = say.seat(fields[name]);
  for (const name of ["seats", "winners"]) {
    const seats = fields[name];
    if (Array.isArray(seats) && seats.every((seat) => typeof seat === "number")) args[name] = seats.map((seat) => say.seat(seat)).join(", ");
  }
  const { pawn } = fields as { pawn?: unknown };
  if (typeof pawn === "number") args["pawn"] = say.item(String(pawn));
  for (const [field, argument, form] of PLACES) {
    const place = fields[field];
    if (typeof place === "string" && /^[pfhmw]\d/.test(place)) args[argument] = say(`${form}.${place}`, {});
  }
  return args;
}

/** What follows the code of an event; null: it is not said. */
function endingOf(event: Message): string | null {
  if (isMessage(event, StepOpenedSchema) || isMessage(event, StepUsedSchema) || isMessage(event, TimeoutsClearedSchema)) return null;
  if (isMessage(event, SeatsAskedSchema)) return event.stage;
  if (isMessage(event, StepClosedSchema)) return event.reason === "done" ? null : event.reason;
  if (isMessage(event, ResourcesChangedSchema)) return RESOURCES_TOLD.has(event.reason) ? null : event.reason;
  if (isMessage(event, VpChangedSchema)) return POINTS_TOLD.has(event.reason) ? null : OWN_SENTENCE.has(event.reason) ? event.reason : "";
  if (isMessage(event, SeatRetiredSchema) || isMessage(event, MatchEndedSchema)) return event.reason;
  if (isMessage(event, RolesChosenSchema)) return event.roles.length > 0 ? "own" : "";
  if (isMessage(event, ExtraAnsweredSchema)) return event.used ? "own" : "";
  if (isMessage(event, ExtrasRevealedSchema)) return event.extras.length > 0 ? "" : "none";
  if (isMessage(event, RolePlayedSchema)) return event.spentRole ? "spent" : event.instead === "" ? event.stance : event.instead === "event" ? "event" : "tile";
  if (isMessage(event, TrickEndedSchema)) return event.braveSeat === undefined ? "none" : "";
  if (isMessage(event, PawnMovedSchema)) return event.cause === "turbo" ? "turbo" : "";
  if (isMessage(event, PotionDeliveredSchema)) return event.wands > 0 ? "wands" : "";
  if (isMessage(event, CloudCharmedSchema)) return event.vpBonus > 0 ? "bonus" : "";
  if (isMessage(event, OfferMadeSchema)) return event.resources === undefined ? "" : "own";
  return "";
}

/** Arguments that are not plain fields. */
function more(event: Message, say: Say): Record<string, string> {
  const count = (seat: number, n: number): string => say("count", { seat: say.seat(seat), n: String(n) });
  const sum = (amounts: Amounts | undefined): number => RESOURCES.reduce((total, one) => total + (amounts?.[one] ?? 0), 0);
  if (isMessage(event, TableLaidSchema)) return { n: String(event.clouds.length) };
  if (isMessage(event, CountsRevealedSchema)) return { counts: event.counts.map((n, seat) => count(seat, n)).join(", ") };
  if (isMessage(event, ExtrasRevealedSchema)) return { seats: event.extras.map(({ seat }) => say.seat(seat)).join(", ") };
  if (isMessage(event, ResourcesChangedSchema)) return { list: listOf(event.deltas, say) };
  if (isMessage(event, VpChangedSchema)) return { delta: `${event.delta > 0 ? "+" : ""}${event.delta}` };
  if (isMessage(event, PotionDeliveredSchema)) {
    const parts = [event.vpTower, event.vpBonus, event.vpStorm].filter((part) => part > 0);
    const total = parts.reduce((a, b) => a + b, 0);
    return { sum: parts.length > 1 ? `${parts.join(" + ")} = ${total}` : String(total) };
  }
  if (isMessage(event, OfferMadeSchema)) return { list: listOf(event.resources, say) };
  if (isMessage(event, OffersRevealedSchema)) return { counts: event.offers.map(({ seat, resources }) => count(seat, sum(resources))).join(", ") };
  if (isMessage(event, MatchEndedSchema)) return { scores: event.scores.map(({ seat, vp }) => count(seat, vp)).join(", ") };
  return {};
}

function listOf(amounts: Amounts | undefined, say: Say): string {
  const told = RESOURCES.flatMap((one) => {
    const n = Math.abs(amounts?.[one] ?? 0);
    return n === 0 ? [] : [say(`amount.${one}`, { n: String(n) })];
  });
  return told.length === 0 ? say("amount.none", {}) : told.join(", ");
}
