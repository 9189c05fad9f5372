"""Finding the owner of a match, and the games' words, over a real broker and real services."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import grpc
import pytest

from gateway.catalogue import Catalogue
from gateway.refusals import RefusalKind, Refused
from grimoire.bus import Bus, Message, game_role, owner_subject, partition_of, who_subject
from grimoire.engine import MatchId
from grimoire.runtime.config import Address, Config
from grimoire.runtime.directory import NoOwnerFoundError, RulesDirectory
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.rpc import RpcServer, dialer
from grimoire.v1 import cluster_pb2, frame_pb2, manifest_pb2, rules_pb2, rules_pb2_grpc
from tests.support.table import broker

GAMES = ("toy", "two_towers")
MATCH = MatchId("m" * 26)


class Rules(rules_pb2_grpc.RulesServiceServicer):
    """Knows some matches, and how to describe its game."""

    def __init__(self, game: str, matches: tuple[str, ...] = ()) -> None:
        self.game = game
        self.matches = matches
        self.heads_asked = 0
        self.described = 0
        self.digest = b"1" * 32
        self.trouble: grpc.StatusCode | None = None

    async def GetHead(self, request: rules_pb2.GetHeadRequest, context: Any) -> rules_pb2.GetHeadResponse:
        self.heads_asked += 1
        if self.trouble is not None:
            await context.abort(self.trouble, "trouble")
        if request.match_id not in self.matches:
            await context.abort(grpc.StatusCode.NOT_FOUND, "unknown_match")
        return rules_pb2.GetHeadResponse(head=frame_pb2.MatchHead(match_id=request.match_id, game=self.game))

    async def Describe(self, request: rules_pb2.DescribeRequest, context: Any) -> rules_pb2.DescribeResponse:
        self.described += 1
        return rules_pb2.DescribeResponse(
            manifest=manifest_pb2.Manifest(game=self.game, language=request.language, digest=self.digest)
        )


class Owner:
    """Answers `who` for one game, and announces itself."""

    def __init__(self, bus: Bus, game: str, address: str, epoch: int = 1) -> None:
        self.bus = bus
        self.game = game
        self.message = cluster_pb2.Owner(instance="i", epoch=epoch, address=address)
        self.asked = 0
        self._replies: set[asyncio.Task[None]] = set()

    async def listen(self) -> None:
        await self.bus.serve(f"who.{self.game}.*", self._answer)

    async def announce(self, match_id: str = MATCH, **changes: Any) -> None:
        for name, value in changes.items():
            setattr(self.message, name, value)
        await self.bus.announce_owner(self.game, partition_of(match_id), self.message.SerializeToString())
        await self.bus.flush()

    def _answer(self, message: Message) -> None:
        self.asked += 1
        task = asyncio.ensure_future(self.bus.reply(message, self.message.SerializeToString()))
        self._replies.add(task)
        task.add_done_callback(self._replies.discard)


class Place:
    """A broker, a directory, and whatever a test starts."""

    def __init__(self, config: Config, keys: KeyRing, directory: RulesDirectory) -> None:
        self.config = config
        self.keys = keys
        self.directory = directory
        self.servers: list[RpcServer] = []
        self.buses: list[Bus] = []

    async def rules(self, service: Rules) -> str:
        """A running RulesService; gives its address."""
        server = RpcServer(Address("127.0.0.1", 0), (), token=self.keys.service_token)
        rules_pb2_grpc.add_RulesServiceServicer_to_server(service, server.raw)
        self.servers.append(server)
        return str(await server.start())

    async def owner(self, game: str, address: str, **more: Any) -> Owner:
        bus = await Bus.connect(self.config.bus_settings(self.keys, game_role(game)))
        self.buses.append(bus)
        owner = Owner(bus, game, address, **more)
        await owner.listen()
        return owner


@asynccontextmanager
async def place(home: Path) -> AsyncIterator[Place]:
    async with broker(home) as (config, keys):
        names = ("gateway", "matchmaking", "replay", "bots", *GAMES)
        config = replace(config, addresses=MappingProxyType({name: Address("127.0.0.1", 0) for name in names}))
        bus = await Bus.connect(config.bus_settings(keys, "gateway"))
        directory = RulesDirectory(bus, config, dialer(config, keys))
        await directory.start()
        here = Place(config, keys, directory)
        try:
            yield here
        finally:
            await directory.close()
            for server in here.servers:
                await server.stop(0)
            for other in (bus, *here.buses):
                await other.close()


async def head_through(stub: Any, match_id: str = MATCH) -> str:
    reply = await stub.GetHead(rules_pb2.GetHeadRequest(match_id=match_id))
    return str(reply.head.game)


async def until(condition: Any) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


async def test_the_owner_is_asked_once_also_by_many_at_once(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        assert here.directory.games == GAMES
        owner = await here.owner("toy", await here.rules(Rules("toy", (MATCH,))))
        stubs = await asyncio.gather(*(here.directory.stub("toy", MATCH) for _ in range(50)))
        assert await head_through(stubs[0]) == "toy"
        await here.directory.stub("toy", MATCH)
        assert owner.asked == 1
        here.directory.forget("toy", MATCH)
        await here.directory.stub("toy", MATCH)
        assert owner.asked == 2


async def test_nobody_to_ask_is_said_at_once(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        for asked in (here.directory.stub("toy", MATCH), here.directory.any_stub("toy"), here.directory.game_of(MATCH)):
            with pytest.raises(NoOwnerFoundError):
                await asked


async def test_of_several_instances_one_that_serves_is_asked(tmp_path: Path) -> None:
    """The address in the configuration is one instance's, which may be gone; it is tried where nobody answers."""
    async with place(tmp_path) as here:
        living = Rules("toy", (MATCH,))
        configured = await here.rules(Rules("nobody", (MATCH,)))
        here.directory._config = here.config.with_address("toy", Address.parse(configured))
        assert await head_through(await here.directory.any_stub("toy")) == "nobody"
        await here.owner("toy", await here.rules(living))
        await here.directory.stub("toy", MATCH)
        assert await head_through(await here.directory.any_stub("toy")) == "toy"
        assert living.heads_asked == 1


