"""Tables of one to five seats: rows of people, bots and friends, several seats for one, getting up, filling."""

from __future__ import annotations

import pytest

from grimoire.v1 import match_pb2, matchmaking_pb2
from tests.matchmaking.house import ADA, BO, EVE, House

Row = matchmaking_pb2.SeatRow
MINE = Row(kind=matchmaking_pb2.SEAT_ROW_KIND_MINE)
OPEN = Row(kind=matchmaking_pb2.SEAT_ROW_KIND_OPEN)
FRIEND = Row(kind=matchmaking_pb2.SEAT_ROW_KIND_FRIEND)
BOT = Row(kind=matchmaking_pb2.SEAT_ROW_KIND_BOT, level="careful")
RATED, CASUAL = match_pb2.MATCH_MODE_RATED, match_pb2.MATCH_MODE_CASUAL
MATCHED = matchmaking_pb2.CHALLENGE_STATUS_MATCHED
STILL_OPEN = matchmaking_pb2.CHALLENGE_STATUS_OPEN


def names(challenge: matchmaking_pb2.Challenge) -> list[str]:
    return [seat.name for seat in challenge.seats]


@pytest.fixture
async def running(house: House) -> House:
    await house.game.start()
    await house.open_lobby()
    return house


async def test_a_table_has_rows_of_every_kind_and_is_full_when_the_last_open_one_is(running: House) -> None:
    ada, bo, eve = (running.client(who) for who in (ADA, BO, EVE))
    table = await ada.opened(options={"mode": "melee"}, rows=[OPEN, MINE, BOT, OPEN, BOT], grace_s=7)
    assert names(table) == ["", "Ada", "careful", "", "careful"]
    assert (table.mode, table.leaving, table.grace_s, table.host) == (CASUAL, match_pb2.LEAVING_REPLACED, 7, True)
    joined = (await bo.join(table.challenge_id, seats=[3])).challenge
    assert (names(joined)[3], joined.status, joined.host) == ("Bö Äijö", STILL_OPEN, False)
    assert (await eve.join(table.challenge_id, seats=[3])).rejection.code == "seat_taken"
    assert (await eve.join(table.challenge_id, seats=[9])).rejection.code == "seat_taken"
    full = (await eve.join(table.challenge_id)).challenge
    assert (names(full)[0], full.status) == ("Eve", MATCHED)
    shown = await eve.table(full.match_id)
    assert [seat.now.name for seat in shown.seats] == names(full)
    assert not any(seat.HasField("first") or seat.HasField("vacancy") for seat in shown.seats)


async def test_one_seat_is_a_match_at_once_and_may_be_rated(running: House) -> None:
    alone = await running.client(ADA).opened(options={"mode": "party"}, rows=[MINE])
    assert (alone.status, alone.mode, alone.leaving) == (MATCHED, RATED, match_pb2.LEAVING_VOTED)
    await running.shake_hands(alone.match_id, [ADA.account_id])


async def test_one_person_plays_several_seats_but_not_for_ratings(running: House) -> None:
    ada, bo = running.client(ADA), running.client(BO)
    assert (await ada.create(rows=[MINE, MINE], mode=RATED)).rejection.code == "one_seat_each"
    mine = await ada.opened(rows=[MINE, MINE])
    assert (mine.status, mine.mode, [s.mine for s in mine.seats]) == (MATCHED, CASUAL, [True, True])
    await running.shake_hands(mine.match_id, [ADA.account_id] * 2)
    rated = await ada.opened(rows=[MINE, OPEN, OPEN])
    assert (await bo.join(rated.challenge_id, seats=[1, 2])).rejection.code == "one_seat_each"
    casual = await ada.opened(rows=[MINE, OPEN, OPEN], mode=CASUAL)
    assert (await bo.join(casual.challenge_id, seats=[1])).challenge.status == STILL_OPEN
    both = (await bo.join(casual.challenge_id, seats=[1, 2])).challenge
    assert (both.status, names(both)) == (MATCHED, ["Ada", "Bö Äijö", "Bö Äijö"])
    assert (await bo.join(casual.challenge_id, seats=[2])).challenge.match_id == both.match_id, "coming twice"


async def test_who_opened_it_may_take_another_seat_too(running: House) -> None:
    ada = running.client(ADA)
    table = await ada.opened(rows=[MINE, OPEN, OPEN], mode=CASUAL)
    assert (await ada.join(table.challenge_id)).rejection.code == "own_challenge"
    assert names((await ada.join(table.challenge_id, seats=[2])).challenge) == ["Ada", "", "Ada"]


