"""Ratings: which matches count, that each counts once, and what a leaderboard shows."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.v1 import match_pb2
from matchmaking.challenge import Challenge, Sitter, Stage
from matchmaking.database import Database
from matchmaking.people import People
from matchmaking.ratings import Ratings
from matchmaking.shown_tickets import show_leaderboard
from matchmaking.skill import NEWCOMER, Skill, counts, rate, rate_together
from tests.support.postgres import shared_server

RATED, CASUAL, ANALYSIS = match_pb2.MATCH_MODE_RATED, match_pb2.MATCH_MODE_CASUAL, match_pb2.MATCH_MODE_ANALYSIS
WIN = match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_WIN, ranks=[1, 2])
_NUMBERS = itertools.count()


def ended(*accounts: str, mode: int = RATED, bots: tuple[str, ...] = (), game: str = "toy") -> Challenge:
    """A challenge whose match has been played."""
    number = next(_NUMBERS)
    return Challenge(
        challenge_id=f"c{number}",
        game=game,
        options=(),
        seats=tuple(Sitter(account_id, bot=account_id in bots) for account_id in accounts),
        kept_for=(),
        owner=accounts[0],
        mode=mode,
        stage=Stage.MATCHED,
        created_ms=0,
        expires_ms=0,
        rematch_of="",
        series_id="s",
        game_no=0,
        match_id=f"m{number}",
    )


@pytest.fixture(params=["sqlite", "postgresql"])
async def databases(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Database, Database]]:
    """Two instances' connections to one database."""
    shared = request.param == "postgresql"
    url = shared_server().create_database() if shared else f"sqlite:///{tmp_path / 'mm.db'}"
    async with Database(url) as first, Database(url) as second:
        yield first, second


# ---- the model -----------------------------------------------------------------------------------------------------

skills = st.builds(Skill, mu=st.floats(0, 50), sigma=st.floats(0.5, 9), matches=st.integers(0, 100))


@given(st.lists(skills, min_size=2, max_size=5), st.data())
def test_who_wins_gains_and_who_loses_loses(before: list[Skill], data: st.DataObject) -> None:
    ranks = data.draw(st.permutations(range(1, len(before) + 1)))
    after = rate(before, ranks)
    best, last = ranks.index(1), ranks.index(len(before))
    assert after[best].mu >= before[best].mu
    assert after[last].mu <= before[last].mu
    assert [skill.matches for skill in after] == [skill.matches + 1 for skill in before]
    assert rate(before, ranks) == after, "the same match gives the same ratings, whoever counts it"


def test_equals_who_draw_stay_equal_and_become_more_certain() -> None:
    first, second = rate([NEWCOMER, NEWCOMER], [1, 1])
    assert first.points == second.points == 1500
    assert first.deviation < NEWCOMER.deviation


def test_a_rating_stops_being_provisional_after_some_twenty_matches() -> None:
    chance = random.Random(7)
    ada, bo = NEWCOMER, NEWCOMER
    played = 0
    while ada.provisional:
        ada, bo = rate([ada, bo], [1, 2] if chance.random() < 0.5 else [2, 1])
        played += 1
    assert 10 <= played <= 30


@pytest.mark.parametrize(
    ("challenge", "closed", "expected"),
    [
        (ended("ada", "bo"), WIN, True),
        (ended("ada", "bo"), match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_DRAW, ranks=[1, 1]), True),
        (ended("ada", "bo", mode=CASUAL), WIN, False),
        (ended("ada", "bo", mode=ANALYSIS), WIN, False),
        (ended("ada", "ada"), WIN, False),
        (ended("ada", "bot", bots=("bot",)), WIN, False),
        (ended("ada", "bo"), match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_VOID, ranks=[1, 2]), False),
        (ended("ada", "bo"), match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_COOP_WON, ranks=[1, 1]), True),
        (ended("ada"), match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_COOP_LOST, ranks=[1]), True),
        (ended("ada"), match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_WIN, ranks=[1]), False),
        (
            ended("ada", "bot", bots=("bot",)),
            match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_COOP_WON, ranks=[1, 1]),
            False,
        ),
        (ended("ada", "bo"), match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_WIN, ranks=[1]), False),
    ],
)
def test_which_matches_count(challenge: Challenge, closed: match_pb2.MatchClosed, expected: bool) -> None:
    assert counts(challenge, closed) is expected


@given(st.lists(skills, min_size=1, max_size=4), skills, st.booleans())
def test_together_they_gain_what_the_difficulty_loses(before: list[Skill], task: Skill, won: bool) -> None:
    after, against = rate_together(before, task, won=won)
    for was, now in zip(before, after, strict=True):
        assert (now.mu >= was.mu) is won or now.mu == was.mu
    assert (against.mu <= task.mu) is won or against.mu == task.mu
    assert against.matches == task.matches + 1


