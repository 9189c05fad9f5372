"""The games of this installation in words and tables, fetched once from their services."""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

import grpc
import msgspec
import structlog

from gateway.refusals import RefusalKind, Refused, rejection, unavailable
from grimoire.v1 import manifest_pb2, rules_pb2, rules_pb2_grpc

__all__ = ["Catalogue", "Describers"]

_log = structlog.get_logger(__name__)

_FRESH_S = 60.0
_KEPT = 128
_ASK_S = 5.0
_LANGUAGE = re.compile(r"[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})?", re.ASCII)


class Describers(Protocol):
    """Finds a service that can describe a game."""

    games: tuple[str, ...]

    async def any_stub(self, game: str) -> rules_pb2_grpc.RulesServiceAsyncStub:
        """A RulesService of the game. Raises ConnectionError if none is known."""
        ...


class _Cached(msgspec.Struct):
    """A manifest, and until when it is taken as true."""

    manifest: manifest_pb2.Manifest
    until: float


class Catalogue:
    """Manifests by game and language.

    A manifest is asked for again after a minute and replaced if its digest differs; while its service is away, the
    last known one is given.

    Args:
        describers: finds the services.
        now: seconds of a clock that never goes back.
    """

    def __init__(self, describers: Describers, now: Callable[[], float] = time.monotonic) -> None:
        self._describers = describers
        self._now = now
        self._known: OrderedDict[tuple[str, str], _Cached] = OrderedDict()

    @property
    def games(self) -> tuple[str, ...]:
        """Code names."""
        return self._describers.games

    async def manifest(self, game: str, language: str) -> manifest_pb2.Manifest:
        """One game in one language; an unknown language gives English.

        Raises:
            Refused: `unknown_game`, or unavailable.
        """
        if game not in self.games:
            known = ", ".join(self.games)
            raise Refused(RefusalKind.UNKNOWN, rejection("unknown_game", f"The games here are: {known}.", field="game"))
        key = (game, language.lower() if _LANGUAGE.fullmatch(language) else "en")
        cached = self._known.get(key)
        if cached is not None and cached.until > self._now():
            return cached.manifest
        try:
            stub = await self._describers.any_stub(game)
            reply = await stub.Describe(rules_pb2.DescribeRequest(language=key[1]), timeout=_ASK_S)
        except (grpc.aio.AioRpcError, ConnectionError) as error:
            if cached is not None:
                _log.info("manifest_served_stale", game=game)
                return cached.manifest
            raise unavailable(f"The service of {game} cannot be reached now; try again.") from error
        return self._keep(key, reply.manifest)

    async def all(self, language: str) -> list[manifest_pb2.Manifest]:
        """Every game that can be described now, in the order of their code names."""
        found = await asyncio.gather(*(self.manifest(game, language) for game in self.games), return_exceptions=True)
        for failure in found:
            if isinstance(failure, BaseException) and not isinstance(failure, Refused):
                raise failure
        return [manifest for manifest in found if isinstance(manifest, manifest_pb2.Manifest)]

    def _keep(self, key: tuple[str, str], manifest: manifest_pb2.Manifest) -> manifest_pb2.Manifest:
        cached = self._known.get(key)
        # The same digest means the same content: what was handed out stays the one copy.
        same = cached is not None and manifest.digest and cached.manifest.digest == manifest.digest
        kept = cached.manifest if cached is not None and same else manifest
        self._known[key] = _Cached(kept, self._now() + _FRESH_S)
        self._known.move_to_end(key)
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return kept
