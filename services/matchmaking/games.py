"""What matchmaking asks a game: whether options are right, what they are called, and how a match stands."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Final

import grpc
import msgspec
import structlog

from grimoire.engine import Illegal, MatchId
from grimoire.eventstore import Unavailable
from grimoire.runtime.directory import NoOwnerFoundError, RulesDirectory
from grimoire.v1 import frame_pb2, manifest_pb2, match_pb2, rules_pb2
from matchmaking.texts import DEFAULT_LANGUAGE, illegal

__all__ = ["Checked", "Games"]

_log: Final = structlog.stdlib.get_logger(__name__)

_ASK_S: Final = 5.0
_FRESH_S: Final = 300.0
_LANGUAGE: Final = re.compile(r"[a-z]{2,3}")


class Checked(msgspec.Struct, frozen=True):
    """Options that the game accepts.

    Attributes:
        options: all of them with their final values, in the game's order.
        min_seats, max_seats: how many the game is for.
        leaving: number of `grimoire.engine.Leaving`, for this number of seats.
        difficulty: names of the options that make a co-operative match harder or easier.
    """

    options: tuple[tuple[str, str], ...]
    min_seats: int
    max_seats: int
    leaving: int = 0
    difficulty: tuple[str, ...] = ()


class Games:
    """Asks the games' own services.

    Args:
        directory: finds them.
    """

    def __init__(self, directory: RulesDirectory) -> None:
        self._directory = directory
        self._manifests: dict[tuple[str, str], tuple[float, manifest_pb2.Manifest]] = {}
        # By game: what its presets come to, for one manifest.
        self._presets: dict[str, tuple[bytes, dict[str, Checked]]] = {}

    @property
    def known(self) -> Sequence[str]:
        """Code names."""
        return self._directory.games

    async def check(self, game: str, options: Mapping[str, str], seats: int = 0) -> Checked | Illegal:
        """Lets the game judge options for so many seats (0: as few as it allows); what is missing gets its default.

        Raises:
            Unavailable: the game does not answer.
        """
        if game not in self.known:
            return illegal("unknown_game", field="game", game=game[:64])
        request = rules_pb2.CheckOptionsRequest(
            options=[match_pb2.OptionValue(name=name, value=value) for name, value in options.items()], seats=seats
        )
        try:
            stub = await self._directory.any_stub(game)
            reply = await stub.CheckOptions(request, timeout=_ASK_S)
        except (grpc.aio.AioRpcError, NoOwnerFoundError) as error:
            raise Unavailable(f"{game} does not answer") from error
        if reply.HasField("rejection"):
            refusal = reply.rejection
            arguments = tuple((argument.name, argument.value) for argument in refusal.arguments)
            return Illegal(refusal.code, refusal.rule, refusal.message, arguments, refusal.field)
        return Checked(
            tuple((o.name, o.value) for o in reply.options),
            reply.min_seats,
            reply.max_seats,
            reply.leaving,
            tuple(reply.difficulty),
        )

    async def manifest(self, game: str, language: str) -> manifest_pb2.Manifest:
        """The game in words, in this language or else in English; kept for some minutes, and while the game is away.

        Raises:
            Unavailable: the game does not answer and never did.
        """
        english = await self._described(game, DEFAULT_LANGUAGE)
        # Only languages that the game has are asked for and kept.
        if language == DEFAULT_LANGUAGE or language not in english.languages or not _LANGUAGE.fullmatch(language):
            return english
        return await self._described(game, language)

    async def presets(self, game: str) -> Mapping[str, Checked]:
        """Options of the game's presets for quick play, by preset; one that the game itself refuses is missing.

        Raises:
            Unavailable: the game does not answer.
        """
        manifest = await self.manifest(game, DEFAULT_LANGUAGE)
        digest, known = self._presets.get(game, (b"", {}))
        if digest != manifest.digest or not known:
            judged = {
                preset.preset: await self.check(game, {option.name: option.value for option in preset.options})
                for preset in manifest.presets
            }
            known = {name: checked for name, checked in judged.items() if isinstance(checked, Checked)}
            self._presets[game] = (manifest.digest, known)
        return known

    async def _described(self, game: str, language: str) -> manifest_pb2.Manifest:
        fresh_until, known = self._manifests.get((game, language), (0.0, None))
        now = time.monotonic()
        if known is not None and now < fresh_until:
            return known
        try:
            stub = await self._directory.any_stub(game)
            reply = await stub.Describe(rules_pb2.DescribeRequest(language=language), timeout=_ASK_S)
        except (grpc.aio.AioRpcError, NoOwnerFoundError) as error:
            if known is None:
                raise Unavailable(f"{game} does not answer") from error
            _log.warning("manifest_is_old", game=game, language=language)
            return known
        self._manifests[game, language] = (now + _FRESH_S, reply.manifest)
        return reply.manifest

    async def head(self, game: str, match_id: str) -> frame_pb2.MatchHead | None:
        """How a match stands; None if the game does not know it.

        Raises:
            Unavailable: its owner does not answer.
        """
        try:
            stub = await self._directory.stub(game, MatchId(match_id))
            reply = await stub.GetHead(rules_pb2.GetHeadRequest(match_id=match_id), timeout=_ASK_S)
        except NoOwnerFoundError as error:
            raise Unavailable(f"{game} does not answer") from error
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.NOT_FOUND:
                return None
            self._directory.forget(game, MatchId(match_id))
            raise Unavailable(f"{game} does not answer") from error
        return reply.head if reply.head.match_id else None
