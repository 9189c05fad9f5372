"""Searching among turns: many are tried in pencil, at random or as variations of the best one so far."""

from __future__ import annotations

import random
from typing import Final, TypeVar

from spellbound.appraisal import Appraisal
from spellbound.cards import FORTUNA
from spellbound.places import CITIES
from spellbound.sketch import Action, Offer, Sketch
from spellbound.state import Stage

__all__ = ["best_plan", "obvious"]

T = TypeVar("T")

Plan = list[Action]

_AFRESH: Final = 0.15
"""Share of plans that owe nothing to the best one."""
_CUT: Final = 0.35
"""Share of the others that keep a beginning only; the rest put one action in, or leave one out."""
_LEFT_OUT: Final = 0.3
"""Share of those that leave one out."""
_PLANS_A_START: Final = 300
_PATIENCE: Final = 0.5
"""Share of the plans that may bring nothing better before the search ends."""
_FEWEST: Final = 40
"""So many plans may in any case."""
_STOP: Final = 0.12
"""How readily a turn is ended, or a card given up, while something could still be done."""
_LONGEST: Final = 60
"""Actions of a turn."""

_GIVE_UP: Final[Action] = ("end_card",)
_BETWEEN_CARDS: Final = frozenset({"play", "discard", "end"})
_AIMED: Final = frozenset({"move", "watchman", "changeling"})
"""Steps that name a place."""


