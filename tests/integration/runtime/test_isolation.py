"""A match whose log no longer folds is set aside, told of once, and hurts nobody else."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest
from sqlalchemy import create_engine, text
from structlog.testing import capture_logs

from grimoire.plugins import load_game
from grimoire.runtime import loader
from grimoire.runtime.metrics import METRICS
from grimoire.v1 import frame_pb2, match_pb2, rules_pb2
from tests.support.crowd import until
from tests.support.rules import PUBLIC, rules_of
from tests.support.table import Table, accepted, broker, refused, submission, table

GAME = "two_towers"


class House:
    def __init__(self, running: Table, rules: Any, url: str) -> None:
        self.running = running
        self.rules = rules
        self._engine = create_engine(url)

    def damage(self, match_id: str, version: int, public: bytes) -> bytes:
        """Overwrites an entry's public bytes behind everybody's back; gives what was there."""
        where = {"match_id": match_id, "version": version, "public": public}
        with self._engine.begin() as connection:
            connection.execute(text("DROP TRIGGER IF EXISTS entries_no_update"))
            was = connection.execute(
                text("SELECT public FROM entries WHERE match_id = :match_id AND version = :version"), where
            ).scalar_one()
            connection.execute(
                text("UPDATE entries SET public = :public WHERE match_id = :match_id AND version = :version"), where
            )
        return bytes(was)

    def close(self) -> None:
        self._engine.dispose()


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with AsyncExitStack() as stack:
        config, keys = await stack.enter_async_context(broker(tmp_path))
        plugin = load_game(GAME)
        running = await stack.enter_async_context(table(config, keys, plugin.game))
        rules = await stack.enter_async_context(rules_of(running, plugin, config))
        here = House(running, rules, config.database_url(GAME))
        yield here
        here.close()


def evict(running: Table, match_id: str) -> None:
    running.owner._cache.remove(running.owner._cache.get(match_id))


UNKNOWN = match_pb2.Events(events=[match_pb2.Event(type="no_such_event", body=b"x")]).SerializeToString()


@pytest.mark.parametrize("public", [b"\xff\xff\xff", b"\x0a\x03abc", UNKNOWN, b""], ids=("x", "y", "unknown", "none"))
async def test_a_log_that_does_not_fold(house: House, public: bytes) -> None:
    running = house.running
    state, other = await running.begin("m1"), await running.begin("m2")
    was = house.damage("m1", 3, public)
    evict(running, "m1")
    broken = METRICS.broken_matches.labels(GAME)
    before = broken._value.get()
    with capture_logs() as logs:
        for _ in range(3):
            resign = submission("m1", "resign", match_pb2.Resign(), seat=0)
            assert refused(await running.ask(resign)) == "match_broken"
        head = (await house.rules.GetHead(rules_pb2.GetHeadRequest(match_id="m1"))).head
        assert head.status == frame_pb2.MATCH_STATUS_BROKEN
        assert (head.version, head.game, head.hash) == (state.version, GAME, state.hash)
        assert [seat.occupant_id for seat in head.created.seats] == ["o0", "o1"]
        for call in (
            house.rules.GetView(rules_pb2.GetViewRequest(match_id="m1", viewer=PUBLIC)),
            house.rules.WhyNot(rules_pb2.WhyNotRequest(submission=resign)),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call
            assert caught.value.code() is grpc.StatusCode.DATA_LOSS
        watching = house.rules.WatchMatch(rules_pb2.WatchMatchRequest(match_id="m1", viewer=PUBLIC))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await watching.read()
        assert caught.value.code() is grpc.StatusCode.DATA_LOSS
    # Told once, counted once.
    assert broken._value.get() == before + 1
    told = [line for line in logs if line["log_level"] == "error"]
    assert [line["event"] for line in told] == ["match_broken"]
    assert told[0]["match_id"] == "m1"
    # The others go on.
    accepted(await running.ask(running.random_command(other, random.Random(1))))
    # Mended, it goes on too, where it was.
    house.damage("m1", 3, was)
    running.owner._loader._broken["m1"] -= loader.BROKEN_S
    accepted(await running.ask(running.random_command(state, random.Random(1))))
    assert (await house.rules.GetHead(rules_pb2.GetHeadRequest(match_id="m1"))).head.version == state.version + 1


async def test_its_clock_does_not_tick_for_ever(house: House) -> None:
    running = house.running
    accepted(await running.create("m1", handshake_s=1))
    accepted(await running.create("m2", handshake_s=1))
    house.damage("m1", 1, b"\xff")
    evict(running, "m1")
    async with asyncio.timeout(20):
        while not (await running.state("m2")).over:
            await asyncio.sleep(0.02)
    await until(lambda: "m1" in running.owner._loader._broken)
    assert len(running.owner._clockwork) == 0
    assert running.owner._clockwork._timer is None


async def test_a_match_that_breaks_in_anothers_view_breaks_only_that_answer(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = house.running
    await running.begin("m1")

    def broken(*_: Any) -> Any:
        raise KeyError("a hidden card")

    monkeypatch.setattr(running.owner.referee.game, "view", broken)
    with capture_logs() as logs, pytest.raises(grpc.aio.AioRpcError) as caught:
        await house.rules.GetView(rules_pb2.GetViewRequest(match_id="m1", viewer=PUBLIC))
    assert caught.value.code() is grpc.StatusCode.INTERNAL
    assert "hidden card" not in str(caught.value)
    (line,) = [line for line in logs if line["log_level"] == "error"]
    assert line["event"] == "rules_failed"
    assert "hidden card" not in str(line)
    monkeypatch.undo()
    await house.rules.GetView(rules_pb2.GetViewRequest(match_id="m1", viewer=PUBLIC))


async def test_a_hidden_part_that_was_changed(house: House) -> None:
    """It folds as well as the true one; its hash does not."""
    running = house.running
    await running.begin("m1")
    evict(running, "m1")
    with house._engine.begin() as connection:
        connection.execute(text("DROP TRIGGER hidden_no_update"))
        parts = connection.execute(text("SELECT parts FROM hidden WHERE match_id = 'm1' AND version = 5")).scalar_one()
        dealt = match_pb2.Parts.FromString(parts)
        hands = {part.audience: part for part in dealt.parts}
        hands["seat/0"].body, hands["seat/1"].body = hands["seat/1"].body, hands["seat/0"].body
        connection.execute(
            text("UPDATE hidden SET parts = :parts WHERE match_id = 'm1' AND version = 5"),
            {"parts": dealt.SerializeToString()},
        )
    # Not even what came before the damage is shown.
    for seen in (PUBLIC, frame_pb2.Viewer(kind=frame_pb2.VIEWER_KIND_SEAT, seat=0)):
        frames = house.rules.GetFrames(rules_pb2.GetFramesRequest(match_id="m1", viewer=seen))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await frames.read()
        assert caught.value.code() is grpc.StatusCode.DATA_LOSS
    assert refused(await running.ask(submission("m1", "resign", match_pb2.Resign(), seat=0))) == "match_broken"


@pytest.mark.parametrize("size", [loader.REMEMBERED_BYTES, 2_000], ids=("remembered", "too large to be"))
async def test_frames_are_the_same_whether_the_match_was_in_memory_or_had_to_be_folded(
    house: House, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(loader, "REMEMBERED_BYTES", size)
    running, chance = house.running, random.Random(3)
    state = await running.begin("m1")
    viewers = (PUBLIC, *(frame_pb2.Viewer(kind=frame_pb2.VIEWER_KIND_SEAT, seat=seat) for seat in (0, 1)))

    async def shown(first: int = 1, last: int = 0) -> list[list[rules_pb2.ReplayFrame]]:
        every = []
        for viewer in viewers:
            request = rules_pb2.GetFramesRequest(match_id="m1", viewer=viewer, **{"from": first, "to": last})
            every.append([frame async for part in house.rules.GetFrames(request) for frame in part.frames])
        return every

    async def views(version: int) -> list[frame_pb2.Snapshot]:
        asked = [rules_pb2.GetViewRequest(match_id="m1", viewer=viewer, version=version) for viewer in viewers]
        return [(await house.rules.GetView(request)).snapshot for request in asked]

    for _ in range(12):
        accepted(await running.ask(running.random_command(state, chance)))
        state = await running.state("m1")
    in_memory, earlier = await shown(), await views(9)
    assert [[frame.version for frame in frames] for frames in in_memory] == [[*range(1, state.version + 1)]] * 3
    evict(running, "m1")
    folded = await shown()
    live = running.owner._cache.get("m1")
    assert live is not None
    assert bool(live.steps) is (size > 2_000)
    assert folded == in_memory
    assert await shown(4, 9) == [frames[3:9] for frames in in_memory]
    assert await views(9) == earlier
    # What was remembered is no longer all of it once the match has gone on.
    accepted(await running.ask(running.random_command(state, chance)))
    longer = await shown()
    assert [frames[:-1] for frames in longer] == in_memory
    assert [frames[-1].version for frames in longer] == [state.version + 1] * 3
    assert await views(9) == earlier


async def test_nothing_is_remembered_of_a_match_that_is_only_played(house: House) -> None:
    running = house.running
    state = await running.begin("m1")
    evict(running, "m1")
    accepted(await running.ask(running.random_command(state, random.Random(3))))
    live = running.owner._cache.get("m1")
    assert live is not None
    assert not live.steps
    await house.rules.GetHead(rules_pb2.GetHeadRequest(match_id="m1"))
    assert not live.steps


async def test_only_the_last_matches_are_remembered(house: House) -> None:
    running = house.running
    names = [f"m{number}" for number in range(loader.REMEMBERED + 3)]
    for name in names:
        accepted(await running.create(name))
        evict(running, name)
    for name in names:
        await house.rules.GetHead(rules_pb2.GetHeadRequest(match_id=name))
    found = [running.owner._cache.get(name) for name in names]
    assert [len(live.steps) for live in found if live] == [0] * 3 + [1] * loader.REMEMBERED