async def test_the_host_fills_the_rest_with_bots(running: House) -> None:
    ada, bo = running.client(ADA), running.client(BO)
    table = await ada.opened(rows=[MINE, OPEN, OPEN, OPEN])
    await bo.join(table.challenge_id, seats=[2])
    assert (await bo.fill(table.challenge_id)).rejection.code == "not_host"
    assert (await ada.fill(table.challenge_id, "genius")).rejection.code == "bad_option"
    full = (await ada.fill(table.challenge_id, "careful")).challenge
    assert (full.status, full.mode, names(full)) == (MATCHED, CASUAL, ["Ada", "careful", "Bö Äijö", "careful"])
    assert (await ada.fill(table.challenge_id, "careful")).challenge.match_id == full.match_id
    assert len({seat.account_id for seat in await running.client(None).bot_seats()}) == 2


async def test_who_came_may_get_up_again_and_the_host_withdraws(running: House) -> None:
    ada, bo = running.client(ADA), running.client(BO)
    table = await ada.opened(rows=[MINE, OPEN, OPEN], mode=CASUAL)
    await bo.join(table.challenge_id, seats=[1])
    assert names((await bo.get_up(table.challenge_id)).challenge) == ["Ada", "", ""]
    assert names((await bo.get_up(table.challenge_id)).challenge) == ["Ada", "", ""]
    assert names((await bo.join(table.challenge_id, seats=[2])).challenge) == ["Ada", "", "Bö Äijö"]
    assert (await ada.get_up(table.challenge_id)).rejection.code == "host_stays"
    await running.client(EVE).join(table.challenge_id)
    assert (await bo.get_up(table.challenge_id)).rejection.code == "too_late_to_leave"


async def test_friends_of_a_party_sit_down_together(running: House) -> None:
    ada, bo, eve = (running.client(who) for who in (ADA, BO, EVE))
    party = (await ada.make_party()).party
    await bo.join_party(party.party_id)
    await eve.join_party(party.party_id)
    assert (await bo.create(party_id=party.party_id)).rejection.code == "not_party_owner"
    rows = [MINE, FRIEND, OPEN, FRIEND]
    table = await ada.opened(party_id=party.party_id, rows=rows, by_invitation=True)
    assert names(table) == ["Ada", "Bö Äijö", "", "Eve"]
    assert await running.client(BO).challenges() == [], "by invitation: it stands in no list"
    assert (await ada.create(party_id=party.party_id, rows=[MINE, FRIEND])).rejection.code == "party_too_large"
    together = await ada.opened(party_id=party.party_id, mode=CASUAL)
    assert (together.status, names(together)) == (MATCHED, ["Ada", "Bö Äijö", "Eve"])


@pytest.mark.parametrize(
    ("wish", "code", "field"),
    [
        ({"rows": [OPEN, OPEN]}, "no_own_seat", "rows"),
        ({"rows": [OPEN, BOT]}, "no_own_seat", "rows"),
        ({"rows": [BOT, BOT]}, "no_own_seat", "rows"),
        ({"bots": ["careful"] * 5, "seats": 5}, "bad_option", "bots"),
        ({"rows": [MINE] * 6}, "bad_option", "seats"),
        ({"rows": [MINE] * 17}, "malformed", "rows"),
        ({"rows": [MINE, Row()]}, "malformed", "rows"),
        ({"rows": [MINE, OPEN], "seats": 2}, "malformed", "rows"),
        ({"rows": [MINE, Row(kind=matchmaking_pb2.SEAT_ROW_KIND_BOT, level="genius")]}, "bad_option", "rows"),
        ({"rows": [MINE, BOT], "mode": RATED}, "bad_option", "mode"),
        ({"rows": [MINE, OPEN, OPEN, OPEN, OPEN], "options": {"rounds": "3"}}, "bad_option", "rounds"),
        ({"grace_s": 3601}, "bad_option", "grace_s"),
        ({"party_id": "nope"}, "unknown_party", "party_id"),
    ],
)
async def test_what_is_no_table(running: House, wish: dict[str, object], code: str, field: str) -> None:
    refused = (await running.client(ADA).create(**wish)).rejection
    assert (refused.code, refused.field) == (code, field)


async def test_asking_twice_opens_one_table(running: House) -> None:
    ada = running.client(ADA)
    wish = {"rows": [MINE, OPEN, BOT], "request_id": b"r" * 16}
    first, again = await ada.opened(**wish), await ada.opened(**wish)
    assert first.challenge_id == again.challenge_id
    other = await ada.create(**(wish | {"rows": [MINE, BOT, OPEN]}))
    assert other.rejection.code == "command_id_reused"


async def test_bots_for_as_many_seats_as_one_likes(running: House) -> None:
    reply = await running.client(ADA).play_bot(level="careful", seats=5)
    assert names(reply.challenge) == ["Ada", *["careful"] * 4]
