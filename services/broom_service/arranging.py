"""From a partial mapping to the event `position_arranged`. Keys and defaults: see README.md."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from broom_service.boards import BOARDS, Board
from broom_service.catalogue import DATA
from broom_service.clouds import CLOUDS
from broom_service.notation import read_resources
from broom_service.resources import as_message
from broom_service.roles import COWARDLY, EVENTS, ROLE_IDS, THE_WORKS, in_order
from broom_service.state import Stage, Terms
from broom_service.tiles import FOREST_TILES, HILL_TILES, MOUNTAIN_TILES, TILE_SITE, TILES, VAT
from grimoire.engine.written import (
    PositionError,
    by_name,
    by_number,
    demand,
    flag,
    known_keys,
    known_word,
    one_of,
    whole_number,
    words,
)
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["KEYS", "LEAST_VP", "MOST_VP", "SEAT_KEYS", "WRITTEN", "arrange", "covered_towers"]

WRITTEN: Final = (Stage.LEAD.value, Stage.CHOOSE.value)
"""Stages in which a written position may begin."""

LEAST_VP: Final = -10_000
MOST_VP: Final = 10_000

KEYS: Final = (
    "players",
    "stage",
    "round",
    "event",
    "events",
    "leader",
    "first_seat",
    "trick",
    "led",
    "bewitched",
    "bewitched_stack",
    "bewitched_shuffles",
    "clouds",
    "tiles",
    "occupied",
    "seats",
)
SEAT_KEYS: Final = (
    "pawns",
    "vp",
    "resources",
    "roles",
    "clouds",
    "amulets",
    "forest_tiles",
    "timeouts",
    "retired",
)
_SITE_TILES: Final = {"mountain": MOUNTAIN_TILES, "forest": FOREST_TILES, "hill": HILL_TILES}
_MOST_SHUFFLES: Final = 100


def covered_towers(terms: Terms) -> tuple[str, ...]:
    """Towers that do not exist in a match of these terms (BS-3.5)."""
    return BOARDS[terms.board].covered_by_mountains if terms.mountain_tiles else ()


def arrange(plan: Mapping[str, object], terms: Terms) -> pb.PositionArranged:
    """The event for a plan; what the plan does not name is as in the rules' worked scenarios (BS-14).

    Raises:
        ValueError: for a plan that cannot be read; what contradicts the rules is for `check_position` to find.
    """
    plan = {str(key): value for key, value in plan.items()}
    known_keys(plan, KEYS, "a position")
    board = BOARDS[terms.board]
    stage = one_of(plan, "stage", WRITTEN)
    leader = whole_number(plan, "leader", 0, 0, terms.seats - 1)
    led = [known_word(role, ROLE_IDS, "role") for role in words(plan, "led")]
    choosing = stage == Stage.CHOOSE
    event = pb.PositionArranged(
        board=terms.board,
        first_seat=whole_number(plan, "first_seat", 0, 0, terms.seats - 1),
        clouds=_clouds(plan, board),
        covered_towers=covered_towers(terms),
        occupied_towers=[known_word(tower, board.towers, "tower") for tower in words(plan, "occupied")],
        timeout_limit=terms.timeout_limit,
        round=whole_number(plan, "round", 1, 1, DATA.constants.rounds),
        event=known_word(str(plan.get("event", THE_WORKS)), EVENTS, "event"),
        stage=stage,
        leader=leader,
        trick_no=0 if choosing else whole_number(plan, "trick", len(led) + 1, len(led) + 1, len(ROLE_IDS)),
        plays=[pb.Play(trick_no=n, seat=leader, role=role, stance=COWARDLY) for n, role in enumerate(led, 1)],
    )
    named = by_number(plan, "seats", range(terms.seats))
    for seat in range(terms.seats):
        _lay_seat(event, seat, named.get(seat, {}), terms)
    event.tiles.extend(_tiles(plan, event, board, terms))
    _lay_events(event, plan)
    _lay_bewitched(event, plan, terms)
    if choosing:
        _let_choose(event)
    return event


def _let_choose(event: pb.PositionArranged) -> None:
    """Who has roles has chosen them already, how many nobody sees (BS-4.3)."""
    for seat, each in enumerate(event.seats):
        each.cards_left = 0
        if not each.retired and not event.hands[seat].roles:
            event.waiting.append(seat)


# ---- seats -----------------------------------------------------------------------------------------------------------


def _lay_seat(event: pb.PositionArranged, seat: int, written: object, terms: Terms) -> None:
    board = BOARDS[terms.board]
    if not isinstance(written, Mapping):
        raise PositionError(f"Seat {seat} must be a mapping, e.g. {{pawns: [p3, f6], resources: o1 w2}}.")
    plan = {str(key): value for key, value in written.items()}
    known_keys(plan, SEAT_KEYS, f"seat {seat}")
    pawns = [known_word(region, board.terrain, "region") for region in words(plan, "pawns", board.castles)]
    demand(len(pawns) == DATA.constants.pawns, f"Seat {seat} has {DATA.constants.pawns} pawns.", "BS-2.3")
    roles = in_order(known_word(role, ROLE_IDS, "role") for role in words(plan, "roles"))
    met = [site for site in board.sites["mountain"] if site in pawns and terms.mountain_tiles]  # BS-8.5
    event.seats.append(
        pb.ArrangedSeat(
            vp=whole_number(plan, "vp", DATA.constants.start_vp, LEAST_VP, MOST_VP),
            resources=as_message(read_resources(plan.get("resources", ""))),
            pawns=pawns,
            clouds=[known_word(cloud, CLOUDS, "cloud") for cloud in words(plan, "clouds")],
            amulets=[known_word(site, board.terrain, "region") for site in words(plan, "amulets", met)],
            forest_tiles=[known_word(tile, TILES, "tile") for tile in words(plan, "forest_tiles")],
            cards_left=len(roles),
            timeouts=whole_number(plan, "timeouts", 0, 0, terms.timeout_limit - 1),
            retired=flag(plan, "retired"),
        )
    )
    event.hands.append(pb.ArrangedHand(seat=seat, roles=roles))


# ---- the board -------------------------------------------------------------------------------------------------------


def _clouds(plan: Mapping[str, object], board: Board) -> Iterable[pb.PlacedCloud]:
    """Every space in data order; nothing lies on those that are not named."""
    named = by_name(plan, "clouds", tuple(board.spaces))
    for space in board.spaces:
        cloud = named.get(space)
        name = "" if cloud is None else known_word(str(cloud), CLOUDS, "cloud")
        yield pb.PlacedCloud(space=space, cloud=name)


def _tiles(
    plan: Mapping[str, object], event: pb.PositionArranged, board: Board, terms: Terms
) -> Iterable[pb.PlacedTile]:
    """Named tiles, and on the other sites what is left of each kind in data order."""
    played = [site for site, used in _sites(terms) if used]
    named = by_name(plan, "tiles", [region for site in played for region in board.sites[site]])
    held = [tile for seat in event.seats for tile in seat.forest_tiles]
    standing = {region for seat in event.seats for region in seat.pawns}
    taken = {str(tile) for tile in named.values()} | {*held}
    for site in played:
        left = [tile for tile in _SITE_TILES[site] if tile not in taken]
        usual = _usual_tiles(site, [region for region in board.sites[site] if region not in named], left, standing)
        if site == "forest":  # BS-3.5: as many were placed as there are sites; some are held
            placed = sum(named.get(region) is not None for region in board.sites[site]) + len(held)
            usual = dict([*usual.items()][: max(0, len(board.sites[site]) - placed)])
        for region in board.sites[site]:
            tile = usual.get(region, named.get(region))
            if tile is not None:
                name = known_word(str(tile), TILES, "tile")
                demand(TILE_SITE[name] == site, f"{name} does not lie on a {site} site.", "BS-2.7")
                yield pb.PlacedTile(region=region, tile=name)


def _usual_tiles(site: str, regions: Sequence[str], left: Sequence[str], standing: Collection[str]) -> dict[str, str]:
    """Tiles for regions without a named one: such that a pawn may stand where one stands (BS-8.3, BS-8.4)."""
    if site == "forest":
        regions = [region for region in regions if region not in standing]
    vats = [region for region in regions if region in standing and VAT in left][:1] if site == "hill" else []
    others = [region for region in regions if region not in vats]
    return dict.fromkeys(vats, VAT) | dict(zip(others, [tile for tile in left if tile != VAT], strict=False))


def _sites(terms: Terms) -> Iterable[tuple[str, bool]]:
    return ("mountain", terms.mountain_tiles), ("forest", terms.forest_tiles), ("hill", terms.hill_tiles)


# ---- stacks ----------------------------------------------------------------------------------------------------------


def _lay_events(event: pb.PositionArranged, plan: Mapping[str, object]) -> None:
    """Events that are not named come in data order; the first ones of the rest were those of the rounds before."""
    coming = DATA.constants.rounds - event.round
    named = [known_word(each, EVENTS, "event") for each in words(plan, "events")]
    demand(len(named) <= coming, f"After round {event.round} come {coming} events.", "BS-3.6")
    rest = [each for each in EVENTS if each != event.event and each not in named]
    rest = rest[event.round - 1 :]
    event.events_to_come.extend([*named, *rest[: coming - len(named)]])
    event.events_out.extend(each for each in rest if each not in event.events_to_come)


def _lay_bewitched(event: pb.PositionArranged, plan: Mapping[str, object], terms: Terms) -> None:
    """Unless named, roles that nobody holds are open, and all other roles lie in the stack in data order."""
    count = DATA.seats.bewitched_per_round[str(terms.seats)]
    held = {role for hand in event.hands for role in hand.roles}
    usual = [role for role in reversed(ROLE_IDS) if role not in held] + [r for r in ROLE_IDS if r in held]
    opened = words(plan, "bewitched", usual[:count])
    event.bewitched.extend(known_word(role, ROLE_IDS, "role") for role in opened)
    rest = [role for role in ROLE_IDS if role not in opened] if count else []
    event.bewitched_stack.extend(known_word(role, ROLE_IDS, "role") for role in words(plan, "bewitched_stack", rest))
    event.bewitched_count = len(event.bewitched_stack)
    event.bewitched_shuffles = whole_number(plan, "bewitched_shuffles", min(1, count), min(1, count), _MOST_SHUFFLES)
