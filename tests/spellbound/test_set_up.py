"""SB-1.3, SB-3, SB-20: options, the set-up, its draws and its digest."""

from __future__ import annotations

from collections import Counter

import pytest

from grimoire.engine import Illegal, Leaving, Setup, Start
from grimoire.fairness.commitments import deal_digest, deal_salt, joint_seed
from grimoire.fairness.draws import ForcedDraws, RecordedDraws
from grimoire.fairness.secret import Secret
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import ALLIES, FORTUNA, WICKED
from spellbound.catalogue import DATA
from spellbound.options import configure, terms_of
from spellbound.state import State
from tests.spellbound.keen import GAME, joint, started


def begun(options: dict[str, str], seats: int, **forced: list[int]) -> tuple[Start[State], RecordedDraws]:
    recorded = RecordedDraws(GAME.id, joint("set-up"))
    draws = ForcedDraws({label.replace("__", "/"): values for label, values in forced.items()}, recorded)
    facts = configure(options, seats)
    assert not isinstance(facts, Illegal), facts
    start = GAME.start(Setup("set-up", seats, dict(facts.options)), draws if forced else recorded)
    assert not isinstance(start, Illegal), start
    return start, recorded


# ---- options (SB-1.3) ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seats", "options", "mage_seats"),
    [
        (1, {}, (0,)),
        (3, {}, (0, 1, 2)),
        (1, {"mages": "4"}, (0, 0, 0, 0)),
        (2, {"mages": "3"}, (0, 1, 0)),
        (2, {"mages": "", "mage_seats": ""}, (0, 1)),
        (2, {"mages": "4", "mage_seats": "1,1,1,0"}, (1, 1, 1, 0)),
    ],
)
def test_every_mage_has_a_seat_and_every_seat_a_mage(seats, options, mage_seats):
    assert terms_of(options, seats).mage_seats == mage_seats


@pytest.mark.parametrize(
    ("seats", "options", "field"),
    [
        (0, {}, "seats"),
        (5, {}, "seats"),
        (3, {"mages": "2"}, "mages"),
        (2, {"mages": "5"}, "mages"),
        (2, {"mages": "3", "mage_seats": "0,0,0"}, "mage_seats"),
        (2, {"mages": "3", "mage_seats": "0,1"}, "mage_seats"),
        (2, {"mage_seats": "0,2"}, "mage_seats"),
        (2, {"first_mage": "2"}, "first_mage"),
        (2, {"dan": "9"}, "dan"),
        (2, {"dan": ""}, "dan"),
        (2, {"troll_buster": "yes"}, "troll_buster"),
    ],
)
def test_other_values_are_refused_by_name(seats, options, field):
    refused = configure(options, seats)
    assert isinstance(refused, Illegal)
    assert (refused.code, refused.field) == ("bad_option", field)


def test_the_platform_learns_what_it_needs():
    facts = configure({"dan": "4"}, 2)
    assert not isinstance(facts, Illegal)
    assert facts.leaving is Leaving.VOTED
    assert {*facts.difficulty} <= {name for name, _ in facts.options}
    assert {name for name, _ in facts.seconds} == {"turn", "reaction"}


# ---- the set-up (SB-3) -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mages", "cards", "boxed"), [(1, 21, 6), (2, 21, 6), (3, 20, 7), (4, 20, 7)])
@pytest.mark.parametrize("troll_buster", [False, True])
def test_decks_and_villages_have_the_rules_sizes(mages, cards, boxed, troll_buster):
    start, _ = begun({"mages": str(mages), "troll_buster": str(troll_buster).lower()}, 1)
    state = start.state
    first = next(event for event in start.events if isinstance(event, pb.DestinyDeckSet))
    assert first.count == cards + troll_buster
    assert ("city_watchman" in first.cards) is (mages <= 2)
    assert ("troll_a" in first.cards) is troll_buster
    assert (len(state.box), len(state.set_aside)) == (boxed, 21)
    assert len(state.wicked_deck) == 10 - troll_buster
    assert (state.wicked_deck[0] == "troll_a") is not troll_buster
    assert sum(card in ALLIES for card in state.villages) == 9
    assert sum(state.face_up) == 4
    assert len(state.lower) == 5
    assert {*state.upper} <= WICKED


