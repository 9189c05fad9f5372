"""A hundred thousand inputs that nobody should send, on every entry of a game's service: answered, and harmless."""

from __future__ import annotations

import asyncio
import contextlib
import random
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from structlog.testing import capture_logs

from grimoire.bus import command_subject, partition_of
from grimoire.bus.connection import Message as BusMessage
from grimoire.match import RULES
from grimoire.plugins import load_game
from grimoire.v1 import envelope_pb2, frame_pb2, match_pb2, rules_pb2
from tests.support.crowd import fold, until, viewer_entries
from tests.support.rules import rules_of
from tests.support.table import Table, accepted, broker, submission, table

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

GAME = "two_towers"
IN_PROCESS, OVER_THE_BROKER, RULES_CALLS, LOGS = 80_000, 10_000, 9_000, 1_000

Seed = Callable[[], bytes]


class Fuzzer:
    """Makes bytes and messages that are nearly right, or not at all."""

    def __init__(self, seed: int, good: list[envelope_pb2.Submission]) -> None:
        self.rng = random.Random(seed)
        self.good = good

    def submission(self) -> bytes:
        """A submission's bytes, damaged in one way or another."""
        ways = (self._noise, self._flipped, self._cut, self._doubled, self._odd_fields, self._nested, self._huge)
        return self.rng.choice((*ways, self._swapped))()

    def match_id(self) -> str:
        """Something in the place of a match id."""
        rng = self.rng
        return rng.choice(
            (
                "m1", "m2", "m" * rng.randint(1, 64), "", " ", "m1\0", "../m1", "m1' OR '1'='1", "Ä" * 9, "m" * 5_000,
                f"{rng.getrandbits(128):x}",
            )
        )  # fmt: skip

    def number(self) -> int:
        """A number near an edge."""
        edge = self.rng.choice((0, 1, 2, 5, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**63 - 1, 2**63, 2**64 - 1))
        return max(0, min(2**64 - 1, edge + self.rng.randint(-1, 1)))

    def viewer(self) -> frame_pb2.Viewer:
        """Any eyes."""
        return frame_pb2.Viewer(
            kind=self.rng.choice((0, 1, 2, 3, 4, 99)),
            seat=min(self.number(), 2**32 - 1),  # type: ignore[arg-type]
        )

    def _any(self) -> envelope_pb2.Submission:
        made = envelope_pb2.Submission()
        made.CopyFrom(self.rng.choice(self.good))
        return made

    def _noise(self) -> bytes:
        return self.rng.randbytes(self.rng.choice((0, 1, 7, 64, 900)))

    def _flipped(self) -> bytes:
        data = bytearray(self._any().SerializeToString())
        for _ in range(self.rng.randint(1, 6)):
            data[self.rng.randrange(len(data))] ^= 1 << self.rng.randrange(8)
        return bytes(data)

    def _cut(self) -> bytes:
        data = self._any().SerializeToString()
        return data[: self.rng.randrange(len(data))]

    def _doubled(self) -> bytes:
        return self._any().SerializeToString() + self._any().SerializeToString()

    def _odd_fields(self) -> bytes:
        made, rng = self._any(), self.rng
        command = made.command
        for change in rng.sample(range(7), rng.randint(1, 3)):
            if change == 0:
                command.seat = min(self.number(), 2**32 - 1)
            elif change == 1:
                command.prompt_id = min(self.number(), 2**32 - 1)
            elif change == 2:
                command.command_id = rng.randbytes(rng.choice((0, 15, 16, 17, 400)))
            elif change == 3:
                command.type = rng.choice(("", "expire", "void", "create_match", "resign", "Resign", "x" * 900, "ä\0"))
            elif change == 4:
                command.payload = rng.randbytes(rng.choice((0, 1, 30, 300)))
            elif change == 5:
                made.occupant_id = rng.choice(("", "O0", "o 1", "o2", "o0\0", "x" * 9_000))
            else:
                command.ClearField("seat")
        return made.SerializeToString()

    def _nested(self) -> bytes:
        """Messages in messages, deeper than any parser should follow."""
        made = self._any()
        deep = b""
        for _ in range(self.rng.choice((5, 90, 150, 1_500))):
            deep = b"\x0a" + _varint(len(deep)) + deep
            if len(deep) > 7_000:
                break
        made.command.payload = deep
        return made.SerializeToString()

    def _huge(self) -> bytes:
        made = self._any()
        made.command.payload = bytes(self.rng.choice((8_191, 8_193, 66_000)))
        return made.SerializeToString()

    def _swapped(self) -> bytes:
        """One command's payload under another's name."""
        made, other = self._any(), self._any()
        made.command.payload = other.command.payload
        made.command.type = self.rng.choice(self.good).command.type
        made.command.command_id = secrets.token_bytes(16)
        return made.SerializeToString()


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


