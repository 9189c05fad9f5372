"""WG-1.3, WG-3, WG-16: options, the deal, its draws and its digest."""

from __future__ import annotations

import pytest

from grimoire.engine import ALL, PUBLIC, Illegal, Viewer
from grimoire.fairness import ForcedDraws, RecordedDraws
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from tests.wizards_garden.lively import GAME, draws, joint, setup_of
from wizards_garden.pieces import CARDS, SPELLS


def begun(seed: int, **options: str) -> tuple[tuple[object, ...], object, RecordedDraws]:
    recorded = draws(seed)
    start = GAME.start(setup_of(options), recorded)
    assert not isinstance(start, Illegal)
    return start.events, start, recorded


def test_only_what_chance_decides_is_drawn() -> None:
    _, _, recorded = begun(1)
    assert [(draw.label, draw.bound) for draw in recorded.taken] == [
        ("first_seat", 2),
        ("spirit_deck", 50),
        ("spell_deck", 12),
    ]
    _, _, recorded = begun(1, first_player="red")
    assert [draw.label for draw in recorded.taken] == ["spirit_deck", "spell_deck"]


@pytest.mark.parametrize(("colour", "first"), [("blue", 0), ("red", 1)])
def test_the_first_seat_gets_two_cards_from_the_top_and_the_other_three(colour: str, first: int) -> None:
    forced = ForcedDraws({"spirit_deck": [0], "spell_deck": [0]}, RecordedDraws("wizards_garden", joint(1)))
    start = GAME.start(setup_of({"first_player": colour, "spells_per_player": "3"}), forced)
    assert not isinstance(start, Illegal)
    seats = start.state.seats
    assert (seats[first].hand, seats[1 - first].hand) == (CARDS[:2], CARDS[2:5])
    assert (seats[first].spells, seats[1 - first].spells) == (SPELLS[:3], SPELLS[3:6])
    assert (start.state.deck, start.state.set_aside) == (CARDS[5:], SPELLS[6:])
    assert start.deal_lines == (str(first), ",".join(CARDS), ",".join(SPELLS))


def test_the_deal_is_told_in_the_rules_order() -> None:
    events, _, _ = begun(2, first_player="red")
    assert [type(event).__name__ for event in events] == [
        "FirstSeatSet",
        "GnomesSetUp",
        "SpiritsDealt",
        "SpiritsDealt",
        "SpellsDealt",
        "SpellsDealt",
        "DeckSet",
        "StateEntered",
    ]
    assert events[-1] == pb.StateEntered(state="preparation", seat=1)


def test_cards_are_shown_to_their_owner_alone_and_the_deck_to_nobody() -> None:
    start = GAME.start(setup_of({}), draws(3))
    assert not isinstance(start, Illegal)
    state = start.state
    for viewer, open_seats in ((PUBLIC, set()), (Viewer.of_seat(0), {0}), (Viewer.of_seat(1), {1}), (ALL, {0, 1})):
        view = GAME.view(state, viewer)
        for seat, side in enumerate(view.seats):
            hidden = state.seats[seat]
            assert (side.hand_count, side.spell_count) == (len(hidden.hand), len(hidden.spells))
            assert [*side.hand] == ([*hidden.hand] if seat in open_seats else [])
            assert [*side.spells] == ([*hidden.spells] if seat in open_seats else [])
        assert len(view.deck) == (45 if viewer == ALL else 0)
        assert view.deck_count == 45


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spells_per_player", "0"),
        ("spells_per_player", "4"),
        ("spells_per_player", "two"),
        ("first_player", "green"),
        ("turn_limit", "39"),
        ("turn_limit", "1001"),
        ("turns", "60"),
    ],
)
def test_any_other_option_is_refused_with_its_field(name: str, value: str) -> None:
    refused = GAME.configure({name: value}, 2)
    assert isinstance(refused, Illegal)
    assert (refused.code, refused.rule, refused.field) == ("bad_option", "WG-1.4", name)


@pytest.mark.parametrize("seats", [1, 3])
def test_two_seats_play(seats: int) -> None:
    refused = GAME.configure({}, seats)
    assert isinstance(refused, Illegal)
    assert (refused.rule, refused.field) == ("WG-1.2", "seats")
