"""Every command that can be written is judged as a second, independent reading of the rules judges it: code and all."""

from __future__ import annotations

import random
from collections import Counter

from grimoire.engine import Decision, Viewer
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from tests.wizards_garden.lively import GAME, asked, decide, legal_of, lively_match
from tests.wizards_garden.oracle import ORDER, verdict
from tests.wizards_garden.test_legal import message, written
from wizards_garden.state import State

_TRIED_OF_EACH = 60
_SELDOM = {"wrong_state": 8, "spell_not_held": 8, "spell_timing": 30}
"""Refusals of which so many of each command are enough."""


def sampled() -> list[State]:
    """For each command, in each action, with threats and without: a state in which it is legal."""
    found: dict[object, list[State]] = {}
    for seed in range(60):
        for played in lively_match(seed, spells_per_player="3", turn_limit="40"):
            state = played.state
            half = state.action is not None and state.action.left < state.action.steps
            for entry in legal_of(state):
                key = (entry.type, state.action and state.action.source, half, bool(state.groups))
                found.setdefault(key, []).append(state)
    chance = random.Random(3)
    return [*{id(state): state for states in found.values() for state in chance.sample(states, 1)}.values()]


def test_commands_are_judged_as_the_second_reading_judges_them() -> None:
    told: Counter[str] = Counter()
    chance = random.Random(4)
    for state in sampled():
        view = GAME.view(state, Viewer.of_seat(asked(state).seat))
        assert isinstance(view, pb.View)
        by_code: dict[str, list[dict[str, object]]] = {}
        for code, fields in written(state):
            by_code.setdefault(code, []).append(fields)
        for code, every in by_code.items():
            here: Counter[str] = Counter()
            for fields in chance.sample(every, min(_TRIED_OF_EACH, len(every))):
                command = message(code, fields)
                second = verdict(view, command)
                if second is None:
                    break
                answer = decide(state, command)
                given = "" if isinstance(answer, Decision) else answer.code
                if given == "no_effect" and code != "cast_eye":
                    given = ""  # whether a spell's action has any step is not read twice
                assert given == second, (command, given, second, state)
                here[given] += 1
                if here[given] >= _SELDOM.get(given, _TRIED_OF_EACH):
                    break
            told += here
    assert {*told} <= {*ORDER, ""}
    assert len(told) > 25, "nearly every rejection occurred"
    assert told[""] > 150
