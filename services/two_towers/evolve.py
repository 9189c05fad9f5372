"""Events into changes of the state: no rules, no randomness, no catalogue (TT-11.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from google.protobuf.message import Message

from grimoire.engine import Seat
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from two_towers.draft import Draft
from two_towers.fields import FIELD_INDEX
from two_towers.state import Phase, Result, State, Terms

__all__ = ["evolve", "fold", "numbers_of"]


def numbers_of(numbers: pb.SeatNumbers) -> tuple[int, ...]:
    """The eight numbers of the message, in the order of `fields.FIELDS`."""
    return (
        numbers.tower,
        numbers.wall,
        numbers.mines,
        numbers.monasteries,
        numbers.barracks,
        numbers.ore,
        numbers.mana,
        numbers.recruits,
    )


def _battle_begun(draft: Draft, event: pb.BattleBegun) -> None:
    terms = Terms(
        deck_type=event.deck_type,
        battlefield=event.battlefield,
        goal_tower=event.goal_tower,
        goal_resource=event.goal_resource,
        timeout_limit=event.timeout_limit,
        first_seat=Seat(event.first_seat),
        standard=event.HasField("pile_count"),
    )
    draft.begin(terms, map(numbers_of, event.numbers))


def _pile_ordered(draft: Draft, event: pb.PileOrdered) -> None:
    draft.order_pile(event.cards)


def _hand_dealt(draft: Draft, event: pb.HandDealt) -> None:
    draft.deal(event.seat, event.cards)


def _turn_started(draft: Draft, event: pb.TurnStarted) -> None:
    stocks = event.stocks_after
    draft.start_turn(event.turn_no, event.seat, (stocks.ore, stocks.mana, stocks.recruits))


def _card_played(draft: Draft, event: pb.CardPlayed) -> None:
    draft.play(event.seat, event.slot, event.card, FIELD_INDEX[event.resource], event.stock_after)


def _effects_applied(draft: Draft, event: pb.EffectsApplied) -> None:
    for change in event.changes:
        draft.change(change.seat, FIELD_INDEX[change.field], change.value)


def _card_discarded(draft: Draft, event: pb.CardDiscarded) -> None:
    draft.discard(event.seat, event.slot, event.card, event.cause)


def _pile_reshuffled(draft: Draft, event: pb.PileReshuffled) -> None:
    draft.reshuffle(event.n, event.cards)


def _card_drawn(draft: Draft, event: pb.CardDrawn) -> None:
    draft.draw(event.seat, event.slot, event.card, event.cause)


def _turn_timed_out(draft: Draft, event: pb.TurnTimedOut) -> None:
    draft.time_out(event.seat, event.consecutive)


def _turn_ended(draft: Draft, event: pb.TurnEnded) -> None:
    """Nothing of the state belongs to the end of a turn; the next turn's start says what changes."""


def _match_ended(draft: Draft, event: pb.MatchEnded) -> None:
    winner = event.winner if event.HasField("winner") else None
    draft.end(Result(winner, tuple(event.reasons), event.ladder_step))


def _position_arranged(draft: Draft, event: pb.PositionArranged) -> None:
    odd = event.turn_no % 2 == 1
    terms = Terms(
        deck_type=event.deck_type,
        battlefield=event.battlefield,
        goal_tower=event.goal_tower,
        goal_resource=event.goal_resource,
        timeout_limit=event.timeout_limit,
        first_seat=Seat(event.active_seat if odd else 1 - event.active_seat),  # turns alternate
        arranged=True,
        standard=event.HasField("pile_count"),
    )
    draft.begin(terms, map(numbers_of, event.numbers))
    for hand in event.hands:
        draft.deal(hand.seat, hand.cards)
    draft.arrange(
        active=event.active_seat,
        turn_no=event.turn_no,
        phase=Phase(event.phase),
        plays=event.plays_this_turn,
        timeouts=event.timeouts,
        pile=event.pile,
        discards=event.discards,
        reshuffles=event.reshuffles,
        draws_made=event.draws_made,
    )


_HANDLERS: dict[type[Message], Callable[[Draft, Any], None]] = {
    pb.BattleBegun: _battle_begun,
    pb.PileOrdered: _pile_ordered,
    pb.HandDealt: _hand_dealt,
    pb.TurnStarted: _turn_started,
    pb.CardPlayed: _card_played,
    pb.EffectsApplied: _effects_applied,
    pb.CardDiscarded: _card_discarded,
    pb.PileReshuffled: _pile_reshuffled,
    pb.CardDrawn: _card_drawn,
    pb.TurnTimedOut: _turn_timed_out,
    pb.TurnEnded: _turn_ended,
    pb.MatchEnded: _match_ended,
    pb.PositionArranged: _position_arranged,
}


def evolve(state: State, event: Message) -> State:
    """The state after one event."""
    return fold(state, (event,))


def fold(state: State, events: Iterable[Message]) -> State:
    """The state after these events, thawed and frozen once."""
    draft = Draft(state)
    for event in events:
        _HANDLERS[type(event)](draft, event)
    return draft.freeze()
