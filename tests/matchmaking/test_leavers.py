"""Who leaves a running match, who plays on, and who comes back: over real services, and as pure rules."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from grimoire.engine import Illegal, MatchId
from grimoire.match.seats import occupants_of
from grimoire.runtime.game_service import GameService
from grimoire.runtime.identity import Identity, occupant_id
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.rpc import open_channel
from grimoire.v1 import frame_pb2, match_pb2, matchmaking_pb2, rules_pb2, rules_pb2_grpc
from matchmaking.again import opened_again
from matchmaking.challenge import Create, Join, Leave, Open, Sitter, decide, fold
from matchmaking.handover import bind_seat
from matchmaking.leavers import bound_to_others
from matchmaking.vacancies import Bound, Keep, Lose, Mend, Return, Settle, Vote, choice_of, voters
from tests.matchmaking.house import ADA, BO, EVE, GAME, Client, House, Running, until

PEOPLE = (ADA, BO, EVE)
RATED = match_pb2.MATCH_MODE_RATED


# ---- the rules -----------------------------------------------------------------------------------------------------

BOT = Sitter("bot-1", bot=True, level="careful")


def playing(*accounts: str, leaving: int = 3):
    sitters = tuple(Sitter(a, bot=a.startswith("bot"), level="x" * a.startswith("bot")) for a in accounts)
    opened = Open("c1", "g", (), len(accounts), tuple(enumerate(sitters)), 10, "m1", "s", leaving=leaving, grace_s=60)
    return run(run(None, opened), Create())


def run(challenge, *commands, now_ms: int = 0):
    for command in commands:
        events = decide(challenge, command, now_ms)
        assert not isinstance(events, Illegal), events
        challenge = fold(challenge, events, now_ms) if events else challenge
    return challenge


def refused(challenge, command) -> str:
    refusal = decide(challenge, command, 0)
    assert isinstance(refusal, Illegal), refusal
    return refusal.code


def lost(challenge, seat: int = 0, version: int = 5):
    return run(challenge, Lose(seat, "left", version, 0))


def given(challenge, seat: int = 0) -> str:
    (gift,) = [gift for gift in challenge.gifts if gift.seat == seat]
    return gift.sitter.account_id


def test_only_people_who_are_there_vote_and_each_once():
    table = lost(lost(playing("ada", "bo", "bo", "eve", "bot"), 0), 3)
    assert voters(table, table.vacancies[0]) == ("bo",)
    assert refused(table, Vote("ada", 0, None)) == "not_a_voter"
    assert refused(table, Vote("eve", 0, None)) == "not_a_voter"
    assert refused(table, Vote("bo", 1, None)) == "no_vacancy"
    assert refused(table, Vote("bo", 0, 3)) == "bad_choice", "she has left herself"
    assert refused(table, Vote("bo", 0, 4)) == "bad_choice", "a bot's seat is no person"
    assert refused(table, Vote("bo", 0, 9)) == "bad_choice"


def test_most_of_them_decide_at_once_and_the_last_word_counts():
    table = lost(playing("ada", "bo", "cleo", "dag"))
    table = run(table, Vote("bo", 0, 1), Vote("cleo", 0, 2), Settle(0, BOT))
    assert not table.gifts
    table = run(table, Vote("cleo", 0, 1), Settle(0, BOT))
    assert given(table) == "bo"
    assert not table.vacancies


@pytest.mark.parametrize(
    ("votes", "chosen"),
    [
        ([], "bot-1"),
        ([("bo", 1)], "bo"),
        ([("bo", 1), ("cleo", 2)], "bot-1"),
        ([("bo", 1), ("cleo", None)], "bot-1"),
        ([("bo", None)], "bot-1"),
    ],
)
def test_when_the_time_is_up_most_who_have_spoken_or_else_a_bot(votes, chosen):
    table = lost(playing("ada", "bo", "cleo", "dag", "eve"))
    table = run(table, *(Vote(who, 0, choice) for who, choice in votes), Settle(0, BOT))
    assert not table.gifts, "it is not time yet"
    assert given(run(table, Settle(0, BOT), now_ms=60_000)) == chosen


def test_in_a_match_against_each_other_nobody_votes_and_a_bot_comes_after_the_grace():
    table = lost(playing("ada", "bo", "cleo", leaving=2))
    assert voters(table, table.vacancies[0]) == ()
    assert refused(table, Vote("bo", 0, None)) == "not_a_voter"
    assert run(table, Settle(0, BOT), now_ms=59_999).vacancies
    assert given(run(table, Settle(0, BOT), now_ms=60_000)) == "bot-1"


def test_a_vote_for_one_who_has_left_since_counts_for_nothing():
    table = run(lost(playing("ada", "bo", "cleo", "dag")), Vote("bo", 0, 2))
    table = lost(table, 2, 6)
    assert choice_of(table, table.vacancies[0], 60_000) == ""


def test_who_left_does_not_vote_while_the_seat_is_handed_over():
    table = lost(lost(playing("ada", "bo", "cleo", "dag"), 0), 1, 6)
    table = run(table, Vote("cleo", 0, None), Vote("dag", 0, None), Settle(0, BOT))
    assert given(table) == "bot-1"
    assert voters(table, table.vacancies[0]) == ("cleo", "dag")
    assert refused(table, Vote("ada", 1, 0)) == "not_a_voter"
    assert refused(table, Vote("cleo", 1, 0)) == "bad_choice"
    back = run(table, Return("ada"))
    assert voters(back, back.vacancies[0]) == ("ada", "cleo", "dag")


def test_news_that_comes_twice_or_too_late_changes_nothing():
    table = lost(playing("ada", "bo"))
    assert decide(table, Lose(0, "left", 5, 0), 0) == ()
    kept = run(table, Keep(0, 6))
    assert not kept.vacancies
    assert decide(kept, Lose(0, "left", 5, 0), 0) == (), "that was before"
    assert decide(kept, Keep(0, 7), 0) == ()
    assert lost(kept, 0, 8).vacancies


@pytest.mark.parametrize(("others", "vacant"), [((), 0), (("bot",), 0), (("ada", "bot"), 0), (("bo",), 1)])
def test_who_keeps_no_other_person_waiting_may_take_a_break(others, vacant):
    table = run(playing("ada", *others), Lose(0, "timed_out", 5, 0))
    assert len(table.vacancies) == vacant
    assert len(run(playing("ada", *others), Lose(0, "left", 5, 0)).vacancies) == 1


def seated_by_a_party():
    """Ada's table, at which her party seated bo and eve; dag came by himself."""
    sitters = tuple(enumerate(map(Sitter, ("ada", "bo", "eve"))))
    parties = (("bo", "p"), ("eve", "p"))
    opened = Open("c1", "g", (), 4, sitters, 10, "m1", "s", leaving=3, grace_s=60, parties=parties)
    return run(None, opened, Join(Sitter("dag"), "m1"))


