"""A command that the rules refuse: a value, not an exception."""

from __future__ import annotations

import msgspec


class Illegal(msgspec.Struct, frozen=True):
    """Why a command is refused. Nothing happened, no event is left.

    Attributes:
        code: stable code of the game's list, e.g. `cannot_afford`.
        rule: the numbered rule it breaks, e.g. `TT-4.3`.
        message: a sentence a person understands, in English; clients word it anew from `code` and `arguments`.
        arguments: named values for a client's own wording.
        field: the option or field at fault, where there is one.
    """

    code: str
    rule: str
    message: str
    arguments: tuple[tuple[str, str], ...] = ()
    field: str = ""
