"""The edge's database: its schema on both databases, its errors, and what two instances do at once."""

from __future__ import annotations

import asyncio
import secrets
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, inspect, text

from gateway.callers import Role, Scope
from gateway.chat_store import WATCHERS, ChatStore, FullError, Line, ReportRow
from gateway.database import Database, DatabaseError, TakenError, migrate
from gateway.migrations import HEAD
from gateway.people import Account, People, Session, StaleError
from gateway.tables import METADATA, VERSION_TABLE
from tests.support.postgres import shared_server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/edge.db" if request.param == "sqlite" else shared_server().create_database()


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[tuple[Database, People, ChatStore]]:
    async with Database(url) as database:
        yield database, People(database), ChatStore(database)


def account(name: str = "Aino", password: str | None = "hash") -> Account:
    return Account(secrets.token_hex(13), name, password, Role.PLAYER, 1_000, 0)


def session(used_ms: int = 1_000, expires_ms: int = 10_000) -> Session:
    return Session(secrets.token_hex(8), Scope.PLAY, "", used_ms, used_ms, expires_ms)


def line(text: str = "Hello", who: str = "a", match_id: str = "m", seat: int | None = 0) -> Line:
    return Line(secrets.token_hex(8), match_id, 0, who, seat, text, 1_000)


async def test_the_schema_is_what_the_tables_say_and_can_be_taken_away_again(url: str) -> None:
    async with opened(url) as (database, _, _):

        def differences(connection: Connection) -> list[object]:
            options = {"version_table": VERSION_TABLE}
            found = compare_metadata(MigrationContext.configure(connection, opts=options), METADATA)
            # Which indexes there are is the migrations' business.
            return [d for d in found if not (isinstance(d, tuple) and d[0] == "remove_index")]

        assert await database.read(differences) == []
        await database.run(lambda connection: migrate(connection, "base"))
        left = await database.read(lambda connection: set(inspect(connection).get_table_names()))
        assert not left & set(METADATA.tables)
        await database.run(migrate)
        revision = text(f"SELECT version_num FROM {VERSION_TABLE}")
        assert await database.read(lambda connection: connection.execute(revision).scalar_one()) == HEAD


