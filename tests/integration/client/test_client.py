"""The client library against everything real: edge, game, matchmaking, replay, bots."""

from __future__ import annotations

import asyncio
import random
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

import matchmaking.service
import replay.service
from bots.service import Bots
from bots.settings import BotSettings
from gateway.play import PlayLimits
from gateway.service import Gateway
from grimoire.client import Client, ClientError, MatchSession, Rejected, UnavailableError
from grimoire.engine import ALL, PUBLIC, Viewer
from grimoire.fairness.keepsake import Keepsake
from grimoire.plugins import load_game
from grimoire.runtime.config import Address
from grimoire.v1 import audit_pb2, frame_pb2, match_pb2, matchmaking_pb2
from tests.gateway.house import House, house, serving

ANY_PORT = Address("127.0.0.1", 0)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class Town:
    home: House
    bots: Bots


@asynccontextmanager
async def town(folder: Path) -> AsyncIterator[Town]:
    beside = {"replay": replay.service.serve, "matchmaking": matchmaking.service.serve}
    async with AsyncExitStack() as stack:
        home = await stack.enter_async_context(house(folder, beside=beside))
        bots = Bots(BotSettings(pace_ms=0, budget_ms=20, workers=1))
        await stack.enter_async_context(serving(bots, home.config))
        yield Town(home, bots)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def everything(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    async with town(tmp_path_factory.mktemp("town")) as running:
        yield running


async def play(session: MatchSession, seed: int = 1) -> None:
    """Plays the toy's own bot's moves until the match is over."""
    plugin, rng = load_game("toy"), random.Random(seed)
    async for _ in session.updates():
        while not session.finished and (due := [p for p in session.own_prompts if p.required]):
            assert session.view_message is not None
            code, message = plugin.bot.suggest(session.view_message, due[0], "random", rng, 10)
            try:
                await session.submit(code, message, due[0].prompt_id)
            except Rejected as rejected:
                if rejected.code not in ("stale_prompt", "match_over"):
                    raise


async def test_from_challenge_to_audited_replay_against_a_bot(everything: Town) -> None:
    client = await everything.home.client("Aino", folder="road")
    challenge = await client.play_bot("toy", "random")
    assert challenge.status == matchmaking_pb2.CHALLENGE_STATUS_MATCHED
    async with await client.open_match(challenge.match_id, phrase="avaa, sesam") as session:
        async with asyncio.timeout(30):
            await play(session)
        assert session.finished
        assert session.closed is not None
        verdict = await session.verify_result()
        assert verdict.holds, str(verdict)
        assert verdict.same_head
        checked = {c.number for c in verdict.report.checks if c.status == audit_pb2.CHECK_STATUS_PASSED}
        assert {1, 2, 3, 4, 5, 6} <= checked
        kept = session.keepsake_path
        assert kept is not None
        keepsake = Keepsake.from_json(kept.read_bytes())
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
        # A head for every entry, and one's own commands: seal, opening, and every move.
        assert sorted(keepsake.heads) == list(range(1, session.version + 1))
        assert len(keepsake.commands) >= 3
        await until_gone(everything.bots)
    report = await client.audit(challenge.match_id)
    assert report.passed, report
    frames = [f async for f in client.frames(challenge.match_id, ALL)]
    assert [f.version for f in frames] == list(range(1, verdict.report.entries + 1))
    assert [m.version for m in await client.marks(challenge.match_id)]
    assert (await client.match(challenge.match_id)).head.version == verdict.report.entries
    summary = [m.match_id for m in await client.matches(mine=True, finished=True)]
    assert challenge.match_id in summary
    await client.close()


async def until_gone(bots: Bots) -> None:
    async with asyncio.timeout(60):
        while bots.seats:
            await asyncio.sleep(0.01)


async def test_two_people_meet_by_a_challenge_and_play_again_with_changed_seats(everything: Town) -> None:
    aino = await everything.home.client("Aino", folder="two-a")
    eino = await everything.home.client("Eino", folder="two-b")
    challenge = await aino.create("toy", {"mode": "duel"})
    assert challenge.challenge_id in [c.challenge_id for c in await eino.challenges("toy")]
    matched = asyncio.create_task(aino.matched(challenge.challenge_id))
    await eino.join(challenge.challenge_id)
    match_id = (await matched).match_id
    async with await aino.open_match(match_id) as one, await eino.open_match(match_id) as other:
        async with asyncio.timeout(30):
            await asyncio.gather(play(one, 1), play(other, 2))
        assert {one.seat, other.seat} == {0, 1}
        assert one.head.hash == other.head.hash
        for session in (one, other):
            assert (await session.verify_result()).holds
    offered = await aino.rematch(match_id)
    assert offered.rematch_of == match_id
    await eino.rematch(match_id)
    again = await aino.matched(offered.challenge_id)
    assert again.match_id not in ("", match_id)
    async with await aino.open_match(again.match_id) as session:
        assert session.head.created.series.game_no == 1
    with pytest.raises(Rejected) as refused:
        await aino.join("no-such-challenge")
    assert refused.value.message
    await aino.close()
    await eino.close()


async def test_an_option_that_does_not_exist_is_named(everything: Town) -> None:
    client = await everything.home.client("Aino")
    with pytest.raises(Rejected) as refused:
        await client.create("toy", {"colour": "blue"})
    assert (refused.value.code, refused.value.field) == ("bad_option", "colour")
    with pytest.raises(Rejected):
        await client.describe("chess")
    await client.close()


async def test_a_replay_shows_each_viewer_what_it_saw_and_no_more_while_the_match_runs(everything: Town) -> None:
    aino, eve = await everything.home.client("Aino"), await everything.home.client("Eve")
    match_id = await everything.home.create([aino, aino])
    async with await aino.open_match(match_id, 0) as one, await aino.open_match(match_id, 1) as other:
        await asyncio.gather(one.started(timeout_s=60), other.started(timeout_s=10))
        assert [f async for f in aino.frames(match_id, Viewer.of_seat(0))]
        assert [f async for f in eve.frames(match_id, PUBLIC)]
        for viewer in (Viewer.of_seat(0), ALL):
            with pytest.raises(Rejected):
                assert [f async for f in eve.frames(match_id, viewer)]
    await aino.close()
    await eve.close()


async def test_a_spectator_follows_and_keeps_nothing_of_the_match(everything: Town) -> None:
    aino, eve = await everything.home.client("Aino"), await everything.home.client("Eve", folder="eve")
    match_id = await everything.home.create([aino, aino])
    async with (
        await aino.open_match(match_id, 0) as one,
        await aino.open_match(match_id, 1) as other,
        await eve.open_match(match_id) as watching,
    ):
        assert (watching.seat, watching.own_prompts) == (None, ())
        with pytest.raises(ValueError, match="watches"):
            await watching.submit("resign", match_pb2.Resign())
        follow = asyncio.create_task(watching.wait_finished(timeout_s=30))
        await asyncio.gather(play(one, 1), play(other, 2))
        await follow
        assert watching.head.hash == one.head.hash
        assert (await watching.verify_result()).holds
    # But for what it has seen of the transparency log, which is the server's and no match's.
    assert [path.suffix for path in (everything.home.home / "keepsakes" / "eve").iterdir()] == [".logbook"]
    await aino.close()
    await eve.close()


async def test_a_program_that_was_killed_goes_on_with_its_nonce_and_its_place(everything: Town) -> None:
    aino, eino = await everything.home.client("Aino", folder="kill"), await everything.home.client("Eino")
    match_id = await everything.home.create([aino, eino])
    session = await aino.open_match(match_id)
    # It has sealed, and waits for the other.
    async with asyncio.timeout(60):
        await session.reached(2)
    for task in session._tasks:  # killed: nothing is closed in order
        task.cancel()
    assert session.keepsake_path is not None
    nonce = Keepsake.from_json(session.keepsake_path.read_bytes()).nonce
    again = await everything.home.client(token=aino.token, folder="kill")
    async with await again.open_match(match_id) as one, await eino.open_match(match_id) as other:
        async with asyncio.timeout(30):
            await asyncio.gather(play(one, 1), play(other, 2))
        verdict = await one.verify_result()
        assert verdict.holds, str(verdict)
        assert one.keepsake_path is not None
        assert Keepsake.from_json(one.keepsake_path.read_bytes()).nonce == nonce
    for client in (aino, again, eino):
        await client.close()


async def test_a_session_outlives_the_edge_and_loses_nothing(tmp_path: Path) -> None:
    async with house(tmp_path) as home, AsyncExitStack() as stack:
        # A second edge that can be stopped and started under one address.
        first = AsyncExitStack()
        address = str(
            await first.enter_async_context(
                serving(Gateway(), home.config.with_address("gateway", ANY_PORT).with_address("web", ANY_PORT))
            )
        )
        config = home.config.with_address("gateway", Address.parse(address)).with_address("web", ANY_PORT)
        clients = [await Client.connect(address, keepsakes=tmp_path / f"k{n}", patience_s=20) for n in (0, 1)]
        for client in clients:
            await client.guest()
        match_id = await home.create(clients)
        sessions = [await stack.enter_async_context(await client.open_match(match_id)) for client in clients]
        await asyncio.gather(*(session.started(timeout_s=60) for session in sessions))
        before = sessions[0].version
        await first.aclose()
        # Sent while there is no edge: it arrives once, when there is one again.
        sending = asyncio.create_task(sessions[0].submit("set_stance"))
        async with serving(Gateway(), config):
            async with asyncio.timeout(20):
                accepted = await sending
                assert accepted.version == before + 1
                await sessions[1].reached(accepted.version)
                await asyncio.gather(*(play(s, n) for n, s in enumerate(sessions)))
            assert sessions[0].head.hash == sessions[1].head.hash
            assert not [s.alarm for s in sessions if s.alarm]
            for session in sessions:
                await session.close()
            for client in clients:
                await client.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_a_command_whose_fate_is_unknown_may_be_sent_again_under_its_id(tmp_path: Path) -> None:
    async with house(tmp_path, Gateway(PlayLimits(owner_s=0.3, reply_s=0.2))) as home:
        client = await Client.connect(home.address, keepsakes=tmp_path / "k", patience_s=0.3)
        await client.guest()
        match_id = await home.create([client, client])
        async with await client.open_match(match_id, 0) as one, await client.open_match(match_id, 1) as other:
            await asyncio.gather(one.started(timeout_s=60), other.started(timeout_s=10))
            async with home.no_game():
                with pytest.raises(UnavailableError) as unknown:
                    await one.submit("set_stance")
            async with asyncio.timeout(20):
                while True:
                    try:
                        first = await one.submit("set_stance", command_id=unknown.value.command_id)
                        break
                    except UnavailableError:
                        continue
            again = await one.submit("set_stance", command_id=unknown.value.command_id)
            assert (again.version, again.duplicate) == (first.version, True)
        await client.close()


async def test_a_closed_session_says_so_to_whoever_waits(everything: Town) -> None:
    client = await everything.home.client("Aino")
    match_id = await everything.home.create([client, client])
    session = await client.open_match(match_id, 0)
    waiting = asyncio.create_task(session.wait_finished())
    updates = session.updates()
    await anext(updates)
    await session.close()
    for refused in (waiting, anext(updates), session.submit("set_stance")):
        with pytest.raises(ClientError, match="closed"):
            await refused
    await client.close()


async def test_no_server_and_no_such_match_say_so(everything: Town) -> None:
    with pytest.raises(UnavailableError):
        await Client.connect(f"127.0.0.1:{free_port()}", timeout_s=0.2)
    with pytest.raises(ValueError, match="host:port"):
        await Client.connect("https://127.0.0.1:1")
    client = await everything.home.client("Aino")
    with pytest.raises(Rejected) as refused:
        await client.open_match("0" * 26)
    assert refused.value.code == "unknown_match"
    match_id = await everything.home.create_for(["1" * 26, "2" * 26])
    with pytest.raises(Rejected) as refused:
        await client.open_match(match_id, 1)
    assert refused.value.code == "not_a_seat"
    await client.close()


async def test_a_match_whose_other_seat_never_opens_is_void_and_holds(everything: Town) -> None:
    aino = await everything.home.client("Aino", folder="void")
    match_id = await everything.home.create_for([everything.home.identity(aino).account_id, "9" * 26], handshake_s=1)
    async with await aino.open_match(match_id) as session:
        await session.wait_finished(timeout_s=30)
        assert session.head.status == frame_pb2.MATCH_STATUS_VOID
        assert session.closed is None
        verdict = await session.verify_result()
        assert verdict.holds, str(verdict)
    await aino.close()
