"""One heap, one timer: who is woken, when, and what lies in memory meanwhile."""

from __future__ import annotations

import asyncio
import random
import time

import pytest

from grimoire.runtime.clockwork import AT_ONCE, GRACE_MS, Clockwork


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Woken:
    """Collects what is due."""

    def __init__(self) -> None:
        self.rounds: list[list[tuple[int, str]]] = []

    def __call__(self, due: list[tuple[int, str]]) -> None:
        self.rounds.append(due)

    @property
    def all(self) -> list[tuple[int, str]]:
        return [one for due in self.rounds for one in due]

    async def until(self, count: int) -> None:
        async with asyncio.timeout(60):
            while len(self.all) < count:
                await asyncio.sleep(0.002)


@pytest.fixture
def woken() -> Woken:
    return Woken()


@pytest.fixture
async def clockwork(woken: Woken) -> Clockwork:
    return Clockwork(now_ms, woken)


async def test_everybody_is_woken_once_in_order(clockwork: Clockwork, woken: Woken) -> None:
    start = now_ms() + 30
    wanted = [(start + 7 * n, n % 4, f"m{n}") for n in range(20)]
    for deadline, partition, match_id in random.Random(1).sample(wanted, 20):
        clockwork.set(partition, match_id, deadline)
    assert len(clockwork) == 20
    await woken.until(20)
    assert woken.all == [(partition, match_id) for _, partition, match_id in wanted]
    assert len(clockwork) == 0
    assert now_ms() >= wanted[-1][0]


async def test_only_the_latest_deadline_of_a_match_counts(clockwork: Clockwork, woken: Woken) -> None:
    for deadline in (now_ms() + 10, None, now_ms() + 5_000, now_ms() + 30):
        clockwork.set(1, "m1", deadline)
    clockwork.set(1, "m2", now_ms() + 20)
    clockwork.set(1, "m2", None)
    await woken.until(1)
    await asyncio.sleep(0.05)
    assert woken.all == [(1, "m1")]


async def test_those_of_a_lost_partition_sleep_on(clockwork: Clockwork, woken: Woken) -> None:
    clockwork.set_many(1, [("m1", now_ms() + 10), ("m2", now_ms() + 20)])
    clockwork.set(2, "m3", now_ms() + 30)
    clockwork.drop(1)
    clockwork.drop(7)
    assert len(clockwork) == 1
    await woken.until(1)
    assert woken.all == [(2, "m3")]


async def test_many_at_once_come_in_slices(clockwork: Clockwork, woken: Woken) -> None:
    clockwork.set_many(3, ((f"m{n}", now_ms() - 1) for n in range(3 * AT_ONCE)))
    await woken.until(3 * AT_ONCE)
    assert [len(due) for due in woken.rounds] == [AT_ONCE] * 3


async def test_a_deadline_in_a_year_is_no_trouble(clockwork: Clockwork, woken: Woken) -> None:
    clockwork.set(1, "m1", now_ms() + 365 * 86_400_000)
    clockwork.set(1, "m2", now_ms() + 10)
    await woken.until(1)
    assert woken.all == [(1, "m2")]
    clockwork.stop()


async def test_moved_deadlines_do_not_pile_up(clockwork: Clockwork) -> None:
    far = now_ms() + 1_000_000
    for turn in range(10_000):
        clockwork.set(turn % 8, f"m{turn % 100}", far + turn)
    assert len(clockwork) <= 200
    assert len(clockwork._heap) <= 4 * len(clockwork) + 64
    for partition in range(8):
        clockwork.drop(partition)
    assert len(clockwork._heap) <= 64
    clockwork.stop()


async def test_fifty_thousand_are_set_in_no_time_and_cost_little(clockwork: Clockwork) -> None:
    far = now_ms() + 1_000_000
    for partition in range(64):
        clockwork.set_many(partition, ((f"{partition}-{n}", far + n) for n in range(800)))
    assert len(clockwork) == 64 * 800
    assert clockwork._heap[0][0] == far
    clockwork.stop()


async def test_after_a_standstill_what_lies_unread_is_read_first(clockwork: Clockwork, woken: Woken) -> None:
    deadline = now_ms() + 30
    clockwork.set(1, "m1", deadline)
    time.sleep(0.2)  # noqa: ASYNC251 -- the loop stands still
    await asyncio.sleep(0.001)
    assert woken.all == []
    # Read now, it counts as come just before the deadline; but never as more than a second old.
    assert clockwork.received(now_ms()) == deadline - 1
    assert clockwork.received(deadline + 1_500) in (deadline + 500, deadline + 1_500)
    await woken.until(1)
    assert now_ms() >= deadline + 200 - 30 + GRACE_MS
    assert clockwork.received(now_ms() + GRACE_MS) >= deadline + 200


async def test_standstill_after_standstill_does_not_keep_the_clock_from_striking(
    clockwork: Clockwork, woken: Woken
) -> None:
    clockwork.set(1, "m1", now_ms() + 10)
    for _ in range(4):
        time.sleep(0.1)  # noqa: ASYNC251 -- the loop stands still
        await asyncio.sleep(0.002)
    assert woken.all == [(1, "m1")]
