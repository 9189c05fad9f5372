"""Calls of browsers: the same answers as over gRPC, by Connect, in JSON and in bytes."""

from __future__ import annotations

import json
from contextlib import aclosing

import httpx
import pytest

from grimoire.client import Client
from grimoire.fairness.chain import genesis
from grimoire.v1 import account_pb2, frame_pb2, lobby_pb2, play_pb2, replay_pb2
from tests.gateway.browser import Browser, RefusedError, guests
from tests.gateway.house import GAME, House
from tests.gateway.tables import running_table

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("as_json", [False, True])
async def test_a_guest_comes_in_by_one_click_and_its_session_is_a_cookie(home_house: House, as_json: bool) -> None:
    async with Browser(home_house.web, as_json=as_json) as browser:
        assert not (await browser.me()).HasField("account")
        request = play_pb2.CreateGuestRequest(name="Aino")
        answer = await browser.call("session", "CreateGuest", request, play_pb2.CreateGuestResponse)
        assert (answer.token, answer.account.name, answer.account.guest) == ("", "Aino", True)
        me = await browser.me()
        assert me.account == answer.account
        assert list(me.scopes) == [account_pb2.SCOPE_READ, account_pb2.SCOPE_PLAY, account_pb2.SCOPE_ACCOUNT]


