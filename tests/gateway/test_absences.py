"""Who closes the match while others wait is away after a while, and nobody else is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from gateway.absences import mark_away
from grimoire.client import MatchSession, Update
from grimoire.v1 import match_pb2
from tests.gateway.house import House
from tests.gateway.tables import running_table

pytestmark = pytest.mark.asyncio(loop_scope="module")

GONE_MS = 300
BO = 1


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.absences._GONE_MS", GONE_MS)
    monkeypatch.setattr("gateway.absences._ROUND_S", 0.05)


class Log:
    """What the log says of seats that were left."""

    def __init__(self, session: MatchSession) -> None:
        self.left: list[tuple[int, str]] = []
        session.on_update(self._take)

    def _take(self, update: Update) -> None:
        for event in update.events:
            if event.type == "seat_left":
                gone = match_pb2.SeatLeft.FromString(event.body)
                self.left.append((gone.seat, gone.reason))


async def until(true: Callable[[], object], within_s: float = 20) -> None:
    async with asyncio.timeout(within_s):
        while not true():
            await asyncio.sleep(0.02)


async def test_who_closes_the_match_is_away_until_it_acts(home_house: House) -> None:
    async with running_table(home_house, {"mode": "party"}, ("Ada", "Bo", "Eve")) as table:
        log = Log(table.sessions[0])
        await table.sessions[BO].close()
        await until(lambda: table.sessions[0].head.away)
        await until(lambda: log.left == [(BO, "away")])
        await table.move(BO)
        await until(lambda: not table.sessions[0].head.away)
        # It is told once for each time that the person has gone.
        version = table.sessions[0].version
        await asyncio.sleep(3 * GONE_MS / 1000)
        assert table.sessions[0].version == version


async def test_nobody_is_away_where_seats_are_kept_or_a_turn_has_an_hour(home_house: House) -> None:
    for options in ({"mode": "duel"}, {"mode": "party", "choose_s": "3600"}):
        async with running_table(home_house, options) as table:
            await table.sessions[BO].close()
            await asyncio.sleep(4 * GONE_MS / 1000)
            await table.move()
            assert not table.sessions[0].head.away, options


async def test_a_page_that_is_opened_again_in_time_is_no_leave(
    home_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.absences._GONE_MS", 2_000)
    async with running_table(home_house, {"mode": "party"}) as table:
        await table.sessions[BO].close()
        async with await table.clients[BO].open_match(table.match_id):
            await asyncio.sleep(2.5)
            assert not table.sessions[0].head.away


async def test_the_command_is_the_same_bytes_however_often_it_is_sent() -> None:
    assert mark_away("m", 1, 5) == mark_away("m", 1, 5)
    ids = {mark_away("m", seat, since).command.command_id for seat in (0, 1) for since in (5, 6)}
    assert len(ids) == 4