async def test_a_database_of_newer_code_is_left_alone(url: str) -> None:
    async with opened(url) as (database, _, _):
        await database.run(lambda c: c.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")))
    with pytest.raises(DatabaseError, match="9999"):
        async with opened(url):
            pass


async def test_two_instances_may_start_at_once(url: str) -> None:
    async def start() -> None:
        async with opened(url):
            pass

    await asyncio.gather(*(start() for _ in range(4)))


async def test_a_file_with_credentials_is_its_owners_alone(tmp_path: Path) -> None:
    async with opened(f"sqlite:///{tmp_path}/new/edge.db"):
        assert stat.S_IMODE((tmp_path / "new" / "edge.db").stat().st_mode) == 0o600


async def test_errors_hold_no_stored_value(url: str) -> None:
    async with opened(url) as (database, people, _):
        await people.add(account("Secret name"), "secret name")
        with pytest.raises(TakenError) as taken:
            await people.add(account("Secret name"), "secret name")
        with pytest.raises(DatabaseError) as failed:
            await database.run(lambda c: c.execute(text("SELECT :x FROM nowhere"), {"x": "Secret name"}))
        for caught in (taken, failed):
            shown = f"{caught.value!r} {caught.value.__context__!r} {caught.value.__cause__!r}"
            assert "ecret" not in shown


async def test_accounts_are_found_changed_and_erased(url: str) -> None:
    async with opened(url) as (_, people, chat):
        aino, guest = account("Aino"), account("Guest", None)
        await people.add(aino, "aino")
        await people.add(guest, None)
        await people.add(account("Guest", None), None)
        assert await people.get(aino.account_id) == aino
        assert await people.by_name("aino") == aino
        assert await people.by_name("guest") is None
        assert guest.guest
        assert await people.names_of([aino.account_id, guest.account_id, "x"]) == {
            aino.account_id: "Aino",
            guest.account_id: "Guest",
        }
        assert await people.names_of([]) == {}
        with pytest.raises(TakenError):
            await people.register(guest.account_id, "AINO", "aino", "hash")
        await people.register(guest.account_id, "Väinö", "vaino", "hash2")
        await people.set_password(guest.account_id, "hash3")
        await people.set_role(guest.account_id, Role.MODERATOR)
        await people.silence(guest.account_id, 5_000)
        found = await people.by_name("vaino")
        assert found == Account(guest.account_id, "Väinö", "hash3", Role.MODERATOR, 1_000, 5_000)
        await people.rename(guest.account_id, "Antero", "antero")
        assert await people.by_name("vaino") is None

        kept = session()
        await people.open_session(guest.account_id, kept, 10)
        await people.save_settings(guest.account_id, "{}", 0)
        said = await chat.add(line(who=guest.account_id), b"", 10)
        other = await chat.add(line(who=aino.account_id), b"", 10)
        await chat.add_report(ReportRow("r1", said.message_id, "m", guest.account_id, aino.account_id, "", 1, 1))
        await chat.add_report(ReportRow("r2", other.message_id, "m", aino.account_id, guest.account_id, "", 2, 1))
        assert await people.erase(guest.account_id, 2_000) == [kept.session_id]
        assert await people.get(guest.account_id) is None
        assert await people.sessions_of(guest.account_id) == []
        assert (await people.settings(guest.account_id)).revision == 0
        assert [said.account_id for said in await chat.of_match("m")] == [aino.account_id]
        (report,) = await chat.reports((1,), 10)
        assert (report.report_id, report.reporter_id) == ("r2", None)
        assert await people.to_forget() == [guest.account_id]
        # Erasing twice does no harm.
        assert await people.erase(guest.account_id, 3_000) == []
        await people.forgotten(guest.account_id)
        assert await people.to_forget() == []


async def test_sessions_end_by_age_by_idleness_and_by_number(url: str) -> None:
    async with opened(url) as (_, people, _):
        aino = account()
        await people.add(aino, "aino")
        first = session(used_ms=1_000)
        await people.open_session(aino.account_id, first, 2)
        found = await people.caller(first.session_id, 2_000, 5_000)
        assert found is not None
        caller, used_ms = found
        assert (caller.account_id, caller.name, caller.scope, caller.guest, used_ms) == (
            aino.account_id,
            "Aino",
            Scope.PLAY,
            False,
            1_000,
        )
        assert await people.caller(first.session_id, 10_000, 50_000) is None
        assert await people.caller(first.session_id, 6_000, 5_000) is None
        await people.touch(first.session_id, aino.account_id, 5_000)
        assert await people.caller(first.session_id, 6_000, 5_000) is not None
        second, third = session(used_ms=6_000), session(used_ms=2_000)
        assert await people.open_session(aino.account_id, second, 2) == []
        # The newest always stays.
        assert await people.open_session(aino.account_id, third, 2) == [first.session_id]
        assert [s.session_id for s in await people.sessions_of(aino.account_id)] == [
            second.session_id,
            third.session_id,
        ]
        assert await people.end_session("another", second.session_id) == []
        assert await people.end_others(aino.account_id, second.session_id) == [third.session_id]
        assert await people.end_idle(20_000, 1_000_000) == 1
        assert await people.lost_guests(10**15) == []


async def test_settings_are_never_overwritten_unseen_even_at_once(url: str) -> None:
    async with opened(url) as (_, people, _), opened(url) as (_, others, _):
        await people.save_settings("a", "{}", 0)
        both = await asyncio.gather(
            people.save_settings("a", '{"x":1}', 1), others.save_settings("a", '{"x":2}', 1), return_exceptions=True
        )
        assert sorted(map(str, (type(b).__name__ for b in both))) == ["StaleError", "int"]
        with pytest.raises(StaleError):
            await people.save_settings("a", "{}", 1)


async def test_failures_are_counted_by_all_instances_together(url: str) -> None:
    async with opened(url) as (_, people, _), opened(url) as (_, others, _):
        tries = [p.note_failure("aino", 1_000, 3, 100, 500) for p in (people, others) for _ in range(4)]
        until = sorted(await asyncio.gather(*tries))
        assert until == [0, 0, 0, 1_100, 1_200, 1_400, 1_500, 1_500]
        assert await people.locked_until("aino") == 1_500
        assert await people.locked_until("väinö") == 0
        await people.forgive("aino")
        assert await people.locked_until("aino") == 0
        await people.note_failure("aino", 1_000, 0, 100, 500)
        await people.forgive_all(1_001)
        assert await people.locked_until("aino") == 0


async def test_messages_are_numbered_without_gaps_by_all_instances_together(url: str) -> None:
    async with opened(url) as (_, _, chat), opened(url) as (_, _, others):

        async def say(store: ChatStore, n: int) -> None:
            while True:
                try:
                    await store.add(line(f"{n}"), b"", 100)
                    return
                except TakenError:
                    continue

        await asyncio.gather(*(say(store, n) for store in (chat, others) for n in range(10)))
        found = await chat.of_match("m")
        assert [said.number for said in found] == list(range(1, 21))
        assert [said.number for said in await chat.of_match("m", after=18)] == [19, 20]
        assert [said.number for said in await chat.before(found[10], 3)] == [8, 9, 10]
        with pytest.raises(FullError):
            await chat.add(line(), b"", 20)
        await chat.remove(found[0].message_id)
        gone = await chat.get(found[0].message_id)
        assert gone is not None
        assert (gone.text, gone.removed) == ("", True)


async def test_mutes_and_reports(url: str) -> None:
    async with opened(url) as (_, _, chat):
        for seat, muted in ((1, True), (1, True), (WATCHERS, True), (2, False)):
            await chat.set_mute("m", "a", seat, muted, 1)
        assert await chat.mutes("m", "a") == {1, WATCHERS}
        await chat.set_mute("m", "a", 1, False, 1)
        assert await chat.mutes("m", "a") == {WATCHERS}
        assert await chat.mutes("m", "b") == frozenset()
        for n, reporter in enumerate(("x", "y", "x")):
            await chat.add_report(ReportRow(f"r{n}", "message", "m", "author", reporter, "", n, 1))
        assert [r.report_id for r in await chat.reports((1,), 10)] == ["r0", "r1"]
        await chat.decide("message", 3, 50)
        assert await chat.reports((1,), 10) == []
        assert [r.report_id for r in await chat.reports(None, 10)] == ["r1", "r0"]
        assert await chat.upheld("author", (3, 4)) == 1
        assert await chat.report("r0") is not None
        assert await chat.report("none") is None
        await chat.sweep(10**15, 51)
        assert await chat.reports(None, 10) == []
        assert await chat.mutes("m", "a") == frozenset()
