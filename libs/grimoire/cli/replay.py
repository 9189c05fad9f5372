"""`grimoire replay`: a match as it was, in text or as JSON."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from google.protobuf.json_format import MessageToDict

from grimoire.cli.say import OUT, fail, file_named
from grimoire.cli.stacks import signed_in
from grimoire.engine import ALL, PUBLIC, Viewer
from grimoire.match.offline import OfflineError, frames_of_file, head_of_file
from grimoire.match.referee import PLATFORM
from grimoire.plugins import GamePlugin, load_game
from grimoire.v1 import match_pb2, rules_pb2

__all__ = ["replay"]

_SILENT = frozenset({"prompt_opened", "prompt_closed"})
"""The screen below says who is asked."""


async def replay(match: str, *, at: int, viewer: str, as_json: bool, language: str, server: str) -> int:
    """Prints the frames of a match or file.

    Args:
        match: a file, or the id of a match.
        at: only this version; 0: all.
        viewer: `seat:N`, `public` or `all`; empty: everything that may be seen (`all` after the reveal, else public).
        as_json: one JSON object a line instead of text.
        language: of texts.
        server: as for `running_edge`.
    """
    eyes = _eyes(viewer)
    path = file_named(match)
    if path is not None:
        return await _show(_of_file(path, eyes, at), language, as_json)
    async with signed_in(server, language=language) as client:
        known = await client.match(match)
        eyes = eyes or (ALL if known.head.revealed else PUBLIC)
        _check_range(at, known.head.version)
        plugin = load_game(known.head.game)

        async def stored() -> AsyncIterator[tuple[GamePlugin, rules_pb2.ReplayFrame]]:
            async for frame in client.frames(match, eyes, max(1, at), at):
                yield plugin, frame

        return await _show(stored(), language, as_json)


def _eyes(viewer: str) -> Viewer | None:
    try:
        return Viewer.parse(viewer) if viewer else None
    except ValueError as error:
        fail(str(error), code=2)


def _check_range(at: int, last: int) -> None:
    if not 0 <= at <= last:
        fail(f"--at {at}: this match has versions 1 to {last}.", code=2)


async def _of_file(path: Path, eyes: Viewer | None, at: int) -> AsyncIterator[tuple[GamePlugin, rules_pb2.ReplayFrame]]:
    try:
        plugin = load_game(head_of_file(path).game)
        for frame in frames_of_file(path, eyes or ALL, max(1, at), at):
            yield plugin, frame
    except OSError as error:
        fail(f"{path} cannot be read: {error.strerror}")
    except OfflineError as error:
        fail(f"{path}: {error}", hint="`grimoire audit` on it says what is wrong with a file.")


async def _show(frames: AsyncIterator[tuple[GamePlugin, rules_pb2.ReplayFrame]], language: str, as_json: bool) -> int:
    async for plugin, frame in frames:
        if as_json:
            OUT.out(msgspec.json.encode(_as_dict(plugin, frame)).decode())
        else:
            for line in _as_text(plugin, frame, language):
                OUT.print(line, highlight=False, markup=False, soft_wrap=True)
    return 0


def _as_text(plugin: GamePlugin, frame: rules_pb2.ReplayFrame, language: str) -> Iterable[str]:
    when = datetime.fromtimestamp(frame.server_time_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    who = {
        match_pb2.ACTOR_KIND_SEAT: f"seat {frame.seat}",
        match_pb2.ACTOR_KIND_CLOCK: "clock",
        match_pb2.ACTOR_KIND_HOST: "host",
    }.get(frame.actor, "?")
    yield f"── version {frame.version} · {when} · {who} " + "─" * 20
    if frame.HasField("fault"):
        yield f"This version cannot be shown: {frame.fault.message} ({frame.fault.code})"
        return
    names = {n: f"seat {n}" for n in range(plugin.game.max_seats)}
    for event in frame.events:
        cls = plugin.game.schema.events.get(event.type)
        if cls is not None:
            said = plugin.texts.say_event(cls.FromString(event.body), language, names)
        else:
            said = "" if event.type in _SILENT else event.type.replace("_", " ")
        if said:
            yield f"  {said}"
    if frame.view:
        view = plugin.game.view_type.FromString(frame.view)
        yield from plugin.terminal.render(view, language, names, min(OUT.width, 100))


def _as_dict(plugin: GamePlugin, frame: rules_pb2.ReplayFrame) -> dict[str, object]:
    classes = {**PLATFORM.events, **plugin.game.schema.events}
    return {
        "version": frame.version,
        "server_time_ms": frame.server_time_ms,
        "actor": match_pb2.ActorKind.Name(frame.actor).removeprefix("ACTOR_KIND_").lower(),
        "seat": frame.seat if frame.actor == match_pb2.ACTOR_KIND_SEAT else None,
        "hash": frame.hash.hex(),
        "events": [
            {"type": e.type, **MessageToDict(classes[e.type].FromString(e.body), preserving_proto_field_name=True)}
            if e.type in classes
            else {"type": e.type, "body": base64.b64encode(e.body).decode()}
            for e in frame.events
        ],
        "prompts": [MessageToDict(p, preserving_proto_field_name=True) for p in frame.prompts],
        "view": MessageToDict(
            plugin.game.view_type.FromString(frame.view),
            preserving_proto_field_name=True,
            always_print_fields_with_no_presence=True,
        )
        if frame.view
        else None,
        "fault": frame.fault.code if frame.HasField("fault") else None,
    }
