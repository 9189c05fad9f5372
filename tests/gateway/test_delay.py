"""Matches that are shown later to who holds no seat: live, at a look, and in the replay."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
import pytest_asyncio

from gateway.delay import Held, due_ms
from gateway.service import Gateway
from grimoire.engine import Seat, Viewer
from grimoire.v1 import frame_pb2, lobby_pb2, match_pb2, play_pb2, replay_pb2
from tests.gateway.browser import Browser, RefusedError, guests
from tests.gateway.house import House, house
from tests.gateway.tables import Table
from tests.gateway.test_accounts import CHEAP, FREE

pytestmark = pytest.mark.asyncio(loop_scope="module")

DELAY_S = 2


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    gateway = Gateway(account_limits=FREE, hash_cost=CHEAP)
    async with house(tmp_path_factory.mktemp("house"), gateway) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def table(home: House) -> AsyncIterator[Table]:
    """A running match that is shown two seconds later."""
    clients = [await home.client(name) for name in ("Aino", "Väinö")]
    match_id = await home.create(clients, spectator_delay_s=DELAY_S)
    sessions = [await client.open_match(match_id) for client in clients]
    for session in sessions:
        await session.started(timeout_s=60)
    opened = Table(home, clients, sessions)
    yield opened
    await opened.close()


async def watched(browser: Browser, match_id: str) -> AsyncIterator[frame_pb2.Frame]:
    """Frames, from when anything may be seen."""
    request = play_pb2.WatchRequest(match_id=match_id)
    while True:
        stream = browser.stream("play", "Watch", request, play_pb2.WatchResponse)
        refusal = None
        try:
            async with aclosing(stream) as responses:
                async for response in responses:
                    yield response.frame
            return
        except RefusedError as refused:
            refusal = refused.rejection
        assert (refusal.code, refusal.retry_after_ms) == ("shown_later", DELAY_S * 1000)
        await asyncio.sleep(0.05)


async def test_a_watcher_sees_every_entry_so_much_later_and_nothing_before(home: House, table: Table) -> None:
    async with guests(home.web, "Louhi") as (browser,), asyncio.timeout(30):
        seen = 0
        moving = asyncio.create_task(_move(table, 5))
        async with aclosing(watched(browser, table.match_id)) as frames:  # type: ignore[type-var]
            async for frame in frames:
                now_ms = time.time_ns() // 1_000_000
                if frame.HasField("heartbeat"):
                    assert frame.heartbeat.version <= seen
                    continue
                if frame.HasField("snapshot"):
                    assert seen == 0
                    seen = frame.snapshot.head.version
                    assert frame.snapshot.head.updated_ms <= now_ms - DELAY_S * 1000
                else:
                    assert getattr(frame.delta, "from") == seen
                    seen = frame.delta.to
                    assert frame.delta.snapshot.head.version == seen
                    newest = match_pb2.EntryHeader.FromString(frame.delta.entries[-1].header)
                    assert newest.server_time_ms <= now_ms - DELAY_S * 1000
                if moving.done() and seen == moving.result():
                    break


async def _move(table: Table, times: int) -> int:
    version = 0
    for _ in range(times):
        version = await table.move()
        await asyncio.sleep(0.2)
    return version


async def test_who_sits_there_sees_it_at_once(home: House, table: Table) -> None:
    version = await table.move()
    async with aclosing(table.watch()) as frames, asyncio.timeout(DELAY_S / 2):
        assert (await anext(frames)).snapshot.head.version >= version


async def test_a_look_shows_what_may_be_seen_by_now(home: House, table: Table) -> None:
    async with guests(home.web, "Louhi") as (browser,), asyncio.timeout(30):
        look = play_pb2.LookRequest(match_id=table.match_id)
        early = await _looked(browser, look)
        version = await table.move()
        assert early < version
        assert (await browser.call("play", "Look", look, play_pb2.LookResponse)).snapshot.head.version < version
        look.version = version
        with pytest.raises(RefusedError) as caught:
            await browser.call("play", "Look", look, play_pb2.LookResponse)
        assert caught.value.code == "shown_later"
        assert await _looked(browser, look) == version


async def _looked(browser: Browser, look: play_pb2.LookRequest) -> int:
    """Asks until there is something to be seen; gives its version."""
    while True:
        code = "seen"
        try:
            answer = await browser.call("play", "Look", look, play_pb2.LookResponse)
            return answer.snapshot.head.version
        except RefusedError as refused:
            code = refused.code
        assert code == "shown_later"
        await asyncio.sleep(0.05)


async def test_the_replay_is_no_way_round_it_while_the_match_runs(home: House, table: Table) -> None:
    async with guests(home.web, "Louhi") as (browser,), asyncio.timeout(30):
        get = replay_pb2.GetMatchRequest(match_id=table.match_id)
        found = await browser.call("replay", "GetMatch", get, replay_pb2.GetMatchResponse)
        assert not found.viewers
        public = frame_pb2.Viewer(kind=frame_pb2.VIEWER_KIND_PUBLIC)
        frames = replay_pb2.StreamFramesRequest(match_id=table.match_id, viewer=public)
        export = replay_pb2.ExportRequest(match_id=table.match_id)
        for method, request, answer in (
            ("StreamFrames", frames, replay_pb2.StreamFramesResponse),
            ("Export", export, replay_pb2.ExportResponse),
        ):
            with pytest.raises(RefusedError) as caught:
                await anext(browser.stream("replay", method, request, answer))
            assert caught.value.code == "shown_later"
        marks, audit = (
            replay_pb2.GetMarksRequest(match_id=table.match_id),
            replay_pb2.AuditRequest(match_id=table.match_id),
        )
        for method, request, answer in (
            ("GetMarks", marks, replay_pb2.GetMarksResponse),
            ("Audit", audit, replay_pb2.AuditResponse),
        ):
            with pytest.raises(RefusedError) as caught:
                await browser.call("replay", method, request, answer)
            assert caught.value.code == "shown_later"
        # How far it is by now is not told either.
        assert (found.head.version, found.head.hash, found.head.updated_ms) == (0, b"", 0)
        assert found.head.created.spectator_delay_s == DELAY_S
        # Who plays may look back at once.
        assert await table.clients[0].marks(table.match_id)
        assert (await table.clients[0].match(table.match_id)).head.version
        assert [f.version async for f in table.clients[0].frames(table.match_id, Viewer.of_seat(Seat(0)))]
        await table.sessions[0].resign()
        while True:
            found = await browser.call("replay", "GetMatch", get, replay_pb2.GetMatchResponse)
            if found.head.revealed:
                break
        assert len(found.viewers) == 4
        assert [r async for r in browser.stream("replay", "Export", export, replay_pb2.ExportResponse)]


async def test_ones_own_matches_and_the_presence_wait_for_nobody(home: House, table: Table) -> None:
    async with guests(home.web, "Louhi") as (browser,), asyncio.timeout(30):
        request = lobby_pb2.FollowRequest(matches=[play_pb2.WatchRequest(match_id=table.match_id)], presence=True)
        kinds = set()
        async with aclosing(browser.stream("lobby", "Follow", request, lobby_pb2.FollowResponse)) as news:
            async for response in news:
                kinds.add(response.match.WhichOneof("kind"))
                if "presence" in kinds:
                    break
        assert "presence" in kinds


async def test_frames_wait_in_their_order() -> None:
    held = Held()
    header = match_pb2.EntryHeader(server_time_ms=1_000).SerializeToString()
    delta = frame_pb2.Frame(delta=frame_pb2.Delta(entries=[frame_pb2.ViewerEntry(header=header)]))
    snapshot = frame_pb2.Frame(snapshot=frame_pb2.Snapshot(head=frame_pb2.MatchHead(updated_ms=500)))
    assert due_ms(delta, 2_000) == 3_000
    assert due_ms(snapshot, 2_000) == 2_500
    held.hold(delta, 3_000)
    held.hold(snapshot, 2_500)
    assert held.wait_s(1_000) == 2.0
    assert held.next(2_999) is None
    assert held.next(3_000) is delta
    assert held.next(3_000) is snapshot
    assert held.wait_s(3_000) is None
    for _ in range(512):
        assert not held.is_full
        held.hold(delta, 1)
    assert held.is_full