def test_whom_a_party_seated_is_its_friend_until_it_goes_or_its_seat_is_anothers():
    table = run(seated_by_a_party(), Create())
    assert table.parties == (("bo", "p"), ("eve", "p"))
    away = run(table, Lose(1, "away", 5, 0))
    assert run(away, Keep(1, 6)).parties == table.parties
    given_away = run(away, Vote("eve", 1, 2), Vote("ada", 1, 2), Settle(1, BOT))
    assert given_away.parties == table.parties, "it may be back before the match knows"
    assert run(given_away, Bound(1, "eve", refused=True)).parties == table.parties
    anothers = run(given_away, Bound(1, "eve"))
    assert anothers.parties == (("eve", "p"),)
    assert run(anothers, Return("bo"), Bound(1, "bo")).parties == (("eve", "p"),), "eve got up for bo"
    assert run(table, Mend(2), Bound(2, "eve")).parties == table.parties
    for reason in ("left", "resigned"):
        assert run(table, Lose(1, reason, 5, 0)).parties == (("eve", "p"),)


def test_who_gets_up_and_sits_down_again_has_come_by_itself():
    opened = Open("c1", "g", (), 3, ((0, Sitter("ada")), (1, Sitter("bo"))), 10, "m1", "s", parties=(("bo", "p"),))
    table = run(run(None, opened), Leave("bo"))
    assert table.parties == ()
    assert run(table, Join(Sitter("bo"), "m1")).parties == ()


def test_a_table_that_is_open_again_knows_whom_the_party_seated():
    table = run(seated_by_a_party(), Create())
    again = run(None, opened_again(table, [1], 0, 60))
    assert again.parties == (("eve", "p"),)
    assert [sitter.account_id for _, sitter in again.sitters] == ["ada", "eve", "dag"]


