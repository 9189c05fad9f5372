"""Which matches stay in memory."""

from __future__ import annotations

import asyncio

from grimoire.runtime.cache import MatchCache
from grimoire.runtime.live import LiveMatch, Watch


def live(match_id: str, partition: int = 1) -> LiveMatch:
    return LiveMatch(match_id, "toy", 1, partition, 1, None)


def ids(cache: MatchCache) -> list[str]:
    return list(cache._matches)


async def test_the_one_touched_longest_ago_goes_first() -> None:
    cache = MatchCache(3, 60)
    for name in "abc":
        cache.put(live(name))
    assert cache.get("a") is not None
    cache.put(live("d"))
    assert ids(cache) == ["c", "a", "d"]
    assert cache.get("b") is None
    cache.close()


async def test_those_in_use_stay_however_many() -> None:
    cache = MatchCache(3, 60)
    watched = [live(f"w{n}") for n in range(20)]
    for one in watched:
        one.watches.add(Watch())
        cache.put(one)
    cache.put(live("idle"))
    assert len(cache) == 21
    cache.put(live("new"))
    assert "new" in ids(cache)
    for one in watched:
        one.watches.clear()
    for n in range(6):
        cache.put(live(f"n{n}"))
    assert len(cache) <= 4
    cache.close()


async def test_the_newest_is_never_pushed_out_by_itself() -> None:
    cache = MatchCache(1, 60)
    busy = live("busy")
    busy.watches.add(Watch())
    cache.put(busy)
    newest = live("newest")
    cache.put(newest)
    assert cache.holds(newest)
    cache.close()


async def test_idle_ones_leave_after_a_while_and_then_no_timer_is_left() -> None:
    cache = MatchCache(10, 0.05)
    busy = live("busy")
    busy.watches.add(Watch())
    cache.put(busy)
    for name in "abc":
        cache.put(live(name))
    async with asyncio.timeout(60):
        while len(cache) > 1:
            await asyncio.sleep(0.01)
    assert ids(cache) == ["busy"]
    busy.watches.clear()
    async with asyncio.timeout(60):
        while len(cache) or cache._timer is not None:
            await asyncio.sleep(0.01)
    cache.put(live("again"))
    assert cache._timer is not None
    cache.close()


async def test_one_that_is_touched_stays() -> None:
    cache = MatchCache(10, 0.2)
    cache.put(live("a"))
    cache.put(live("b"))
    for _ in range(8):
        await asyncio.sleep(0.05)
        assert cache.get("a") is not None
    assert ids(cache) == ["a"]
    cache.close()


async def test_another_object_of_the_same_match_is_not_it() -> None:
    cache = MatchCache(10, 60)
    old, new = live("a"), live("a")
    cache.put(old)
    cache.put(new)
    assert not cache.holds(old)
    cache.remove(old)
    assert cache.holds(new)
    assert cache.of({1}) == [new]
    assert cache.of({2}) == []
    cache.close()


class TestWatch:
    async def test_it_gives_what_has_come_and_waits_for_more(self) -> None:
        watch = Watch()
        assert await watch.take(0.01) == []
        taking = asyncio.create_task(watch.take(10))
        await asyncio.sleep(0)
        watch.put("one")  # type: ignore[arg-type]
        assert await taking == ["one"]
        watch.put("two")  # type: ignore[arg-type]
        watch.put("three")  # type: ignore[arg-type]
        assert await watch.take(10) == ["two", "three"]
        assert await watch.take(0.01) == []

    async def test_a_reader_that_falls_behind_is_dropped_with_nothing_skipped_in_between(self) -> None:
        watch = Watch(limit=3)
        for number in range(5):
            watch.put(number)  # type: ignore[arg-type]
        assert watch.dropped
        assert await watch.take(10) == [0, 1, 2]

    async def test_dropping_wakes_whoever_waits(self) -> None:
        watch = Watch()
        taking = asyncio.create_task(watch.take(10))
        await asyncio.sleep(0)
        watch.drop()
        assert await taking == []
        assert watch.dropped
