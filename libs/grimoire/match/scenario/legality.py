"""Whether a command is among those a prompt allows: complete ones, and families with open slots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from google.protobuf.message import Message

from grimoire.engine import Legal, Schema
from grimoire.v1 import prompt_pb2

__all__ = ["allows", "reference"]


def reference(ref: str) -> str:
    """What a reference names: the text behind its kind (`card:ruby` names `ruby`)."""
    return ref.partition(":")[2] or ref


def allows(legal: Sequence[Legal], schema: Schema, command: Message) -> bool | None:
    """Whether the command is one of these, or of one of these families.

    Returns:
        None if that depends on a slot of a kind whose values are made up by the game (name, payment).
    """
    code = schema.code(command)
    unsure = False
    for entry in legal:
        if entry.type != code:
            continue
        fits = _fits(entry, schema, command)
        if fits:
            return True
        unsure = unsure or fits is None
    return None if unsure else False


def _fits(entry: Legal, schema: Schema, command: Message) -> bool | None:
    fixed = schema.command(entry.type, entry.fixed)
    open_fields = {slot.field for slot in entry.slots}
    for field in command.DESCRIPTOR.fields:
        if field.name in open_fields:
            continue
        if field.has_presence and command.HasField(field.name) != fixed.HasField(field.name):
            return False
        if getattr(command, field.name) != getattr(fixed, field.name):
            return False
    answers = [_slot_allows(slot, getattr(command, slot.field)) for slot in entry.slots]
    if False in answers:
        return False
    return None if None in answers else True


def _slot_allows(slot: prompt_pb2.Slot, value: Any) -> bool | None:
    kind = slot.WhichOneof("kind")
    if kind == "one":
        return str(value) in {reference(ref) for ref in slot.one.candidates} | {*slot.one.candidates}
    if kind == "some":
        candidates = {reference(ref) for ref in slot.some.candidates} | {*slot.some.candidates}
        chosen = [str(each) for each in value]
        return (
            slot.some.min <= len(chosen) <= slot.some.max
            and len({*chosen}) == len(chosen)
            and candidates.issuperset(chosen)
        )
    if kind == "number":
        return bool(slot.number.min <= value <= slot.number.max)
    if kind == "option":
        return str(value) in slot.option.options
    if kind == "amounts":
        return _amounts_allow(slot.amounts, value)
    if kind == "assign":
        return _assign_allows(slot.assign, value)
    if kind == "order":
        return sorted(map(str, value)) in (sorted(slot.order.refs), sorted(map(reference, slot.order.refs)))
    return None


def _assign_allows(assign: prompt_pb2.Assign, pairs: Any) -> bool:
    """Every thing exactly once, with one of its choices; what is there once goes to one thing only."""
    given = [tuple(str(getattr(pair, field.name)) for field in pair.DESCRIPTOR.fields[:2]) for pair in pairs]
    choices = {reference(each.ref): {reference(choice) for choice in each.choices} for each in assign.refs}
    once = {reference(choice) for choice in assign.once}
    scarce = [gets for _, gets in given if gets in once]
    return (
        sorted(thing for thing, _ in given) == sorted(choices)
        and all(gets in choices[thing] for thing, gets in given)
        and len({*scarce}) == len(scarce)
    )


def _amounts_allow(amounts: prompt_pb2.Amounts, pairs: Any) -> bool:
    """Each thing at most once, an amount within its bounds, and so the sum; what is not named gets nothing."""
    chosen = [[getattr(pair, field.name) for field in pair.DESCRIPTOR.fields[:2]] for pair in pairs]
    given = {str(thing): int(amount) for thing, amount in chosen}
    bounds = {reference(each.ref): (each.min, each.max) for each in amounts.refs}
    return (
        len(given) == len(chosen)
        and given.keys() <= bounds.keys()
        and all(least <= given.get(thing, 0) <= most for thing, (least, most) in bounds.items())
        and amounts.min_sum <= sum(given.values()) <= amounts.max_sum
    )
