"""Databases: files or PostgreSQL, their settings, who may read hidden parts, whether their matches can be used."""

from __future__ import annotations

import contextlib
import sqlite3
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import psycopg
from google.protobuf.message import DecodeError
from sqlalchemy import make_url

from grimoire.cli.checkup.findings import Finding, fail, fine, size, warn
from grimoire.eventstore.migrations import HEAD
from grimoire.eventstore.tables import VERSION_TABLE
from grimoire.match.state import Phase
from grimoire.plugins import UnknownGameError, load_game
from grimoire.runtime.config import Config
from grimoire.runtime.keys import KeyFileError, host_key_ids
from grimoire.v1 import match_pb2

__all__ = ["databases"]

_LARGE: Final = 500 * 10**6
_LARGE_WAL: Final = 256 * 10**6
_BUSY_S: Final = 5.0
_CONNECT_S: Final = 5
_OLDEST_POSTGRES: Final = 140_000
_SKEW_S: Final = 2.0
_FEW_CONNECTIONS: Final = 50
_ASKED: Final = 2_000
_RUNNING: Final = (int(Phase.HANDSHAKE), int(Phase.RUNNING))
_CODES: Final = frozenset({"matchmaking"})
"""What stands in the column `game` of logs that are no matches."""

_HEADS: Final = "SELECT game, rules_version, status, count(*) FROM match_head GROUP BY game, rules_version, status"
_FIRSTS: Final = (
    "SELECT e.public FROM entries AS e JOIN match_head AS h ON h.partition = e.partition AND h.match_id = e.match_id"
    " WHERE e.version = 1 AND h.status IN (1, 2) AND h.game <> 'matchmaking' LIMIT 2000"
)
_READERS: Final = """
SELECT coalesce(role.rolname, 'everybody') FROM pg_class AS c, aclexplode(c.relacl) AS acl
LEFT JOIN pg_roles AS role ON role.oid = acl.grantee
WHERE c.oid = to_regclass('hidden') AND acl.privilege_type = 'SELECT' AND acl.grantee <> c.relowner
"""


class _Asked(Protocol):
    """A database that answers a question with rows."""

    def __call__(self, question: str, /) -> Sequence[Sequence[Any]]: ...


def databases(config: Config) -> Iterator[Finding]:
    """All of them: files in the data folder, and servers that are named."""
    servers = {url for url in (config.shared_database_url, *config.database_urls.values()) if url is not None}
    for url in sorted(servers):
        yield from _server(config, url)
    files = sorted(config.data_dir.glob("*.db")) if config.data_dir.is_dir() else []
    for path in files:
        yield from _file(config, path)
    if not servers and not files:
        yield fine("database", "Databases will be made at the first start.")


# ---- what lies in them -----------------------------------------------------------------------------------------------


def _contents(config: Config, where: str, ask: _Asked) -> Iterator[Finding]:
    """Whether this installation can use the matches in an event store."""
    (revision,) = ask(f"SELECT version_num FROM {VERSION_TABLE}")[0]  # noqa: S608
    if revision > HEAD:
        yield fail(
            "schema",
            f"{where} has schema revision {revision}; this program knows {HEAD}.",
            "It was opened by a newer Grimoire: install that one.",
        )
        return
    if revision == HEAD:
        yield fine("schema", f"{where} has schema revision {HEAD}.")
    else:
        yield warn("schema", f"{where} has schema revision {revision}.", f"The next start brings it to {HEAD}.")
    yield from _rules(where, ask(_HEADS))
    yield from _host_keys(config, where, ask(_FIRSTS))


