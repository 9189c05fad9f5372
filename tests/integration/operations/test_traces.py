"""One command as one picture: from the player's program over edge, broker, owner and disk to everybody's screens."""

from __future__ import annotations

import asyncio
import base64
import json
import random
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace as otel

from grimoire import tracing
from grimoire.client import Client, MatchSession, Rejected
from grimoire.engine import ALL
from grimoire.plugins import load_game
from grimoire.runtime.traces import Traces, tracing_as_configured
from grimoire.v1 import frame_pb2, match_pb2
from tests.gateway.house import House, house
from tests.support.toy import schema as pb


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path) as running:
        yield running


async def begun(home: House, clients: list[Client]) -> list[MatchSession]:
    match_id = await home.create(clients, options={"mode": "duel", "rounds": "2"})
    sessions = [await client.open_match(match_id) for client in clients]
    for session in sessions:
        await session.started(timeout_s=20)
    return sessions


async def play(session: MatchSession, seed: int) -> None:
    plugin, rng = load_game("toy"), random.Random(seed)
    async for _ in session.updates():
        due = [p for p in session.own_prompts if p.required]
        if session.finished or not due:
            continue
        assert session.view_message is not None
        code, message = plugin.bot.suggest(session.view_message, due[0], "random", rng, 10)
        try:
            await session.submit(code, message, due[0].prompt_id)
        except Rejected as rejected:
            if rejected.code not in ("stale_prompt", "match_over"):
                raise


def spans_in(path: Path, traces: Traces | None) -> list[dict[str, Any]]:
    assert traces is not None
    traces.flush()
    return [json.loads(line) for line in path.read_text().splitlines()]


