"""Arranged positions: defaults, what can be named, what is refused (services/two_towers/README.md)."""

from __future__ import annotations

from typing import Any

import pytest

from grimoire.engine import Illegal, Setup
from grimoire.fairness import RecordedDraws
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from tests.two_towers.table import GAME, VECTOR_JOINT, Table, kinds, texts
from two_towers.cards import CATALOGUE
from two_towers.positions import TwoTowersPositions
from two_towers.rules import TwoTowers

ENDLESS = {"deck_type": "endless"}


def parse(position: dict[Any, Any], options: dict[str, object] | None = None) -> pb.PositionArranged:
    event = TwoTowersPositions().parse(position, texts(options or {}))
    assert isinstance(event, pb.PositionArranged)
    return event


def test_defaults() -> None:
    event = parse({})
    bare = pb.SeatNumbers(tower=20, wall=5, mines=2, monasteries=2, barracks=2)
    assert [*event.numbers] == [bare, bare]
    assert (event.deck_type, event.battlefield) == ("standard", "archmage_fortress")
    assert (event.goal_tower, event.goal_resource, event.timeout_limit) == (50, 150, 3)
    assert (event.active_seat, event.turn_no, event.phase, event.at, event.plays_this_turn) == (
        0,
        1,
        "main",
        "decision",
        0,
    )
    assert [*event.timeouts] == [0, 0]
    assert (event.reshuffles, event.draws_made, [*event.discards]) == (0, 0, [])
    assert event.pile_count == len(event.pile) == 90
    everything = [*event.pile, *event.hands[0].cards, *event.hands[1].cards]
    assert sorted(everything) == sorted(CATALOGUE)
    assert [*event.pile] == [card for card in CATALOGUE if card in {*event.pile}]


def test_an_endless_default() -> None:
    event = parse({}, ENDLESS)
    assert (event.HasField("pile_count"), [*event.pile], event.draws_made) == (False, [], 12)


def test_fillers_are_harmless() -> None:
    for hand in parse({}).hands:
        assert all(
            card.endswith("_wall") or card in ("amethyst", "ruby", "lodestone", "emerald", "sapphire", "diamond")
            for card in hand.cards
        )


def test_fillers_avoid_what_is_named() -> None:
    event = parse(
        {0: {"hand": ["orc"]}, 1: {"hand": {5: "basic_wall"}}, "discards": ["sturdy_wall"], "pile_top": ["ruby"]}
    )
    assert event.hands[0].cards[0] == "orc"
    assert event.hands[1].cards[5] == "basic_wall"
    assert event.pile[0] == "ruby"
    everything = [*event.pile, *event.discards, *event.hands[0].cards, *event.hands[1].cards]
    assert sorted(everything) == sorted(CATALOGUE)


@pytest.mark.parametrize(
    "position",
    [
        {"seats": [{"mana": 7}, {"wall": 0}]},
        {"seats": {0: {"mana": 7}, 1: {"wall": 0}}},
        {"seats": {"0": {"mana": 7}, "1": {"wall": 0}}},
        {0: {"mana": 7}, 1: {"wall": 0}},
        {"0": {"mana": 7}, "1": {"wall": 0}},
    ],
)
def test_ways_to_name_seats(position: dict[Any, Any]) -> None:
    event = parse(position)
    assert [n.mana for n in event.numbers] == [7, 0]
    assert [n.wall for n in event.numbers] == [5, 0]


def test_ways_to_name_a_hand() -> None:
    listed = parse({0: {"hand": ["orc", "any", None, "imp"]}}).hands[0].cards
    assert (listed[0], listed[2], listed[3], len(listed)) == ("orc", "", "imp", 6)
    assert listed[1] not in ("", "any")
    mapped = parse({0: {"hand": {"1": "orc", 4: None}}}).hands[0].cards
    assert (mapped[1], mapped[4]) == ("orc", "")


def test_ways_to_name_a_pile() -> None:
    assert [*parse({"pile": ["orc", "imp"]}).pile] == ["orc", "imp"]
    assert [*parse({"pile": []}).pile] == []
    assert [*parse({"pile": 2, "discards": ["brick_shortage"]}).pile] == ["earthquake", "strip_mine"]
    assert [*parse({"pile_top": ["orc"]}).pile][:2] == ["orc", "brick_shortage"]