class House:
    """One owner with two running matches, everything that may be sent in them, and what it has answered."""

    def __init__(self, running: Table, rules: Any) -> None:
        self.running = running
        self.rules = rules
        self.answers = Counter[str]()
        self.before: dict[str, int] = {}

    async def open(self) -> list[envelope_pb2.Submission]:
        """Begins the matches; gives commands that would be right."""
        rng = random.Random(1)
        good: list[envelope_pb2.Submission] = []
        for match_id in ("m1", "m2"):
            await self.running.begin(match_id)
            state = await self.running.play(match_id, rng, 12)
            self.before[match_id] = state.version
            for opened in state.prompts:
                for legal in self.running.owner.referee.game.legal(state.game, opened.prompt.seat, opened.prompt)[:8]:
                    message = self.running.owner.referee.schema.command(legal.type, legal.fixed)
                    # Half of them from the wrong sender: those must not act, whatever becomes of them.
                    where = {"seat": opened.prompt.seat, "prompt_id": opened.prompt_id}
                    good += [
                        submission(match_id, legal.type, message, occupant=occupant, **where)
                        for occupant in ("stranger", f"o{opened.prompt.seat}")
                    ]
            good.append(submission(match_id, "resign", match_pb2.Resign(), seat=0, occupant="stranger"))
            good.append(submission(match_id, "seal_nonce", match_pb2.SealNonce(seal=bytes(32)), seat=1, occupant="x"))
            good.append(submission(match_id, "expire", match_pb2.Expire(prompt_id=1), seat=0))
        return good

    def note(self, data: bytes) -> None:
        """An answer to a command: typed, with a sentence; or an acceptance that the test then looks into."""
        reply = envelope_pb2.CommandReply.FromString(data)
        if reply.WhichOneof("result") == "rejection":
            assert reply.rejection.code in RULES or reply.rejection.rule, reply
            assert reply.rejection.message
            self.answers[reply.rejection.code] += 1
        else:
            # Damaged where it does not matter.
            self.answers["accepted"] += not reply.accepted.duplicate

    async def prove_unharmed(self) -> None:
        """Nothing has happened in either match but what was accepted, and the owner still serves."""
        happened = 0
        for match_id, version in self.before.items():
            state = await self.running.state(match_id)
            happened += state.version - version
            log = await self.running.store.read(match_id, parts=True)
            assert fold(self.running.owner.referee, log) == state
        # Less, where the same one came twice before it was on disk.
        assert happened <= self.answers["accepted"]
        await self.running.begin("m9")
        assert (await self.running.play("m9", random.Random(2))).over


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with AsyncExitStack() as stack:
        config, keys = await stack.enter_async_context(broker(tmp_path))
        plugin = load_game(GAME)
        running = await stack.enter_async_context(table(config, keys, plugin.game))
        yield House(running, await stack.enter_async_context(rules_of(running, plugin, config, heartbeat_s=60)))


