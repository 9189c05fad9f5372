"""What is peculiar to the store on PostgreSQL."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest

import grimoire.eventstore
from grimoire.eventstore import Conflict, ConflictKind, EventStore, NewEntry, StoreError, Unavailable, open_store
from grimoire.eventstore.group import runs_of
from grimoire.eventstore.postgres import _APPEND, PostgresStore, _arguments
from tests.support.eventstore import GAME, new_entries, new_entry
from tests.support.postgres import PostgresServer, fresh_database, shared_server

README = Path(grimoire.eventstore.__file__).with_name("README.md")


@pytest.fixture
def url() -> Iterator[str]:
    with fresh_database() as empty:
        yield empty


@pytest.fixture
async def line(url: str, store: EventStore) -> AsyncIterator[asyncpg.Connection]:
    """A connection of our own, past the store."""
    connection = await asyncpg.connect(url)
    yield connection
    await connection.close()


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """A server that the test may kill."""
    own = PostgresServer()
    yield own
    own.remove()


async def append_slowly(connection: asyncpg.Connection, *entries: NewEntry) -> asyncpg.transaction.Transaction:
    """The store's append in a transaction that stays open."""
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute(_APPEND, *_arguments(runs_of(entries)))
    return transaction


async def until_waiting(store: EventStore) -> None:
    """Returns when some session of this database waits for a lock."""
    waiting = (
        "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')"
    )
    assert isinstance(store, PostgresStore)
    # On a line of the store's: inside a transaction of ours, pg_stat_activity would stand still.
    async with asyncio.timeout(60):
        while not await store._run(lambda connection: connection.fetchval(waiting)):
            await asyncio.sleep(0.005)


class TestTail:
    @pytest.mark.parametrize("ending", ["commit", "rollback"])
    async def test_waits_for_late_commits(self, store: EventStore, line: asyncpg.Connection, ending: str) -> None:
        await store.append([new_entry("m0", 1)])
        first = await store.tail(GAME)
        late = await append_slowly(line, new_entry("m1", 1))
        await store.append([new_entry("m2", 1)])
        # m2 is committed, but m1 stands before it: to show m2 now would be to skip m1 for ever.
        page = await store.tail(GAME, first.cursor)
        assert page.entries == []
        await getattr(late, ending)()
        expected = ["m1", "m2"] if ending == "commit" else ["m2"]
        assert [entry.match_id for entry in (await store.tail(GAME, page.cursor)).entries] == expected

    async def test_keeps_the_order_of_a_match_when_a_later_version_waits_for_an_earlier_one(
        self, store: EventStore, line: asyncpg.Connection
    ) -> None:
        await store.append([new_entry("m1", 1)])
        early = await append_slowly(line, new_entry("m1", 2))
        # Has work in other partitions to do before it comes to m1.
        group = [new_entry(f"x{number}", 1) for number in range(20)]
        waiting = asyncio.create_task(store.append([*group, new_entry("m1", 3)]))
        await until_waiting(store)
        await early.commit()
        await waiting
        entries = (await store.tail(GAME)).entries
        assert [entry.version for entry in entries if entry.match_id == "m1"] == [1, 2, 3]

    async def test_refuses_a_cursor_of_another_server(self, store: EventStore) -> None:
        with pytest.raises(ValueError, match="another server"):
            await store.tail(GAME, f"p{2**40}-1")


