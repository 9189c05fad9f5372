"""Messages as plain values, and plain values into messages, the way scenario files write them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from grimoire.engine.schema import snake_case
from grimoire.match.scenario.document import Keys, ScenarioError, line_of

__all__ = ["Hex", "enum_name", "fill", "plain", "read_bytes", "set_path"]

_REPEATED: Final = re.compile(r"^(\d{1,5})\s*x\s*([0-9a-fA-F]{2})$")
_RANGE: Final = re.compile(r"^([0-9a-fA-F]{2})\.\.([0-9a-fA-F]{2})$")
_HEX: Final = re.compile(r"^(?:[0-9a-fA-F]{2})*$")
_MAX_BYTES: Final = 65_536


class Hex(str):
    """Bytes in lower-case hexadecimal."""

    __slots__ = ()


def read_bytes(text: object) -> bytes:
    """Bytes as scenario files write them: `00ff`, `32 x 11` (32 times 11), `00..1f` (counting up).

    Raises:
        ValueError: for anything else.

    >>> read_bytes("3 x 0a").hex(), read_bytes("00..03").hex(), read_bytes("00FF").hex()
    ('0a0a0a', '00010203', '00ff')
    """
    if isinstance(text, int) and not isinstance(text, bool) and text >= 0:
        text = str(text)  # an even number of plain digits, e.g. 11
    if isinstance(text, str):
        if (match := _REPEATED.match(text)) and int(match[1]) <= _MAX_BYTES:
            return bytes.fromhex(match[2]) * int(match[1])
        if (match := _RANGE.match(text)) and int(match[1], 16) <= int(match[2], 16):
            return bytes(range(int(match[1], 16), int(match[2], 16) + 1))
        if _HEX.match(text):
            return bytes.fromhex(text)
    raise ValueError(f"{text!r} is no bytes: write hexadecimal digits (00ff), `32 x 11`, or `00..1f`")


def enum_name(enum: Any, number: int) -> str:
    """The name of an enum value without the enum's own prefix, in lower case.

    >>> from grimoire.v1 import match_pb2
    >>> enum_name(match_pb2.PromptCause.DESCRIPTOR, match_pb2.PROMPT_CAUSE_ANSWERED)
    'answered'
    """
    value = enum.values_by_number.get(number)
    return str(number) if value is None else str(value.name).removeprefix(_prefix(enum)).lower()


def _prefix(enum: Any) -> str:
    return snake_case(enum.name).upper() + "_"


def plain(message: Message) -> dict[str, Any]:
    """Every field by name: bytes as hexadecimal, enums by name; None where a field is absent.

    Fields without presence always have a value (0, empty text, empty list).

    >>> from grimoire.v1 import match_pb2
    >>> plain(match_pb2.NonceOpened(seat=1))
    {'seat': 1, 'nonce': ''}
    """
    return {field.name: _plain_field(message, field) for field in message.DESCRIPTOR.fields}


def _plain_field(message: Message, field: Any) -> Any:
    value = getattr(message, field.name)
    if field.is_repeated:
        return [_plain_value(field, item) for item in value]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _plain_value(field, value)


def _plain_value(field: Any, value: Any) -> Any:
    if field.message_type is not None:
        return plain(value)
    if field.enum_type is not None:
        return enum_name(field.enum_type, value)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return Hex(value.hex())
    return value


# ---- the other way ---------------------------------------------------------------------------------------------------


def fill(message: Message, values: Mapping[str, Any], line: int, what: str) -> None:
    """Sets fields of a message from plain values.

    Args:
        message: to be filled.
        values: by field name.
        line: where they stand, unless they know better.
        what: how errors call the message.

    Raises:
        ScenarioError: for an unknown field or a value it cannot take.
    """
    fields = message.DESCRIPTOR.fields_by_name
    lines = values.lines if isinstance(values, Keys) else {}
    for name, value in values.items():
        at = lines.get(name, line)
        field = fields.get(name)
        if field is None:
            known = ", ".join(fields) or "none"
            raise ScenarioError(at, f"{what} has no field {name!r}; its fields: {known}")
        try:
            _fill_field(message, field, value, at, what)
        except (TypeError, ValueError) as error:
            if isinstance(error, ScenarioError):
                raise
            raise ScenarioError(at, f"{what}.{name} cannot be {value!r}: {error}") from error


def _fill_field(message: Message, field: Any, value: Any, line: int, what: str) -> None:
    if value is None:
        message.ClearField(field.name)
    elif field.is_repeated:
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise ScenarioError(line, f"{what}.{field.name} is a list")
        target = getattr(message, field.name)
        for item in value:
            if field.message_type is not None:
                fill(target.add(), item, line_of(item, line), f"{what}.{field.name}")
            else:
                target.append(_scalar(field, item))
    elif field.message_type is not None:
        getattr(message, field.name).SetInParent()
        fill(getattr(message, field.name), value, line_of(value, line), f"{what}.{field.name}")
    else:
        setattr(message, field.name, _scalar(field, value))


def set_path(message: Message, path: str, value: Any) -> None:
    """Sets what lies at a path (`nonces.1.nonce`, `cards.0`) to a plain value.

    Raises:
        LookupError: if the path leads nowhere.
        TypeError, ValueError: if the value does not fit.

    >>> from grimoire.v1 import match_pb2
    >>> event = match_pb2.MatchClosed(ranks=[1, 2])
    >>> set_path(event, "ranks.0", 3)
    >>> list(event.ranks)
    [3, 2]
    """
    name, _, rest = path.partition(".")
    field = message.DESCRIPTOR.fields_by_name.get(name)
    if field is None:
        raise LookupError(f"no field {name!r}; there is {', '.join(message.DESCRIPTOR.fields_by_name)}")
    if not rest:
        _fill_field(message, field, value, 0, message.DESCRIPTOR.name)
        return
    target = getattr(message, name)
    if field.is_repeated:
        index, _, rest = rest.partition(".")
        if not rest:
            target[int(index)] = _scalar(field, value)
            return
        target = target[int(index)]
    set_path(target, rest, value)


def _scalar(field: Any, value: Any) -> Any:
    if field.enum_type is not None and isinstance(value, str):
        names = {enum_name(field.enum_type, v.number): v.number for v in field.enum_type.values}
        if value not in names:
            raise ValueError(f"it is one of {', '.join(names)}")
        return names[value]
    if field.type == FieldDescriptor.TYPE_BYTES:
        return read_bytes(value)
    if field.type == FieldDescriptor.TYPE_STRING and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value
