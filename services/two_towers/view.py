"""What a viewer may know (TT-6.2, TT-6.3), as the game's view message. Clients compute nothing."""

from __future__ import annotations

import functools

from grimoire.engine import Viewer, ViewerKind
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from two_towers.cards import CARDS
from two_towers.fields import Numbers
from two_towers.state import EMPTY, State
from two_towers.turn import PLAY_LIMIT, TURN_LIMIT

__all__ = ["view"]


def view(state: State, viewer: Viewer) -> pb.View:
    """The match as this viewer may see it.

    Raises:
        ValueError: for a seat that the match does not have.
    """
    terms = state.terms
    everything = viewer.kind is ViewerKind.ALL
    own = viewer.seat if viewer.kind is ViewerKind.SEAT else None
    if own not in (None, 0, 1):
        raise ValueError(f"Two Towers has no seat {own}")
    message = pb.View(
        own_seat=own,
        battlefield=terms.battlefield,
        deck_type=terms.deck_type,
        goal_tower=terms.goal_tower,
        goal_resource=terms.goal_resource,
        first_seat=terms.first_seat,
        turn_no=state.turn_no,
        turn_limit=TURN_LIMIT,
        active_seat=state.active,
        phase=state.phase.value,
        plays_this_turn=state.plays,
        play_limit=PLAY_LIMIT,
        timeout_limit=terms.timeout_limit,
        pile_count=len(state.pile) if terms.standard else None,
        reshuffles=state.reshuffles,
        draws_made=state.draws_made,
        discards=state.discards,
        result=_result(state),
        pile=state.pile if everything else (),
        arranged=terms.arranged,
    )
    # Filled in place: handing over ready submessages copies them and takes three times as long.
    for seat, side in enumerate(state.seats):
        shown = message.seats.add(seat=seat, hand_count=side.hand_count, timeouts=side.timeouts)
        _show_numbers(shown.numbers, side.numbers)
        if everything or seat == own:
            shown.hand.extend([_slot(slot, card, side.numbers) for slot, card in enumerate(side.hand)])
    for card in (*state.shown_before, *state.shown_now):
        message.last_cards.add(seat=card.seat, card=card.card, how=card.how, turn_no=card.turn_no)
    return message


def _show_numbers(shown: pb.SeatNumbers, numbers: Numbers) -> None:
    (
        shown.tower,
        shown.wall,
        shown.mines,
        shown.monasteries,
        shown.barracks,
        shown.ore,
        shown.mana,
        shown.recruits,
    ) = numbers


def _slot(slot: int, card_id: str, numbers: Numbers) -> pb.HandSlot:
    if card_id == EMPTY:
        return _held(slot, EMPTY, 0)
    card = CARDS[card_id]
    return _held(slot, card_id, max(0, card.cost - numbers[card.stock]))


@functools.lru_cache(maxsize=8192)
def _held(slot: int, card_id: str, shortfall: int) -> pb.HandSlot:
    """A card in a hand. It lies there for many views, and making one costs more than copying it; never changed."""
    if card_id == EMPTY:
        return pb.HandSlot(slot=slot)
    card = CARDS[card_id]
    return pb.HandSlot(
        slot=slot,
        card=card_id,
        cost=card.cost,
        resource=card.resource,
        colour=card.colour,
        affordable=shortfall == 0,
        shortfall=shortfall,
        act_again=card.play_again,
    )


def _result(state: State) -> pb.Result | None:
    result = state.result
    if result is None:
        return None
    return pb.Result(
        outcome=result.outcome, winner=result.winner, reasons=result.reasons, ladder_step=result.ladder_step
    )
