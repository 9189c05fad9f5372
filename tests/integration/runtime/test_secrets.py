"""A thousand matches, failures at every layer with hidden things in their words; then all that was said is searched."""

from __future__ import annotations

import base64
import contextlib
import io
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from msgspec.structs import replace as altered
from prometheus_client import generate_latest

from grimoire.eventstore import EventStore, NewEntry, Unavailable
from grimoire.fairness import chain
from grimoire.fairness.commitments import deal_salt
from grimoire.plugins import load_game
from grimoire.runtime import loader
from grimoire.runtime.config import LogFormat
from grimoire.runtime.metrics import METRICS
from grimoire.runtime.owner import OwnerLimits
from grimoire.runtime.traces import tracing_as_configured
from grimoire.v1 import envelope_pb2, frame_pb2, match_pb2, rules_pb2
from tests.support.crowd import fold
from tests.support.process_logging import captured_logging
from tests.support.rules import rules_of
from tests.support.table import Table, broker, submission, table
from two_towers.cards import CARDS
from two_towers.rules import TwoTowers

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

MATCHES, COMMANDS = 500, 10  # in each format of the log
LAYERS = ("decide", "evolve", "prompts", "view", "legal", "outcome", "overflow", "away", "reads", "seeds")


class LeakError(RuntimeError):
    """Shows in its text what no text may show."""


class Leaky(TwoTowers):
    """The real rules, which fail now and then and say everything they know."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = ""
        self.failed = Counter[str]()

    def fail(self, layer: str, *known: object) -> None:
        """Fails if it is this layer's turn."""
        if self.layer == layer:
            self.failed[layer] += 1
            raise LeakError(f"broken with {known!r}")

    def decide(self, state: Any, actor: Any, command: Any, prompt: Any, draws: Any) -> Any:
        self.fail("decide", state, command, draws, vars(draws) if hasattr(draws, "__dict__") else "")
        return super().decide(state, actor, command, prompt, draws)

    def evolve(self, state: Any, event: Any) -> Any:
        self.fail("evolve", state, event)
        return super().evolve(state, event)

    def fold(self, state: Any, events: Any) -> Any:
        self.fail("evolve", state, *events)
        return super().fold(state, events)

    def prompts(self, state: Any) -> Any:
        self.fail("prompts", state)
        return super().prompts(state)

    def view(self, state: Any, viewer: Any) -> Any:
        self.fail("view", state)
        return super().view(state, viewer)

    def legal(self, state: Any, seat: Any, prompt: Any) -> Any:
        self.fail("legal", state)
        return super().legal(state, seat, prompt)

    def outcome(self, state: Any) -> Any:
        self.fail("outcome", state)
        return super().outcome(state)


class Unsteady:
    """The real store, which refuses now and then, as its driver does."""

    def __init__(self, store: EventStore, game: Leaky) -> None:
        self._store = store
        self._game = game

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def append(self, entries: Sequence[NewEntry]) -> None:
        if self._game.layer == "overflow":
            self._game.failed["overflow"] += 1
            entries = [altered(entry, next_deadline_ms=2**80) for entry in entries]
        if self._game.layer == "away":
            self._game.failed["away"] += 1
            self._game.layer = ""
            raise Unavailable("OperationalError SQLITE_BUSY")
        await self._store.append(entries)

    async def read_chunks(self, *args: Any, **more: Any) -> Any:
        if self._game.layer == "reads":
            self._game.failed["reads"] += 1
            raise Unavailable("OperationalError SQLITE_BUSY")
        async for chunk in self._store.read_chunks(*args, **more):
            yield chunk


class Said:
    """Everything that was said anywhere."""

    def __init__(self) -> None:
        self.log = io.StringIO()
        self.replies: list[str] = []
        self.errors: list[str] = []

    def everything(self, traces: str) -> dict[str, str]:
        return {
            "log": self.log.getvalue(),
            "metrics": generate_latest(METRICS.registry).decode(),
            "traces": traces,
            "errors": "\n".join(self.errors),
            "replies": "\n".join(self.replies),
        }


def secrets_of(running: Table, match_id: str, log: Sequence[Any]) -> Iterable[bytes]:
    """What nobody may have read while it ran: S, J, nonces, salts, and the private parts whole."""
    state = fold(running.owner.referee, log)
    seed = running.owner.referee.seed(state)
    yield seed.open()
    yield from (nonce for nonce in state.nonces if nonce)
    if state.joint is not None:
        yield state.joint.open()
        yield deal_salt(running.game, state.joint)
    for entry in log:
        for part in match_pb2.Parts.FromString(entry.parts or b"").parts:
            yield chain.part_salt(seed, match_id, entry.version, part.audience)
            if len(part.body) >= 16:
                yield part.body


class Search:
    """Finds secrets in texts of any length: every run of hex or base64 in a text is looked up, window by window."""

    def __init__(self) -> None:
        self._hex: set[str] = set()
        self._base64: set[str] = set()

    def add(self, secret: bytes) -> None:
        """Looks for its first 16 bytes from now on."""
        head = secret[:16]
        self._hex.add(head.hex())
        self._base64.add(base64.b64encode(head).decode()[:21])
        self._base64.add(base64.urlsafe_b64encode(head).decode()[:21])

    def found(self, text: str) -> list[str]:
        """What of it stands there."""
        found = [run[at : at + 32] for run in re.findall(r"[0-9a-fA-F]{32,}", text) for at in range(len(run) - 31)
                 if run[at : at + 32].lower() in self._hex]  # fmt: skip
        found += [run[at : at + 21] for run in re.findall(r"[0-9A-Za-z+/_-]{21,}", text) for at in range(len(run) - 20)
                  if run[at : at + 21] in self._base64]  # fmt: skip
        # Bytes as Python or a list would print them: none are ever right.
        found += re.findall(r"(?:\\+x[0-9a-f]{2}){2,}", text)
        found += re.findall(r"\[\d{1,3}(?:, ?\d{1,3}){15,}\]", text)
        return found


