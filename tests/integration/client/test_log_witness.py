"""The player's program as the transparency log's witness: it seals nothing that is not promised there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from grimoire.client import Alarm, Client, MatchSession
from grimoire.client.logbook import LogBook, LogBookError
from grimoire.fairness.keepsake import Keepsake
from grimoire.fairness.transparency import LeafKind, VerifierKey, open_checkpoint
from grimoire.v1 import audit_pb2, frame_pb2, match_pb2, transparency_pb2
from replay.transparency.log import signing_key
from tests.gateway.house import House, house
from tests.integration.client.test_alarm import LyingEdge
from tests.support.transparency import KEY, OTHER_KEY, Log

pytestmark = pytest.mark.asyncio(loop_scope="module")

Inclusion = transparency_pb2.GetInclusionResponse


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with house(tmp_path_factory.mktemp("house")) as running:
        yield running


@asynccontextmanager
async def behind_a_liar(home: House, folder: str) -> AsyncIterator[tuple[LyingEdge, Client]]:
    """A player whose line leads through a liar."""
    liar = LyingEdge(home.address)
    await liar.start()
    client = await Client.connect(liar.address, keepsakes=home.home / folder, patience_s=5)
    await client.guest("Aino")
    try:
        yield liar, client
    finally:
        await client.close()
        await liar.stop()


def in_answers_to(method: str, kind: type, lie: Callable[[Inclusion], None]) -> Callable[[str, bytes], bytes]:
    def alter(called: str, data: bytes) -> bytes:
        if called != method:
            return data
        reply = kind.FromString(data)
        lie(reply)
        return reply.SerializeToString()

    return alter


async def sealed(home: House, client: Client, match_id: str) -> bool:
    """Whether anybody has sealed in a match."""
    return (await home.head(client, match_id)).version > 1


async def play_out(sessions: list[MatchSession]) -> None:
    await sessions[0].resign()
    await asyncio.gather(*(session.wait_finished(timeout_s=20) for session in sessions))


async def test_a_seat_seals_after_it_has_seen_the_promise_and_keeps_the_proof(home: House) -> None:
    clients = [await home.client(name) for name in ("Aino", "Eino")]
    match_id = await home.create(clients)
    async with await clients[0].open_match(match_id) as one, await clients[1].open_match(match_id) as two:
        await asyncio.gather(one.started(timeout_s=20), two.started(timeout_s=20))
        one.save()
        assert one.keepsake_path is not None
        kept = Keepsake.from_json(one.keepsake_path.read_bytes())
        assert kept.evidence is not None
        assert clients[0].log_key is not None
        proved = kept.evidence.prove(match_id, clients[0].log_key)
        assert list(proved.leaves) == [LeafKind.COMMIT]
        assert proved.leaves[LeafKind.COMMIT].server_commitment == kept.commitment
        await play_out([one, two])
        verdict = await one.verify_result()
        assert verdict.holds, str(verdict)
        logged = verdict.report.checks[6]
        assert logged.status == audit_pb2.CHECK_STATUS_PASSED
        assert "the key that was asked for" in logged.detail
    for client in clients:
        await client.close()


LIES: dict[str, tuple[Callable[[Inclusion], None], str]] = {
    "no signature": (lambda r: setattr(r, "checkpoint", r.checkpoint[:-40] + b"\n"), "does not hold"),
    "another key's name": (lambda r: setattr(r, "key", str(KEY.verifier)), "does not hold"),
    "no key": (lambda r: setattr(r, "key", "none"), "does not hold"),
    "another leaf": (lambda r: setattr(r.leaf, "leaf", r.leaf.leaf.replace(b"toy", b"toi")), "not in the log"),
    "no leaf": (lambda r: setattr(r.leaf, "leaf", b"nonsense"), "no leaf"),
    "another place": (lambda r: setattr(r.leaf, "number", r.leaf.number + 1), "not in the log"),
    "another path": (lambda r: r.leaf.path.append(bytes(32)), "not in the log"),
}


@pytest.mark.parametrize("lie", LIES)
async def test_a_promise_that_is_not_proved_is_not_sealed(home: House, lie: str) -> None:
    tell, reason = LIES[lie]
    async with behind_a_liar(home, f"lie-{lie}") as (liar, victim):
        liar.alter = in_answers_to("GetInclusion", Inclusion, tell)
        other = await home.client("Eino")
        match_id = await home.create([victim, other])
        async with await victim.open_match(match_id) as session:
            with pytest.raises(Alarm, match=reason):
                await session.started(timeout_s=20)
            assert session.alarm is not None
            assert not await sealed(home, other, match_id)
        await other.close()


async def test_a_log_of_the_liars_own_is_not_taken_once_the_true_one_is_known(home: House) -> None:
    """A second log, perfect in itself, made for this victim alone."""
    own = Log(OTHER_KEY)

    def fake(reply: Inclusion) -> None:
        number = own.append(reply.leaf.leaf)
        reply.leaf.number = number
        del reply.leaf.path[:]
        reply.leaf.path.extend(own.inclusion(number))
        reply.size, reply.checkpoint, reply.key = number + 1, own.checkpoint(), str(OTHER_KEY.verifier)

    async with behind_a_liar(home, "two logs") as (liar, victim):
        await victim.log_checkpoint()
        known = victim.log_key
        liar.alter = in_answers_to("GetInclusion", Inclusion, fake)
        match_id = await home.create([victim, victim])
        async with await victim.open_match(match_id, 0) as session:
            with pytest.raises(Alarm, match="key of the transparency log has changed"):
                await session.started(timeout_s=20)
        assert victim.log_key == known
        other = await home.client("Eino")
        assert not await sealed(home, other, match_id)
        await other.close()


async def test_the_key_is_kept_from_one_run_to_the_next(home: House) -> None:
    async with behind_a_liar(home, "pinned") as (liar, first):
        await first.log_checkpoint()
        again = await Client.connect(liar.address, first.token, keepsakes=home.home / "pinned", patience_s=5)
        assert again.log_key == first.log_key
        assert again.log_seen == first.log_seen

        def fake(reply: transparency_pb2.GetCheckpointResponse) -> None:
            log = Log(KEY)
            reply.key, reply.checkpoint = str(KEY.verifier), log.checkpoint()

        liar.alter = in_answers_to("GetCheckpoint", transparency_pb2.GetCheckpointResponse, fake)
        with pytest.raises(Alarm, match="has changed"):
            await again.log_checkpoint()
        await again.close()


async def test_a_log_that_is_rewritten_is_noticed(home: House) -> None:
    """The key stays the same: what is shown later must go on from what was seen before."""
    truth, rewritten = Log(KEY), Log(KEY)
    truth.fill(5)
    rewritten.fill(3)
    rewritten.append(b"something else")
    rewritten.fill(4)
    shown = truth

    def checkpoint(method: str, data: bytes) -> bytes:
        if method == "GetCheckpoint":
            reply = transparency_pb2.GetCheckpointResponse(checkpoint=shown.checkpoint(), key=str(KEY.verifier))
            return reply.SerializeToString()
        if method == "GetConsistency":
            return transparency_pb2.GetConsistencyResponse(path=shown.consistency(5, 8), to=8).SerializeToString()
        return data

    async with behind_a_liar(home, "rewritten") as (liar, victim):
        liar.alter = checkpoint
        assert (await victim.log_checkpoint()).size == 5
        shown = rewritten
        with pytest.raises(Alarm, match="another history"):
            await victim.log_checkpoint()
        truth.fill(3)
        shown = truth
        assert (await victim.log_checkpoint()).size == 8
        # An older one is of the same log too: another instance may lag behind.
        shown = Log(KEY)
        shown.fill(5)
        shown.consistency = truth.consistency  # type: ignore[method-assign]
        assert (await victim.log_checkpoint()).size == 5
        shown = Log(KEY)
        shown.fill(4)
        shown.append(b"forked")
        shown.consistency = truth.consistency  # type: ignore[method-assign]
        with pytest.raises(Alarm, match="another history"):
            await victim.log_checkpoint()
        assert victim.log_seen is not None
        assert victim.log_seen.size == 8


@pytest.mark.parametrize("left", [0, 3], ids=["to nothing", "to a part"])
async def test_a_log_that_was_rolled_back_is_noticed(home: House, left: int) -> None:
    """As after an old copy of its database was put back: it is signed by the same key, and what it promised is gone."""
    truth = Log(KEY)
    truth.fill(10_000)
    shown = truth.checkpoint()

    def checkpoint(method: str, data: bytes) -> bytes:
        if method == "GetCheckpoint":
            reply = transparency_pb2.GetCheckpointResponse(checkpoint=shown, key=str(KEY.verifier))
            return reply.SerializeToString()
        return data

    async with behind_a_liar(home, f"rolled back {left}") as (liar, _):
        liar.alter = checkpoint
        victim = await Client.connect(liar.address, keepsakes=home.home / f"rolled back {left}", patience_s=0.5)
        await victim.guest("Aino")
        assert (await victim.log_checkpoint()).size == 10_000
        # The true log behind the liar has not grown that far: it says so, as one that was rolled back would.
        shown = truth.checkpoint(left)
        with pytest.raises(Alarm, match="signed for 10000 leaves"):
            await victim.log_checkpoint()
        assert victim.log_seen is not None
        assert victim.log_seen.size == 10_000
        await victim.close()


async def test_no_seat_seals_by_a_log_that_was_rolled_back(home: House) -> None:
    """The match's own promise is proved, by a log that has lost others."""
    async with behind_a_liar(home, "rolled back in a match") as (liar, _):
        folder = home.home / "rolled back in a match"
        victim = await Client.connect(liar.address, keepsakes=folder, patience_s=0.5)
        await victim.guest("Aino")
        await victim.log_checkpoint()
        key = signing_key(home.keys.log_key)
        grown = Log(key)
        grown.fill(10_000)
        victim._logbook._head, victim._logbook._last = open_checkpoint(grown.checkpoint(), key.verifier), b""
        other = await home.client("Eino")
        match_id = await home.create([victim, other])
        async with await victim.open_match(match_id) as session:
            with pytest.raises(Alarm, match="signed for 10000 leaves"):
                await session.started(timeout_s=20)
            assert not await sealed(home, other, match_id)
        await other.close()
        await victim.close()


