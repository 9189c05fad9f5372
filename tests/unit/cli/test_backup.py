"""Backups of databases that are written to; nothing is ever overwritten, and nothing unproved is put back."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sqlite3
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from grimoire.cli.backup import make_backup, put_back
from grimoire.cli.backups.errors import BackupError
from grimoire.cli.backups.package import MANIFEST, Manifest
from grimoire.cli.backups.proof import prove
from grimoire.cli.backups.snapshot import copy_to, moment_of
from grimoire.eventstore import NewEntry, open_store
from grimoire.fairness.commitments import server_seed
from grimoire.match.driver import play_match
from grimoire.match.table import Table
from grimoire.plugins import load_game
from grimoire.runtime.config import Config, RunFile
from grimoire.runtime.keys import KeyRing

GAME = "two_towers"


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config.for_test(tmp_path / "home")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Config:
    return Config.for_test(tmp_path / "elsewhere")


def keyed_table(keys: KeyRing, match_id: str) -> Table:
    """A running match whose seed comes from these keys."""
    host = keys.host_key
    table = Table(load_game(GAME).game, match_id=match_id, seats=2, seed=server_seed(host.key, GAME, match_id))
    table.referee._host_key_id = host.key_id
    table.begin()
    return table


async def keep(config: Config, table: Table) -> None:
    async with await open_store(config.database_url(GAME)) as store:
        await store.append(
            [
                NewEntry(
                    match_id=e.match_id,
                    game=GAME,
                    version=e.version,
                    command_id=e.command_id,
                    server_time_ms=e.server_time_ms,
                    header=e.header,
                    public=e.public,
                    digests=e.stored_digests(),
                    hash=e.hash,
                    parts=e.stored_parts(),
                    status=int(e.state.phase),
                    next_deadline_ms=e.state.next_deadline_ms,
                    rules_version=e.state.rules_version,
                    epoch=0,
                )
                for e in table.entries
            ]
        )


@pytest.fixture
async def kept(config: Config) -> Config:
    """An installation with keys, three matches, and another service's file."""
    keys = KeyRing.load_or_create(config.keys_dir)
    config.data_dir.mkdir(parents=True)
    for number in range(3):
        await keep(config, keyed_table(keys, f"m{number}"))
    with contextlib.closing(sqlite3.connect(config.data_dir / "replay.db")) as connection, connection:
        connection.execute("CREATE TABLE imported (x)")
    return config


def contents(home: Path) -> dict[str, bytes]:
    return {p.relative_to(home).as_posix(): p.read_bytes() for p in sorted(home.rglob("*")) if p.is_file()}


def drafts(folder: Path) -> list[Path]:
    """What was left half done."""
    return list(folder.glob(".*"))


# ---- one moment ------------------------------------------------------------------------------------------------------