def complaints(logs: list[Any]) -> list[Any]:
    return [line for line in logs if line["log_level"] in ("error", "critical")]


async def test_commands_handed_to_the_owner(house: House) -> None:
    good = await house.open()
    fuzzer, owner = Fuzzer(1, good), house.running.owner
    replied = 0

    def reply(_: Any, data: bytes | None) -> None:
        nonlocal replied
        replied += 1
        if data is not None:
            house.note(data)

    owner._outbox.reply = reply
    with capture_logs() as logs:
        for number in range(IN_PROCESS):
            match_id = fuzzer.rng.choice(("m1", "m2", "m1", "m3"))
            subject = command_subject(GAME, match_id)
            message = BusMessage(_client=None, subject=subject, reply="_INBOX_x", data=fuzzer.submission())
            owner._on_command(partition_of(match_id), message)
            if number % 500 == 0:
                await asyncio.sleep(0)
        await until(lambda: replied == IN_PROCESS)
    del owner._outbox.reply
    assert complaints(logs) == []
    assert len(house.answers) >= 6, house.answers
    await house.prove_unharmed()


async def test_commands_over_the_broker(house: House) -> None:
    good = await house.open()
    fuzzer, edge = Fuzzer(2, good), house.running.edge

    async def send(match_id: str, data: bytes) -> None:
        house.note(await edge.request(command_subject(GAME, match_id), data, reply_s=30, responder_s=10))

    with capture_logs() as logs:
        for _ in range(OVER_THE_BROKER // 250):
            await asyncio.gather(
                *(send(fuzzer.rng.choice(("m1", "m2", "m3")), fuzzer.submission()) for _ in range(250))
            )
    assert complaints(logs) == []
    await house.prove_unharmed()


async def test_questions_to_the_rules_service(house: House) -> None:
    good = await house.open()
    fuzzer = Fuzzer(3, good)
    codes = Counter[str]()

    def whynot() -> rules_pb2.WhyNotRequest:
        try:
            asked = envelope_pb2.Submission.FromString(fuzzer.submission()[:60_000])
        except Exception:
            asked = fuzzer.rng.choice(good)
        return rules_pb2.WhyNotRequest(submission=asked)

    questions: tuple[tuple[str, Callable[[], Message], bool], ...] = (
        ("GetHead", lambda: rules_pb2.GetHeadRequest(match_id=fuzzer.match_id()), False),
        ("GetView", lambda: rules_pb2.GetViewRequest(
            match_id=fuzzer.match_id(), viewer=fuzzer.viewer(), version=fuzzer.number()), False),
        ("ListLegal", lambda: rules_pb2.ListLegalRequest(
            match_id=fuzzer.match_id(), seat=min(fuzzer.number(), 2**32 - 1)), False),
        ("WhyNot", whynot, False),
        ("CheckOptions", lambda: rules_pb2.CheckOptionsRequest(options=[match_pb2.OptionValue(
            name=fuzzer.rng.choice(("turn_time_s", "deck", "", "x" * 900)), value=fuzzer.match_id())] * 2), False),
        ("Describe", lambda: rules_pb2.DescribeRequest(language=fuzzer.match_id()), False),
        ("WatchMatch", lambda: rules_pb2.WatchMatchRequest(
            match_id=fuzzer.match_id(), viewer=fuzzer.viewer(), since_version=fuzzer.number(),
            since_hash=fuzzer.rng.randbytes(32)), True),
        ("GetEntries", lambda: rules_pb2.GetEntriesRequest(
            match_id=fuzzer.match_id(), viewer=fuzzer.viewer(), to=fuzzer.number(), **{"from": fuzzer.number()}), True),
        ("GetFrames", lambda: rules_pb2.GetFramesRequest(
            match_id=fuzzer.match_id(), viewer=fuzzer.viewer(), to=fuzzer.number(), **{"from": fuzzer.number()}), True),
    )  # fmt: skip

    async def ask(name: str, make: Callable[[], Message], streams: bool) -> None:
        method = getattr(house.rules, name)
        try:
            if streams:
                call = method(make(), timeout=30)
                await call.read()
                call.cancel()
            else:
                await method(make(), timeout=30)
            codes["OK"] += 1
        except grpc.aio.AioRpcError as error:
            codes[error.code().name] += 1

    with capture_logs() as logs:
        for _ in range(RULES_CALLS // (len(questions) * 10)):
            await asyncio.gather(*(ask(*question) for question in questions for _ in range(10)))
    assert complaints(logs) == []
    assert set(codes) <= {"OK", "NOT_FOUND", "INVALID_ARGUMENT", "OUT_OF_RANGE", "PERMISSION_DENIED",
                          "FAILED_PRECONDITION"}, codes  # fmt: skip
    await house.prove_unharmed()


async def test_logs_handed_to_the_rules_service(house: House) -> None:
    """Whole logs from strangers: projected or re-decided as far as they go, never with a failure of ours."""
    good = await house.open()
    fuzzer, running = Fuzzer(4, good), house.running
    codes = Counter[str]()
    house.answers["accepted"] = 1
    accepted(await running.ask(submission("m2", "resign", match_pb2.Resign(), seat=0)))
    shown = viewer_entries(running.owner.referee, "m2", await running.store.read("m2", parts=True))
    raw = [entry.SerializeToString() for entry in shown]

    def damaged() -> Iterator[frame_pb2.ViewerEntry]:
        log = list(raw)
        for _ in range(fuzzer.rng.randint(1, 3)):
            at = fuzzer.rng.randrange(len(log))
            what = fuzzer.rng.randrange(5)
            if what == 0:
                del log[at]
            elif what == 1:
                log.insert(at, fuzzer.rng.choice(raw))
            elif what == 2:
                log[at] = frame_pb2.ViewerEntry(header=fuzzer.rng.randbytes(20), public=b"x").SerializeToString()
            else:
                entry = frame_pb2.ViewerEntry.FromString(log[at])
                for field in ("header", "public"):
                    data = bytearray(getattr(entry, field))
                    if data:
                        data[fuzzer.rng.randrange(len(data))] ^= 1 << fuzzer.rng.randrange(8)
                    setattr(entry, field, bytes(data))
                for part in entry.parts:
                    if part.body and fuzzer.rng.random() < 0.3:
                        body = bytearray(part.body)
                        body[fuzzer.rng.randrange(len(body))] ^= 1 << fuzzer.rng.randrange(8)
                        part.body = bytes(body)
                log[at] = entry.SerializeToString()
            if not log:
                log = [raw[0]]
        return (frame_pb2.ViewerEntry.FromString(data) for data in log)

    async def project() -> None:
        yield_from = [rules_pb2.ProjectRequest(start=rules_pb2.ProjectStart(viewer=fuzzer.viewer()))]
        yield_from += [rules_pb2.ProjectRequest(entry=entry) for entry in damaged()]
        call = house.rules.Project(iter(yield_from), timeout=30)
        with contextlib.suppress(grpc.aio.AioRpcError):
            async for _ in call:
                pass
        codes[(await call.code()).name] += 1

    async def redecide() -> None:
        requests = [rules_pb2.RedecideRequest(entry=entry) for entry in damaged()]
        call = house.rules.Redecide(iter(requests), timeout=30)
        with contextlib.suppress(grpc.aio.AioRpcError):
            await call
        codes[(await call.code()).name] += 1

    with capture_logs() as logs:
        for _ in range(LOGS // 20):
            await asyncio.gather(*(project() for _ in range(10)), *(redecide() for _ in range(10)))
    assert complaints(logs) == []
    assert set(codes) <= {"OK", "INVALID_ARGUMENT", "FAILED_PRECONDITION"}, codes
    await house.prove_unharmed()
