"""Searching among turns: many are tried in pencil, at random or as variations of the best one so far."""

from __future__ import annotations

import random
from typing import Final

from spellbound.appraisal import Appraisal
from spellbound.cards import ALLIES, FORTUNA, INFLUENCE
from spellbound.places import CITIES
from spellbound.sketch import Action, Sketch
from spellbound.state import Stage

__all__ = ["best_plan"]

Plan = list[Action]

_AFRESH: Final = 0.4
"""Share of plans that owe nothing to the best one."""
_STOP: Final = 0.12
"""How readily a turn is ended, or a card given up, while something could still be done."""
_LONGEST: Final = 60
"""Actions of a turn."""


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
        best, most = [("skip",)], appraisal.worth(_after(sketch, [("skip",)]))
    for _ in range(plans):
        kept = 0
        if best and best[0][0] != "skip" and rng.random() > _AFRESH:
            kept = int(rng.random() * len(best))
        plan = best[:kept]
        tried = _after(sketch, plan)
        _go_on(tried, plan, rng)
        worth = appraisal.worth(tried)
        if worth > most:
            best, most = plan, worth
    return best


def _after(sketch: Sketch, plan: Plan) -> Sketch:
    tried = sketch.copied()
    for action in plan:
        tried.do(action)
    return tried


def _go_on(sketch: Sketch, plan: Plan, rng: random.Random) -> None:
    """Plays on at random to the end of the story."""
    while sketch.stage != Stage.OVER:
        if sketch.stage == Stage.WITCHING:
            action = rng.choice(sketch.sends())
        elif sketch.card:
            action = _in_card(sketch, rng)
        else:
            action = _in_story(sketch, rng, short=len(plan) > _LONGEST)
        sketch.do(action)
        plan.append(action)


def _picked(options: list[tuple[Action, float]], rng: random.Random) -> Action:
    at = rng.random() * sum([weight for _, weight in options])
    for action, weight in options:
        at -= weight
        if at < 0.0:
            return action
    return options[-1][0]


# ---- one action ------------------------------------------------------------------------------------------------------


def _in_card(sketch: Sketch, rng: random.Random) -> Action:
    kinds = {kind for listed, times in sketch.left if times for kind in listed if sketch.does(kind)}
    options: list[tuple[Action, float]] = []
    for kind in sorted(kinds):
        if kind not in ("move", "watchman", "changeling"):
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
        allies = [(INFLUENCE[card], 5 + n) for n, card in enumerate(sketch.villages) if card in ALLIES]
        least = min(allies)[0]
        return "step", kind, str(rng.choice([place for need, place in allies if need == least]))
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
    options = [(str(place), weight) for place, weight in sketch.destinations() if weight]
    return _picked([((to,), weight) for to, weight in options], rng)[0] if options else ""


def _in_story(sketch: Sketch, rng: random.Random, *, short: bool) -> Action:
    options = [] if short else [*sketch.plays(), *sketch.wand_uses(), *sketch.casts()]
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
