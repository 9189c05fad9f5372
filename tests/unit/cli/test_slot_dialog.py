"""Every kind of open field has a control that keys alone can fill, and that gives only answers that fit."""

from __future__ import annotations

from typing import Any

import pytest

from grimoire.cli.screens.slot_dialog import SlotDialog
from grimoire.cli.screens.slots import SlotKind, fault, kind_of
from grimoire.cli.screens.wording import Wording
from grimoire.cli.screens.words import LANGUAGES, Words
from grimoire.plugins import load_game
from grimoire.v1 import prompt_pb2
from tests.support.screens import Stage, text, until

PLUGIN = load_game("two_towers")
REFS = ["card:ruby", "card:orc", "card:imp"]


def slot(**kind: Any) -> prompt_pb2.Slot:
    return prompt_pb2.Slot(field="card", **kind)


ONE = slot(one=prompt_pb2.One(candidates=REFS))
SOME = slot(some=prompt_pb2.Some(candidates=REFS, min=2, max=2))
NUMBER = slot(number=prompt_pb2.NumberRange(min=1, max=9))
AMOUNTS = slot(
    amounts=prompt_pb2.Amounts(refs=[prompt_pb2.AmountRange(ref=r, max=5) for r in REFS], min_sum=3, max_sum=3)
)
ASSIGN = slot(
    assign=prompt_pb2.Assign(refs=[prompt_pb2.AssignChoice(ref=r, choices=["seat:0", "seat:1"]) for r in REFS[:2]])
)
ORDER = slot(order=prompt_pb2.Order(refs=REFS))
OPTION = slot(option=prompt_pb2.OptionChoice(options=["brave", "cowardly"]))
NAME = slot(name=prompt_pb2.NameChoice(catalogue="cards"))
PAYMENT = slot(payment=prompt_pb2.Payment(automatic=REFS[:1], sources=REFS))

BY_KEYS: list[tuple[prompt_pb2.Slot, list[str], Any]] = [
    (ONE, ["2"], "card:orc"),
    (ONE, ["down", "down", "enter"], "card:imp"),
    (SOME, ["space", "down", "down", "space", "ctrl+s"], ("card:ruby", "card:imp")),
    (NUMBER, ["up", "up", "enter"], 3),
    (NUMBER, ["7", "ctrl+s"], 7),
    (AMOUNTS, ["2", "tab", "1", "ctrl+s"], {"card:ruby": 2, "card:orc": 1, "card:imp": 0}),
    (ASSIGN, ["down", "down", "enter", "ctrl+s"], {"card:ruby": "seat:1", "card:orc": "seat:0"}),
    (ORDER, ["down", "shift+up", "ctrl+s"], ("card:orc", "card:ruby", "card:imp")),
    (OPTION, ["2"], "cowardly"),
    (NAME, [*"dragons e", "enter"], "dragons_eye"),
    (PAYMENT, ["ctrl+s"], ("card:ruby",)),
    (PAYMENT, ["space", "down", "space", "ctrl+s"], ("card:orc",)),
]


def dialog(each: prompt_pb2.Slot, language: str = "en") -> Stage:
    return Stage(SlotDialog(Words(language), Wording(PLUGIN, language), "Test", each))  # type: ignore[arg-type]


def test_all_nine_kinds_are_tried() -> None:
    assert {kind_of(each) for each, _, _ in BY_KEYS} == set(SlotKind)


@pytest.mark.parametrize(("each", "keys", "expected"), BY_KEYS)
async def test_keys_alone_give_an_answer(each: prompt_pb2.Slot, keys: list[str], expected: Any) -> None:
    app = dialog(each)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press(*keys)
        await until(pilot, lambda: bool(app.results))
    assert app.results == [expected]
    assert fault(each, expected, ["dragons_eye"]) is None


@pytest.mark.parametrize(
    ("each", "keys", "sentences"),
    [
        (SOME, ["ctrl+s"], ("Choose 2.", "Valitse 2.", "Διάλεξε 2.")),
        (
            NUMBER,
            ["0", "enter"],
            ("A whole number from 1 to 9.", "Kokonaisluku väliltä 1–9.", "Ακέραιος αριθμός από 1 έως 9."),
        ),
        (
            AMOUNTS,
            ["2", "ctrl+s"],
            ("Together from 3 to 3; now 2.", "Yhteensä 3–3; nyt 2.", "Συνολικά από 3 έως 3· τώρα 2."),
        ),
    ],
)
@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_does_not_fit_is_kept_with_the_reason(
    each: prompt_pb2.Slot, keys: list[str], sentences: tuple[str, ...], language: str
) -> None:
    app = dialog(each, language)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press(*keys)
        await until(pilot, lambda: sentences[LANGUAGES.index(language)] in text(app))
        assert app.results == []
        await pilot.press("escape")
        await until(pilot, lambda: app.results == [None])


async def test_things_are_named_in_the_games_words() -> None:
    app = dialog(ONE, "fi")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Rubiini" in text(app) and "Örkki" in text(app))
