"""Seats of bots are held by one instance each: on every kind of store, by time, and through two matchmakers at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from sqlalchemy import text

from grimoire.eventstore import Unavailable
from grimoire.v1 import matchmaking_pb2
from matchmaking.bot_seats import BotSeats
from matchmaking.database import Database
from tests.matchmaking.house import ADA, BO, GAME, OTHER_GAME, House, until
from tests.support.postgres import shared_server

HELD_S = 6.0
HELD_MS = 6_000
WHOLE_MS = 8_000


class Clock:
    """The wall clock of one matchmaker."""

    def __init__(self) -> None:
        self.now_ms = 1_000_000

    def __call__(self) -> int:
        return self.now_ms

    def pass_ms(self, ms: int) -> None:
        self.now_ms += ms


def seats_of(*matches: str) -> list[matchmaking_pb2.BotSeat]:
    return [
        matchmaking_pb2.BotSeat(match_id=match, game=GAME, seat=1, account_id=f"acc-{match}", level="random")
        for match in matches
    ]


def names(seats: list[matchmaking_pb2.BotSeat]) -> list[str]:
    return sorted(seat.match_id for seat in seats)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return shared_server().create_database() if request.param == "postgresql" else f"sqlite:///{tmp_path / 'lobby.db'}"


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    async with Database(url) as opened:
        yield opened


async def test_what_is_free_goes_to_who_asks_first_and_to_nobody_else(database: Database) -> None:
    seats, running = BotSeats(database, HELD_S, Clock()), seats_of("m1", "m2", "m3")
    first = await seats.hold("one", 2, [], running)
    assert first == running[:2], "whole seats, as many as it can take"
    assert names(await seats.hold("two", 9, [], running)) == ["m3"]
    assert names(await seats.hold("three", 9, [], running)) == []
    assert names(await seats.hold("one", 2, [], running)) == ["m1", "m2"]
    assert names(await seats.hold("one", 1, [], running)) == ["m1", "m2"], "nothing is taken away"


async def test_an_invitation_comes_before_what_else_is_free(database: Database) -> None:
    seats = BotSeats(database, HELD_S, Clock())
    (invited,) = seats_of("new")
    assert names(await seats.hold("one", 1, [invited], seats_of("m1"))) == ["new"], "also where it is not known yet"
    assert names(await seats.hold("two", 9, [invited], seats_of("m1"))) == ["m1"]
    assert await seats.known("new", 1)
    assert not await seats.known("new", 0)


async def test_what_a_silent_instance_held_is_free_after_its_time_and_not_before(database: Database) -> None:
    clock = Clock()
    seats, running = BotSeats(database, HELD_S, clock), seats_of("m1", "m2")
    assert seats.held_ms == HELD_MS
    await seats.hold("one", 1, [], running)
    await seats.hold("two", 1, [], running)
    for _ in range(3):
        clock.pass_ms(WHOLE_MS - 1)
        assert names(await seats.hold("two", 9, [], running)) == ["m2"]
        assert names(await seats.hold("one", 9, [], running)) == ["m1"]
    clock.pass_ms(WHOLE_MS - 1)
    assert names(await seats.hold("two", 9, [], running)) == ["m2"]
    clock.pass_ms(1)
    assert names(await seats.hold("two", 9, [], running)) == ["m1", "m2"]
    assert names(await seats.hold("one", 9, [], running)) == [], "it learns that its seat is another's"


async def test_who_comes_late_keeps_what_nobody_has_taken(database: Database) -> None:
    clock = Clock()
    seats, running = BotSeats(database, HELD_S, clock), seats_of("m1")
    await seats.hold("one", 9, [], running)
    clock.pass_ms(100 * WHOLE_MS)
    assert names(await seats.hold("one", 9, [], [])) == ["m1"], "even from a matchmaker that does not know the match"
    assert names(await seats.hold("two", 9, [], running)) == []


async def test_a_matchmaker_that_was_away_leaves_time_to_those_who_hold_seats(url: str) -> None:
    clock = Clock()
    running = seats_of("m1", "m2")
    async with Database(url) as database:
        await BotSeats(database, HELD_S, clock).hold("one", 1, [], running)
    clock.pass_ms(100 * WHOLE_MS)
    async with Database(url) as database:
        seats = BotSeats(database, HELD_S, clock)
        assert names(await seats.hold("two", 9, [], running)) == ["m2"], "free, but not what was held"
        clock.pass_ms(WHOLE_MS - 1)
        assert names(await seats.hold("two", 9, [], running)) == ["m2"]
        clock.pass_ms(1)
        assert names(await seats.hold("two", 9, [], running)) == ["m1", "m2"]


async def test_a_database_from_before_gets_the_table_when_matchmaking_starts(url: str) -> None:
    async with Database(url) as database:
        await database.run(lambda connection: connection.execute(text("DROP TABLE bot_seats")))
    async with Database(url) as database:
        assert names(await BotSeats(database, HELD_S, Clock()).hold("one", 1, [], seats_of("m1"))) == ["m1"]


async def test_so_does_one_that_has_lost_its_store_for_a_while(database: Database) -> None:
    clock = Clock()
    seats, running = BotSeats(database, HELD_S, clock), seats_of("m1")
    await seats.hold("one", 1, [], running)
    await database.run(lambda connection: connection.execute(text("ALTER TABLE bot_seats RENAME TO away")))
    clock.pass_ms(100 * WHOLE_MS)
    with pytest.raises(Unavailable):
        await seats.hold("one", 1, [], running)
    await database.run(lambda connection: connection.execute(text("ALTER TABLE away RENAME TO bot_seats")))
    assert names(await seats.hold("two", 9, [], running)) == []
    assert names(await seats.hold("one", 9, [], running)) == ["m1"]


async def test_what_is_given_back_or_over_is_held_by_nobody(database: Database) -> None:
    seats, running = BotSeats(database, HELD_S, Clock()), seats_of("m1", "m2", "m3")
    await seats.hold("one", 2, [], running)
    await seats.hold("two", 1, [], running)
    await seats.release("one")
    assert await seats.matches() == {"m3"}
    assert names(await seats.hold("two", 9, [], running)) == ["m1", "m2", "m3"]
    await seats.forget(["m1", "m3", "unknown"])
    assert names(await seats.hold("two", 9, [], [])) == ["m2"]


async def test_two_matchmakers_never_give_one_seat_to_two(url: str) -> None:
    running = seats_of(*(f"m{n:02}" for n in range(40)))
    clock = Clock()
    async with AsyncExitStack() as stack:
        books = [BotSeats(await stack.enter_async_context(Database(url)), HELD_S, clock) for _ in range(2)]

        async def ask(instance: int) -> list[str]:
            # Each wants other seats first, so that they meet everywhere.
            wanted = running[5 * instance :] + running[: 5 * instance]
            while True:
                try:
                    return names(await books[instance % 2].hold(f"i{instance}", 7, [], wanted))
                except Unavailable:
                    # Each waited for what the other had: the database let one go on.
                    continue

        for _ in range(5):
            answers = await asyncio.gather(*map(ask, range(8)))
            again = await asyncio.gather(*map(ask, range(8)))
            everything = [match for held in again for match in held]
            assert len(everything) == len(set(everything)) == 40
            assert all(set(before) <= set(after) for before, after in zip(answers, again, strict=True))
            # All are silent for too long, and race for everything; who has most asks for no more.
            clock.pass_ms(WHOLE_MS)


async def test_matchmaking_gives_seats_to_instances_and_forgets_them_with_the_match(house: House) -> None:
    await house.game.start()
    # Far longer than this takes on any machine: a seat that is let go in between would be given to the other.
    here, there = [await house.open_lobby(bots_s=600.0) for _ in range(2)]
    ada, bo = house.client(ADA, here), house.client(BO, there)
    first = (await ada.play_bot(level="random")).challenge
    second = (await bo.play_bot(level="random")).challenge
    one, other = house.client(None, here), house.client(None, there)

    async def both_know() -> bool:
        return all([len(await lobby.bot_seats()) == 2 for lobby in (one, other)])

    await until(both_know)
    assert (await one.hold("one", 9, games=[OTHER_GAME])).seats == [], "it could not play them"
    (seat,) = (await one.hold("one", 1, games=[GAME])).seats
    (left,) = (await other.hold("two", 9, games=[GAME])).seats
    assert {seat.match_id, left.match_id} == {first.match_id, second.match_id}
    assert list((await other.hold("one", 1, games=[GAME])).seats) == [seat], "either answers for both"
    assert (await other.hold("one", 1)).held_ms == 600_000
    assert len(await one.bot_seats()) == 2, "who only looks sees all"
    await house.void(seat.match_id)

    async def over() -> bool:
        return not (await other.hold("one", 1, games=[GAME])).seats

    await until(over)
    assert (await one.hold("two", 0)).seats == []
    assert list((await other.hold("one", 9, games=[GAME])).seats) == [left]


async def test_what_was_missed_of_matches_that_are_over_is_forgotten_on_the_next_round(house: House) -> None:
    await house.game.start()
    await house.open_lobby(look_round_s=0.05)
    platform = house.client(None)
    challenge = (await house.client(ADA).play_bot(level="random")).challenge
    (gone,) = seats_of("0" * 26)
    reply = await platform.hold("one", 9, [gone], games=[GAME])
    assert len(reply.seats) == 2

    async def forgotten() -> bool:
        return [seat.match_id for seat in (await platform.hold("one", 9)).seats] == [challenge.match_id]

    await until(forgotten)