def test_a_difficulty_that_wins_nine_in_ten_comes_to_stand_above_the_people() -> None:
    chance, people, task = random.Random(5), [NEWCOMER] * 3, NEWCOMER
    for _ in range(40):
        people, task = rate_together(people, task, won=chance.random() < 0.1)
    assert task.points > people[0].points + 150
    assert task.deviation < NEWCOMER.deviation


# ---- the tables ----------------------------------------------------------------------------------------------------


async def test_a_match_counts_once_whoever_asks_and_however_often(databases: tuple[Database, Database]) -> None:
    first, second = (Ratings(database) for database in databases)
    matches = [ended("ada", "bo"), ended("bo", "eve"), ended("eve", "ada"), ended("ada", "bo")]
    asked = [ratings.apply(match, WIN, 1_000) for match in matches for ratings in (first, second, first)]
    assert sum(await asyncio.gather(*asked)) == len(matches)
    for account_id, number in (("ada", 3), ("bo", 3), ("eve", 2)):
        history = await second.history(account_id, "toy", 10)
        assert [change.after.matches for change in history] == list(range(number, 0, -1))
        for later, earlier in itertools.pairwise(history):
            assert later.before == earlier.after, "no change is lost between two hands"
        assert history[-1].before == NEWCOMER
        assert (await first.of("toy", [account_id]))[account_id] == history[0].after


async def test_what_does_not_count_leaves_no_trace(databases: tuple[Database, Database]) -> None:
    ratings = Ratings(databases[0])
    assert not await ratings.apply(ended("ada", "bo", mode=ANALYSIS), WIN, 1)
    assert await ratings.of_account("ada") == []
    assert await ratings.of("toy", ["ada"]) == {"ada": NEWCOMER}


async def test_games_are_apart(databases: tuple[Database, Database]) -> None:
    ratings = Ratings(databases[0])
    await ratings.apply(ended("ada", "bo"), WIN, 1)
    await ratings.apply(ended("bo", "ada", game="other"), WIN, 2)
    assert [(game, skill.points > 1500) for game, skill in await ratings.of_account("ada")] == [
        ("other", False),
        ("toy", True),
    ]


async def test_the_leaderboard_lists_who_is_known_well_enough(databases: tuple[Database, Database]) -> None:
    ratings, chance = Ratings(databases[0]), random.Random(3)
    for _ in range(30):
        winner, loser = ("ada", "bo") if chance.random() < 0.7 else ("bo", "ada")
        await ratings.apply(ended(winner, loser), WIN, 1)
    await ratings.apply(ended("eve", "dag"), WIN, 1)
    best = await ratings.best("toy", 10)
    assert [account_id for account_id, _ in best] == ["ada", "bo"], "eve has won all and played once"
    assert await ratings.best("toy", 1) == best[:1]
    await ratings.forget("ada")
    assert [account_id for account_id, _ in await ratings.best("toy", 10)] == ["bo"]
    assert await ratings.history("ada", "toy", 10) == []
    assert len(await ratings.history("bo", "toy", 50)) == 30, "nobody else's history changes"


def test_equal_points_share_a_place() -> None:
    rows = [("ada", Skill(30)), ("bo", Skill(30)), ("eve", Skill(20))]
    shown = list(show_leaderboard(rows, People("bo", {"ada": "Ada", "bo": "Bo"}, {}, "en")))
    assert [(row.place, row.name, row.mine) for row in shown] == [
        (1, "Ada", False),
        (1, "Bo", True),
        (3, "Former player", False),
    ]


# ---- seats that changed hands, and matches played together ---------------------------------------------------------


def exchanged(challenge: Challenge, seat: int, sitter: Sitter) -> Challenge:
    """The same with somebody else on a seat at the end."""
    seats = tuple(sitter if n == seat else s for n, s in enumerate(challenge.seats))
    return msgspec.structs.replace(challenge, seats=seats, first=challenge.seats)


BOT = Sitter("bot-1", bot=True, level="careful")
THREE = match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_WIN, ranks=[1, 2, 3])
WON = match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_COOP_WON, ranks=[1, 1, 1])
LOST = match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_COOP_LOST, ranks=[1, 1, 1])


async def test_who_left_stands_behind_all_who_stayed_and_the_substitute_is_not_rated(
    databases: tuple[Database, Database],
) -> None:
    ratings = Ratings(databases[0])
    # Whatever the bot reached on that seat: the first place here.
    match = exchanged(ended("ada", "bo", "eve"), 0, BOT)
    assert await ratings.apply(match, THREE, 1)
    (changes,) = (await ratings.changes_of([match.match_id])).values()
    assert [(c.account_id, c.seat, c.rank) for c in changes] == [("ada", 0, 4), ("bo", 1, 2), ("eve", 2, 3)]
    assert changes[1].after.points > changes[2].after.points > changes[0].after.points
    assert changes[0].after.points < 1500 < changes[1].after.points
    assert await ratings.of_account("bot-1") == []


