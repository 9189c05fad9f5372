"""The hand: every card's text fits its frame, in every language and layout, and every sign is there."""

from __future__ import annotations

import itertools

import pytest

from grimoire.engine.lines import fitting
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from two_towers.cards import CARDS
from two_towers.screen.card import card_face
from two_towers.screen.layout import Layout, effect_lines, layout
from two_towers.words import LANGUAGES

BOARDS = [(80, 19), (84, 34), (100, 26), (104, 34), (120, 30), (128, 44), (164, 50), (240, 70)]
"""Boards of 80x24, 120x40, 100x31, 140x40 and larger terminals."""


def plans() -> list[Layout]:
    return list(dict.fromkeys(layout(*size) for size in BOARDS))


def held(card: str, stock: int = 0) -> pb.HandSlot:
    known = CARDS[card]
    short = max(0, known.cost - stock)
    return pb.HandSlot(
        slot=5,
        card=card,
        cost=known.cost,
        resource=known.resource,
        colour=known.colour,
        affordable=not short,
        shortfall=short,
        act_again=known.play_again,
    )


def face(slot: pb.HandSlot, language: str, plan: Layout, *, picked: bool = False) -> list[str]:
    return card_face(slot, language, plan, picked=picked).plain.split("\n")


@pytest.mark.parametrize("plan", plans(), ids=str)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_card_fits_its_frame(language: str, plan: Layout) -> None:
    for card, known in CARDS.items():
        for stock, picked in itertools.product((0, 999), (False, True)):
            lines = face(held(card, stock), language, plan, picked=picked)
            assert len(lines) == plan.card_height
            assert {len(line) for line in lines} == {plan.card_width}
            assert known.name.in_language(language) in lines[0], "a name is never cut"
            assert str(known.cost) in lines[-1]
            body = "\n".join(line[1:-1].rstrip() for line in lines[1:-1])
            assert "\n".join(effect_lines(card, language, plan.card_width - 2)) in body, "the whole effect is there"
            assert "…" not in body


@pytest.mark.parametrize("language", LANGUAGES)
def test_large_cards_show_most_whole_texts_and_the_effect_always(language: str) -> None:
    plan = layout(104, 34)
    whole = 0
    for card in CARDS:
        lines = [line[1:-1].strip() for line in face(held(card), language, plan)[1:-1]]
        whole += CARDS[card].text.in_language(language) in " ".join(lines)
    assert whole >= 85


def test_payable_or_not_is_told_by_shape_and_word() -> None:
    plan = layout(80, 19)
    yes, no, picked = (
        face(held("dragon", 25), "en", plan),
        face(held("dragon", 8), "en", plan),
        face(held("dragon", 8), "en", plan, picked=True),
    )
    assert (yes[0][0], no[0][0], picked[0][0]) == ("┏", "╭", "▶")
    assert (yes[1][0], no[1][0], picked[1][0]) == ("┃", "┊", "║")
    assert "✓" in yes[-1]
    assert "short 17" in no[-1]
    assert "puuttuu 17" in face(held("dragon", 8), "fi", plan)[-1]


@pytest.mark.parametrize(
    ("card", "mark"), [("great_wall", "◆ 16 ore"), ("diamond", "◉ 16 mana"), ("ogre", "■ 6 recruits")]
)
def test_a_colour_is_a_mark_and_a_word(card: str, mark: str) -> None:
    assert mark in face(held(card, 99), "en", layout(80, 19))[-1]


def test_acting_again_has_its_sign_on_exactly_those_cards() -> None:
    plan = layout(80, 19)
    marked = {card for card in CARDS if "↻" in face(held(card), "en", plan)[0]}
    assert marked == {card for card, known in CARDS.items() if known.play_again}
    assert len(marked) == 10


def test_an_empty_slot_says_so() -> None:
    assert "(empty)" in card_face(pb.HandSlot(slot=2), "en", layout(80, 19), picked=False).plain


def test_a_layout_never_asks_for_more_than_there_is() -> None:
    for width, height in itertools.product(range(20, 260, 7), range(5, 90, 6)):
        plan = layout(width, height)
        assert plan.columns * plan.card_width <= max(width, 36)
        if width >= 80 and height >= 19:
            assert height - plan.hand_height >= 9
            assert plan.card_width >= 26
            assert width - 2 * plan.side >= 28


def test_the_first_text_that_fits_is_taken() -> None:
    assert fitting(0, "abc", "a") == "a"
    assert fitting(3, "abc", "a") == "abc"
