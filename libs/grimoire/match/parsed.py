"""A command that could be read."""

from __future__ import annotations

import msgspec
from google.protobuf.message import Message


class Parsed(msgspec.Struct, frozen=True):
    """A command that could be read.

    Attributes:
        command_id: 16 bytes.
        type: its code.
        message: its payload.
        payload: the payload's bytes as they came.
        prompt_id: None for standing commands.
        occupant_id: the sender's pseudonym; empty for clock and host.
    """

    command_id: bytes
    type: str
    message: Message
    payload: bytes
    prompt_id: int | None = None
    occupant_id: str = ""

    def __repr__(self) -> str:
        """Names no hidden fact: a payload may be a nonce or a hidden choice."""
        return f"<Parsed {self.type} prompt_id={self.prompt_id}>"
