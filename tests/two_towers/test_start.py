"""TT-1.5, TT-3, TT-4.1: options, the deal, the first turn."""

from __future__ import annotations

import pytest

from grimoire.engine import Illegal, MatchFacts, Setup
from grimoire.fairness import RecordedDraws
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from tests.two_towers.table import GAME, VECTOR_JOINT, Table, kinds, only
from two_towers.battlefields import BATTLEFIELDS

# Written from the table of TT-2.3: tower, wall, producers, stocks, goals.
FIELDS_OF_THE_RULES = {
    "archmage_fortress": ((20, 5, 2, 2, 2, 5, 5, 5), 50, 150),
    "crystal_garden": ((20, 10, 3, 3, 3, 5, 5, 5), 75, 200),
    "coastal_fortress": ((20, 10, 5, 5, 5, 25, 25, 25), 150, 400),
    "azure_valley": ((20, 50, 1, 1, 5, 5, 5, 25), 100, 300),
    "misty_harbour": ((50, 50, 5, 3, 5, 20, 10, 20), 100, 300),
    "square_of_winds": ((20, 10, 3, 1, 2, 15, 5, 10), 125, 350),
    "free_steppe": ((20, 10, 1, 1, 1, 15, 15, 15), 200, 500),
    "mirror_labyrinth": ((30, 15, 4, 4, 4, 10, 10, 10), 100, 300),
}


def test_battlefields_are_those_of_the_rules() -> None:
    assert {b.id: (b.numbers, b.goal_tower, b.goal_resource) for b in BATTLEFIELDS.values()} == FIELDS_OF_THE_RULES


@pytest.mark.parametrize("battlefield", FIELDS_OF_THE_RULES)
def test_both_seats_start_alike_and_the_first_produces(battlefield: str) -> None:
    numbers, goal_tower, goal_resource = FIELDS_OF_THE_RULES[battlefield]
    table = Table.dealt(battlefield=battlefield, first_player="seat_0")
    begun = table.history[0]
    assert isinstance(begun, pb.BattleBegun)
    assert (begun.first_seat, begun.goal_tower, begun.goal_resource) == (0, goal_tower, goal_resource)
    assert begun.numbers[0] == begun.numbers[1]
    assert table.state.seats[1].numbers == numbers
    tower, wall, mines, monasteries, barracks, ore, mana, recruits = numbers
    produced = (tower, wall, mines, monasteries, barracks, ore + mines, mana + monasteries, recruits + barracks)
    assert table.state.seats[0].numbers == produced  # TT-4.1: its very first turn too


def test_events_of_a_standard_start() -> None:
    table = Table.dealt()
    assert kinds(table.history) == ["battle_begun", "pile_ordered", "hand_dealt", "hand_dealt", "turn_started"]
    assert [e.seat for e in table.history if isinstance(e, pb.HandDealt)] == [1, 0]
    assert only(table.history, pb.BattleBegun).pile_count == 90
    assert len(only(table.history, pb.PileOrdered).cards) == 90
    assert (table.prompt.seat, table.prompt.kind, table.prompt.key, table.prompt.deadline_class) == (
        1,
        "main",
        1,
        "turn",
    )


def test_events_of_an_endless_start() -> None:
    table = Table.dealt(deck_type="endless")
    assert kinds(table.history) == ["battle_begun", "hand_dealt", "hand_dealt", "turn_started"]
    assert not only(table.history, pb.BattleBegun).HasField("pile_count")


@pytest.mark.parametrize("seat", [0, 1])
def test_first_player_is_fixed_by_the_option(seat: int) -> None:
    table = Table.dealt(first_player=f"seat_{seat}")
    assert table.prompt.seat == seat
    assert table.deal_lines[1] == str(seat)


def test_defaults_of_the_options() -> None:
    facts = GAME.configure({}, 2)
    assert facts == MatchFacts(
        options=(
            ("battlefield", "archmage_fortress"),
            ("deck_type", "standard"),
            ("turn_time_s", "60"),
            ("timeout_limit", "3"),
            ("first_player", "random"),
        ),
        seconds=(("turn", 60),),
        timeout_limit=3,
    )


def test_options_are_taken_over() -> None:
    facts = GAME.configure({"turn_time_s": "0010", "timeout_limit": "10", "deck_type": "endless"}, 2)
    assert isinstance(facts, MatchFacts)
    assert dict(facts.options)["turn_time_s"] == "10"
    assert (facts.seconds, facts.timeout_limit) == ((("turn", 10),), 10)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("battlefield", "moon"),
        ("battlefield", ""),
        ("deck_type", "Standard"),
        ("turn_time_s", "9"),
        ("turn_time_s", "86401"),
        ("turn_time_s", "sixty"),
        ("turn_time_s", "6e1"),
        ("turn_time_s", "60 "),
        ("turn_time_s", "٦٠"),
        ("turn_time_s", "9" * 5000),
        ("timeout_limit", "1"),
        ("timeout_limit", "11"),
        ("timeout_limit", "-3"),
        ("first_player", "seat_2"),
        ("handicap", "1"),
        ("x" * 1000, "1"),
    ],
)
def test_bad_options_are_named(name: str, value: str) -> None:
    refusal = GAME.configure({name: value}, 2)
    assert isinstance(refusal, Illegal)
    assert (refusal.code, refusal.rule, refusal.field) == ("bad_option", "TT-1.5", name[:40])
    assert len(refusal.message) < 300


@pytest.mark.parametrize("seats", [0, 1, 3])
def test_two_seats_exactly(seats: int) -> None:
    refusal = GAME.configure({}, seats)
    assert isinstance(refusal, Illegal)
    assert (refusal.code, refusal.rule, refusal.field) == ("bad_option", "TT-1.1", "seats")


def test_a_position_that_is_none_is_refused() -> None:
    for garbage in (b"\xff\xff", b"\x0a\x01x", pb.PositionArranged(deck_type="endless").SerializeToString()):
        refusal = GAME.start(Setup("tt", 2, {}, garbage), RecordedDraws("two_towers", VECTOR_JOINT))
        assert isinstance(refusal, Illegal)
        assert (refusal.code, refusal.field) == ("bad_position", "position")


def test_rules_digest_is_that_of_the_data() -> None:
    assert len(GAME.rules_digest) == 32
    assert (GAME.rules_version, GAME.catalog_version) == (1, "1.0.0")