def test_where_seats_are_kept_nothing_of_it_happens():
    assert decide(playing("ada", "bo", leaving=0), Lose(0, "left", 5, 0), 0) == ()


def test_coming_back_at_every_moment():
    vacant = lost(playing("ada", "bo"))
    assert given(run(vacant, Return("ada"))) == "ada"
    promised = run(vacant, Settle(0, BOT), now_ms=60_000)
    assert given(run(promised, Return("ada"))) == "ada"
    replaced = run(promised, Bound(0, "bot-1"))
    assert replaced.seats[0] == BOT
    back = run(replaced, Return("ada"), Bound(0, "ada"))
    assert (back.seats[0], back.first) == (Sitter("ada"), (Sitter("ada"), Sitter("bo")))
    assert decide(back, Return("ada"), 0) == ()
    assert refused(back, Return("eve")) == "nothing_to_return_to"
    assert back.mode == RATED, "people sat down to it"


def test_an_acknowledgement_of_what_was_taken_back_is_ignored():
    promised = run(lost(playing("ada", "bo")), Settle(0, BOT), now_ms=60_000)
    returned = run(promised, Return("ada"))
    assert decide(returned, Bound(0, "bot-1"), 0) == ()
    assert run(returned, Bound(0, "ada", refused=True)).gifts == ()


def test_a_seat_that_the_match_has_given_to_another_is_told_once_more():
    back = run(lost(playing("ada", "bo")), Return("ada"), Bound(0, "ada"))
    mended = run(back, Mend(0), Mend(0))
    assert [(g.sitter.account_id, g.reason, g.number) for g in mended.gifts] == [("ada", "mended", 2)]
    assert run(mended, Bound(0, "ada")).seats == back.seats


def test_a_seat_is_bound_to_others_only_while_it_is_left(tmp_path: Path) -> None:
    keys = KeyRing.load_or_create(tmp_path)
    vacant = lost(playing("ada", "bo"))
    for table, if_left in (
        (run(vacant, Settle(0, BOT), now_ms=60_000), True),
        (run(vacant, Vote("bo", 0, 1), Settle(0, BOT)), True),
        (run(vacant, Return("ada")), False),
        (run(playing("ada", "bo"), Mend(0)), False),
    ):
        command = bind_seat(table, table.gifts[0], keys).command
        assert match_pb2.BindSeat.FromString(command.payload).if_left is if_left


def test_a_command_that_was_refused_and_reached_the_match_again_is_noticed(tmp_path: Path) -> None:
    keys = KeyRing.load_or_create(tmp_path)

    def head(*accounts: str) -> frame_pb2.MatchHead:
        names = [occupant_id(keys, MatchId("m1"), account) for account in accounts]
        return frame_pb2.MatchHead(seats=[match_pb2.SeatOccupant(seat=n, occupant_id=o) for n, o in enumerate(names)])

    promised = run(lost(playing("ada", "bo")), Settle(0, BOT), now_ms=60_000)
    assert bound_to_others(promised, head("bot-1", "bo"), keys) == [], "it is being bound"
    kept = run(promised, Bound(0, "bot-1", refused=True))
    assert bound_to_others(kept, head("ada", "bo"), keys) == []
    assert bound_to_others(kept, head("bot-1", "bo"), keys) == [Mend(0)]
    assert given(run(kept, Mend(0))) == "ada"


# ---- over services -------------------------------------------------------------------------------------------------


async def table_of(
    house: House, mode: str, *, grace_s: int, more: dict[str, str] | None = None, **wish
) -> tuple[str, list[Client]]:
    """Three people at a running match."""
    await house.game.start()
    await house.open_lobby()
    people = [house.client(who) for who in PEOPLE]
    challenge = await people[0].opened(options={"mode": mode, **(more or {})}, seats=3, grace_s=grace_s, **wish)
    for client in people[1:]:
        reply = await client.join(challenge.challenge_id)
    await house.shake_hands(reply.challenge.match_id, [who.account_id for who in PEOPLE])
    return reply.challenge.match_id, people


async def leave(house: House, match_id: str, seat: int, type_: str = "leave_seat") -> None:
    reply = await house.send(match_id, type_, b"", PEOPLE[seat].account_id, seat)
    assert reply.HasField("accepted"), reply


