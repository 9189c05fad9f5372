"""Arranged positions: defaults, what can be named, what is refused (services/broom_service/README.md)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import broom_service
from broom_service.arranging import KEYS, SEAT_KEYS
from broom_service.notation import read_resources, write_resources
from broom_service.options import terms_of
from broom_service.positions import BroomServicePositions, position_fault
from broom_service.roles import EVENTS, ROLE_IDS
from broom_service.state import Terms
from grimoire.engine.written import PositionError
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

BACK = {"board": "back"}
MOUNTAINS = {"mountain_tiles": "true"}
STORM = {"storm_clouds": "true", "heavy_clouds": "10"}


def parse(position: dict[Any, Any], options: dict[str, str] | None = None) -> pb.PositionArranged:
    """With a role for the leader, where the position names no seats."""
    seats = {} if "seats" in position or position.get("stage") else {"seats": {0: {"roles": ["weather_fairy"]}}}
    return BroomServicePositions().parse(seats | position, options or {})


# ---- the notation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "holding"),
    [("", (0, 0, 0, 0)), ("o1 g2 p3 w4", (1, 2, 3, 4)), ("w4  o12", (12, 0, 0, 4)), ("g0", (0, 0, 0, 0))],
)
def test_resources(written: str, holding: tuple[int, int, int, int]) -> None:
    assert read_resources(written) == holding
    assert read_resources(write_resources(holding)) == holding


@pytest.mark.parametrize("written", ["o", "1o", "o-1", "o1o2", "o1 o2", "x1", "O1", "o1,w2", "o1000", 3, None, ["o1"]])
def test_what_is_no_holding(written: object) -> None:
    with pytest.raises(PositionError, match="is no holding"):
        read_resources(written)


# ---- what is not named -----------------------------------------------------------------------------------------------


def test_the_position_of_the_worked_scenarios() -> None:
    event = parse({})
    assert len(event.seats) == 5
    for seat in event.seats:
        assert ([*seat.pawns], seat.vp, seat.resources, seat.timeouts) == (["p3", "f6"], 10, pb.Resources(), 0)
    assert (event.board, event.stage, event.round, event.event, event.leader) == ("front", "lead", 1, "the_works", 0)
    assert (event.first_seat, event.trick_no, [*event.plays], [*event.waiting]) == (0, 1, [], [])
    assert [placed.cloud for placed in event.clouds] == [""] * 18
    assert ([*event.tiles], [*event.covered_towers], [*event.occupied_towers]) == ([], [], [])
    assert ([*event.bewitched], [*event.bewitched_stack], event.bewitched_shuffles) == ([], [], 0)
    assert [seat.cards_left for seat in event.seats] == [1, 0, 0, 0, 0]
    assert not event.HasField("brave_seat")
    assert not event.HasField("acting_seat")


def test_events_that_are_not_named_come_in_the_order_of_the_data() -> None:
    for number in range(1, 8):
        event = parse({"round": number, "event": "black_market"})
        assert (len(event.events_to_come), len(event.events_out)) == (7 - number, 3)
        assert len({event.event, *event.events_to_come, *event.events_out}) == 11 - number
    named = parse({"round": 4, "events": ["brave_heart", "the_upper_hand"]})
    assert [*named.events_to_come][:2] == ["brave_heart", "the_upper_hand"]
    assert {*named.events_to_come} | {*named.events_out} <= {*EVENTS}


@pytest.mark.parametrize(("players", "bewitched"), [(2, 3), (3, 2), (4, 1)])
def test_with_fewer_seats_roles_are_bewitched(players: int, bewitched: int) -> None:
    event = parse({"players": players})
    assert [*event.bewitched] == [*reversed(ROLE_IDS)][1 : bewitched + 1]  # the fairy is held
    assert [*event.bewitched_stack] == [role for role in ROLE_IDS if role not in event.bewitched]
    assert (event.bewitched_count, event.bewitched_shuffles) == (10 - bewitched, 1)


def test_when_every_role_is_held_some_are_bewitched_all_the_same() -> None:
    hands = {0: {"roles": [*ROLE_IDS[:4]]}, 1: {"roles": [*ROLE_IDS[4:8]]}, 2: {"roles": [*ROLE_IDS[7:]]}}
    event = parse({"players": 3, "seats": hands})
    assert len({*event.bewitched}) == 2


def test_on_the_back_all_sites_have_tiles() -> None:
    event = parse({"players": 2}, BACK)
    assert [(placed.region, placed.tile) for placed in event.tiles] == [
        ("m1", "m_potions"),
        ("m2", "m_wands"),
        ("m3", "m_deliver"),
        ("f1", "f_heart_1"),
        ("f2", "f_heart_2"),
        ("f3", "f_card_1"),
        ("f4", "f_card_2"),
        ("h1", "h_ab"),
        ("h2", "h_ac"),
        ("h3", "h_ad"),
        ("h4", "h_bc"),
    ]
    assert len(event.clouds) == 19


def test_tiles_make_room_for_named_and_held_ones_and_for_pawns() -> None:
    seats = {0: {"roles": ["hill_witch"], "forest_tiles": ["f_heart_1"], "pawns": ["f2", "h2"]}}
    event = parse({"tiles": {"m2": "m_potions", "f4": None, "h1": "h_cd"}, "seats": seats}, BACK)
    lying = {placed.region: placed.tile for placed in event.tiles}
    assert lying == {
        "m1": "m_wands",
        "m2": "m_potions",
        "m3": "m_deliver",
        "f1": "f_heart_2",
        "f3": "f_card_1",
        "h1": "h_cd",
        "h2": "h_vat",
        "h3": "h_ab",
        "h4": "h_ac",
    }


def test_mountain_tiles_cover_towers_of_the_front() -> None:
    event = parse({}, MOUNTAINS)
    assert [placed.region for placed in event.tiles] == ["m1", "m2", "m3"]
    assert [*event.covered_towers] == ["green_rd_12", "purple_rd_12", "green_rd_08"]


def test_a_pawn_at_a_mountain_site_has_taken_the_amulet() -> None:
    seats = {0: {"roles": ["hill_witch"], "pawns": ["m3", "m1"]}}
    assert [*parse({"seats": seats}, MOUNTAINS).seats[0].amulets] == ["m1", "m3"]
    assert [*parse({"seats": seats}).seats[0].amulets] == []


# ---- what can be named -----------------------------------------------------------------------------------------------


def test_a_seat() -> None:
    seat = {
        "pawns": ["h4", "h4"],
        "vp": -7,
        "resources": "o5 w1",
        "roles": ["weather_fairy", "root_gatherer"],
        "clouds": ["heavy_24", "heavy_01"],
        "timeouts": 2,
    }
    event = parse({"seats": [{}, seat], "leader": 1, "first_seat": 2})
    found = event.seats[1]
    assert ([*found.pawns], found.vp, found.resources, found.timeouts) == (
        ["h4", "h4"],
        -7,
        pb.Resources(orange=5, wand=1),
        2,
    )
    assert ([*found.clouds], found.cards_left, found.retired) == (["heavy_24", "heavy_01"], 2, False)
    assert [*event.hands[1].roles] == ["root_gatherer", "weather_fairy"]
    assert (event.leader, event.first_seat) == (1, 2)


def test_roles_that_were_led() -> None:
    event = parse({"led": ["hill_witch", "root_gatherer"]})
    assert [(play.trick_no, play.seat, play.role, play.stance) for play in event.plays] == [
        (1, 0, "hill_witch", "cowardly"),
        (2, 0, "root_gatherer", "cowardly"),
    ]
    assert event.trick_no == 3
    assert parse({"led": ["hill_witch"], "trick": 5}).trick_no == 5


def test_in_choose_those_with_roles_have_chosen() -> None:
    chosen = {"roles": [*ROLE_IDS[:4]]}
    event = parse({"stage": "choose", "seats": {1: chosen, 3: {"retired": True}}})
    assert ([*event.waiting], event.trick_no) == ([0, 2, 4], 0)
    assert [seat.cards_left for seat in event.seats] == [0] * 5
    assert [*event.hands[1].roles] == [*ROLE_IDS[:4]]


def test_the_board() -> None:
    event = parse({"clouds": {"c08": "storm_gust_1", "c17": "heavy_13"}, "occupied": ["orange_rd_01"]}, STORM)
    assert {placed.space: placed.cloud for placed in event.clouds if placed.cloud} == {
        "c08": "storm_gust_1",
        "c17": "heavy_13",
    }
    assert [*event.occupied_towers] == ["orange_rd_01"]


def test_bewitched_roles() -> None:
    event = parse(
        {"players": 4, "bewitched": ["hill_druid"], "bewitched_stack": ["root_gatherer"], "bewitched_shuffles": 3}
    )
    assert ([*event.bewitched], [*event.bewitched_stack], event.bewitched_count, event.bewitched_shuffles) == (
        ["hill_druid"],
        ["root_gatherer"],
        1,
        3,
    )


# ---- what is refused -------------------------------------------------------------------------------------------------

FAIRY = {"roles": ["weather_fairy"]}
BAD: list[tuple[dict[Any, Any], dict[str, str], str]] = [
    ({"gold": 3}, {}, "no key 'gold'"),
    ({"players": 6}, {}, "`players` must be"),
    ({"players": 1}, {}, "`players` must be"),
    ({"stage": "steps"}, {}, "`stage` must be one of lead, choose"),
    ({"round": 0}, {}, "`round` must be"),
    ({"round": 8}, {}, "`round` must be"),
    ({"event": "rain"}, {}, "no event 'rain'"),
    ({"events": ["rain"]}, {}, "no event 'rain'"),
    ({"events": ["the_works"]}, {}, "3 events are out"),
    ({"round": 7, "events": ["brave_heart"]}, {}, "After round 7 come 0 events"),
    ({"leader": 5}, {}, "`leader` must be"),
    ({"leader": 1}, {}, "Who leads holds a role"),
    ({"first_seat": -1}, {}, "`first_seat` must be"),
    ({"trick": 0}, {}, "`trick` must be"),
    ({"led": ["hill_witch"], "trick": 1}, {}, "`trick` must be"),
    ({"trick": 11}, {}, "`trick` must be"),
    ({"led": ["hill"]}, {}, "no role 'hill'"),
    ({"bewitched": ["hill_witch"]}, {}, "With 5 seats 0 roles are bewitched"),
    ({"bewitched_stack": ["hill_witch"]}, {}, "With five seats nothing is bewitched"),
    ({"bewitched_shuffles": 1}, {}, "counts the shuffles"),
    ({"players": 3, "bewitched": ["hill_witch"]}, {}, "With 3 seats 2 roles are bewitched"),
    ({"players": 3, "bewitched": ["hill_witch", "hill_witch"]}, {}, "hill_witch is in two places"),
    ({"players": 4, "bewitched": ["hill_witch"], "bewitched_stack": ["hill_witch"]}, {}, "hill_witch is in two places"),
    ({"players": 4, "bewitched": ["hill"]}, {}, "no role 'hill'"),
    ({"players": 4, "bewitched_shuffles": 0}, {}, "`bewitched_shuffles` must be"),
    ({"clouds": {"c19": "heavy_01"}}, {}, "no key 'c19'"),
    ({"clouds": ["heavy_01"]}, {}, "`clouds` must be a mapping"),
    ({"clouds": {"c01": "rain"}}, {}, "no cloud 'rain'"),
    ({"clouds": {"c01": "heavy_01", "c02": "heavy_01"}}, {}, "heavy_01 is in two places"),
    ({"clouds": {"c01": "storm_courier"}}, {}, "without storm clouds"),
    ({"clouds": {f"c{n:02}": f"heavy_{n:02}" for n in range(1, 12)}}, STORM, "10 heavy clouds take part"),
    ({"tiles": {"m1": "m_wands"}}, {}, "no key 'm1'"),
    ({"tiles": {"m1": "m_gold"}}, MOUNTAINS, "no tile 'm_gold'"),
    ({"tiles": {"m1": None}}, MOUNTAINS, "A tile lies on each mountain site"),
    ({"tiles": {"m1": "m_wands", "m2": "m_wands"}}, MOUNTAINS, "m_wands is in two places"),
    ({"tiles": {"h1": "f_heart_1"}}, BACK, "f_heart_1 does not lie on a hill site"),
    ({"occupied": ["red_rd_01"]}, {}, "no tower 'red_rd_01'"),
    ({"occupied": ["orange_sq_01"]}, {}, "orange_sq_01 is square"),
    ({"occupied": ["orange_rd_01", "orange_rd_01"]}, {}, "orange_rd_01 is in two places"),
    ({"occupied": ["green_rd_12"]}, MOUNTAINS, "green_rd_12 is covered"),
    ({"seats": {5: {}}}, {}, "no key '5'"),
    ({"seats": 3}, {}, "`seats` must be a list"),
    ({"seats": {0: 3}}, {}, "Seat 0 must be a mapping"),
    ({"seats": {0: {"gold": 3}}}, {}, "seat 0: there is no key 'gold'"),
    ({"seats": {0: FAIRY | {"pawns": ["p3"]}}}, {}, "Seat 0 has 2 pawns"),
    ({"seats": {0: FAIRY | {"pawns": ["p3", "p9"]}}}, {}, "no region 'p9'"),
    ({"seats": {0: FAIRY | {"pawns": ["p3", "w1"]}}}, {}, "No pawn stands in water, as in w1"),
    ({"seats": {0: FAIRY | {"pawns": ["p1", "p3"]}}, "clouds": {"c02": "heavy_01"}}, {}, "under a cloud, as in p1"),
    ({"seats": {0: FAIRY | {"vp": 10_001}}}, {}, "`vp` must be"),
    ({"seats": {0: FAIRY | {"resources": "o1 o2"}}}, {}, "is no holding"),
    ({"seats": {0: {"roles": ["hill"]}}}, {}, "no role 'hill'"),
    ({"seats": {0: {"roles": ["hill_witch", "hill_witch"]}}}, {}, "hill_witch is in two places"),
    ({"seats": {0: {"roles": [*ROLE_IDS[:5]]}}}, {}, "Seat 0 holds too many roles"),
    ({"seats": {0: FAIRY | {"clouds": ["heavy_01"]}}, "clouds": {"c01": "heavy_01"}}, {}, "heavy_01 is in two places"),
    ({"seats": {0: FAIRY | {"amulets": ["m1"]}}}, {}, "without amulets"),
    ({"seats": {0: FAIRY | {"amulets": ["p1"]}}}, MOUNTAINS, "no mountain site 'p1'"),
    ({"seats": {0: FAIRY | {"amulets": ["m1", "m1"]}}}, MOUNTAINS, "m1 is in two places"),
    ({"seats": {0: FAIRY | {"amulets": [], "pawns": ["m2", "p3"]}}}, MOUNTAINS, "stands at m2: its amulet was taken"),
    ({"seats": {0: FAIRY | {"forest_tiles": ["f_card_1"]}}}, {}, "without forest tiles"),
    ({"seats": {0: FAIRY | {"forest_tiles": ["m_wands"]}}}, BACK, "no forest tile 'm_wands'|m_wands is in two places"),
    ({"seats": {0: FAIRY | {"forest_tiles": ["f_card_1"]}}, "tiles": {"f1": "f_card_1"}}, BACK, "in two places"),
    (
        {
            "seats": {0: FAIRY | {"forest_tiles": ["f_card_1"]}},
            "tiles": {"f1": "f_five_1", "f2": "f_five_2", "f3": "f_heart_1", "f4": "f_heart_2"},
        },
        BACK,
        "4 forest tiles were placed",
    ),
    ({"seats": {0: FAIRY | {"pawns": ["f1", "p1"]}}, "tiles": {"f1": "f_five_1"}}, BACK, "f_five_1 was taken"),
    ({"seats": {0: FAIRY | {"pawns": ["h1", "p1"]}}, "tiles": {"h1": "h_ab"}}, BACK, "carries every pawn"),
    ({"seats": {0: FAIRY | {"pawns": ["h1", "h2"]}}}, BACK, "carries every pawn"),
    ({"seats": {0: FAIRY | {"timeouts": 3}}}, {}, "`timeouts` must be"),
    ({"seats": {0: FAIRY | {"retired": True}}}, {}, "Seat 0 has left and holds no roles"),
    ({"players": 2, "seats": {0: FAIRY, 1: {"retired": True}}}, {}, "the match is over"),
    ({"seats": {0: FAIRY | {"retired": 1}}}, {}, "true or false"),
    ({"stage": "choose", "seats": {0: FAIRY}}, {}, "In `choose` seat 0 has not chosen so"),
    (
        {"stage": "choose", "seats": {seat: {"roles": [*ROLE_IDS[:4]]} for seat in range(5)}},
        {},
        "in a simultaneous stage only",
    ),
]


@pytest.mark.parametrize(("position", "options", "sentence"), BAD)
def test_a_bad_position_says_why(position: dict[Any, Any], options: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence.replace("(", r"\(").replace(")", r"\)")):
        parse(position, options)


def test_a_bad_option_is_told() -> None:
    with pytest.raises(ValueError, match="heavy_clouds must be"):
        parse({}, {"heavy_clouds": "3"})


README = Path(broom_service.__file__).with_name("README.md").read_text().partition("## Arranged positions")[2]


def test_the_example_of_the_readme_can_be() -> None:
    block = re.search(r"```yaml\n(.*?)```", README, re.DOTALL)
    assert block
    example = yaml.safe_load(block[1])
    event = BroomServicePositions().parse(example["position"], example["options"])
    assert len(event.seats) == example["seats"]
    assert [*event.hands[0].roles] == ["forest_witch", "valley_druid"]


def test_the_readme_names_every_key() -> None:
    rows = re.findall(r"^\| (`.*?) \|", README, re.MULTILINE)
    named = [key for row in rows for key in re.findall(r"`(\w+)`", row)]
    assert sorted(named) == sorted((*KEYS, *SEAT_KEYS))


# ---- events that no plan makes ---------------------------------------------------------------------------------------


def following() -> pb.PositionArranged:
    """Seat 1 is asked to follow."""
    event = parse({"seats": {0: {"roles": ["root_gatherer"]}, 1: {"roles": ["hill_witch", "root_gatherer"]}}})
    event.stage = "follow"
    event.plays.add(trick_no=1, seat=0, role="hill_witch", stance="brave")
    event.brave_seat = 0
    return event


def acting() -> pb.PositionArranged:
    """Seat 1 carries out its cowardly action."""
    event = following()
    event.stage, event.acting_seat, event.last_step, event.last_group = "steps", 1, 1, 1
    event.plays.add(trick_no=1, seat=1, role="hill_witch", stance="cowardly")
    del event.hands[1].roles[1]
    event.seats[1].cards_left = 1
    event.steps.add(step=1, group=1, kind="move", cause="hill_witch", moves=1, terrains=["hill"])
    return event


def offering() -> pb.PositionArranged:
    """Seat 0 has offered, seat 1 is asked."""
    event = parse({"event": "the_upper_hand", "seats": {0: FAIRY | {"resources": "o3"}, 1: {"resources": "w1"}}})
    event.stage = "offer"
    event.hands[0].ClearField("roles")
    event.seats[0].cards_left = 0
    event.waiting.append(1)
    event.hands[0].offer.CopyFrom(pb.Resources(orange=2))
    return event


def adding() -> pb.PositionArranged:
    """Seat 0 adds a role, seat 1 is asked."""
    seats = {0: {"forest_tiles": ["f_card_1"]}, 1: {"forest_tiles": ["f_card_2"]}}
    event = parse({"seats": seats, "stage": "choose"}, BACK)
    event.stage = "extra"
    event.ClearField("waiting")
    event.waiting.append(1)
    for hand, seat in zip(event.hands, event.seats, strict=True):
        hand.roles.extend(ROLE_IDS[:4])
        seat.cards_left = 4
    event.hands[0].extra_tile, event.hands[0].extra_role = "f_card_1", "weather_fairy"
    return event


Change = Callable[[pb.PositionArranged], object]
FRONT_TERMS, BACK_TERMS = terms_of({}, 5), terms_of(BACK, 5)


@pytest.mark.parametrize(
    ("event", "terms"),
    [(following(), FRONT_TERMS), (acting(), FRONT_TERMS), (offering(), FRONT_TERMS), (adding(), BACK_TERMS)],
)
def test_positions_in_the_middle_of_things(event: pb.PositionArranged, terms: Terms) -> None:
    assert position_fault(event, terms) == ""


LIES: list[tuple[Callable[[], pb.PositionArranged], Change, str]] = [
    (following, lambda e: setattr(e, "board", "back"), "is played on the front"),
    (following, lambda e: e.seats.pop(), "The match has 5 seats, the position 4"),
    (following, lambda e: setattr(e, "timeout_limit", 4), "limit of timeouts"),
    (following, lambda e: setattr(e, "leader", 7), "The seats are 0..4"),
    (following, lambda e: setattr(e, "stage", "over"), "`stage` must be one of"),
    (following, lambda e: setattr(e, "round", 9), "`round` must be"),
    (following, lambda e: e.events_to_come.pop(), "After round 1 come 6 events"),
    (following, lambda e: e.events_out.pop(), "3 events are out"),
    (following, lambda e: setattr(e, "bewitched_count", 1), "count and its roles differ"),
    (following, lambda e: e.clouds.pop(), "Every cloud space is named"),
    (following, lambda e: e.covered_towers.append("green_rd_12"), "Covered are no towers"),
    (following, lambda e: setattr(e.seats[0], "vp", 20_000), "VP are in"),
    (following, lambda e: setattr(e.seats[0].resources, "wand", 200_000), "holds at most"),
    (following, lambda e: setattr(e.seats[0], "timeouts", 3), "seat 0 is retired"),
    (following, lambda e: e.seats[0].pawns.append("p1"), "Seat 0 has 2 pawns"),
    (following, lambda e: e.hands.pop(), "Every seat has its hand"),
    (following, lambda e: e.hands[1].roles.reverse(), "in the order of the data"),
    (following, lambda e: setattr(e.seats[1], "cards_left", 3), "cards and the hand differ"),
    (following, lambda e: e.waiting.append(1), "in a simultaneous stage only"),
    (following, lambda e: setattr(e, "trick_no", 0), "no trick of this number"),
    (following, lambda e: setattr(e, "trick_no", 12), "at most 10 tricks"),
    (following, lambda e: setattr(e.plays[0], "trick_no", 2), "trick by trick"),
    (following, lambda e: setattr(e.plays[0], "seat", 9), "The seats are 0..4"),
    (following, lambda e: setattr(e.plays[0], "role", "hill"), "no role 'hill'"),
    (following, lambda e: setattr(e.plays[0], "stance", "bold"), "brave or cowardly"),
    (following, lambda e: setattr(e.plays[0], "passed", True), "a pass without"),
    (following, lambda e: setattr(e.plays[0], "instead", "gold"), "Instead of an action"),
    (following, lambda e: e.plays.add(trick_no=1, seat=2, role="hill_witch", passed=True), "Seats follow clockwise"),
    (following, lambda e: setattr(e.plays[0], "role", "root_gatherer"), ""),
    (following, lambda e: setattr(e.plays[0], "role", "hill_druid"), "Who follows holds the role"),
    (following, lambda e: e.ClearField("brave_seat"), "Brave is the seat"),
    (following, lambda e: setattr(e, "brave_seat", 1), "Brave is the seat"),
    (following, lambda e: setattr(e, "stage", "lead"), "nothing was laid down"),
    (following, lambda e: setattr(e, "stage", "steps"), "Steps are open in `steps`"),
    (acting, lambda e: setattr(e, "acting_seat", 0), "Who played last, or is brave, acts"),
    (acting, lambda e: setattr(e.steps[0], "step", 0), "Steps are numbered"),
    (acting, lambda e: setattr(e, "last_step", 0), "Steps are numbered"),
    (acting, lambda e: setattr(e.steps[0], "group", 0), "Groups are numbered"),
    (acting, lambda e: setattr(e.steps[0], "kind", "dance"), "no step of a kind 'dance'"),
    (acting, lambda e: setattr(e.steps[0], "moves", 0), "A move has moves left"),
    (acting, lambda e: setattr(e.steps[0], "moves", 3), "A move has moves left"),
    (acting, lambda e: setattr(e.steps[0].take, "wand", 1), "Who gathers takes something"),
    (acting, lambda e: setattr(e.steps[0].take, "wand", 9), "Nothing gives so much"),
    (acting, lambda e: e.steps[0].terrains.append("water"), "no terrain 'water'"),
    (acting, lambda e: setattr(e.steps[0], "pawn", 2), "The pawns are 0 and 1"),
    (acting, lambda e: setattr(e.steps[0], "region", "x1"), "a region of the board"),
    (
        acting,
        lambda e: e.steps[0].CopyFrom(pb.Step(step=1, group=1, kind="turbo", region="h1")),
        "leads from a hill to circles",
    ),
    (acting, lambda e: setattr(e, "stage", "follow"), "Who follows holds the role|Steps are open"),
    (offering, lambda e: setattr(e, "event", "brave_heart"), "belongs to the_upper_hand|in two places"),
    (offering, lambda e: setattr(e.hands[0].offer, "orange", 4), "does not hold what it offers"),
    (offering, lambda e: e.hands[1].offer.SetInParent(), "Offers are made in `offer`"),
    (offering, lambda e: e.waiting.append(2), "Seat 2 is not asked"),
    (offering, lambda e: e.waiting.insert(0, 4), "Seats that are asked are seats"),
    (offering, lambda e: e.hands[0].roles.append("hill_witch"), "cards and the hand differ"),
    (adding, lambda e: setattr(e.hands[0], "extra_role", "root_gatherer"), "cannot add that role"),
    (adding, lambda e: setattr(e.hands[0], "extra_tile", "f_heart_1"), "cannot add that role"),
    (adding, lambda e: setattr(e.hands[0], "extra_tile", "f_card_2"), "cannot add that role"),
    (adding, lambda e: setattr(e.hands[1], "extra_tile", "f_card_2"), "Roles are added in `extra`"),
    (adding, lambda e: e.waiting.append(2), "Seat 2 is not asked"),
    (adding, lambda e: e.tiles.pop(), "A tile lies on each hill site"),
    (adding, lambda e: e.tiles.insert(0, e.tiles.pop()), "in the order of the sites"),
]


@pytest.mark.parametrize(("make", "change", "sentence"), LIES)
def test_an_event_that_lies_is_refused(make: Callable[[], pb.PositionArranged], change: Change, sentence: str) -> None:
    event = make()
    change(event)
    fault = position_fault(event, BACK_TERMS if make is adding else FRONT_TERMS)
    assert any(part in fault for part in sentence.split("|")) if sentence else fault == ""
