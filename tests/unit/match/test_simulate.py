"""Matches between bots: fair seating, the same for the same seed, honest figures."""

from __future__ import annotations

import msgspec
import pytest
from google.protobuf.message import Message

from grimoire.match.driver import play_match
from grimoire.match.simulate import SimulationError, SimulationReport, simulate
from grimoire.plugins import load_game
from grimoire.v1 import prompt_pb2
from tests.support.strength import certain
from tests.support.toy import PLUGIN as TOY
from tests.support.toy import schema as toy_pb
from tests.support.toy.bot import ToyBot

TIMES = {"engine_s", "frames_s", "thinking_s", "wall_s", "processes", "decisions_per_s", "decisions_per_s_total"}


def facts(report: SimulationReport) -> dict:
    return {name: value for name, value in msgspec.to_builtins(report).items() if name not in TIMES}


def test_the_same_seed_gives_the_same_matches():
    game = load_game("two_towers")
    first = simulate(game, 6, ["random", "heuristic"], {"deck_type": "endless"}, seed="s")
    assert facts(first) == facts(simulate(game, 6, ["random", "heuristic"], {"deck_type": "endless"}, seed="s"))
    assert facts(first) != facts(simulate(game, 6, ["random", "heuristic"], {"deck_type": "endless"}, seed="t"))


def test_several_processes_give_the_same_matches():
    game = load_game("two_towers")
    one = simulate(game, 20, ["random"], seed="p")
    many = simulate(game, 20, ["random"], seed="p", processes=2)
    assert (one.processes, many.processes) == (1, 2)
    assert facts(one) == facts(many)


def test_every_match_is_counted():
    report = simulate(load_game("two_towers"), 10, ["random"], {"timeout_limit": "5"})
    assert sum(report.outcomes.values()) == report.matches == 10
    assert report.options["timeout_limit"] == "5"
    assert report.options["battlefield"] == "archmage_fortress"
    assert sum(bot.won + 0 for bot in report.bots) + report.bots[0].drawn == 10
    assert sum(seat.won for seat in report.seats) + report.bots[0].drawn == 10
    assert sum(report.reasons.values()) >= 10
    assert report.decisions.min <= report.decisions.median <= report.decisions.max
    assert report.turns.min > 1
    assert report.decisions_made >= 10 * report.decisions.min
    assert report.decisions_per_s > 0
    assert report.decisions_per_s_total > 0


def test_seats_are_exchanged_on_the_same_deal():
    """Two equal players win each deal from the same seat, so each bot wins exactly one of the two matches."""
    report = simulate(load_game("two_towers"), 8, ["heuristic", "heuristic"], seed="fair")
    assert [bot.won for bot in report.bots] == [4, 4]
    assert report.decisions_made % 2 == 0


def test_the_stronger_bot_wins_from_either_seat():
    report = simulate(load_game("two_towers"), 20, ["heuristic", "random"])
    assert report.bots[0].won >= 18
    assert min(seat.won for seat in report.seats) >= 8


def test_games_for_more_seats_and_shared_wins():
    report = simulate(TOY, 9, ["careful", "random", "random"], {"mode": "duel", "rounds": "1"})
    assert [bot.level for bot in report.bots] == ["careful", "random", "random"]
    assert sum(report.outcomes.values()) == 9
    assert sum(seat.won for seat in report.seats) >= 9 - report.bots[0].drawn
    together = simulate(TOY, 4, ["careful"], {"mode": "coop", "goal": "1"})
    assert together.outcomes == {"coop_won": 4}
    assert [bot.won for bot in together.bots] == [4, 4]
    assert together.together is not None
    assert (together.together.played, together.together.won, together.together.high) == (4, 4, pytest.approx(1.0))
    assert 0.5 < together.together.low < 0.52
    assert report.together is None
    alone = simulate(TOY, 4, ["careful"], {"mode": "party", "goal": "1"}, seats=1)
    assert [bot.won for bot in alone.bots] == [4]


class Chanter(ToyBot):
    """Wants every offer that its level answers."""

    def volunteers(self, view: Message, prompt: prompt_pb2.Prompt, level: str) -> bool:
        assert (prompt.kind, prompt.required, [entry.type for entry in prompt.legal]) == ("chant", False, ["chant"])
        return level == "careful"


def test_offers_are_answered_by_bots_that_want_to():
    chanting = msgspec.structs.replace(TOY, bot=Chanter())
    options = {"mode": "coop", "goal": "1"}
    silent, heard = (simulate(plugin, 4, ["careful"], options, seed="o", seats=3) for plugin in (TOY, chanting))
    # Once in a match each
    assert heard.decisions_made - silent.decisions_made == 12
    for plugin, times in ((TOY, 0), (chanting, 1)):
        table = play_match(plugin, ["careful", "random"], "offers")
        assert sum(isinstance(event, toy_pb.Chanted) for entry in table.entries for event in entry.events) == times


def test_progress_is_told():
    told: list[int] = []
    simulate(TOY, 5, ["random"], progress=told.append)
    assert told == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("processes", [1, 2])
def test_no_more_is_played_once_it_is_settled(processes):
    game = load_game("two_towers")
    report = simulate(game, 60, ["heuristic", "random"], seed="settled", processes=processes, settled=certain(20, 60))
    assert report.bots[0].won == 20
    assert 20 <= report.matches == sum(report.outcomes.values()) < 60
    report = simulate(game, 60, ["random", "heuristic"], seed="settled", processes=processes, settled=certain(30, 60))
    assert report.bots[0].won < 30
    assert report.bots[0].won + 60 - report.matches == 29


def test_a_verdict_is_certain_when_no_other_match_changes_it():
    settled = certain(60, 100)
    assert [settled([59], 62), settled([60], 63), settled([10], 50), settled([10], 51)] == [False, True, False, True]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bots": ["genius"]}, "there are random, careful"),
        ({"bots": []}, "one bot"),
        ({"matches": 0}, "one match"),
        ({"options": {"colour": "red"}}, "no such option"),
        ({"bots": ["random"] * 9}, "one to five"),
        ({"bots": ["random"] * 3, "seats": 2}, "3 bots are named for 2 seats"),
    ],
)
def test_what_cannot_be_played_is_said(change, said):
    asked = {"matches": 1, "bots": ["random"]} | change
    with pytest.raises(SimulationError, match=said):
        simulate(TOY, **asked)
