"""TT-4.5, TT-8: refills, reshuffles, endless draws."""

from __future__ import annotations

import pytest

from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from grimoire.v1 import match_pb2
from tests.two_towers.table import Table, kinds, only
from two_towers.cards import CATALOGUE

NUMBER = {card: index for index, card in enumerate(CATALOGUE)}


def test_reshuffle_meets_prism() -> None:
    # TT-8.1 with the vectors' J: the card just played comes back at once, sorted in before the shuffle.
    table = Table.arranged(
        {
            0: {"mana": 2, "hand": {1: "prism"}},
            "pile": [],
            "discards": ["strip_mine", "brick_shortage", "earthquake", "lucky_cache", "friendly_terrain"],
        }
    )
    events = table.play("prism")
    assert kinds(events) == ["card_played", "pile_reshuffled", "card_drawn"]
    order = ["earthquake", "friendly_terrain", "lucky_cache", "brick_shortage", "strip_mine", "prism"]
    assert events[1] == pb.PileReshuffled(n=1, count=6, cards=order)
    assert events[2] == pb.CardDrawn(seat=0, slot=1, cause="effect", pile_count=5, card="earthquake")
    assert table.state.discards == ()
    assert table.state.pile == tuple(order[1:])


def test_the_last_card_needs_no_reshuffle() -> None:
    table = Table.arranged({"pile": ["orc"], "discards": ["ruby"]})
    events = table.discard(table.hand(0)[0])
    assert "pile_reshuffled" not in kinds(events)
    assert only(events, pb.CardDrawn).pile_count == 0
    later = table.discard(table.hand(1)[0])
    assert kinds(later)[:3] == ["card_discarded", "pile_reshuffled", "card_drawn"]
    assert only(later, pb.PileReshuffled).count == 3


def test_a_discarded_card_may_come_back_at_once() -> None:
    table = Table.arranged({0: {"hand": ["orc"]}, "pile": []})
    assert only(table.discard("orc"), pb.CardDrawn).card == "orc"


def test_reshuffles_are_numbered_over_the_match() -> None:
    table = Table.arranged({"pile": [], "discards": ["ruby", "orc"], "reshuffles": 4}, draws={"reshuffle/5": [2]})
    given_up = table.hand(0)[0]
    event = only(table.discard(given_up), pb.PileReshuffled)
    assert event.n == 5
    # Forced: the third of the cards in catalogue order lies on top.
    assert event.cards[0] == sorted([given_up, "ruby", "orc"], key=NUMBER.__getitem__)[2]


def test_cards_in_hand_take_no_part() -> None:
    table = Table.arranged({"pile": [], "discards": ["ruby", "orc", "imp"]})
    held = {*table.hand(0), *table.hand(1)}
    event = only(table.discard(table.hand(0)[0]), pb.PileReshuffled)
    assert len({*event.cards} & held) == 1


def test_empty_slots_refill_from_the_lowest() -> None:
    # TT-4.5
    table = Table.arranged({0: {"hand": ["orc", None, "imp", None]}, "pile_top": ["ruby", "emerald", "diamond"]})
    drawn = [(e.slot, e.card) for e in table.discard("imp") if isinstance(e, pb.CardDrawn)]
    assert drawn == [(1, "ruby"), (2, "emerald"), (3, "diamond")]


def test_only_the_acting_hand_refills() -> None:
    table = Table.arranged({1: {"hand": [None]}})
    table.discard(table.hand(0)[0])
    assert table.hand(1)[0] == ""


@pytest.mark.parametrize(("hand", "drawn"), [(["elven_archers"] * 2, "gnome"), (["elven_archers"], "elven_archers")])
def test_a_third_copy_is_set_aside(hand: list[str], drawn: str) -> None:
    # TT-8.3 with the vectors' J
    table = Table.arranged({0: {"hand": [*hand, "any", "any", "any"]}}, {"deck_type": "endless"})
    event = only(table.discard(table.hand(0)[-1]), pb.CardDrawn)
    assert (event.card, event.draw_no, event.HasField("pile_count")) == (drawn, 13, False)
    assert table.state.draws_made == 13


def test_the_other_hand_does_not_matter() -> None:
    table = Table.arranged({1: {"hand": ["elven_archers"] * 2}}, {"deck_type": "endless"})
    assert only(table.discard(table.hand(0)[0]), pb.CardDrawn).card == "elven_archers"


def test_the_discarded_copy_no_longer_counts() -> None:
    table = Table.arranged({0: {"hand": ["elven_archers"] * 2}}, {"deck_type": "endless"})
    assert only(table.discard("elven_archers"), pb.CardDrawn).card == "elven_archers"


def test_every_ask_of_one_label_is_recorded() -> None:
    from grimoire.engine import Actor
    from grimoire.fairness import RecordedDraws
    from tests.two_towers.table import GAME, VECTOR_JOINT

    table = Table.arranged({0: {"hand": ["elven_archers", "elven_archers", "ruby"]}}, {"deck_type": "endless"})
    draws = RecordedDraws("two_towers", VECTOR_JOINT)
    GAME.decide(table.state, Actor.of_seat(0), pb.DiscardCard(slot=2, card="ruby"), table.prompt, draws)
    assert [(d.label, d.kind, d.bound, list(d.results)) for d in draws.taken] == [
        ("draw/13", match_pb2.DRAW_KIND_BELOW, 102, [NUMBER["elven_archers"]]),
        ("draw/13", match_pb2.DRAW_KIND_BELOW, 102, [NUMBER["gnome"]]),
    ]


def test_endless_cards_simply_leave() -> None:
    # TT-2.5
    table = Table.arranged({0: {"mana": 3, "hand": ["ruby"]}}, {"deck_type": "endless"})
    table.play("ruby")
    assert (table.state.pile, table.state.discards) == ((), ())
    assert [s.card for s in table.state.shown_before] == ["ruby"]
