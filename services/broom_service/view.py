"""What a viewer may know (BS-11.4), as the game's view message. Clients compute nothing."""

from __future__ import annotations

import functools

from broom_service.boards import BOARDS, Board, vat_at
from broom_service.catalogue import DATA, TowerRecord
from broom_service.clouds import CLOUDS
from broom_service.messages import play_message, score_message, step_message
from broom_service.resources import as_message
from broom_service.scoring import amulets_vp, bolts, lightning_vp, sets_in
from broom_service.state import ASKED_TOGETHER, NO_ONE, Result, Stage, State
from broom_service.tiles import VAT
from grimoire.engine import Viewer, ViewerKind
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["asked_seats", "hand_message", "led_roles", "towers_of", "view"]


def view(state: State, viewer: Viewer) -> pb.View:
    """The match as this viewer may see it.

    Raises:
        ValueError: for a seat that the match does not have.
    """
    terms = state.terms
    if viewer.kind is ViewerKind.SEAT and not 0 <= viewer.seat < terms.seats:
        raise ValueError(f"this match of Broom Service has no seat {viewer.seat}")
    board = BOARDS[terms.board]
    shown = pb.View(
        stage=state.asked.value,
        board=terms.board,
        first_seat=state.first_seat,
        round=state.round,
        rounds=DATA.constants.rounds,
        event=state.event,
        events_to_come=len(state.events_to_come),
        bewitched=state.bewitched,
        bewitched_count=len(state.bewitched_stack),
        leader=state.leader,
        trick_no=state.trick_no,
        plays=[play_message(play) for play in state.plays],
        led=led_roles(state),
        brave_seat=None if state.brave == NO_ONE else state.brave,
        seats=[_seat(state, seat, viewer) for seat in range(len(state.vp))],
        clouds=_clouds(state, board),
        tiles=[pb.PlacedTile(region=region, tile=tile) for region, tile in state.tiles],
        asked=asked_seats(state),
        acting_seat=state.acting if state.steps else None,
        steps=[step_message(step) for step in state.steps],
        arranged=terms.arranged,
        storm_clouds=terms.storm_clouds,
        mountain_tiles=terms.mountain_tiles,
        forest_tiles=terms.forest_tiles,
        hill_tiles=terms.hill_tiles,
        timeout_limit=terms.timeout_limit,
    )
    shown.MergeFrom(_towers(terms.board, _vat_region(state), state.occupied, state.covered))
    if state.result is not None:
        shown.result.CopyFrom(_result(state.result))
    if viewer.kind is ViewerKind.SEAT:
        _show_own(state, viewer.seat, shown)
    elif viewer.kind is ViewerKind.ALL:
        _show_hidden(state, shown)
    return shown


def asked_seats(state: State) -> tuple[int, ...]:
    """Who has an open prompt: everybody knows (BS-11.4)."""
    asked = state.asked
    if asked in ASKED_TOGETHER:
        return state.waiting
    if asked is Stage.STEPS:
        return (state.acting,)
    if asked is Stage.LEAD:
        return (state.leader,)
    return (state.follower,) if asked is Stage.FOLLOW else ()


def led_roles(state: State) -> tuple[str, ...]:
    """Roles that were led in this round, in order."""
    led: dict[int, str] = {}
    for play in state.plays:
        led.setdefault(play.trick_no, play.role)
    return (*led.values(),)


def towers_of(state: State) -> tuple[TowerRecord, ...]:
    """Every tower of the match in the order of the data, covered ones too; the vat, where it lies, is the last."""
    return _all_towers(state.terms.board, _vat_region(state))


def _vat_region(state: State) -> str:
    """Where the vat lies; empty: nowhere."""
    return next((region for region, tile in state.tiles if tile == VAT), "")


@functools.cache
def _all_towers(board: str, vat: str) -> tuple[TowerRecord, ...]:
    towers = (*BOARDS[board].towers.values(),)
    return (*towers, vat_at(vat)) if vat else towers


@functools.lru_cache(maxsize=256)
def _towers(board: str, vat: str, occupied: tuple[str, ...], covered: tuple[str, ...]) -> pb.View:
    """The towers of a view: many, and seldom changed. It is read, never changed."""
    shown = [
        pb.TowerView(
            tower=tower.id,
            colour=tower.colour,
            shape=tower.shape,
            vp=tower.vp,
            wands=tower.wands,
            touches=tower.touches,
            occupied=tower.id in occupied,
            covered=tower.id in covered,
        )
        for tower in _all_towers(board, vat)
    ]
    return pb.View(towers=shown)


def _clouds(state: State, board: Board) -> list[pb.CloudView]:
    placed = zip(board.spaces.items(), state.clouds, strict=False)
    return [
        pb.CloudView(
            space=space,
            cloud=cloud,
            region=region,
            stars=CLOUDS[cloud].stars,
            lightning=CLOUDS[cloud].lightning,
            storm=CLOUDS[cloud].kind or "",
        )
        for (space, region), cloud in placed
        if cloud
    ]


def _seat(state: State, seat: int, viewer: Viewer) -> pb.SeatView:
    own = viewer.kind is ViewerKind.ALL or (viewer.kind is ViewerKind.SEAT and viewer.seat == seat)
    hand = state.hands[seat]
    hidden = state.asked is Stage.CHOOSE and not own  # BS-4.3
    lightning = bolts(state, seat)
    sets = sets_in(state.resources[seat])
    return pb.SeatView(
        seat=seat,
        vp=state.vp[seat],
        resources=as_message(state.resources[seat]),
        pawns=state.pawns[seat],
        clouds=state.charmed[seat],
        amulets=state.amulets[seat],
        forest_tiles=state.forest_tiles[seat],
        cards_left=None if hidden else len(hand),
        answered=state.asked in ASKED_TOGETHER and seat not in state.waiting,
        roles=hand if own else (),
        timeouts=state.timeouts[seat],
        retired=state.retired[seat],
        lightning=lightning,
        lightning_vp=lightning_vp(lightning),
        sets4=sets.fours,
        sets3=sets.threes,
        sets_vp=sets.vp,
        amulets_vp=amulets_vp(len(state.amulets[seat])),
    )


def _show_own(state: State, seat: int, shown: pb.View) -> None:
    """What only this seat knows of itself, but for its roles."""
    extra = state.extras[seat] if state.extras else None
    if extra is not None:
        shown.extra_tile, shown.extra_role = extra.tile, extra.role
    offer = state.offers[seat] if state.offers else None
    if offer is not None:
        shown.offer.CopyFrom(as_message(offer))


def _show_hidden(state: State, shown: pb.View) -> None:
    """What nobody sees before the end."""
    shown.events_hidden.extend(state.events_to_come)
    shown.events_out.extend(state.events_out)
    shown.bewitched_stack.extend(state.bewitched_stack)
    shown.hands.extend(hand_message(state, seat) for seat in range(len(state.hands)))


def hand_message(state: State, seat: int) -> pb.ArrangedHand:
    """What only the seat knows."""
    hand = pb.ArrangedHand(seat=seat, roles=state.hands[seat])
    extra, offer = state.extras[seat], state.offers[seat]
    if extra is not None:
        hand.extra_tile, hand.extra_role = extra.tile, extra.role
    if offer is not None:
        hand.offer.CopyFrom(as_message(offer))
    return hand


def _result(result: Result) -> pb.Result:
    scores = [score_message(score) for score in result.scores]
    return pb.Result(scores=scores, winners=result.winners, reason=result.reason)