def test_numbers_of_the_battlefield() -> None:
    event = parse({"base": "battlefield", 0: {"ore": 1}}, {"battlefield": "azure_valley"})
    assert (event.numbers[0].ore, event.numbers[0].recruits, event.numbers[1].wall) == (1, 25, 50)
    assert (event.goal_tower, event.goal_resource) == (100, 300)


def test_a_turn_that_begins() -> None:
    table = Table.arranged({"at": "turn_start", "active": 1, "turn": 7, 1: {"mines": 4}})
    assert kinds(table.history) == ["position_arranged", "turn_started"]
    assert (table.state.turn_no, table.state.active, table.numbers(1)["ore"]) == (7, 1, 4)
    assert table.state.terms.first_seat == 1


def test_a_turn_that_ends() -> None:
    table = Table.arranged({"at": "turn_end", "active": 1, "turn": 7})
    assert kinds(table.history) == ["position_arranged", "turn_ended", "turn_started"]
    assert (table.state.turn_no, table.state.active) == (8, 0)
    last = Table.arranged({"at": "turn_end", "turn": 1000, 0: {"wall": 6}})
    assert kinds(last.history) == ["position_arranged", "turn_ended", "match_ended"]


def test_a_pending_forced_discard() -> None:
    table = Table.arranged({"phase": "forced_discard"})
    assert (table.prompt.kind, table.state.plays) == ("forced_discard", 1)
    table.discard(table.hand(0)[0])
    assert (table.prompt.kind, table.state.active) == ("main", 0)


def test_the_middle_of_a_match() -> None:
    table = Table.arranged(
        {
            "turn": 12,
            "active": 1,
            "plays_this_turn": 3,
            "reshuffles": 2,
            "goal_tower": 30,
            "goal_resource": 40,
            0: {"timeouts": 1},
            "discards": ["orc", "imp"],
        }
    )
    state = table.state
    assert (state.turn_no, state.active, state.plays, state.reshuffles) == (12, 1, 3, 2)
    assert (state.terms.goal_tower, state.terms.goal_resource, state.terms.arranged) == (30, 40, True)
    assert (state.terms.first_seat, state.seats[0].timeouts, state.discards) == (0, 1, ("orc", "imp"))
    assert table.prompt.key == 1


BAD: list[tuple[dict[Any, Any], dict[str, object], str]] = [
    ({"turns": 3}, {}, "no key 'turns'"),
    ({"seats": {2: {}}}, {}, "no key '2'"),
    ({"seats": "0"}, {}, "list of two mappings"),
    ({"seats": [{}, {}, {}]}, {}, "list of two mappings"),
    ({"seats": [3]}, {}, "must be a mapping"),
    ({"seats": {}, 0: {}}, {}, "not both"),
    ({0: {"gold": 3}}, {}, "no key 'gold'"),
    ({0: {"ore": -1}}, {}, "`ore` must be a whole number in 0..100000"),
    ({0: {"ore": 100_001}}, {}, "`ore` must be"),
    ({0: {"ore": "5"}}, {}, "`ore` must be"),
    ({0: {"ore": True}}, {}, "`ore` must be"),
    ({0: {"ore": 1.5}}, {}, "`ore` must be"),
    ({"active": 2}, {}, "`active` must be"),
    ({"turn": 0}, {}, "`turn` must be"),
    ({"turn": 1001}, {}, "`turn` must be"),
    ({"at": "noon"}, {}, "`at` must be one of"),
    ({"phase": "over"}, {}, "`phase` must be one of"),
    ({"phase": "forced_discard", "at": "turn_start"}, {}, "only `at` a decision"),
    ({"plays_this_turn": 101}, {}, "TT-4.7"),
    ({"plays_this_turn": 100}, {}, "After 100 plays"),
    ({"plays_this_turn": 0, "phase": "forced_discard"}, {}, "at least 1"),
    ({"base": "rich"}, {}, "`base` must be one of"),
    ({"goal_tower": 0}, {}, "`goal_tower` must be"),
    ({0: {"timeouts": 3}}, {}, "TT-7.2"),
    ({0: {"hand": ["dwarf"]}}, {}, "no card 'dwarf'"),
    ({0: {"hand": "ruby"}}, {}, "list of at most six"),
    ({0: {"hand": ["any"] * 7}}, {}, "list of at most six"),
    ({0: {"hand": {6: "ruby"}}}, {}, "no slot '6'"),
    ({0: {"hand": ["ruby", "ruby"]}}, {}, "two places"),
    ({0: {"hand": ["ruby"]}, 1: {"hand": ["ruby"]}}, {}, "two places"),
    ({0: {"hand": ["ruby"]}, "discards": ["ruby"]}, {}, "two places"),
    ({"pile": ["ruby", "ruby"]}, {}, "two places"),
    ({"pile": "ruby"}, {}, "list of card ids"),
    ({"pile": -1}, {}, "`pile` must be"),
    ({"pile": 91}, {}, "`pile` must be"),
    ({"pile": [], "pile_top": ["ruby"]}, {}, "not both"),
    ({"discards": [3]}, {}, "no card '3'"),
    ({0: {"hand": [None] * 6}}, {}, "needs a card in hand"),
    ({1: {"hand": [None] * 6}}, {}, "needs a card in hand"),
    ({0: {"hand": [None] * 6}, "at": "turn_start"}, {}, "needs a card in hand"),
    ({1: {"hand": [None] * 6}, "at": "turn_end"}, ENDLESS, "needs a card in hand"),
    ({0: {"hand": ["orc", None, None]}, "pile": ["ruby"]}, {}, "TT-4.5"),
    ({0: {"hand": ["ruby"] * 3}}, ENDLESS, "TT-8.3"),
    ({"pile": ["ruby"]}, ENDLESS, "neither pile nor discards"),
    ({"discards": ["ruby"]}, ENDLESS, "neither pile nor discards"),
    ({}, {"battlefield": "moon"}, "battlefield must be one of"),
    ({}, {"speed": "fast"}, "no option 'speed'"),
]


