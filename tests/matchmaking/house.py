"""A whole lobby for tests: real broker, real store, real game service (the toy), matchmaking over gRPC."""

from __future__ import annotations

import asyncio
import functools
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import grpc

from grimoire.bus import GATEWAY, PARTITIONS, Bus, EmbeddedServer, Message, game_role, partition_commands
from grimoire.bus.roles import platform_roles
from grimoire.engine import MatchId
from grimoire.fairness.commitments import nonce_seal
from grimoire.plugins import game_names
from grimoire.runtime.config import Config
from grimoire.runtime.game_service import GameService
from grimoire.runtime.identity import Identity, occupant_id
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.rpc import account_metadata, open_channel
from grimoire.v1 import (
    envelope_pb2,
    match_pb2,
    matchmaking_pb2,
    matchmaking_pb2_grpc,
    quickplay_pb2,
    rating_pb2,
)
from matchmaking.limits import Limits
from matchmaking.service import serve
from tests.support.transparency import kept_log, once_logged

T = TypeVar("T")
GAME = "toy"
OTHER_GAME = "two_towers"

ADA = Identity("acc-ada", "Ada")
BO = Identity("acc-bo", "Bö Äijö")
EVE = Identity("acc-eve", "Eve")


class Running:
    """A service in this process; `address` is where its gRPC listens."""

    def __init__(self, service: Callable[..., Awaitable[None]], config: Config) -> None:
        self._service = service
        self._config = config
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.address = ""

    async def start(self) -> None:
        listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(
            _as_task(self._service(self._config, stop=self._stop, started=listening.set_result))
        )
        done, _ = await asyncio.wait({self._task, listening}, return_when=asyncio.FIRST_COMPLETED)
        if self._task in done:
            self._task.result()
        self.address = listening.result()

    async def stop(self) -> None:
        """Ends it gracefully."""
        self._stop.set()
        if self._task is not None:
            await self._task
            self._task = None

    async def crash(self) -> None:
        """Breaks it off wherever it is."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None


async def _as_task(work: Awaitable[None]) -> None:
    await work


class Client:
    """What the gateway does for one account; None: a service that speaks for itself."""

    def __init__(self, channel: grpc.aio.Channel, who: Identity | None) -> None:
        self._stub = matchmaking_pb2_grpc.MatchmakingServiceStub(channel)
        self.who = who
        self.metadata = account_metadata(who) if who else ()

    async def create(self, **fields: Any) -> matchmaking_pb2.CreateChallengeResponse:
        fields.setdefault("game", GAME)
        return await self._stub.CreateChallenge(
            matchmaking_pb2.CreateChallengeRequest(**with_options(fields)), metadata=self.metadata
        )

    async def opened(self, **fields: Any) -> matchmaking_pb2.Challenge:
        """A new challenge that must be accepted."""
        reply = await self.create(**fields)
        assert not reply.HasField("rejection"), reply.rejection
        return reply.challenge

    async def play_bot(self, **fields: Any) -> matchmaking_pb2.PlayBotResponse:
        fields.setdefault("game", GAME)
        return await self._stub.PlayBot(matchmaking_pb2.PlayBotRequest(**with_options(fields)), metadata=self.metadata)

    async def join(
        self, challenge_id: str, language: str = "", seats: Sequence[int] = ()
    ) -> matchmaking_pb2.JoinChallengeResponse:
        request = matchmaking_pb2.JoinChallengeRequest(challenge_id=challenge_id, language=language, seats=seats)
        return await self._stub.JoinChallenge(request, metadata=self.metadata)

    async def cancel(self, challenge_id: str) -> matchmaking_pb2.CancelChallengeResponse:
        request = matchmaking_pb2.CancelChallengeRequest(challenge_id=challenge_id)
        return await self._stub.CancelChallenge(request, metadata=self.metadata)

    async def get_up(self, challenge_id: str) -> matchmaking_pb2.LeaveChallengeResponse:
        request = matchmaking_pb2.LeaveChallengeRequest(challenge_id=challenge_id)
        return await self._stub.LeaveChallenge(request, metadata=self.metadata)

    async def fill(self, challenge_id: str, level: str = "random") -> matchmaking_pb2.FillChallengeResponse:
        request = matchmaking_pb2.FillChallengeRequest(challenge_id=challenge_id, level=level)
        return await self._stub.FillChallenge(request, metadata=self.metadata)

    async def table(self, match_id: str) -> matchmaking_pb2.Table:
        """Who sits where; it must be a known match."""
        request = matchmaking_pb2.GetTableRequest(match_id=match_id)
        reply = await self._stub.GetTable(request, metadata=self.metadata)
        assert not reply.HasField("rejection"), reply.rejection
        return reply.table

    async def watch_table(self, match_id: str) -> AsyncIterator[matchmaking_pb2.Table]:
        call = self._stub.WatchTable(matchmaking_pb2.WatchTableRequest(match_id=match_id), metadata=self.metadata)
        try:
            async for reply in call:
                yield reply.table
        finally:
            call.cancel()

    async def table_that(
        self, match_id: str, condition: Callable[[matchmaking_pb2.Table], object]
    ) -> matchmaking_pb2.Table:
        """The table as soon as its stream shows that this holds."""
        async with asyncio.timeout(30), aclosing(self.watch_table(match_id)) as changes:
            async for table in changes:
                if condition(table):
                    return table
        raise AssertionError("the stream ended before")

    async def vote(self, match_id: str, seat: int, fellow: int | None = None) -> matchmaking_pb2.VoteOnSeatResponse:
        request = matchmaking_pb2.VoteOnSeatRequest(match_id=match_id, seat=seat, fellow=fellow)
        return await self._stub.VoteOnSeat(request, metadata=self.metadata)

    async def come_back(self, match_id: str) -> matchmaking_pb2.ReturnToSeatResponse:
        request = matchmaking_pb2.ReturnToSeatRequest(match_id=match_id)
        return await self._stub.ReturnToSeat(request, metadata=self.metadata)

    async def get(self, challenge_id: str, language: str = "") -> matchmaking_pb2.GetChallengeResponse:
        request = matchmaking_pb2.GetChallengeRequest(challenge_id=challenge_id, language=language)
        return await self._stub.GetChallenge(request, metadata=self.metadata)

    async def challenges(self, **fields: Any) -> list[matchmaking_pb2.Challenge]:
        request = matchmaking_pb2.ListChallengesRequest(**fields)
        return list((await self._stub.ListChallenges(request, metadata=self.metadata)).challenges)

    async def watch(self, challenge_id: str) -> AsyncIterator[matchmaking_pb2.Challenge]:
        request = matchmaking_pb2.WatchChallengeRequest(challenge_id=challenge_id)
        call = self._stub.WatchChallenge(request, metadata=self.metadata)
        try:
            async for reply in call:
                yield reply.challenge
        finally:
            call.cancel()

    async def settled(self, challenge_id: str) -> matchmaking_pb2.Challenge:
        """The challenge once its stream has ended."""
        seen = [challenge async for challenge in self.watch(challenge_id)]
        return seen[-1]

    async def rematch(self, match_id: str) -> matchmaking_pb2.RematchResponse:
        return await self._stub.Rematch(matchmaking_pb2.RematchRequest(match_id=match_id), metadata=self.metadata)

    async def matches(self, **fields: Any) -> list[matchmaking_pb2.MatchSummary]:
        request = matchmaking_pb2.ListMatchesRequest(**fields)
        return list((await self._stub.ListMatches(request, metadata=self.metadata)).matches)

    async def enter(self, **fields: Any) -> quickplay_pb2.EnterQueueResponse:
        fields.setdefault("game", GAME)
        request = quickplay_pb2.EnterQueueRequest(**with_options(fields))
        return await self._stub.EnterQueue(request, metadata=self.metadata)

    async def entered(self, **fields: Any) -> quickplay_pb2.Ticket:
        """A ticket that must be accepted."""
        reply = await self.enter(**fields)
        assert not reply.HasField("rejection"), reply.rejection
        return reply.ticket

    async def ticket(self, ticket_id: str = "", language: str = "") -> quickplay_pb2.GetTicketResponse:
        request = quickplay_pb2.GetTicketRequest(ticket_id=ticket_id, language=language)
        return await self._stub.GetTicket(request, metadata=self.metadata)

    async def watch_ticket(self, ticket_id: str) -> AsyncIterator[quickplay_pb2.Ticket]:
        request = quickplay_pb2.WatchTicketRequest(ticket_id=ticket_id)
        call = self._stub.WatchTicket(request, metadata=self.metadata)
        try:
            async for reply in call:
                yield reply.ticket
        finally:
            call.cancel()

    async def ticket_that(
        self, ticket_id: str, condition: Callable[[quickplay_pb2.Ticket], object]
    ) -> quickplay_pb2.Ticket:
        """The ticket as soon as its stream shows that this holds."""
        async with asyncio.timeout(30):
            async with aclosing(self.watch_ticket(ticket_id)) as changes:
                async for ticket in changes:
                    if condition(ticket):
                        return ticket
        raise AssertionError("the stream ended before")

    async def asked(self, ticket_id: str) -> quickplay_pb2.ReadyCheck:
        """The ready check of a ticket, as soon as there is one."""
        return (await self.ticket_that(ticket_id, lambda ticket: ticket.HasField("ready_check"))).ready_check

    async def leave(self, ticket_id: str) -> quickplay_pb2.LeaveQueueResponse:
        return await self._stub.LeaveQueue(quickplay_pb2.LeaveQueueRequest(ticket_id=ticket_id), metadata=self.metadata)

    async def answer(self, check_id: str, *, ready: bool = True) -> quickplay_pb2.AnswerReadyCheckResponse:
        request = quickplay_pb2.AnswerReadyCheckRequest(check_id=check_id, ready=ready)
        return await self._stub.AnswerReadyCheck(request, metadata=self.metadata)

    async def queues(self, **fields: Any) -> quickplay_pb2.ListQueuesResponse:
        return await self._stub.ListQueues(quickplay_pb2.ListQueuesRequest(**fields), metadata=self.metadata)

    async def make_party(self, **fields: Any) -> quickplay_pb2.CreatePartyResponse:
        fields.setdefault("game", GAME)
        return await self._stub.CreateParty(quickplay_pb2.CreatePartyRequest(**fields), metadata=self.metadata)

    async def join_party(self, party_id: str) -> quickplay_pb2.JoinPartyResponse:
        return await self._stub.JoinParty(quickplay_pb2.JoinPartyRequest(party_id=party_id), metadata=self.metadata)

    async def leave_party(self, party_id: str) -> quickplay_pb2.LeavePartyResponse:
        return await self._stub.LeaveParty(quickplay_pb2.LeavePartyRequest(party_id=party_id), metadata=self.metadata)

    async def watch_party(self, party_id: str) -> AsyncIterator[quickplay_pb2.Party]:
        call = self._stub.WatchParty(quickplay_pb2.WatchPartyRequest(party_id=party_id), metadata=self.metadata)
        try:
            async for reply in call:
                yield reply.party
        finally:
            call.cancel()

    async def ratings(self) -> dict[str, rating_pb2.Rating]:
        reply = await self._stub.GetRatings(rating_pb2.GetRatingsRequest(), metadata=self.metadata)
        return {row.game: row.rating for row in reply.ratings}

    async def rating_changes(self, game: str = GAME, limit: int = 0) -> list[rating_pb2.RatingChange]:
        request = rating_pb2.ListRatingChangesRequest(game=game, limit=limit)
        return list((await self._stub.ListRatingChanges(request, metadata=self.metadata)).changes)

    async def leaderboard(self, game: str = GAME, limit: int = 0) -> list[rating_pb2.LeaderboardRow]:
        request = rating_pb2.GetLeaderboardRequest(game=game, limit=limit)
        return list((await self._stub.GetLeaderboard(request, metadata=self.metadata)).rows)

    async def analyse(self, **fields: Any) -> matchmaking_pb2.CreateAnalysisResponse:
        request = matchmaking_pb2.CreateAnalysisRequest(**with_options(fields))
        return await self._stub.CreateAnalysis(request, metadata=self.metadata)

    async def bot_seats(self) -> list[matchmaking_pb2.BotSeat]:
        request = matchmaking_pb2.ListBotSeatsRequest()
        return list((await self._stub.ListBotSeats(request, metadata=self.metadata)).seats)

    async def hold(
        self,
        instance: str,
        most: int,
        invited: Sequence[matchmaking_pb2.BotSeat] = (),
        games: Sequence[str] = (),
    ) -> matchmaking_pb2.ListBotSeatsResponse:
        """What an instance of bots asks."""
        request = matchmaking_pb2.ListBotSeatsRequest(instance=instance, most=most, invited=invited, games=games)
        return await self._stub.ListBotSeats(request, metadata=self.metadata)

    async def forget(self, account_id: str) -> None:
        request = matchmaking_pb2.ForgetAccountRequest(account_id=account_id)
        await self._stub.ForgetAccount(request, metadata=self.metadata)


def with_options(fields: dict[str, Any]) -> dict[str, Any]:
    options = fields.pop("options", {})
    return fields | {"options": [match_pb2.OptionValue(name=name, value=value) for name, value in options.items()]}


class House:
    """Everything that runs for one test."""

    def __init__(self, config: Config, keys: KeyRing, broker: EmbeddedServer) -> None:
        self.config = config
        self.keys = keys
        self.broker = broker
        self.game = Running(GameService(GAME), config)
        self.other_game = Running(GameService(OTHER_GAME), config)
        self.lobbies: list[Running] = []
        self._channels: dict[str, grpc.aio.Channel] = {}
        self._edge: Bus | None = None
        self._stand_in: Bus | None = None

    async def open_lobby(self, **limits: Any) -> Running:
        """Starts an instance of matchmaking."""
        lobby = Running(functools.partial(serve, limits=Limits(**limits)), self.config)
        await lobby.start()
        self.lobbies.append(lobby)
        return lobby

    def client(self, who: Identity | None, lobby: Running | None = None) -> Client:
        """Somebody who asks the newest instance, or this one."""
        address = (lobby or self.lobbies[-1]).address
        if address not in self._channels:
            self._channels[address] = open_channel(address, token=self.keys.service_token)
        return Client(self._channels[address], who)

    def client_on(self, channel: grpc.aio.Channel, who: Identity) -> Client:
        """Somebody who asks over this channel, which is closed with the house."""
        self._channels[str(id(channel))] = channel
        return Client(channel, who)

    async def edge(self) -> Bus:
        """A gateway's connection to the broker."""
        if self._edge is None:
            self._edge = await Bus.connect(self.config.bus_settings(self.keys, GATEWAY))
        return self._edge

    async def send(
        self,
        match_id: str,
        type_: str,
        payload: bytes,
        who: str = "",
        seat: int | None = None,
        prompt_id: int | None = None,
        game: str = GAME,
    ) -> envelope_pb2.CommandReply:
        """A command of a seat, or (without a seat) of the host."""
        command = envelope_pb2.Command(
            command_id=secrets.token_bytes(16),
            match_id=match_id,
            type=type_,
            payload=payload,
            seat=seat,
            prompt_id=prompt_id,
        )
        occupant = occupant_id(self.keys, MatchId(match_id), who) if who else ""
        submission = envelope_pb2.Submission(command=command, occupant_id=occupant, host=seat is None)
        return await self.send_submission(submission, game)

    async def send_submission(self, submission: envelope_pb2.Submission, game: str = GAME) -> envelope_pb2.CommandReply:
        """Any command, as it is."""
        bus = await self.edge()
        match_id, data = submission.command.match_id, submission.SerializeToString()

        async def ask() -> envelope_pb2.CommandReply:
            return envelope_pb2.CommandReply.FromString(await bus.request_command(game, match_id, data))

        return await once_logged(ask)

    async def answer_commands(self, answer: Callable[[int], envelope_pb2.CommandReply]) -> list[bytes]:
        """Sits down in the game's place: answers the n-th command, from 0; returns the list of what was asked."""
        bus = self._stand_in = await Bus.connect(self.config.bus_settings(self.keys, game_role(GAME)))
        asked: list[bytes] = []

        async def reply(message: Message) -> None:
            asked.append(message.data)
            await bus.reply(message, answer(len(asked) - 1).SerializeToString())

        for partition in range(PARTITIONS):
            await bus.serve_async(partition_commands(GAME, partition), reply)
        return asked

    async def void(self, match_id: str, reason: str = "test") -> None:
        """The host ends a match."""
        reply = await self.send(match_id, "void", match_pb2.Void(reason=reason).SerializeToString())
        assert reply.HasField("accepted"), reply

    async def play_out(self, match_id: str, seats: list[str]) -> None:
        """Handshake, then seat 0 resigns. `seats`: account ids."""
        await self.shake_hands(match_id, seats)
        reply = await self.send(match_id, "resign", b"", seats[0], 0)
        assert reply.HasField("accepted"), reply

    async def shake_hands(self, match_id: str, seats: list[str], game: str = GAME) -> None:
        """All seats seal and open a number. `seats`: account ids."""
        nonces = [secrets.token_bytes(32) for _ in seats]
        for seat, account_id in enumerate(seats):
            seal = match_pb2.SealNonce(seal=nonce_seal(game, match_id, seat, nonces[seat])).SerializeToString()
            reply = await self.send(match_id, "seal_nonce", seal, account_id, seat, game=game)
            assert reply.HasField("accepted"), reply
        for seat, account_id in enumerate(seats):
            opened = match_pb2.OpenNonce(nonce=nonces[seat]).SerializeToString()
            reply = await self.send(match_id, "open_nonce", opened, account_id, seat, game=game)
            assert reply.HasField("accepted"), reply

    async def close(self) -> None:
        for channel in self._channels.values():
            await channel.close()
        for bus in (self._edge, self._stand_in):
            if bus is not None:
                await bus.close()
        for lobby in self.lobbies:
            await lobby.stop()
        await self.game.stop()
        await self.other_game.stop()


@asynccontextmanager
async def open_house(home: Path, *, database_url: str | None = None) -> AsyncIterator[House]:
    """A broker, keys and a configuration; the game and the lobby are started by the test. The toy must be installed."""
    config = Config.for_test(home)
    keys = KeyRing.load_or_create(config.keys_dir)
    roles = (*platform_roles(), game_role(GAME), game_role(OTHER_GAME))
    passwords = {role: keys.nats_password(role) for role in roles}
    nats = await EmbeddedServer.start(passwords, run_dir=config.run_dir, log_dir=config.log_dir)
    absent = {*game_names()} - {GAME, OTHER_GAME}
    addresses = {service: address for service, address in config.addresses.items() if service not in absent}
    config = replace(config, nats_url=nats.url, shared_database_url=database_url, addresses=addresses)
    house = House(config, keys, nats)
    try:
        async with kept_log(config, keys):
            yield house
            await house.close()
    finally:
        await house.close()
        await nats.stop()


async def until(condition: Callable[[], Awaitable[T]], within_s: float = 60.0) -> T:
    """Waits until the condition gives something true, and returns that."""
    async with asyncio.timeout(within_s):
        while True:
            found = await condition()
            if found:
                return found
            await asyncio.sleep(0.01)
