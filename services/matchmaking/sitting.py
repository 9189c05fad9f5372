"""Who sits at a table, who has left it, and to whom a seat was given."""

from __future__ import annotations

import secrets

import msgspec

__all__ = ["Gift", "Sitter", "Vacancy", "new_bot"]


class Sitter(msgspec.Struct, frozen=True):
    """Who takes a seat.

    Attributes:
        account_id: opaque; names live elsewhere, so that they can be erased.
        bot: a program plays.
        level: of a built-in bot; empty for people and for programs of others.
    """

    account_id: str
    bot: bool = False
    level: str = ""


class Vacancy(msgspec.Struct, frozen=True):
    """A seat that its person has left, while it is not decided who plays on.

    Attributes:
        reason: "resigned", "left", "away" or "timed_out".
        left_ms, decide_ms: UTC ms: when, and by when it is decided.
        votes: voter and whom it wants there (an account; empty: a bot), in the order of their first word.
    """

    seat: int
    reason: str
    left_ms: int
    decide_ms: int
    votes: tuple[tuple[str, str], ...] = ()


class Gift(msgspec.Struct, frozen=True):
    """A seat that was given to somebody; the game has not acknowledged it yet.

    Attributes:
        number: counts the gifts of the table, from 1.
    """

    seat: int
    sitter: Sitter
    reason: str
    number: int


def new_bot(level: str) -> Sitter:
    """A built-in bot, as one who takes a seat."""
    return Sitter(f"bot-{level}-{secrets.token_hex(8)}", bot=True, level=level)
