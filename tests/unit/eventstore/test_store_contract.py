"""What every store promises, whichever database is behind it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from grimoire.eventstore import (
    PARTITIONS,
    Claim,
    Conflict,
    ConflictKind,
    Deadline,
    EventStore,
    Head,
    Instance,
    Muster,
    NewEntry,
    Owner,
    StoredEntry,
    StoreError,
    Unavailable,
    open_store,
    partition_of,
)
from tests.support.eventstore import GAME, new_entries, new_entry

STALE_MS = 500


def as_stored(entry: NewEntry, *, parts: bool = False) -> StoredEntry:
    return StoredEntry(
        entry.match_id,
        entry.version,
        entry.command_id,
        entry.server_time_ms,
        entry.header,
        entry.public,
        entry.digests,
        entry.hash,
        entry.parts if parts else None,
    )


async def refused(store: EventStore, *entries: NewEntry) -> dict[str, ConflictKind]:
    with pytest.raises(Conflict) as caught:
        await store.append(entries)
    return caught.value.faults


async def own(store: EventStore, instance: str, match_id: str, now_ms: int = 1_000) -> int:
    claim = await store.claim(GAME, partition_of(match_id), instance, f"{instance}:1", now_ms, STALE_MS)
    assert claim is not None
    return claim.epoch


class TestReading:
    async def test_gives_back_every_byte(self, store: EventStore) -> None:
        entries = new_entries("m1", 1, 5)
        await store.append(entries)
        assert await store.read("m1") == [as_stored(entry) for entry in entries]
        assert await store.read("m1", parts=True) == [as_stored(entry, parts=True) for entry in entries]

    async def test_keeps_to_the_versions_asked_for(self, store: EventStore) -> None:
        await store.append(new_entries("m1", 1, 5) + new_entries("m2", 1, 7))
        for first, last, versions in (
            (1, None, [1, 2, 3, 4, 5]),
            (3, None, [3, 4, 5]),
            (2, 4, [2, 3, 4]),
            (5, 5, [5]),
            (4, 99, [4, 5]),
            (6, None, []),
            (4, 3, []),
            (0, 1, [1]),
        ):
            assert [entry.version for entry in await store.read("m1", first, last)] == versions

    async def test_reads_in_chunks(self, store: EventStore) -> None:
        await store.append(new_entries("m1", 1, 10))
        for first, last, size, chunks in (
            (1, None, 4, [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]),
            (1, None, 5, [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]),
            (1, None, 256, [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]]),
            (2, 6, 3, [[2, 3, 4], [5, 6]]),
            (2, 7, 3, [[2, 3, 4], [5, 6, 7]]),
            (11, None, 3, []),
        ):
            found = [chunk async for chunk in store.read_chunks("m1", first, last, parts=True, size=size)]
            assert [[entry.version for entry in chunk] for chunk in found] == chunks
            assert all(entry.parts for chunk in found for entry in chunk)

    async def test_knows_nothing_of_an_unknown_match(self, store: EventStore) -> None:
        assert await store.read("nobody") == []
        assert await store.head("nobody") is None
        assert await store.by_command("nobody", bytes(16)) is None

    async def test_an_entry_without_private_parts_has_empty_ones(self, store: EventStore) -> None:
        await store.append([new_entry("m1", 1, parts=b"")])
        assert [entry.parts for entry in await store.read("m1", parts=True)] == [b""]
        assert [entry.parts for entry in await store.read("m1")] == [None]

    async def test_finds_an_entry_by_its_command(self, store: EventStore) -> None:
        entries = new_entries("m1", 1, 3)
        await store.append([*entries, *new_entries("m2", 1, 3)])
        assert await store.by_command("m1", entries[1].command_id) == as_stored(entries[1], parts=True)
        assert await store.by_command("m2", entries[1].command_id) is None

    async def test_big_entries(self, store: EventStore) -> None:
        big = new_entry("m1", 1, public=os.urandom(256 * 1024), parts=os.urandom(256 * 1024))
        await store.append([big])
        assert await store.read("m1", parts=True) == [as_stored(big, parts=True)]

    async def test_long_matches(self, store: EventStore) -> None:
        count = 10_000
        for first in range(1, count, 100):
            await store.append(new_entries("m1", first, first + 99))
        assert [entry.version for entry in await store.read("m1")] == list(range(1, count + 1))
        assert [entry.version for entry in await store.read("m1", count - 1)] == [count - 1, count]
        assert sum([len(chunk) async for chunk in store.read_chunks("m1")]) == count


class TestHeads:
    async def test_follow_the_last_entry(self, store: EventStore) -> None:
        await store.append([new_entry("m1", 1, status=1, next_deadline_ms=9_000, rules_version=3)])
        await store.append(
            [new_entry("m1", 2), new_entry("m1", 3, status=2, next_deadline_ms=None, rules_version=4, hash=b"h3")]
        )
        assert await store.head("m1") == Head(
            match_id="m1",
            game=GAME,
            partition=partition_of("m1"),
            version=3,
            hash=b"h3",
            status=2,
            next_deadline_ms=None,
            rules_version=3,
            epoch=0,
            created_ms=1_001,
            updated_ms=1_003,
        )

    async def test_are_listed_page_by_page(self, store: EventStore) -> None:
        matches = [f"m{number}" for number in range(25)]
        await store.append([new_entry(match_id, 1) for match_id in matches])
        await store.append([new_entry("elsewhere", 1, game="magic")])
        seen: list[Head] = []
        while page := await store.heads(GAME, limit=10, after=seen[-1].match_id if seen else None):
            seen += page
        assert [(head.partition, head.match_id) for head in seen] == sorted((partition_of(one), one) for one in matches)
        assert seen[0] == await store.head(seen[0].match_id)

    async def test_are_filtered_by_partition_and_status(self, store: EventStore) -> None:
        matches = [f"m{number}" for number in range(25)]
        await store.append([new_entry(one, 1, status=number % 3) for number, one in enumerate(matches)])
        some = {partition_of("m1"), partition_of("m2")}
        listed = await store.heads(GAME, statuses=[0, 2])
        assert {head.match_id for head in listed} == {one for number, one in enumerate(matches) if number % 3 != 1}
        listed = await store.heads(GAME, partitions=some)
        assert {head.match_id for head in listed} == {one for one in matches if partition_of(one) in some}
        assert await store.heads(GAME, statuses=[]) == []

    async def test_deadlines_come_soonest_first(self, store: EventStore) -> None:
        due = {"m1": 300, "m2": 100, "m3": None, "m4": 200, "m5": 100}
        await store.append([new_entry(one, 1, next_deadline_ms=at) for one, at in due.items()])
        await store.append([new_entry("elsewhere", 1, game="magic", next_deadline_ms=50)])
        everywhere = range(PARTITIONS)
        waiting = await store.deadlines(GAME, everywhere)
        assert [(one.match_id, one.due_ms) for one in waiting] == [("m2", 100), ("m5", 100), ("m4", 200), ("m1", 300)]
        assert [one.match_id for one in await store.deadlines(GAME, everywhere, before_ms=200)] == ["m2", "m5"]
        assert Deadline("m4", partition_of("m4"), 200, 1_001) in await store.deadlines(GAME, [partition_of("m4")])
        assert "m1" not in {one.match_id for one in await store.deadlines(GAME, [partition_of("m4")])}
        assert await store.deadlines(GAME, []) == []
        await store.append([new_entry("m2", 2, next_deadline_ms=None), new_entry("m5", 2, next_deadline_ms=400)])
        assert [one.match_id for one in await store.deadlines(GAME, everywhere)] == ["m4", "m1", "m5"]


class TestAppending:
    async def test_a_group_is_one_transaction(self, store: EventStore) -> None:
        await store.append([new_entry("m1", 1), new_entry("m2", 1)])
        group = [new_entry("m1", 2), new_entry("m3", 1), new_entry("m2", 3), new_entry("m1", 3)]
        assert await refused(store, *group) == {"m2": ConflictKind.VERSION}
        for match_id in ("m1", "m2"):
            assert [entry.version for entry in await store.read(match_id, parts=True)] == [1]
            head = await store.head(match_id)
            assert head is not None
            assert head.version == 1
        assert await store.head("m3") is None
        assert await store.by_command("m1", group[0].command_id) is None
        await store.append([new_entry("m1", 2), new_entry("m3", 1), new_entry("m2", 2), new_entry("m1", 3)])
        assert [entry.version for entry in await store.read("m1")] == [1, 2, 3]

    async def test_nothing_is_a_group_too(self, store: EventStore) -> None:
        await store.append([])

    async def test_an_entry_must_follow_the_head(self, store: EventStore) -> None:
        await store.append(new_entries("m1", 1, 3))
        for version in (1, 2, 3, 5):
            entry = new_entry("m1", version, command_id=bytes(16))
            assert await refused(store, entry) == {"m1": ConflictKind.VERSION}

    async def test_a_match_begins_with_version_1(self, store: EventStore) -> None:
        assert await refused(store, new_entry("m1", 2)) == {"m1": ConflictKind.VERSION}
        assert await refused(store, new_entry("m1", 0)) == {"m1": ConflictKind.VERSION}

    async def test_a_match_stays_with_its_game(self, store: EventStore) -> None:
        await store.append([new_entry("m1", 1)])
        assert await refused(store, new_entry("m1", 2, game="magic")) == {"m1": ConflictKind.VERSION}

    async def test_a_repeated_command_is_told_apart(self, store: EventStore) -> None:
        await store.append(new_entries("m1", 1, 2) + new_entries("m2", 1, 2))
        again = new_entry("m1", 3, command_id=new_entry("m1", 1).command_id)
        assert await refused(store, new_entry("m2", 3), again) == {"m1": ConflictKind.DUPLICATE}
        assert await refused(store, new_entry("m1", 2)) == {"m1": ConflictKind.DUPLICATE}
        # Another match may use the same id.
        await store.append([new_entry("m2", 3, command_id=new_entry("m1", 1).command_id)])

    async def test_a_group_must_agree_with_itself(self, store: EventStore) -> None:
        first = new_entry("m1", 1)
        for entries, kind in (
            ([first, new_entry("m1", 3)], ConflictKind.VERSION),
            ([new_entry("m1", 2), first], ConflictKind.VERSION),
            ([first, new_entry("m1", 2, game="magic")], ConflictKind.VERSION),
            ([first, new_entry("m1", 2, epoch=1)], ConflictKind.VERSION),
            ([first, new_entry("m1", 2, command_id=first.command_id)], ConflictKind.DUPLICATE),
        ):
            assert await refused(store, new_entry("m2", 1), *entries) == {"m1": kind}
        assert await store.head("m1") is None
        assert await store.head("m2") is None

    async def test_of_racing_writers_exactly_one_wins(self, store: EventStore, url: str) -> None:
        async with await open_store(url) as other:
            for version in range(1, 51):
                tries = [
                    (store, other)[number % 2].append([new_entry("m1", version, command_id=os.urandom(16))])
                    for number in range(6)
                ]
                results = await asyncio.gather(*tries, return_exceptions=True)
                assert sorted(type(result).__name__ for result in results) == ["Conflict"] * 5 + ["NoneType"]
        assert [entry.version for entry in await store.read("m1", parts=True)] == list(range(1, 51))

    async def test_racing_groups_do_not_mix(self, store: EventStore, url: str) -> None:
        matches = [f"m{number}" for number in range(12)]
        async with await open_store(url) as other:
            for version in range(1, 21):
                ours = [new_entry(one, version, command_id=os.urandom(16), public=b"ours") for one in matches]
                theirs = [
                    new_entry(one, version, command_id=os.urandom(16), public=b"theirs") for one in reversed(matches)
                ]
                results = await asyncio.gather(store.append(ours), other.append(theirs), return_exceptions=True)
                assert sorted(type(result).__name__ for result in results) == ["Conflict", "NoneType"]
                assert len({(await store.read(one, version))[0].public for one in matches}) == 1


class TestDues:
    async def test_are_written_with_the_entry_and_struck_off_when_done(self, store: EventStore) -> None:
        await store.append([new_entry("m1", 1, dues=1), new_entry("m2", 1), new_entry("m1", 2, dues=4)])
        everywhere = range(PARTITIONS)
        assert await store.dues(GAME, everywhere) == {"m1": 5}
        await store.append([new_entry("m1", 3, dues=8), new_entry("m2", 2, dues=1)])
        assert await store.dues(GAME, everywhere) == {"m1": 13, "m2": 1}
        await store.discharge({"m1": 5})
        assert await store.dues(GAME, everywhere) == {"m1": 8, "m2": 1}
        await store.discharge({"m1": 13, "m2": 1, "m3": 1})
        await store.discharge({"m1": 13})
        await store.discharge({})
        assert await store.dues(GAME, everywhere) == {}

    async def test_are_asked_for_by_game_and_partition(self, store: EventStore) -> None:
        await store.append([new_entry("m1", 1, dues=1), new_entry("m2", 1, dues=2)])
        await store.append([new_entry("x1", 1, game="magic", dues=4)])
        assert await store.dues(GAME, [partition_of("m2")]) == {"m2": 2}
        assert await store.dues(GAME, []) == {}
        assert await store.dues("magic", range(PARTITIONS)) == {"x1": 4}

    async def test_go_with_their_group(self, store: EventStore) -> None:
        assert await refused(store, new_entry("m1", 1, dues=1), new_entry("m2", 2, dues=1)) != {}
        assert await store.dues(GAME, range(PARTITIONS)) == {}

    async def test_outlive_the_store(self, store: EventStore, url: str) -> None:
        await store.append([new_entry("m1", 1, dues=3)])
        await store.close()
        async with await open_store(url) as again:
            assert await again.dues(GAME, range(PARTITIONS)) == {"m1": 3}

    async def test_a_fence_holds_for_them_too(self, store: EventStore) -> None:
        epoch = await own(store, "a", "m1")
        await store.append([new_entry("m1", 1, epoch=epoch, dues=1)])
        assert await own(store, "b", "m1", now_ms=9_000) == epoch + 1
        assert await refused(store, new_entry("m1", 2, epoch=epoch, dues=2)) == {"m1": ConflictKind.STALE_EPOCH}
        assert await store.dues(GAME, range(PARTITIONS)) == {"m1": 1}


class TestEpochs:
    async def test_only_the_owner_writes(self, store: EventStore) -> None:
        assert await refused(store, new_entry("m1", 1, epoch=1)) == {"m1": ConflictKind.STALE_EPOCH}
        epoch = await own(store, "a", "m1")
        await store.append([new_entry("m1", 1, epoch=epoch)])
        assert await refused(store, new_entry("m1", 2, epoch=epoch + 1)) == {"m1": ConflictKind.STALE_EPOCH}
        head = await store.head("m1")
        assert head is not None
        assert (head.version, head.epoch) == (1, epoch)

    async def test_a_stale_owner_writes_nothing(self, store: EventStore) -> None:
        old = await own(store, "a", "m1")
        await store.append([new_entry("m1", 1, epoch=old)])
        new = await own(store, "b", "m1", now_ms=9_000)
        assert new == old + 1
        assert await refused(store, new_entry("m1", 2, epoch=old)) == {"m1": ConflictKind.STALE_EPOCH}
        # Nor where the new owner has not written yet, nor a new match.
        other = next(f"x{n}" for n in range(999) if partition_of(f"x{n}") == partition_of("m1"))
        assert await refused(store, new_entry(other, 1, epoch=old)) == {other: ConflictKind.STALE_EPOCH}
        await store.append([new_entry("m1", 2, epoch=new), new_entry(other, 1, epoch=new)])

    async def test_one_stale_partition_stops_the_group(self, store: EventStore) -> None:
        first, second = "m1", next(f"x{n}" for n in range(999) if partition_of(f"x{n}") != partition_of("m1"))
        epochs = {match_id: await own(store, "a", match_id) for match_id in (first, second)}
        await own(store, "b", second, now_ms=9_000)
        group = [new_entry(match_id, 1, epoch=epoch) for match_id, epoch in epochs.items()]
        assert await refused(store, *group) == {second: ConflictKind.STALE_EPOCH}
        assert await store.head(first) is None

    async def test_a_released_epoch_writes_nothing(self, store: EventStore) -> None:
        epoch = await own(store, "a", "m1")
        await store.release(GAME, "a", [partition_of("m1")], 2_000)
        assert await refused(store, new_entry("m1", 1, epoch=epoch)) == {"m1": ConflictKind.STALE_EPOCH}

    async def test_epoch_0_checks_no_owner_but_takes_no_owned_match(self, store: EventStore) -> None:
        await store.append([new_entry("m1", 1)])
        epoch = await own(store, "a", "m1")
        await store.append([new_entry("m1", 2)])
        await store.append([new_entry("m1", 3, epoch=epoch)])
        assert await refused(store, new_entry("m1", 4)) == {"m1": ConflictKind.STALE_EPOCH}

    async def test_a_take_over_is_a_clean_cut(self, store: EventStore, url: str) -> None:
        """However claim and append race: once the claim has returned, the old owner's version stands still."""
        async with await open_store(url) as other:
            for round_number in range(20):
                match_id = f"m{round_number}"
                old = await own(store, f"a{round_number}", match_id, now_ms=round_number * 10_000)
                await store.append([new_entry(match_id, 1, epoch=old)])
                writing = asyncio.create_task(self._write_until_refused(store, match_id, old))
                new = await own(other, f"b{round_number}", match_id, now_ms=round_number * 10_000 + 5_000)
                head = await other.head(match_id)
                assert head is not None
                assert await writing == head.version
                await other.append([new_entry(match_id, head.version + 1, epoch=new)])

    async def _write_until_refused(self, store: EventStore, match_id: str, epoch: int) -> int:
        version = 1
        while True:
            try:
                await store.append([new_entry(match_id, version + 1, epoch=epoch)])
            except Conflict as conflict:
                return version if conflict.kind is ConflictKind.STALE_EPOCH else -1
            version += 1


