"""Answers to the open slots of a legal command: how one becomes part of the command, and one at random.

An answer fills the command's field of the slot's name: a plain field for one thing, a number or a name; a repeated
field for several things or an order. Where each thing has something of its own (amounts, assign) the field is a
repeated message whose first field is the thing and whose second is what it gets. A thing is named by what stands behind
the kind in its ref: `slot:2` is 2, `card:ruby` is ruby.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, TypeVar

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from grimoire.v1 import prompt_pb2

__all__ = ["Answer", "complete_at_random", "fill", "random_answer"]

Answer = str | int | tuple[str, ...] | Mapping[str, int] | Mapping[str, str]
"""One thing or name; a number; several things; an amount or a choice for each thing."""

M = TypeVar("M", bound=Message)


def fill(message: Message, slot: prompt_pb2.Slot, answer: Answer) -> None:
    """Writes an answer that fits into the command's field.

    Raises:
        KeyError: if the command has no such field.
        ValueError, TypeError: if the field cannot take it.
    """
    field = message.DESCRIPTOR.fields_by_name[slot.field]
    target: Any = getattr(message, field.name)
    if isinstance(answer, Mapping):
        if field.message_type is None or len(field.message_type.fields) < 2:
            raise TypeError(f"{field.full_name} holds no pairs")
        thing, value = field.message_type.fields[:2]
        del target[:]
        for ref, gets in answer.items():
            pair = target.add()
            setattr(pair, thing.name, _value(thing, ref))
            setattr(pair, value.name, _value(value, gets))
    elif isinstance(answer, tuple):
        del target[:]
        target.extend(_value(field, ref) for ref in answer)
    else:
        setattr(message, field.name, _value(field, answer))


def _value(field: Any, answer: str | int) -> str | int | bool:
    if isinstance(answer, int):
        return answer
    name = answer.partition(":")[2] or answer
    if field.type == FieldDescriptor.TYPE_STRING:
        return name
    if field.type == FieldDescriptor.TYPE_BOOL:
        return name == "true"
    if field.enum_type is not None:
        return int(field.enum_type.values_by_name[name].number)
    return int(name)


def random_answer(slot: prompt_pb2.Slot, rng: random.Random) -> Answer:
    """An answer that fits.

    Raises:
        ValueError: for a name: the slot itself does not list them.

    >>> random_answer(prompt_pb2.Slot(number=prompt_pb2.NumberRange(min=3, max=3)), random.Random(1))
    3
    """
    kind = slot.WhichOneof("kind")
    if kind == "one":
        return rng.choice(slot.one.candidates)
    if kind == "some":
        count = rng.randint(slot.some.min, slot.some.max)
        return tuple(rng.sample(list(slot.some.candidates), count))
    if kind == "number":
        return rng.randint(slot.number.min, slot.number.max)
    if kind == "amounts":
        return _random_amounts(slot.amounts, rng)
    if kind == "assign":
        return _random_assignment(slot.assign, rng)
    if kind == "order":
        return tuple(rng.sample(list(slot.order.refs), len(slot.order.refs)))
    if kind == "option":
        return rng.choice(slot.option.options)
    if kind == "payment":
        return tuple(slot.payment.automatic)
    raise ValueError(f"a slot of the kind {kind} cannot be answered from itself")


def _random_assignment(assign: prompt_pb2.Assign, rng: random.Random) -> dict[str, str]:
    """One of its choices for each thing; a choice that is there once goes to one thing only."""
    chosen: dict[str, str] = {}
    for each in assign.refs:
        free = [choice for choice in each.choices if choice not in assign.once or choice not in chosen.values()]
        chosen[each.ref] = rng.choice(free)
    return chosen


def _random_amounts(amounts: prompt_pb2.Amounts, rng: random.Random) -> dict[str, int]:
    chosen = {each.ref: each.min for each in amounts.refs}
    most = {each.ref: each.max for each in amounts.refs}
    in_all = min(rng.randint(amounts.min_sum, amounts.max_sum), sum(most.values()))
    while sum(chosen.values()) < in_all:
        chosen[rng.choice([ref for ref, amount in chosen.items() if amount < most[ref]])] += 1
    return chosen


def complete_at_random(entry: prompt_pb2.LegalEntry, command: type[M], rng: random.Random) -> M:
    """A command of this entry, its slots answered at random.

    Args:
        entry: of one's own prompt.
        command: the message class of its code.
    """
    message = command.FromString(entry.payload)
    for slot in entry.slots:
        fill(message, slot, random_answer(slot, rng))
    return message
