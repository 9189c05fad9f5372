"""A match for screens without a server: real rules, real frames, one viewer's eyes, made of a table."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from google.protobuf.message import Message

from grimoire.client import Alarm, ClientError, Rejected, Update, Verdict
from grimoire.engine import PUBLIC, Game, Viewer
from grimoire.match import Entry, frames
from grimoire.match.table import Table
from grimoire.v1 import audit_pb2, envelope_pb2, frame_pb2, match_pb2, matchmaking_pb2, prompt_pb2


class TableFeed:
    """What `MatchSession` is to a screen, over a `Table` in this process.

    Args:
        table: the match; commands go straight to it.
        seat: through whose eyes; None: the public's.
    """

    def __init__(self, table: Table, seat: int | None = 0) -> None:
        self.table = table
        self.seat = seat
        self.connected = True
        self.alarm: Alarm | None = None
        self.failure: ClientError | None = None
        self.submitted: list[tuple[str, bytes, int | None]] = []
        self.command_ids: list[bytes | None] = []
        self.hold: asyncio.Event | None = None
        self.fail_next: list[ClientError] = []
        self._seen = 0
        self._queue: asyncio.Queue[Update | None] = asyncio.Queue()

    @property
    def viewer(self) -> Viewer:
        return PUBLIC if self.seat is None else Viewer.of_seat(self.seat)

    @property
    def match_id(self) -> str:
        return self.table.match_id

    @property
    def snapshot(self) -> frame_pb2.Snapshot:
        return frames.snapshot(self.table.referee, self.table.running, self.viewer, self.table.now_ms)

    @property
    def head(self) -> frame_pb2.MatchHead:
        return self.snapshot.head

    @property
    def view(self) -> bytes:
        return self.snapshot.view

    @property
    def prompts(self) -> tuple[prompt_pb2.Prompt, ...]:
        return tuple(self.snapshot.prompts)

    @property
    def finished(self) -> bool:
        return self.table.running.over

    @property
    def server_time_ms(self) -> int:
        return self.table.now_ms

    # ---- the feed ----------------------------------------------------------------------------------------------------

    def push(self) -> None:
        """Sends what has happened at the table since the last time."""
        for entry in self.table.entries[self._seen :]:
            self._queue.put_nowait(self._update(entry))
        self._seen = len(self.table.entries)
        if self.finished:
            self._queue.put_nowait(None)

    def stop(self, failure: ClientError) -> None:
        """Nothing more will come, for this reason."""
        self.failure = failure
        self.alarm = failure if isinstance(failure, Alarm) else None
        self._queue.put_nowait(None)

    def _update(self, entry: Entry) -> Update:
        code = self.table.referee.schema.code
        events = [
            match_pb2.Event(type=code(e), body=e.SerializeToString()) for e in self.table.feed(self.viewer, entry)
        ]
        shown = frames.snapshot(self.table.referee, entry.state, self.viewer, self.table.now_ms)
        return Update(entry.version, entry.version, tuple(events), shown)

    async def updates(self) -> AsyncGenerator[Update, None]:
        self.push()
        while True:
            update = await self._queue.get()
            if update is None:
                break
            yield update
        if self.failure is not None:
            raise self.failure

    # ---- commands ----------------------------------------------------------------------------------------------------

    async def submit(
        self,
        command: str,
        message: Message | bytes = b"",
        prompt_id: int | None = None,
        *,
        command_id: bytes | None = None,
    ) -> envelope_pb2.Accepted:
        assert self.seat is not None
        payload = message if isinstance(message, bytes) else message.SerializeToString()
        self.submitted.append((command, payload, prompt_id))
        self.command_ids.append(command_id)
        if self.hold is not None:
            await self.hold.wait()
        if self.fail_next:
            raise self.fail_next.pop(0)
        answer = self.table.submit(
            self.table.envelope(self.seat, command, payload, prompt_id, command_id or b""),
            self.table.running.occupants[self.seat].occupant_id,
        )
        if isinstance(answer, envelope_pb2.Rejection):
            raise Rejected(answer)
        self.push()
        return envelope_pb2.Accepted(version=self.table.running.version)

    async def explain(
        self, command: str, message: Message | bytes = b"", prompt_id: int | None = None
    ) -> Rejected | None:
        assert self.seat is not None
        state, entries = self.table.state, list(self.table.entries)
        payload = message if isinstance(message, bytes) else message.SerializeToString()
        answer = self.table.submit(
            self.table.envelope(self.seat, command, payload, prompt_id),
            self.table.running.occupants[self.seat].occupant_id,
        )
        self.table.state, self.table.entries = state, entries
        return Rejected(answer) if isinstance(answer, envelope_pb2.Rejection) else None

    async def verify_result(self) -> Verdict:
        report = audit_pb2.AuditReport(match_id=self.match_id, passed=True, entries=len(self.table.entries))
        return Verdict(True, report, True)


def table_of(game: Game[Any], options: Mapping[str, str] | None = None, *, seats: int = 2, **more: Any) -> Table:
    """A match whose handshake is over."""
    table = Table(game, match_id="screen-test", seats=seats, options=options, **more)
    table.begin()
    return table


def act(table: Table, seat: int, code: str, **fields: Any) -> None:
    """A seat's answer to its first prompt; it is accepted."""
    prompts = frames.prompts_for(table.referee, table.running, Viewer.of_seat(seat))
    prompt = next(p for p in prompts if p.seat == seat)
    payload = table.referee.schema.command(code, fields).SerializeToString()
    envelope = table.envelope(seat, code, payload, prompt.prompt_id)
    answer = table.submit(envelope, table.running.occupants[seat].occupant_id)
    assert not isinstance(answer, envelope_pb2.Rejection), answer


class StillDesk:
    """A desk on which nothing happens."""

    command = "grimoire play two_towers --match screen-test"

    def __init__(self, report: audit_pb2.AuditReport | None = None) -> None:
        self.report = report or audit_pb2.AuditReport(match_id="screen-test", passed=True, entries=7)
        self.offered = False
        self.seats = matchmaking_pb2.Table()
        self.asked: list[object] = []

    async def audit(self) -> audit_pb2.AuditReport:
        return self.report

    async def rematch_offered(self) -> bool:
        return self.offered

    async def table(self) -> matchmaking_pb2.Table:
        return self.seats

    async def vote(self, seat: int, fellow: int | None) -> None:
        self.asked.append((seat, fellow))

    async def come_back(self) -> None:
        self.asked.append("back")


class SessionFeed(TableFeed):
    """A table as what `Client.open_match` gives."""

    def __init__(self, table: Table, seat: int | None = 0) -> None:
        super().__init__(table, seat)
        self.closed_down = False

    @property
    def game(self) -> str:
        return self.table.referee.game.id

    async def __aenter__(self) -> SessionFeed:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.closed_down = True
