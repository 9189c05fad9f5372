"""Sentences for events: a template of the game's words with the event's fields as arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from google.protobuf.message import Message

__all__ = ["capital", "plain_arguments", "sentence"]

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


def capital(text: str) -> str:
    """With a capital letter at the beginning.

    >>> capital("red hat")
    'Red hat'
    """
    return text[:1].upper() + text[1:]


def sentence(template: str, arguments: Mapping[str, str], seats: Collection[str]) -> str:
    """The template filled in; one that begins with a thing begins with a capital, people are called as they are.

    Args:
        template: with {named} arguments.
        arguments: all of them.
        seats: names of arguments that are people.

    >>> sentence("{piece} moves on to {to}.", {"piece": "red hat", "to": "3"}, {"seat"})
    'Red hat moves on to 3.'
    >>> sentence("{seat} passes.", {"seat": "otso"}, {"seat"})
    'otso passes.'
    """
    said = template.format(**arguments)
    first = _PLACEHOLDER.match(template)
    return capital(said) if first is not None and first[1] not in seats else said


def plain_arguments(event: Message, said: Callable[[str, Any], str]) -> dict[str, str]:
    """The event's fields that are no messages, as people read them.

    Args:
        event: any.
        said: a field's name and value in words.
    """
    return {
        field.name: said(field.name, getattr(event, field.name))
        for field in event.DESCRIPTOR.fields
        if field.message_type is None
    }