async def test_no_script_can_read_the_cookie_and_no_other_site_send_it(home_house: House) -> None:
    async with Browser(home_house.web) as browser:
        response = await browser.http.post(
            "/grimoire.v1.SessionService/CreateGuest", content=b"{}", headers={"content-type": "application/json"}
        )
    cookies = response.headers.get_list("set-cookie")
    assert len(cookies) == 1
    name, _, rest = cookies[0].partition("=")
    rules = {part.strip().lower() for part in rest.split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/"} <= rules
    assert "domain" not in cookies[0].lower()
    assert name == f"grimoire-{home_house.config.address('web').port}"


async def test_a_program_gets_its_token_and_no_cookie(home_house: House) -> None:
    async with Browser(home_house.web, origin="") as program:
        request = play_pb2.CreateGuestRequest(name="Robot")
        answer = await program.call("session", "CreateGuest", request, play_pb2.CreateGuestResponse)
        assert answer.token
        assert not program.http.cookies
        assert not (await program.me()).HasField("account")
    async with Browser(home_house.web, origin="", token=answer.token) as again:
        assert (await again.me()).account.name == "Robot"
    # The same token opens the other door.
    client = await home_house.client(token=answer.token)
    assert (await client.whoami()).account_id == answer.account.account_id
    await client.close()


async def test_a_cookie_without_an_origin_is_nobodys(home_house: House) -> None:
    kind = {"content-type": "application/json"}
    async with guests(home_house.web, "Aino") as (browser,), httpx.AsyncClient(base_url=home_house.web) as bare:
        bare.cookies = browser.http.cookies
        response = await bare.post("/grimoire.v1.AccountService/GetMe", content=b"{}", headers=kind)
        assert response.json() == {}


async def test_a_bad_token_is_refused_and_a_bad_cookie_is_none(home_house: House) -> None:
    async with Browser(home_house.web, token="x.y") as liar:
        with pytest.raises(RefusedError) as refused:
            await liar.me()
    assert (refused.value.status, refused.value.connect_code) == (401, "unauthenticated")
    async with Browser(home_house.web) as browser:
        browser.http.cookies.set(f"grimoire-{home_house.config.address('web').port}", "x.y")
        assert not (await browser.me()).HasField("account")
        with pytest.raises(RefusedError) as refused:
            await browser.call("session", "WhoAmI", play_pb2.WhoAmIRequest(), play_pb2.WhoAmIResponse)
        assert refused.value.code == "unauthenticated"


@pytest.mark.parametrize("as_json", [False, True])
async def test_games_are_told_to_anybody_and_manifests_once(home_house: House, as_json: bool) -> None:
    async with Browser(home_house.web, as_json=as_json) as browser:
        listed = await browser.call("play", "ListGames", play_pb2.ListGamesRequest(), play_pb2.ListGamesResponse)
        (game,) = listed.games
        request = play_pb2.DescribeGameRequest(game=GAME)
        answer = await browser.call("play", "DescribeGame", request, play_pb2.DescribeGameResponse)
        assert answer.manifest.digest == game.manifest_digest
        assert answer.manifest.name == game.name
        request.known_digest = answer.manifest.digest
        again = await browser.call("play", "DescribeGame", request, play_pb2.DescribeGameResponse)
        assert again.unchanged
        assert not again.HasField("manifest")


async def test_a_refusal_says_which_and_why(home_house: House) -> None:
    async with guests(home_house.web, "Aino") as (browser,):
        request = play_pb2.DescribeGameRequest(game="chess")
        with pytest.raises(RefusedError) as refused:
            await browser.call("play", "DescribeGame", request, play_pb2.DescribeGameResponse)
        assert (refused.value.status, refused.value.connect_code) == (404, "not_found")
        assert (refused.value.code, refused.value.rejection.field) == ("unknown_game", "game")
        watch = play_pb2.WatchRequest(match_id="0" * 26)
        with pytest.raises(RefusedError) as refused:
            await anext(browser.stream("play", "Watch", watch, play_pb2.WatchResponse))
        assert refused.value.code == "unknown_match"


async def test_what_is_no_request_is_said_to_be_none(home_house: House) -> None:
    async with guests(home_house.web, "Aino") as (browser,):
        for kind, body in (("json", b"{not json"), ("json", b'{"game": 7}'), ("json", b"\xff"), ("proto", b"\xff\xff")):
            response = await browser.http.post(
                "/grimoire.v1.PlayService/DescribeGame", content=body, headers={"content-type": f"application/{kind}"}
            )
            assert (response.status_code, response.json()["code"]) == (400, "invalid_argument"), body
        # A command is judged, whatever it is.
        response = await browser.http.post(
            "/grimoire.v1.PlayService/Submit", content=b"\xff", headers={"content-type": "application/proto"}
        )
        answer = play_pb2.SubmitResponse.FromString(response.content)
        assert answer.reply.rejection.code == "malformed"


async def _seated(home: House, browser: Browser) -> tuple[str, Client]:
    """A running match between a browser and a program; gives its id."""
    account = (await browser.me()).account
    client = await home.client("Väinö")
    match_id = await home.create_for([account.account_id, home.identity(client).account_id])
    return match_id, client


async def test_a_match_is_watched_from_a_snapshot_on_and_resumed_by_version(home_house: House) -> None:
    async with running_table(home_house) as table, guests(home_house.web, "Eve") as (browser,):
        watch = play_pb2.WatchRequest(match_id=table.match_id)
        async with aclosing(browser.stream("play", "Watch", watch, play_pb2.WatchResponse)) as frames:
            first = (await anext(frames)).frame
            assert first.snapshot.viewer.kind == frame_pb2.VIEWER_KIND_PUBLIC
            assert first.snapshot.view
            version = await table.move()
            delta = (await anext(frames)).frame.delta
            assert (getattr(delta, "from"), delta.to) == (first.snapshot.head.version, version)
            # The events, and the whole new view beside them.
            assert len(delta.entries) == 1
            assert delta.snapshot.view
            assert not delta.entries[0].parts
        head = delta.snapshot.head
        later = await table.move()
        watch.since_version, watch.since_hash = head.version, head.hash
        async with aclosing(browser.stream("play", "Watch", watch, play_pb2.WatchResponse)) as frames:
            resumed = (await anext(frames)).frame.delta
            assert (getattr(resumed, "from"), resumed.to) == (head.version, later)
        watch.since_hash = bytes(32)
        async with aclosing(browser.stream("play", "Watch", watch, play_pb2.WatchResponse)) as frames:
            assert (await anext(frames)).frame.HasField("snapshot")
        watch.since_version, watch.since_hash = 0, genesis(table.match_id)
        async with aclosing(browser.stream("play", "Watch", watch, play_pb2.WatchResponse)) as frames:
            assert (await anext(frames)).frame.delta.to == later


async def test_a_browser_plays(home_house: House) -> None:
    async with guests(home_house.web, "Aino") as (browser,):
        match_id, client = await _seated(home_house, browser)
        watch = play_pb2.WatchRequest(match_id=match_id)
        async with aclosing(browser.stream("play", "Watch", watch, play_pb2.WatchResponse)) as frames:
            snapshot = (await anext(frames)).frame.snapshot
            assert (snapshot.viewer.kind, snapshot.viewer.seat) == (frame_pb2.VIEWER_KIND_SEAT, 0)
            command = play_pb2.SubmitRequest()
            command.command.command_id = bytes(range(16))
            command.command.match_id = match_id
            command.command.seat = 0
            command.command.type = "resign"
            why = await browser.call(
                "play", "Explain", play_pb2.ExplainRequest(command=command.command), play_pb2.ExplainResponse
            )
            assert why.rejection.code == "match_not_started"
            command.command.seat = 1
            answer = await browser.call("play", "Submit", command, play_pb2.SubmitResponse)
            assert answer.reply.rejection.code == "not_a_seat"
        look = await browser.call("play", "Look", play_pb2.LookRequest(match_id=match_id), play_pb2.LookResponse)
        assert look.snapshot.head.match_id == match_id
        await client.close()


async def test_replays_come_through(home_house: House) -> None:
    async with running_table(home_house) as table, guests(home_house.web, "Eve") as (browser,):
        await table.move()
        request = replay_pb2.GetMatchRequest(match_id=table.match_id)
        found = await browser.call("replay", "GetMatch", request, replay_pb2.GetMatchResponse)
        assert found.head.match_id == table.match_id
        export = replay_pb2.ExportRequest(match_id=table.match_id)
        file = b"".join([r.chunk async for r in browser.stream("replay", "Export", export, replay_pb2.ExportResponse)])
        assert json.loads(file.splitlines()[0])
        upload = replay_pb2.ImportFileRequest(file=file)
        with pytest.raises(RefusedError) as refused:
            # It still runs: such a file shows nothing to be kept.
            await browser.call("replay", "ImportFile", upload, replay_pb2.ImportFileResponse)
        assert refused.value.status != 500
        frames = replay_pb2.StreamFramesRequest(match_id=table.match_id, viewer=found.viewers[0])
        shown = [r async for r in browser.stream("replay", "StreamFrames", frames, replay_pb2.StreamFramesResponse)]
        assert [f.version for r in shown for f in r.frames] == list(range(1, found.head.version + 1))


async def test_one_stream_carries_a_match_who_is_there_and_what_is_said(home_house: House) -> None:
    async with running_table(home_house) as table, guests(home_house.web, "Eve") as (browser,):
        request = lobby_pb2.FollowRequest(
            matches=[play_pb2.WatchRequest(match_id=table.match_id), play_pb2.WatchRequest(match_id="0" * 26)],
            presence=True,
            chat=True,
        )
        seen: dict[str, lobby_pb2.MatchNews] = {}
        async with aclosing(browser.stream("lobby", "Follow", request, lobby_pb2.FollowResponse)) as news:
            async for response in news:
                kind = response.match.WhichOneof("kind")
                if response.match.match_id != table.match_id:
                    assert response.match.ended.code == "unknown_match"
                    kind = "refused"
                elif kind == "presence" and response.match.presence.watchers != 1:
                    continue
                seen[kind or ""] = response.match
                if {"frame", "presence", "chat", "refused"} <= seen.keys():
                    break
            assert seen["frame"].frame.HasField("snapshot")
            online = {s.seat: s.state for s in seen["presence"].presence.seats}
            assert online == {0: lobby_pb2.PRESENCE_STATE_ONLINE, 1: lobby_pb2.PRESENCE_STATE_ONLINE}
            assert seen["chat"].chat.whole
            assert seen["chat"].chat.rights.may_say
