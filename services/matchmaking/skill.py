"""How strong somebody is: a mean and its uncertainty (Weng and Lin 2011, the Plackett-Luce model). Pure.

People read points: 1500 and 40 more for every unit of the mean. The model knows draws, shared ranks and any number of
players. README.md beside this file says which matches count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
from openskill.models import PlackettLuce

from grimoire.v1 import match_pb2, rating_pb2
from matchmaking.challenge import Challenge

__all__ = ["NEWCOMER", "Skill", "counts", "rate", "rate_together", "standing"]

_MODEL: Final = PlackettLuce()
_MIDDLE: Final = 1500
_POINTS: Final = 40
_PROVISIONAL: Final = 5.0
"""Uncertainty, in the model's unit, above which a rating is shown as provisional: some twenty matches."""
_RATED: Final = (match_pb2.OUTCOME_KIND_WIN, match_pb2.OUTCOME_KIND_DRAW, match_pb2.OUTCOME_KIND_SHARED)
TOGETHER: Final = (match_pb2.OUTCOME_KIND_COOP_WON, match_pb2.OUTCOME_KIND_COOP_LOST)
"""Ends of co-operative matches."""


class Skill(msgspec.Struct, frozen=True):
    """What is thought of a player in one game.

    Attributes:
        mu: mean; 25 for newcomers.
        sigma: standard deviation; 25/3 for newcomers.
        matches: how many rated ones it comes from.

    >>> NEWCOMER.points, NEWCOMER.deviation, NEWCOMER.provisional
    (1500, 333, True)
    """

    mu: float = _MODEL.mu
    sigma: float = _MODEL.sigma
    matches: int = 0

    @property
    def points(self) -> int:
        """The mean as people read it."""
        return round(_MIDDLE + _POINTS * (self.mu - _MODEL.mu))

    @property
    def deviation(self) -> int:
        """The standard deviation in points."""
        return round(_POINTS * self.sigma)

    @property
    def provisional(self) -> bool:
        """Too uncertain for a leaderboard."""
        return self.sigma > _PROVISIONAL

    @property
    def message(self) -> rating_pb2.Rating:
        """As it travels."""
        return rating_pb2.Rating(
            points=self.points, deviation=self.deviation, provisional=self.provisional, matches=self.matches
        )


NEWCOMER: Final = Skill()
PROVISIONAL_SIGMA: Final = _PROVISIONAL


def standing(challenge: Challenge, closed: match_pb2.MatchClosed) -> dict[int, int]:
    """Which seats a match rates, for those who sat down on them, and where they stand; 1 is best.

    Who left and did not come back shares what the others lose, but not what they win: of those who compete they stand
    behind all who stayed, whatever their substitutes reached; of those who play together they have lost with the
    others, and a victory is not theirs. So nothing is gained by leaving what goes badly.
    """
    gone = challenge.substituted
    ranks = dict(enumerate(closed.ranks))
    if closed.kind == match_pb2.OUTCOME_KIND_COOP_LOST:
        return ranks
    behind = {} if closed.kind in TOGETHER else dict.fromkeys(gone, len(ranks) + 1)
    return {seat: behind.get(seat, rank) for seat, rank in ranks.items() if seat not in gone or seat in behind}


def counts(challenge: Challenge, closed: match_pb2.MatchClosed) -> bool:
    """Whether a match that is over changes ratings.

    It is rated, came to a result, and people sat down to it, one on every seat, two at least where they compete; and
    one of them at least played it to the end.
    """
    sitters = [sitter for sitter in challenge.started if sitter is not None]
    least = 1 if closed.kind in TOGETHER else 2
    return (
        challenge.mode == match_pb2.MATCH_MODE_RATED
        and closed.kind in (*_RATED, *TOGETHER)
        and len(sitters) == len(challenge.seats) == len(closed.ranks)
        and len(sitters) >= least
        and len(challenge.substituted) < len(sitters)
        and not any(sitter.bot for sitter in sitters)
        and len({sitter.account_id for sitter in sitters}) == len(sitters)
    )


def rate(skills: Sequence[Skill], ranks: Sequence[int]) -> list[Skill]:
    """What is thought of the players after a match.

    Args:
        skills: before it, by seat.
        ranks: by seat; 1 is best, equal ranks are shared.

    >>> winner, loser = rate([NEWCOMER, NEWCOMER], [1, 2])
    >>> winner.points, loser.points, winner.matches
    (1605, 1395, 1)
    """
    before = [[_MODEL.rating(mu=skill.mu, sigma=skill.sigma)] for skill in skills]
    after = _MODEL.rate(before, ranks=[float(rank) for rank in ranks])
    return [Skill(player.mu, player.sigma, skill.matches + 1) for skill, (player,) in zip(skills, after, strict=True)]


def rate_together(skills: Sequence[Skill], difficulty: Skill, *, won: bool) -> tuple[list[Skill], Skill]:
    """What is thought of people who played together, and of what they played against, after a match.

    The difficulty plays as a team of as many equals as there are people, so its points compare with theirs.

    Args:
        skills: of the people.
        difficulty: of the options they chose.
        won: the people did.

    >>> (ada, bo), hard = rate_together([NEWCOMER, NEWCOMER], NEWCOMER, won=False)
    >>> ada == bo, ada.points < 1500 < hard.points, hard.matches
    (True, True, 1)
    """
    people = [_MODEL.rating(mu=skill.mu, sigma=skill.sigma) for skill in skills]
    task = [_MODEL.rating(mu=difficulty.mu, sigma=difficulty.sigma) for _ in skills]
    after, against = _MODEL.rate([people, task], ranks=[1.0, 2.0] if won else [2.0, 1.0])
    rated = [Skill(p.mu, p.sigma, skill.matches + 1) for skill, p in zip(skills, after, strict=True)]
    return rated, Skill(against[0].mu, against[0].sigma, difficulty.matches + 1)
