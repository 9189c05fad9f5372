"""Files that people bring along: good ones are kept, and everything else is answered with what is wrong."""

from __future__ import annotations

import asyncio
import base64
import gzip
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import grpc
import msgspec
import pytest

from grimoire.engine import ALL, PUBLIC, Viewer
from grimoire.fairness import server_seed
from grimoire.fairness.export import MAX_FILE_BYTES, write_export
from grimoire.match import Referee
from grimoire.v1 import audit_pb2, frame_pb2, match_pb2, replay_pb2
from replay.bench import Bench
from replay.limits import ReplayLimits
from tests.replay.house import Caller, House, Refusal, house, replay_service
from tests.replay.logs import GAME, HOST_KEY, file_of, play
from tests.replay.scripted import stage
from tests.replay.tampering import changed_lines, kinds, rewritten
from tests.support.toy import PLUGIN, Toy
from tests.support.toy import schema as pb
from tests.support.transparency import logged

PASSED, FAILED, NOT_CHECKED = (
    audit_pb2.CHECK_STATUS_PASSED,
    audit_pb2.CHECK_STATUS_FAILED,
    audit_pb2.CHECK_STATUS_NOT_CHECKED,
)


def statuses(report: audit_pb2.AuditReport) -> list[int]:
    return [check.status for check in report.checks]


def lie_of(report: audit_pb2.AuditReport) -> tuple[int, int]:
    """Number and line of the first failed check."""
    failed = [c for c in report.checks if c.status == FAILED]
    first = min(failed, key=lambda c: c.line or 10**9)
    return first.number, first.line


# ---- good files -----------------------------------------------------------------------------------------------------


async def test_a_good_file_is_audited_and_kept(home: House) -> None:
    log = play("elsewhere-1")
    ada = home.caller("ada")

    answer = await ada.bring(file_of(log, ALL))

    assert answer.report.passed
    assert statuses(answer.report) == [PASSED] * 8
    assert answer.match_id.startswith("import-")
    assert len(answer.match_id) == len("import-") + 26
    got = await ada.get(answer.match_id)
    assert got.imported
    assert got.head.match_id == answer.match_id
    assert (got.head.game, got.head.version, got.head.hash) == (GAME, len(log), log[-1].hash)
    assert got.head.revealed
    assert got.head.status == frame_pb2.MATCH_STATUS_CLOSED
    assert got.head.created == match_pb2.MatchCreated.FromString(log[-1].state.created)
    assert got.head.closed == match_pb2.MatchClosed.FromString(log[-1].state.closed)
    assert (got.head.created_ms, got.head.updated_ms) == (log[0].server_time_ms, log[-1].server_time_ms)


async def test_whoever_knows_its_id_sees_it_as_after_the_reveal(home: House) -> None:
    kept = (await home.caller("ada").bring(file_of(play("elsewhere-1"), ALL))).match_id

    for account in ("ada", "carl", ""):
        assert await home.caller(account).viewers(kept) == ["seat:0", "seat:1", "public", "all"]


async def test_a_match_brought_back_looks_as_it_does_where_it_was_played(home: House) -> None:
    played = await home.play()
    caller = home.caller("ada")
    brought = (await caller.bring(await caller.export(played))).match_id

    for viewer in (Viewer.of_seat(0), Viewer.of_seat(1), PUBLIC, ALL):
        assert await caller.frames(brought, viewer) == await caller.frames(played, viewer)
    assert await caller.frames(brought, ALL, 6, 8) == await caller.frames(played, ALL, 6, 8)
    assert await caller.marks(brought) == await caller.marks(played)


async def test_a_file_comes_out_as_it_went_in(home: House) -> None:
    file = file_of(play("elsewhere-1"), ALL)
    kept = (await home.caller("ada").bring(file)).match_id

    assert await home.caller("carl").export(kept) == file


async def test_a_file_may_be_cut_anywhere(home: House) -> None:
    file = file_of(play("elsewhere-1"), ALL)
    caller = home.caller("ada")

    for size in (7, 1000, len(file)):
        assert (await caller.bring(file, size)).match_id


