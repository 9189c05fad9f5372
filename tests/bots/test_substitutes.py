"""A person leaves a running match, a real bot plays on through the edge, and the person comes back."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from bots.service import Bots
from bots.settings import BotSettings
from grimoire.client import MINE, OPEN, Client, MatchSession, Rejected
from grimoire.runtime.metrics import METRICS
from grimoire.v1 import match_pb2, matchmaking_pb2
from matchmaking.limits import Limits
from matchmaking.service import serve
from tests.bots.playing import play, until
from tests.gateway.house import House, house, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUICK = BotSettings(pace_ms=0, budget_ms=20, workers=1, overtime_s=0.3)
NAMES = ("Ada", "Bo", "Eve")
HANDOVERS = "grimoire_seat_handovers"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    lobby = functools.partial(serve, limits=Limits(bots_s=1.0))
    folder = tmp_path_factory.mktemp("house")
    async with house(folder, beside={"matchmaking": lobby}) as running, serving(Bots(QUICK), running.config):
        yield running


async def table(home: House, mode: str, grace_s: int) -> tuple[list[Client], list[MatchSession]]:
    people = [await home.client(name) for name in NAMES]
    opened = await people[0].open_table("toy", [MINE, OPEN, OPEN], {"mode": mode}, grace_s=grace_s)
    for client in people[1:]:
        opened = await client.join(opened.challenge_id)
    sessions = [await client.open_match(opened.match_id) for client in people]
    for session in sessions:
        await session.started(timeout_s=20)
    return people, sessions


async def table_that(client: Client, match_id: str, condition) -> matchmaking_pb2.Table:
    async with asyncio.timeout(20):
        async for shown in client.watch_table(match_id):
            if condition(shown):
                return shown
    raise AssertionError("the stream ended before")


def handovers(to: str) -> float:
    """Seats that bots, or people, have been given so far."""
    return METRICS.registry.get_sample_value(f"{HANDOVERS}_total", {"game": "toy", "to": to}) or 0.0


async def filed(client: Client, match_id: str) -> matchmaking_pb2.MatchSummary:
    """A match among the caller's own that are over."""
    async with asyncio.timeout(20):
        while True:
            for summary in await client.matches(mine=True, finished=True):
                if summary.match_id == match_id:
                    return summary
            await asyncio.sleep(0.02)


async def test_a_bot_plays_a_leavers_seat_to_the_end(home: House) -> None:
    people, (ada, bo, eve) = await table(home, "melee", 1)
    await bo.leave()
    with pytest.raises(Rejected) as gone:
        await bo.wait_finished(timeout_s=20)
    assert gone.value.code == "not_a_seat"
    assert ada.occupants[1].kind == match_pb2.OCCUPANT_KIND_BOT
    await asyncio.gather(*(asyncio.wait_for(play(session), 30) for session in (ada, eve)))
    assert ada.closed is not None
    verdict = await ada.verify_result()
    assert (verdict.holds, verdict.same_head) == (True, True), verdict
    assert list((await filed(people[1], ada.match_id)).substituted) == [1]
    for session in (ada, eve):
        await session.close()


async def test_who_comes_back_gets_the_seat_from_the_bot(home: House) -> None:
    people, (ada, bo, eve) = await table(home, "melee", 1)
    match_id = ada.match_id
    counted = {to: handovers(to) for to in ("bot", "person")}
    await bo.leave()
    await table_that(people[0], match_id, lambda shown: shown.seats[1].now.bot)
    before = ada.version
    await until(lambda: ada.version > before)
    assert (await people[1].return_to_seat(match_id)).seats[1].now.mine
    assert {to: handovers(to) - was for to, was in counted.items()} == {"bot": 1, "person": 1}
    async with await people[1].open_match(match_id) as again:
        assert again.seat == 1
        await asyncio.gather(*(asyncio.wait_for(play(session), 30) for session in (ada, again, eve)))
        assert again.closed is not None
        assert (await again.verify_result()).holds
    assert list((await filed(people[1], match_id)).substituted) == []
    for session in (ada, eve):
        await session.close()


async def test_a_bot_whose_seat_is_taken_back_while_it_ponders_gets_up_quietly(tmp_path: Path) -> None:
    lobby, slow = functools.partial(serve, limits=Limits(bots_s=30.0)), Bots(BotSettings(pace_ms=700, workers=1))
    with capture_logs() as logs:
        async with house(tmp_path, beside={"matchmaking": lobby}) as home, serving(slow, home.config):
            people, sessions = await table(home, "melee", 1)
            match_id = sessions[0].match_id
            await sessions[1].leave()
            await table_that(people[0], match_id, lambda shown: shown.seats[1].now.bot)
            await until(lambda: slow.seats == 1)
            await people[1].return_to_seat(match_id)
            await until(lambda: slow.seats == 0)
            for session in sessions:
                await session.close()
    told = {log["event"]: log["log_level"] for log in logs if log["event"].startswith("bot_")}
    assert "bot_has_no_seat" in told
    assert set(told.values()) == {"info"}, told


async def test_a_fellow_whom_the_others_chose_plays_both_seats(home: House) -> None:
    people, (ada, bo, eve) = await table(home, "party", 600)
    match_id = ada.match_id
    await bo.resign()
    await table_that(people[0], match_id, lambda shown: shown.seats[1].HasField("vacancy"))
    await people[0].vote(match_id, 1, fellow=2)
    await people[2].vote(match_id, 1, fellow=2)
    await table_that(people[2], match_id, lambda shown: shown.seats[1].now.mine)
    async with await people[2].open_match(match_id, 1) as second:
        sessions = (ada, eve, second)
        await asyncio.gather(*(asyncio.wait_for(play(session), 30) for session in sessions))
        assert second.closed is not None
        assert (await second.verify_result()).holds
    for session in (ada, eve):
        await session.close()
