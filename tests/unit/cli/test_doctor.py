"""`grimoire doctor` against set-ups that are well, and set-ups that are ill in one way each."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import psycopg
import pytest

from grimoire.cli.checkup import databases, home, machine, running
from grimoire.cli.checkup.findings import Finding, Level
from grimoire.cli.doctor import examine
from grimoire.engine import ALL
from grimoire.eventstore import NewEntry, open_store
from grimoire.match.table import Table
from grimoire.plugins import load_game
from grimoire.runtime.config import Address, Config, RunFile
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.lifecycle import default_services
from grimoire.runtime.stack import Stack
from tests.support.postgres import fresh_database, shared_server

ROOT = Path(__file__).parents[3]
GAME = "two_towers"
SERVICES = tuple(service for service in default_services() if service.name in (GAME, "replay", "matchmaking"))


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config.for_test(tmp_path / "home")


def environment(config: Config, **more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "COLUMNS": "200", **config.to_env(), **more}


async def seen(config: Config, monkeypatch: pytest.MonkeyPatch, **more: str) -> list[Finding]:
    for name in [name for name in os.environ if name.startswith("GRIMOIRE_")]:
        monkeypatch.delenv(name)
    for name, value in {**config.to_env(), **more}.items():
        monkeypatch.setenv(name, value)
    return await examine()


def told(found: list[Finding] | Iterator[Finding], level: Level) -> list[str]:
    """What was found of this level."""
    return [f"{finding.check}: {finding.told}" for finding in found if finding.level is level]


def grave(found: list[Finding]) -> list[str]:
    return told(found, Level.FAIL)


async def keep_match(config: Config, table: Table, **changes: object) -> None:
    """Puts a match into the game's store."""
    config.data_dir.mkdir(parents=True, exist_ok=True)
    async with await open_store(config.database_url(GAME)) as store:
        rows = [
            NewEntry(
                **{
                    "match_id": e.match_id,
                    "game": GAME,
                    "version": e.version,
                    "command_id": e.command_id,
                    "server_time_ms": e.server_time_ms,
                    "header": e.header,
                    "public": e.public,
                    "digests": e.stored_digests(),
                    "hash": e.hash,
                    "parts": e.stored_parts(),
                    "status": int(e.state.phase),
                    "next_deadline_ms": e.state.next_deadline_ms,
                    "rules_version": e.state.rules_version,
                    "epoch": 0,
                    **changes,
                }
            )
            for e in table.entries
        ]
        await store.append(rows)


def running_match(match_id: str = "m1") -> Table:
    table = Table(load_game(GAME).game, match_id=match_id, seats=2)
    table.begin()
    return table


# ---- well ------------------------------------------------------------------------------------------------------------


