"""The schema as law: which messages are events, and who may see which field.

Splitting an entry into public bytes and private parts, and merging it again, is mechanical from the option
`(grimoire.v1.visibility)` (fairness specification, section 4); no game writes its own redaction.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from grimoire.v1 import match_pb2, visibility_pb2

_PUBLIC = visibility_pb2.VISIBILITY_PUBLIC
_SEAT = visibility_pb2.VISIBILITY_SEAT
_EACH_SEAT = visibility_pb2.VISIBILITY_EACH_SEAT
_SEALED = visibility_pb2.VISIBILITY_SEALED
_FLOATS = (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT)


class SchemaError(ValueError):
    """A schema that breaks the visibility rules, or bytes that do not fit it."""


class Split(msgspec.Struct, frozen=True):
    """An entry's events as stored.

    Attributes:
        public: serialised `Events`, private fields left out.
        parts: audience (`seat/0`, `sealed`, ...) to serialised `PartEvents`, in byte order of the audience. Which
            audiences there are follows from the types and seats of the events alone; a part may be empty.
    """

    public: bytes
    parts: dict[str, bytes]


class Opened(NamedTuple):
    """An entry's events, read with all their private parts.

    Attributes:
        events: whole.
        written: their public bytes; shared, never to be changed.
        private: what the parts add to them, by place in the entry.
    """

    events: list[Message]
    written: Sequence[match_pb2.Event]
    private: Mapping[int, bytes]

    def __repr__(self) -> str:
        """Names no hidden fact."""
        return f"<Opened entry of {len(self.events)} events>"


class _Plan(msgspec.Struct, frozen=True):
    """How one event type is split: which fields go to whom, computed once per type.

    `not_seat` and `not_sealed` are the fields that part leaves out; `private` those the public bytes leave out.
    """

    code: str
    all_public: bool
    private: tuple[str, ...]
    each_seat: tuple[str, ...]
    not_seat: tuple[str, ...] | None
    not_sealed: tuple[str, ...] | None


def snake_case(name: str) -> str:
    """The code of a message name.

    >>> snake_case("PileReshuffled")
    'pile_reshuffled'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class Schema:
    """Events and commands of one or more schema files.

    Args:
        files: file descriptors, e.g. `two_towers_pb2.DESCRIPTOR`. Messages marked `(grimoire.v1.event)` or
            `(grimoire.v1.command)` are registered under their snake_case name.

    Raises:
        SchemaError: if an event breaks the visibility rules.
    """

    def __init__(self, files: Iterable[FileDescriptor]) -> None:
        self.events: dict[str, type[Message]] = {}
        self.commands: dict[str, type[Message]] = {}
        self.standing: set[str] = set()
        self._plans: dict[type[Message], _Plan] = {}
        self._codes: dict[type[Message], str] = {}
        for file in files:
            faults = lint(file)
            if faults:
                raise SchemaError("; ".join(faults))
            for descriptor in file.message_types_by_name.values():
                self._register(descriptor)

    def _register(self, descriptor: Descriptor) -> None:
        options = descriptor.GetOptions()
        code = snake_case(descriptor.name)
        cls = GetMessageClass(descriptor)
        for table, marked in (
            (self.events, options.Extensions[visibility_pb2.event]),
            (self.commands, options.Extensions[visibility_pb2.command]),
        ):
            if marked:
                if code in table:
                    raise SchemaError(f"two messages are called {code}")
                table[code] = cls
                self._codes[cls] = code
        if options.Extensions[visibility_pb2.standing]:
            self.standing.add(code)
        if options.Extensions[visibility_pb2.event]:
            self._plans[cls] = _plan(descriptor, code)

    def code(self, message: Message) -> str:
        """The code of an event or command message.

        Raises:
            SchemaError: if the message is neither.
        """
        try:
            return self._codes[type(message)]
        except KeyError:
            raise SchemaError(f"{type(message).__name__} is no event or command of this schema") from None

    def command(self, code: str, fields: Mapping[str, object] | Iterable[tuple[str, object]] = ()) -> Message:
        """A command message by code with plain fields set."""
        message = self.commands[code]()
        for name, value in dict(fields).items():
            setattr(message, name, value)
        return message

    def split(self, events: Sequence[Message], seats: int) -> Split:
        """Separates the public bytes of an entry from its private parts.

        Args:
            events: the entry's event messages in order.
            seats: number of seats of the match (`EACH_SEAT` fields give every seat a part).
        """
        public = match_pb2.Events()
        parts: dict[str, match_pb2.PartEvents] = {}
        add = public.events.add
        for index, event in enumerate(events):
            plan = self._plans[type(event)]
            if plan.all_public:
                add(type=plan.code, body=event.SerializeToString())
                continue
            shown = type(event)()
            shown.CopyFrom(event)
            for name in plan.private:
                shown.ClearField(name)
            add(type=plan.code, body=shown.SerializeToString())
            for audience, body in _private_bodies(event, plan, seats):
                part = parts.get(audience)
                if part is None:
                    part = parts[audience] = match_pb2.PartEvents()
                part.events.add(index=index, body=body)
        return Split(public.SerializeToString(), {a: parts[a].SerializeToString() for a in sorted(parts)})

    def merge(self, public: bytes, parts: Mapping[str, bytes]) -> list[Message]:
        """The events as far as these parts open them (the inverse of `split` with all parts).

        Raises:
            SchemaError: for an unknown event type, or bytes that do not parse.
        """
        return self.opened(public, parts).events

    def opened(self, public: bytes, parts: Mapping[str, bytes]) -> Opened:
        """The same with what it takes to show them to somebody who may see less.

        Raises:
            SchemaError: as `merge`.
        """
        classes = self.events
        try:
            written = match_pb2.Events.FromString(public).events
            if not parts:
                return Opened([classes[event.type].FromString(event.body) for event in written], written, {})
            private = _added(parts, len(written))
            bodies = [event.body for event in written]
            for index, rest in private.items():
                bodies[index] += rest
            return Opened(
                [classes[event.type].FromString(body) for event, body in zip(written, bodies, strict=True)],
                written,
                private,
            )
        except (DecodeError, IndexError, KeyError) as error:
            raise _unfit(error) from error

    def shown(self, opened: Opened, parts: Mapping[str, bytes]) -> tuple[list[Message], Collection[int]]:
        """The events as some of their parts open them, and the places of those that such a part adds to.

        Most events hide nothing: they are the very messages of `opened`.

        Raises:
            SchemaError: if an event cannot be read without the parts that are left out.
        """
        if not opened.private:
            return opened.events, ()
        shown = [*opened.events]
        try:
            added = _added(parts, len(shown)) if parts else {}
            for index, rest in opened.private.items():
                mine = added.get(index, b"")
                if mine != rest:
                    event = opened.written[index]
                    shown[index] = self.events[event.type].FromString(event.body + mine)
        except DecodeError as error:
            raise _unfit(error) from error
        return shown, added.keys()

    def union(self, other: Schema) -> Schema:
        """Both schemas in one (a game's, and the platform's).

        Raises:
            SchemaError: if they share a code.
        """
        both = {*self.events} & {*other.events} | {*self.commands} & {*other.commands}
        if both:
            raise SchemaError(f"both schemas have {', '.join(sorted(both))}")
        joined = Schema(())
        for schema in (self, other):
            joined.events.update(schema.events)
            joined.commands.update(schema.commands)
            joined.standing.update(schema.standing)
            joined._plans.update(schema._plans)
            joined._codes.update(schema._codes)
        return joined