async def test_a_new_owners_announcement_is_believed_and_told(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        old, new = Rules("toy", (MATCH,)), Rules("toy", (MATCH,))
        owner = await here.owner("toy", await here.rules(old), epoch=4)
        moved: list[tuple[str, int]] = []
        here.directory.on_moved(lambda game, partition: moved.append((game, partition)))
        await head_through(await here.directory.stub("toy", MATCH))
        await owner.announce(address=await here.rules(new), epoch=5)
        await until(lambda: moved)
        assert moved == [("toy", partition_of(MATCH))]
        await head_through(await here.directory.stub("toy", MATCH))
        assert (old.heads_asked, new.heads_asked, owner.asked) == (1, 1, 1)


async def test_an_owner_of_an_earlier_epoch_and_nonsense_are_not_believed(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        now, before = Rules("toy", (MATCH,)), Rules("toy", (MATCH,))
        owner = await here.owner("toy", await here.rules(now), epoch=4)
        await here.directory.stub("toy", MATCH)
        moved: list[tuple[str, int]] = []
        here.directory.on_moved(lambda game, partition: moved.append((game, partition)))
        await owner.announce(address=await here.rules(before), epoch=3)
        await owner.bus.publish(owner_subject("toy", partition_of(MATCH)), b"\xff")
        # A later announcement of another partition: the ones before it have been heard.
        other = next(m for m in ("a" * 26, "b" * 26, "c" * 26) if partition_of(m) != partition_of(MATCH))
        await owner.announce(other, epoch=9)
        await until(lambda: moved)
        assert moved == [("toy", partition_of(other))]
        await head_through(await here.directory.stub("toy", MATCH))
        assert (now.heads_asked, before.heads_asked) == (1, 0)


async def test_the_game_of_a_match_is_found_among_all_and_remembered(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        services = {"toy": Rules("toy"), "two_towers": Rules("two_towers", (MATCH,))}
        for game, service in services.items():
            await here.owner(game, await here.rules(service))
        assert await here.directory.game_of(MATCH) == "two_towers"
        assert await here.directory.game_of(MATCH) == "two_towers"
        assert [s.heads_asked for s in services.values()] == [1, 1]
        head = await here.directory.find(MATCH)
        assert head is not None
        assert [s.heads_asked for s in services.values()] == [1, 2]
        assert await here.directory.game_of(MatchId("x" * 26)) is None
        here.directory.learn(MatchId("y" * 26), "toy")
        assert await here.directory.game_of(MatchId("y" * 26)) == "toy"


async def test_a_game_that_is_away_hides_none_of_the_others_matches(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        toy, towers = Rules("toy", (MATCH,)), Rules("two_towers")
        await here.owner("toy", await here.rules(toy))
        owner = await here.owner("two_towers", await here.rules(towers))
        towers.trouble = grpc.StatusCode.DATA_LOSS
        assert await here.directory.game_of(MATCH) == "toy"
        # But nobody can say that a match is unknown.
        with pytest.raises(NoOwnerFoundError):
            await here.directory.game_of(MatchId("x" * 26))
        assert owner.asked == 2
        towers.trouble = None
        assert await here.directory.game_of(MatchId("x" * 26)) is None


async def test_an_owner_without_an_address_is_none(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        await here.owner("toy", "")
        with pytest.raises(NoOwnerFoundError):
            await here.directory.stub("toy", MATCH)
        assert who_subject("toy", partition_of(MATCH)).startswith("who.toy.")


async def test_a_manifest_is_fetched_once_a_minute_and_kept_while_its_service_is_away(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        service, now = Rules("toy"), [0.0]
        owner = await here.owner("toy", await here.rules(service))
        catalogue = Catalogue(here.directory, lambda: now[0])
        first = await catalogue.manifest("toy", "fi")
        assert (first.game, first.language) == ("toy", "fi")
        assert await catalogue.manifest("toy", "FI") is first
        assert service.described == 1
        now[0] = 61
        # The same digest: the same content, one copy.
        assert await catalogue.manifest("toy", "fi") is first
        service.digest = b"2" * 32
        now[0] = 122
        second = await catalogue.manifest("toy", "fi")
        assert second.digest == service.digest
        await here.servers[0].stop(0)
        now[0] = 200
        assert await catalogue.manifest("toy", "fi") is second
        with pytest.raises(Refused) as refused:
            await catalogue.manifest("toy", "en")
        assert refused.value.kind is RefusalKind.UNAVAILABLE
        # A game that cannot be described is left out of the list, and hides no other.
        assert [m.game for m in await catalogue.all("fi")] == ["toy"]
        assert owner.asked == 1


@pytest.mark.parametrize("language", ["", "x", "../fi", "f" * 100, "fi_FI", "é"])
async def test_what_is_no_language_gives_english(tmp_path: Path, language: str) -> None:
    async with place(tmp_path) as here:
        await here.owner("toy", await here.rules(Rules("toy")))
        assert (await Catalogue(here.directory).manifest("toy", language)).language == "en"


async def test_a_game_that_is_not_here_is_unknown(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        with pytest.raises(Refused) as refused:
            await Catalogue(here.directory).manifest("gateway", "en")
        assert refused.value.rejection.code == "unknown_game"
