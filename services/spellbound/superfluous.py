"""Commands that say more than they may."""

from __future__ import annotations

from google.protobuf.message import Message

__all__ = ["superfluous"]


def superfluous(command: Message, fields: frozenset[str]) -> bool:
    """Whether the command names something that does not belong to it.

    Args:
        fields: those that may be there.
    """
    return any(field.name not in fields for field, _ in command.ListFields())
