"""TT-5.2: every rejection of the game's own list, and the order in which they are found."""

from __future__ import annotations

import pytest

from grimoire.engine import CLOCK, HOST, Actor, Illegal
from grimoire.fairness import RecordedDraws
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from grimoire.v1 import match_pb2
from tests.two_towers.table import GAME, VECTOR_JOINT, Table
from two_towers.rejections import RULES
from two_towers.words import LANGUAGES, words_in

SEAT_0, SEAT_1 = Actor.of_seat(0), Actor.of_seat(1)


@pytest.fixture
def table() -> Table:
    return Table.arranged({0: {"mana": 2, "hand": ["ruby", "prism", "orc", None]}})


@pytest.fixture
def forced(table: Table) -> Table:
    table.play("prism")
    return table


def play(slot: int, card: str) -> pb.PlayCard:
    return pb.PlayCard(slot=slot, card=card)


def discard(slot: int, card: str) -> pb.DiscardCard:
    return pb.DiscardCard(slot=slot, card=card)


def test_cannot_afford(table: Table) -> None:
    refusal = table.refuse(SEAT_0, play(0, "ruby"))
    assert (refusal.code, refusal.rule) == ("cannot_afford", "TT-4.3")
    assert refusal.message == "Ruby costs 3 mana; you have 2, so 1 is missing."
    assert dict(refusal.arguments) == {
        "card": "ruby",
        "cost": "3",
        "resource": "mana",
        "stock": "2",
        "shortfall": "1",
    }


@pytest.mark.parametrize("command", [play, discard])
def test_bad_slot(table: Table, command: type) -> None:
    for slot in (-1, 6, 7, 2**31 - 1, -(2**31)):
        refusal = table.refuse(SEAT_0, command(slot, "ruby"))
        assert (refusal.code, refusal.rule, refusal.arguments) == ("bad_slot", "TT-5.2", (("slot", str(slot)),))


@pytest.mark.parametrize("command", [play, discard])
def test_empty_slot(table: Table, command: type) -> None:
    refusal = table.refuse(SEAT_0, command(3, "ruby"))
    assert (refusal.code, refusal.rule) == ("empty_slot", "TT-5.2")
    assert table.refuse(SEAT_0, command(3, "")).code == "empty_slot"


@pytest.mark.parametrize("command", [play, discard])
@pytest.mark.parametrize("card", ["imp", "", "no_such_card", "Ruby"])
def test_card_mismatch(table: Table, command: type, card: str) -> None:
    refusal = table.refuse(SEAT_0, command(2, card))
    assert (refusal.code, refusal.rule) == ("card_mismatch", "TT-5.1")


def test_a_rejection_tells_nothing_of_the_hand(table: Table) -> None:
    # TT-6.3: neither the card that lies there nor the one that was named comes back.
    refusal = table.refuse(SEAT_0, play(2, "imp"))
    assert "orc" not in repr(refusal)
    assert "imp" not in repr(refusal)


def test_must_discard(forced: Table) -> None:
    payable = forced.hand(0).index("orc")
    refusal = forced.refuse(SEAT_0, play(payable, "orc"))
    assert (refusal.code, refusal.rule) == ("must_discard", "TT-4.6")


def test_must_discard_comes_before_the_slot(forced: Table) -> None:
    for slot, card in ((9, "orc"), (3, "orc"), (0, "imp")):
        assert forced.refuse(SEAT_0, play(slot, card)).code == "must_discard"


def test_the_order_of_the_rest(table: Table) -> None:
    # bad_slot, empty_slot, card_mismatch, cannot_afford
    assert table.refuse(SEAT_0, play(6, "ruby")).code == "bad_slot"
    assert table.refuse(SEAT_0, play(3, "dragon")).code == "empty_slot"
    assert table.refuse(SEAT_0, play(0, "dragon")).code == "card_mismatch"
    assert table.refuse(SEAT_0, play(0, "ruby")).code == "cannot_afford"


def test_the_other_seat_cannot_answer(table: Table, forced: Table) -> None:
    for where in (table, forced):
        for command in (play(0, "ruby"), discard(0, "ruby"), discard(9, "x")):
            assert where.refuse(SEAT_1, command).code == "not_your_prompt"


def test_the_clock_is_the_platforms(table: Table) -> None:
    for actor in (SEAT_0, SEAT_1, HOST):
        assert table.refuse(actor, match_pb2.Expire(prompt_id=1)).code == "not_authorised"
    for actor in (CLOCK, HOST):
        assert table.refuse(actor, discard(0, "ruby")).code == "not_authorised"
        assert table.refuse(actor, match_pb2.Resign()).code == "not_authorised"
    assert table.refuse(SEAT_0, match_pb2.SealNonce()).code == "not_authorised"


def test_after_the_end() -> None:
    table = Table.arranged({})
    table.resign(1)
    draws = RecordedDraws("two_towers", VECTOR_JOINT)
    commands = ((SEAT_0, discard(0, table.hand(0)[0])), (SEAT_1, match_pb2.Resign()), (CLOCK, match_pb2.Expire()))
    for actor, command in commands:
        refusal = GAME.decide(table.state, actor, command, None, draws)
        assert isinstance(refusal, Illegal)
        assert refusal.code == "match_over"
    assert draws.taken == []


def test_every_rejection_is_worded_in_every_language() -> None:
    for language in LANGUAGES:
        assert words_in(language).rejections.keys() == RULES.keys()
        assert {*RULES.values()} <= words_in(language).clauses.keys()
