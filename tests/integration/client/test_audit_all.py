"""A whole log and all its matches, audited from outside: an honest server, and some that hide or change something."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import msgspec
import pytest
import pytest_asyncio

from grimoire.cli.audit import audit, audit_all
from grimoire.cli.wholelog.auditor import LogAuditor
from grimoire.cli.wholelog.findings import Doubt, Findings, KeyFrom
from grimoire.client import Client
from grimoire.fairness.transparency import CommitLeaf, LeafKind, VerifierKey
from grimoire.runtime.config import Config
from grimoire.v1 import replay_pb2, transparency_pb2
from tests.gateway.house import House, house
from tests.integration.client.test_alarm import LyingEdge
from tests.support.transparency import KEY, Log

pytestmark = pytest.mark.asyncio(loop_scope="module")

FINISHED = 12
LEAVES = 4 * FINISHED + 3
HOUR_MS = 3_600_000


class Town:
    """An installation in which matches have been played, one runs, and one was never sealed."""

    def __init__(self, home: House) -> None:
        self.home = home
        self.finished: list[str] = []
        self.running = ""
        self.unsealed = ""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def town(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    async with house(tmp_path_factory.mktemp("house")) as home:
        place = Town(home)
        clients = [await home.client(name) for name in ("Aino", "Eino")]
        for number in range(FINISHED + 1):
            match_id = await home.create(clients)
            async with await clients[0].open_match(match_id) as one, await clients[1].open_match(match_id) as two:
                await asyncio.gather(one.started(timeout_s=20), two.started(timeout_s=20))
                if number == FINISHED:
                    place.running = match_id
                    break
                await one.resign()
                await asyncio.gather(one.wait_finished(timeout_s=20), two.wait_finished(timeout_s=20))
                await clients[0].export(match_id)  # waits for its last leaves
                place.finished.append(match_id)
        place.unsealed = await home.create(clients)
        while (await clients[0].log_checkpoint()).size < LEAVES:
            await asyncio.sleep(0.05)
        yield place
        for client in clients:
            await client.close()


class HidingEdge(LyingEdge):
    """A liar that can also swap the files it is asked for, or give none."""

    def __init__(self, true_edge: str) -> None:
        super().__init__(true_edge)
        self.instead: Callable[[str], str] = lambda match_id: match_id

    def service(self, details: Any) -> Any:
        if not details.method.endswith("/Export"):
            return super().service(details)
        token = [(k, v) for k, v in details.invocation_metadata if k == "authorization"]

        async def export(data: bytes, context: Any) -> AsyncIterator[bytes]:
            wanted = self.instead(replay_pb2.ExportRequest.FromString(data).match_id)
            request = replay_pb2.ExportRequest(match_id=wanted).SerializeToString()
            call = self._channel.unary_stream(details.method)(request, metadata=token)
            try:
                async for message in call:
                    yield message
            except grpc.aio.AioRpcError as error:
                await context.abort(error.code(), error.details() or "", tuple(error.trailing_metadata() or ()))

        return grpc.unary_stream_rpc_method_handler(export)


@asynccontextmanager
async def behind_a_liar(town: Town, folder: str) -> AsyncIterator[tuple[HidingEdge, Client]]:
    liar = HidingEdge(town.home.address)
    await liar.start()
    client = await Client.connect(liar.address, keepsakes=town.home.home / folder, patience_s=2)
    await client.guest("Aino")
    try:
        yield liar, client
    finally:
        await client.close()
        await liar.stop()


async def audited(client: Client, key: VerifierKey | None = None, later_ms: int = 0) -> Findings:
    def now_ms() -> int:
        return time.time_ns() // 1_000_000 + later_ms

    return await LogAuditor(client, "the server", key, lambda *_: None, now_ms=now_ms).run()


async def test_an_honest_log_holds_and_adds_up(town: Town) -> None:
    client = await town.home.client("Visitor")
    found = await audited(client)
    assert found.status == 0, found
    assert found.audited == FINISHED
    (sums,) = found.sums
    assert sums.commits == FINISHED + 2 == sums.starts + sums.voids + sums.handshakes
    assert sums.starts == FINISHED + 1 == sums.closes + sums.running
    assert (sums.running, sums.handshakes, sums.unrevealed) == (1, 1, 0)
    assert (sums.missing_starts, sums.missing_closes, sums.missing_reveals) == (0, 0, 0)
    assert sum(found.outcomes["toy"].values()) == FINISHED
    assert found.size == LEAVES
    assert (found.key_from, found.seen_before) == (KeyFrom.SHOWN, 0)
    assert {(row.game, row.test, row.matches) for row in found.draws} >= {("toy", "positions", FINISHED)}
    assert found.checkpoint.splitlines()[1] == str(found.size)

    again = await audited(client)
    assert (again.status, again.key_from, again.seen_before) == (0, KeyFrom.PINNED, found.size)
    await client.close()


async def test_matches_dropped_in_silence_are_named(town: Town) -> None:
    client = await town.home.client("Visitor")
    found = await audited(client, later_ms=24 * HOUR_MS)
    assert {(one.match_id, one.kind) for one in found.missing} == {
        (town.running, LeafKind.CLOSE),
        (town.unsealed, LeafKind.START),
    }
    assert found.status == 1
    (sums,) = found.sums
    assert (sums.missing_starts, sums.missing_closes, sums.missing_reveals) == (1, 1, 0)
    assert found.faults == []
    await client.close()


async def test_another_key_than_the_one_that_is_known_is_a_fault(town: Town) -> None:
    client = await town.home.client("Visitor")
    found = await audited(client, KEY.verifier)
    assert found.status == 1
    assert str(KEY.verifier) in found.faults[0]
    assert client.log_key is not None
    found = await audited(client, client.log_key)
    assert (found.status, found.key_from) == (0, KeyFrom.GIVEN)
    await client.close()


def leaves_changed(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[str, bytes], bytes]:
    def alter(method: str, data: bytes) -> bytes:
        if method != "GetLeaves":
            return data
        reply = transparency_pb2.GetLeavesResponse.FromString(data)
        changed = change(list(reply.leaves))
        return transparency_pb2.GetLeavesResponse(first=reply.first, leaves=changed).SerializeToString()

    return alter


async def test_leaves_other_than_those_signed_for_are_a_fault(town: Town) -> None:
    async with behind_a_liar(town, "other leaves") as (liar, client):
        await client.log_checkpoint()
        liar.alter = leaves_changed(lambda leaves: [leaf.replace(b"close/1", b"reveal/1") for leaf in leaves])
        found = await audited(client)
        assert found.status == 1
        assert any("are not those it signed for" in fault for fault in found.faults)
        assert any("that was seen before" in fault for fault in found.faults)
        assert any("leaf 2: this is no leaf" in fault for fault in found.faults)

        liar.alter = leaves_changed(lambda leaves: leaves[:5] if len(leaves) > 5 else [])
        found = await audited(client)
        assert any(re.search(r"signed for \d+ leaves, and the server gives 5", fault) for fault in found.faults)


async def test_two_promises_for_one_match_are_a_fault_however_well_signed(town: Town) -> None:
    """The server's own log, perfect in every hash and signature, which promises a match twice."""
    log = Log(KEY)
    first = CommitLeaf("m" * 26, "toy", bytes(32), bytes(32), 1_000)
    log.append(first.encode())
    log.append(msgspec.structs.replace(first, server_commitment=bytes(31) + b"\x01").encode())

    def alter(method: str, data: bytes) -> bytes:
        if method == "GetCheckpoint":
            reply = transparency_pb2.GetCheckpointResponse(checkpoint=log.checkpoint(), key=str(KEY.verifier))
            return reply.SerializeToString()
        if method == "GetLeaves":
            return transparency_pb2.GetLeavesResponse(leaves=log.leaves).SerializeToString()
        return data

    async with behind_a_liar(town, "two promises") as (liar, client):
        liar.alter = alter
        found = await audited(client, KEY.verifier)
        assert found.faults == [f"leaf 1: match {'m' * 26} has a second commit leaf"]
        assert [one.match_id for one in found.missing] == ["m" * 26]


