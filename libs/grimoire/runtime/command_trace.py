"""One command's way through its owner, as spans: judged, queued, committed, published. Made only while traced."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from opentelemetry import trace
from opentelemetry.context import Context

from grimoire import tracing
from grimoire.bus import Message
from grimoire.match import Entry
from grimoire.runtime.live import Pending, Reply
from grimoire.v1 import envelope_pb2

__all__ = ["CommandTrace", "trace_committed", "trace_judged", "traced"]


class CommandTrace:
    """The reply to one traced command, and what is told of its way.

    Calling it answers the sender, and ends the command's span.

    Args:
        message: as it came over the bus.
        submission: what is in it.
        game: whose it is.
        partition: where its match lives.
        answer: the way back to the sender.
    """

    __slots__ = ("_answer", "_committed_ns", "_context", "_queued_ns", "_span", "_version")

    def __init__(
        self, message: Message, submission: envelope_pb2.Submission, game: str, partition: int, answer: Reply
    ) -> None:
        command = submission.command
        about: dict[str, str | int] = {
            "game": game,
            "match_id": command.match_id,
            "type": command.type,
            "command_id": command.command_id.hex(),
            "partition": partition,
        }
        if command.HasField("seat"):
            about["seat"] = command.seat
        carried = tracing.carried(_headers(message))
        self._span = tracing.begin("owner command", about, parent=carried, kind=tracing.SpanKind.CONSUMER)
        self._context: Context = trace.set_span_in_context(self._span, Context())
        self._answer = answer
        self._queued_ns = 0
        self._committed_ns = 0
        self._version = 0

    def __call__(self, reply: envelope_pb2.CommandReply | None) -> None:
        """Answers, and says what came of it."""
        self._answer(reply)
        if reply is None:
            tracing.end(self._span, error="moved")
        elif reply.HasField("rejection"):
            tracing.end(self._span, {"code": reply.rejection.code, "version": reply.rejection.version})
        else:
            told: dict[str, str | int] = {"code": "accepted", "version": reply.accepted.version}
            if reply.accepted.duplicate:
                told["duplicate"] = 1
            tracing.end(self._span, told)

    @property
    def traceparent(self) -> str:
        """For whoever goes on from here."""
        return tracing.traceparent(self._context)

    def judged(self, began_ns: int, result: Entry | envelope_pb2.Rejection) -> None:
        """The rules have spoken."""
        accepted = isinstance(result, Entry)
        code = "accepted" if isinstance(result, Entry) else result.code
        self._queued_ns = time.time_ns() if accepted else 0
        tracing.record("owner decide", self._context, began_ns, attributes={"code": code, "version": result.version})

    def committed(self, began_ns: int, group: int, version: int) -> None:
        """It is on disk."""
        self._committed_ns, self._version = time.time_ns(), version
        if self._queued_ns:
            tracing.record("owner queue", self._context, self._queued_ns, began_ns)
        tracing.record("owner commit", self._context, began_ns, attributes={"group": group, "version": version})

    def published(self) -> None:
        """Everybody who listens has been told."""
        tracing.record("owner publish", self._context, self._committed_ns, attributes={"version": self._version})


def traced(replies: Iterable[Reply]) -> Iterator[CommandTrace]:
    """Those of the waiting senders whose commands are traced."""
    return (reply for reply in replies if isinstance(reply, CommandTrace))


def trace_judged(replies: Sequence[Reply], began_ns: int, result: Entry | envelope_pb2.Rejection) -> None:
    """The rules have spoken on a command that these wait for."""
    for one in traced(replies):
        one.judged(began_ns, result)


def trace_committed(group: Sequence[Pending], began_ns: int) -> None:
    """A group is on disk."""
    for pending in group:
        for one in traced(pending.replies):
            one.committed(began_ns, len(group), pending.entry.version)


def _headers(message: Message) -> Mapping[str, str]:
    return message.headers or {}
