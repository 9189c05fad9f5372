"""What the screens need of a followed match; `grimoire.client.MatchSession` is one."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from google.protobuf.message import Message

from grimoire.client import Alarm, Rejected, Update, Verdict
from grimoire.v1 import envelope_pb2, frame_pb2, prompt_pb2

__all__ = ["Feed"]


class Feed(Protocol):
    """A match as one viewer plays or watches it. Members mean what they mean in `MatchSession`."""

    @property
    def match_id(self) -> str: ...  # noqa: D102

    @property
    def seat(self) -> int | None: ...  # noqa: D102

    @property
    def head(self) -> frame_pb2.MatchHead: ...  # noqa: D102

    @property
    def view(self) -> bytes: ...  # noqa: D102

    @property
    def prompts(self) -> tuple[prompt_pb2.Prompt, ...]: ...  # noqa: D102

    @property
    def finished(self) -> bool: ...  # noqa: D102

    @property
    def connected(self) -> bool: ...  # noqa: D102

    @property
    def alarm(self) -> Alarm | None: ...  # noqa: D102

    @property
    def server_time_ms(self) -> int: ...  # noqa: D102

    def updates(self) -> AsyncGenerator[Update, None]: ...  # noqa: D102

    async def submit(  # noqa: D102
        self,
        command: str,
        message: Message | bytes = b"",
        prompt_id: int | None = None,
        *,
        command_id: bytes | None = None,
    ) -> envelope_pb2.Accepted: ...

    async def explain(  # noqa: D102
        self, command: str, message: Message | bytes = b"", prompt_id: int | None = None
    ) -> Rejected | None: ...

    async def verify_result(self) -> Verdict: ...  # noqa: D102