@pytest.mark.parametrize(("position", "options", "sentence"), BAD)
def test_a_bad_position_says_why(position: dict[Any, Any], options: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence.replace("(", r"\(")):
        parse(position, options)


def test_the_bounds_of_plays_in_a_position() -> None:
    # 99 plays and a decision, 100 and the forced discard of the last, 100 and the end of the turn: these can be.
    assert parse({"plays_this_turn": 99}).plays_this_turn == 99
    assert parse({"plays_this_turn": 100, "phase": "forced_discard"}).plays_this_turn == 100
    assert parse({"plays_this_turn": 100, "at": "turn_end"}).plays_this_turn == 100


def test_a_forged_position_is_refused_by_the_start() -> None:
    # Positions come from clients too: whatever the parser would not make is refused, and nothing raises.
    def forge(**fields: Any) -> pb.PositionArranged:
        event = parse({})
        for name, value in fields.items():
            setattr(event, name, value)
        return event

    short = parse({})
    del short.hands[0].cards[5]
    turned = parse({})
    turned.hands[0].seat, turned.hands[1].seat = 1, 0
    alone = parse({})
    del alone.numbers[1]
    forged = [
        forge(deck_type="endless"),
        forge(battlefield="crystal_garden"),
        forge(timeout_limit=9),
        forge(turn_no=0),
        forge(active_seat=2),
        forge(phase="over"),
        forge(at=""),
        forge(plays_this_turn=500),
        forge(pile_count=3),
        forge(goal_tower=0),
        forge(reshuffles=2**32 - 1),
        short,
        turned,
        alone,
        parse({}, ENDLESS),
    ]
    huge = parse({})
    huge.numbers[0].ore = 2**32 - 1
    unknown = parse({})
    unknown.hands[0].cards[0] = "dwarf"
    for event in (*forged, huge, unknown):
        setup = Setup("tt", 2, {}, event.SerializeToString())
        refusal = GAME.start(setup, RecordedDraws("two_towers", VECTOR_JOINT))
        assert isinstance(refusal, Illegal), event
        assert (refusal.code, refusal.rule, refusal.field) == ("bad_position", "TT-2", "position")


def test_hidden_parts_of_a_position() -> None:
    # Each hand goes to its seat, the pile to nobody; merging all parts gives the whole event again.
    event = parse({0: {"hand": ["minotaur"]}, 1: {"hand": ["pegasus_lancer"]}})
    split = TwoTowers.schema.split([event], 2)
    assert sorted(split.parts) == ["sealed", "seat/0", "seat/1"]
    assert b"minotaur" not in split.public + split.parts["seat/1"] + split.parts["sealed"]
    assert b"pegasus_lancer" not in split.public + split.parts["seat/0"]
    assert TwoTowers.schema.merge(split.public, split.parts) == [event]
