import { isMessage, type Message } from "@bufbuild/protobuf";

import {
  ActionClosedSchema,
  ActionOpenedSchema,
  AttackDeclaredSchema,
  AttackStoppedSchema,
  BattleResolvedSchema,
  DeckSetSchema,
  DefenceMadeSchema,
  GroupWithdrawnSchema,
  LanternDimmedSchema,
  LanternLitSchema,
  LanternPlacedSchema,
  LanternPutOutSchema,
  MatchEndedSchema,
  PestMovedSchema,
  PositionArrangedSchema,
  SpellsDealtSchema,
  SpiritDrawnSchema,
  SpiritsDealtSchema,
  SpiritsExchangedSchema,
  StateEnteredSchema,
  SurvivorsPlacedSchema,
  TurnEndedSchema,
} from "../../gen/grimoire/games/wizards_garden/v1/wizards_garden_pb";
import type { Phrase, Say } from "../../play/phrase";

/** Which of the game's sentences an event is, where its code alone does not say; null: it is not news to anybody. */
export function phraseOf(event: Message, say: Say): Phrase | null | undefined {
  if (isMessage(event, DeckSetSchema) || isMessage(event, TurnEndedSchema) || isMessage(event, StateEnteredSchema)) return null;
  if (isMessage(event, SpiritsDealtSchema)) return event.cards.length > 0 ? {} : { key: "spirits_dealt_hidden" };
  if (isMessage(event, SpellsDealtSchema)) return event.spells.length > 0 ? {} : { key: "spells_dealt_hidden" };
  if (isMessage(event, ActionOpenedSchema)) {
    const action = event.source === "butterfly" ? "action.butterfly" : `action.${event.kind}.${event.steps}`;
    return { args: { source: say(`source.${event.source}`, {}), action: say(action, {}) } };
  }
  if (isMessage(event, ActionClosedSchema)) return event.reason === "used_up" ? null : { key: `action_closed_${event.reason}` };
  if (isMessage(event, PestMovedSchema)) return event.pair ? { key: "pair_moved" } : {};
  if (isMessage(event, SpiritDrawnSchema)) {
    return { key: `spirit_drawn_${event.source !== "deck" ? "open" : event.card === "" ? "hidden" : "deck"}` };
  }
  if (isMessage(event, LanternPlacedSchema)) return { args: { lantern: say(`lantern.${event.kind}`, {}) } };
  if (isMessage(event, LanternLitSchema)) return { key: `lantern_lit_${event.by}`, args: { lantern: say(`lantern.${event.kind}`, {}) } };
  if (isMessage(event, LanternPutOutSchema) || isMessage(event, LanternDimmedSchema)) return { args: { name: say(`name.${event.kind}`, {}) } };
  if (isMessage(event, AttackDeclaredSchema)) return event.group === "skull" ? { key: "attack_declared_skull" } : {};
  if (isMessage(event, DefenceMadeSchema)) return { key: `defence_made_${event.automatic ? "automatic" : event.with}` };
  if (isMessage(event, AttackStoppedSchema)) return { key: `attack_stopped_${event.why}` };
  if (isMessage(event, GroupWithdrawnSchema)) return { key: `group_withdrawn_${event.to}` };
  if (isMessage(event, BattleResolvedSchema)) return { key: `battle_resolved_${event.outcome}` };
  if (isMessage(event, SurvivorsPlacedSchema)) {
    if (event.pieces.length === 0) return null;
    return event.to === "supply" ? { key: "survivors_placed_supply" } : {};
  }
  if (isMessage(event, SpiritsExchangedSchema)) return { args: { a: say.item(event.a?.card ?? ""), b: say.item(event.b?.card ?? "") } };
  if (isMessage(event, PositionArrangedSchema)) return { args: { turn: String(event.turnNo), seat: say.seat(event.activeSeat) } };
  if (isMessage(event, MatchEndedSchema)) {
    if (event.result === "draw") return { key: "match_ended_draw" };
    return { key: `match_ended_${event.reason}`, args: { winner: say.seat(event.result === "red" ? 1 : 0) } };
  }
  return {};
}
