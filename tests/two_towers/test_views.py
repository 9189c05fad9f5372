"""TT-6: what each viewer sees."""

from __future__ import annotations

import pytest
import rich.pretty

from grimoire.engine import ALL, PUBLIC, Viewer
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from tests.two_towers.table import GAME, Table

SEAT_0, SEAT_1 = Viewer.of_seat(0), Viewer.of_seat(1)


@pytest.fixture
def table() -> Table:
    return Table.arranged(
        {
            0: {"mana": 3, "wall": 4, "timeouts": 1, "hand": ["ruby", "dragon", "quartz", None]},
            1: {"hand": ["orc", "imp"]},
            "discards": ["gnome", "earthquake"],
            "turn": 5,
        }
    )


def test_the_owner_sees_its_hand_and_what_it_can_pay(table: Table) -> None:
    view = table.view(SEAT_0)
    ruby, dragon, quartz, empty = view.seats[0].hand[:4]
    assert ruby == pb.HandSlot(slot=0, card="ruby", cost=3, resource="mana", colour="blue", affordable=True)
    assert dragon == pb.HandSlot(slot=1, card="dragon", cost=25, resource="recruits", colour="green", shortfall=25)
    assert (quartz.act_again, quartz.affordable) == (True, True)
    assert empty == pb.HandSlot(slot=3)
    assert view.own_seat == 0


def test_a_hand_is_its_owners_alone(table: Table) -> None:
    # TT-6.3
    assert [len(s.hand) for s in table.view(SEAT_0).seats] == [6, 0]
    assert [len(s.hand) for s in table.view(SEAT_1).seats] == [0, 6]
    assert [len(s.hand) for s in table.view(PUBLIC).seats] == [0, 0]
    assert [len(s.hand) for s in table.view(ALL).seats] == [6, 6]
    assert [len(table.view(v).pile) for v in (SEAT_0, SEAT_1, PUBLIC)] == [0, 0, 0]
    assert tuple(table.view(ALL).pile) == table.state.pile


def test_what_everybody_sees(table: Table) -> None:
    # TT-6.2
    for viewer in (SEAT_0, SEAT_1, PUBLIC, ALL):
        view = table.view(viewer)
        assert (view.battlefield, view.deck_type, view.goal_tower, view.goal_resource) == (
            "archmage_fortress",
            "standard",
            50,
            150,
        )
        assert (view.turn_no, view.turn_limit, view.active_seat, view.phase) == (5, 1000, 0, "main")
        assert (view.plays_this_turn, view.play_limit, view.timeout_limit) == (0, 100, 3)
        assert [s.hand_count for s in view.seats] == [5, 6]
        assert [s.timeouts for s in view.seats] == [1, 0]
        assert [s.numbers.wall for s in view.seats] == [4, 5]
        assert (view.pile_count, [*view.discards]) == (len(table.state.pile), ["gnome", "earthquake"])
        assert view.arranged
        assert not view.HasField("result")
    assert not table.view(PUBLIC).HasField("own_seat")
    assert not table.view(ALL).HasField("own_seat")


def test_the_last_cards(table: Table) -> None:
    table.play("quartz")
    assert [(s.seat, s.card, s.how, s.turn_no) for s in table.view(PUBLIC).last_cards] == [(0, "quartz", "played", 5)]
    table.discard("dragon")
    table.discard("orc")
    assert [(s.seat, s.card, s.how, s.turn_no) for s in table.view(PUBLIC).last_cards] == [(1, "orc", "chosen", 6)]


def test_the_end() -> None:
    table = Table.arranged({0: {"mana": 3, "tower": 5, "hand": ["power_burn"]}})
    table.play("power_burn")
    view = table.view(PUBLIC)
    assert view.phase == "over"
    assert view.result == pb.Result(outcome="win", winner=1, reasons=["tower_destroyed"])
    assert view.seats[0].hand_count == 5


def test_a_draw_has_no_winner() -> None:
    table = Table.arranged({"turn": 1000})
    table.discard(table.hand(0)[0])
    assert not table.view(PUBLIC).result.HasField("winner")


def test_an_endless_view() -> None:
    view = Table.dealt(deck_type="endless").view(PUBLIC)
    assert (view.HasField("pile_count"), view.draws_made, [*view.discards]) == (False, 12, [])


def test_there_is_no_third_seat(table: Table) -> None:
    with pytest.raises(ValueError, match="no seat 2"):
        table.view(Viewer.of_seat(2))


def test_a_drawn_card_is_the_drawers_secret() -> None:
    # TT-6.3: absent from the other feed, not blanked.
    table = Table.arranged({"pile_top": ["dragon"]})
    events = table.discard(table.hand(0)[0])
    split = GAME.schema.split(events, 2)
    (public,) = [e for e in GAME.schema.merge(split.public, {}) if isinstance(e, pb.CardDrawn)]
    assert public == pb.CardDrawn(seat=0, slot=0, cause="refill", pile_count=89)
    assert b"dragon" not in split.public
    assert b"dragon" in split.parts["seat/0"]
    assert [*split.parts] == ["seat/0"]


def test_hidden_cards_are_in_no_repr() -> None:
    table = Table.dealt()
    shown = [repr(table.state), str(table.state.seats), rich.pretty.pretty_repr(table.state)]
    for card in (*table.hand(0), *table.hand(1), *table.state.pile):
        assert not any(f"'{card}'" in text for text in shown)