def _rules(where: str, heads: Sequence[Sequence[Any]]) -> Iterator[Finding]:
    """Whether the rules of every match are installed."""
    wanted: dict[tuple[str, int], list[int]] = {}
    for game, version, status, count in heads:
        if game not in _CODES:
            counts = wanted.setdefault((game, version), [0, 0])
            counts[status not in _RUNNING] += count
    well = True
    for (game, version), (running, over) in sorted(wanted.items()):
        if _has_rules(game, version):
            continue
        well = False
        what = f"rules version {version} of {game}"
        if running:
            mend = "Install it before anybody plays on: services/README.md says how old rules live on."
            yield fail("rules", f"{running} running matches in {where} need {what}, which is not installed.", mend)
        else:
            mend = "They can be neither shown nor judged again; install it to do so."
            yield warn("rules", f"{over} matches in {where} were played by {what}, which is not installed.", mend)
    if wanted and well:
        count = sum(map(sum, wanted.values()))
        yield fine("rules", f"The rules of all {count} matches in {where} are installed.")


def _has_rules(game: str, version: int) -> bool:
    try:
        return load_game(game).rules(version) is not None
    except UnknownGameError:
        return False


def _host_keys(config: Config, where: str, firsts: Sequence[Sequence[Any]]) -> Iterator[Finding]:
    """Whether the host keys of running matches are there."""
    needed = {created.host_key_id for (public,) in firsts if (created := _created(bytes(public))) is not None}
    try:
        missing = needed - {*host_key_ids(config.keys_dir)}
    except KeyFileError:
        return  # told where keys are looked at
    if missing:
        gone = ", ".join(sorted(missing))
        yield fail(
            "host keys",
            f"Running matches in {where} need host keys that are not in {config.keys_dir}: {gone}.",
            "Put them back from where keys are kept: without them these matches cannot go on.",
        )
    elif needed:
        yield fine("host keys", f"The host keys of the running matches in {where} are there.")


def _created(public: bytes) -> match_pb2.MatchCreated | None:
    try:
        return match_pb2.MatchCreated.FromString(match_pb2.Events.FromString(public).events[0].body)
    except (DecodeError, IndexError):
        return None


# ---- SQLite ----------------------------------------------------------------------------------------------------------


def _file(config: Config, path: Path) -> Iterator[Finding]:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        yield warn("database", f"{path} can be read by others (mode {mode:03o}).", f"chmod 600 {path}")
    try:
        with contextlib.closing(
            sqlite3.connect(f"file:{path.resolve()}?mode=ro", uri=True, timeout=_BUSY_S)
        ) as connection:
            yield from _open_file(config, path, lambda question: connection.execute(question).fetchall())
    except sqlite3.OperationalError as error:
        busy = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        told = f"{path} is locked by another program." if busy else f"{path} cannot be read ({error.sqlite_errorname})."
        yield fail("database", told, "End what holds it, or see whether the disk is full or broken.")
    except sqlite3.DatabaseError:
        yield fail("database", f"{path} is no SQLite database, or a broken one.", "Restore it: `grimoire restore`.")


def _open_file(config: Config, path: Path, ask: _Asked) -> Iterator[Finding]:
    bytes_ = path.stat().st_size
    (journal,) = ask("PRAGMA journal_mode")[0]
    if journal != "wal":
        yield warn("database", f"{path} has no write-ahead log ({journal}).", "The next start of its service mends it.")
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size > _LARGE_WAL:
        told = f"The write-ahead log of {path.name} has grown to {size(log.stat().st_size)}."
        yield warn("database", told, "A reader holds it open for very long; restart the stack if it does not shrink.")
    if bytes_ > _LARGE:
        yield fine("database", f"{path.name} has {size(bytes_)}; too large to check while you wait.")
    else:
        faults = [row[0] for row in ask("PRAGMA quick_check(3)")]
        if faults != ["ok"]:
            mend = "Stop the stack, keep a copy of the file, and restore the last good backup."
            yield fail("database", f"{path} is damaged: {faults[0]}", mend)
            return
        yield fine("database", f"{path.name} is whole ({size(bytes_)}).")
    if ask(f"SELECT 1 FROM sqlite_master WHERE name = '{VERSION_TABLE}'"):  # noqa: S608
        yield from _contents(config, path.name, ask)


# ---- PostgreSQL ------------------------------------------------------------------------------------------------------


