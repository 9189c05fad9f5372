"""A seat that changes hands at the edge: the newcomer sees and plays it from then on, the old one no more."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator

import grpc
import pytest
import pytest_asyncio

from grimoire.client import Client, ClientError, MatchSession, Rejected
from grimoire.engine import Viewer
from grimoire.v1 import chat_pb2, envelope_pb2, frame_pb2, match_pb2, play_pb2
from tests.gateway.house import House
from tests.gateway.tables import Table, running_table
from tests.support.toy import schema as toy

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEAT = frame_pb2.VIEWER_KIND_SEAT
PUBLIC = frame_pb2.VIEWER_KIND_PUBLIC
GONE = 1
"""The seat that changes hands; it was Bo's."""


@pytest_asyncio.fixture(loop_scope="module")
async def table(home_house: House) -> AsyncIterator[Table]:
    async with running_table(home_house, {"mode": "party"}, ("Ada", "Bo", "Eve")) as running:
        yield running


def account(table: Table, who: int) -> str:
    return table.house.identity(table.clients[who]).account_id


async def looked(client: Client, match_id: str, seat: int | None = None) -> frame_pb2.Snapshot:
    async with await client.open_match(match_id, seat) as session:
        return session.snapshot


async def ended(session: MatchSession) -> Rejected:
    """Why a session is over."""
    with pytest.raises(Rejected) as refused:
        await session.reached(1_000_000, timeout_s=60)
    return refused.value


def hand(snapshot: frame_pb2.Snapshot, seat: int) -> list[str]:
    return list(toy.View.FromString(snapshot.view).seats[seat].hand)


async def test_the_newcomer_sees_and_plays_the_seat_and_the_old_one_no_more(table: Table) -> None:
    ada, bo, eve = table.clients
    hidden = hand(table.sessions[GONE].snapshot, GONE)
    assert hidden
    with pytest.raises(Rejected):
        await looked(eve, table.match_id, GONE)
    version = await table.house.bind(table.match_id, GONE, account(table, 2))
    assert (await ended(table.sessions[GONE])).code == "not_a_seat"
    assert table.sessions[GONE].version == version, "the last it saw is that the seat was given away"
    # The newcomer, who still holds its own seat.
    assert hand(await looked(eve, table.match_id, GONE), GONE) == hidden
    async with await eve.open_match(table.match_id, GONE) as session:
        await session.submit("set_stance", toy.SetStance(always_pass=True))
    assert not hand(await looked(eve, table.match_id, 2), GONE), "each of its seats sees its own"
    # The old one.
    shown = await looked(bo, table.match_id)
    assert shown.viewer.kind == PUBLIC
    assert not hand(shown, GONE)
    with pytest.raises(Rejected) as refused:
        await looked(bo, table.match_id, GONE)
    assert refused.value.code == "not_a_seat"
    reply = await table.submit(table.command(seat=GONE), GONE)
    assert reply.rejection.code == "not_a_seat"
    assert [s.occupant_id for s in shown.head.seats][GONE] == [s.occupant_id for s in shown.head.seats][2]
    del ada


async def test_who_gets_the_seat_back_plays_on_where_it_was(table: Table) -> None:
    bo = table.clients[GONE]
    hidden = hand(table.sessions[GONE].snapshot, GONE)
    await table.house.bind(table.match_id, GONE, "bot-x", bot=True)
    assert (await ended(table.sessions[GONE])).code == "not_a_seat"
    await table.house.bind(table.match_id, GONE, account(table, GONE))
    async with await bo.open_match(table.match_id) as session:
        assert session.seat == GONE
        assert hand(session.snapshot, GONE) == hidden
        await session.submit("choose_rune", toy.ChooseRune(rune=hidden[0]), session.own_prompts[0].prompt_id)
    assert table.sessions[0].alarm is None


async def test_the_others_go_on_without_a_break(table: Table) -> None:
    await table.house.bind(table.match_id, GONE, "bot-x", bot=True)
    await table.sessions[0].submit("set_stance", toy.SetStance(always_pass=True))
    assert table.sessions[0].failed is False
    assert [s.kind for s in table.sessions[0].head.seats][GONE] == match_pb2.OCCUPANT_KIND_BOT


async def test_an_edge_that_has_not_heard_of_it_shows_nothing_to_the_old_one(table: Table) -> None:
    """Its memory of the match is a moment old, and it follows no stream that would tell."""
    bo = table.clients[GONE]
    matches = table.house.gateway.feeds._rebound.__self__
    await looked(bo, table.match_id)
    for session in (table.sessions[0], table.sessions[2]):
        await session.close()  # its stream would tell the edge
    stale = dict(matches._known)
    await table.house.bind(table.match_id, GONE, account(table, 0))
    await ended(table.sessions[GONE])
    look = play_pb2.LookRequest(match_id=table.match_id, seat=GONE)
    watch = play_pb2.WatchRequest(match_id=table.match_id, seat=GONE)
    metadata = table.metadata(GONE)
    for ask in (lambda: table.play.Look(look, metadata=metadata), lambda: table.play.Watch(watch, metadata=metadata)):
        matches._known.update({key: (kept[0] + 3600, kept[1]) for key, kept in stale.items()})
        call = ask()
        assert await call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert (await call.details()).startswith("A seat changed hands")
    matches._known.clear()


async def test_the_new_holder_of_a_seat_is_let_in_at_once(table: Table) -> None:
    """Also where the edge has just looked the match up for somebody else."""
    ada = table.clients[0]
    await looked(ada, table.match_id)
    await table.house.bind(table.match_id, GONE, account(table, 0))
    command = envelope_pb2.Command(
        command_id=secrets.token_bytes(16), match_id=table.match_id, seat=GONE, type="set_stance"
    )
    reply = await table.submit(command, 0)
    assert reply.HasField("accepted"), reply
    assert hand(await looked(ada, table.match_id, GONE), GONE)


async def test_replay_and_export_follow_the_seat(table: Table) -> None:
    ada, bo = table.clients[0], table.clients[GONE]
    await table.house.bind(table.match_id, GONE, account(table, 0))
    told = await ada.match(table.match_id)
    assert [v.seat for v in told.viewers if v.kind == SEAT] == [0, GONE]
    told = await bo.match(table.match_id)
    assert [v.kind for v in told.viewers] == [PUBLIC]
    with pytest.raises(Rejected) as refused:
        async for _ in bo.frames(table.match_id, Viewer.of_seat(GONE)):
            pass
    assert refused.value.code == "not_a_seat"
    frames = [frame async for frame in ada.frames(table.match_id, Viewer.of_seat(GONE))]
    assert hand(frame_pb2.Snapshot(view=frames[-1].view), GONE)


async def test_the_old_one_speaks_as_a_watcher_and_the_new_one_from_its_first_seat(table: Table) -> None:
    await table.house.bind(table.match_id, GONE, account(table, 2))
    await ended(table.sessions[GONE])
    said = []
    for who in (GONE, 2):
        connection = table.clients[who]._connection
        request = chat_pb2.SayRequest(match_id=table.match_id, text="hello", request_id=secrets.token_bytes(16))
        said.append((await connection.ask(connection.chat.Say, request)).message)
    assert [(m.HasField("seat"), m.seat) for m in said] == [(False, 0), (True, GONE)]


async def test_a_session_of_a_seat_that_is_gone_sends_nothing_more(table: Table) -> None:
    await table.house.bind(table.match_id, GONE, "bot-x", bot=True)
    await ended(table.sessions[GONE])
    with pytest.raises(ClientError):
        await table.sessions[GONE].submit("set_stance", toy.SetStance())