class TestFences:
    async def test_a_claim_waits_for_an_append_under_way(self, store: EventStore, line: asyncpg.Connection) -> None:
        entry = new_entry("m1", 1, epoch=1)
        partition = grimoire.eventstore.partition_of("m1")
        await store.claim(GAME, partition, "a", "a:1", 1_000, 500)
        late = await append_slowly(line, entry)
        claiming = asyncio.create_task(store.claim(GAME, partition, "b", "b:1", 9_000, 500))
        await until_waiting(store)
        await late.commit()
        claim = await claiming
        assert claim is not None
        assert claim.epoch == 2
        # What the old owner wrote before the claim counts, and is there when the claim returns.
        assert await store.read("m1")
        with pytest.raises(asyncpg.PostgresError) as caught:
            await append_slowly(line, new_entry("m1", 2, epoch=1))
        assert caught.value.sqlstate == "GR001"

    async def test_an_append_waits_for_a_claim_under_way_and_loses(
        self, store: EventStore, line: asyncpg.Connection
    ) -> None:
        partition = grimoire.eventstore.partition_of("m1")
        await store.claim(GAME, partition, "a", "a:1", 1_000, 500)
        async with line.transaction():
            await line.execute("SELECT eventstore_lock(ARRAY[$1], ARRAY[$2::integer])", GAME, partition)
            await line.execute("UPDATE partition_owner SET instance = 'b', epoch = 2")
            appending = asyncio.create_task(store.append([new_entry("m1", 1, epoch=1)]))
            await until_waiting(store)
        with pytest.raises(Conflict) as caught:
            await appending
        assert caught.value.faults == {"m1": ConflictKind.STALE_EPOCH}

    async def test_a_heartbeat_waits_for_a_claim_under_way_and_learns_of_it(
        self, store: EventStore, line: asyncpg.Connection
    ) -> None:
        await store.claim(GAME, 1, "a", "a:1", 1_000, 500)
        async with line.transaction():
            await line.execute("UPDATE partition_owner SET instance = 'b', epoch = 2")
            beating = asyncio.create_task(store.heartbeat(GAME, "a", [1], 2_000))
            await until_waiting(store)
        assert await beating == set()

    async def test_other_partitions_and_games_do_not_wait(self, store: EventStore, line: asyncpg.Connection) -> None:
        late = await append_slowly(line, new_entry("m1", 1))
        twin = next(
            f"x{n}" for n in range(999)
            if grimoire.eventstore.partition_of(f"x{n}") == grimoire.eventstore.partition_of("m1")
        )  # fmt: skip
        await asyncio.wait_for(store.append([new_entry("m2", 1), new_entry(twin, 1, game="magic")]), 4)
        await late.rollback()


class TestRoles:
    @pytest.fixture
    async def roles(self, line: asyncpg.Connection) -> AsyncIterator[None]:
        """The grants of the README."""
        grants = re.search(r"```sql\n(.*?)```", README.read_text(), re.DOTALL)
        assert grants is not None
        await line.execute(grants[1])
        yield
        await line.execute("DROP OWNED BY grimoire_game, grimoire_replay; DROP ROLE grimoire_game, grimoire_replay")

    async def test_the_game_service_can_do_its_work(self, url: str, roles: None) -> None:
        async with await open_store(url.replace("postgres@", "grimoire_game@")) as store:
            assert await store.claim(GAME, 1, "a", "a:1", 1_000, 500)
            assert await store.claim(GAME, 1, "b", "b:1", 9_000, 500)
            await store.heartbeat(GAME, "b", [1], 19_000, 500)
            await store.append([new_entry("m1", 1, epoch=2)])
            await store.append([new_entry("m1", 2, epoch=2, dues=1)])
            with pytest.raises(Conflict):
                await store.append([new_entry("m1", 2, epoch=2)])
            assert len(await store.read("m1", parts=True)) == 2
            assert await store.dues(GAME, range(64)) == {"m1": 1}
            await store.discharge({"m1": 1})
            assert len((await store.tail(GAME)).entries) == 2
            await store.release(GAME, "b", [1], 20_000)
            assert len((await store.muster(GAME, "b", [1], 20_000, 500)).instances) == 1
            await store.muster(GAME, "c", [], 9_000_000, 500)
            await store.leave(GAME, "c")

    async def test_the_replay_service_sees_no_private_part(self, url: str, store: EventStore, roles: None) -> None:
        await store.append(new_entries("m1", 1, 2))
        async with await open_store(url.replace("postgres@", "grimoire_replay@"), read_only=True) as replay:
            assert len(await replay.read("m1")) == 2
            assert await replay.head("m1") == await store.head("m1")
            assert len((await replay.tail(GAME)).entries) == 2
            for private in (replay.read("m1", parts=True), replay.by_command("m1", new_entry("m1", 1).command_id)):
                with pytest.raises(StoreError, match="InsufficientPrivilege"):
                    await private
        async with await open_store(url.replace("postgres@", "grimoire_replay@")) as replay:
            with pytest.raises(StoreError, match="InsufficientPrivilege"):
                await replay.append([new_entry("m1", 3)])