async def holder(house: House, match_id: str, seat: int) -> str:
    """Whose seat it is in the match itself, by account, or its bot's level."""
    head = await head_of(house, match_id)
    sits = occupants_of(head)[seat]
    known = {occupant_id(house.keys, match_id, who.account_id): who.account_id for who in PEOPLE}
    return known.get(sits.occupant_id, sits.level)


async def head_of(house: House, match_id: str) -> frame_pb2.MatchHead:
    async with open_channel(house.game.address, token=house.keys.service_token) as channel:
        stub = rules_pb2_grpc.RulesServiceStub(channel)
        return (await stub.GetHead(rules_pb2.GetHeadRequest(match_id=match_id))).head


async def test_the_others_vote_for_a_fellow_who_plays_both(house: House) -> None:
    match_id, (ada, bo, eve) = await table_of(house, "party", grace_s=600)
    await leave(house, match_id, 0, "resign")
    shown = await bo.table_that(match_id, lambda table: table.seats[0].HasField("vacancy"))
    vacancy = shown.seats[0].vacancy
    assert vacancy.reason == "resigned"
    assert [(v.seat, v.name, v.mine, v.cast) for v in vacancy.votes] == [
        (1, "Bö Äijö", True, False),
        (2, "Eve", False, False),
    ]
    assert (await ada.vote(match_id, 0)).rejection.code == "not_a_voter"
    cast = (await bo.vote(match_id, 0, 2)).table.seats[0].vacancy.votes[0]
    assert (cast.cast, cast.fellow) == (True, 2)
    await eve.vote(match_id, 0, 2)
    after = await eve.table_that(match_id, lambda table: table.seats[0].now.mine)
    assert (after.seats[0].now.name, after.seats[0].first.name) == ("Eve", "Ada")
    assert await holder(house, match_id, 0) == EVE.account_id
    assert match_id in [m.match_id for m in await ada.matches(mine=True)], "she may come back"


async def test_a_bot_plays_on_when_the_time_is_up_and_gets_up_for_who_returns(house: House) -> None:
    match_id, (ada, bo, _) = await table_of(house, "melee", grace_s=1)
    await leave(house, match_id, 0)
    await bo.table_that(match_id, lambda table: table.seats[0].now.bot)
    assert await holder(house, match_id, 0) == "careful"
    service = house.client(None)
    (seat,) = await service.bot_seats()
    assert (seat.match_id, seat.seat, seat.level) == (match_id, 0, "careful")
    held = await service.hold("instance", 5, games=[GAME])
    assert [s.account_id for s in held.seats] == [seat.account_id]
    back = (await ada.come_back(match_id)).table
    assert back.seats[0].now.mine
    assert not back.seats[0].HasField("first")
    assert await holder(house, match_id, 0) == ADA.account_id
    assert await service.bot_seats() == []

    async def nobody_holds() -> bool:
        return not (await service.hold("instance", 5, games=[GAME])).seats

    await until(nobody_holds)
    assert (await ada.come_back(match_id)).table.seats[0].now.mine, "coming back twice"
    assert (await ada.matches(mine=True))[0].match_id == match_id


@pytest.mark.slow
async def test_who_took_a_break_alone_is_missed_when_somebody_returns(house: House) -> None:
    match_id, (ada, bo, _) = await table_of(house, "party", grace_s=1, more={"choose_s": "5", "rounds": "3"})
    for seat in (0, 2):
        await leave(house, match_id, seat)
    await bo.table_that(match_id, lambda table: table.seats[0].now.bot and table.seats[2].now.bot)

    async def gone() -> bool:
        return 1 in (await head_of(house, match_id)).away

    await until(gone)
    assert not (await ada.table(match_id)).seats[1].HasField("vacancy"), "nobody waits"
    await ada.come_back(match_id)
    await ada.table_that(match_id, lambda table: table.seats[1].HasField("vacancy") or table.seats[1].now.bot)


async def test_who_acts_in_time_is_back_without_asking(house: House) -> None:
    match_id, (_, bo, _) = await table_of(house, "melee", grace_s=600)
    await leave(house, match_id, 0)
    await bo.table_that(match_id, lambda table: table.seats[0].HasField("vacancy"))
    reply = await house.send(match_id, "set_stance", b"", ADA.account_id, 0)
    assert reply.HasField("accepted"), reply
    await bo.table_that(match_id, lambda table: not table.seats[0].HasField("vacancy"))
    assert await holder(house, match_id, 0) == ADA.account_id


