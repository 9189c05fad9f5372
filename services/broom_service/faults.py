"""Whether an arranged position can be: everything that the rules keep true at every moment (BS-15) is checked here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from broom_service.arranging import LEAST_VP, MOST_VP, covered_towers
from broom_service.boards import BOARDS, WATER, Board
from broom_service.catalogue import DATA
from broom_service.clouds import CLOUDS, HEAVY_CLOUDS
from broom_service.roles import EVENTS, ROLE_IDS, in_order, roles_to_choose
from broom_service.state import ASKED_TOGETHER, Stage, Terms
from broom_service.tiles import FOREST_TILES, TILE_SITE, TILES
from broom_service.under_way import check_under_way
from grimoire.engine.written import demand, fault_of, known_word, once_each
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["check_position", "position_fault"]

_STAGES: Final = tuple(stage.value for stage in Stage if stage not in (Stage.SETUP, Stage.OVER))
_MOST_HELD: Final = 100_000
_MOST_SHUFFLES: Final = 1_000


def position_fault(event: pb.PositionArranged, terms: Terms) -> str:
    """What is wrong with a position for a match of these terms; empty: nothing."""
    return fault_of(check_position, event, terms)


def check_position(event: pb.PositionArranged, terms: Terms) -> None:
    """Raises `PositionError` for the first thing that is wrong with a position for a match of these terms."""
    _check_round(event, terms)
    _check_stacks(event, terms)
    _check_clouds(event, terms)
    _check_tiles(event, terms)
    _check_towers(event, terms)
    for seat, each in enumerate(event.seats):
        _check_seat(event, seat, each, terms)
    _check_hands(event, terms)
    check_under_way(event, terms)


# ---- the match -------------------------------------------------------------------------------------------------------


def _check_round(event: pb.PositionArranged, terms: Terms) -> None:
    seats = len(event.seats)
    demand(seats == terms.seats, f"The match has {terms.seats} seats, the position {seats}: name `players`.", "BS-1.1")
    demand(event.board == terms.board, f"The match is played on the {terms.board} of the board.", "BS-1.3")
    demand(event.timeout_limit == terms.timeout_limit, "The limit of timeouts is the match's option.", "BS-1.3")
    demand(event.first_seat < seats and event.leader < seats, f"The seats are 0..{seats - 1}.", "BS-1.1")
    demand(event.stage in _STAGES, f"`stage` must be one of {', '.join(_STAGES)}.", "BS-4")
    demand(1 <= event.round <= DATA.constants.rounds, f"`round` must be in 1..{DATA.constants.rounds}.", "BS-1.2")
    staying = sum(not seat.retired for seat in event.seats)
    demand(staying > 1, "When one seat is left, the match is over.", "BS-12.5")


def _check_stacks(event: pb.PositionArranged, terms: Terms) -> None:
    """BS-3.6, BS-3.7, BS-4.2."""
    coming = DATA.constants.rounds - event.round
    out = len(EVENTS) - DATA.constants.events_in_stack
    demand(len(event.events_to_come) == coming, f"After round {event.round} come {coming} events.", "BS-3.6")
    demand(len(event.events_out) == out, f"{out} events are out of the game.", "BS-3.6")
    once_each([event.event, *event.events_to_come, *event.events_out], EVENTS, "event", twice="BS-15")
    count = DATA.seats.bewitched_per_round[str(terms.seats)]
    demand(len(event.bewitched) == count, f"With {terms.seats} seats {count} roles are bewitched.", "BS-3.7")
    once_each([*event.bewitched, *event.bewitched_stack], ROLE_IDS, "role", twice="BS-15")
    demand(event.bewitched_count == len(event.bewitched_stack), "The stack's count and its roles differ.")
    demand(bool(count) or not event.bewitched_stack, "With five seats nothing is bewitched.", "BS-3.7")
    shuffled = 1 <= event.bewitched_shuffles <= _MOST_SHUFFLES if count else not event.bewitched_shuffles
    demand(shuffled, "`bewitched_shuffles` counts the shuffles of the bewitched roles.", "BS-4.2")


# ---- the board -------------------------------------------------------------------------------------------------------


def _check_clouds(event: pb.PositionArranged, terms: Terms) -> None:
    """BS-3.4, BS-15.2."""
    board = BOARDS[terms.board]
    spaces = [placed.space for placed in event.clouds]
    demand(spaces == [*board.spaces], "Every cloud space is named, in the order of the data.", "BS-2.8")
    placed = [placed.cloud for placed in event.clouds if placed.cloud]
    placed += [cloud for seat in event.seats for cloud in seat.clouds]
    once_each(placed, CLOUDS, "cloud", twice="BS-15")
    demand(len(placed) <= len(spaces), f"At most {len(spaces)} clouds were placed.", "BS-15.2")
    heavy = sum(cloud in HEAVY_CLOUDS for cloud in placed)
    demand(heavy <= terms.heavy_clouds, f"{terms.heavy_clouds} heavy clouds take part.", "BS-3.4")
    demand(terms.storm_clouds or heavy == len(placed), "The match is played without storm clouds.", "BS-1.3")


def _check_tiles(event: pb.PositionArranged, terms: Terms) -> None:
    """BS-3.5."""
    board = BOARDS[terms.board]
    played = {"mountain": terms.mountain_tiles, "forest": terms.forest_tiles, "hill": terms.hill_tiles}
    held = [tile for seat in event.seats for tile in seat.forest_tiles]
    once_each([*(placed.tile for placed in event.tiles), *held], TILES, "tile", twice="BS-15")
    regions = [placed.region for placed in event.tiles]
    sites = [region for site, used in played.items() if used for region in board.sites[site]]
    demand(
        regions == [region for region in sites if region in regions], "Tiles lie in the order of the sites.", "BS-3.5"
    )
    for placed in event.tiles:
        site = TILE_SITE[placed.tile]
        demand(placed.region in board.sites[site], f"{placed.tile} lies on a {site} site.", "BS-3.5")
    for site in ("mountain", "hill"):
        lying = all(region in regions for region in board.sites[site])
        demand(lying or not played[site], f"A tile lies on each {site} site.", "BS-3.5")
    demand(terms.forest_tiles or not held, "The match is played without forest tiles.", "BS-1.3")
    placed_forests = len(held) + sum(placed.tile in FOREST_TILES for placed in event.tiles)
    most = len(board.sites["forest"])
    demand(placed_forests <= most, f"{most} forest tiles were placed.", "BS-3.5")


def _check_towers(event: pb.PositionArranged, terms: Terms) -> None:
    """BS-15.1."""
    towers = BOARDS[terms.board].towers
    covered = covered_towers(terms)
    demand((*event.covered_towers,) == covered, f"Covered are {', '.join(covered) or 'no towers'}.", "BS-3.5")
    once_each(event.occupied_towers, towers, "tower", twice="BS-15")
    for tower in event.occupied_towers:
        demand(towers[tower].shape == "round", f"{tower} is square: it is never occupied.", "BS-7.2")
        demand(tower not in covered, f"{tower} is covered.", "BS-15.1")


# ---- seats -----------------------------------------------------------------------------------------------------------


def _check_seat(event: pb.PositionArranged, number: int, seat: pb.ArrangedSeat, terms: Terms) -> None:
    board = BOARDS[terms.board]
    demand(LEAST_VP <= seat.vp <= MOST_VP, f"VP are in {LEAST_VP}..{MOST_VP}.", "BS-2.2")
    held = (seat.resources.orange, seat.resources.green, seat.resources.purple, seat.resources.wand)
    demand(max(held) <= _MOST_HELD, f"A seat holds at most {_MOST_HELD} of a resource.")
    demand(seat.timeouts < terms.timeout_limit, f"With {seat.timeouts} timeouts seat {number} is retired.", "BS-12.3")
    demand(len(seat.pawns) == DATA.constants.pawns, f"Seat {number} has {DATA.constants.pawns} pawns.", "BS-2.3")
    for pawn, region in enumerate(seat.pawns):
        known_word(region, board.terrain, "region")
        _check_pawn(event, number, pawn, region, board)
    _check_amulets(number, seat, board, terms)
    once_each(seat.forest_tiles, FOREST_TILES, "forest tile", twice="BS-15")


def _check_pawn(event: pb.PositionArranged, seat: int, pawn: int, region: str, board: Board) -> None:
    """BS-15.3, BS-8.3, BS-8.4."""
    clouded = {board.spaces[placed.space] for placed in event.clouds if placed.cloud}
    demand(board.terrain[region] != WATER, f"No pawn stands in water, as in {region}.", "BS-7.4")
    demand(region not in clouded, f"No pawn stands under a cloud, as in {region}.", "BS-7.4")
    tile = next((placed.tile for placed in event.tiles if placed.region == region), "")
    demand(tile not in FOREST_TILES, f"A pawn came to {region}: {tile} was taken.", "BS-8.4")
    rides = any(
        step.kind == "turbo" and step.pawn == pawn and step.region == region and event.acting_seat == seat
        for step in event.steps
    )
    turbo = bool(tile) and TILES[tile].effect == "turbo"
    demand(not turbo or rides, f"{tile} carries every pawn that comes to {region} to a circle.", "BS-8.3")


def _check_amulets(number: int, seat: pb.ArrangedSeat, board: Board, terms: Terms) -> None:
    """BS-8.5, BS-8.8."""
    sites = board.sites["mountain"] if terms.mountain_tiles else ()
    demand(sites or not seat.amulets, "The match is played without amulets.", "BS-1.3")
    once_each(seat.amulets, sites, "mountain site", twice="BS-15")
    left = [region for region in seat.pawns if region in sites and region not in seat.amulets]
    demand(not left, f"A pawn of seat {number} stands at {''.join(left[:1])}: its amulet was taken there.", "BS-8.5")


def _check_hands(event: pb.PositionArranged, terms: Terms) -> None:
    """BS-4.3, BS-4.5, BS-11.4."""
    numbers = [hand.seat for hand in event.hands]
    demand(numbers == [*range(terms.seats)], "Every seat has its hand.", "BS-2.3")
    least, most = roles_to_choose(event.event)
    for hand, seat in zip(event.hands, event.seats, strict=True):
        once_each(hand.roles, ROLE_IDS, "role", twice="BS-15")
        demand((*hand.roles,) == in_order(hand.roles), "A hand is in the order of the data.")
        demand(not seat.retired or not hand.roles, f"Seat {hand.seat} has left and holds no roles.", "BS-12.4")
        if event.stage == Stage.CHOOSE:
            chosen = hand.seat not in event.waiting and not seat.retired
            fits = least <= len(hand.roles) <= most if chosen else not hand.roles
            demand(fits and not seat.cards_left, f"In `choose` seat {hand.seat} has not chosen so.", "BS-4.3")
        else:
            demand(seat.cards_left == len(hand.roles), "The number of cards and the hand differ.", "BS-5.10")
            laid = sum(play.seat == hand.seat and not play.passed for play in event.plays)
            demand(len(hand.roles) <= most + terms.forest_tiles, f"Seat {hand.seat} holds too many roles.", "BS-4.3")
            demand(laid <= len(ROLE_IDS), "No seat lays down more than all roles.", "BS-4.7")
    _check_waiting(event.waiting, event)


def _check_waiting(waiting: Sequence[int], event: pb.PositionArranged) -> None:
    together = event.stage in ASKED_TOGETHER
    demand(together == bool(waiting), "Seats wait for their turn to answer in a simultaneous stage only.", "BS-4")
    inside = [seat for seat, each in enumerate(event.seats) if seat in waiting and not each.retired]
    demand([*waiting] == inside, "Seats that are asked are seats of the match, in order.", "BS-12.4")
