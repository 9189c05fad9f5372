"""Rules change while matches run: each ends under the rules it began with, or waits for them, and is never misread."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

import replay.service
from grimoire.client import Client, MatchSession, Rejected
from grimoire.engine import ALL
from grimoire.fairness.verify import exit_status
from grimoire.match import Phase
from grimoire.plugins import load_game
from grimoire.runtime.metrics import METRICS
from grimoire.v1 import audit_pb2, envelope_pb2, frame_pb2, match_pb2
from tests.gateway.house import House, house
from tests.support.table import Clock, Table, accepted, broker, refused, submission, table
from tests.support.toy import Toy
from tests.support.toy import schema as pb
from tests.support.toy.second import ToySecond

FIRST = "tests.support.toy:PLUGIN"
BOTH = "tests.support.toy.second:PLUGIN"
FORGETFUL = "tests.support.toy.second:FORGETFUL"


async def change_rules(home: House, plugin: str) -> None:
    """The game's service is stopped, other rules are installed, it is started again where it was."""
    home.game._config = home.config
    async with home.no_game():
        entry_points = home.home / "site" / "toy-1.dist-info" / "entry_points.txt"
        entry_points.write_text(f"[grimoire.games]\ntoy = {plugin}\n")
        load_game.cache_clear()


async def move(session: MatchSession, rng: random.Random) -> None:
    """Answers the first prompt of this seat."""
    plugin = load_game("toy")
    while not session.finished:
        due = [p for p in session.own_prompts if p.required]
        if due:
            assert session.view_message is not None
            code, message = plugin.bot.suggest(session.view_message, due[0], "random", rng, 10)
            await session.submit(code, message, due[0].prompt_id)
            return
        await session.reached(session.version + 1)


async def to_the_end(session: MatchSession, seed: int) -> None:
    rng = random.Random(seed)
    while not session.finished:
        try:
            await move(session, rng)
        except Rejected as rejected:
            if rejected.code not in ("stale_prompt", "match_over"):
                raise


async def play(*sessions: MatchSession) -> None:
    async with asyncio.timeout(60):
        await asyncio.gather(*(to_the_end(session, seed) for seed, session in enumerate(sessions)))


async def begun(home: House, clients: list[Client]) -> tuple[str, list[MatchSession]]:
    match_id = await home.create(clients, options={"mode": "duel", "rounds": "3"})
    sessions = [await client.open_match(match_id) for client in clients]
    for session in sessions:
        await session.started(timeout_s=20)
    return match_id, sessions


async def two_clients(home: House) -> list[Client]:
    return [await home.client("Aino", folder="a"), await home.client("Väinö", folder="b")]


async def close(sessions: list[MatchSession], clients: list[Client]) -> None:
    for session in sessions:
        await session.close()
    for client in clients:
        await client.close()


def versions_of(head: frame_pb2.MatchHead) -> tuple[int, bytes]:
    return head.created.rules_version, head.created.rules_digest


# ---- the whole road --------------------------------------------------------------------------------------------------


async def test_new_rules_are_for_new_matches(tmp_path: Path) -> None:
    async with house(tmp_path, plugin=FIRST, beside={"replay": replay.service.serve}) as home:
        clients = await two_clients(home)
        old, sessions = await begun(home, clients)
        await asyncio.gather(*(move(session, random.Random(3)) for session in sessions))
        await change_rules(home, BOTH)
        new, more = await begun(home, clients)
        await play(*sessions)
        await play(*more)

        heads = {match_id: (await clients[0].match(match_id)).head for match_id in (old, new)}
        assert versions_of(heads[old]) == (1, Toy.rules_digest)
        assert versions_of(heads[new]) == (2, ToySecond.rules_digest)
        for match_id, head in heads.items():
            report = await clients[0].audit(match_id)
            assert exit_status(report) == 0, report
            frames = [frame async for frame in clients[0].frames(match_id, ALL)]
            assert len(frames) == head.version
            assert not any(frame.HasField("fault") for frame in frames)
        omens = {match_id: await highest_omen(clients[0], match_id) for match_id in heads}
        assert omens[old] <= 2 < omens[new]
        await close(sessions + more, clients)


async def highest_omen(client: Client, match_id: str) -> int:
    frames = [frame async for frame in client.frames(match_id, ALL)]
    burnt = [event for frame in frames for event in frame.events if event.type == "rune_burnt"]
    return max(pb.RuneBurnt.FromString(event.body).omen for event in burnt)