async def test_a_log_that_was_rewritten_since_is_a_fault(town: Town) -> None:
    async with behind_a_liar(town, "rewritten") as (liar, client):
        await client.log_checkpoint()
        rewritten = Log(KEY)

        def alter(method: str, data: bytes) -> bytes:
            if method == "GetCheckpoint":
                reply = transparency_pb2.GetCheckpointResponse(checkpoint=rewritten.checkpoint(), key=str(KEY.verifier))
                return reply.SerializeToString()
            return data

        liar.alter = alter
        found = await audited(client)
        assert found.status == 1
        assert "key of the transparency log has changed" in found.faults[0]
        # What was known before is audited all the same.
        assert found.audited == FINISHED


async def test_a_match_whose_file_is_another_or_is_kept_back_does_not_stand(town: Town) -> None:
    swapped, hidden = town.finished[0], town.finished[1]
    files = {swapped: town.finished[2], hidden: "z" * 26}
    async with behind_a_liar(town, "files") as (liar, client):
        liar.instead = lambda match_id: files.get(match_id, match_id)
        found = await audited(client)
        assert found.status == 1
        doubts = {match.match_id: match for match in found.matches}
        assert doubts[swapped].doubt is Doubt.LIES
        assert f"that of match {town.finished[2]}" in doubts[swapped].what
        assert doubts[hidden].doubt is Doubt.WITHHELD
        assert found.audited == FINISHED - 2


