"""What a viewer may know (TT-6.2, TT-6.3), as the game's view message. Clients compute nothing."""

from __future__ import annotations

from grimoire.engine import Viewer, ViewerKind
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from two_towers.cards import CARDS
from two_towers.fields import Numbers
from two_towers.state import EMPTY, SeatState, State
from two_towers.turn import PLAY_LIMIT, TURN_LIMIT, seat_numbers

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
    return pb.View(
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
        seats=[_seat(seat, side, everything or seat == own) for seat, side in enumerate(state.seats)],
        pile_count=len(state.pile) if terms.standard else None,
        reshuffles=state.reshuffles,
        draws_made=state.draws_made,
        discards=state.discards,
        last_cards=[
            pb.ShownCard(seat=s.seat, card=s.card, how=s.how, turn_no=s.turn_no)
            for s in (*state.shown_before, *state.shown_now)
        ],
        result=_result(state),
        pile=state.pile if everything else (),
        arranged=terms.arranged,
    )


def _seat(seat: int, side: SeatState, open_hand: bool) -> pb.SeatView:
    return pb.SeatView(
        seat=seat,
        numbers=seat_numbers(side.numbers),
        hand_count=side.hand_count,
        timeouts=side.timeouts,
        hand=[_slot(slot, card, side.numbers) for slot, card in enumerate(side.hand)] if open_hand else (),
    )


def _slot(slot: int, card_id: str, numbers: Numbers) -> pb.HandSlot:
    if card_id == EMPTY:
        return pb.HandSlot(slot=slot)
    card = CARDS[card_id]
    shortfall = max(0, card.cost - numbers[card.stock])
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
