"""Which private parts an entry must have, and whether its fields lie where the schema puts them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from google.protobuf.message import DecodeError, Message

from grimoire.engine import Schema
from grimoire.v1 import match_pb2

__all__ = ["COMMAND", "AudienceRule"]

COMMAND = "command"
"""Audience of the part that holds the `CommandRecord`; every entry has one."""

_SEAT = re.compile(r"seat/(0|[1-9][0-9]?)", re.ASCII).fullmatch


class AudienceRule:
    """The visibility options of a schema, applied to entries of one match.

    Which audiences an entry has follows from the types and seats of its events alone, never from values, so the rule
    can be checked while the parts are still closed.

    Args:
        schema: of the platform, with or without a game's; events it does not know are opaque.
        seats: number of seats.
    """

    def __init__(self, schema: Schema, seats: int) -> None:
        self._schema = schema
        self._seats = seats
        self._all_public: set[str] = set()

    def fault(
        self,
        events: Sequence[match_pb2.Event],
        pieces: Mapping[int, Mapping[str, bytes]],
        listed: Collection[str],
        opened: Collection[str],
    ) -> str:
        """What is wrong with an entry's parts; empty: nothing.

        Args:
            events: its public events.
            pieces: by event index: audience to the private bytes, as far as they are open.
            listed: audiences of all its parts.
            opened: audiences whose parts are open here.
        """
        if COMMAND not in listed:
            return "it has no command part"
        due = {COMMAND}
        opaque = False
        for index, event in enumerate(events):
            if event.type in self._all_public and index not in pieces:
                continue
            cls = self._schema.events.get(event.type)
            if cls is None:
                opaque = True
                continue
            try:
                due |= self._event(cls, event, pieces.get(index, {}), opened)
            except (ValueError, DecodeError) as error:
                return f"event {index} ({event.type}): {error}"
        return self._audiences(due, listed, opaque)

    def _event(
        self, cls: type[Message], event: match_pb2.Event, pieces: Mapping[str, bytes], opened: Collection[str]
    ) -> set[str]:
        """The audiences this event needs.

        Raises:
            ValueError: if a field lies with an audience that should not have it.
        """
        whole = _parse(cls, event.body + b"".join(pieces[audience] for audience in sorted(pieces)))
        split = self._schema.split([whole], self._seats)
        parts = {
            audience: match_pb2.PartEvents.FromString(part).events[0].body for audience, part in split.parts.items()
        }
        if not parts:
            self._all_public.add(event.type)
        if {*pieces} != {a for a in parts if a in opened}:
            raise ValueError("its private fields lie in other parts than the schema says")
        shown = match_pb2.Events.FromString(split.public).events[0].body
        if _parse(cls, shown) != _parse(cls, event.body):
            raise ValueError("it shows a field that is not public")
        if any(_parse(cls, parts[a]) != _parse(cls, body) for a, body in pieces.items()):
            raise ValueError("a part holds a field of another audience")
        return {*parts}

    def _audiences(self, due: set[str], listed: Collection[str], opaque: bool) -> str:
        for audience in listed:
            seat = _SEAT(audience)
            if audience not in (COMMAND, "sealed") and (seat is None or int(seat[1]) >= self._seats):
                return f"there is no audience {audience[:80]!r} in this match"
        missing = due.difference(listed)
        if missing:
            return f"its events need a part {min(missing)!r}, which it has not"
        surplus = {*listed} - due
        if surplus and not opaque:
            return f"it has a part {min(surplus)!r}, which its events do not need"
        return ""


def _parse(cls: type[Message], body: bytes) -> Message:
    """The message without fields this schema does not know: a later schema may have added some."""
    message = cls.FromString(body)
    message.DiscardUnknownFields()
    return message
