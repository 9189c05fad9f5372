"""TT-13: the built-in players."""

from __future__ import annotations

import random

import pytest

from grimoire.engine import Actor, Viewer
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from grimoire.v1 import prompt_pb2
from tests.support.strength import certain
from tests.two_towers.table import GAME, Table, random_joint
from two_towers.bot import TwoTowersBot
from two_towers.heuristic import heuristic_for
from two_towers.levels import Level

BOT = TwoTowersBot()


def asked(table: Table) -> prompt_pb2.Prompt:
    """The prompt as the platform hands it over."""
    prompt = table.prompt
    return prompt_pb2.Prompt(
        prompt_id=prompt.key,
        seat=prompt.seat,
        kind=prompt.kind,
        legal=[
            prompt_pb2.LegalEntry(
                type=entry.type, payload=GAME.schema.command(entry.type, entry.fixed).SerializeToString()
            )
            for entry in GAME.legal(table.state, prompt.seat, prompt)
        ],
    )


def suggestion(table: Table, level: str, rng: random.Random, budget_ms: int = 20) -> tuple[str, str]:
    """Command and card."""
    code, command = BOT.suggest(table.view(Viewer.of_seat(table.state.active)), asked(table), level, rng, budget_ms)
    assert isinstance(command, pb.PlayCard | pb.DiscardCard)
    assert GAME.schema.code(command) == code
    assert table.hand(table.state.active)[command.slot] == command.card
    return code, command.card


def play_out(table: Table, levels: tuple[str, str], rng: random.Random, budget_ms: int) -> int | None:
    """The winner."""
    while table.state.result is None:
        seat = table.state.active
        view = table.view(Viewer.of_seat(seat))
        _, command = BOT.suggest(view, asked(table), levels[seat], rng, budget_ms)
        table.accept(Actor.of_seat(seat), command, table.prompt)
    return table.state.result.winner


def wins(least: int, first: str, second: str, matches: int, budget_ms: int = 20, **options: str) -> bool:
    """Whether `first` wins so many of the matches; the players change seats after every match."""
    won, settled = 0, certain(least, matches)
    for n in range(matches):
        if settled([won], n):
            break
        levels = (first, second) if n % 2 == 0 else (second, first)
        winner = play_out(Table.dealt(random_joint(n), **options), levels, random.Random(n), budget_ms)
        won += winner is not None and levels[winner] == first
    return won >= least


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize("deck_type", ["standard", "endless"])
def test_every_suggestion_is_legal(level: Level, deck_type: str) -> None:
    rng = random.Random(1)
    table = Table.dealt(random_joint(3), deck_type=deck_type)
    for _ in range(60):
        if table.state.result is not None:
            break
        prompt = asked(table)
        view = table.view(Viewer.of_seat(table.state.active))
        code, command = BOT.suggest(view, prompt, level.value, rng, 2)
        assert (code, command.SerializeToString()) in {(e.type, e.payload) for e in prompt.legal}
        table.accept(Actor.of_seat(table.state.active), command, table.prompt)


@pytest.mark.parametrize("level", list(Level))
def test_same_chance_same_answer(level: Level) -> None:
    table = Table.dealt(random_joint(5))
    assert suggestion(table, level.value, random.Random(9)) == suggestion(table, level.value, random.Random(9))


@pytest.mark.parametrize("level", ["heuristic", "searching"])
def test_a_winning_card_is_played(level: str) -> None:
    hand = ["orc", "ruby", "gem_spear", "dragons_eye"]
    table = Table.arranged({0: {"mana": 21, "recruits": 3, "hand": hand}, 1: {"tower": 5, "wall": 40}})
    assert suggestion(table, level, random.Random(1)) == ("play_card", "gem_spear")


@pytest.mark.parametrize("level", ["heuristic", "searching"])
def test_no_player_fells_its_own_tower(level: str) -> None:
    table = Table.arranged({0: {"tower": 5, "mana": 3, "hand": ["power_burn"]}})
    assert suggestion(table, level, random.Random(1)) != ("play_card", "power_burn")


