"""Finds the service that decides a match, and keeps the line to it open."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import grpc
import structlog
from google.protobuf.message import DecodeError

from grimoire.bus import Bus, BusError, Message, Subscription, owner_subject, partition_of, who_subject
from grimoire.engine.seats import MatchId
from grimoire.runtime.config import Config
from grimoire.v1 import cluster_pb2, frame_pb2, rules_pb2, rules_pb2_grpc

if TYPE_CHECKING:
    from grimoire.v1.rules_pb2_grpc import RulesServiceAsyncStub

__all__ = ["NoOwnerFoundError", "RulesDirectory"]

_log = structlog.stdlib.get_logger(__name__)

_ASK_S: Final = 2.0
_HEAD_S: Final = 5.0
_REMEMBERED_MATCHES: Final = 100_000
_NO_GAMES: Final = frozenset({"web", "gateway", "matchmaking", "replay", "bots"})


class NoOwnerFoundError(ConnectionError):
    """No instance answers for these matches at this moment; ask again soon."""


class RulesDirectory:
    """Where each game's RulesService is, for services that read matches.

    The owner of a partition is asked for once (`who.<game>.<partition>`) and kept until it does not answer, or until
    another announces itself (`own.<game>.<partition>`). Channels are shared by all who use this directory.

    Args:
        bus: this service's connection; its role may ask `who` and hear `own`.
        config: names the games and their addresses.
        dial: opens a channel to an address, with whatever the called service wants to see of its caller.

    Example:
        >>> async def head_of(directory: RulesDirectory, match_id: MatchId) -> int:
        ...     game = await directory.game_of(match_id)
        ...     if game is None:
        ...         return 0
        ...     stub = await directory.stub(game, match_id)
        ...     reply = await stub.GetHead(rules_pb2.GetHeadRequest(match_id=match_id))
        ...     return reply.head.version
    """

    def __init__(self, bus: Bus, config: Config, dial: Callable[[str], grpc.aio.Channel]) -> None:
        self._bus = bus
        self._config = config
        self._dial = dial
        self._owners: dict[tuple[str, int], cluster_pb2.Owner] = {}
        self._asking: dict[tuple[str, int], asyncio.Task[cluster_pb2.Owner]] = {}
        self._channels: dict[str, grpc.aio.Channel] = {}
        self._games: OrderedDict[MatchId, str] = OrderedDict()
        self._subscriptions: list[Subscription] = []
        self._on_moved: list[Callable[[str, int], None]] = []
        self.games: tuple[str, ...] = tuple(sorted(set(config.addresses) - _NO_GAMES))
        """The games of this installation."""

    async def start(self) -> None:
        """Begins to listen for new owners."""
        for game in self.games:
            self._subscriptions.append(await self._bus.serve(owner_subject(game), self._hear))
        self._bus.on_reconnect(self._forget_all)

    async def close(self) -> None:
        """Listens no more and closes the channels."""
        for subscription in self._subscriptions:
            await subscription.stop()
        for asking in self._asking.values():
            asking.cancel()
        for channel in self._channels.values():
            await channel.close()
        self._channels.clear()

    def on_moved(self, callback: Callable[[str, int], None]) -> None:
        """Calls back with game and partition whenever another instance has become its owner."""
        self._on_moved.append(callback)

    async def stub(self, game: str, match_id: MatchId) -> RulesServiceAsyncStub:
        """The RulesService of the instance that owns a match.

        Raises:
            NoOwnerFoundError: if none answers.
        """
        owner = await self._owner(game, partition_of(match_id))
        return self._stub_at(owner.address)

    async def any_stub(self, game: str) -> RulesServiceAsyncStub:
        """A RulesService of this game, for what needs no match of its own (Describe, CheckOptions, Project).

        One that serves matches is asked rather than the address in the configuration: of several instances, that one
        may be gone.

        Raises:
            NoOwnerFoundError: if none is known.
        """
        try:
            owner = await self._owner(game, self._known_partition(game))
        except NoOwnerFoundError:
            address = self._config.addresses.get(game)
            if address is None or not address.port:
                raise
            return self._stub_at(str(address))
        return self._stub_at(owner.address)

    def forget(self, game: str, match_id: MatchId) -> None:
        """The owner did not answer, or said that it is none: the next call asks anew."""
        self._owners.pop((game, partition_of(match_id)), None)

    def learn(self, match_id: MatchId, game: str) -> None:
        """Remembers which game a match is of."""
        self._games[match_id] = game
        self._games.move_to_end(match_id)
        if len(self._games) > _REMEMBERED_MATCHES:
            self._games.popitem(last=False)

    async def game_of(self, match_id: MatchId) -> str | None:
        """Which game a match is of; None if no game knows it.

        Raises:
            NoOwnerFoundError: if it is not known, but a game did not answer.
        """
        known = self._games.get(match_id)
        if known is None:
            head = await self.find(match_id)
            return head.game if head is not None else None
        self._games.move_to_end(match_id)
        return known

    async def find(self, match_id: MatchId) -> frame_pb2.MatchHead | None:
        """A match's head, whatever its game; None if no game knows it.

        Raises:
            NoOwnerFoundError: if the game that knows it, or one that might, did not answer.
        """
        known = self._games.get(match_id)
        games = (known,) if known is not None else self.games
        answers = await asyncio.gather(*(self._head(game, match_id) for game in games), return_exceptions=True)
        for game, answer in zip(games, answers, strict=True):
            if isinstance(answer, frame_pb2.MatchHead):
                self.learn(match_id, game)
                return answer
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return None

    async def _head(self, game: str, match_id: MatchId) -> frame_pb2.MatchHead | None:
        stub = await self.stub(game, match_id)
        try:
            reply = await stub.GetHead(rules_pb2.GetHeadRequest(match_id=match_id), timeout=_HEAD_S)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.NOT_FOUND:
                return None
            self.forget(game, match_id)
            raise NoOwnerFoundError(f"the owner of a match of {game} does not answer: {error.code().name}") from None
        return reply.head if reply.head.match_id else None

    async def _owner(self, game: str, partition: int) -> cluster_pb2.Owner:
        key = (game, partition)
        owner = self._owners.get(key)
        if owner is not None:
            return owner
        asking = self._asking.get(key)
        if asking is None:
            asking = self._asking[key] = asyncio.create_task(self._ask(key))
            asking.add_done_callback(lambda _: self._asking.pop(key, None))
        # One caller that gives up must not take the answer from the others.
        return await asyncio.shield(asking)

    async def _ask(self, key: tuple[str, int]) -> cluster_pb2.Owner:
        try:
            reply = await self._bus.request(who_subject(*key), b"", reply_s=_ASK_S)
            owner = cluster_pb2.Owner.FromString(reply)
        except (BusError, DecodeError) as error:
            raise NoOwnerFoundError(f"nobody answers for partition {key[1]} of {key[0]}") from error
        if not owner.address:
            raise NoOwnerFoundError(f"the owner of partition {key[1]} of {key[0]} names no address")
        return self._note(key, owner)

    def _hear(self, message: Message) -> None:
        _, game, partition = message.subject.split(".")
        key = (game, int(partition))
        try:
            owner = cluster_pb2.Owner.FromString(message.data)
        except DecodeError:
            _log.warning("owner_announcement_malformed", game=game, partition=partition)
            return
        before = self._owners.get(key)
        if self._note(key, owner) is owner and (before is None or before.epoch != owner.epoch):
            for callback in self._on_moved:
                callback(*key)

    def _note(self, key: tuple[str, int], owner: cluster_pb2.Owner) -> cluster_pb2.Owner:
        """Keeps the owner with the greater epoch: an old one may answer late."""
        known = self._owners.get(key)
        if known is not None and known.epoch > owner.epoch:
            return known
        self._owners[key] = owner
        return owner

    async def _forget_all(self) -> None:
        # Announcements made while the broker was away have been missed.
        self._owners.clear()

    def _known_partition(self, game: str) -> int:
        return next((partition for known, partition in self._owners if known == game), 0)

    def _stub_at(self, address: str) -> RulesServiceAsyncStub:
        channel = self._channels.get(address)
        if channel is None:
            channel = self._channels[address] = self._dial(address)
        return rules_pb2_grpc.RulesServiceStub(channel)