async def test_a_match_that_was_void_can_be_brought_along(home: House) -> None:
    log = _voided("elsewhere-2")
    caller = home.caller("ada")

    answer = await caller.bring(file_of(log, ALL))

    assert answer.report.passed
    assert (await caller.get(answer.match_id)).head.status == frame_pb2.MATCH_STATUS_VOID
    assert [f.version for f in await caller.frames(answer.match_id, ALL)] == [1, 2]


async def test_a_file_of_other_rules_is_kept_unjudged(home: House) -> None:
    class Later(Toy):
        rules_version = 2

    caller = home.caller("ada")

    answer = await caller.bring(_file_of_game(Later(), "elsewhere-3"))

    assert answer.match_id
    assert answer.report.checks[7].status == NOT_CHECKED
    assert "rules version 2" in answer.report.checks[7].detail
    assert not answer.report.passed


# ---- lies -----------------------------------------------------------------------------------------------------------


def one_of_each_kind() -> Iterator[tuple[str, int, bytes]]:
    seen = set()
    for name, line, file in changed_lines(file_of(play("elsewhere-1"), ALL)):
        kind = (kinds(name), line == 1, line in (2, 9))
        if kind not in seen:
            seen.add(kind)
            yield name, line, file


@pytest.fixture
async def caller(toy: None, tmp_path: Path) -> AsyncIterator[Caller]:
    async with house(tmp_path / "home", ReplayLimits(heavy_per_account=64, heavy=64)) as running:
        yield running.caller("ada")


async def test_a_changed_field_of_any_kind_is_found_on_its_line(caller: Caller) -> None:
    changes = list(one_of_each_kind())
    assert {kinds(name).split()[0] for name, _, _ in changes} == {
        "kind",
        "format",
        "game",
        "match_id",
        "header",
        "public",
        "parts.audience",
        "parts.salt",
        "parts.body",
        "digests.audience",
        "digests.digest",
        "hash",
        "key",
        "checkpoint",
        "leaves.number",
        "leaves.leaf",
        "leaves.path",
        "entries",
        "head",
    }
    for name, line, file in changes:
        answer = await caller.bring(file, 64 * 1024)
        assert not answer.match_id, name
        assert not answer.report.passed, name
        _, found = lie_of(answer.report)
        # A changed name in the first line shows where the log says otherwise: in the first entry.
        assert found == line or (line == 1 and found == 2), f"{name}: found on line {found}"


async def test_lines_left_out_doubled_or_exchanged_are_found(caller: Caller) -> None:
    log = play("elsewhere-1")
    lines = file_of(log, ALL).splitlines(keepends=True)

    def end(entries: int) -> bytes:
        return lines[-1].replace(b'"entries":%d' % len(log), b'"entries":%d' % entries)

    forgeries = {
        "left out": ([*lines[:5], *lines[6:-1], end(len(log) - 1)], 6),
        "doubled": ([*lines[:6], *lines[5:-1], end(len(log) + 1)], 7),
        "left out and still counted": (lines[:5] + lines[6:], len(lines) - 1),
        "exchanged": ([*lines[:5], lines[6], lines[5], *lines[7:]], 6),
        "no end": (lines[:-1], len(lines)),
        "no beginning": (lines[1:], 1),
        "two ends": ([*lines, lines[-1]], len(lines) + 1),
        "an end too soon": ([*lines[:7], lines[-1]], 8),
    }
    for name, (forged, line) in forgeries.items():
        answer = await caller.bring(b"".join(forged))
        assert not answer.match_id, name
        assert lie_of(answer.report)[1] == line, name