async def test_a_file_with_proofs_of_another_log_does_not_stand(town: Town) -> None:
    """The match is in both logs; the file shows the one, the auditor reads the other."""
    other = Log(KEY)

    async with behind_a_liar(town, "split") as (liar, client):
        async for leaves in client.log_leaves(10_000):
            for leaf in leaves:
                other.append(leaf)

        def alter(method: str, data: bytes) -> bytes:
            if method == "GetCheckpoint":
                reply = transparency_pb2.GetCheckpointResponse(checkpoint=other.checkpoint(), key=str(KEY.verifier))
                return reply.SerializeToString()
            return data

        liar.alter = alter
        found = await audited(client)
        assert found.faults == []
        assert found.status == 1
        assert {match.doubt for match in found.matches} == {Doubt.LIES}
        assert all("the log's key is" in match.what for match in found.matches)


async def test_what_others_were_shown_is_compared_with_the_log(town: Town) -> None:
    """Two people who were shown two logs under one key find out when they meet."""
    visitor = await town.home.client("Visitor")
    await visitor.log_checkpoint()
    other = Log(KEY)
    async for leaves in visitor.log_leaves(10_000):
        for leaf in leaves:
            other.append(leaf)
    shorter = other.checkpoint(5)
    other.append(b"and one more")

    async with behind_a_liar(town, "meeting") as (liar, client):

        def alter(method: str, data: bytes) -> bytes:
            if method != "GetCheckpoint":
                return data
            shown = other.checkpoint(LEAVES)
            return transparency_pb2.GetCheckpointResponse(checkpoint=shown, key=str(KEY.verifier)).SerializeToString()

        liar.alter = alter
        forked = Log(KEY)
        forked.fill(5)
        notes = {
            "older": shorter,
            "same": other.checkpoint(LEAVES),
            "longer": other.checkpoint(),
            "forked": forked.checkpoint(),
            "unsigned": visitor.log_note,
        }
        found = await LogAuditor(client, "the server", None, lambda *_: None, notes).run()
        assert [fault.partition(":")[0] for fault in found.faults] == ["longer", "forked", "unsigned"]
    await visitor.close()


@pytest.fixture
def at_home(town: Town, monkeypatch: pytest.MonkeyPatch) -> str:
    """A user of the command line."""
    for name, value in Config.for_test(town.home.home / "user").to_env().items():
        monkeypatch.setenv(name, value)
    return town.home.address


async def test_the_command_prints_a_report_for_people_and_one_for_programs(
    town: Town, at_home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await audit_all(log_key="", as_json=True, server=at_home) == 0
    # Nothing but JSON, also when the key is seen for the first time.
    assert json.loads(capsys.readouterr().out)["key_from"] == "shown"

    assert await audit_all(log_key="", as_json=False, server=at_home) == 0
    shown = capsys.readouterr().out
    assert "The log and every match in it hold." in shown
    assert f"{FINISHED} matches hold in every check" in shown
    assert "Do the draws look drawn?" in shown

    assert await audit_all(log_key="", as_json=True, server=at_home) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["key_from"] == "pinned"
    assert report["audited"] == FINISHED

    assert await audit_all(log_key=str(KEY.verifier), as_json=False, server=at_home) == 1
    assert "This log does not hold." in capsys.readouterr().out


async def test_one_match_is_audited_with_the_key_that_is_known_of_its_server(
    town: Town, at_home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    match_id = town.finished[0]
    await audit_all(log_key="", as_json=True, server=at_home)
    capsys.readouterr()

    async def check_7(log_key: str = "") -> tuple[int, dict[str, str]]:
        status = await audit(match_id, keepsake=None, log_key=log_key, as_json=True, server=at_home)
        return status, json.loads(capsys.readouterr().out)["checks"][6]

    status, check = await check_7()
    assert (status, check["status"]) == (0, "CHECK_STATUS_PASSED")
    assert "the key that was asked for" in check["detail"]
    status, check = await check_7(str(KEY.verifier))
    assert (status, check["status"]) == (1, "CHECK_STATUS_FAILED")