async def test_a_match_whose_rules_were_thrown_away_waits_and_is_never_misread(tmp_path: Path) -> None:
    async with house(tmp_path, plugin=FIRST, beside={"replay": replay.service.serve}) as home:
        clients = await two_clients(home)
        over, ended = await begun(home, clients)
        await play(*ended)
        running, sessions = await begun(home, clients)
        before = (await clients[0].match(running)).head
        await change_rules(home, FORGETFUL)
        missing = METRICS.unruled_matches.labels("toy", "1")._value.get()

        with pytest.raises(Rejected) as rejected:
            await sessions[0].submit("resign", match_pb2.Resign())
        assert rejected.value.code == "rules_not_installed"
        with pytest.raises(Rejected) as rejected:
            await sessions[0].look()
        assert rejected.value.code == "rules_not_installed"
        with pytest.raises(Rejected) as rejected:
            await anext(aiter(clients[0].frames(over, ALL)))
        assert rejected.value.code == "rules_not_installed"
        assert METRICS.unruled_matches.labels("toy", "1")._value.get() > missing
        # What needs no rules is there: heads, logs, and an audit of everything but the rules.
        head = (await clients[0].match(running)).head
        assert (head.version, head.hash, head.status, head.created) == (
            before.version,
            before.hash,
            frame_pb2.MATCH_STATUS_RUNNING,
            before.created,
        )
        head = (await clients[0].match(over)).head
        assert head.revealed
        assert head.status == frame_pb2.MATCH_STATUS_CLOSED
        assert head.closed == ended[0].closed
        report = await clients[0].audit(over)
        assert exit_status(report) == 3
        assert report.checks[7].status == audit_pb2.CHECK_STATUS_NOT_CHECKED
        assert "rules version 1 of toy not installed" in report.checks[7].detail
        assert [check.status for check in report.checks[:6]] == [audit_pb2.CHECK_STATUS_PASSED] * 6
        assert await clients[0].export(over)
        # Others play on meanwhile.
        new, more = await begun(home, clients)
        await play(*more)
        assert exit_status(await clients[0].audit(new)) == 0
        await close(sessions + more + ended, clients)

        await change_rules(home, BOTH)
        clients = [
            await home.client(token=client.token, folder=name) for client, name in zip(clients, "ab", strict=True)
        ]
        again = [await client.open_match(running) for client in clients]
        await play(*again)
        assert exit_status(await clients[0].audit(running)) == 0
        await close(again, clients)


# ---- the owner alone -------------------------------------------------------------------------------------------------


async def half_played(seated: Table, match_id: str) -> envelope_pb2.CommandReply:
    await seated.begin(match_id, {"mode": "duel", "rounds": "3"})
    state = await seated.state(match_id)
    rune = state.game.keepers[0].hand[0]
    return await seated.ask(submission(match_id, "choose_rune", pb.ChooseRune(rune=rune), seat=0, prompt_id=1))


def resign(match_id: str, seat: int = 0) -> envelope_pb2.Submission:
    return submission(match_id, "resign", match_pb2.Resign(), seat=seat)


async def test_whoever_takes_over_judges_by_the_rules_of_the_match(tmp_path: Path) -> None:
    async with broker(tmp_path) as (config, keys):
        async with table(config, keys, Toy()) as first:
            accepted(await half_played(first, "m1"))
            async with table(config, keys, ToySecond(), older=[Toy()]) as second:
                await first.owner.stop()
                await second.begin("m2")
                assert (await second.state("m1")).rules_version == 1
                assert (await second.state("m2")).rules_version == 2
                accepted(await second.ask(resign("m1")))
                accepted(await second.ask(resign("m2")))
                heads = [await second.store.head(match_id) for match_id in ("m1", "m2")]
                assert [head and head.rules_version for head in heads] == [1, 2]
        # A service that went back to the old rules has no say in a match of the new ones.
        async with table(config, keys, Toy()) as rolled_back:
            assert refused(await rolled_back.ask(resign("m2"))) == "rules_not_installed"
            assert refused(await rolled_back.ask(resign("m1"))) == "match_over"


async def test_no_deadline_falls_where_the_rules_are_missing(tmp_path: Path) -> None:
    clock = Clock()
    async with broker(tmp_path) as (config, keys):
        async with table(config, keys, Toy(), clock=clock) as first:
            accepted(await half_played(first, "m1"))
            version = (await first.state("m1")).version
        async with table(config, keys, ToySecond(), clock=clock) as forgetful:
            await forgetful.pass_time(40_000)
            assert refused(await forgetful.ask(resign("m1"))) == "rules_not_installed"
            head = await forgetful.store.head("m1")
            assert head is not None
            assert head.version == version
        async with table(config, keys, ToySecond(), older=[Toy()], clock=clock) as whole:
            async with asyncio.timeout(20):
                while (await whole.state("m1")).version == version:
                    await asyncio.sleep(0.01)
            state = await whole.state("m1")
            assert state.rules_version == 1
            assert state.phase is Phase.RUNNING