async def test_a_log_rewritten_by_somebody_who_knows_all_secrets_is_found_by_the_rules(caller: Caller) -> None:
    log = play("elsewhere-1")
    burnt = next(e.version for e in log if any(isinstance(v, pb.RuneBurnt) for v in e.events))

    def more_light(events: list) -> None:
        next(e for e in events if isinstance(e, pb.RuneBurnt)).light += 1

    answer = await caller.bring(rewritten(log, burnt, more_light))

    assert statuses(answer.report) == [PASSED] * 7 + [FAILED]
    assert not answer.match_id
    assert lie_of(answer.report) == (8, burnt + 1)
    assert answer.report.checks[7].version == burnt


# ---- garbage --------------------------------------------------------------------------------------------------------

GARBAGE = {
    "nothing": b"",
    "noise": bytes(range(256)) * 40,
    "zeros": bytes(100_000),
    "text": b"hello\nworld\n",
    "another format": b'{"kind":"something-else","format":1}\n',
    "a packed file": gzip.compress(b"grimoire" * 100_000),
    "half a line": b'{"kind":"grimoire-export","format":1,"game":"toy"',
    "a byte order mark": b"\xef\xbb\xbf" + b'{"kind":"grimoire-export","format":1,"game":"toy","match_id":"m"}\n',
    "nested arrays": b"[" * 300_000,
    "nested objects": b'{"a":' * 60_000 + b"\n",
    "a long number": b'{"kind":"grimoire-export","format":' + b"9" * 300_000 + b"}\n",
    "a long line": b'{"kind":"grimoire-export","format":1,"game":"' + b"a" * 2_000_000 + b'"}\n',
    "no line at all": b"x" * 3_000_000,
    "empty lines": b"\n" * 2_000_000,
    "surrogates": b'{"kind":"grimoire-export","format":1,"game":"\\ud800","match_id":"m"}\n',
}


async def test_garbage_is_answered_with_the_line_that_cannot_be_read(caller: Caller) -> None:
    for name, file in GARBAGE.items():
        answer = await caller.bring(file, 60_000)
        assert not answer.match_id, name
        assert not answer.report.passed, name
        assert lie_of(answer.report)[0] == 6, name
        assert "cannot be read" in answer.report.checks[5].detail, name


async def test_a_file_beyond_the_limit_is_refused_while_it_comes(caller: Caller) -> None:
    first = file_of(play("elsewhere-1"), ALL).splitlines(keepends=True)[0]
    filler = first + b"\n" * 70_000
    sent = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent
        for piece in (filler, *[bytes(1024 * 1024)] * 64):
            sent += len(piece)
            yield piece

    answer = await caller.bring(pieces())

    assert not answer.match_id
    assert sent < 64 * 1024 * 1024