@pytest.mark.parametrize("level", ["heuristic", "searching"])
def test_a_forced_discard_is_a_discard(level: str) -> None:
    hand = ["dragons_heart", "orc", "imp", "gnome", "faerie", "quartz"]
    table = Table.arranged({0: {"mana": 9, "recruits": 9, "hand": hand}, "phase": "forced_discard"})
    code, card = suggestion(table, level, random.Random(1))
    assert code == "discard_card"
    assert level != "heuristic" or card == "dragons_heart"  # TT-7.5


def test_the_players_take_arranged_positions() -> None:
    # Empty slots, a tiny pile, numbers beyond every goal and table: nothing raises, the answer is legal.
    odd = {"tower": 500, "wall": 5000, "mines": 900, "ore": 90_000, "hand": ["orc", None, "ruby", None]}
    for position in ({0: odd, "pile": 5}, {0: odd, 1: odd | {"hand": []}, "pile": 4, "goal_tower": 1000}):
        for level in Level:
            table = Table.arranged(position)
            suggestion(table, level.value, random.Random(1))


def test_unknown_level() -> None:
    with pytest.raises(ValueError, match="grandmaster"):
        suggestion(Table.dealt(), "grandmaster", random.Random(1))


def test_the_score_is_that_of_the_rules() -> None:
    # TT-13.1, term by term
    own, enemy = (31, 44, 7, 2, 0, 70, 12, 3), (18, 6, 1, 6, 9, 0, 0, 61)

    def worth(numbers: tuple[int, ...]) -> float:
        tower, wall, *rest = numbers
        producers, stocks = rest[:3], rest[3:]
        value = tower + 0.5 * min(wall, 40)
        value += sum(4 * min(n, 6) + 2 * max(n - 6, 0) for n in producers)
        value += sum(0.12 * min(s, 60) for s in stocks)
        return value + 30 * (tower / 50) ** 2 + 30 * (max(stocks) / 150) ** 2 - 180 / (1 + tower)

    assert heuristic_for(50, 150).score(own, enemy) == pytest.approx(worth(own) - worth(enemy))
    beyond = (500, 5000, 200, 2, 0, 9000, 12, 3)
    assert heuristic_for(50, 150).score(beyond, enemy) == pytest.approx(worth(beyond) - worth(enemy))


def test_the_heuristic_prefers_the_lowest_slot() -> None:
    table = Table.arranged({0: {"hand": ["any", "rainbow", "any", "rainbow"]}}, {"deck_type": "endless"})
    view = table.view(Viewer.of_seat(0))
    _, command = BOT.suggest(view, asked(table), "heuristic", random.Random(1), 1)
    assert (command.slot, command.card) == (1, "rainbow")  # type: ignore[attr-defined]


def test_the_heuristic_discards_rather_than_harm_itself() -> None:
    table = Table.arranged(
        {0: {"ore": 9, "mines": 3, "hand": ["earthquake"] * 2 + ["dragon"] * 2 + ["diamond"] * 2}, 1: {"mines": 0}},
        {"deck_type": "endless"},
    )
    assert suggestion(table, "heuristic", random.Random(1)) == ("discard_card", "dragon")


def test_the_heuristic_beats_random_play() -> None:
    # TT-13.2 says 96 to 100 of 100; a few matches must show it.
    assert wins(18, "heuristic", "random", 20)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("battlefield", ["archmage_fortress", "coastal_fortress", "azure_valley", "free_steppe"])
@pytest.mark.parametrize("deck_type", ["standard", "endless"])
def test_strength_of_the_heuristic(battlefield: str, deck_type: str) -> None:
    # TT-13.2
    assert wins(96, "heuristic", "random", 100, battlefield=battlefield, deck_type=deck_type)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("deck_type", ["standard", "endless"])
def test_strength_of_the_searching_player(deck_type: str) -> None:
    assert wins(60, "searching", "heuristic", 100, 30, deck_type=deck_type)
