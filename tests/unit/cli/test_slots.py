"""The nine kinds of open fields: what fits, what is written into the command, what is read from a line."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.message import Message

from grimoire.cli.screens.slots import Answer, Fault, SlotKind, fault, fill, kind_of, parse, start, things
from grimoire.v1 import match_pb2, matchmaking_pb2, prompt_pb2

REFS = ["card:ruby", "card:orc", "card:imp"]
NAMES = ("elven_archers", "elven_scouts", "gnome")


def slot(field: str = "x", **kind: Any) -> prompt_pb2.Slot:
    return prompt_pb2.Slot(field=field, **kind)


ONE = slot(one=prompt_pb2.One(candidates=REFS))
SOME = slot(some=prompt_pb2.Some(candidates=REFS, min=1, max=2))
NUMBER = slot(number=prompt_pb2.NumberRange(min=2, max=5))
AMOUNTS = slot(
    amounts=prompt_pb2.Amounts(
        refs=[prompt_pb2.AmountRange(ref=ref, min=0, max=3) for ref in REFS], min_sum=2, max_sum=4
    )
)
ASSIGN = slot(
    assign=prompt_pb2.Assign(refs=[prompt_pb2.AssignChoice(ref=ref, choices=["seat:0", "seat:1"]) for ref in REFS[:2]])
)
ORDER = slot(order=prompt_pb2.Order(refs=REFS))
OPTION = slot(option=prompt_pb2.OptionChoice(options=["brave", "cowardly"]))
NAME = slot(name=prompt_pb2.NameChoice(catalogue="cards"))
PAYMENT = slot(payment=prompt_pb2.Payment(automatic=REFS[:1], sources=REFS))

GOOD: list[tuple[prompt_pb2.Slot, Answer, str]] = [
    (ONE, "card:orc", "2"),
    (SOME, ("card:ruby", "card:imp"), "1 3"),
    (NUMBER, 4, "4"),
    (AMOUNTS, {"card:ruby": 2, "card:orc": 0, "card:imp": 1}, "2 0 1"),
    (ASSIGN, {"card:ruby": "seat:1", "card:orc": "seat:0"}, "2 1"),
    (ORDER, ("card:imp", "card:ruby", "card:orc"), "3,1,2"),
    (OPTION, "cowardly", "cowardly"),
    (NAME, "elven_scouts", "Elven S"),
    (PAYMENT, ("card:ruby",), ""),
]
BAD: list[tuple[prompt_pb2.Slot, Answer | None, str]] = [
    (ONE, "card:gnome", "4"),
    (ONE, None, "none"),
    (SOME, (), ""),
    (SOME, ("card:ruby", "card:ruby"), "1 1"),
    (SOME, ("card:ruby", "card:orc", "card:imp"), "1 2 3"),
    (NUMBER, 6, "6"),
    (NUMBER, None, "x"),
    (AMOUNTS, {"card:ruby": 0, "card:orc": 0, "card:imp": 1}, "0 0 1"),
    (AMOUNTS, {"card:ruby": 4, "card:orc": 0, "card:imp": 0}, "4 0 0"),
    (AMOUNTS, None, "1 2"),
    (ASSIGN, {"card:ruby": "seat:1"}, "2"),
    (ASSIGN, {"card:ruby": "seat:2", "card:orc": "seat:0"}, "3 1"),
    (ORDER, ("card:imp", "card:ruby"), "3 1"),
    (OPTION, "bold", "bold"),
    (NAME, "orc", "Orc"),
    (NAME, None, "elven"),
    (PAYMENT, ("card:gnome",), "4"),
]


def test_all_nine_kinds_are_tried() -> None:
    assert {kind_of(each) for each, _, _ in GOOD} == set(SlotKind) == {kind_of(each) for each, _, _ in BAD}


@pytest.mark.parametrize(("each", "answer", "line"), GOOD)
def test_an_answer_that_fits(each: prompt_pb2.Slot, answer: Answer, line: str) -> None:
    assert fault(each, answer, NAMES) is None
    assert parse(each, line, NAMES) == answer


@pytest.mark.parametrize(("each", "answer", "line"), BAD)
def test_an_answer_that_does_not_fit(each: prompt_pb2.Slot, answer: Answer | None, line: str) -> None:
    assert fault(each, answer, NAMES) is not None
    assert fault(each, parse(each, line, NAMES), NAMES) is not None


def test_where_there_is_a_natural_beginning_it_fits_or_says_what_is_missing() -> None:
    assert start(NUMBER) == 2
    assert start(ORDER) == tuple(REFS)
    assert start(PAYMENT) == ("card:ruby",)
    assert start(ASSIGN) == {"card:ruby": "seat:0", "card:orc": "seat:0"}
    assert start(SOME) == ()
    assert start(AMOUNTS) == dict.fromkeys(REFS, 0)
    assert start(ONE) is None
    assert start(NAME) is None
    wrong = fault(AMOUNTS, start(AMOUNTS))
    assert wrong is not None
    assert wrong.arguments == {"min": 2, "max": 4, "sum": 0}


def test_things_of_a_slot() -> None:
    assert things(ONE) == things(ORDER) == things(AMOUNTS) == tuple(REFS)
    assert things(ASSIGN) == tuple(REFS[:2])
    assert things(NUMBER) == things(NAME) == ()


@pytest.mark.parametrize(
    ("message", "field", "answer", "expected"),
    [
        (match_pb2.Void(), "reason", "card:ruby", match_pb2.Void(reason="ruby")),
        (match_pb2.Void(), "reason", "brave", match_pb2.Void(reason="brave")),
        (match_pb2.Expire(), "prompt_id", "slot:7", match_pb2.Expire(prompt_id=7)),
        (match_pb2.Expire(), "prompt_id", 3, match_pb2.Expire(prompt_id=3)),
        (match_pb2.MatchClosed(), "ranks", ("seat:2", "seat:1"), match_pb2.MatchClosed(ranks=[2, 1])),
        (match_pb2.MatchClosed(reasons=["x"]), "reasons", ("a:b", "c"), match_pb2.MatchClosed(reasons=["b", "c"])),
        (
            match_pb2.TimeControl(),
            "per_prompt",
            {"class:turn": 60, "class:reaction": 5},
            match_pb2.TimeControl(
                per_prompt=[
                    match_pb2.ClassLimit(deadline_class="turn", seconds=60),
                    match_pb2.ClassLimit(deadline_class="reaction", seconds=5),
                ]
            ),
        ),
        (
            match_pb2.CreateMatch(),
            "options",
            {"piece:a": "place:b"},
            match_pb2.CreateMatch(options=[match_pb2.OptionValue(name="a", value="b")]),
        ),
        (match_pb2.MatchClosed(), "kind", "OUTCOME_KIND_WIN", match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_WIN)),
        (
            matchmaking_pb2.ListMatchesRequest(),
            "mine",
            "true",
            matchmaking_pb2.ListMatchesRequest(mine=True),
        ),
    ],
)
def test_an_answer_becomes_a_field(message: Message, field: str, answer: Answer, expected: Message) -> None:
    fill(message, slot(field), answer)
    assert message == expected


def test_pairs_need_a_field_of_pairs() -> None:
    with pytest.raises(TypeError, match="no pairs"):
        fill(match_pb2.Void(), slot("reason"), {"a": 1})


def test_a_field_that_is_not_there_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        fill(match_pb2.Void(), slot("colour"), "red")


def test_what_is_there_once_goes_to_one_thing_only() -> None:
    rows = [prompt_pb2.AssignChoice(ref=ref, choices=["sun", "card:imp"]) for ref in REFS[:2]]
    scarce = slot(assign=prompt_pb2.Assign(refs=rows, once=["card:imp"]))
    assert fault(scarce, {"card:ruby": "sun", "card:orc": "sun"}) is None
    assert fault(scarce, {"card:ruby": "card:imp", "card:orc": "sun"}) is None
    assert fault(scarce, {"card:ruby": "card:imp", "card:orc": "card:imp"}) == Fault("slot.fault.once")
