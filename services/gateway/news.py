"""What instances of the edge tell each other: a session ended, something was said, somebody came.

It is a courtesy: whoever misses it finds out by itself a little later.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

import msgspec
import structlog

from grimoire.bus import Bus, BusError, Message, Subscription
from grimoire.bus.subjects import edge_subject

__all__ = ["News", "NewsDesk", "NoNews"]

_log: Final = structlog.stdlib.get_logger(__name__)

_Fact = TypeVar("_Fact", bound=msgspec.Struct)


class _Letter(msgspec.Struct, frozen=True):
    sender: str
    fact: msgspec.Raw


class News(Protocol):
    """A way to the other instances."""

    async def tell(self, kind: str, fact: msgspec.Struct) -> None:
        """Tells all others."""
        ...

    def hear(self, kind: str, fact: type[_Fact], heard: Callable[[_Fact], None]) -> None:
        """Calls back with what another tells."""
        ...


class NoNews:
    """There are no others."""

    async def tell(self, kind: str, fact: msgspec.Struct) -> None:
        """Tells nobody."""

    def hear(self, kind: str, fact: type[_Fact], heard: Callable[[_Fact], None]) -> None:
        """Nothing will be heard."""


class NewsDesk:
    """News over the broker, on `edge.<kind>`.

    Args:
        bus: connected in the gateway's role.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._instance = secrets.token_hex(8)
        self._listeners: dict[str, list[Callable[[msgspec.Raw], None]]] = {}
        self._subscription: Subscription | None = None

    async def start(self) -> None:
        """Begins to listen.

        Raises:
            BusError: if the broker does not let it.
        """
        self._subscription = await self._bus.serve(edge_subject(), self._heard)

    async def close(self) -> None:
        """Listens no more."""
        if self._subscription is not None:
            await self._subscription.stop()

    async def tell(self, kind: str, fact: msgspec.Struct) -> None:
        """Tells all others; without a broker nobody hears it."""
        letter = _Letter(self._instance, msgspec.Raw(msgspec.json.encode(fact)))
        try:
            await self._bus.publish(edge_subject(kind), msgspec.json.encode(letter))
        except BusError as error:
            _log.warning("edge_news_not_told", kind=kind, why=type(error).__name__)

    def hear(self, kind: str, fact: type[_Fact], heard: Callable[[_Fact], None]) -> None:
        """Calls back with what another tells."""

        def read(raw: msgspec.Raw) -> None:
            heard(msgspec.json.decode(raw, type=fact))

        self._listeners.setdefault(kind, []).append(read)

    def _heard(self, message: Message) -> None:
        letter = msgspec.json.decode(message.data, type=_Letter)
        if letter.sender == self._instance:
            return
        for read in self._listeners.get(message.subject.rpartition(".")[2], ()):
            read(letter.fact)
