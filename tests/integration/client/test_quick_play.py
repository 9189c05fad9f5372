"""Quick play and analysis through the edge, with the client library, against everything real."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from grimoire.client import Client, Rejected
from grimoire.v1 import match_pb2, matchmaking_pb2, quickplay_pb2
from tests.integration.client.test_client import Town, play, town

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def everything(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    async with town(tmp_path_factory.mktemp("town")) as running:
        yield running


async def play_out(match_id: str, *players: Client) -> None:
    """Everybody plays one's own seat until the end."""

    async def one(player: Client) -> None:
        async with await player.open_match(match_id) as session:
            await play(session)

    async with asyncio.timeout(60):
        await asyncio.gather(*(one(player) for player in players))


async def test_two_who_search_find_each_other_and_are_rated(everything: Town) -> None:
    aino, eino = await everything.home.client("Aino", folder="a"), await everything.home.client("Eino", folder="b")
    seen: list[int] = []
    asked: list[str] = []

    async def ready(ticket: quickplay_pb2.Ticket) -> bool:
        asked.extend(seat.name for seat in ticket.ready_check.seats)
        return True

    wish = {"options": {"mode": "duel", "rounds": "1"}}
    mine, theirs = await asyncio.gather(
        aino.find_match("toy", ready=ready, on_change=lambda ticket: seen.append(ticket.status), **wish),
        eino.find_match("toy", **wish),
    )
    assert mine.match_id == theirs.match_id
    assert sorted(asked) == ["Aino", "Eino"]
    assert seen[0] == quickplay_pb2.TICKET_STATUS_WAITING
    assert seen[-1] == quickplay_pb2.TICKET_STATUS_MATCHED
    await play_out(mine.match_id, aino, eino)
    async with asyncio.timeout(20):
        while not (changes := await aino.rating_changes("toy")):
            await asyncio.sleep(0.02)
    assert [change.match_id for change in changes] == [mine.match_id]
    assert (await aino.ratings())["toy"] == changes[0].after
    assert await aino.leaderboard("toy") == [], "one match is too little to be listed"
    (queue, *_) = (await aino.queues("toy")).queues
    assert queue.preset == "short"

    challenge = await eino.play_on(mine.match_id, 5, level="random")
    assert challenge.mode == match_pb2.MATCH_MODE_ANALYSIS
    assert challenge.position
    async with await eino.open_match(challenge.match_id) as session, asyncio.timeout(60):
        await play(session)
        assert session.finished
    with pytest.raises(Rejected) as nothing:
        await eino.play_on(mine.match_id, 99)
    assert nothing.value.code == "no_position"
    for client in (aino, eino):
        await client.close()


async def test_one_person_plays_both_seats_of_an_arranged_position(everything: Town) -> None:
    aino = await everything.home.client("Aino", folder="both")
    challenge = await aino.play_position("toy", {"round_no": 2, "light": 5}, options={"rounds": "2"})
    assert [seat.mine for seat in challenge.seats] == [True, True]
    async with (
        await aino.open_match(challenge.match_id, 0) as first,
        await aino.open_match(challenge.match_id, 1) as second,
        asyncio.timeout(60),
    ):
        await asyncio.gather(play(first), play(second))
        assert first.finished
        assert second.finished
        verdict = await first.verify_result()
        assert verdict.holds, str(verdict)
    with pytest.raises(Rejected) as bad:
        await aino.play_position("toy", {"moon": 1})
    assert bad.value.code == "bad_position"
    await aino.close()


async def test_friends_and_second_thoughts(everything: Town) -> None:
    aino, eino = await everything.home.client("Aino", folder="fa"), await everything.home.client("Eino", folder="fb")
    party = await aino.make_party("toy")
    assert len((await eino.join_party(party.party_id)).members) == 2
    searching = asyncio.create_task(aino.find_match("toy", party_id=party.party_id))
    async for shown in eino.watch_party(party.party_id):
        if shown.ticket_id:
            break
    async for ticket in eino.watch_ticket(shown.ticket_id):
        if ticket.ready_check.check_id:
            await eino.answer_ready_check(ticket.ready_check.check_id, True)
        if ticket.match_id:
            break
    assert (await searching).match_id == ticket.match_id
    assert (await aino.challenge(ticket.challenge_id)).mode == match_pb2.MATCH_MODE_CASUAL
    await eino.leave_party(party.party_id)
    await aino.leave_party(party.party_id)

    lonely = asyncio.create_task(aino.find_match("toy", options={"rounds": "3"}))
    async with asyncio.timeout(20):
        while (ticket := await _searching(aino)) is None:
            await asyncio.sleep(0.01)
    lonely.cancel()
    with pytest.raises(asyncio.CancelledError):
        await lonely
    assert (await aino.ticket(ticket.ticket_id)).status == quickplay_pb2.TICKET_STATUS_CANCELLED, "nobody waits for it"
    for client in (aino, eino):
        await client.close()


async def test_a_challenge_may_be_casual(everything: Town) -> None:
    aino = await everything.home.client("Aino", folder="c")
    challenge = await aino.create("toy", rated=False)
    assert challenge.mode == match_pb2.MATCH_MODE_CASUAL
    assert challenge.status == matchmaking_pb2.CHALLENGE_STATUS_OPEN
    await aino.cancel(challenge.challenge_id)
    await aino.close()


async def _searching(client: Client) -> quickplay_pb2.Ticket | None:
    try:
        return await client.ticket()
    except Rejected as rejected:
        if rejected.code != "not_searching":
            raise
        return None