class TestOwnership:
    async def test_a_free_partition_is_claimed_once(self, store: EventStore) -> None:
        assert await store.claim(GAME, 7, "a", "a:1", 1_000, STALE_MS) == Claim(1, None, None)
        assert await store.claim(GAME, 7, "b", "b:1", 1_499, STALE_MS) is None
        assert await store.claim(GAME, 7, "a", "a:2", 1_100, STALE_MS) == Claim(1, None, None)
        assert await store.claim("magic", 7, "b", "b:1", 1_100, STALE_MS) == Claim(1, None, None)
        assert await store.owners(GAME) == [Owner(7, "a", "a:2", 1, 1_100)]
        assert await store.downtime(GAME, 7) == []

    async def test_a_stale_partition_goes_to_the_next(self, store: EventStore) -> None:
        await store.claim(GAME, 7, "a", "a:1", 1_000, STALE_MS)
        assert await store.heartbeat(GAME, "a", [7], 1_400) == {7}
        assert await store.claim(GAME, 7, "b", "b:1", 1_899, STALE_MS) is None
        assert await store.claim(GAME, 7, "b", "b:1", 1_900, STALE_MS) == Claim(2, 1_400, 1_900)
        assert await store.heartbeat(GAME, "a", [7], 2_000) == set()
        assert await store.owners(GAME) == [Owner(7, "b", "b:1", 2, 1_900)]
        assert await store.downtime(GAME, 7) == [(1_400, 1_900)]

    async def test_a_released_partition_is_down_from_its_release(self, store: EventStore) -> None:
        await store.claim_many(GAME, [6, 7], "a", "a:1", 1_000, STALE_MS)
        assert await store.release(GAME, "b", [6, 7], 1_200) == set()
        assert await store.release(GAME, "a", [7, 8], 1_200) == {7}
        assert await store.owners(GAME) == [Owner(6, "a", "a:1", 1, 1_000), Owner(7, None, "a:1", 1, 1_200)]
        assert await store.heartbeat(GAME, "a", [6, 7], 1_300) == {6}
        assert await store.claim(GAME, 7, "b", "b:1", 1_350, STALE_MS) == Claim(2, 1_200, 1_350)
        assert await store.downtime(GAME, 7) == [(1_200, 1_350)]

    async def test_who_released_may_claim_again(self, store: EventStore) -> None:
        await store.claim(GAME, 7, "a", "a:1", 1_000, STALE_MS)
        await store.release(GAME, "a", [7], 1_200)
        assert await store.claim(GAME, 7, "a", "a:1", 1_200, STALE_MS) == Claim(2, None, None)

    async def test_a_silence_of_our_own_is_down_time(self, store: EventStore) -> None:
        await store.claim(GAME, 7, "a", "a:1", 1_000, STALE_MS)
        assert await store.claim(GAME, 7, "a", "a:1", 3_000, STALE_MS) == Claim(1, 1_000, 3_000)
        assert await store.heartbeat(GAME, "a", [7], 3_499, STALE_MS) == {7}
        assert await store.heartbeat(GAME, "a", [7], 9_000, STALE_MS) == {7}
        assert await store.heartbeat(GAME, "a", [7], 19_000) == {7}
        assert await store.downtime(GAME, 7) == [(1_000, 3_000), (3_499, 9_000)]
        assert await store.downtime(GAME, 7, since_ms=3_000) == [(3_499, 9_000)]

    async def test_time_never_goes_back(self, store: EventStore) -> None:
        """Clocks of two machines differ: a slower one takes over without down time of negative length."""
        await store.claim(GAME, 7, "a", "a:1", 5_000, STALE_MS)
        await store.heartbeat(GAME, "a", [7], 4_000)
        await store.release(GAME, "a", [7], 4_500)
        assert await store.claim(GAME, 7, "b", "b:1", 4_700, STALE_MS) == Claim(2, None, None)
        assert (await store.owners(GAME))[0].heartbeat_ms == 5_000
        assert await store.downtime(GAME, 7) == []

    async def test_many_at_once(self, store: EventStore) -> None:
        everything = range(PARTITIONS)
        await store.claim_many(GAME, [3, 5], "b", "b:1", 1_000, STALE_MS)
        claims = await store.claim_many(GAME, everything, "a", "a:1", 1_000, STALE_MS)
        assert set(claims) == set(everything) - {3, 5}
        assert await store.heartbeat(GAME, "a", everything, 1_200) == set(claims)
        assert await store.claim_many(GAME, everything, "a", "a:1", 1_500, STALE_MS) == {
            **dict.fromkeys(claims, Claim(1, None, None)),
            3: Claim(2, 1_000, 1_500),
            5: Claim(2, 1_000, 1_500),
        }
        assert await store.claim_many(GAME, [], "a", "a:1", 1_500, STALE_MS) == {}
        assert await store.heartbeat(GAME, "a", [], 1_500) == set()
        assert await store.release(GAME, "a", everything, 1_600) == set(everything)

    async def test_a_muster_is_a_sign_of_life_that_shows_everybody(self, store: EventStore) -> None:
        await store.claim_many(GAME, [6, 7], "a", "a:1", 1_000, STALE_MS)
        assert await store.muster(GAME, "b", [], 1_100, STALE_MS) == Muster(
            set(),
            [Owner(6, "a", "a:1", 1, 1_000), Owner(7, "a", "a:1", 1, 1_000)],
            [Instance("b", 1_100)],
        )
        assert await store.muster(GAME, "a", [6, 7, 8], 1_200, STALE_MS) == Muster(
            {6, 7},
            [Owner(6, "a", "a:1", 1, 1_200), Owner(7, "a", "a:1", 1, 1_200)],
            [Instance("a", 1_200), Instance("b", 1_100)],
        )
        assert (await store.muster("magic", "c", [], 1_200, STALE_MS)).instances == [Instance("c", 1_200)]
        await store.leave(GAME, "b")
        assert (await store.muster(GAME, "a", [6], 9_000, STALE_MS)).instances == [Instance("a", 9_000)]
        assert await store.downtime(GAME, 6) == [(1_200, 9_000)]
        assert await store.downtime(GAME, 7) == []

    async def test_the_long_silent_are_struck_off(self, store: EventStore) -> None:
        await store.muster(GAME, "a", [], 1_000, STALE_MS)
        assert len((await store.muster(GAME, "b", [], 3_600_000, STALE_MS)).instances) == 2
        assert len((await store.muster(GAME, "b", [], 3_601_001, STALE_MS)).instances) == 1

    async def test_racing_musters_see_each_other(self, store: EventStore, url: str) -> None:
        async with await open_store(url) as other:
            await asyncio.gather(
                *((store, other)[n % 2].muster(GAME, f"i{n % 4}", range(8), 1_000 + n, STALE_MS) for n in range(40))
            )
            seen = (await store.muster(GAME, "i0", [], 2_000, STALE_MS)).instances
            assert [one.instance for one in seen] == ["i0", "i1", "i2", "i3"]

    async def test_down_time_is_owed_to_running_clocks_only(self, store: EventStore) -> None:
        lone, idle, busy = (partition_of(one) for one in ("m1", "m3", "m4"))
        assert len({lone, idle, busy}) == 3
        for start in (0, 2_000, 4_000):
            await store.claim_many(GAME, [lone, idle, busy], "a", "a:1", start, STALE_MS)
        await store.append([new_entry("m1", 1, server_time_ms=2_500, next_deadline_ms=9_000, epoch=1)])
        await store.append([new_entry("m1", 2, server_time_ms=4_500, next_deadline_ms=9_900, epoch=1)])
        await store.append([new_entry("m3", 1, server_time_ms=1_000, next_deadline_ms=None, epoch=1)])
        await store.append([new_entry("m4", 1, server_time_ms=1_000, next_deadline_ms=9_000, epoch=1)])
        assert await store.owed_downtime(GAME, [lone, idle, busy]) == {
            lone: [(2_000, 4_000)],
            busy: [(0, 2_000), (2_000, 4_000)],
        }
        assert await store.owed_downtime(GAME, []) == {}

    async def test_racing_claims_share_without_overlap(self, store: EventStore, url: str) -> None:
        async with await open_store(url) as other:
            for round_number in range(10):
                now = round_number * 10_000
                shares = await asyncio.gather(
                    store.claim_many(GAME, range(16), f"a{round_number}", "a:1", now, STALE_MS),
                    other.claim_many(GAME, range(15, -1, -1), f"b{round_number}", "b:1", now, STALE_MS),
                    other.heartbeat(GAME, f"b{round_number - 1}", range(16), now),
                    store.heartbeat(GAME, f"a{round_number - 1}", range(16), now),
                )
                assert not set(shares[0]) & set(shares[1])
                owners = await store.owners(GAME)
                for share, instance in zip(shares[:2], (f"a{round_number}", f"b{round_number}"), strict=True):
                    assert {one.partition for one in owners if one.instance == instance} == set(share)
                    assert all(owners[one].epoch == claim.epoch for one, claim in share.items())


