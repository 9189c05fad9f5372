import type { Message } from "@bufbuild/protobuf";

import {
  CardDiscardedSchema,
  CardDrawnSchema,
  type EffectsApplied,
  EffectsAppliedSchema,
  HandDealtSchema,
  MatchEndedSchema,
  TurnStartedSchema,
} from "../../gen/grimoire/games/two_towers/v1/two_towers_pb";
import { isMessage } from "@bufbuild/protobuf";
import type { Phrase, Say } from "../../play/phrase";

/** + and − are words of their own here: gains and losses are told apart by them. */
export function signed(n: number): string {
  return n < 0 ? `−${-n}` : `+${n}`;
}

/** Which of the game's sentences an event is, where its code alone does not say; null: it is not news to anybody. */
export function phraseOf(event: Message, say: Say): Phrase | null | undefined {
  if (isMessage(event, HandDealtSchema)) return event.cards.length === 0 ? { key: "hand_dealt_hidden" } : {};
  if (isMessage(event, CardDrawnSchema)) return event.card === "" ? { key: "card_drawn_hidden" } : {};
  if (isMessage(event, CardDiscardedSchema)) return { key: `card_discarded_${event.cause}` };
  if (isMessage(event, TurnStartedSchema)) {
    const { ore = 0, mana = 0, recruits = 0 } = event.produced ?? {};
    return { args: { ore: String(ore), mana: String(mana), recruits: String(recruits) } };
  }
  if (isMessage(event, EffectsAppliedSchema)) return { args: { changes: changes(event, say) } };
  if (isMessage(event, MatchEndedSchema)) {
    const key = event.winner === undefined ? "match_ended_draw" : event.ladderStep === "" ? "match_ended_win" : "match_ended_ladder";
    return { key };
  }
  if (event.$typeName.endsWith(".PileOrdered") || event.$typeName.endsWith(".TurnEnded")) return null;
  return {};
}

function changes(event: EffectsApplied, say: Say): string {
  return event.changes
    .map(({ seat, field, delta, value }) =>
      say("change", { seat: say.seat(seat), field: say.term(field), delta: signed(delta), value: String(value) }),
    )
    .join("; ");
}