async def test_an_end_that_is_shown_otherwise_is_noticed(home: House) -> None:
    """The file's proofs are compared with the log that is known, not taken on trust."""
    async with behind_a_liar(home, "end") as (liar, victim):
        other = await home.client("Eino")
        match_id = await home.create([victim, other])
        async with await victim.open_match(match_id) as one, await other.open_match(match_id) as two:
            await asyncio.gather(one.started(timeout_s=20), two.started(timeout_s=20))
            await play_out([one, two])
            truly = await two.verify_result()
            assert truly.holds
            logbook = LogBook(home.home / "end", liar.address)
            page = logbook.path.read_bytes()
            assert logbook.key is not None
            forged = Log(KEY)
            forged.fill(1)
            # As if this player had been shown another log all the time.
            victim._logbook._key = KEY.verifier
            victim._logbook._head = open_checkpoint(forged.checkpoint(), KEY.verifier)
            verdict = await one.verify_result()
            assert not verdict.holds
            assert verdict.report.checks[6].status == audit_pb2.CHECK_STATUS_FAILED
            assert "has changed" in verdict.report.checks[6].detail
            assert logbook.path.read_bytes() == page
        await other.close()


async def test_analysis_asks_no_log(home: House) -> None:
    async with behind_a_liar(home, "analysis") as (liar, victim):

        def never(reply: Inclusion) -> None:
            raise AssertionError("asked")

        liar.alter = in_answers_to("GetInclusion", Inclusion, never)
        match_id = await home.create([victim, victim], mode=match_pb2.MATCH_MODE_ANALYSIS)
        async with await victim.open_match(match_id, 0) as one, await victim.open_match(match_id, 1) as two:
            await asyncio.gather(one.started(timeout_s=20), two.started(timeout_s=20))
            assert one.head.status == frame_pb2.MATCH_STATUS_RUNNING


# ---- the file --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b'{"kind":"grimoire-logbook","format":2}'])
async def test_a_file_that_is_no_logbook_is_an_error(tmp_path: Path, data: bytes) -> None:
    book = LogBook(tmp_path, "127.0.0.1:7420")
    assert book.path.name == "127.0.0.1_7420.logbook"
    assert (book.key, book.head) == (None, None)
    again = LogBook(tmp_path, "127.0.0.1:7420")
    again.path.write_bytes(data)
    with pytest.raises(LogBookError, match="no logbook"):
        _ = again.key


async def test_a_logbook_is_for_its_owners_eyes_and_names_the_key(home: House) -> None:
    client = await home.client("Aino", folder="eyes")
    await client.log_checkpoint()
    path = LogBook(home.home / "keepsakes" / "eyes", home.address).path
    assert path.stat().st_mode & 0o777 == 0o600
    assert isinstance(client.log_key, VerifierKey)
    assert str(client.log_key) in path.read_text()
    await client.close()
