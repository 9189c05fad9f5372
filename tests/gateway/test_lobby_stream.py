"""The lobby as screens follow it, with the real matchmaking: what comes, what goes, what waits for oneself."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager

import pytest
import pytest_asyncio

import matchmaking.service
from gateway.service import Gateway
from grimoire.client import Client
from grimoire.v1 import frame_pb2, lobby_pb2, matchmaking_pb2, play_pb2
from tests.gateway.browser import Browser, RefusedError, guests
from tests.gateway.house import GAME, House, house
from tests.gateway.test_accounts import CHEAP, FREE

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    gateway = Gateway(account_limits=FREE, hash_cost=CHEAP)
    beside = {"matchmaking": matchmaking.service.serve}
    async with house(tmp_path_factory.mktemp("house"), gateway, beside=beside) as running:
        yield running


class Screen:
    """What one page shows of the lobby."""

    def __init__(self, stream: AsyncGenerator[lobby_pb2.WatchLobbyResponse, None]) -> None:
        self._stream = stream
        self.challenges: dict[str, matchmaking_pb2.Challenge] = {}
        self.matches: dict[str, matchmaking_pb2.MatchSummary] = {}
        self.own: dict[str, lobby_pb2.OwnMatch] = {}
        self.gone: dict[str, lobby_pb2.GoneChallenge] = {}
        self.wholes = 0

    def take(self, news: lobby_pb2.WatchLobbyResponse) -> None:
        if news.whole:
            self.wholes += 1
            self.challenges, self.matches, self.own = {}, {}, {}
        self.challenges |= {c.challenge_id: c for c in news.challenges}
        for gone in news.gone:
            self.challenges.pop(gone.challenge_id, None)
            self.gone[gone.challenge_id] = gone
        self.matches |= {m.match_id: m for m in news.matches}
        for match_id in news.ended_match_ids:
            self.matches.pop(match_id, None)
        for own in news.own:
            if own.HasField("summary"):
                self.own[own.match_id] = own
            else:
                self.own.pop(own.match_id, None)

    async def until(self, shown: Callable[[Screen], object], within_s: float = 60) -> None:
        """Reads on until the page shows that."""
        async with asyncio.timeout(within_s):
            while not shown(self):
                self.take(await anext(self._stream))


@asynccontextmanager
async def screen(browser: Browser, *, only_mine: bool = False) -> AsyncIterator[Screen]:
    request = lobby_pb2.WatchLobbyRequest(language="en", only_mine=only_mine)
    stream = browser.stream("lobby", "WatchLobby", request, lobby_pb2.WatchLobbyResponse)
    async with aclosing(stream):
        page = Screen(stream)
        await page.until(lambda p: p.wholes)
        yield page


async def create(browser: Browser, **fields: object) -> matchmaking_pb2.Challenge:
    request = matchmaking_pb2.CreateChallengeRequest(game=GAME, request_id=secrets.token_bytes(16), **fields)  # type: ignore[arg-type]
    answer = await browser.call("matchmaking", "CreateChallenge", request, matchmaking_pb2.CreateChallengeResponse)
    assert not answer.HasField("rejection"), answer
    return answer.challenge


async def join(browser: Browser, challenge_id: str) -> matchmaking_pb2.Challenge:
    request = matchmaking_pb2.JoinChallengeRequest(challenge_id=challenge_id)
    answer = await browser.call("matchmaking", "JoinChallenge", request, matchmaking_pb2.JoinChallengeResponse)
    assert not answer.HasField("rejection"), answer
    return answer.challenge


async def test_a_challenge_comes_and_goes_on_every_page(home: House) -> None:
    async with (
        guests(home.web, "Aino", "Väinö") as (aino, vaino),
        Browser(home.web) as signed_out,
        AsyncExitStack() as stack,
    ):
        own, other, nobody = [await stack.enter_async_context(screen(b)) for b in (aino, vaino, signed_out)]
        challenge = await create(aino)
        began = asyncio.get_running_loop().time()
        for page in (own, other, nobody):
            await page.until(lambda p: challenge.challenge_id in p.challenges)
        assert asyncio.get_running_loop().time() - began < 5
        mine = {
            name: [s.mine for s in p.challenges[challenge.challenge_id].seats]
            for name, p in (("own", own), ("other", other), ("nobody", nobody))
        }
        assert mine == {"own": [True, False], "other": [False, False], "nobody": [False, False]}
        assert [p.challenges[challenge.challenge_id].host for p in (own, other, nobody)] == [True, False, False]
        shown = other.challenges[challenge.challenge_id]
        assert shown.seats[0].name == "Aino"
        assert shown.options
        joined = await join(vaino, challenge.challenge_id)
        for page in (own, other, nobody):
            await page.until(lambda p: challenge.challenge_id not in p.challenges)
        await own.until(lambda p: p.gone[challenge.challenge_id].match_id)
        match_id = own.gone[challenge.challenge_id].match_id
        assert joined.match_id in ("", match_id)
        # Who does not sit there is not told where they went, but may watch.
        assert nobody.gone[challenge.challenge_id].match_id == ""
        await nobody.until(lambda p: match_id in p.matches)
        # Both find it among their own, and what waits for them.
        for page in (own, other):
            await page.until(lambda p: match_id in p.own)
            await page.until(lambda p: p.own[match_id].status == frame_pb2.MATCH_STATUS_HANDSHAKE)
        assert [s.mine for s in own.own[match_id].summary.seats] == [True, False]
        assert [s.mine for s in other.own[match_id].summary.seats] == [False, True]
        assert not nobody.own


async def _client(home: House, browser: Browser) -> Client:
    """A program that plays for somebody who sits at a browser."""
    return await home.client(token=next(iter(browser.http.cookies.values())))


async def test_ones_own_matches_tell_what_waits_until_they_are_over(home: House) -> None:
    async with guests(home.web, "Aino", "Väinö") as (aino, vaino), AsyncExitStack() as stack:
        page = await stack.enter_async_context(screen(aino, only_mine=True))
        challenge = await create(aino)
        await join(vaino, challenge.challenge_id)
        await page.until(lambda p: p.own)
        (match_id,) = page.own
        assert not page.matches
        sessions = []
        for browser in (aino, vaino):
            client = await _client(home, browser)
            stack.push_async_callback(client.close)
            session = await client.open_match(match_id)
            stack.push_async_callback(session.close)
            sessions.append(session)
        await sessions[0].started(timeout_s=60)
        await page.until(lambda p: p.own[match_id].status == frame_pb2.MATCH_STATUS_RUNNING)
        asked = {prompt.seat for prompt in sessions[0].snapshot.prompts if prompt.required}
        await page.until(lambda p: p.own[match_id].required_prompts == (1 if 0 in asked else 0))
        # A page that is opened now shows the same.
        async with screen(aino) as late:
            await late.until(lambda p: match_id in p.own)
            await late.until(lambda p: p.own[match_id].required_prompts == page.own[match_id].required_prompts)
        await sessions[1].resign()
        await page.until(lambda p: match_id not in p.own)


async def test_invitations_and_rematches_are_for_those_they_are_for(home: House) -> None:
    async with guests(home.web, "Aino", "Väinö", "Louhi") as (aino, vaino, louhi), AsyncExitStack() as stack:
        challenge = await create(aino)
        await join(vaino, challenge.challenge_id)
        sessions = []
        page = await stack.enter_async_context(screen(aino))
        await page.until(lambda p: p.own)
        (match_id,) = page.own
        for browser in (aino, vaino):
            client = await _client(home, browser)
            stack.push_async_callback(client.close)
            sessions.append(await client.open_match(match_id))
            stack.push_async_callback(sessions[-1].close)
        await sessions[0].started(timeout_s=60)
        await sessions[0].resign()
        await page.until(lambda p: match_id not in p.own)
        friend, stranger = [await stack.enter_async_context(screen(b)) for b in (vaino, louhi)]
        request = matchmaking_pb2.RematchRequest(match_id=match_id)
        answer = await aino.call("matchmaking", "Rematch", request, matchmaking_pb2.RematchResponse)
        rematch = answer.challenge.challenge_id
        assert rematch
        await friend.until(lambda p: rematch in p.challenges)
        # A challenge that all may see comes after it; the rematch has not come to the stranger by then.
        later = await create(aino)
        await stranger.until(lambda p: later.challenge_id in p.challenges)
        assert rematch not in stranger.challenges
        cancel = matchmaking_pb2.CancelChallengeRequest(challenge_id=rematch)
        await aino.call("matchmaking", "CancelChallenge", cancel, matchmaking_pb2.CancelChallengeResponse)
        await friend.until(lambda p: rematch not in p.challenges)
        assert rematch not in stranger.gone


async def test_a_quiet_lobby_is_known_to_be_alive(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.lobby._HEARTBEAT_S", 0.05)
    async with Browser(home.web) as browser:
        request = lobby_pb2.WatchLobbyRequest()
        stream = browser.stream("lobby", "WatchLobby", request, lobby_pb2.WatchLobbyResponse)
        async with aclosing(stream), asyncio.timeout(60):
            assert (await anext(stream)).whole
            while not (await anext(stream)).server_time_ms:
                pass


async def test_one_caller_has_so_many_streams(home: House) -> None:
    async with guests(home.web, "Aino") as (browser,), AsyncExitStack() as stack:
        for _ in range(16):
            await stack.enter_async_context(screen(browser, only_mine=True))
        with pytest.raises(RefusedError) as caught:
            async with screen(browser):
                pass
        assert caught.value.code == "too_many_streams"


async def test_when_matchmaking_is_away_the_lobby_says_so_and_comes_back_whole(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.lobby_feed._READY_S", 0.3)
    async with house(tmp_path_factory.mktemp("house"), Gateway(hash_cost=CHEAP)) as home, Browser(home.web) as browser:
        with pytest.raises(RefusedError) as caught:
            async with screen(browser):
                pass
        assert caught.value.code == "unavailable"


async def test_the_whole_screen_in_one_stream(home: House) -> None:
    async with guests(home.web, "Aino") as (browser,):
        request = lobby_pb2.FollowRequest(lobby=lobby_pb2.WatchLobbyRequest(only_mine=True))
        async with aclosing(browser.stream("lobby", "Follow", request, lobby_pb2.FollowResponse)) as news:
            assert (await anext(news)).lobby.whole
        nothing = lobby_pb2.FollowRequest()
        assert [n async for n in browser.stream("lobby", "Follow", nothing, lobby_pb2.FollowResponse)] == []
        many = lobby_pb2.FollowRequest(matches=[{"match_id": "0" * 26}] * 5)  # type: ignore[list-item]
        with pytest.raises(RefusedError) as caught:
            await anext(browser.stream("lobby", "Follow", many, lobby_pb2.FollowResponse))
        assert caught.value.code == "malformed"
    async with Browser(home.web) as signed_out:
        one = lobby_pb2.FollowRequest(matches=[{"match_id": "0" * 26}])  # type: ignore[list-item]
        (answer,) = [n async for n in signed_out.stream("lobby", "Follow", one, lobby_pb2.FollowResponse)]
        assert answer.match.ended.code == "unauthenticated"


async def test_a_delay_for_watchers_goes_from_the_challenge_into_the_match(home: House) -> None:
    async with guests(home.web, "Aino", "Väinö") as (aino, vaino), AsyncExitStack() as stack:
        page = await stack.enter_async_context(screen(aino))
        challenge = await create(aino, spectator_delay_s=7)
        assert challenge.spectator_delay_s == 7
        await join(vaino, challenge.challenge_id)
        await page.until(lambda p: p.own)
        (match_id,) = page.own
        look = play_pb2.LookRequest(match_id=match_id)
        shown = await aino.call("play", "Look", look, play_pb2.LookResponse)
        assert shown.snapshot.head.created.spectator_delay_s == 7
        request = matchmaking_pb2.CreateChallengeRequest(game=GAME, spectator_delay_s=3601)
        answer = await aino.call("matchmaking", "CreateChallenge", request, matchmaking_pb2.CreateChallengeResponse)
        assert (answer.rejection.code, answer.rejection.field) == ("bad_option", "spectator_delay_s")
