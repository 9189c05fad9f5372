"""Commands that answer no prompt and may be given at any time: a game's settings, each value one thing to choose."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from google.protobuf.descriptor import FieldDescriptor

from grimoire.cli.screens.composer import Offer
from grimoire.cli.screens.wording import Wording
from grimoire.v1 import prompt_pb2

__all__ = ["standing_offers"]


@functools.lru_cache(8)
def standing_offers(wording: Wording) -> tuple[Offer, ...]:
    """Everything that may be set, in the order of the game's words; none where a game has no such command.

    A standing command that is offered has one field, a text, and each of its values has a label: `<command>_<value>`.
    """
    return tuple(_offers(wording))


def _offers(wording: Wording) -> Iterator[Offer]:
    game = wording.plugin.game
    for code in sorted(game.standing):
        message = game.schema.commands.get(code)
        fields = message.DESCRIPTOR.fields if message is not None else ()
        if message is None or len(fields) != 1 or fields[0].type != FieldDescriptor.TYPE_STRING:
            continue
        for key in wording.labels(f"{code}_"):
            payload = message(**{fields[0].name: key.removeprefix(f"{code}_")}).SerializeToString()
            yield Offer(0, False, prompt_pb2.LegalEntry(type=code, payload=payload, label=prompt_pb2.Label(key=key)))
