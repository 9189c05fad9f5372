"""A table whose match never began, because somebody did not come, is open again for the others."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from grimoire.fairness.commitments import nonce_seal
from grimoire.v1 import match_pb2, matchmaking_pb2
from matchmaking.again import opened_again
from matchmaking.challenge import Challenge, Stage
from matchmaking.sitting import Sitter
from tests.matchmaking.house import ADA, BO, EVE, GAME, House

Row = matchmaking_pb2.SeatRow
MINE = Row(kind=matchmaking_pb2.SEAT_ROW_KIND_MINE)
OPEN = Row(kind=matchmaking_pb2.SEAT_ROW_KIND_OPEN)
BOT = Row(kind=matchmaking_pb2.SEAT_ROW_KIND_BOT, level="careful")


@pytest.fixture
async def running(house: House, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setattr("grimoire.match.referee.HANDSHAKE_S", 1)
    await house.game.start()
    await house.open_lobby()
    return house


async def seal(house: House, match_id: str, seat: int, account_id: str) -> None:
    sealed = match_pb2.SealNonce(seal=nonce_seal(GAME, match_id, seat, secrets.token_bytes(32)))
    reply = await house.send(match_id, "seal_nonce", sealed.SerializeToString(), account_id, seat)
    assert reply.HasField("accepted"), reply


async def test_the_others_keep_their_seats(running: House) -> None:
    ada, bo, eve = (running.client(who) for who in (ADA, BO, EVE))
    table = await ada.opened(options={"mode": "party"}, rows=[MINE, OPEN, OPEN, MINE], grace_s=7, by_invitation=True)
    await bo.join(table.challenge_id, seats=[2])
    match_id = (await eve.join(table.challenge_id)).challenge.match_id
    await seal(running, match_id, 2, BO.account_id)
    for seat in (0, 3):
        await seal(running, match_id, seat, ADA.account_id)
    async with asyncio.timeout(20):
        while not (found := [c for c in (await ada.challenges()) if c.challenge_id != table.challenge_id]):
            await asyncio.sleep(0.05)
    (again,) = found
    assert [seat.name for seat in again.seats] == ["Ada", "", "Bö Äijö", "Ada"]
    assert (again.host, again.grace_s, again.by_invitation) == (True, 7, True)
    assert again.status == matchmaking_pb2.CHALLENGE_STATUS_OPEN
    # And it is a table like any other.
    full = (await eve.join(again.challenge_id)).challenge
    assert full.match_id not in ("", match_id)


def challenge(*names: str, owner: str = "ada", leaving: int = 3, **more: object) -> Challenge:
    seats = tuple(Sitter(name, name.startswith("bot"), "careful" if name.startswith("bot") else "") for name in names)
    given = {"rematch_of": "", **more}
    return Challenge(
        challenge_id="c",
        game=GAME,
        options=(),
        seats=seats,
        kept_for=(),
        owner=owner,
        mode=match_pb2.MATCH_MODE_CASUAL,
        stage=Stage.MATCHED,
        created_ms=0,
        expires_ms=0,
        series_id="c",
        game_no=0,
        match_id="m",
        leaving=leaving,
        **given,  # type: ignore[arg-type]
    )


def test_who_did_not_come_gives_up_all_its_seats_and_another_may_have_to_lead() -> None:
    opening = opened_again(challenge("ada", "bo", "ada", "bot-x"), [0], 1_000, 60)
    assert opening is not None
    assert (opening.sitters[0][0], opening.sitters[0][1].account_id) == (1, "bo")
    assert {seat for seat, _ in opening.sitters} == {1, 3}
    assert opening.expires_ms == 61_000
    assert opening.challenge_id == opened_again(challenge("ada", "bo", "ada", "bot-x"), [0], 9_000, 60).challenge_id  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("table", "missing"),
    [
        (challenge("ada", "bo", leaving=0), [1]),
        (challenge("ada", "bo", "eve"), []),
        (challenge("ada", "bot-x", "bot-y"), [1]),
        (challenge("ada", "bot-x", "bot-y"), [0]),
        (challenge("ada", "bo", "eve", rematch_of="m0"), [1]),
        (challenge("ada", "bo", "eve", position=b"x"), [1]),
    ],
    ids=["two who compete", "all came", "a bot", "nobody is left", "a rematch", "an analysis"],
)
def test_there_is_nothing_to_open_again(table: Challenge, missing: list[int]) -> None:
    assert opened_again(table, missing, 0, 60) is None
