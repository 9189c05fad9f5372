"""Calls that internal services answer: same bytes, the caller's account beside them, nothing else let through."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import pytest
import pytest_asyncio

from gateway.proxy import FORWARDED_METHODS, REJECTION_KEY
from grimoire.client import Client, NotSignedInError, Rejected, UnavailableError
from grimoire.engine import PUBLIC
from grimoire.runtime.config import Config
from grimoire.runtime.identity import Identity
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.rpc import RpcServer, account_of
from grimoire.v1 import (
    envelope_pb2,
    matchmaking_pb2,
    matchmaking_pb2_grpc,
    replay_pb2,
    replay_pb2_grpc,
    rules_pb2,
)
from tests.gateway.house import House, house

pytestmark = pytest.mark.asyncio(loop_scope="module")

Context = grpc.aio.ServicerContext[Any, Any]


class Lobby(matchmaking_pb2_grpc.MatchmakingServiceServicer):
    """Answers with what it was told of its caller."""

    def __init__(self) -> None:
        self.callers: list[Identity | None] = []
        self.metadata: dict[str, str | bytes] = {}
        self.cancelled = asyncio.Event()

    async def CreateChallenge(
        self, request: matchmaking_pb2.CreateChallengeRequest, context: Context
    ) -> matchmaking_pb2.CreateChallengeResponse:
        self.callers.append(account_of(context))
        self.metadata = dict(context.invocation_metadata() or ())
        return matchmaking_pb2.CreateChallengeResponse(
            challenge=matchmaking_pb2.Challenge(challenge_id="c1", game=request.game)
        )

    async def GetChallenge(
        self, request: matchmaking_pb2.GetChallengeRequest, context: Context
    ) -> matchmaking_pb2.GetChallengeResponse:
        code = grpc.StatusCode[request.challenge_id]
        await context.abort(code, "because of that")
        raise AssertionError

    async def CancelChallenge(
        self, request: matchmaking_pb2.CancelChallengeRequest, context: Context
    ) -> matchmaking_pb2.CancelChallengeResponse:
        why = envelope_pb2.Rejection(code="not_yours", rule="X-1", message="It is another's.")
        await context.abort(
            grpc.StatusCode.PERMISSION_DENIED, "no", trailing_metadata=((REJECTION_KEY, why.SerializeToString()),)
        )
        raise AssertionError

    async def WatchChallenge(
        self, request: matchmaking_pb2.WatchChallengeRequest, context: Context
    ) -> AsyncIterator[matchmaking_pb2.WatchChallengeResponse]:
        self.callers.append(account_of(context))
        try:
            for n in range(3):
                yield matchmaking_pb2.WatchChallengeResponse(challenge=matchmaking_pb2.Challenge(challenge_id=f"c{n}"))
            if request.challenge_id == "endless":
                await asyncio.Event().wait()
        finally:
            self.cancelled.set()

    async def ListBotSeats(
        self, request: matchmaking_pb2.ListBotSeatsRequest, context: Context
    ) -> matchmaking_pb2.ListBotSeatsResponse:
        return matchmaking_pb2.ListBotSeatsResponse()


class Shelf(replay_pb2_grpc.ReplayServiceServicer):
    """Takes files, gives frames."""

    async def Import(
        self, requests: AsyncIterator[replay_pb2.ImportRequest], context: Context
    ) -> replay_pb2.ImportResponse:
        size = 0
        async for request in requests:
            size += len(request.chunk)
        account = account_of(context)
        return replay_pb2.ImportResponse(match_id=f"{size} bytes from {account.name if account else 'nobody'}")

    async def StreamFrames(
        self, request: replay_pb2.StreamFramesRequest, context: Context
    ) -> AsyncIterator[replay_pb2.StreamFramesResponse]:
        for start in range(1, 200, 64):
            yield replay_pb2.StreamFramesResponse(
                frames=[rules_pb2.ReplayFrame(version=v) for v in range(start, min(start + 64, 200))]
            )


def _serve(name: str, service: Any, add: Callable[[Any, grpc.aio.Server], None]) -> Callable[..., Any]:
    async def serve(config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        keys = KeyRing.load_or_create(config.keys_dir)
        server = RpcServer.internal(config, name, keys, (FORWARDED_METHODS[name][0],))
        add(service, server.raw)
        started(str(await server.start()))
        await stop.wait()
        await server.stop(0.1)

    return serve


class Around:
    """A house with both services beside it."""

    def __init__(self, home: House, lobby: Lobby, client: Client) -> None:
        self.home = home
        self.lobby = lobby
        self.client = client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def around(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Around]:
    lobby, shelf = Lobby(), Shelf()
    beside = {
        "matchmaking": _serve("matchmaking", lobby, matchmaking_pb2_grpc.add_MatchmakingServiceServicer_to_server),
        "replay": _serve("replay", shelf, replay_pb2_grpc.add_ReplayServiceServicer_to_server),
    }
    async with house(tmp_path_factory.mktemp("house"), beside=beside) as home:
        client = await home.client("Väinö")
        yield Around(home, lobby, client)
        await client.close()


async def test_the_service_learns_who_calls_from_the_edge_alone(around: Around) -> None:
    account = await around.client.whoami()
    channel = grpc.aio.insecure_channel(around.home.address)
    stub = matchmaking_pb2_grpc.MatchmakingServiceStub(channel)
    reply = await stub.CreateChallenge(
        matchmaking_pb2.CreateChallengeRequest(game="toy"),
        metadata=(
            ("authorization", f"Bearer {around.client.token}"),
            ("grimoire-account", "0" * 26),
            ("grimoire-account-name", "Eve"),
            ("grimoire-account-bot", "1"),
            ("grimoire-service-token", "00" * 32),
        ),
    )
    assert reply.challenge.game == "toy"
    assert around.lobby.callers[-1] == Identity(account.account_id, "Väinö", False)
    # The session is the edge's business: a service that logs its metadata must not hold anybody's token.
    assert "authorization" not in around.lobby.metadata
    await channel.close()


async def test_whatever_the_lobby_answers_players_is_forwarded() -> None:
    service, names = FORWARDED_METHODS["matchmaking"]
    internal = {"ListBotSeats", "FollowLobby", "ForgetAccount"}
    assert set(names) == set(service.methods_by_name) - internal


async def test_a_stream_passes_in_order_and_ends(around: Around) -> None:
    seen = [c.challenge_id async for c in around.client.watch_challenge("x")]
    assert seen == ["c0", "c1", "c2"]
    frames = [f.version async for f in around.client.frames("m", PUBLIC)]
    assert frames == list(range(1, 200))


async def test_a_caller_that_leaves_ends_the_call_behind_the_edge(around: Around) -> None:
    around.lobby.cancelled.clear()
    changes = around.client.watch_challenge("endless")
    assert (await anext(changes)).challenge_id == "c0"
    await changes.aclose()
    async with asyncio.timeout(60):
        await around.lobby.cancelled.wait()


async def test_an_upload_passes_whole(around: Around) -> None:
    reply = await around.client.import_file(bytes(200_001))
    assert reply.match_id == "200001 bytes from Väinö"


async def test_a_rejection_of_the_service_reaches_the_caller(around: Around) -> None:
    with pytest.raises(Rejected) as refused:
        await around.client.cancel("c1")
    assert (refused.value.code, refused.value.rule, refused.value.message) == ("not_yours", "X-1", "It is another's.")


@pytest.mark.parametrize(
    ("inside", "outside", "told"),
    [
        ("INVALID_ARGUMENT", "INVALID_ARGUMENT", True),
        ("OUT_OF_RANGE", "INVALID_ARGUMENT", True),
        ("PERMISSION_DENIED", "PERMISSION_DENIED", True),
        ("NOT_FOUND", "NOT_FOUND", True),
        ("FAILED_PRECONDITION", "FAILED_PRECONDITION", True),
        ("RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED", True),
        # What went wrong between services is not the caller's business.
        ("INTERNAL", "UNAVAILABLE", False),
        ("UNAUTHENTICATED", "UNAVAILABLE", False),
        ("UNKNOWN", "UNAVAILABLE", False),
    ],
)
async def test_a_status_becomes_the_callers(around: Around, inside: str, outside: str, told: bool) -> None:
    channel = grpc.aio.insecure_channel(around.home.address)
    stub = matchmaking_pb2_grpc.MatchmakingServiceStub(channel)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await stub.GetChallenge(
            matchmaking_pb2.GetChallengeRequest(challenge_id=inside),
            metadata=(("authorization", f"Bearer {around.client.token}"),),
        )
    assert refused.value.code().name == outside
    assert ("because of that" in (refused.value.details() or "")) is told
    await channel.close()


async def test_nothing_is_forwarded_for_somebody_unknown(around: Around) -> None:
    anybody = await around.home.client(token="")
    for call in (anybody.challenges(), anybody.create("toy"), anybody.marks("m"), anybody.import_file(b"x")):
        with pytest.raises(NotSignedInError):
            await call
    for stream in (anybody.watch_challenge("x"), anybody.frames("m", PUBLIC)):
        with pytest.raises(NotSignedInError):
            await anext(stream)
    await anybody.close()


async def test_what_services_ask_each_other_cannot_be_asked_at_the_edge(around: Around) -> None:
    channel = grpc.aio.insecure_channel(around.home.address)
    metadata = (("authorization", f"Bearer {around.client.token}"),)
    public = {f"/{service.full_name}/{name}" for service, names in FORWARDED_METHODS.values() for name in names}
    # The edge takes a file apart itself.
    public.add("/grimoire.v1.ReplayService/ImportFile")
    internal = [
        f"/{service.full_name}/{method.name}"
        for service in (
            matchmaking_pb2.DESCRIPTOR.services_by_name["MatchmakingService"],
            replay_pb2.DESCRIPTOR.services_by_name["ReplayService"],
            rules_pb2.DESCRIPTOR.services_by_name["RulesService"],
        )
        for method in service.methods
        if f"/{service.full_name}/{method.name}" not in public
    ]
    assert "/grimoire.v1.MatchmakingService/ListBotSeats" in internal
    assert "/grimoire.v1.MatchmakingService/FollowLobby" in internal
    assert "/grimoire.v1.RulesService/GetView" in internal
    for path in internal:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await channel.unary_unary(path)(b"", metadata=metadata)
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
    await channel.close()


async def test_a_service_that_is_away_is_unavailable(home_house: House) -> None:
    client = await Client.connect(home_house.address, patience_s=0.2, keepsakes=home_house.home)
    await client.guest("Aino")
    with pytest.raises(UnavailableError):
        await client.challenges()
    await client.close()
