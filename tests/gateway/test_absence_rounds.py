"""Rounds of an edge that looks for absences: who is late for how long, and what holds up whom."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gateway.absences import Absences
from gateway.matches import Matches
from gateway.news import NoNews
from gateway.presence import Presence
from grimoire.bus import RequestTimeoutError
from grimoire.engine import MatchId
from grimoire.runtime.keys import KeyRing
from grimoire.v1 import envelope_pb2, frame_pb2, match_pb2


async def until(true: Callable[[], object], within_s: float = 20) -> None:
    async with asyncio.timeout(within_s):
        while not true():
            await asyncio.sleep(0.02)


class Installation:
    """Matches of two people each, created before the edge began: their names begin with their game's letter."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.looked_up: list[str] = []
        self.failing: dict[str, Exception] = {}

    async def find(self, match_id: MatchId) -> frame_pb2.MatchHead:
        self.looked_up.append(match_id)
        created = match_pb2.MatchCreated(
            leaving=match_pb2.LEAVING_REPLACED,
            time_control=match_pb2.TimeControl(per_prompt=[match_pb2.ClassLimit(deadline_class="turn", seconds=60)]),
            seats=[
                match_pb2.SeatOccupant(seat=seat, occupant_id=f"o{seat}", kind=match_pb2.OCCUPANT_KIND_PERSON)
                for seat in range(2)
            ],
        )
        return frame_pb2.MatchHead(match_id=match_id, game=match_id[0], created=created, created_ms=1)

    async def request_command(
        self, game: str, match_id: str, submission: bytes, *, reply_s: float = 5.0, owner_s: float = 5.0
    ) -> bytes:
        self.told.append(match_id)
        if match_id in self.failing or game in self.failing:
            raise self.failing.get(match_id) or self.failing[game]
        return envelope_pb2.CommandReply().SerializeToString()


def named(game: str, number: int) -> str:
    return f"{game}{number:025}"


@dataclass
class Round:
    """The absences of an edge whose clock stands still until it is set."""

    keys: KeyRing
    now_ms: int = 1_000
    installation: Installation = field(default_factory=Installation)

    def __post_init__(self) -> None:
        self.matches = Matches(self.installation, self.keys)
        self.presence = Presence(NoNews(), lambda: self.now_ms)
        self.absences = Absences(self.presence, self.matches, self.installation, lambda: self.now_ms)

    async def look(self, after_ms: int) -> list[str]:
        """To whom it spoke."""
        self.now_ms += after_ms
        self.installation.told.clear()
        await self.absences.look()
        return self.installation.told.copy()


@pytest.fixture
async def going(tmp_path: Path) -> AsyncIterator[Round]:
    made = Round(KeyRing.load_or_create(tmp_path))
    yield made
    await made.presence.close()


def follow(stack: ExitStack, going: Round, match_id: str, seats: tuple[int, ...] = (0,)) -> None:
    for seat in seats:
        stack.enter_context(going.presence.follow(match_id, seat))


async def left(going: Round, stack: ExitStack, *match_ids: str) -> None:
    """In these matches seat 1 has been and gone."""
    for match_id in match_ids:
        await going.matches.facts(match_id)
        follow(stack, going, match_id)
        with going.presence.follow(match_id, 1):
            pass
    await until(lambda: len(going.presence.absences(going.now_ms)) == len(match_ids))


async def test_after_a_restart_others_may_tell_twice_whom_they_see(going: Round) -> None:
    with ExitStack() as following:
        follow(following, going, named("a", 1))
        await until(lambda: going.presence._matches[named("a", 1)].online)
        going.now_ms += 1
        assert [await going.look(30_000), await going.look(29_000)] == [[], []], "one repeat of another may be lost"
        assert not going.installation.looked_up
        await going.look(1_000)
        assert await going.look(1) == [named("a", 1)]


async def test_a_game_that_does_not_answer_holds_up_no_other(going: Round) -> None:
    hanging = [named("a", n) for n in range(3)]
    with ExitStack() as following:
        await left(going, following, *hanging, named("b", 0))
        going.installation.failing["a"] = RequestTimeoutError("hangs")
        assert await going.look(30_000) == [hanging[0], named("b", 0)]
        assert await going.look(1) == [hanging[1]], "none of its matches waits for another for ever"
        going.installation.failing.clear()
        assert sorted(await going.look(1)) == hanging


async def test_one_match_that_breaks_breaks_no_other(going: Round) -> None:
    matches = [named(game, 0) for game in "abc"]
    with ExitStack() as following:
        await left(going, following, *matches)
        going.installation.failing[matches[0]] = ZeroDivisionError()
        assert await going.look(30_000) == matches


async def test_who_was_seen_to_go_comes_before_whom_nobody_has_seen(
    going: Round, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.absences._COMPARED", 2)
    with ExitStack() as following:
        for n in range(3):
            follow(following, going, named("n", n))
        await left(going, following, named("a", 0))
        going.installation.looked_up.clear()
        going.matches.forget(MatchId(named("a", 0)))
        await going.look(60_000)
        assert going.installation.looked_up[0] == named("a", 0)
        assert len(going.installation.looked_up) == 3, "some newcomers in each round"
        await going.look(1)
        assert not going.presence.newcomers(going.now_ms)
