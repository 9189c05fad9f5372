"""Do draws look drawn? Tests over all matches of a game, from the draws that their logs record. Pure; knows no game."""

from grimoire.fairness.statistics.report import REMARKABLE, Row, judge_all
from grimoire.fairness.statistics.tails import chi_squared_tail, normal_tails
from grimoire.fairness.statistics.tally import Result, Tally

__all__ = ["REMARKABLE", "Result", "Row", "Tally", "chi_squared_tail", "judge_all", "normal_tails"]