def _server(config: Config, url: str) -> Iterator[Finding]:
    parsed = make_url(url).set(drivername="postgresql")
    where = f"PostgreSQL at {parsed.host or parsed.query.get('host', 'the local socket')}, database {parsed.database}"
    try:
        connection = psycopg.connect(
            parsed.render_as_string(hide_password=False), connect_timeout=_CONNECT_S, autocommit=True
        )
    except psycopg.Error as error:
        # Its own words may hold the address with the password.
        yield fail("database", f"{where} cannot be reached ({type(error).__name__}).", "Start it, or correct the URL.")
        return
    with connection:

        def ask(question: str, /) -> Sequence[Sequence[Any]]:
            return connection.execute(question.encode()).fetchall()

        try:
            yield from _settings(where, ask)
            if ask(f"SELECT to_regclass('{VERSION_TABLE}')")[0][0] is not None:
                yield from _readers(where, ask)
                yield from _contents(config, where, ask)
            else:
                yield fine("schema", f"{where} holds no matches yet; the first start makes its tables.")
        except psycopg.Error as error:
            yield fail("database", f"{where} did not answer ({type(error).__name__}).", "See the server's log.")


def _settings(where: str, ask: _Asked) -> Iterator[Finding]:
    def show(name: str) -> str:
        return str(ask(f"SHOW {name}")[0][0])

    version = int(show("server_version_num"))
    if version < _OLDEST_POSTGRES:
        yield fail("database", f"{where} is version {show('server_version')}.", "14 or newer is needed.")
        return
    well = True
    for name, grave, mend in (
        ("fsync", True, "Turn it on: with it off a crash of the machine can destroy the whole database."),
        ("full_page_writes", True, "Turn it on: with it off a crash can tear pages apart."),
        ("synchronous_commit", False, "It is turned on for each of our sessions; turn it on for all to be sure."),
    ):
        if show(name) == "off":
            well = False
            yield (fail if grave else warn)("postgresql", f"{where} runs with {name} = off.", mend)
    for name in ("log_parameter_max_length", "log_parameter_max_length_on_error"):
        if show(name) != "0" and (show("log_statement") != "none" or name.endswith("error")):
            well = False
            told = f"{where} may write what it is asked to store into its log ({name} = {show(name)})."
            yield warn("postgresql", told, f"Set {name} = 0: hidden cards would lie in the server's log.")
    if int(show("max_connections")) < _FEW_CONNECTIONS:
        well = False
        told = f"{where} takes {show('max_connections')} connections."
        yield warn("postgresql", told, "Each service uses up to ten: raise max_connections.")
    skew = abs(float(ask("SELECT extract(epoch FROM clock_timestamp())")[0][0]) - time.time())
    if skew > _SKEW_S:
        well = False
        told = f"The clocks of this machine and of {where} are {skew:.1f} s apart."
        yield warn("clock", told, "Synchronise both; the database's own times would mislead whoever looks.")
    if well:
        yield fine("postgresql", f"{where}, version {show('server_version')}, is set up well.")


def _readers(where: str, ask: _Asked) -> Iterator[Finding]:
    """Who may read the cards that nobody may see yet."""
    readers = sorted({str(row[0]) for row in ask(_READERS)})
    others = [reader for reader in readers if "game" not in reader]
    if others:
        yield fail(
            "hidden parts",
            f"In {where}, {', '.join(others)} may read the table `hidden`, with hands and decks of running matches.",
            "Take it from them: REVOKE SELECT ON hidden FROM "  # noqa: S608 (said to a person, not to a database)
            + ", ".join("PUBLIC" if other == "everybody" else other for other in others),
        )
    elif readers:
        yield fine("hidden parts", f"In {where} only the owner and {', '.join(readers)} may read hidden parts.")
    else:
        yield fine("hidden parts", f"In {where} only the tables' owner may read hidden parts.")
    if ask("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")[0][0]:
        yield warn(
            "postgresql",
            f"Services connect to {where} as a superuser.",
            "Give each a role of its own: libs/grimoire/eventstore/README.md has the grants.",
        )
