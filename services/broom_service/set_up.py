"""The set-up (BS-3), as events, and the lines of the deal digest (BS-13)."""

from __future__ import annotations

from collections.abc import Iterable

from broom_service.boards import Board
from broom_service.catalogue import DATA
from broom_service.choosing import start_round
from broom_service.clouds import CLOUDS, HEAVY_CLOUDS, STORM_CLOUDS
from broom_service.course import Course
from broom_service.resources import as_message
from broom_service.roles import EVENTS, ROLE_IDS
from broom_service.state import Terms
from broom_service.tiles import FOREST_TILES, HILL_TILES, MOUNTAIN_TILES
from grimoire.engine import Draws
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["set_up"]

_CONSTANTS = DATA.constants


def set_up(course: Course) -> tuple[str, ...]:
    """Everything before the first prompt; the lines of the deal digest."""
    terms, draws, board = course.draft.terms, course.draws, course.board
    first = draws.below("first_seat", terms.seats) if terms.first_player is None else terms.first_player  # BS-3.2
    clouds = _clouds(terms, board, draws)
    tiles = _tiles(terms, board, draws)
    events = draws.shuffle("events", [*EVENTS])  # BS-3.6
    bewitched: list[str] = []
    if terms.seats < _CONSTANTS.seats_plus_bewitched:  # BS-3.7
        bewitched = draws.shuffle("bewitched/1", ROLE_IDS)
    rounds = _CONSTANTS.events_in_stack
    course.tell(pb.StacksOrdered(events=events[:rounds], bewitched=bewitched, events_out=events[rounds:]))
    laid = pb.TableLaid(
        board=board.id,
        timeout_limit=terms.timeout_limit,
        first_seat=first,
        seats=_seats(terms, board, first),
        clouds=[pb.PlacedCloud(space=space, cloud=cloud) for space, cloud in zip(board.spaces, clouds, strict=True)],
        tiles=[pb.PlacedTile(region=region, tile=tile) for region, tile in tiles],
        covered_towers=board.covered_by_mountains if terms.mountain_tiles else (),
    )
    course.tell(laid)
    start_round(course)
    return (
        board.id,
        str(first),
        ",".join(clouds),
        ",".join(tile for _, tile in tiles),
        ",".join(events),
        ",".join(bewitched),
    )


def _clouds(terms: Terms, board: Board, draws: Draws) -> list[str]:
    """BS-3.4: the cloud of each space."""
    heavy = {*HEAVY_CLOUDS}
    if terms.heavy_clouds < len(HEAVY_CLOUDS):
        heavy = {*draws.shuffle("heavy_clouds", HEAVY_CLOUDS)[: terms.heavy_clouds]}
    storm = {*STORM_CLOUDS} if terms.storm_clouds else set()
    taking_part = [cloud for cloud in CLOUDS if cloud in heavy or cloud in storm]
    return draws.shuffle("clouds", taking_part)[: len(board.spaces)]


def _tiles(terms: Terms, board: Board, draws: Draws) -> list[tuple[str, str]]:
    """BS-3.5: region and tile, in the order of the sites."""
    kinds = (
        ("mountain", terms.mountain_tiles, MOUNTAIN_TILES),
        ("forest", terms.forest_tiles, FOREST_TILES),
        ("hill", terms.hill_tiles, HILL_TILES),
    )
    placed: list[tuple[str, str]] = []
    for site, used, tiles in kinds:
        if used:
            shuffled = draws.shuffle(f"{site}_tiles", tiles)
            placed += zip(board.sites[site], shuffled, strict=False)
    return placed


def _seats(terms: Terms, board: Board, first: int) -> Iterable[pb.SeatLaid]:
    """BS-3.3: wands go by place, counted clockwise from the first seat (BS-3.2)."""
    potions = _CONSTANTS.start_potions_each
    wands = DATA.seats.start_wands[str(terms.seats)]
    for seat in range(terms.seats):
        held = potions, potions, potions, wands[(seat - first) % terms.seats]
        yield pb.SeatLaid(vp=_CONSTANTS.start_vp, resources=as_message(held), pawns=board.castles)
