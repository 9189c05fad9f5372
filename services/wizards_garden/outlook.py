"""Trying commands: what the rules make of one, and every way to fill in what a seat may do."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeVar

from google.protobuf.message import Message

from grimoire.engine import Legal
from grimoire.v1 import prompt_pb2
from wizards_garden.course import Course
from wizards_garden.draft import Draft
from wizards_garden.judge import judge
from wizards_garden.rules import WizardsGarden
from wizards_garden.state import State

__all__ = ["Chance", "complete", "tried"]

T = TypeVar("T")

_COMMANDS: Final = WizardsGarden.schema.commands


class Chance:
    """`Draws` of a match that is only imagined.

    Args:
        rng: the player's own randomness.

    Attributes:
        drawn: how often something was drawn.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.drawn = 0

    def random(self) -> float:
        """From 0 up to 1."""
        return self._rng.random()

    def below(self, label: str, n: int) -> int:  # noqa: ARG002
        """A number below n."""
        self.drawn += 1
        return self._rng.randrange(n)

    def coin(self, label: str) -> int:
        """0 or 1."""
        return self.below(label, 2)

    def choice(self, label: str, items: Sequence[T]) -> T:
        """One of these."""
        return items[self.below(label, len(items))]

    def shuffle(self, label: str, items: Sequence[T]) -> list[T]:
        """All of these, shuffled."""
        return self.sample(label, items, len(items))

    def sample(self, label: str, items: Sequence[T], k: int) -> list[T]:  # noqa: ARG002
        """So many of these, in the order drawn."""
        self.drawn += 1
        return self._rng.sample(items, k)


def tried(state: State, command: Message, chance: Chance) -> Draft | None:
    """What the asked seat's command leads to; None if the rules refuse it."""
    course = Course(state, chance)
    return course.draft if judge(course, command) is None else None


def complete(entries: Iterable[Legal]) -> Iterator[Message]:
    """Each command that these entries stand for; spells apart, whose many forms are for the player to choose among."""
    for entry in entries:
        make = _COMMANDS[entry.type]
        if not entry.slots:
            yield make(**dict(entry.fixed))
            continue
        fields = [slot.field for slot in entry.slots]
        for values in itertools.product(*map(_values, entry.slots)):
            yield make(**dict(entry.fixed), **dict(zip(fields, values, strict=True)))


def _values(slot: prompt_pb2.Slot) -> list[object]:
    kind = slot.WhichOneof("kind")
    if kind == "number":
        return [*range(slot.number.min, slot.number.max + 1)]
    if kind == "some":
        names = [ref.partition(":")[2] for ref in slot.some.candidates]
        sizes = range(slot.some.min, slot.some.max + 1)
        return [chosen for size in sizes for chosen in itertools.combinations(names, size)]
    return [ref.partition(":")[2] for ref in slot.one.candidates]
