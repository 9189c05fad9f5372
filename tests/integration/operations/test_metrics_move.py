"""Every number on the metrics page moves when what it counts happens, and stands in the operator's table."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import secrets
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

import gateway.service  # noqa: F401 (registers its own numbers)
from grimoire.client import Client, MatchSession, Rejected
from grimoire.engine import Illegal
from grimoire.eventstore import EventStore, open_store, partition_of
from grimoire.plugins import load_game
from grimoire.runtime.game_service import now_ms
from grimoire.runtime.metrics import METRICS
from grimoire.v1 import chat_pb2
from matchmaking.challenge import Cancel, Join, Open, Sitter
from matchmaking.ledger import Ledger
from tests.gateway.browser import Browser
from tests.gateway.house import House
from tests.integration.client.test_client import town
from tests.support.toy import schema as pb

ROOT = Path(__file__).parents[3]
GAME = "toy"

ELSEWHERE = {
    # Metric -> the test that sees it move, where it takes more than this installation to do so.
    "log_refused_leaves": "tests/replay/transparency/test_log_writer.py",
    "service_restarts": "tests/unit/runtime_shell/test_stack.py",
    "slow_watchers": "tests/gateway/test_watch.py",
    "unruled_matches": "tests/integration/runtime/test_old_rules.py",
    "broken_matches": "tests/integration/runtime/test_isolation.py",
    "log_alarms": "tests/integration/runtime/test_notary.py",
    "log_away": "tests/integration/runtime/test_notary.py",
    "unlogged_leaves": "tests/integration/runtime/test_notary.py",
    "seat_handovers": "tests/bots/test_substitutes.py",
    "ready": "tests/unit/runtime_shell/test_health.py",
    "watchers": "tests/gateway/test_service.py",
    "feeds": "tests/gateway/test_service.py",
}
OURS = "grimoire_"
_ATTRIBUTES = {"unlogged_leaves": "unlogged", "log_refused_leaves": "log_refused", "service_restarts": "restarts"}


def families() -> Iterator[str]:
    """Names of our own metrics, without the endings that Prometheus adds."""
    for family in METRICS.registry.collect():
        if family.name.startswith(OURS):
            yield family.name.removeprefix(OURS)


Values = dict[str, dict[tuple[tuple[str, str], ...], float]]


def values() -> Values:
    """Every sample by family; of histograms how often and how much, of others what they show."""
    return {
        family.name.removeprefix(OURS): {
            (("sample", sample.name), *sorted(sample.labels.items())): sample.value
            for sample in family.samples
            if not sample.name.endswith("_created")
        }
        for family in METRICS.registry.collect()
        if family.name.startswith(OURS)
    }


def value(name: str, **labels: str) -> float:
    return METRICS.registry.get_sample_value(f"{OURS}{name}", labels) or 0.0


async def until(name: str, above: float, **labels: str) -> None:
    async with asyncio.timeout(20):
        while value(name, **labels) <= above:
            await asyncio.sleep(0.01)


# ---- what happens ----------------------------------------------------------------------------------------------------


async def play(session: MatchSession, seed: int) -> None:
    plugin, rng = load_game(GAME), random.Random(seed)
    async for _ in session.updates():
        due = [p for p in session.own_prompts if p.required]
        if session.finished or not due:
            continue
        assert session.view_message is not None
        code, message = plugin.bot.suggest(session.view_message, due[0], "random", rng, 10)
        with contextlib.suppress(Rejected):
            await session.submit(code, message, due[0].prompt_id)


async def play_out(match_id: str, *clients: Client) -> None:
    sessions = [await client.open_match(match_id) for client in clients]
    async with asyncio.timeout(60):
        await asyncio.gather(*(play(session, seed) for seed, session in enumerate(sessions)))
    for session in sessions:
        await session.close()


async def challenge_and_audit(aino: Client, eino: Client) -> str:
    """A challenge, its match to the end, replay, audit, a file brought back, a refusal by the lobby."""
    opened = await aino.create(GAME, {"mode": "duel", "rounds": "1"})
    await eino.join(opened.challenge_id)
    matched = await aino.matched(opened.challenge_id)
    await play_out(matched.match_id, aino, eino)
    with pytest.raises(Rejected):
        await eino.join("0" * 26)
    assert (await aino.audit(matched.match_id)).passed
    return matched.match_id


async def quick_play(aino: Client, eino: Client) -> None:
    wish = {"options": {"mode": "duel", "rounds": "1"}}
    mine, _ = await asyncio.gather(aino.find_match(GAME, **wish), eino.find_match(GAME, **wish))
    await play_out(mine.match_id, aino, eino)
    await until("rated_matches_total", 0, game=GAME)


async def repeated_and_refused(home: House, clients: list[Client]) -> str:
    """A command twice under one id, one that is refused, and the match left open."""
    match_id = await home.create(clients, options={"mode": "duel", "rounds": "3"})
    sessions = [await client.open_match(match_id) for client in clients]
    for session in sessions:
        await session.started(timeout_s=20)
    prompt = next(p for p in sessions[0].own_prompts if p.kind == "choose")
    rune = load_game(GAME).game.view_type.FromString(sessions[0].view).seats[0].hand[0]
    command_id = secrets.token_bytes(16)
    for _ in range(2):
        await sessions[0].submit("choose_rune", pb.ChooseRune(rune=rune), prompt.prompt_id, command_id=command_id)
    with pytest.raises(Rejected):
        await sessions[0].submit("let_pass", b"", 99)
    for session in sessions:
        await session.close()
    return match_id


async def late_handshake(home: House, clients: list[Client]) -> None:
    """Nobody comes; the clock voids the match."""
    lag = value("clock_lag_seconds_count", game=GAME)
    await home.create(clients, handshake_s=1)
    await until("clock_lag_seconds_count", lag, game=GAME)


async def stolen_partition(home: House, match_id: str, client: Client) -> None:
    """Somebody else takes the match's partition unseen: the next append is refused, and the partition lost."""
    partition = partition_of(match_id)
    lost = value("partition_moves_total", game=GAME, what="lost")
    taken = value("partition_moves_total", game=GAME, what="taken")
    stance = False
    async with await open_store(home.config.database_url(GAME)) as store, await client.open_match(match_id) as session:
        # A sign of life may notice before a command does; then it is stolen once more.
        while not value("conflicts_total", game=GAME, kind="stale_epoch"):
            await home_again(store, partition)
            (owner,) = [o for o in await store.owners(GAME) if o.partition == partition]
            now = owner.heartbeat_ms + 10_000
            assert await store.claim(GAME, partition, "a thief", "127.0.0.1:1", now, 0)
            stance = not stance
            sending = asyncio.create_task(session.submit("set_stance", pb.SetStance(always_pass=stance)))
            await until("partition_moves_total", lost, game=GAME, what="lost")
            await store.release(GAME, "a thief", [partition], now)
            async with asyncio.timeout(60):
                await sending
        await until("partition_moves_total", taken, game=GAME, what="taken")
        await session.resign()