class Writer:
    """Writes the same number to several files, one after the other, again and again."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths = paths
        self.acknowledged = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        with contextlib.ExitStack() as stack:
            files = [
                stack.enter_context(contextlib.closing(sqlite3.connect(p, timeout=30, isolation_level=None)))
                for p in self.paths
            ]
            number = 0
            while not self._stop.is_set():
                number += 1
                for file in files:
                    file.execute("INSERT INTO t VALUES (?, zeroblob(2000))", (number,))
                self.acknowledged = number


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{name}.db" for name in ("a", "b", "c")]
    for path in paths:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("CREATE TABLE t (n INTEGER, body BLOB)")
    return paths


def numbers(path: Path) -> list[int]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return [n for (n,) in connection.execute("SELECT n FROM t ORDER BY n")]


def wait_for(condition: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.001)


def test_all_files_are_of_one_moment_while_they_are_written_to(files: list[Path], tmp_path: Path) -> None:
    with Writer(files) as writer:
        for attempt in range(5):
            wait_for(lambda attempt=attempt: writer.acknowledged > 20 * attempt)  # type: ignore[misc]
            before = writer.acknowledged
            copies = [tmp_path / f"{path.stem}-{attempt}.db" for path in files]
            with moment_of(files) as moment:
                # Writers are not kept waiting while one copies.
                during = writer.acknowledged
                wait_for(lambda during=during: writer.acknowledged > during + 5)  # type: ignore[misc]
                for copy, reader in zip(copies, moment.readers.values(), strict=True):
                    copy_to(reader, copy)
            ends = [numbers(copy) for copy in copies]
            # What was acknowledged before is in it; a file written earlier is never behind one written later.
            assert all(end == list(range(1, len(end) + 1)) for end in ends)
            assert len(ends[0]) >= len(ends[1]) >= len(ends[2]) >= before
            assert len(ends[0]) - len(ends[2]) <= 1
            assert len(ends[0]) <= writer.acknowledged - 5 + 1
    assert moment.held_ms < 20_000


def test_a_copy_is_one_file_for_its_owner_alone(files: list[Path], tmp_path: Path) -> None:
    copy = tmp_path / "copies" / "a.db"
    copy.parent.mkdir()
    with moment_of(files) as moment:
        copy_to(moment.readers[files[0]], copy)
    assert [path.name for path in copy.parent.iterdir()] == ["a.db"]
    assert copy.stat().st_mode & 0o777 == 0o600


def test_a_file_without_a_write_ahead_log_gets_one(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (n)")
    with moment_of([path]):
        pass
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_file_that_somebody_keeps_locked_is_named(files: list[Path]) -> None:
    with contextlib.closing(sqlite3.connect(files[1], isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(BackupError, match=r"b\.db is locked by another program"), moment_of(files, busy_s=0.05):
            pass
        holder.execute("ROLLBACK")
    with moment_of(files, busy_s=0.05) as moment:
        assert len(moment.readers) == 3


def test_what_is_no_database_is_named(files: list[Path], tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"no database" * 1000)
    with pytest.raises(BackupError, match=r"x\.db is no SQLite database"), moment_of([*files, tmp_path / "x.db"]):
        pass


# ---- there and back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["copy", "copy.tar", "copy.tar.gz", "copy.tgz"])
async def test_what_was_kept_is_put_back(kept: Config, elsewhere: Config, tmp_path: Path, name: str) -> None:
    before = contents(kept.home)
    made = make_backup(kept, tmp_path / name, keys=True)
    assert {n for n in contents(kept.home) if not n.endswith(("-wal", "-shm"))} == {
        n for n in before if not n.endswith(("-wal", "-shm"))
    }
    assert (tmp_path / name).is_dir() == (name == "copy")
    assert drafts(tmp_path) == []
    facts = made.files["data/two_towers.db"].facts
    assert facts is not None
    assert (facts.matches, facts.running, facts.proved, facts.keyed, facts.faults) == (3, 3, 3, 3, [])
    assert made.host_keys == [KeyRing.load_or_create(kept.keys_dir).host_key.key_id]

    assert put_back(elsewhere, tmp_path / name) == made

    for key in kept.keys_dir.iterdir():
        assert (elsewhere.keys_dir / key.name).read_bytes() == key.read_bytes()
    async with await open_store(kept.database_url(GAME)) as old, await open_store(elsewhere.database_url(GAME)) as new:
        for number in range(3):
            assert await new.read(f"m{number}", parts=True) == await old.read(f"m{number}", parts=True)
            assert await new.head(f"m{number}") == await old.head(f"m{number}")
    assert elsewhere.data_dir.stat().st_mode & 0o777 == 0o700
    assert (elsewhere.data_dir / "two_towers.db").stat().st_mode & 0o777 == 0o600
    assert (elsewhere.data_dir / "replay.db").exists()


async def test_without_keys_the_home_must_bring_them(kept: Config, elsewhere: Config, tmp_path: Path) -> None:
    made = make_backup(kept, tmp_path / "copy", keys=False)
    assert not made.has_keys
    assert not [name for name in made.files if name.startswith("keys/")]
    with pytest.raises(BackupError, match="holds no keys, and its matches need them") as refused:
        put_back(elsewhere, tmp_path / "copy")
    assert str(elsewhere.keys_dir) in refused.value.hint
    KeyRing.load_or_create(elsewhere.keys_dir)  # other ones
    with pytest.raises(BackupError, match="holds no keys"):
        put_back(elsewhere, tmp_path / "copy")
    assert not elsewhere.data_dir.exists()
    shutil.rmtree(elsewhere.keys_dir)
    shutil.copytree(kept.keys_dir, elsewhere.keys_dir)
    put_back(elsewhere, tmp_path / "copy")
    assert (elsewhere.data_dir / "two_towers.db").exists()


async def test_finished_matches_are_proved_too(kept: Config, tmp_path: Path) -> None:
    table = play_match(load_game(GAME), ["heuristic", "random"], "over")
    await keep(kept, table)
    made = make_backup(kept, tmp_path / "copy", keys=True)
    facts = made.files["data/two_towers.db"].facts
    assert facts is not None
    # That one was played under a key that is not this installation's: it must be told.
    assert facts.faults == ["over: its host key table is not among the keys"]
    assert (facts.matches, facts.running, facts.proved) == (4, 3, 3)


async def test_a_sample_is_enough_where_there_is_much(kept: Config, tmp_path: Path) -> None:
    facts = make_backup(kept, tmp_path / "copy", keys=False, sample=1).files["data/two_towers.db"].facts
    assert facts is not None
    assert (facts.matches, facts.proved) == (3, 1)


# ---- what is refused -------------------------------------------------------------------------------------------------


async def test_nothing_is_ever_overwritten(kept: Config, elsewhere: Config, tmp_path: Path) -> None:
    make_backup(kept, tmp_path / "copy", keys=True)
    with pytest.raises(BackupError, match="exists already"):
        make_backup(kept, tmp_path / "copy", keys=True)
    before = contents(kept.home)
    with pytest.raises(BackupError, match="is not empty"):
        put_back(kept, tmp_path / "copy")
    assert {n: b for n, b in contents(kept.home).items() if not n.startswith("run/")} == before
    KeyRing.load_or_create(elsewhere.keys_dir)
    other = contents(elsewhere.home)
    with pytest.raises(BackupError, match="other keys than this backup"):
        put_back(elsewhere, tmp_path / "copy")
    assert {n: b for n, b in contents(elsewhere.home).items() if not n.startswith("run/")} == other


async def test_a_home_in_which_a_stack_runs_is_refused(kept: Config, elsewhere: Config, tmp_path: Path) -> None:
    make_backup(kept, tmp_path / "copy", keys=True)
    RunFile.of_this_process("1", {}).write(elsewhere.home)
    with pytest.raises(BackupError, match="A stack runs in"):
        put_back(elsewhere, tmp_path / "copy")


def test_an_installation_without_data_has_nothing_to_back_up(config: Config, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="nothing to back up"):
        make_backup(config, tmp_path / "copy", keys=False)
    assert not config.home.exists()


def test_postgresql_is_backed_up_by_its_own_means(config: Config, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="PostgreSQL") as refused:
        make_backup(replace(config, shared_database_url="postgresql://x/y"), tmp_path / "copy", keys=False)
    assert "pg_dump" in refused.value.hint


def each_change(folder: Path) -> Iterator[tuple[str, Callable[[], object], str]]:
    data = folder / "data" / "two_towers.db"
    manifest = folder / MANIFEST

    def rewrite(**changes: object) -> None:
        told = msgspec.json.decode(manifest.read_bytes(), type=Manifest)
        manifest.write_bytes(msgspec.json.encode(msgspec.structs.replace(told, **changes)))

    def flip() -> None:
        with data.open("r+b") as file:
            file.seek(5000)
            byte = file.read(1)[0]
            file.seek(5000)
            file.write(bytes([byte ^ 1]))

    yield "a bit of a database", flip, "is not what it was"
    yield "a database is missing", data.unlink, "lacks data/two_towers.db"
    yield "the manifest is missing", manifest.unlink, "no manifest"
    yield "the manifest is no JSON", lambda: manifest.write_text("{"), "manifest cannot be read"
    yield "another form", lambda: rewrite(format="grimoire-backup/2"), "has the form"
    yield "a stranger's file", lambda: shutil.copy(data, folder / "data" / "extra.db"), "does not name"
    yield "a name that reaches out", lambda: rewrite(files={"../../evil": _file()}), "no backup has"


def _file() -> object:
    from grimoire.cli.backups.package import FileFacts

    return FileFacts(1, "00")


async def test_a_backup_that_was_changed_is_refused_whole(kept: Config, elsewhere: Config, tmp_path: Path) -> None:
    make_backup(kept, tmp_path / "copy", keys=True)
    names = [name for name, _, _ in each_change(tmp_path / "copy")]
    for number, name in enumerate(names):
        changed = tmp_path / f"changed-{number}"
        shutil.copytree(tmp_path / "copy", changed)
        _, change, words = list(each_change(changed))[number]
        change()
        with pytest.raises(BackupError, match=words):
            put_back(elsewhere, changed)
        assert not elsewhere.data_dir.exists(), name
        assert not elsewhere.keys_dir.exists(), name


async def test_a_log_that_does_not_hold_is_found_even_where_every_digest_fits(
    kept: Config, elsewhere: Config, tmp_path: Path
) -> None:
    """Somebody who rewrites the manifest too is found out by the chain."""
    make_backup(kept, tmp_path / "copy", keys=True)
    data = tmp_path / "copy" / "data" / "two_towers.db"
    with contextlib.closing(sqlite3.connect(data)) as connection, connection:
        connection.execute("DROP TRIGGER entries_no_update")
        connection.execute("UPDATE entries SET public = x'0a00' WHERE match_id = 'm1' AND version = 2")
    from grimoire.cli.backups.package import digest_of

    manifest = tmp_path / "copy" / MANIFEST
    told = json.loads(manifest.read_text())
    told["files"]["data/two_towers.db"] |= {"bytes": data.stat().st_size, "sha256": digest_of(data)}
    manifest.write_text(json.dumps(told))
    with pytest.raises(BackupError, match="m1: the chain does not hold at version 2"):
        put_back(elsewhere, tmp_path / "copy")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("DELETE FROM entries WHERE match_id = 'm1' AND version = 3", "version 3 is missing"),
        ("DELETE FROM hidden WHERE match_id = 'm1' AND version = 4", "private parts of version 4 are missing"),
        ("UPDATE match_head SET version = 9 WHERE match_id = 'm1'", "the log does not end at its head"),
        ("UPDATE match_head SET hash = zeroblob(32) WHERE match_id = 'm1'", "the log does not end at its head"),
        ("UPDATE entries SET digests = x'ff' WHERE match_id = 'm1' AND version = 1", "version 1 cannot be read"),
    ],
)
async def test_every_lack_of_a_log_is_told(kept: Config, tmp_path: Path, change: str, fault: str) -> None:
    make_backup(kept, tmp_path / "copy", keys=True)
    data = tmp_path / "copy" / "data" / "two_towers.db"
    with contextlib.closing(sqlite3.connect(data)) as connection, connection:
        for table in ("entries", "hidden"):
            for verb in ("update", "delete"):
                connection.execute(f"DROP TRIGGER {table}_no_{verb}")
        connection.execute(change)
    facts = prove(data, KeyRing.load_or_create(kept.keys_dir))
    assert facts.faults == [f"m1: {fault}"]
    assert facts.proved == 2


async def test_keys_that_do_not_fit_are_told(kept: Config, tmp_path: Path) -> None:
    make_backup(kept, tmp_path / "copy", keys=False)
    stranger = KeyRing.load_or_create(tmp_path / "other-keys")
    facts = prove(tmp_path / "copy" / "data" / "two_towers.db", stranger)
    assert facts.proved == 0
    assert all("is not among the keys" in fault for fault in facts.faults)


def test_a_strangers_archive_reaches_nowhere(elsewhere: Config, tmp_path: Path) -> None:
    for number, name in enumerate(["../evil", "/evil", "data/../../evil.db", "data/x.db/../y", "run/stack.json"]):
        archive = tmp_path / f"{number}.tar"
        with tarfile.open(archive, "w") as tar:
            member = tarfile.TarInfo(name)
            member.size = 4
            tar.addfile(member, io.BytesIO(b"evil"))
        with pytest.raises(BackupError, match="is no backup"):
            put_back(elsewhere, archive)
    link = tmp_path / "link.tar"
    with tarfile.open(link, "w") as tar:
        member = tarfile.TarInfo("data/two_towers.db")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(member)
    with pytest.raises(BackupError, match="is no backup"):
        put_back(elsewhere, link)
    (tmp_path / "noise.tar").write_bytes(b"noise" * 1000)
    with pytest.raises(BackupError, match="is no backup, or a broken one"):
        put_back(elsewhere, tmp_path / "noise.tar")
    assert not list(tmp_path.rglob("evil"))
    assert sorted(path.name for path in elsewhere.home.iterdir()) == ["run"]
