"""Files that lie: a line changed where it stands, or a log rewritten whole by somebody who knows all secrets."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator

from grimoire.engine import ALL
from grimoire.fairness import chain, server_seed
from grimoire.match import Entry
from grimoire.match.entry import seal_parts
from grimoire.match.referee import PLATFORM
from tests.replay.logs import GAME, HOST_KEY, file_of
from tests.support.toy import PLUGIN


def changed_lines(file: bytes) -> Iterator[tuple[str, int, bytes]]:
    """For every kind of field in every line: what was changed, the line that lies (from 1), and the file."""
    lines = file.splitlines()
    for number, line in enumerate(lines, 1):
        record = json.loads(line)
        for path, value in _leaves(record):
            for way, other in _others(value):
                forged = json.loads(line)
                _put(forged, path, other)
                new = [*lines[: number - 1], json.dumps(forged, separators=(",", ":")).encode(), *lines[number:]]
                where = ".".join(map(str, path))
                yield f"line {number}: {where} {way}", number, b"\n".join(new) + b"\n"


def kinds(name: str) -> str:
    """The field kind of a change: its name without line and list positions."""
    where, _, way = name.split(": ")[1].partition(" ")
    return ".".join(piece for piece in where.split(".") if not piece.isdigit()) + f" {way}"


def _leaves(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str | int]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*path, index))
    elif isinstance(value, str | int):
        yield path, value


def _others(value: str | int) -> Iterator[tuple[str, str | int]]:
    if isinstance(value, int):
        yield "counted up", value + 1
        return
    try:
        data = base64.b64decode(value, validate=True)
    except ValueError:
        yield "renamed", value + "x"
        return
    if data and len(value) >= 8:
        yield "one bit flipped", base64.b64encode(bytes([data[0] ^ 1, *data[1:]])).decode()
        yield "last bit flipped", base64.b64encode(bytes([*data[:-1], data[-1] ^ 1])).decode()
        yield "cut short", base64.b64encode(data[:-1]).decode()
    else:
        yield "renamed", value + "x"


def _put(record: object, path: tuple[str | int, ...], value: str | int) -> None:
    for key in path[:-1]:
        record = record[key]
    record[path[-1]] = value


def rewritten(log: list[Entry], version: int, change: Callable[[list], None]) -> bytes:
    """The file of a log of which one entry's events were changed, and every digest and hash after it made to fit.

    After the reveal everybody knows S, so anybody can do this; only the rules can tell.
    """
    schema = PLUGIN.game.schema.union(PLATFORM)
    seed = server_seed(HOST_KEY, GAME, log[0].match_id)
    previous = chain.genesis(log[0].match_id)
    forged = []
    for entry in log:
        public, parts = entry.public, entry.parts
        if entry.version == version:
            events = [type(event).FromString(event.SerializeToString()) for event in entry.events]
            change(events)
            split = schema.split(events, len(entry.state.occupants))
            public, parts = split.public, (parts[0], *split.parts.items())
        digests = seal_parts(seed, entry.match_id, entry.version, parts)
        previous = chain.link(previous, entry.header, public, digests)
        forged.append(
            Entry(
                entry.match_id,
                entry.version,
                entry.command_id,
                entry.server_time_ms,
                entry.header,
                public,
                parts,
                digests,
                previous,
                entry.events,
                entry.draws,
                entry.state,
            )
        )
    return file_of(forged, ALL)