async def test_a_well_formed_file_beyond_the_limit_is_too_large(caller: Caller) -> None:
    first, entry = file_of(play("elsewhere-1"), ALL).splitlines(keepends=True)[:2]
    big = msgspec.json.decode(entry)
    big["public"] = base64.b64encode(bytes(200_000)).decode()
    line = msgspec.json.encode(big) + b"\n"

    with pytest.raises(Refusal, match="at most 16777216 bytes") as refused:
        await caller.bring([first, *[line] * (MAX_FILE_BYTES // len(line) + 1)])

    assert refused.value.status is grpc.StatusCode.INVALID_ARGUMENT
    assert refused.value.code == "too_large"


@pytest.mark.parametrize(
    "public",
    [
        pytest.param(b"\x0a\x00" * 120_000, id="a hundred thousand nameless events in every entry"),
        pytest.param(match_pb2.Events(events=[match_pb2.Event(type="x" * 250_000)]).SerializeToString(), id="a name"),
    ],
)
async def test_entries_that_unfold_to_much_more_than_their_bytes_are_bearable(caller: Caller, public: bytes) -> None:
    first, entry = file_of(play("elsewhere-1"), ALL).splitlines(keepends=True)[:2]
    big = msgspec.json.decode(entry)
    big["public"] = base64.b64encode(public).decode()
    line = msgspec.json.encode(big) + b"\n"
    count = (MAX_FILE_BYTES - 1_000) // len(line)
    end = {"kind": "end", "entries": count, "head": big["hash"]}
    file = first + line * count + msgspec.json.encode(end) + b"\n"

    asked = asyncio.create_task(caller.bring(file, 512 * 1024))
    # Others are served meanwhile.
    with pytest.raises(Refusal, match="no match with this id"):
        await caller.get("import-" + "0" * 26)
    answer = await asked

    assert not answer.match_id
    assert lie_of(answer.report)[1] == 2


async def test_the_file_of_a_running_match_is_not_kept(home: House) -> None:
    caller = home.caller("ada")
    running = await home.play(entries=7)

    with pytest.raises(Refusal, match="before the secrets of its match were opened") as refused:
        await caller.bring(await caller.export(running))

    assert refused.value.status is grpc.StatusCode.FAILED_PRECONDITION
    assert refused.value.code == "not_revealed"


async def test_the_file_of_a_game_that_is_not_played_here_is_not_kept(home: House) -> None:
    class Chess(Toy):
        id = "chess"

    with pytest.raises(Refusal, match="The game chess is not played here") as refused:
        await home.caller("ada").bring(_file_of_game(Chess(), "elsewhere-4"))

    assert refused.value.status is grpc.StatusCode.FAILED_PRECONDITION


async def test_nobody_brings_a_file_along_unnamed(home: House) -> None:
    with pytest.raises(Refusal) as refused:
        await home.caller("").bring(file_of(play("elsewhere-1"), ALL))
    assert refused.value.status is grpc.StatusCode.PERMISSION_DENIED


# ---- limits ---------------------------------------------------------------------------------------------------------


async def test_an_upload_that_stands_still_is_given_up(toy: None, tmp_path: Path) -> None:
    async with house(tmp_path / "home", ReplayLimits(upload_idle_s=0.1)) as running:
        caller = running.caller("ada")

        async def stands_still() -> AsyncIterator[replay_pb2.ImportRequest]:
            yield replay_pb2.ImportRequest(chunk=b"{")
            await asyncio.Event().wait()

        call = caller.stub.Import(stands_still(), metadata=caller.metadata)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await call
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "took too long" in (refused.value.details() or "")


async def test_rules_that_come_to_no_end_are_not_waited_for(toy: None, tmp_path: Path) -> None:
    async with house(tmp_path / "home", ReplayLimits(redecide_s=0.000_001)) as running:
        with pytest.raises(Refusal, match="did not come to an end") as refused:
            await running.caller("ada").bring(file_of(play("elsewhere-1"), ALL))
        assert refused.value.code == "unjudged"


async def test_a_log_on_which_the_rules_break_is_not_kept(tmp_path: Path) -> None:
    file = file_of(play("elsewhere-1"), ALL)
    async with stage(tmp_path, 3) as scripted:
        with pytest.raises(Refusal, match="could not be brought to an end") as refused:
            await scripted.caller.bring(file)

        assert refused.value.status is grpc.StatusCode.FAILED_PRECONDITION
        assert refused.value.code == "unjudged"


async def test_what_nobody_waits_for_any_more_is_not_begun() -> None:
    bench = Bench(threads=1)
    release, begun = threading.Event(), []
    first = asyncio.create_task(bench.run(release.wait))
    waiting = [asyncio.create_task(bench.run(begun.append, n)) for n in range(50)]
    await asyncio.sleep(0)

    for task in waiting[:-1]:
        task.cancel()
    await asyncio.wait(waiting[:-1])
    release.set()
    await asyncio.gather(first, waiting[-1])

    assert begun == [49]
    bench.close()


async def test_many_bring_files_at_once(toy: None, tmp_path: Path) -> None:
    async with house(tmp_path / "home", ReplayLimits(heavy=64, heavy_per_account=4)) as running:
        files = {f"elsewhere-{n}": file_of(play(f"elsewhere-{n}", seed=n), ALL) for n in range(24)}

        answers = await asyncio.gather(
            *(running.caller(f"account{n % 8}").bring(file) for n, file in enumerate(files.values()))
        )

        assert len({a.match_id for a in answers}) == len(files)
        assert [a.report.match_id for a in answers] == list(files)
        for answer, file in zip(answers, files.values(), strict=True):
            assert await running.caller("").export(answer.match_id) == file


async def test_only_so_many_heavy_things_run_at_once(tmp_path: Path) -> None:
    async with stage(tmp_path, 3, ReplayLimits(heavy=2, heavy_per_account=1)) as scripted:
        gate = asyncio.Event()

        async def held() -> AsyncIterator[replay_pb2.ImportRequest]:
            yield replay_pb2.ImportRequest(chunk=b"{")
            await gate.wait()

        calls = [c.stub.Import(held(), metadata=c.metadata) for c in map(scripted.caller_as, ("ada", "bo"))]
        async with asyncio.timeout(60):
            while scripted.service.heavy < 2:
                await asyncio.sleep(0.005)

        assert await _code_of_audit(scripted.caller_as("ada")) == "rate_limited"
        assert await _code_of_audit(scripted.caller_as("carl")) == "overloaded"
        gate.set()
        await asyncio.gather(*calls)
        assert await _code_of_audit(scripted.caller_as("carl")) == "unknown_match"


async def _code_of_audit(caller: Caller) -> str:
    with pytest.raises(Refusal) as refused:
        await caller.audit("import-" + "0" * 26)
    return refused.value.code


async def test_the_oldest_files_make_room(toy: None, tmp_path: Path) -> None:
    async with house(tmp_path / "home", ReplayLimits(imports_per_account=2, imports=3)) as running:
        ada, bo = running.caller("ada"), running.caller("bo")
        first = (await ada.bring(file_of(play("elsewhere-0"), ALL))).match_id
        await ada.frames(first, PUBLIC)
        second = (await ada.bring(file_of(play("elsewhere-1"), ALL))).match_id
        third = (await ada.bring(file_of(play("elsewhere-2"), ALL))).match_id

        with pytest.raises(Refusal, match="no match with this id"):
            await ada.frames(first, PUBLIC)
        fourth, fifth = [(await bo.bring(file_of(play(f"elsewhere-{n}"), ALL))).match_id for n in (3, 4)]

        with pytest.raises(Refusal, match="no match with this id"):
            await ada.get(second)
        for kept in (third, fourth, fifth):
            assert (await ada.get(kept)).imported


# ---- restarts -------------------------------------------------------------------------------------------------------


async def test_everything_is_there_after_a_restart(home: House) -> None:
    caller = home.caller("ada")
    played = await home.play()
    running = await home.play(entries=8, seed=3)
    brought = (await caller.bring(await caller.export(played))).match_id
    before = {m: await caller.frames(m, PUBLIC) for m in (played, running, brought)}
    files = {m: await caller.export(m) for m in before}

    await home.stop("replay")
    await home.stop(GAME)
    await home.start(GAME, home.service(GAME))
    await home.start("replay", replay_service())
    caller = home.caller("ada")

    assert {m: await caller.frames(m, PUBLIC) for m in before} == before
    assert {m: await caller.export(m) for m in before} == files
    assert (await caller.audit(brought)).passed


# ---- helpers --------------------------------------------------------------------------------------------------------


def _voided(match_id: str) -> list:
    from grimoire.engine import HOST
    from grimoire.match import Parsed

    log = play(match_id, entries=1)
    judge = Referee(PLUGIN.game, lambda game, match, _key: server_seed(HOST_KEY, game, match))
    void = match_pb2.Void(reason="maintenance")
    parsed = Parsed(bytes(16), "void", void, void.SerializeToString())
    log.append(judge.judge(log[0].state, HOST, parsed, log[0].server_time_ms + 1))
    return log


def _file_of_game(game: Toy, match_id: str) -> bytes:
    from tests.replay.logs import opened

    log = play(match_id, game=game)
    entries = opened(log, ALL)
    return b"".join(write_export(game.id, match_id, entries, ALL, logged(entries)))