class TestConnections:
    async def test_commits_wait_for_the_disk(self, store: PostgresStore) -> None:
        assert await store._run(lambda connection: connection.fetchval("SHOW synchronous_commit")) == "on"

    async def test_nobody_there(self, tmp_path: Path) -> None:
        with pytest.raises(Unavailable):
            await open_store(f"postgresql://postgres@/x?host={tmp_path}")
        with pytest.raises(Unavailable):
            await open_store("postgresql://postgres@127.0.0.1:1/x")

    async def test_no_such_database(self, url: str) -> None:
        with pytest.raises(StoreError, match="InvalidCatalogName"):
            await open_store(shared_server().url("no_such_database"))

    async def test_a_cut_line_is_mended(self, store: EventStore, line: asyncpg.Connection) -> None:
        await store.append([new_entry("m1", 1)])
        await line.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        await _again(store, new_entry("m1", 2))
        assert len(await store.read("m1")) == 2

    async def test_comes_back_when_the_server_does(self, server: PostgresServer) -> None:
        async with await open_store(server.create_database()) as store:
            await store.append([new_entry("m1", 1)])
            server.stop()
            for work in (store.append([new_entry("m1", 2)]), store.read("m1"), store.owners(GAME)):
                with pytest.raises(Unavailable):
                    await work
            server.start()
            await _again(store, new_entry("m1", 2))
            assert len(await store.read("m1", parts=True)) == 2

    async def test_nothing_acknowledged_is_lost_when_the_server_is_killed(self, server: PostgresServer) -> None:
        async with await open_store(server.create_database()) as store:
            reached = dict.fromkeys((f"m{number}" for number in range(4)), 0)
            for _ in range(3):
                writing = [asyncio.create_task(self._write(store, match_id, reached)) for match_id in reached]
                goal = {match_id: version + 30 for match_id, version in reached.items()}
                while any(reached[match_id] < goal[match_id] for match_id in reached):
                    await asyncio.sleep(0.001)
                server.kill()
                await asyncio.gather(*writing)
                server.start()
                for match_id, acknowledged in reached.items():
                    entries = await store.read(match_id, parts=True)
                    assert len(entries) in (acknowledged, acknowledged + 1)
                    expected = new_entries(match_id, 1, len(entries))
                    assert [(one.hash, one.parts) for one in entries] == [(one.hash, one.parts) for one in expected]
                    head = await store.head(match_id)
                    assert head is not None
                    assert head.version == len(entries)
                    reached[match_id] = len(entries)

    async def _write(self, store: EventStore, match_id: str, reached: dict[str, int]) -> None:
        """Writes until the server is gone."""
        while True:
            try:
                await store.append([new_entry(match_id, reached[match_id] + 1)])
            except Unavailable:
                return
            reached[match_id] += 1


class TestBackups:
    async def test_a_dump_is_mended_after_it_was_restored(self, server: PostgresServer) -> None:
        url = server.create_database()
        async with await open_store(url) as store:
            # An old server: many transactions have been.
            await store._run(  # type: ignore[attr-defined]
                lambda line: line.execute("DO $$ BEGIN FOR i IN 1..2000 LOOP "
                "PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$")
            )  # fmt: skip
            await store.append([new_entry("m1", 1), new_entry("m2", 1)])
            await store.append([new_entry("m1", 2)])
            before = await store.tail(GAME)
        dump = server.folder / "dump.sql"
        server.run("pg_dump", "-d", url, "-f", str(dump))
        younger = PostgresServer()
        try:
            restored = younger.create_database()
            dump.chmod(0o644)
            server.folder.chmod(0o755)
            younger.run("psql", "-q", "-d", restored, "-f", str(dump))
            with pytest.raises(StoreError, match="eventstore_restored"):
                await open_store(restored)
            younger.run("psql", "-q", "-d", restored, "-c", "SELECT eventstore_restored()")
            async with await open_store(restored) as store:
                with pytest.raises(ValueError, match="another server"):
                    await store.tail(GAME, before.cursor)
                page = await store.tail(GAME)
                assert page.entries == before.entries
                await store.append([new_entry("m1", 3)])
                assert [entry.version for entry in (await store.tail(GAME, page.cursor)).entries] == [3]
        finally:
            younger.remove()


async def _again(store: EventStore, entry: NewEntry) -> None:
    """Appends as a service does: again, for as long as the store cannot be had."""
    while True:
        try:
            await store.append([entry])
        except Unavailable:
            continue
        except Conflict as conflict:
            if conflict.kind is not ConflictKind.DUPLICATE:
                raise
        return
