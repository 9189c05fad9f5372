"""A game in words and tables; what terminal and web clients share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec
from google.protobuf.message import Message

from grimoire.v1 import manifest_pb2


class MarkNote(msgspec.Struct, frozen=True):
    """A mark on a replay's timeline.

    Attributes:
        kind: `turn`, `phase` or `key_event`.
        label: text template key.
        arguments: named values for it.
    """

    kind: str
    label: str
    arguments: tuple[tuple[str, str], ...] = ()


class GameTexts(Protocol):
    """Players' texts of one game."""

    languages: tuple[str, ...]
    """The first is `en`."""

    def manifest(self, language: str) -> manifest_pb2.Manifest:
        """Everything a client says or lists about the game; an unknown language gives English."""
        ...

    def say_event(self, event: Message, language: str, names: Mapping[int, str]) -> str:
        """One sentence for an event as a viewer sees it (absent fields are hidden); empty: nothing to say.

        `names` gives the seats' display names.
        """
        ...

    def mark(self, event: Message) -> MarkNote | None:
        """The timeline mark this event deserves, if any."""
        ...
