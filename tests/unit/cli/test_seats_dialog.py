"""Seats that change hands, in the terminal: what is told, what may be chosen, and that it is sent."""

from __future__ import annotations

from textual.widgets import OptionList

from grimoire.cli.screens.app import board_of
from grimoire.cli.screens.chronicle import Chronicle
from grimoire.cli.screens.match_screen import MatchScreen
from grimoire.cli.screens.model import MatchModel
from grimoire.cli.screens.seats_dialog import SeatChoice, seat_choices, seat_lines
from grimoire.cli.screens.sitters import Sitter, Sitters
from grimoire.cli.screens.words import Words
from grimoire.v1 import match_pb2, matchmaking_pb2
from tests.support.feed import StillDesk, TableFeed, table_of
from tests.support.screens import Stage, text, until
from tests.support.toy import PLUGIN

EN = Words("en")
Seat, Vote = matchmaking_pb2.ChallengeSeat, matchmaking_pb2.SeatVote


def table(*, voter: bool = True) -> matchmaking_pb2.Table:
    """Aino has left, Otso and Eve vote, a bot plays for Dag."""
    votes = [Vote(seat=1, name="Otso", mine=voter, cast=True, fellow=2), Vote(seat=2, name="Eve")]
    vacancy = matchmaking_pb2.SeatVacancy(reason="left", votes=votes)
    return matchmaking_pb2.Table(
        seats=[
            matchmaking_pb2.TableSeat(seat=0, now=Seat(seat=0, name="Aino"), vacancy=vacancy),
            matchmaking_pb2.TableSeat(seat=1, now=Seat(seat=1, name="Otso", mine=voter)),
            matchmaking_pb2.TableSeat(seat=2, now=Seat(seat=2, name="Eve")),
            matchmaking_pb2.TableSeat(
                seat=3, now=Seat(seat=3, name="careful", bot=True, level="careful"), first=Seat(seat=3, name="Dag")
            ),
        ]
    )


def test_each_seat_is_told_in_a_line() -> None:
    assert seat_lines(table(), EN) == [
        "Aino has left; who plays on? · Otso: Eve plays on",
        "Otso",
        "Eve",
        "careful (bot), for Dag",
    ]


def test_who_may_vote_chooses_a_bot_or_a_person() -> None:
    assert seat_choices(table(), EN) == [
        SeatChoice("For Aino a bot plays on", 0),
        SeatChoice("For Aino Otso plays on", 0, 1),
        SeatChoice("For Aino Eve plays on", 0, 2),
    ]
    assert seat_choices(table(voter=False), EN) == []


def test_who_has_left_may_come_back_until_the_match_is_over() -> None:
    left = table(voter=False)
    left.seats[3].first.mine = True
    assert seat_choices(left, EN) == [SeatChoice("Come back to my own seat")]
    left.over = True
    assert seat_choices(left, EN) == []


def test_the_log_says_who_left_who_is_back_and_who_plays() -> None:
    chronicle, names = Chronicle(PLUGIN), {0: "Aino"}
    bot, person = match_pb2.OCCUPANT_KIND_BOT, match_pb2.OCCUPANT_KIND_PERSON
    said = [
        chronicle.say_platform(event, EN, names)
        for event in (
            match_pb2.SeatLeft(seat=0, reason="left"),
            match_pb2.SeatLeft(seat=0, reason="timed_out"),
            match_pb2.SeatBack(seat=0),
            match_pb2.SeatBound(seat=0, kind=bot, reason="left"),
            match_pb2.SeatBound(seat=0, kind=person, reason="vote"),
            match_pb2.SeatBound(seat=0, kind=person, reason="returned"),
        )
    ]
    assert said == [
        "Aino has left; somebody else may soon play there.",
        "Aino has not answered twice; somebody else may soon play there.",
        "Aino is back.",
        "A bot plays for Aino now.",
        "Aino is played by somebody else now.",
        "Aino is played by its own player again.",
    ]


async def test_a_vote_is_cast_and_the_way_back_taken_from_the_match() -> None:
    feed = TableFeed(table_of(PLUGIN.game, {"mode": "party"}, seats=3), 0)
    feed.table.now_ms += 20_000
    desk = StillDesk()
    desk.seats = table()
    app = Stage(MatchScreen(MatchModel(feed, PLUGIN, Sitters({0: Sitter("Aino")}), "en"), desk, board_of(PLUGIN)))
    async with app.run_test(size=(110, 30)) as pilot:
        await until(pilot, lambda: "round 1/2" in text(app))
        for expected in ((0, None), "back"):
            await pilot.press("f2")
            await until(pilot, lambda: bool(app.screen.query("#seats")) and bool(app.screen.query(OptionList)))
            await pilot.press("enter")
            await until(pilot, lambda expected=expected: desk.asked[-1:] == [expected])
            desk.seats.seats[0].first.mine = True
