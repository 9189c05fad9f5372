"""Commands at the edge: typed rejections in the platform's order, limits, and the way to the owner."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
import pytest_asyncio

from gateway.limits import RateLimiter
from gateway.play import PlayLimits
from gateway.service import Gateway
from grimoire.client import Rejected
from grimoire.runtime.identity import new_match_id
from grimoire.v1 import match_pb2, play_pb2, play_pb2_grpc
from tests.gateway.house import House, house
from tests.gateway.tables import Table, open_table

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def table(home_house: House) -> AsyncIterator[Table]:
    found = await open_table(home_house)
    yield found
    await found.close()


async def test_an_accepted_command_is_committed_when_its_reply_comes(table: Table) -> None:
    reply = await table.submit(table.command())
    assert reply.WhichOneof("result") == "accepted"
    assert (await table.sessions[0].look()).head.version >= reply.accepted.version


async def test_the_same_id_gets_the_first_reply_and_one_effect(table: Table) -> None:
    command = table.command()
    first = await table.submit(command)
    second = await table.submit(command)
    assert (second.accepted.version, second.accepted.duplicate) == (first.accepted.version, True)
    assert (await table.sessions[0].look()).head.version == first.accepted.version


BAD = {
    "no id": ({"command_id": b""}, "malformed", "command_id"),
    "a short id": ({"command_id": bytes(15)}, "malformed", "command_id"),
    "no match": ({"match_id": ""}, "malformed", "match_id"),
    "no seat": ({"seat": None}, "malformed", "seat"),
    "no type": ({"type": ""}, "malformed", "type"),
    "a type that is no code": ({"type": "SetStance"}, "malformed", "type"),
    "a type with a dot": ({"type": "evt.toy.>"}, "malformed", "type"),
    "an unknown type": ({"type": "set_fire"}, "malformed", "type"),
    "a payload that does not parse": ({"payload": b"\xff\xff\xff"}, "malformed", "payload"),
    "a prompt for a standing command": ({"prompt_id": 1}, "malformed", "prompt_id"),
    "a large payload": ({"payload": bytes(8 * 1024)}, "too_large", ""),
    "a match that is not there": ({"match_id": "0" * 26}, "unknown_match", "match_id"),
    "a match id with a wildcard": ({"match_id": ">"}, "unknown_match", "match_id"),
    "a match id that leaves its subject": ({"match_id": "x.y"}, "unknown_match", "match_id"),
    "a match id beyond ASCII": ({"match_id": "ä" * 26}, "unknown_match", "match_id"),
    "a match id without end": ({"match_id": "0" * 4000}, "unknown_match", "match_id"),
    "the other's seat": ({"seat": 1}, "not_a_seat", "seat"),
    "a seat that is not there": ({"seat": 2}, "not_a_seat", "seat"),
    "the largest seat": ({"seat": 2**32 - 1}, "not_a_seat", "seat"),
    "the host's command": (
        {"type": "void", "payload": match_pb2.Void(reason="x").SerializeToString()},
        "not_authorised",
        "",
    ),
    "the clock's command": ({"type": "expire", "payload": b""}, "not_authorised", ""),
    # Where several things are wrong, the platform's order decides.
    "malformed before too large": ({"command_id": b"", "payload": bytes(9000)}, "malformed", "command_id"),
    "too large before unknown": ({"payload": bytes(9000), "match_id": "0" * 26}, "too_large", ""),
    "unknown before seat": ({"match_id": "0" * 26, "seat": 9}, "unknown_match", "match_id"),
}


@pytest.mark.parametrize("kind", BAD)
async def test_what_is_wrong_gets_a_typed_rejection_and_leaves_nothing(table: Table, kind: str) -> None:
    fields, code, field = BAD[kind]
    before = (await table.sessions[0].look()).head
    reply = await table.submit(table.command(**fields))
    assert (reply.rejection.code, reply.rejection.field) == (code, field)
    assert reply.rejection.message
    explained = await table.play.Explain(
        play_pb2.ExplainRequest(command=table.command(**fields)), metadata=table.metadata()
    )
    assert explained.rejection.code == code
    after = (await table.sessions[0].look()).head
    assert (after.version, after.hash) == (before.version, before.hash)


@pytest.mark.parametrize("method", ["Submit", "Explain"])
async def test_bytes_that_are_no_request_are_malformed(table: Table, method: str) -> None:
    call = table.channel.unary_unary(f"/grimoire.v1.PlayService/{method}")
    for data in (b"\xff", b"\x0a\xff\xff\xff\xff\x0f", secrets.token_bytes(64) + b"\xff", b"\x0b" * 5000):
        answer = await call(data, metadata=table.metadata())
        if method == "Submit":
            rejection = play_pb2.SubmitResponse.FromString(answer).reply.rejection
        else:
            rejection = play_pb2.ExplainResponse.FromString(answer).rejection
        assert rejection.code == "malformed"


@pytest.mark.parametrize("method", ["Look", "Watch", "DescribeGame"])
async def test_bytes_that_are_no_question_are_refused(table: Table, method: str) -> None:
    call = table.channel.unary_stream(f"/grimoire.v1.PlayService/{method}")(b"\xff", metadata=table.metadata())
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        async for _ in call:
            pass
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_somebody_without_a_seat_cannot_act_on_any(table: Table) -> None:
    stranger = await table.house.client("Eve")
    for seat in (0, 1):
        request = play_pb2.SubmitRequest(command=table.command(seat=seat))
        metadata = (("authorization", f"Bearer {stranger.token}"),)
        assert (await table.play.Submit(request, metadata=metadata)).reply.rejection.code == "not_a_seat"
    await stranger.close()


async def test_another_seat_cannot_read_a_reply_by_its_command_id(table: Table) -> None:
    command = table.command()
    await table.submit(command)
    stolen = table.command(command_id=command.command_id, seat=1)
    assert (await table.submit(stolen, seat=1)).rejection.code == "command_id_reused"


async def test_too_many_commands_are_told_when_to_come_again(home_house: House) -> None:
    table = await open_table(home_house)
    replies = await asyncio.gather(*(table.submit(table.command()) for _ in range(60)))
    refused = [r.rejection for r in replies if r.HasField("rejection")]
    assert {r.code for r in refused} == {"rate_limited"}
    assert 0 < len(refused) <= 32  # of the burst of 30 two went to the handshake; some come back meanwhile
    assert all(0 < r.retry_after_ms <= 2000 for r in refused)
    # The other seat has its own allowance.
    assert (await table.submit(table.command(seat=1), seat=1)).HasField("accepted")
    await table.close()


async def test_what_the_edge_refuses_is_not_counted(home_house: House) -> None:
    table = await open_table(home_house)
    for _ in range(60):
        assert (await table.submit(table.command(seat=1))).rejection.code == "not_a_seat"
    assert (await table.submit(table.command())).HasField("accepted")
    await table.close()


async def test_guessing_at_matches_is_limited(home_house: House) -> None:
    """Every unknown id is a question to every game, and to its database."""
    table = await open_table(home_house)
    guesses = [table.command(match_id=new_match_id()) for _ in range(300)]
    replies = await asyncio.gather(*(table.submit(guess) for guess in guesses))
    codes = Counter(reply.rejection.code for reply in replies)
    assert set(codes) == {"unknown_match", "rate_limited"}
    assert codes["unknown_match"] >= 200
    late = [reply.rejection for reply in replies if reply.rejection.code == "rate_limited"]
    assert all(rejection.retry_after_ms > 0 for rejection in late)
    # What is known goes on.
    assert (await table.submit(table.command())).HasField("accepted")
    await table.close()


async def test_the_limiter_allows_a_burst_then_the_rate_and_forgets_who_is_quiet() -> None:
    time = [0.0]
    limiter = RateLimiter(rate=10, burst=3, now=lambda: time[0])
    assert [limiter.take("a") for _ in range(4)] == [0, 0, 0, 100]
    time[0] += 0.1
    assert [limiter.take("a"), limiter.take("a"), limiter.take("b")] == [0, 100, 0]
    time[0] += 10
    for n in range(10_000):
        limiter.take(n)
        time[0] += 0.2
    assert len(limiter) < 5_000


async def test_explain_answers_as_submit_would_and_does_nothing(table: Table) -> None:
    session = table.sessions[0]
    prompt = next(p for p in session.own_prompts if p.required)
    entry = prompt.legal[0]
    before = session.version
    with_unknown_rune = await session.explain(entry.type, b"", prompt.prompt_id)
    assert with_unknown_rune is not None
    with pytest.raises(Rejected) as refused:
        await session.submit(entry.type, b"", prompt.prompt_id)
    assert (refused.value.code, refused.value.rule) == (with_unknown_rune.code, with_unknown_rune.rule)
    assert await session.explain("set_stance") is None
    assert (await session.look()).head.version == before


async def test_questions_are_limited_too(home_house: House) -> None:
    table = await open_table(home_house)
    request = play_pb2.LookRequest(match_id=table.match_id)
    asked = [table.play.Look(request, metadata=table.metadata()) for _ in range(400)]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    refused = [a for a in answers if isinstance(a, grpc.aio.AioRpcError)]
    assert refused
    assert {r.code() for r in refused} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
    await table.close()


async def test_a_command_waits_for_an_owner_that_is_on_its_way(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        table = await open_table(home)
        async with home.no_game():
            waiting = asyncio.create_task(table.submit(table.command()))
            # Once a later call is answered, the command has found nobody.
            await play_pb2_grpc.SessionServiceStub(table.channel).WhoAmI(
                play_pb2.WhoAmIRequest(), metadata=table.metadata()
            )
            assert not waiting.done()
        assert (await waiting).HasField("accepted")
        await table.close()


async def test_without_an_owner_the_call_fails_as_unavailable_and_may_be_repeated(tmp_path: Path) -> None:
    async with house(tmp_path, Gateway(PlayLimits(owner_s=0.3, reply_s=0.2))) as home:
        table = await open_table(home)
        command = table.command()
        async with home.no_game():
            for call in (
                table.play.Submit(play_pb2.SubmitRequest(command=command), metadata=table.metadata()),
                table.play.Explain(play_pb2.ExplainRequest(command=command), metadata=table.metadata()),
            ):
                with pytest.raises(grpc.aio.AioRpcError) as refused:
                    await call
                assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
        assert (await table.submit(command)).HasField("accepted")
        await table.close()
