"""Who did not stay at a friend's table is asked before being seated there again."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable
from operator import methodcaller
from typing import Any

import pytest
from sqlalchemy import text

from grimoire.fairness.commitments import nonce_seal
from grimoire.v1 import match_pb2, matchmaking_pb2, quickplay_pb2
from matchmaking.database import Database
from tests.matchmaking.house import ADA, BO, EVE, GAME, Client, House, until

Row = matchmaking_pb2.SeatRow
MINE = Row(kind=matchmaking_pb2.SEAT_ROW_KIND_MINE)
OPEN = Row(kind=matchmaking_pb2.SEAT_ROW_KIND_OPEN)
FRIEND = Row(kind=matchmaking_pb2.SEAT_ROW_KIND_FRIEND)
CASUAL = match_pb2.MATCH_MODE_CASUAL
TOGETHER = {"options": {"mode": "party"}, "mode": CASUAL}


@pytest.fixture
async def running(house: House) -> House:
    await house.game.start()
    await house.open_lobby()
    return house


async def friends(running: House) -> tuple[quickplay_pb2.Party, Client, Client, Client]:
    ada, bo, eve = (running.client(who) for who in (ADA, BO, EVE))
    party = (await ada.make_party()).party
    for friend in (bo, eve):
        await friend.join_party(party.party_id)
    return party, ada, bo, eve


async def members_that(client: Client, party: quickplay_pb2.Party, right: Callable[[list[str]], bool]) -> list[str]:
    async for shown in client.watch_party(party.party_id):
        names = [member.name for member in shown.members]
        if right(names):
            return names
    raise AssertionError("the party is gone")


async def seal(running: House, match_id: str, seat: int, account_id: str) -> None:
    sealed = match_pb2.SealNonce(seal=nonce_seal(GAME, match_id, seat, secrets.token_bytes(32)))
    reply = await running.send(match_id, "seal_nonce", sealed.SerializeToString(), account_id, seat)
    assert reply.HasField("accepted"), reply


async def test_who_leaves_a_match_is_not_seated_again_before_it_has_joined_again(running: House) -> None:
    party, ada, bo, _ = await friends(running)
    match_id = (await ada.opened(party_id=party.party_id, **TOGETHER)).match_id
    await running.shake_hands(match_id, [ADA.account_id, BO.account_id, EVE.account_id])
    reply = await running.send(match_id, "leave_seat", b"", BO.account_id, 1)
    assert reply.HasField("accepted"), reply
    assert await members_that(ada, party, lambda names: len(names) < 3) == ["Ada", "Eve"]
    again = await ada.opened(party_id=party.party_id, rows=[MINE, FRIEND, FRIEND])
    assert [seat.name for seat in again.seats] == ["Ada", "Eve", ""]
    # Coming back to the match is no wish to be seated elsewhere; joining the party again is.
    await bo.come_back(match_id)
    assert await members_that(ada, party, bool) == ["Ada", "Eve"]
    await bo.join_party(party.party_id)
    together = await ada.opened(party_id=party.party_id, **TOGETHER)
    assert sorted(seat.name for seat in together.seats) == ["Ada", "Bö Äijö", "Eve"]


async def test_who_never_comes_is_out_of_the_party(running: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grimoire.match.referee.HANDSHAKE_S", 1)
    party, ada, _, _ = await friends(running)
    match_id = (await ada.opened(party_id=party.party_id, **TOGETHER)).match_id
    for seat, who in ((0, ADA), (2, EVE)):
        await seal(running, match_id, seat, who.account_id)
    assert await members_that(ada, party, lambda names: len(names) < 3) == ["Ada", "Eve"]


async def test_who_gets_up_from_an_open_table_is_out_of_the_party_of_its_host_only(running: House) -> None:
    party, ada, bo, eve = await friends(running)
    table = await ada.opened(party_id=party.party_id, rows=[MINE, FRIEND, FRIEND, OPEN])
    await eve.get_up(table.challenge_id)
    assert await members_that(ada, party, bool) == ["Ada", "Bö Äijö"]
    theirs = (await eve.make_party()).party
    await bo.join_party(theirs.party_id)
    await bo.get_up(table.challenge_id)
    assert await members_that(eve, theirs, bool) == ["Eve", "Bö Äijö"]


async def test_the_host_stays_in_its_own_party_whatever_it_does(running: House) -> None:
    party, ada, _, eve = await friends(running)
    match_id = (await ada.opened(party_id=party.party_id, **TOGETHER)).match_id
    await running.shake_hands(match_id, [ADA.account_id, BO.account_id, EVE.account_id])
    await running.send(match_id, "leave_seat", b"", ADA.account_id, 0)
    await eve.table_that(match_id, lambda table: table.seats[0].HasField("vacancy"))

    async def whole() -> bool:
        return await members_that(ada, party, bool) == ["Ada", "Bö Äijö", "Eve"]

    await until(whole)


async def running_match(running: House, party: quickplay_pb2.Party, ada: Client) -> str:
    """A match of the whole party, with seats in its order."""
    match_id = (await ada.opened(party_id=party.party_id, grace_s=600, **TOGETHER)).match_id
    await running.shake_hands(match_id, [ADA.account_id, BO.account_id, EVE.account_id])
    return match_id


async def mark_away(running: House, match_id: str, seat: int) -> None:
    reply = await running.send(match_id, "mark_away", match_pb2.MarkAway(seat=seat).SerializeToString())
    assert reply.HasField("accepted"), reply


async def test_who_is_away_stays_in_the_party_until_the_seat_is_anothers(running: House) -> None:
    party, ada, bo, eve = await friends(running)
    match_id = await running_match(running, party, ada)
    await mark_away(running, match_id, 1)
    await ada.table_that(match_id, lambda table: table.seats[1].HasField("vacancy"))
    assert await members_that(ada, party, bool) == ["Ada", "Bö Äijö", "Eve"]
    reply = await running.send(match_id, "set_stance", b"", BO.account_id, 1)
    assert reply.HasField("accepted"), reply
    await ada.table_that(match_id, lambda table: not table.seats[1].HasField("vacancy"))
    assert await members_that(ada, party, bool) == ["Ada", "Bö Äijö", "Eve"], "back in time"
    await mark_away(running, match_id, 1)
    await ada.table_that(match_id, lambda table: table.seats[1].HasField("vacancy"))
    for client in (ada, eve):
        assert not (await client.vote(match_id, 1, 2)).HasField("rejection")
    await ada.table_that(match_id, lambda table: table.seats[1].now.name == "Eve")
    assert await members_that(ada, party, bool) == ["Ada", "Eve"]
    # Who plays for somebody gets up for it, and has left nothing.
    await bo.come_back(match_id)
    await ada.table_that(match_id, lambda table: table.seats[1].now.name == "Bö Äijö")
    assert await members_that(ada, party, bool) == ["Ada", "Eve"]


async def test_a_match_one_came_to_alone_is_left_without_leaving_a_party_made_since(running: House) -> None:
    ada, bo, eve = (running.client(who) for who in (ADA, BO, EVE))
    table = await ada.opened(rows=[MINE, OPEN, OPEN], options={"mode": "party"}, mode=CASUAL, grace_s=600)
    await bo.join(table.challenge_id)
    match_id = (await eve.join(table.challenge_id)).challenge.match_id
    await running.shake_hands(match_id, [ADA.account_id, BO.account_id, EVE.account_id])
    party, *_ = await friends(running)
    reply = await running.send(match_id, "resign", b"", BO.account_id, 1)
    assert reply.HasField("accepted"), reply
    await ada.table_that(match_id, lambda table: table.seats[1].HasField("vacancy"))
    assert await members_that(ada, party, bool) == ["Ada", "Bö Äijö", "Eve"]


async def test_who_joins_the_party_again_is_not_parted_for_the_seat_it_left_before(running: House) -> None:
    party, ada, bo, eve = await friends(running)
    match_id = await running_match(running, party, ada)
    reply = await running.send(match_id, "leave_seat", b"", BO.account_id, 1)
    assert reply.HasField("accepted"), reply
    assert await members_that(ada, party, lambda names: len(names) < 3) == ["Ada", "Eve"]
    await bo.join_party(party.party_id)
    for client in (ada, eve):
        await client.table_that(match_id, lambda table: table.seats[1].HasField("vacancy"))
        assert not (await client.vote(match_id, 1, 2)).HasField("rejection")
    await ada.table_that(match_id, lambda table: table.seats[1].now.name == "Eve")
    assert await members_that(ada, party, bool) == ["Ada", "Eve", "Bö Äijö"]


class Strangers(random.Random):
    """A lot that seats who comes alone before friends."""

    def shuffle(self, x: Any) -> None:
        x.sort(key=lambda ticket: len(ticket.members))


async def test_who_leaves_a_match_of_quick_play_is_out_of_the_party_whoever_sits_first(
    running: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("matchmaking.assigner._SEATING", Strangers())
    ada, bo, eve = (running.client(who) for who in (ADA, BO, EVE))
    party = (await ada.make_party()).party
    await bo.join_party(party.party_id)
    wish = {"seats": 3, "options": {"mode": "party"}}
    tickets = [await ada.entered(party_id=party.party_id, **wish), await eve.entered(**wish)]
    check = await ada.asked(tickets[0].ticket_id)
    for client in (ada, bo, eve):
        await client.answer(check.check_id)
    match_id = (await ada.ticket_that(tickets[0].ticket_id, lambda ticket: ticket.match_id)).match_id
    await running.shake_hands(match_id, [EVE.account_id, ADA.account_id, BO.account_id])
    reply = await running.send(match_id, "leave_seat", b"", BO.account_id, 2)
    assert reply.HasField("accepted"), reply
    await ada.table_that(match_id, lambda table: table.seats[2].HasField("vacancy"))
    assert await members_that(ada, party, bool) == ["Ada"]


@pytest.mark.parametrize(
    ("seats", "becomes"),
    [
        pytest.param(4, quickplay_pb2.TICKET_STATUS_CANCELLED, id="waiting"),
        pytest.param(3, quickplay_pb2.TICKET_STATUS_NOT_READY, id="being asked"),
    ],
)
async def test_the_search_of_a_party_ends_with_who_leaves_it(
    running: House, seats: int, becomes: quickplay_pb2.TicketStatus.ValueType
) -> None:
    party, ada, _, _ = await friends(running)
    match_id = await running_match(running, party, ada)
    ticket = await ada.entered(party_id=party.party_id, seats=seats, options={"mode": "party"})
    if seats == len(ticket.members):
        await ada.asked(ticket.ticket_id)
    reply = await running.send(match_id, "leave_seat", b"", BO.account_id, 1)
    assert reply.HasField("accepted"), reply
    await ada.table_that(match_id, lambda table: table.seats[1].HasField("vacancy"))
    assert (await ada.ticket(ticket.ticket_id)).ticket.status == becomes
    assert await members_that(ada, party, bool) == ["Ada", "Eve"]


async def test_getting_up_while_the_parties_cannot_be_had_is_done_whole_when_asked_again(running: House) -> None:
    party, ada, _, eve = await friends(running)
    table = await ada.opened(party_id=party.party_id, rows=[MINE, FRIEND, FRIEND, OPEN])
    async with Database(running.config.database_url("matchmaking")) as database:
        for names in (("party_members", "put_away"), ("put_away", "party_members")):
            await database.run(methodcaller("execute", text("ALTER TABLE {} RENAME TO {}".format(*names))))
            answer = await eve.get_up(table.challenge_id)
            assert answer.rejection.code == ("unavailable" if names[1] == "put_away" else "")
    assert [seat.name for seat in answer.challenge.seats] == ["Ada", "Bö Äijö", "", ""]
    assert await members_that(ada, party, bool) == ["Ada", "Bö Äijö"]