async def test_one_who_stays_gains_and_who_left_share_the_last_place(
    databases: tuple[Database, Database],
) -> None:
    ratings = Ratings(databases[0])
    match = exchanged(exchanged(ended("ada", "bo", "eve"), 0, BOT), 1, BOT)
    match = msgspec.structs.replace(match, first=(Sitter("ada"), Sitter("bo"), Sitter("eve")))
    assert await ratings.apply(match, THREE, 1)
    changes = (await ratings.changes_of([match.match_id]))[match.match_id]
    assert [(c.account_id, c.rank) for c in changes] == [("ada", 4), ("bo", 4), ("eve", 3)]
    assert changes[0].after.points == changes[1].after.points < 1500 < changes[2].after.points


async def test_where_all_have_left_there_is_nobody_to_compare(databases: tuple[Database, Database]) -> None:
    ratings = Ratings(databases[0])
    match = exchanged(exchanged(ended("ada", "bo"), 0, BOT), 1, BOT)
    match = msgspec.structs.replace(match, first=(Sitter("ada"), Sitter("bo")))
    assert not await ratings.apply(match, WIN, 1)


@pytest.mark.parametrize(("closed", "expected"), [(LOST, ["ada", "bo", "eve"]), (WON, ["ada", "eve"])])
async def test_who_leaves_those_who_play_together_loses_with_them_and_does_not_win(
    databases: tuple[Database, Database], closed: match_pb2.MatchClosed, expected: list[str]
) -> None:
    ratings = Ratings(databases[0])
    match = exchanged(together("ada", "bo", "eve"), 1, BOT)
    assert await ratings.apply(match, closed, 1)
    changes = (await ratings.changes_of([match.match_id]))[match.match_id]
    assert [c.account_id for c in changes] == expected
    assert all((c.after.points > 1500) is (closed is WON) for c in changes)
    # It was another's match for a while: of the difficulty it tells nothing.
    assert all(c.difficulty_after is None for c in changes)


async def test_who_left_and_came_back_is_rated_as_anybody(databases: tuple[Database, Database]) -> None:
    ratings = Ratings(databases[0])
    match = ended("ada", "bo", "eve")
    match = msgspec.structs.replace(match, first=match.seats)
    assert await ratings.apply(match, THREE, 1)
    assert [c.account_id for c in (await ratings.changes_of([match.match_id]))[match.match_id]] == ["ada", "bo", "eve"]


def together(*accounts: str, goal: str = "12", rounds: str = "2") -> Challenge:
    match = ended(*accounts)
    options = (("mode", "party"), ("goal", goal), ("rounds", rounds), ("choose_s", "30"))
    return msgspec.structs.replace(match, options=options, difficulty=("goal", "rounds"), leaving=3)


async def test_each_combination_of_options_and_seats_has_a_rating_of_its_own(
    databases: tuple[Database, Database],
) -> None:
    ratings = Ratings(databases[0])
    hard = [together("ada", "bo", "eve", goal="90") for _ in range(5)]
    for match in hard:
        assert await ratings.apply(match, LOST, 1)
    assert await ratings.apply(together("ada", "bo", "eve"), WON, 2)
    alone = match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_COOP_WON, ranks=[1])
    assert await ratings.apply(together("ada", goal="90"), alone, 3)
    listed = await ratings.difficulties("toy", 10)
    found = {(d.options, d.seats): (d.skill.matches, d.won) for d in listed}
    assert found == {
        ((("goal", "90"), ("rounds", "2")), 3): (5, 0),
        ((("goal", "12"), ("rounds", "2")), 3): (1, 1),
        ((("goal", "90"), ("rounds", "2")), 1): (1, 1),
    }
    points = [d.skill.points for d in listed]
    assert points == sorted(points, reverse=True)
    assert listed[0].seats == 3
    assert points[0] > 1500 > points[-1]
    history = await ratings.history("ada", "toy", 10)
    assert len(history) == 7
    assert all(c.difficulty_before is not None and c.difficulty_after is not None for c in history)
    assert history[-1].difficulty_before == NEWCOMER
    assert history[-2].difficulty_before == history[-1].difficulty_after


async def test_a_difficulty_moves_only_if_all_played_the_match_to_its_end(
    databases: tuple[Database, Database],
) -> None:
    ratings = Ratings(databases[0])
    match = exchanged(together("ada", "bo", "eve"), 1, Sitter("ada"))
    assert await ratings.apply(match, WON, 1)
    changes = (await ratings.changes_of([match.match_id]))[match.match_id]
    assert [(c.account_id, c.after.points > 1500) for c in changes] == [("ada", True), ("eve", True)]
    assert [(c.difficulty_before, c.difficulty_after) for c in changes] == [(NEWCOMER, None)] * 2
    (task,) = await ratings.difficulties("toy", 10)
    assert (task.skill, task.won) == (NEWCOMER, 0)