class TestTail:
    async def test_gives_every_entry_of_the_game_once_and_in_order(self, store: EventStore) -> None:
        await store.append([new_entry("m1", 1), new_entry("m2", 1), new_entry("other", 1, game="magic")])
        await store.append([new_entry("m1", 2), new_entry("m2", 2), new_entry("m1", 3)])
        page = await store.tail(GAME)
        by_match = {one: [entry for entry in page.entries if entry.match_id == one] for one in ("m1", "m2")}
        assert by_match == {"m1": await store.read("m1"), "m2": await store.read("m2")}
        assert len(page.entries) == 5
        again = await store.tail(GAME, page.cursor)
        assert again.entries == []
        await store.append([new_entry("m2", 3)])
        assert (await store.tail(GAME, again.cursor)).entries == await store.read("m2", 3)

    async def test_pages(self, store: EventStore) -> None:
        await store.append(new_entries("m1", 1, 7))
        cursor, sizes, versions = None, [], []
        while True:
            page = await store.tail(GAME, cursor, limit=3)
            sizes.append(len(page.entries))
            versions += [entry.version for entry in page.entries]
            cursor = page.cursor
            if not page.entries:
                break
        assert sizes == [3, 3, 1, 0]
        assert versions == [1, 2, 3, 4, 5, 6, 7]

    async def test_never_shows_private_parts(self, store: EventStore) -> None:
        await store.append(new_entries("m1", 1, 2))
        assert [entry.parts for entry in (await store.tail(GAME)).entries] == [None, None]

    async def test_refuses_a_made_up_cursor(self, store: EventStore) -> None:
        for cursor in ("", "7", "x7", "s", "s-1", "p", "p7", "p7-", "p7-x", "q1-2"):
            with pytest.raises(ValueError, match="cursor"):
                await store.tail(GAME, cursor)

    async def test_keeps_up_with_writers(self, store: EventStore, url: str) -> None:
        async with await open_store(url) as other:
            writing = asyncio.gather(
                *(self._write(writer, f"m{number}") for number, writer in enumerate((store, other, store, other)))
            )
            cursor: str | None = None
            seen: list[tuple[str, int]] = []
            while len(seen) < 4 * 60:
                page = await store.tail(GAME, cursor, limit=10)
                seen += [(entry.match_id, entry.version) for entry in page.entries]
                cursor = page.cursor
            await writing
            assert (await store.tail(GAME, cursor)).entries == []
        for number in range(4):
            assert [version for match_id, version in seen if match_id == f"m{number}"] == list(range(1, 61))

    async def _write(self, store: EventStore, match_id: str) -> None:
        for version in range(1, 60, 2):
            await store.append(new_entries(match_id, version, version + 1))


