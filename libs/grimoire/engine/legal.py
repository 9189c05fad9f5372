"""What a seat may answer to a prompt: commands, or families of commands with open slots."""

from __future__ import annotations

import msgspec

from grimoire.v1 import prompt_pb2

Fixed = str | int | bool
"""A fixed field's value, as the command message takes it."""


class Legal(msgspec.Struct, frozen=True):
    """A command that `decide` would accept, or a family of them.

    Attributes:
        type: code of the command, e.g. `play_card`.
        fixed: field name and value pairs of the command message.
        slots: open fields in the order they are asked (nine kinds, `prompt.proto`); none: complete.
        flags: the game's marks for clients, e.g. `act_again`.
        label: text template key; its arguments are the fixed fields and what `about` adds.
        about: further arguments of the label, which are no fields of the command: where a piece stands, say.
    """

    type: str
    fixed: tuple[tuple[str, Fixed], ...] = ()
    slots: tuple[prompt_pb2.Slot, ...] = ()
    flags: tuple[str, ...] = ()
    label: str = ""
    about: tuple[tuple[str, str], ...] = ()