async def test_one_command_is_one_picture(home: House, tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    clients = [await home.client("Aino"), await home.client("Väinö"), await home.client("Louhi")]
    with tracing_as_configured(replace(home.config, trace_file=path)) as traces:
        sessions = await begun(home, clients[:2])
        watching = await clients[2].open_match(sessions[0].match_id, as_public=True)
        prompt = next(p for p in sessions[0].own_prompts if p.kind == "choose")
        rune = load_game("toy").game.view_type.FromString(sessions[0].view).seats[0].hand[0]
        accepted = await sessions[0].submit("choose_rune", pb.ChooseRune(rune=rune), prompt.prompt_id)
        for session in (*sessions, watching):
            await session.reached(accepted.version, timeout_s=60)
        spans = spans_in(path, traces)
        for session in (*sessions, watching):
            await session.close()
    for client in clients:
        await client.close()

    (submit,) = (s for s in spans if s["name"] == "client submit" and s["attributes"]["type"] == "choose_rune")
    picture = [s for s in spans if s["trace"] == submit["trace"]]
    by_id = {s["span"]: s for s in picture}
    (owner,) = (s for s in picture if s["name"] == "owner command" and s["attributes"]["code"] == "accepted")
    way = [owner]
    while way[0]["parent"]:
        way.insert(0, by_id[way[0]["parent"]])
    assert [s["name"] for s in way] == ["client submit", "rpc PlayService/Submit", "bus command", "owner command"]
    inside: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in picture:
        if one["parent"] == owner["span"]:
            inside[one["name"]].append(one)
    for name in ("owner decide", "owner queue", "owner commit", "owner publish"):
        assert len(inside[name]) == 1, name
        way += inside[name]
    for name in ("rules frame", "gateway frame", "client frame"):
        assert {one["attributes"]["viewer"] for one in inside[name]} == {"seat:0", "seat:1", "public"}
        assert {one["attributes"]["version"] for one in inside[name]} == {accepted.version}
    starts = [one["start_ns"] for one in way]
    assert starts == sorted(starts)
    assert all(one["end_ns"] >= one["start_ns"] > 0 and not one["error"] for one in picture)
    assert owner["attributes"]["version"] == accepted.version
    assert owner["attributes"]["seat"] == 0
    assert inside["owner commit"][0]["attributes"] == {"group": 1, "version": accepted.version}
    assert path.stat().st_mode & 0o777 == 0o600


async def test_a_rejection_shows_its_code_and_stops_there(home: House, tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    clients = [await home.client(), await home.client()]
    with tracing_as_configured(replace(home.config, trace_file=path)) as traces:
        sessions = await begun(home, clients)
        with pytest.raises(Rejected):
            await sessions[0].submit("let_pass", b"", 99)
        spans = spans_in(path, traces)
    mine = [s for s in spans if s["name"] == "owner command" and s["attributes"]["type"] == "let_pass"]
    refused = mine[-1]
    assert refused["attributes"]["code"] == "stale_prompt"
    names = Counter(s["name"] for s in spans if s["trace"] == refused["trace"])
    assert "owner commit" not in names
    assert "owner publish" not in names
    (failed,) = (s for s in spans if s["trace"] == refused["trace"] and s["name"] == "client submit")
    assert failed["error"] == "Rejected"
    await asyncio.gather(*(session.close() for session in sessions))
    await asyncio.gather(*(client.close() for client in clients))


async def test_spans_hold_no_secret_and_no_hidden_card(home: House, tmp_path: Path) -> None:
    """A whole match, traced: nothing of what was hidden, nor any key, seed, nonce or token, in any form."""
    path = tmp_path / "spans.jsonl"
    clients = [await home.client("Aino"), await home.client("Väinö")]
    with tracing_as_configured(replace(home.config, trace_file=path)) as traces:
        sessions = await begun(home, clients)
        async with asyncio.timeout(60):
            await asyncio.gather(*(play(session, seed) for seed, session in enumerate(sessions)))
        spans_in(path, traces)
    told = path.read_text()
    entries = [e async for e in clients_entries(home, sessions[0].match_id)]
    last = match_pb2.Events.FromString(entries[-1].public).events[-1]
    revealed = match_pb2.FairnessRevealed.FromString(last.body)
    secrets = [
        revealed.server_seed,
        revealed.joint_seed,
        *(nonce.nonce for nonce in revealed.nonces),
        home.keys.host_key.key.open(),
        home.keys.service_token.open(),
        home.keys.session_key.open(),
        *(part.salt for entry in entries for part in entry.parts),
    ]
    assert len(secrets) > 20
    for secret in secrets:
        for form in (secret.hex(), base64.b64encode(secret).decode().rstrip("="), repr(secret)[2:-1]):
            assert form not in told
    assert not any(client.token and client.token in told for client in clients)
    runes = load_game("toy").texts.manifest("en").catalogues[0].items
    assert len(runes) == 24
    values = {str(v) for line in told.splitlines() for v in json.loads(line)["attributes"].values()}
    assert not values & {rune.id for rune in runes}
    keys = {key for line in told.splitlines() for key in json.loads(line)["attributes"]}
    assert keys <= tracing.ATTRIBUTES | {"service"}
    await asyncio.gather(*(session.close() for session in sessions))
    await asyncio.gather(*(client.close() for client in clients))


async def clients_entries(home: House, match_id: str) -> AsyncIterator[frame_pb2.ViewerEntry]:
    from grimoire.match.frames import viewer_message
    from grimoire.runtime.rpc import open_channel
    from grimoire.v1 import rules_pb2, rules_pb2_grpc

    async with open_channel(home.game.address, token=home.keys.service_token) as channel:
        stub = rules_pb2_grpc.RulesServiceStub(channel)
        async for part in stub.GetEntries(rules_pb2.GetEntriesRequest(match_id=match_id, viewer=viewer_message(ALL))):
            for entry in part.entries:
                yield entry


async def test_off_means_that_no_span_is_ever_made(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    original = otel.NonRecordingSpan.__init__

    def counted(self: otel.NonRecordingSpan, context: otel.SpanContext) -> None:
        made.append("a span")
        original(self, context)

    monkeypatch.setattr(otel.NonRecordingSpan, "__init__", counted)
    assert not tracing.on()
    clients = [await home.client(), await home.client()]
    sessions = await begun(home, clients)
    async with asyncio.timeout(60):
        await asyncio.gather(*(play(session, seed) for seed, session in enumerate(sessions)))
    assert sessions[0].finished
    assert made == []
    await asyncio.gather(*(session.close() for session in sessions))
    await asyncio.gather(*(client.close() for client in clients))