async def home_again(store: EventStore, partition: int) -> None:
    """Waits until the game's own service holds a partition."""
    async with asyncio.timeout(20):
        while not any(
            o.partition == partition and o.instance not in (None, "a thief") for o in await store.owners(GAME)
        ):
            await asyncio.sleep(0.01)


async def held_up_store(home: House, clients: list[Client]) -> Values:
    """Another program holds the file for a while: the store stalls, signs of life fail. Gives the numbers meanwhile."""
    match_id = await home.create(clients)
    failures = value("heartbeat_failures_total", game=GAME)
    stalls = value("store_stalls_total", game=GAME)
    path = home.config.database_url(GAME).removeprefix("sqlite:///")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        sending = asyncio.create_task(clients[0].open_match(match_id))
        await until("queued_commands", 0, game=GAME)
        meanwhile = values()
        await until("store_stalls_total", stalls, game=GAME)
        await until("heartbeat_failures_total", failures, game=GAME)
        holder.execute("ROLLBACK")
    await (await sending).close()
    return meanwhile


async def tampered(home: House, match_id: str, client: Client) -> None:
    """A finished match's log is changed behind our back; whoever audits it finds out."""
    before = sum(values()["verifier_failures"].values())
    path = home.config.database_url(GAME).removeprefix("sqlite:///")
    with contextlib.closing(sqlite3.connect(path, timeout=10)) as connection, connection:
        connection.execute("DROP TRIGGER entries_no_update")
        connection.execute("UPDATE entries SET hash = zeroblob(32) WHERE match_id = ? AND version = 2", (match_id,))
    assert not (await client.audit(match_id)).passed
    assert sum(values()["verifier_failures"].values()) == before + 1