def _added(parts: Mapping[str, bytes], events: int) -> dict[int, bytes]:
    """What these parts add to the bytes of each event, by its place in the entry.

    Raises:
        IndexError: if a part names an event that is not there.
    """
    added: dict[int, bytes] = {}
    for audience in sorted(parts):
        for piece in match_pb2.PartEvents.FromString(parts[audience]).events:
            index = piece.index
            if index >= events:
                raise IndexError(f"there is no event {index}")
            added[index] = added.get(index, b"") + piece.body
    return added


def _unfit(error: Exception) -> SchemaError:
    return SchemaError(f"the events of this entry do not fit the schema ({error})")


def _plan(descriptor: Descriptor, code: str) -> _Plan:
    marks = {f.name: f.GetOptions().Extensions[visibility_pb2.visibility] for f in descriptor.fields}

    def but(visibility: int) -> tuple[str, ...] | None:
        if visibility not in marks.values():
            return None
        return tuple(name for name, mark in marks.items() if mark != visibility)

    private = tuple(name for name, mark in marks.items() if mark in (_SEAT, _EACH_SEAT, _SEALED))
    each_seat = tuple(name for name, mark in marks.items() if mark == _EACH_SEAT)
    return _Plan(code, not private, private, each_seat, but(_SEAT), but(_SEALED))


