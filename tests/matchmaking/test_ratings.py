"""Ratings: which matches count, that each counts once, and what a leaderboard shows."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.v1 import match_pb2
from matchmaking.challenge import Challenge, Sitter, Stage
from matchmaking.database import Database
from matchmaking.people import People
from matchmaking.ratings import Ratings
from matchmaking.shown_tickets import show_leaderboard
from matchmaking.skill import NEWCOMER, Skill, counts, rate
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
        (ended("ada", "bo"), match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_COOP_WON, ranks=[1, 1]), False),
        (ended("ada", "bo"), match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_WIN, ranks=[1]), False),
    ],
)
def test_which_matches_count(challenge: Challenge, closed: match_pb2.MatchClosed, expected: bool) -> None:
    assert counts(challenge, closed) is expected


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
