"""Where an analysis begins: a position the game has judged, from a match that is over or as somebody arranged it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any, Final

import grpc
import grpc.aio
import msgspec

from grimoire.engine import Illegal, MatchId
from grimoire.eventstore import Unavailable
from grimoire.fairness.export import ExportError, read_export
from grimoire.match.headline import headline
from grimoire.runtime.directory import NoOwnerFoundError, RulesDirectory
from grimoire.runtime.identity import Identity
from grimoire.runtime.rpc import account_metadata
from grimoire.v1 import envelope_pb2, frame_pb2, match_pb2, replay_pb2, replay_pb2_grpc, rules_pb2
from matchmaking.texts import illegal

__all__ = ["Arranged", "Branches"]

_ASK_S: Final = 30.0
_ID: Final = re.compile(r"[0-9a-z]{26}")
_IMPORTED: Final = "import-"
_LONGEST_ID: Final = 64


class Arranged(msgspec.Struct, frozen=True):
    """A position to play from.

    Attributes:
        game: code name.
        position: the game's serialised `PositionArranged`.
        options: all of them with their final values.
        seats: how many it is for.
        occupants: of a branch: pseudonym by seat in that match; otherwise none.
        match_id: of a branch: that match, as its log names it.
    """

    game: str
    position: bytes
    options: tuple[tuple[str, str], ...]
    seats: int
    occupants: tuple[str, ...] = ()
    match_id: str = ""

    def __repr__(self) -> str:
        return f"Arranged(game={self.game!r})"


class Branches:
    """Asks games, and replay for the matches that people have brought along.

    Args:
        directory: finds games and matches.
        dial_replay: opens the line to replay when it is first needed.
    """

    def __init__(self, directory: RulesDirectory, dial_replay: Callable[[], grpc.aio.Channel]) -> None:
        self._directory = directory
        self._dial_replay = dial_replay
        self._replay: grpc.aio.Channel | None = None

    async def close(self) -> None:
        """Hangs up."""
        if self._replay is not None:
            await self._replay.close()

    async def arrange(
        self, game: str, position: str | bytes, options: Iterable[tuple[str, str]], seats: int
    ) -> Arranged | Illegal:
        """A position as somebody wrote it (JSON), or as the game has it (bytes), if it can be played.

        Raises:
            Unavailable: the game does not answer.
        """
        if game not in self._directory.games:
            return illegal("unknown_game", field="game", game=game[:64])
        request = rules_pb2.ArrangeRequest(
            options=[match_pb2.OptionValue(name=name, value=value) for name, value in options], seats=seats
        )
        if isinstance(position, str):
            request.json = position
        else:
            request.message = position
        try:
            stub = await self._directory.any_stub(game)
            reply = await stub.Arrange(request, timeout=_ASK_S)
        except (grpc.aio.AioRpcError, NoOwnerFoundError) as error:
            raise Unavailable(f"{game} does not answer") from error
        if reply.HasField("rejection"):
            return _refusal(reply.rejection)
        return Arranged(game, reply.position, tuple((o.name, o.value) for o in reply.options), seats)

    async def branch(self, caller: Identity, match_id: str, version: int) -> Arranged | Illegal:
        """The position of a match that is over at one version.

        Raises:
            Unavailable: the match's owner, or replay, does not answer.
        """
        if match_id.startswith(_IMPORTED) and len(match_id) <= _LONGEST_ID:
            return await self._imported(caller, match_id, version)
        if not _ID.fullmatch(match_id):
            return illegal("unknown_match", field="match_id")
        try:
            head = await self._directory.find(MatchId(match_id))
            if head is None:
                return illegal("unknown_match", field="match_id")
            if not head.revealed:
                return illegal("match_not_revealed", field="match_id")
            stub = await self._directory.stub(head.game, MatchId(match_id))
            start = rules_pb2.BranchPositionRequest(start=rules_pb2.BranchStart(match_id=match_id, version=version))
            reply = await stub.BranchPosition(iter([start]), timeout=_ASK_S)
        except NoOwnerFoundError as error:
            raise Unavailable("the game of a match does not answer") from error
        except grpc.aio.AioRpcError as error:
            self._directory.forget(head.game if head else "", MatchId(match_id))
            raise Unavailable("the game of a match does not answer") from error
        return _arranged(head.game, match_id, reply)

    async def _imported(self, caller: Identity, match_id: str, version: int) -> Arranged | Illegal:
        file = await self._file(caller, match_id)
        if file is None:
            return illegal("unknown_match", field="match_id")
        try:
            export = await asyncio.to_thread(read_export, (file,))
        except ExportError as error:
            raise Unavailable("replay keeps a file that cannot be read") from error
        if not headline(export.match_id, export.entries).revealed:
            return illegal("match_not_revealed", field="match_id")
        try:
            stub = await self._directory.any_stub(export.game)
            reply = await stub.BranchPosition(_requests(version, export.entries), timeout=_ASK_S)
        except (grpc.aio.AioRpcError, NoOwnerFoundError) as error:
            raise Unavailable(f"{export.game} does not answer") from error
        return _arranged(export.game, export.match_id, reply)

    async def _file(self, caller: Identity, match_id: str) -> bytes | None:
        """What somebody brought along under this id."""
        if self._replay is None:
            self._replay = self._dial_replay()
        stub = replay_pb2_grpc.ReplayServiceStub(self._replay)
        call: Any = stub.Export(
            replay_pb2.ExportRequest(match_id=match_id), metadata=account_metadata(caller), timeout=_ASK_S
        )
        try:
            return b"".join([reply.chunk async for reply in call])
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.NOT_FOUND:
                return None
            raise Unavailable("replay does not answer") from error


async def _requests(
    version: int, entries: Sequence[frame_pb2.ViewerEntry]
) -> AsyncIterator[rules_pb2.BranchPositionRequest]:
    yield rules_pb2.BranchPositionRequest(start=rules_pb2.BranchStart(version=version))
    for entry in entries:
        yield rules_pb2.BranchPositionRequest(entry=entry)


def _arranged(game: str, match_id: str, reply: rules_pb2.BranchPositionResponse) -> Arranged | Illegal:
    if reply.HasField("rejection"):
        return _refusal(reply.rejection)
    options = tuple((option.name, option.value) for option in reply.options)
    occupants = tuple(seat.occupant_id for seat in reply.seats)
    return Arranged(game, reply.position, options, len(occupants), occupants, match_id)


def _refusal(rejection: envelope_pb2.Rejection) -> Illegal:
    arguments = tuple((argument.name, argument.value) for argument in rejection.arguments)
    return Illegal(rejection.code, rejection.rule, rejection.message, arguments, rejection.field)
