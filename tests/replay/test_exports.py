"""The self-contained file of a match, whole after the reveal and redacted before it."""

from __future__ import annotations

from pathlib import Path

import grpc
import pytest

from grimoire.engine import PUBLIC, Viewer
from grimoire.fairness import verify
from grimoire.fairness.commitments import server_seed
from grimoire.fairness.export import read_export
from grimoire.v1 import audit_pb2, replay_pb2
from replay.limits import ReplayLimits
from tests.replay.house import House, Refusal, house

RUNNING = 9


async def test_the_same_match_is_the_same_file_whoever_asks(home: House) -> None:
    match_id = await home.play()

    file = await home.caller("ada").export(match_id)

    assert file == await home.caller("ada").export(match_id)
    assert file == await home.caller("bo").export(match_id)
    assert file == await home.caller("").export(match_id)


async def test_after_the_reveal_every_part_is_open(home: House) -> None:
    match_id = await home.play()

    export = read_export([await home.caller("").export(match_id)])

    head = (await home.caller("").get(match_id)).head
    assert (export.game, export.match_id, export.head) == ("toy", match_id, head.hash)
    assert len(export.entries) == head.version
    for entry in export.entries:
        assert [p.audience for p in entry.parts] == [d.audience for d in entry.digests]


async def test_before_it_a_file_shows_only_what_its_reader_may_see(home: House) -> None:
    match_id = await home.play(entries=RUNNING)
    files = {account: await home.caller(account).export(match_id) for account in ("ada", "bo", "carl", "")}

    opened = {
        account: {p.audience for e in read_export([file]).entries for p in e.parts} for account, file in files.items()
    }

    assert opened == {"ada": {"seat/0"}, "bo": {"seat/1"}, "carl": set(), "": set()}
    assert len({read_export([file]).head for file in files.values()}) == 1
    seed = server_seed(home.keys.host_key.key, "toy", match_id)
    for file in files.values():
        assert seed.open() not in b"".join(e.SerializeToString() for e in read_export([file]).entries)


async def test_a_redacted_file_has_a_chain_that_holds(home: House) -> None:
    match_id = await home.play(entries=RUNNING)

    report = verify.verify_export(read_export([await home.caller("bo").export(match_id)]))

    assert report.checks[5].status == audit_pb2.CHECK_STATUS_PASSED
    assert verify.first_lie(report) is None


async def test_a_file_comes_in_pieces_of_bounded_size(toy: None, tmp_path: Path) -> None:
    async with house(tmp_path / "home", ReplayLimits(file_chunk_bytes=1000)) as running:
        match_id = await running.play()
        caller = running.caller("ada")
        kept = (await caller.bring(await caller.export(match_id))).match_id

        for one in (match_id, kept):
            call = caller.stub.Export(replay_pb2.ExportRequest(match_id=one), metadata=caller.metadata)
            sizes = [len(response.chunk) async for response in call]
            assert sizes[:-1] == [1000] * (len(sizes) - 1)
            assert 0 < sizes[-1] <= 1000
            assert len(sizes) > 5


async def test_a_match_that_has_grown_meanwhile_ends_in_its_file_where_it_was(home: House) -> None:
    match_id = await home.play(entries=RUNNING)
    early = read_export([await home.caller("ada").export(match_id)])

    await home.go_on(match_id, 2)
    late = read_export([await home.caller("ada").export(match_id)])

    assert len(late.entries) == RUNNING + 2
    assert late.entries[:RUNNING] == early.entries


async def test_nobody_exports_what_does_not_exist(home: House) -> None:
    with pytest.raises(Refusal) as refused:
        await home.caller("ada").export("0" * 26)
    assert refused.value.status is grpc.StatusCode.NOT_FOUND


async def test_frames_and_file_of_a_seat_agree_on_the_hashes(home: House) -> None:
    match_id = await home.play(entries=RUNNING)

    frames = await home.caller("ada").frames(match_id, Viewer.of_seat(0))
    export = read_export([await home.caller("ada").export(match_id)])

    assert [f.hash for f in frames] == [e.hash for e in export.entries]
    assert [f.hash for f in await home.caller("").frames(match_id, PUBLIC)] == [f.hash for f in frames]