def best_plan(sketch: Sketch, appraisal: Appraisal, rng: random.Random, plans: int, *, may_skip: bool = False) -> Plan:
    """The best turn found, from this moment to its end.

    Args:
        sketch: the moment; it is left as it is.
        appraisal: what an end of the turn is worth.
        rng: the player's own randomness.
        plans: how many are tried.
        may_skip: the turn may be skipped (SB-4.3).
    """
    best: Plan = []
    most = float("-inf")
    if may_skip:
        skipped = sketch.copied()
        skipped.do(("skip",))
        best, most = [("skip",)], appraisal.worth(skipped)
    # Begun anew now and then, for what is found by varying depends on where one began.
    starts = max(1, plans // _PLANS_A_START)
    for _ in range(starts):
        plan, worth = _varied_plan(sketch, appraisal, rng, plans // starts)
        if worth > most:
            best, most = plan, worth
    return best


def _varied_plan(sketch: Sketch, appraisal: Appraisal, rng: random.Random, plans: int) -> tuple[Plan, float]:
    """The best turn found from one beginning, and its worth."""
    best: Plan = []
    most = float("-inf")
    along = [sketch]
    patience = max(_FEWEST, int(plans * _PATIENCE))
    better_at = 0
    for number in range(plans):
        if number - better_at > patience:
            break
        if len(along) < 2 or rng.random() < _AFRESH:
            tried, plan = sketch.copied(), list[Action]()
        else:
            tried, plan = _varied(best, along, rng)
        _go_on(tried, plan, rng)
        worth = appraisal.worth(tried)
        if worth > most:
            best, most, better_at = plan, worth, number
            along = _stations(sketch, plan)
    return best, most


def obvious(sketch: Sketch) -> Action:
    """The step of a card in progress that needs no thought, since nothing else could be done with it; empty: none."""
    if not sketch.card:
        return ()
    kinds = {kind for listed, times in sketch.left if times for kind in listed}
    useful = [kind for kind in kinds if sketch.does(kind)]
    if len(useful) == 1 and len(kinds) == 1 and useful[0] not in _AIMED:
        return "step", useful[0]
    return () if useful else _GIVE_UP


def _stations(sketch: Sketch, plan: Plan) -> list[Sketch]:
    """How things stand before each action of a plan."""
    found = [sketch]
    for action in plan[:-1]:
        tried = found[-1].copied()
        tried.do(action)
        found.append(tried)
    return found


def _varied(best: Plan, along: list[Sketch], rng: random.Random) -> tuple[Sketch, Plan]:
    """The best plan with a new end, or with one action more or less and what is then still possible of the rest."""
    at = int(rng.random() * len(along))
    tried, plan = along[at].copied(), best[:at]
    kind = rng.random()
    if kind < _CUT:
        return tried, plan
    rest = best[at:]
    if rng.random() < _LEFT_OUT:
        rest = rest[1:]
    else:
        action = _action(tried, plan, rng)
        tried.do(action)
        plan.append(action)
    for action in rest:
        if tried.card and action[0] in _BETWEEN_CARDS:
            tried.do(_GIVE_UP)
            plan.append(_GIVE_UP)
        if tried.can(action):
            tried.do(action)
            plan.append(action)
    return tried, plan


def _go_on(sketch: Sketch, plan: Plan, rng: random.Random) -> None:
    """Plays on at random to the end of the story."""
    while sketch.stage != Stage.OVER:
        action = _action(sketch, plan, rng)
        sketch.do(action)
        plan.append(action)


def _action(sketch: Sketch, plan: Plan, rng: random.Random) -> Action:
    if sketch.stage == Stage.WITCHING:
        return rng.choice(sketch.sends())
    if sketch.card:
        return _in_card(sketch, rng)
    return _in_story(sketch, rng, short=len(plan) > _LONGEST)


def _picked(options: list[tuple[T, float]], rng: random.Random) -> T:
    at = rng.random() * sum([weight for _, weight in options])
    for option, weight in options:
        at -= weight
        if at < 0.0:
            return option
    return options[-1][0]


# ---- one action ------------------------------------------------------------------------------------------------------


def _in_card(sketch: Sketch, rng: random.Random) -> Action:
    kinds = {kind for listed, times in sketch.left if times for kind in listed if sketch.does(kind)}
    options: list[Offer] = []
    for kind in sorted(kinds):
        if kind not in _AIMED:
            options.append((("step", kind), 4.0 if kind.startswith("book") else 2.0))
        else:
            action = _aimed(sketch, kind, rng)
            if action:
                options.append((action, 1.5))
    if not options:
        return ("end_card",)
    options.append((("end_card",), _STOP))
    return _picked(options, rng)


def _aimed(sketch: Sketch, kind: str, rng: random.Random) -> Action:
    if kind == "watchman":
        return "step", kind, str(rng.choice([city for city in range(CITIES) if city != sketch.watchman]))
    if kind == "changeling":
        return "step", kind, str(rng.choice(sketch.exchangeable()))
    to = _destination(sketch, rng)
    if to and sketch.carry and rng.random() < 0.5:
        return _with_rider(sketch, to, rng)
    return ("step", kind, to) if to else ()


def _with_rider(sketch: Sketch, to: str, rng: random.Random) -> Action:
    riders = [
        mage
        for mage, place in enumerate(sketch.places)
        if place == sketch.here
        and mage != sketch.acting
        and sketch.rider in (-1, mage)
        and (mage, int(to)) not in sketch.here_refused
    ]
    return ("step", "move", to, str(rng.choice(riders))) if riders else ("step", "move", to)


def _destination(sketch: Sketch, rng: random.Random) -> str:
    options = sketch.destinations()
    return str(_picked(options, rng)) if options else ""


def _in_story(sketch: Sketch, rng: random.Random, *, short: bool) -> Action:
    options: list[Offer] = []
    if not short:
        options = sketch.plays()
        if sketch.wand:
            options += sketch.wand_uses()
        if sketch.spells:
            options += sketch.casts()
    many = sketch.too_many()
    if not many:
        options.append((("end",), _STOP * (1 + sum([weight for _, weight in options]))))
    elif not options or rng.random() < 0.05:
        return "discard", _to_discard(sketch, rng)
    action = _picked(options, rng)
    if action == ("wand", "1") or action[:2] == ("cast", "teleport"):
        to = _destination(sketch, rng)
        if not to or (action[0] == "cast" and sketch.places[int(action[2])] == int(to)):
            return ("discard", _to_discard(sketch, rng)) if many else ("end",)
        return (*action, to)
    return action


def _to_discard(sketch: Sketch, rng: random.Random) -> str:
    """Any card but Fortuna."""
    return rng.choice([card for card in sketch.lower if card != FORTUNA])
