"""What a seat does when its bot fails: the first legal thing, so that no match waits for a broken player."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from bots.thinking import Move
from grimoire.engine import Schema
from grimoire.v1 import prompt_pb2

__all__ = ["first_moves"]


def first_moves(prompt: prompt_pb2.Prompt, schema: Schema) -> Iterator[Move]:
    """Commands for a prompt in the order of its entries, complete ones first, then those whose slots can be filled.

    Args:
        prompt: one's own, with what is legal.
        schema: the game's.
    """
    for entry in prompt.legal:
        if not entry.slots:
            yield Move(entry.type, entry.payload)
    for entry in prompt.legal:
        if entry.slots:
            with contextlib.suppress(ValueError, TypeError, DecodeError, KeyError, IndexError):
                yield _filled(entry, schema)


def _filled(entry: prompt_pb2.LegalEntry, schema: Schema) -> Move:
    """The entry with the least in every slot.

    Raises:
        ValueError, TypeError, KeyError, IndexError: if a slot is of a kind that needs knowledge of the game.
    """
    message = schema.commands[entry.type].FromString(entry.payload)
    for slot in entry.slots:
        _fill(message, slot)
    return Move(entry.type, message.SerializeToString())


def _fill(message: Message, slot: prompt_pb2.Slot) -> None:
    field = message.DESCRIPTOR.fields_by_name[slot.field]
    text = field.type == FieldDescriptor.TYPE_STRING
    match slot.WhichOneof("kind"):
        case "one":
            setattr(message, field.name, _value(text, slot.one.candidates[0]))
        case "some":
            chosen = slot.some.candidates[: slot.some.min]
            getattr(message, field.name).extend(_value(text, ref) for ref in chosen)
        case "number":
            setattr(message, field.name, slot.number.min)
        case "order":
            getattr(message, field.name).extend(_value(text, ref) for ref in slot.order.refs)
        case "option":
            setattr(message, field.name, _value(text, slot.option.options[0]))
        case kind:
            raise ValueError(f"a slot of kind {kind} cannot be filled without knowing the game")


def _value(text: bool, ref: str) -> str | int:
    """What a ref such as `card:ruby` or `slot:2` says of its thing, as the field takes it."""
    _, _, name = ref.rpartition(":")
    return name if text else int(name)
