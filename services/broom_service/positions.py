"""Arranged positions: from a partial mapping, or from a running match, to the event `position_arranged`.

Keys and defaults: see README.md. The notation is `notation.py`'s, what can be is judged by `faults.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from broom_service.arranging import arrange
from broom_service.boards import BOARDS
from broom_service.catalogue import DATA
from broom_service.faults import check_position, position_fault
from broom_service.messages import play_message, step_message
from broom_service.options import terms_of
from broom_service.resources import as_message
from broom_service.state import NO_ONE, Stage, State
from grimoire.engine.written import PositionError, whole_number
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["BroomServicePositions", "position_fault"]


class BroomServicePositions:
    """`Positions` of Broom Service."""

    def parse(self, position: Mapping[str, object], options: Mapping[str, str]) -> pb.PositionArranged:
        """The event for a partial position.

        Args:
            position: keys and defaults as in README.md; `players` says how many seats there are.
            options: all of them, as `configure` completes them.

        Raises:
            ValueError: with a sentence that says what is wrong and what is allowed; a `PositionError` where a rule of
                the game forbids it.

        >>> seats = {0: {"roles": ["hill_witch"], "resources": "o1 w2"}}
        >>> event = BroomServicePositions().parse({"players": 3, "clouds": {"c08": "heavy_13"}, "seats": seats}, {})
        >>> len(event.seats), [*event.seats[0].pawns], event.seats[0].resources.wand, [*event.bewitched]
        (3, ['p3', 'f6'], 2, ['weather_fairy', 'valley_druid'])
        """
        seats = DATA.options.seats
        terms = terms_of(options, whole_number(position, "players", seats.max, seats.min, seats.max))
        event = arrange(position, terms)
        check_position(event, terms)
        return event

    def from_state(self, state: State) -> pb.PositionArranged:
        """The event for a running match, as it is; also in the middle of a trick or of an action.

        Raises:
            ValueError: before the deal, and when the match is over.
        """
        asked = state.asked
        if asked in (Stage.SETUP, Stage.OVER):
            raise PositionError("Play goes on while the match runs only: not before the deal, not after the end.")
        spaces = BOARDS[state.terms.board].spaces
        return pb.PositionArranged(
            board=state.terms.board,
            first_seat=state.first_seat,
            seats=[_seat(state, seat) for seat in range(state.terms.seats)],
            clouds=[pb.PlacedCloud(space=s, cloud=c) for s, c in zip(spaces, state.clouds, strict=True)],
            tiles=[pb.PlacedTile(region=region, tile=tile) for region, tile in state.tiles],
            covered_towers=state.covered,
            occupied_towers=state.occupied,
            timeout_limit=state.terms.timeout_limit,
            round=state.round,
            event=state.event,
            bewitched=state.bewitched,
            bewitched_shuffles=state.bewitched_shuffles,
            bewitched_count=len(state.bewitched_stack),
            stage=asked.value,
            leader=state.leader,
            trick_no=state.trick_no,
            plays=[play_message(play) for play in state.plays],
            brave_seat=None if state.brave == NO_ONE else state.brave,
            acting_seat=state.acting if state.steps else None,
            steps=[step_message(step) for step in state.steps],
            last_step=state.last_step if state.steps else 0,
            last_group=state.last_group if state.steps else 0,
            waiting=state.waiting,
            hands=[_hand(state, seat) for seat in range(state.terms.seats)],
            events_to_come=state.events_to_come,
            bewitched_stack=state.bewitched_stack,
            events_out=state.events_out,
        )


def _seat(state: State, seat: int) -> pb.ArrangedSeat:
    return pb.ArrangedSeat(
        vp=state.vp[seat],
        resources=as_message(state.resources[seat]),
        pawns=state.pawns[seat],
        clouds=state.charmed[seat],
        amulets=state.amulets[seat],
        forest_tiles=state.forest_tiles[seat],
        cards_left=0 if state.asked is Stage.CHOOSE else len(state.hands[seat]),
        timeouts=state.timeouts[seat],
        retired=state.retired[seat],
    )


def _hand(state: State, seat: int) -> pb.ArrangedHand:
    extra, offer = state.extras[seat], state.offers[seat]
    return pb.ArrangedHand(
        seat=seat,
        roles=state.hands[seat],
        extra_tile=extra.tile if extra else "",
        extra_role=extra.role if extra else "",
        offer=None if offer is None else as_message(offer),
    )