async def web_page(home: House, clients: list[Client]) -> Values:
    """A browser signs up and says something; what the numbers are while it is connected."""
    async with Browser(home.web) as browser:
        await browser.guest("Ilma")
        await browser.sign_up("Ilmatar", "a long enough password")
        match_id = await home.create(clients)
        said = chat_pb2.SayRequest(match_id=match_id, text="hello", request_id=secrets.token_bytes(16))
        await browser.call("chat", "Say", said, chat_pb2.SayResponse)
        return values()


async def two_lobbies(folder: Path) -> None:
    """Two instances of the lobby write to one challenge; the second looks again."""
    async with await open_store(f"sqlite:///{folder}/lobby.db") as store:
        one, other = Ledger(store, now_ms), Ledger(store, now_ms)
        ada, bo = Sitter("ada"), Sitter("bo")
        opening = Open("c" * 26, GAME, (), 2, ((0, ada),), now_ms() + 60_000, "m1", "s1")
        assert not isinstance(await one.act("c" * 26, opening), Illegal)
        assert await other.get("c" * 26) is not None
        assert not isinstance(await one.act("c" * 26, Join(bo, "m1")), Illegal)
        assert isinstance(await other.act("c" * 26, Cancel("ada")), Illegal)


@pytest.mark.slow
async def test_every_number_moves(tmp_path: Path) -> None:
    before = values()
    async with town(tmp_path / "town") as running:
        seen = [before, *await everything_happens(running.home, tmp_path)]
    moved = {name for name in seen[-1] if any(seen[-1][name] != one.get(name, {}) for one in seen)}
    still = {*families()} - moved - set(ELSEWHERE)
    assert not still, f"these stand still, and no other test is named for them: {sorted(still)}"


async def everything_happens(home: House, folder: Path) -> list[Values]:
    """What the numbers are on the way."""
    clients = [await home.client("Aino", folder="a"), await home.client("Eino", folder="b")]
    over = await challenge_and_audit(*clients)
    # Still in its owner's memory: nothing but an audit looks at what lies on disk.
    await tampered(home, over, clients[0])
    await quick_play(*clients)
    open_match = await repeated_and_refused(home, clients)
    during = await web_page(home, clients)
    await two_lobbies(folder)
    await late_handshake(home, clients)
    await stolen_partition(home, open_match, clients[0])
    held_up = await held_up_store(home, clients)
    async with home.no_game():
        gone = values()
    async with await clients[0].open_match(open_match):
        pass
    await asyncio.sleep(1.1)  # one look of those who look once a second
    after = values()
    for client in clients:
        await client.close()
    return [during, held_up, gone, after]


def test_those_that_are_tried_elsewhere_are() -> None:
    for name, path in ELSEWHERE.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        attribute = _ATTRIBUTES.get(name, name)
        assert re.search(rf"METRICS\.{attribute}\b|grimoire_{name}\b", text), f"{path} does not look at {name}"
        assert name in {*families()}, f"{name} is counted no more"


# ---- what they are good for ------------------------------------------------------------------------------------------


def test_percentiles_can_be_read_off_every_latency() -> None:
    """p50, p95 and p99 need buckets around them: from below a millisecond to above a second."""
    for name in ("command_seconds", "commit_seconds", "publication_lag_seconds", "rpc_seconds", "loop_lag_seconds"):
        (family,) = [f for f in METRICS.registry.collect() if f.name == f"{OURS}{name}"]
        assert family.type == "histogram"
    bounds = METRICS.command_seconds.labels("any")._upper_bounds
    assert len(bounds) >= 12
    assert bounds[0] <= 0.001
    assert 1.0 in bounds


def test_the_operators_table_names_every_number() -> None:
    table = (ROOT / "deploy" / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `grimoire_([a-z_]+)`", table, re.MULTILINE))
    told = {re.sub(r"_total$", "", name) for name in named}
    assert told == {*families()}