@pytest.mark.parametrize("seed", range(12))
def test_pieces_stand_where_the_first_wicked_cards_put_them(seed):
    start = started(seed, 2, {"witchfinder_general": "true", "troll_buster": "true"})
    state = start.state
    acted = Counter(event.card for event in start.events if isinstance(event, pb.WickedCardActed))
    undone = [n for n, event in enumerate(start.events) if isinstance(event, pb.SetupDisplayUndone)]
    last = start.events[undone[-1] :] if undone else start.events
    assert [e.card for e in last if isinstance(e, pb.WickedCardActed)] == [*state.upper]
    for colour, hat in zip(DATA.colours, state.pieces, strict=False):
        assert hat == 2 + (f"witch_{colour}_a" in state.upper)
    assert state.pieces[4] == 1 + ("troll_a" in state.upper)
    assert state.fresh == ()
    assert max(acted.values(), default=1) <= 1 + len(undone)


def test_a_dan_mage_has_another_bag():
    assert begun({"dan": "7"}, 1)[0].state.bag == (2, 7)
    assert begun({}, 1)[0].state.bag == (3, 2)
    assert begun({"dan": "8"}, 1)[0].state.supply == (6, 0)


# ---- draws and lines (SB-20) -----------------------------------------------------------------------------------------


def test_only_what_chance_decides_is_drawn():
    _, recorded = begun({"first_mage": "0"}, 2)
    labels = [(draw.label, draw.bound) for draw in recorded.taken]
    assert labels[:5] == [
        ("spells", 10),
        ("villages/allies", 15),
        ("villages/place", 12),
        ("wicked", 9),
        ("destiny/0", 21),
    ]
    assert ("villages/reveal", 12) in labels
    assert "first_mage" not in [label for label, _ in labels]
    _, recorded = begun({"mages": "3"}, 2)
    assert (recorded.taken[-1].label, recorded.taken[-1].bound) == ("first_mage", 3)


def test_the_lines_of_the_digest_tell_the_whole_deal():
    start, _ = begun({}, 3)
    lines = dict(line.split(":", 1) for line in start.deal_lines)
    assert [*lines] == ["spells", "villages", "set_aside", "box", "wicked", "destiny", "first_mage"]
    state = start.state
    assert lines["spells"] == ",".join(state.spell_deck)
    assert lines["villages"] == ",".join(state.villages)
    assert lines["set_aside"] == ",".join(sorted(state.set_aside))
    assert lines["box"] == ",".join(sorted(state.box))
    assert lines["wicked"] == ",".join(state.wicked_deck)
    assert lines["destiny"].endswith(",".join(state.deck))
    assert {*lines["destiny"].split(",")} == {*state.deck, *state.lower, *state.upper}
    assert lines["first_mage"] == str(state.turn_mage)


def test_a_display_with_all_four_witches_is_undone():
    """Attempts after that have labels of their own (SB-20.1)."""
    witches = [DATA.start_deck.always.index(f"witch_{colour}_a") for colour in DATA.colours]
    start, recorded = begun({}, 3, destiny__0=witches)
    undone = [event for event in start.events if isinstance(event, pb.SetupDisplayUndone)]
    assert next(event.attempt for event in undone) == 1
    assert "destiny/0/2" in [draw.label for draw in recorded.taken]
    assert start.state.lower != ()
    assert FORTUNA in {*start.state.lower, *start.state.deck}


def test_the_vector():
    """The deal of fixed seeds: another implementation must come to the same digest."""
    seed, nonces = Secret(bytes(range(32))), [bytes([0x11 * n]) * 32 for n in (1, 2, 3)]
    joint_ = joint_seed(GAME.id, "sb-vector-1", seed, nonces)
    facts = configure({}, 3)
    assert not isinstance(facts, Illegal)
    start = GAME.start(Setup("sb-vector-1", 3, dict(facts.options)), RecordedDraws(GAME.id, joint_))
    assert not isinstance(start, Illegal)
    digest = deal_digest(GAME.id, "sb-vector-1", deal_salt(GAME.id, joint_), start.deal_lines)
    assert digest.hex() == "27b2ed7e726e74b8523b8d819fffe38fe1233c4b9d6ddda9ccd0212604799e95"
