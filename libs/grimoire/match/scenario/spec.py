"""A scenario as values: what a file says once it has been read."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

import msgspec

from grimoire.engine import Viewer
from grimoire.match.scenario.document import Keys

__all__ = [
    "At",
    "AuditExpect",
    "Command",
    "Events",
    "Expect",
    "FeedExpect",
    "LegalExpect",
    "LogExpect",
    "Scenario",
    "Step",
    "Tamper",
    "Who",
]

Events = tuple[tuple[str, Any], ...]
"""Type and expected fields of each."""


class Who(enum.Enum):
    """Who acts in a step."""

    SEAT = "seat"
    CLOCK = "clock"
    HOST = "host"
    NOBODY = "nobody"


class At(msgspec.Struct, frozen=True):
    """When a step happens: `offset_ms` after the last step, the creation, or its prompt's deadline."""

    base: str = "last"
    offset_ms: int = 0


class Command(msgspec.Struct, frozen=True):
    """What is sent.

    Attributes:
        type: code.
        fields: as written.
        prompt: `current`, `previous`, `handshake`, `none`, a number, or a mapping with `kind` and perhaps `seat`.
        payload: raw bytes instead of fields.
        line: where it stands.
    """

    type: str
    fields: Mapping[str, Any]
    prompt: Any = "current"
    payload: bytes | None = None
    line: int = 0


class FeedExpect(msgspec.Struct, frozen=True):
    """What a list of events must be like; None: not looked at."""

    events: Events | None = None
    events_exactly: Events | None = None
    game_events_exactly: Events | None = None
    no_events: Events = ()


class LogExpect(msgspec.Struct, frozen=True):
    """What a viewer must find in an earlier entry when it asks for it now."""

    version: int
    viewer: Viewer
    feed: FeedExpect


class LegalExpect(msgspec.Struct, frozen=True):
    """What a seat may send; None: not looked at."""

    includes: Events = ()
    excludes: Events = ()
    exactly: Events | None = None


class Tamper(msgspec.Struct, frozen=True):
    """A change to the copy of the log that is audited.

    Attributes:
        version: the entry.
        event: type of the event; `command`: the command's record instead.
        nth: which event of that type, from 1.
        fields: path and new value.
        reseal: digests and chain are made anew from there on, as a host that lies would.
        line: where it stands in the file.
    """

    version: int
    event: str
    nth: int
    fields: Mapping[str, Any]
    reseal: bool
    line: int


class AuditExpect(msgspec.Struct, frozen=True):
    """What an audit of the whole log must find.

    Attributes:
        failed: numbers of the checks that fail.
        version: the first entry that lies; None: not looked at.
        tamper: changes to make first.
    """

    failed: tuple[int, ...] = ()
    version: Any = None
    tamper: tuple[Tamper, ...] = ()


class Expect(msgspec.Struct, frozen=True):
    """What must hold after a step; None: not looked at."""

    line: int = 0
    lines: Mapping[str, int] = {}
    rejected: Mapping[str, Any] | None = None
    duplicate: bool = False
    own: FeedExpect = FeedExpect()
    feeds: tuple[tuple[Viewer, FeedExpect], ...] = ()
    view: tuple[tuple[Viewer, Any], ...] = ()
    state: Any = None
    prompts: Any = None
    legal: tuple[tuple[int, LegalExpect], ...] = ()
    outcome: Any = None
    status: str | None = None
    digests: Mapping[str, Any] | None = None
    draws: Any = None
    version: Any = None
    time_ms: Any = None
    unseen: tuple[tuple[Viewer, tuple[str, ...]], ...] = ()
    says: tuple[tuple[Viewer, Mapping[str, list[str]]], ...] = ()
    manifest: Mapping[str, Any] = {}
    revealed: bool | None = None
    log: tuple[LogExpect, ...] = ()
    audit: AuditExpect | None = None


class Step(msgspec.Struct, frozen=True):
    """One step.

    Attributes:
        label: its number in the file, e.g. `3`, or `3.2 (round 7)`.
        who, seat: who acts; `seat` None: the envelope names none.
        bot: level of the built-in player that chooses for the seat, instead of a command.
        sender: who really sends: `seat:N` or any other word for a stranger; empty: the seat's own holder.
        match_id: another match; empty: this one.
        command_id: a name (the same name, the same id), raw bytes, or None: a new one.
        down_ms: how long nobody could be served before this step.
    """

    label: str
    line: int
    who: Who
    expect: Expect
    seat: int | None = None
    command: Command | None = None
    bot: str = ""
    at: At = At()
    sender: str = ""
    match_id: str = ""
    command_id: str | bytes | None = None
    down_ms: int = 0


class Scenario(msgspec.Struct, frozen=True):
    """A whole scenario; see the format's README."""

    line: int
    game: str
    name: str
    rules: tuple[str, ...]
    options: Mapping[str, str]
    mode: str
    seats: int
    match_id: str
    server_seed: bytes | None
    nonces: tuple[bytes, ...]
    game_no: int
    handshake_s: int
    by_steps: bool
    position: Keys | None
    position_line: int
    draws: Mapping[str, list[int | str]]
    draws_line: int
    create: Expect
    start: Expect
    steps: tuple[Step, ...]
