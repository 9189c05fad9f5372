"""Who did not stay at a friend's table is asked before being seated there again."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import pytest

from grimoire.fairness.commitments import nonce_seal
from grimoire.v1 import match_pb2, matchmaking_pb2, quickplay_pb2
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
