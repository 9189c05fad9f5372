"""TT-7: what happens when a decision is not made in time."""

from __future__ import annotations

import pytest

from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from tests.two_towers.table import Table, kinds, only
from two_towers.worst import worst_slot

RICH = (20, 5, 2, 2, 2, 30, 30, 30)
START = (20, 5, 2, 2, 2, 5, 5, 5)


def test_an_expired_decision() -> None:
    # TT-7.3
    hand = ["dragons_heart", "dragons_eye", "lucky_cache", "basic_wall", "orc", "dragon"]
    table = Table.arranged({0: {"ore": 5, "mana": 5, "recruits": 5, "hand": hand}})
    events = table.expire()
    assert kinds(events) == ["turn_timed_out", "card_discarded", "card_drawn", "turn_ended", "turn_started"]
    assert events[0] == pb.TurnTimedOut(seat=0, turn_no=1, consecutive=1)
    assert events[1] == pb.CardDiscarded(seat=0, slot=5, card="dragon", cause="timeout")
    assert (table.state.active, table.state.seats[0].timeouts, table.prompt.key) == (1, 1, 2)


def test_the_last_missed_turn_loses_at_once() -> None:
    # TT-7.2
    table = Table.arranged({0: {"timeouts": 2}})
    hand = table.hand(0)
    events = table.expire()
    assert kinds(events) == ["turn_timed_out", "match_ended"]
    assert (events[1].winner, list(events[1].reasons)) == (1, ["timeouts"])
    assert table.hand(0) == hand


def test_the_limit_is_an_option() -> None:
    table = Table.arranged({0: {"timeouts": 2}}, {"timeout_limit": 4})
    table.expire()
    assert (table.state.result, table.state.seats[0].timeouts) == (None, 3)


def test_a_forced_discard_expires() -> None:
    # TT-7.3: it is settled, and acting again is forfeited; TT-7.4: the play had set the counter to 0.
    table = Table.arranged({0: {"mana": 2, "hand": ["prism"], "timeouts": 2}, "pile_top": ["dragon"]})
    table.play("prism")
    assert table.state.seats[0].timeouts == 0
    events = table.expire()
    assert kinds(events) == ["turn_timed_out", "card_discarded", "card_drawn", "turn_ended", "turn_started"]
    assert (events[1].card, events[1].cause) == ("dragon", "timeout")
    assert (table.state.active, table.prompt.kind, table.state.seats[0].timeouts) == (1, "main", 1)


def test_a_decision_of_ones_own_starts_the_count_anew() -> None:
    # TT-7.4
    table = Table.arranged({0: {"timeouts": 2}, 1: {"timeouts": 1}})
    table.discard(table.hand(0)[0])
    assert [side.timeouts for side in table.state.seats] == [0, 1]
    table.expire()
    assert [side.timeouts for side in table.state.seats] == [0, 2]
    table.expire()
    assert [side.timeouts for side in table.state.seats] == [1, 2]


def test_a_missed_turn_keeps_its_production() -> None:
    # TT-12, 28
    table = Table.arranged({0: {"ore": 5}, "at": "turn_start"})
    table.expire()
    assert table.numbers(0)["ore"] == 7


@pytest.mark.parametrize(
    ("hand", "numbers", "worst"),
    [
        # (1) the larger shortfall
        (["dragons_heart", "dragons_eye", "lucky_cache", "basic_wall", "orc", "dragon"], START, "dragon"),
        # (2) cards without act again first
        (["lucky_cache", "diamond", "quartz", "ruby", "faerie", "orc"], RICH, "ruby"),
        (["lucky_cache", "quartz", "prism", "faerie", "tremors", "dragon"], RICH, "dragon"),
        # (3) lower cost, (4) lower number
        (["lucky_cache", "brick_shortage", "basic_wall", "rainbow", "orc", "faerie"], RICH, "brick_shortage"),
        (["ogre", "rainbow", "mad_cow_disease", "bag_of_baubles", "earthquake", "orc"], RICH, "earthquake"),
        # a shortfall beats act again
        (["secret_room", "basic_wall", "ruby", "orc", "gnome", "quartz"], START, "secret_room"),
    ],
)
def test_worst_card(hand: list[str], numbers: tuple[int, ...], worst: str) -> None:
    # TT-7.5
    assert hand[worst_slot(hand, numbers)] == worst


def test_of_equal_cards_the_lowest_slot_goes() -> None:
    hand = ["ruby", "dragon", "orc", "dragon", "ruby", "orc"]
    assert worst_slot(hand, START) == 1


def test_empty_slots_are_passed_over() -> None:
    table = Table.arranged({0: {"hand": [None, "dragon", None, "orc"]}})
    assert only(table.expire(), pb.CardDiscarded).card == "dragon"