async def test_leaving_while_nobody_listened_is_found_out(house: House) -> None:
    match_id, _ = await table_of(house, "melee", grace_s=1)
    await house.lobbies.pop().crash()
    await leave(house, match_id, 1)
    await house.open_lobby()
    await house.client(ADA).table_that(match_id, lambda table: table.seats[1].now.bot)
    assert await holder(house, match_id, 1) == "careful"


async def test_a_seat_that_was_given_is_bound_by_whoever_runs(house: House) -> None:
    """The game is away when it is decided, and matchmaking dies before the game is back."""
    match_id, (_, bo, _) = await table_of(house, "melee", grace_s=1)
    await leave(house, match_id, 2)
    await bo.table_that(match_id, lambda table: table.seats[2].HasField("vacancy"))
    await house.game.stop()
    await bo.table_that(match_id, lambda table: not table.seats[2].HasField("vacancy"))
    await house.lobbies.pop().crash()
    house.game = Running(GameService(GAME), house.config)
    await house.game.start()
    await house.open_lobby()
    await house.client(BO).table_that(match_id, lambda table: table.seats[2].now.bot)
    assert await holder(house, match_id, 2) == "careful"


async def test_a_command_that_reached_the_match_too_late_is_undone(house: House) -> None:
    match_id, (ada, bo, _) = await table_of(house, "melee", grace_s=600)
    await leave(house, match_id, 0)
    await bo.table_that(match_id, lambda table: table.seats[0].HasField("vacancy"))
    await ada.come_back(match_id)
    late = match_pb2.BindSeat(seat=0, occupant_id="late", kind=match_pb2.OCCUPANT_KIND_BOT, level="careful")
    reply = await house.send(match_id, "bind_seat", late.SerializeToString())
    assert reply.HasField("accepted"), reply
    assert await holder(house, match_id, 0) == "careful"
    await house.lobbies.pop().crash()
    await house.open_lobby()  # it compares what it knows with every match

    async def undone() -> bool:
        return await holder(house, match_id, 0) == ADA.account_id

    await until(undone)


async def test_the_end_of_the_match_ends_it_all(house: House) -> None:
    match_id, (ada, bo, _) = await table_of(house, "melee", grace_s=600)
    await leave(house, match_id, 0)
    await bo.table_that(match_id, lambda table: table.seats[0].HasField("vacancy"))
    await house.void(match_id)
    over = await bo.table_that(match_id, lambda table: table.over)
    assert not over.seats[0].HasField("vacancy")
    assert (await ada.come_back(match_id)).rejection.code == "match_not_running"
    assert (await bo.vote(match_id, 0)).rejection.code == "match_not_running"


async def test_strangers_look_on_and_unknown_matches_are_unknown(house: House) -> None:
    match_id, _ = await table_of(house, "party", grace_s=600)
    stranger = house.client(Identity("acc-zoe", "Zoe"))
    assert [s.now.name for s in (await stranger.table(match_id)).seats] == ["Ada", "Bö Äijö", "Eve"]
    assert (await stranger.come_back(match_id)).rejection.code == "nothing_to_return_to"
    assert (await stranger.vote("0" * 26, 0)).rejection.code == "unknown_match"


async def test_a_rematch_is_for_those_who_sat_down_first(house: House) -> None:
    match_id, (ada, bo, _) = await table_of(house, "melee", grace_s=1)
    await leave(house, match_id, 0)
    await bo.table_that(match_id, lambda table: table.seats[0].now.bot)
    await house.void(match_id)
    await bo.table_that(match_id, lambda table: table.over)
    offered = (await ada.rematch(match_id)).challenge
    assert [s.name for s in offered.seats] == ["", "Ada", ""]
    assert [s.bot for s in offered.seats] == [False] * 3
    await asyncio.gather(*(house.client(who).rematch(match_id) for who in (BO, EVE)))
    again = await ada.settled(offered.challenge_id)
    assert again.status == matchmaking_pb2.CHALLENGE_STATUS_MATCHED
    assert [s.name for s in again.seats] == ["Eve", "Ada", "Bö Äijö"]