class TestOpening:
    async def test_again(self, url: str) -> None:
        async with await open_store(url) as store:
            await store.append(new_entries("m1", 1, 3))
        async with await open_store(url) as store:
            assert len(await store.read("m1")) == 3
            await store.append([new_entry("m1", 4)])

    async def test_by_several_at_once(self, url: str) -> None:
        stores = await asyncio.gather(*(open_store(url) for _ in range(4)))
        for number, store in enumerate(stores, 1):
            await store.append([new_entry("m1", number)])
        for store in stores:
            assert len(await store.read("m1")) == 4
            await store.close()

    async def test_for_reading_only(self, store: EventStore, url: str) -> None:
        await store.append(new_entries("m1", 1, 3))
        async with await open_store(url, read_only=True) as reader:
            assert await reader.read("m1", parts=True) == await store.read("m1", parts=True)
            await store.append([new_entry("m1", 4)])
            assert len((await reader.tail(GAME)).entries) == 4
            for write in (
                reader.append([new_entry("m1", 5)]),
                reader.claim(GAME, 1, "a", "a:1", 1_000, STALE_MS),
                reader.heartbeat(GAME, "a", [1], 1_000),
                reader.release(GAME, "a", [1], 1_000),
            ):
                with pytest.raises(StoreError, match="reading only"):
                    await write

    async def test_a_reader_does_not_come_before_the_owner(self, url: str) -> None:
        with pytest.raises(Unavailable):
            await open_store(url, read_only=True)
        await (await open_store(url)).close()
        await (await open_store(url, read_only=True)).close()

    @pytest.mark.parametrize("bad", ["", "store.db", "sqlite://", "sqlite:///", "mysql://localhost/x", "postgresql://"])
    async def test_needs_a_url_it_understands(self, bad: str) -> None:
        with pytest.raises(ValueError, match="sqlite:///"):
            await open_store(bad)

    async def test_closing_waits_for_what_is_being_written(self, url: str, tmp_path: Path) -> None:
        store = await open_store(url)
        appends = [asyncio.create_task(store.append([new_entry(f"m{number}", 1)])) for number in range(4)]
        await asyncio.sleep(0)
        await store.close()
        await asyncio.gather(*appends)
        async with await open_store(url) as store:
            assert len(await store.heads(GAME)) == 4