CARD = re.compile(rf"(?<![a-z_])(?:{'|'.join(sorted(CARDS))})(?![a-z_])")


def test_the_search_finds_what_it_is_for() -> None:
    search, secret = Search(), bytes(range(100, 132))
    search.add(secret)
    for text in (
        f"x {secret.hex()} y",
        secret.hex().upper(),
        f"ab{secret.hex()}cd",
        base64.b64encode(secret).decode(),
        base64.urlsafe_b64encode(secret).decode(),
        repr(bytes(range(16))),
        repr(list(secret)),
    ):
        assert search.found(text), text
    assert search.found("f81d4fae7dec11d0a76500a0c91e6bf6 and nothing else") == []
    assert CARD.search("hand=('ruby',)")
    assert not CARD.search("rubyist")


@pytest.fixture(params=[LogFormat.JSON, LogFormat.CONSOLE])
async def house(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Table, Leaky, Any, Said, Path]]:
    monkeypatch.setattr(loader, "BROKEN_S", 0.0)
    spans = tmp_path / "spans.jsonl"
    async with AsyncExitStack() as stack:
        config, keys = await stack.enter_async_context(broker(tmp_path))
        said, game = Said(), Leaky()
        said.log = stack.enter_context(captured_logging(config, request.param))
        stack.enter_context(tracing_as_configured(replace(config, trace_file=spans)))
        limits = OwnerLimits(cached_matches=8)
        running = await stack.enter_async_context(
            table(config, keys, game, limits=limits, wrap=lambda store: Unsteady(store, game))  # type: ignore[arg-type,return-value]
        )
        seeds = running.owner.referee._seeds

        def unsteady_seeds(*about: str) -> Any:
            game.fail("seeds", seeds(*about).open())
            return seeds(*about)

        running.owner.referee._seeds = unsteady_seeds
        rules = await stack.enter_async_context(rules_of(running, altered(load_game("two_towers"), game=game), config))
        yield running, game, rules, said, spans
        del running.owner.referee._seeds


async def test_nothing_hidden_is_ever_said(house: tuple[Table, Leaky, Any, Said, Path]) -> None:
    running, game, rules, said, spans = house
    rng = random.Random(7)

    async def persist(asked: envelope_pb2.Submission) -> envelope_pb2.CommandReply:
        """Until it is settled: failures pass."""
        while True:
            reply = await running.ask(asked)
            said.replies.append(str(reply))
            if reply.rejection.code not in ("overloaded", "not_judged", "match_broken"):
                return reply
            game.layer = ""

    async def look(match_id: str) -> None:
        viewer = frame_pb2.Viewer(kind=frame_pb2.VIEWER_KIND_SEAT, seat=rng.randrange(2))
        with contextlib.suppress(grpc.aio.AioRpcError):
            try:
                await rules.GetView(rules_pb2.GetViewRequest(match_id=match_id, viewer=viewer))
                await rules.ListLegal(rules_pb2.ListLegalRequest(match_id=match_id, seat=viewer.seat))
                call = rules.WatchMatch(rules_pb2.WatchMatchRequest(match_id=match_id, viewer=viewer))
                await call.read()
                call.cancel()
            except grpc.aio.AioRpcError as error:
                said.errors.append(f"{error.details()} {error.trailing_metadata()} {error.debug_error_string()}")
                raise

    # One after the other: a failing layer is everybody's, and beginnings must come through.
    for number in range(MATCHES):
        match_id = f"m{number}"
        create = match_pb2.CreateMatch(
            game=running.game,
            mode=match_pb2.MATCH_MODE_CASUAL,
            seats=[match_pb2.SeatOccupant(seat=n, occupant_id=f"o{n}", kind=1) for n in (0, 1)],
        )
        await persist(submission(match_id, "create_match", create, host=True))
        await running.shake_hands(match_id)
        for _ in range(COMMANDS):
            state = await running.state(match_id)
            if state.over:
                break
            command = running.random_command(state, rng)
            if rng.random() < 0.2:
                game.layer = rng.choice(LAYERS)
                if rng.random() < 0.5:
                    running.owner._cache.remove(running.owner._cache.get(match_id))
                await look(match_id)
            await persist(command)
            game.layer = ""
        await persist(submission(match_id, "void", match_pb2.Void(reason="enough"), host=True))
    texts = said.everything(spans.read_text() if spans.exists() else "")
    search = Search()
    for number in range(MATCHES):
        log = await running.store.read(f"m{number}", parts=True)
        for secret in secrets_of(running, f"m{number}", log):
            search.add(secret)
    assert game.failed.keys() == set(LAYERS)
    assert len(texts["log"]) > 10_000
    assert "not_judged" in texts["log"]
    for where, text in texts.items():
        assert search.found(text) == [], where
        if where != "replies":  # a seat may be told of its own cards
            assert CARD.findall(text) == [], where