def _private_bodies(event: Message, plan: _Plan, seats: int) -> Iterator[tuple[str, bytes]]:
    """Audience and bytes of each private part of one event; presence depends on its type and seat alone."""
    if plan.not_seat is not None:
        yield f"seat/{event.seat}", _without(event, plan.not_seat)  # type: ignore[attr-defined]
    if plan.each_seat:
        for seat in range(seats):
            part = type(event)()
            for name in plan.each_seat:
                getattr(part, name).extend(e for e in getattr(event, name) if e.seat == seat)
            yield f"seat/{seat}", part.SerializeToString()
    if plan.not_sealed is not None:
        yield "sealed", _without(event, plan.not_sealed)


def _without(event: Message, names: tuple[str, ...]) -> bytes:
    """The event's bytes with these fields left out."""
    part = type(event)()
    part.CopyFrom(event)
    for name in names:
        part.ClearField(name)
    return part.SerializeToString()


def lint(file: FileDescriptor) -> list[str]:
    """What is wrong with a schema file's visibility options; empty: nothing.

    Options stand on top-level fields of event messages only; an event is either `all_public` or marks every field;
    `SEAT` needs a public integer `seat`; `EACH_SEAT` is a repeated message with a field `seat`; neither maps nor
    floating-point fields occur anywhere in an event (serialised bytes are hashed).
    """
    faults: list[str] = []
    for descriptor in file.message_types_by_name.values():
        if descriptor.GetOptions().Extensions[visibility_pb2.event]:
            faults += _lint_event(descriptor)
        else:
            faults += [
                f"{descriptor.full_name}.{f.name}: visibility on a field of a message that is no event"
                for f in descriptor.fields
                if f.GetOptions().HasExtension(visibility_pb2.visibility)
            ]
        for nested in _walk_nested(descriptor):
            faults += [
                f"{nested.full_name}.{f.name}: visibility on a nested field"
                for f in nested.fields
                if f.GetOptions().HasExtension(visibility_pb2.visibility)
            ]
    return faults


def _lint_event(descriptor: Descriptor) -> Iterator[str]:
    all_public = descriptor.GetOptions().Extensions[visibility_pb2.all_public]
    by_name = {f.name: f for f in descriptor.fields}
    for field in descriptor.fields:
        where = f"{descriptor.full_name}.{field.name}"
        mark = field.GetOptions().Extensions[visibility_pb2.visibility]
        if all_public and mark:
            yield f"{where}: the message is all_public, so its fields carry no visibility"
        if not all_public and not mark:
            yield f"{where}: no visibility; mark the field, or the message all_public"
        if mark == _SEAT and not _is_public_seat(by_name.get("seat")):
            yield f"{where}: SEAT needs a PUBLIC integer field `seat` in {descriptor.name}"
        if mark == _EACH_SEAT and not (
            field.is_repeated and field.message_type is not None and "seat" in field.message_type.fields_by_name
        ):
            yield f"{where}: EACH_SEAT needs a repeated message with a field `seat`"
    yield from _lint_types(descriptor, descriptor.full_name, set())


def _is_public_seat(field: FieldDescriptor | None) -> bool:
    return (
        field is not None
        and field.type == FieldDescriptor.TYPE_UINT32
        and field.GetOptions().Extensions[visibility_pb2.visibility] == _PUBLIC
    )


def _lint_types(descriptor: Descriptor, path: str, seen: set[str]) -> Iterator[str]:
    if descriptor.full_name in seen:
        return
    seen.add(descriptor.full_name)
    for field in descriptor.fields:
        where = f"{path}.{field.name}"
        if field.type in _FLOATS:
            yield f"{where}: floating-point fields have no exact bytes"
        if field.message_type is not None:
            if field.message_type.GetOptions().map_entry:
                yield f"{where}: maps have no order"
            else:
                yield from _lint_types(field.message_type, where, seen)


def _walk_nested(descriptor: Descriptor) -> Iterator[Descriptor]:
    for nested in descriptor.nested_types:
        yield nested
        yield from _walk_nested(nested)
