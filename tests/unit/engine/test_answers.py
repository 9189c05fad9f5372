"""Answers at random fit their slots, and fill the command's fields."""

from __future__ import annotations

import random

import pytest

from grimoire.cli.screens.slots import fault
from grimoire.engine.answers import complete_at_random, random_answer
from grimoire.engine.slots import amounts, number, one, some
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from grimoire.v1 import prompt_pb2

SLOTS = {
    "one": one("to", ("space:a1", "space:b2")),
    "some": some("pests", ("pest:pest_01", "pest:pest_02", "pest:pest_03"), 1, 2),
    "number": number("fire", 2, 5),
    "amounts": amounts("fires", [("space:a4", 3), ("space:c4", 1)], 2, 4),
    "assign": prompt_pb2.Slot(
        assign=prompt_pb2.Assign(refs=[prompt_pb2.AssignChoice(ref=ref, choices=["x", "y"]) for ref in "ab"])
    ),
    "order": prompt_pb2.Slot(order=prompt_pb2.Order(refs=["a", "b", "c"])),
    "option": prompt_pb2.Slot(option=prompt_pb2.OptionChoice(options=["yes", "no"])),
    "payment": prompt_pb2.Slot(payment=prompt_pb2.Payment(automatic=["land:1"], sources=["land:1", "land:2"])),
}


@pytest.mark.parametrize("kind", SLOTS)
def test_a_random_answer_fits(kind: str) -> None:
    for seed in range(60):
        answer = random_answer(SLOTS[kind], random.Random(seed))
        assert fault(SLOTS[kind], answer) is None, answer


def test_every_answer_occurs() -> None:
    answers = {str(random_answer(SLOTS["amounts"], random.Random(seed))) for seed in range(300)}
    assert len(answers) == 5  # 1 + 1, 2 + 0, 2 + 1, 3 + 0, 3 + 1


def test_a_name_cannot_be_answered_from_the_slot_alone() -> None:
    with pytest.raises(ValueError, match="name"):
        random_answer(prompt_pb2.Slot(name=prompt_pb2.NameChoice(catalogue="cards")), random.Random(1))


def test_a_command_is_completed_with_what_was_fixed() -> None:
    entry = prompt_pb2.LegalEntry(
        type="move_gnome", payload=pb.MoveGnome(gnome="blue_gnome_01").SerializeToString(), slots=[SLOTS["one"]]
    )
    command = complete_at_random(entry, pb.MoveGnome, random.Random(2))
    assert command.gnome == "blue_gnome_01"
    assert command.to in ("a1", "b2")