async def test_a_fresh_home_needs_no_mending_and_is_left_as_it_was(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = await seen(config, monkeypatch)
    assert grave(found) == []
    assert {f.check for f in found} >= {
        "python",
        "disk",
        "inodes",
        "home",
        "keys",
        "sqlite",
        "broker",
        "ports",
        "clock",
    }
    assert all(f.mend for f in found if f.level is not Level.OK)
    assert not config.home.exists()


async def test_a_running_stack_is_well(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Stack(config, SERVICES):
        found = await seen(config, monkeypatch)
    assert grave(found) == []
    oks = told(found, Level.OK)
    assert "readiness: two_towers is ready." in oks
    assert "services: Every service says that it serves." in oks
    assert any(line.startswith("schema: two_towers.db has schema revision") for line in oks)
    assert any(line.startswith("keys: ") and "host keys" in line for line in oks)
    assert any(line.startswith("stack: The running stack (process ") for line in oks)


def test_the_command_prints_words_or_json_and_ends_0_or_1(config: Config) -> None:
    def ask(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        code = "from grimoire.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", code, "doctor", *arguments],
            env=environment(config, **more),
            capture_output=True,
            text=True,
            check=False,
        )

    well = ask()
    assert well.returncode == 0, well.stdout
    assert "Nothing to mend" in well.stdout
    ill = ask("--json", GRIMOIRE_METRICS="nowhere")
    assert ill.returncode == 1
    found = json.loads(ill.stdout)
    assert found[-1]["level"] == "fail"
    assert found[-1]["told"].startswith("GRIMOIRE_METRICS must be host:port")
    assert set(found[0]) == {"check", "level", "told", "mend"}


# ---- settings, folders, keys -----------------------------------------------------------------------------------------


def test_misspelt_settings_are_named() -> None:
    found = list(home.settings({"GRIMOIRE_HOEM": "x", "GRIMOIRE_HOME": "y", "GRIMOIRE_QQQ": "z", "OTHER": "w"}))
    assert [(f.level, f.told.split()[0]) for f in found] == [
        (Level.WARN, "GRIMOIRE_HOEM"),
        (Level.WARN, "GRIMOIRE_QQQ"),
    ]
    assert found[0].mend == "Did you mean GRIMOIRE_HOME?"


def test_every_setting_that_the_code_reads_is_known() -> None:
    named: set[str] = set()
    for folder in ("libs", "services"):
        for path in (ROOT / folder).rglob("*.py"):
            named |= set(re.findall(r"\bGRIMOIRE_[A-Z_]*[A-Z]\b", path.read_text(encoding="utf-8")))
    assert len(named) > 15
    assert told(home.settings(dict.fromkeys(named - {"GRIMOIRE_HOEM"}, "x")), Level.WARN) == []


def test_rights_that_are_too_wide_are_found(config: Config) -> None:
    KeyRing.load_or_create(config.keys_dir)
    config.data_dir.mkdir()
    assert grave([*home.folders(config), *home.keys(config)]) == []
    config.keys_dir.chmod(0o755)
    config.data_dir.chmod(0o750)
    (config.keys_dir / "session.key").chmod(0o644)
    found = [*home.folders(config), *home.keys(config)]
    assert grave(found) == [
        f"home: Others may look into {config.keys_dir} (mode 755).",
        f"keys: {config.keys_dir}/session.key can be read by others (mode 644).",
    ]
    assert told(found, Level.WARN) == [f"home: Others may look into {config.data_dir} (mode 750)."]
    assert {f.mend for f in found if f.level is Level.FAIL} == {
        f"chmod 700 {config.keys_dir}",
        f"chmod 600 {config.keys_dir}/session.key",
    }


def test_data_without_their_keys_are_found_before_anybody_makes_new_ones(config: Config) -> None:
    config.data_dir.mkdir(parents=True)
    (config.data_dir / "two_towers.db").touch()
    (found,) = home.keys(config)
    assert found.level is Level.FAIL
    assert "no keys" in found.told
    KeyRing.load_or_create(config.keys_dir)
    (config.keys_dir / "occupant.key").unlink()
    (found,) = home.keys(config)
    assert (found.level, found.told) == (Level.FAIL, f"Keys are missing in {config.keys_dir}: occupant.")
    assert not (config.keys_dir / "occupant.key").exists()
    (config.keys_dir / "host-0001.key").unlink()
    assert any("No host key" in f.told for f in home.keys(config))


@pytest.mark.parametrize("text", ["", "no hex", "00" * 31])
def test_a_broken_key_is_found_and_not_shown(config: Config, text: str) -> None:
    KeyRing.load_or_create(config.keys_dir)
    (config.keys_dir / "session.key").write_text(text)
    (found,) = (f for f in home.keys(config) if f.level is Level.FAIL)
    assert found.told == f"{config.keys_dir}/session.key is no key (64 hex digits)."


def test_a_run_file_of_a_killed_stack_is_told_from_one_of_a_living(config: Config) -> None:
    assert [f.level for f in home.run_file(config)] == [Level.OK]
    RunFile(version="1", pid=2**22 + 7, started=1.0, addresses={}).write(config.home)
    (found,) = home.run_file(config)
    assert found.level is Level.WARN
    assert "left behind" in found.told
    RunFile.of_this_process("1", {}).write(config.home)
    (found,) = home.run_file(config)
    assert (found.level, found.told) == (Level.OK, f"A stack runs in this home (process {os.getpid()}).")


def test_a_taken_port_is_named_with_who_has_it(config: Config) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = Address(*taken.getsockname())
        (found,) = home.ports(config.with_address("replay", address))
    assert found.level is Level.FAIL
    assert found.told.startswith(f"{address}, where replay listens, is taken by ")
    assert f"(process {os.getpid()})" in found.told
    assert "GRIMOIRE_ADDRESS_REPLAY" in found.mend
    assert [f.level for f in home.ports(config)] == [Level.OK]


async def test_logs_that_are_large_or_grow_fast_are_found(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    config.log_dir.mkdir(parents=True)
    log = config.log_dir / "nats.log"
    log.write_text("x" * 1000)
    assert [f.told for f in await home.logs(config)] == ["1 log files take 1.0 kB."]
    monkeypatch.setattr(home, "_MUCH_LOG", 999)
    assert "the largest is" in (await home.logs(config))[0].told

    async def write() -> None:
        with log.open("a") as file:
            while True:
                file.write("y" * 100_000)
                file.flush()
                await asyncio.sleep(0.01)

    writing = asyncio.create_task(write())
    (found,) = await home.logs(config)
    writing.cancel()
    assert found.level is Level.WARN
    assert "grows by" in found.told


def test_listening_beyond_this_machine_needs_tls(config: Config) -> None:
    wide = config.with_address("replay", Address("0.0.0.0", 7422))
    assert grave(list(home.tls(wide))) == ["tls: replay would listen beyond this machine without TLS."]
    assert list(home.tls(replace(wide, private_network=True))) == []
    assert list(home.tls(config.with_address("gateway", Address("0.0.0.0", 7420)))) == []


# ---- the machine -----------------------------------------------------------------------------------------------------


def test_a_full_disk_and_few_inodes_are_found(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_LEAST_BYTES", 10**18)
    monkeypatch.setattr(machine, "_FEW_INODES", 10**18)
    found = list(machine.disk(config))
    assert [f.check for f in found if f.level is Level.FAIL] == ["disk"]
    assert {f.check for f in found if f.level is Level.WARN} <= {"inodes"}


def test_a_file_system_that_is_no_good_for_sqlite_is_found(config: Config) -> None:
    assert [f.level for f in machine.sqlite(config)] == [Level.OK]
    (found,) = (f for f in machine.sqlite(replace(config, home=Path("/proc/self"))) if f.check == "sqlite")
    assert found.level is Level.FAIL
    assert "no file can be made in it" in found.told
    assert list(machine.sqlite(replace(config, shared_database_url="postgresql://x/y"))) == []


async def test_a_broker_elsewhere_is_asked_for_its_version(config: Config) -> None:
    async def answer(line: bytes) -> Finding:
        async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(line)
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            (found,) = await machine.broker_program(replace(config, nats_url=f"nats://u:secret@127.0.0.1:{port}"))
        assert "secret" not in found.told
        return found

    assert (await answer(b'INFO {"version":"2.11.0"}\r\n')).level is Level.OK
    assert "2.10.0 or newer" in (await answer(b'INFO {"version":"2.9.0"}\r\n')).told
    assert "is no nats-server" in (await answer(b"HTTP/1.1 400 Bad Request\r\n")).told
    (found,) = await machine.broker_program(replace(config, nats_url="nats://127.0.0.1:1"))
    assert found.told == "No broker answers at 127.0.0.1:1."


async def test_an_embedded_broker_that_is_missing_or_old_is_found(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "nats-server"
    old.write_text("#!/bin/sh\necho 'nats-server: v2.9.1'\n")
    old.chmod(0o755)
    monkeypatch.setattr(machine, "find_binary", lambda: str(old))
    (found,) = await machine.broker_program(config)
    assert (found.level, found.told) == (
        Level.FAIL,
        "The broker is nats-server 2.9.1; 2.10.0 or newer is needed.",
    )
    old.write_text("#!/bin/sh\nexit 1\n")
    (found,) = await machine.broker_program(config)
    assert "cannot be run" in found.told


def test_packages_that_traces_need_are_asked_for(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(machine.traces(config)) == []
    assert [f.level for f in machine.traces(replace(config, otlp="http://c:4317"))] == [Level.OK]
    monkeypatch.setattr(machine, "_is_installed", lambda name: "exporter" not in name)
    (found,) = machine.traces(replace(config, otlp="http://c:4317"))
    assert found.level is Level.FAIL


# ---- SQLite files ----------------------------------------------------------------------------------------------------


async def test_rules_and_host_keys_that_matches_need_are_asked_for(config: Config) -> None:
    await keep_match(config, running_match("m1"))
    await keep_match(config, running_match("m2"), rules_version=7)
    over = running_match("m3")
    over.void("test")
    await keep_match(config, over, rules_version=6)
    assert over.log(ALL)
    found = list(databases.databases(config))
    assert grave(found) == [
        "rules: 1 running matches in two_towers.db need rules version 7 of two_towers, which is not installed.",
        f"host keys: Running matches in two_towers.db need host keys that are not in {config.keys_dir}: table.",
    ]
    assert told(found, Level.WARN) == [
        "rules: 1 matches in two_towers.db were played by rules version 6 of two_towers, which is not installed."
    ]


async def test_a_database_of_a_newer_program_is_refused(config: Config) -> None:
    await keep_match(config, running_match())
    with contextlib.closing(sqlite3.connect(config.data_dir / f"{GAME}.db")) as connection, connection:
        connection.execute("UPDATE eventstore_version SET version_num = '9999'")
    assert any("opened by a newer Grimoire" in f.mend for f in databases.databases(config) if f.level is Level.FAIL)


async def test_damaged_locked_and_open_files_are_found(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    await keep_match(config, running_match())
    path = config.data_dir / f"{GAME}.db"
    path.chmod(0o644)
    assert any("can be read by others" in f.told for f in databases.databases(config) if f.level is Level.WARN)
    path.chmod(0o600)
    (config.data_dir / "other.db").write_bytes(b"this is no database at all" * 100)
    assert grave(list(databases.databases(config))) == [
        f"database: {config.data_dir}/other.db is no SQLite database, or a broken one.",
        f"host keys: Running matches in two_towers.db need host keys that are not in {config.keys_dir}: table.",
    ]
    (config.data_dir / "other.db").unlink()
    monkeypatch.setattr(databases, "_BUSY_S", 0.01)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("CREATE TABLE x (y)")
        assert grave(list(databases.databases(config))) == [f"database: {path} is locked by another program."]
        connection.execute("ROLLBACK")
    pages = bytearray(path.read_bytes())
    for page in range(8, len(pages) // 4096 - 1, 3):
        pages[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    path.write_bytes(pages)
    assert any("damaged" in f.told or "broken" in f.told for f in databases.databases(config) if f.level is Level.FAIL)


# ---- PostgreSQL ------------------------------------------------------------------------------------------------------


@pytest.fixture
async def served(config: Config) -> AsyncIterator[Config]:
    with fresh_database() as url:
        served = replace(config, database_urls=MappingProxyType({GAME: url}))
        await keep_match(served, running_match())
        yield served


async def test_who_may_read_hidden_parts_is_asked_for(served: Config) -> None:
    url = served.database_url(GAME)
    clean = list(databases.databases(served))
    assert any(line.startswith("hidden parts: In PostgreSQL at ") for line in told(clean, Level.OK))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DO $$ BEGIN CREATE ROLE doctor_game; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
        connection.execute("DO $$ BEGIN CREATE ROLE doctor_replay; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
        connection.execute("GRANT SELECT ON hidden TO doctor_game")
        well = list(databases.databases(served))
        connection.execute("GRANT SELECT ON hidden TO doctor_replay")
        connection.execute("GRANT SELECT ON hidden TO PUBLIC")
        ill = list(databases.databases(served))
        connection.execute("REVOKE ALL ON hidden FROM doctor_game, doctor_replay")
    assert not [f for f in well if f.check == "hidden parts" and f.level is not Level.OK]
    (found,) = (f for f in ill if f.check == "hidden parts")
    assert found.level is Level.FAIL
    assert "doctor_replay, everybody may read the table `hidden`" in found.told
    assert found.mend.endswith("REVOKE SELECT ON hidden FROM doctor_replay, PUBLIC")


async def test_settings_that_lose_data_or_show_cards_are_found(served: Config) -> None:
    # The tests' own server runs without fsync, which is what a person must be told.
    found = list(databases.databases(served))
    assert any("fsync = off" in line for line in grave(found))
    warned = told(found, Level.WARN)
    assert any("log_parameter_max_length_on_error" in line for line in warned) or (
        shared_setting("log_parameter_max_length_on_error") == "0"
    )
    assert any("as a superuser" in line for line in warned)
    assert any("schema revision" in line for line in told(found, Level.OK))


def shared_setting(name: str) -> str:
    with psycopg.connect(shared_server().url()) as connection:
        return str(connection.execute(f"SHOW {name}".encode()).fetchone()[0])  # type: ignore[index]


def test_a_server_that_is_away_is_told_without_its_password(config: Config) -> None:
    away = replace(config, shared_database_url="postgresql://grimoire:s3cret@127.0.0.1:1/grimoire")
    (found,) = databases.databases(away)
    assert found.level is Level.FAIL
    assert found.told.startswith("PostgreSQL at 127.0.0.1, database grimoire cannot be reached")
    assert "s3cret" not in found.told + found.mend


# ---- a running stack that lacks something ----------------------------------------------------------------------------


async def test_a_stack_that_lacks_something_says_what(config: Config) -> None:
    async with Stack(config, SERVICES) as stack:
        assert grave(await running.running(config)) == []
        assert stack._broker is not None
        pid = stack._broker.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            found: list[str] = []
            async with asyncio.timeout(30):
                while not any("matchmaking is not ready" in line for line in found):
                    found = grave(await running.running(config))
        finally:
            os.kill(pid, signal.SIGCONT)
        assert any("broker: the broker does not answer" in line for line in found)
    assert await running.running(config) == []


async def test_counters_that_should_stand_at_0_are_read(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    page = b'# TYPE grimoire_broken_matches counter\ngrimoire_broken_matches_total{game="x"} 2.0\n'
    answers: Mapping[str, bytes] = {"/metrics": page, "/readyz": b'{"services": {"x": {}}}'}
    monkeypatch.setattr(running, "_get", lambda url: answers["/" + url.rpartition("/")[2]])
    RunFile.of_this_process("0.0.0", {"metrics": "127.0.0.1:1"}).write(config.home)
    found = await running.running(config)
    assert told(found, Level.WARN)[0].startswith("stack: The running stack is version 0.0.0;")
    assert told(found, Level.WARN)[1] == "complaints: 2 matches were set aside: their logs no longer fold."
