"""Every step that can be written is judged as a second, independent reading of the rules judges it: code and all."""

from __future__ import annotations

import random
from collections import Counter

from grimoire.engine import Decision, Viewer
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from tests.wizards_garden.lively import GAME, decide, lively_match
from tests.wizards_garden.oracle import ORDER, verdict
from tests.wizards_garden.test_legal import message, written
from wizards_garden.draft import Draft
from wizards_garden.judge import _STEPS, _takes_step
from wizards_garden.state import Stage, State

_TRIED_OF_EACH = 300


def in_actions() -> list[State]:
    """States inside actions, a few of each sort."""
    found: dict[object, list[State]] = {}
    for seed in range(40):
        for played in lively_match(seed, spells_per_player="3", turn_limit="40"):
            state = played.state
            if state.stage in (Stage.ACTION, Stage.BUTTERFLY):
                assert state.action is not None
                half = state.action.left < state.action.steps
                found.setdefault((state.action.kind, state.action.source, half, bool(state.groups)), []).append(state)
    chance = random.Random(3)
    return [state for states in found.values() for state in chance.sample(states, min(2, len(states)))]


def test_steps_are_judged_as_the_second_reading_judges_them() -> None:
    told: Counter[str] = Counter()
    chance = random.Random(4)
    for state in in_actions():
        view = GAME.view(state, Viewer.of_seat(state.active))
        assert isinstance(view, pb.View)
        by_code: dict[str, list[dict[str, object]]] = {}
        for code, fields in written(state):
            kind = GAME.schema.commands[code]
            if kind in _STEPS and _takes_step(Draft(state), kind, _STEPS[kind][0]):
                by_code.setdefault(code, []).append(fields)
        for code, every in by_code.items():
            for fields in chance.sample(every, min(_TRIED_OF_EACH, len(every))):
                command = message(code, fields)
                answer = decide(state, command)
                given = "" if isinstance(answer, Decision) else answer.code
                assert given == verdict(view, command), (command, given, state)
                told[given] += 1
    assert told.keys() >= {*ORDER} - {"fire_full", "no_supply", "discard_not_allowed"}
    assert told[""] > 100
