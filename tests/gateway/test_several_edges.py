"""Several instances of the edge on one database and one broker: what one does, the others know."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

import pytest
import pytest_asyncio

from gateway.news import NoNews
from gateway.presence import Presence, PresenceNews
from gateway.service import Gateway
from grimoire.v1 import account_pb2, chat_pb2, lobby_pb2, play_pb2
from tests.gateway.browser import Browser, RefusedError, guests
from tests.gateway.house import House, house
from tests.gateway.tables import running_table
from tests.gateway.test_accounts import CHEAP, FREE, GOOD

pytestmark = pytest.mark.asyncio(loop_scope="module")

ONLINE, AWAY, GONE = (
    lobby_pb2.PRESENCE_STATE_ONLINE,
    lobby_pb2.PRESENCE_STATE_AWAY,
    lobby_pb2.PRESENCE_STATE_GONE,
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[House, str]]:
    gateway = Gateway(account_limits=FREE, hash_cost=CHEAP)
    second = Gateway(account_limits=FREE, hash_cost=CHEAP)
    async with house(tmp_path_factory.mktemp("house"), gateway) as home, home.another_edge(second) as other:
        yield home, other


async def until(shown: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not shown():
            await asyncio.sleep(0.01)


async def test_a_session_opened_here_is_one_there_and_ends_there_at_once(pair: tuple[House, str]) -> None:
    home, other = pair
    async with Browser(home.web) as here:
        await here.sign_up("Kaukomieli", GOOD)
        token = next(iter(here.http.cookies.values()))
        async with Browser(other, origin="", token=token) as there:
            assert (await there.me()).account.name == "Kaukomieli"
            rename = account_pb2.RenameRequest(name="Lemminkäinen")
            await here.call("account", "Rename", rename, account_pb2.RenameResponse)
            names: list[str] = []
            async with asyncio.timeout(60):
                while names[-1:] != ["Lemminkäinen"]:
                    names.append((await there.me()).account.name)
            await here.call("account", "SignOut", account_pb2.SignOutRequest(), account_pb2.SignOutResponse)

            async def until_it_is_over() -> None:
                async with asyncio.timeout(60):
                    while True:
                        await there.me()

            with pytest.raises(RefusedError) as refused:
                await until_it_is_over()
            assert refused.value.connect_code == "unauthenticated"


async def test_what_is_said_here_is_heard_there(pair: tuple[House, str]) -> None:
    home, other = pair
    async with running_table(home) as table, guests(home.web, "Aino") as (here,), guests(other, "Väinö") as (there,):
        request = chat_pb2.WatchChatRequest(match_id=table.match_id)
        async with aclosing(there.stream("chat", "WatchChat", request, chat_pb2.WatchChatResponse)) as ear:
            await anext(ear)
            say = chat_pb2.SayRequest(match_id=table.match_id, text="Hei")
            await here.call("chat", "Say", say, chat_pb2.SayResponse)
            async with asyncio.timeout(60):
                (message,) = (await anext(ear)).messages
            assert (message.text, message.name) == ("Hei", "Aino")


async def test_who_watches_there_is_counted_here(pair: tuple[House, str]) -> None:
    home, other = pair
    async with running_table(home) as table, guests(home.web, "Aino") as (here,), guests(other, "Väinö") as (there,):
        request = lobby_pb2.FollowRequest(matches=[play_pb2.WatchRequest(match_id=table.match_id)], presence=True)

        async def watchers(wanted: int) -> None:
            async with asyncio.timeout(60):
                async for response in news:
                    if response.match.HasField("presence") and response.match.presence.watchers == wanted:
                        seats = {s.seat: s.state for s in response.match.presence.seats}
                        assert seats == {0: ONLINE, 1: ONLINE}
                        return

        async with aclosing(here.stream("lobby", "Follow", request, lobby_pb2.FollowResponse)) as news:
            await watchers(1)
            watch = play_pb2.WatchRequest(match_id=table.match_id)
            async with aclosing(there.stream("play", "Watch", watch, play_pb2.WatchResponse)) as frames:
                await anext(frames)
                await watchers(2)
            await watchers(1)


# ---- presence by itself ----------------------------------------------------------------------------------------------


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.s = 1000.0

    def now(self) -> float:
        return self.s

    def now_ms(self) -> int:
        return int(self.s * 1000)


class Ear(NoNews):
    """Hears what presence would tell others, and can say something itself."""

    def __init__(self) -> None:
        self.told: list[PresenceNews] = []
        self.say: Callable[[PresenceNews], None] = lambda _: None

    async def tell(self, kind: str, fact: object) -> None:
        assert isinstance(fact, PresenceNews)
        self.told.append(fact)

    def hear(self, kind: str, fact: object, heard: Callable[..., None]) -> None:
        self.say = heard


async def test_a_seat_is_online_then_away_then_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.presence._SETTLE_S", 0.0)
    monkeypatch.setattr("gateway.presence._AWAY_MS", 200)
    clock, ear = Clock(), Ear()
    presence = Presence(ear, clock.now_ms, clock.now)
    async with aclosing(presence.watch("m", (0, 1))) as changes, asyncio.timeout(60):
        first = await anext(changes)
        assert [s.state for s in first.seats] == [GONE, GONE]
        with presence.follow("m", 0), presence.follow("m", 0):
            assert [s.state for s in (await anext(changes)).seats] == [ONLINE, GONE]
        left = await anext(changes)
        assert [s.state for s in left.seats] == [AWAY, GONE]
        assert left.seats[0].since_ms == clock.now_ms()
        clock.s += 1
        assert [s.state for s in (await anext(changes)).seats] == [GONE, GONE]
    await until(lambda: ear.told[-1].seats == ())
    await presence.close()


async def test_who_falls_silent_elsewhere_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.presence._SETTLE_S", 0.0)
    clock, ear = Clock(), Ear()
    presence = Presence(ear, clock.now_ms, clock.now)
    async with aclosing(presence.watch("m", (0,))) as changes, asyncio.timeout(60):
        await anext(changes)
        ear.say(PresenceNews("elsewhere", "m", (0,), 7))
        there = await anext(changes)
        assert (there.watchers, there.seats[0].state) == (7, ONLINE)
        ear.say(PresenceNews("a third", "m", (), 2))
        assert (await anext(changes)).watchers == 9
        ear.say(PresenceNews("a third", "m", (), 0))
        assert (await anext(changes)).watchers == 7
        clock.s += 61
        presence.repeat()
        after = await anext(changes)
        assert (after.watchers, after.seats[0].state) == (0, AWAY)
    await presence.close()


async def test_what_is_so_is_told_again_from_time_to_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.presence._SETTLE_S", 0.0)
    clock, ear = Clock(), Ear()
    presence = Presence(ear, clock.now_ms, clock.now)
    with presence.follow("m", None):
        await until(lambda: len(ear.told) == 1)
        presence.repeat()
        await asyncio.sleep(0)
        assert len(ear.told) == 1
        clock.s += 21
        presence.repeat()
        await until(lambda: len(ear.told) == 2)
        assert (ear.told[-1].watchers, ear.told[-1].match_id) == (1, "m")
    await presence.close()


async def test_very_many_matches_are_not_remembered_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.presence._REMEMBERED", 3)
    monkeypatch.setattr("gateway.presence._SETTLE_S", 0.0)
    clock, ear = Clock(), Ear()
    presence = Presence(ear, clock.now_ms, clock.now)
    with presence.follow("kept", None):
        for n in range(10):
            with presence.follow(f"m{n}", None):
                pass
        presence.repeat()
        assert len(presence._matches) == 3
        assert "kept" in presence._matches
    await presence.close()
