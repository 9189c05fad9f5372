"""The heuristic player (BS-17.1): what each role would bring, and what the others may spoil."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Final

from google.protobuf.message import Message

from broom_service.appraisal import Appraisal, tile_worth
from broom_service.catalogue import DATA
from broom_service.resources import INDEX, RESOURCE_IDS, Holding
from broom_service.roles import (
    BLACK_DISTILLERY,
    BLACK_MARKET,
    BRAVE,
    BRAVE_HEART,
    COWARDLY,
    EVENT,
    EVENTS,
    MORE_OR_LESS,
    ROLE_IDS,
    THE_WORKS,
    in_order,
)
from broom_service.sight import Sight
from broom_service.sketch import Choice, Ground, Sketch, Steps, choices, opening
from broom_service.state import NO_ONE, Stage, StepKind
from broom_service.tiles import EXTRA_ROLE_TILES, TILES
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["Heuristic", "Thoughts", "command_of", "prefers", "unspoiled"]

_AS_BRAVE: Final = 0.62
"""How much a role counts as a brave one when roles are chosen; the rest as a cowardly one."""
_NOISE: Final = 0.8
"""VP by which a taste may differ: who always chose alike would be foreseen."""
_A_CARD: Final = 0.29
"""Chance for each card that a later seat is brave with the led role."""
_AT_MOST: Final = 0.97
_BEWITCHED_SHARE: Final = 0.7
_LEAD_WORTH: Final = 0.3
"""What it is worth to lead next."""
_MANY: Final = 8
"""So many ways are followed further within an action."""
_DEEP: Final = 7
"""Steps within an action."""
_EXTRA_LEAST: Final = 2.0

_PENALTY: Final = DATA.constants.bewitched_penalty


class Thoughts:
    """What actions would bring one seat, each thought once.

    Args:
        ground: what does not change in the round.
        left: rounds that are left.
    """

    def __init__(self, ground: Ground, left: float) -> None:
        self.ground = ground
        self.left = left
        self._appraisal = Appraisal(ground, left)
        self.worth = self._appraisal.worth
        self._roles: dict[tuple[Sketch, str, bool], tuple[float, Sketch]] = {}

    def role(self, sketch: Sketch, role: str, *, brave: bool) -> tuple[float, Sketch]:
        """What a role's action brings at best, in VP, and how things stand after it."""
        key = (sketch, role, brave)
        known = self._roles.get(key)
        if known is None:
            worth, after, _ = self.carry_out(sketch, opening(role, brave=brave))
            known = self._roles[key] = (worth - self.worth(sketch), after)
        return known

    def carry_out(self, sketch: Sketch, steps: Steps, depth: int = 0) -> tuple[float, Sketch, Choice | None]:
        """The best way through the open steps: what it is worth, where it ends, how it begins."""
        if not steps or depth > _DEEP:
            return self.worth(sketch), sketch, None
        options = choices(self.ground, sketch, steps)
        if not options:
            group = steps[-1].group
            return self.carry_out(sketch, tuple(step for step in steps if step.group != group), depth)
        if depth and len(options) > _MANY:
            options.sort(key=lambda option: self.worth(option.sketch), reverse=True)
            del options[_MANY:]
        best, end, first = float("-inf"), sketch, options[0]
        for option in options:
            worth, after, _ = self.carry_out(option.sketch, option.steps, depth + 1)
            if worth > best:
                best, end, first = worth, after, option
        return best, end, first

    def cowardly(self, sketch: Sketch, role: str) -> tuple[float, Sketch, str, str]:
        """The best that a cowardly card brings: with what instead of its action, and with which resource."""
        gain, after = self.role(sketch, role, brave=False)
        best = (gain, after, "", "")
        for option in self._instead(sketch, role):
            if option[0] > best[0]:
                best = option
        return best

    def liking(self, sketch: Sketch, role: str, *, bewitched: bool) -> tuple[float, Sketch]:
        """What a role is worth to choose, and how things would stand after it (BS-17.1, step 3)."""
        brave, after = self.role(sketch, role, brave=True)
        worth = _AS_BRAVE * brave + (1.0 - _AS_BRAVE) * self.cowardly(sketch, role)[0]
        return worth - _PENALTY * bewitched, after

    def _instead(self, sketch: Sketch, role: str) -> Iterable[tuple[float, Sketch, str, str]]:
        """BS-8.7, BS-9.2."""
        event = self.ground.event
        now = self.worth(sketch)
        if event == BLACK_MARKET:
            after = sketch._replace(vp=sketch.vp + EVENTS[event].params.instead_of_cowardly.vp)
            yield self.worth(after) - now, after, EVENT, ""
        elif event == BLACK_DISTILLERY:
            for resource in RESOURCE_IDS:
                held = [*sketch.held]
                held[INDEX[resource]] += EVENTS[event].params.instead_of_cowardly.any_resource
                after = sketch._replace(held=(held[0], held[1], held[2], held[3]))
                yield self.worth(after) - now, after, EVENT, resource
        for tile in sketch.forest:
            effect = TILES[tile].effect
            if effect == "extra_role":
                continue
            without = sketch._replace(forest=tuple(each for each in sketch.forest if each != tile))
            if effect == "brave_action":
                gain, after = self.role(without, role, brave=True)
                yield gain - tile_worth(tile, self.left), after, tile, ""
            else:
                after = without._replace(vp=sketch.vp + TILES[tile].params.vp)
                yield self.worth(after) - now, after, tile, ""


def unspoiled(cards: Iterable[int], *, bewitched: bool) -> float:
    """The chance that none of the later seats, with so many cards each, is brave (BS-17.1, step 4).

    >>> unspoiled([], bewitched=False), unspoiled([4, 4], bewitched=False) < unspoiled([4, 4], bewitched=True)
    (1.0, True)
    """
    chance = 1.0
    share = _BEWITCHED_SHARE if bewitched else 1.0
    for number in cards:
        chance *= 1.0 - share * min(_AT_MOST, _A_CARD * number)
    return chance


def prefers(
    thoughts: Thoughts, sketch: Sketch, role: str, cards: Sequence[int], *, bewitched: bool, leads: bool
) -> tuple[str, float]:
    """Brave or cowardly, and what it promises.

    Args:
        cards: of the later seats that may hold the role.
        leads: the seat leads with it.
    """
    brave = thoughts.role(sketch, role, brave=True)[0] + _LEAD_WORTH
    promise = unspoiled(cards, bewitched=bewitched) * brave
    cowardly = thoughts.cowardly(sketch, role)[0]
    if promise >= cowardly or (leads and thoughts.ground.event == BRAVE_HEART):
        return BRAVE, promise
    return COWARDLY, cowardly


class Heuristic:
    """A player of one decision.

    Args:
        sight: what its seat sees.
        rng: its own randomness.
    """

    def __init__(self, sight: Sight, rng: random.Random) -> None:
        self._sight = sight
        self._rng = rng
        self._me = sight.sketches[sight.seat]
        self.thoughts = Thoughts(sight.ground, sight.left[sight.seat])

    def choose(self, prompt_kind: str) -> Message:
        """The command."""
        stage = Stage(prompt_kind)
        if stage is Stage.CHOOSE:
            return pb.ChooseRoles(roles=self.roles())
        if stage is Stage.EXTRA:
            return self._extra()
        if stage is Stage.LEAD:
            return self._lead()
        if stage is Stage.FOLLOW:
            return self.play(self._sight.led[-1], *self.stance(self._sight.led[-1]))
        if stage is Stage.STEPS:
            return self.step()
        return self._offer() if stage is Stage.OFFER else self._hand_in()

    # ---- roles (BS-4) ------------------------------------------------------------------------------------------------

    def liking(self, sketch: Sketch, role: str) -> tuple[float, Sketch]:
        """What a role is worth to choose, and how things would stand after it."""
        return self.thoughts.liking(sketch, role, bewitched=role in self._sight.bewitched)

    def ranked(self, noise: float = _NOISE, most: int = 0) -> list[tuple[float, str]]:
        """Roles one after the other, each on the imagined result of the former."""
        most = most or (5 if self._sight.ground.event == MORE_OR_LESS else DATA.constants.roles_per_round)
        taste = {role: self._rng.gauss(0.0, noise) for role in ROLE_IDS}
        chosen: list[tuple[float, str]] = []
        sketch = self._me
        left = [*ROLE_IDS]
        for _ in range(most):
            options = [(*self.liking(sketch, role), role) for role in left]
            worth, sketch, role = max(options, key=lambda option: option[0] + taste[option[2]])
            left.remove(role)
            chosen.append((worth, role))
        return chosen

    def roles(self) -> tuple[str, ...]:
        """The choice of the round (BS-4.3)."""
        ranked = self.ranked()
        if self._sight.ground.event == MORE_OR_LESS:
            ranked = ranked[: _number(ranked)]
        return in_order(role for _, role in ranked)

    def _extra(self) -> Message:
        """BS-4.5."""
        tile = next(tile for tile in self._me.forest if tile in EXTRA_ROLE_TILES)
        sketch = self._me
        for role in self._sight.hand:
            sketch = self.thoughts.role(sketch, role, brave=True)[1]
        options = [(self.liking(sketch, role)[0], role) for role in ROLE_IDS if role not in self._sight.hand]
        worth, role = max(options)
        if worth > min(_EXTRA_LEAST, tile_worth(tile, self._sight.left[self._sight.seat] - 1.0)):
            return pb.AddRole(tile=tile, role=role)
        return pb.DeclineExtra()

    # ---- tricks (BS-5) -----------------------------------------------------------------------------------------------

    def stance(self, role: str) -> tuple[str, float]:
        """Brave or cowardly, and what it promises."""
        sight = self._sight
        leads = sight.stage is Stage.LEAD
        bewitched = role in sight.bewitched
        return prefers(self.thoughts, self._me, role, self._cards(role), bewitched=bewitched, leads=leads)

    def promise(self, role: str) -> float:
        """What it promises to be brave."""
        brave = self.thoughts.role(self._me, role, brave=True)[0] + _LEAD_WORTH
        return unspoiled(self._cards(role), bewitched=role in self._sight.bewitched) * brave

    def _cards(self, role: str) -> list[int]:
        """How many cards the later seats hold that may hold this one."""
        sight = self._sight
        return [sight.cards_left[seat] for seat in sight.later if role not in sight.gone[seat]]

    def play(self, role: str, stance: str, _promise: float = 0.0) -> pb.PlayRole:
        """The card in this stance, with the best in place of a cowardly action."""
        if stance == BRAVE:
            return pb.PlayRole(role=role, stance=stance)
        _, _, instead, resource = self.thoughts.cowardly(self._me, role)
        return pb.PlayRole(role=role, stance=stance, instead=instead, resource=resource)

    def _lead(self) -> Message:
        sight = self._sight
        spent = [role for role in sight.hand if role in sight.led]
        if len(spent) == len(sight.hand):  # BS-5.9: only in an arranged position
            return pb.PlayRole(role=spent[0])
        options = [(*self.stance(role), role) for role in sight.hand if role not in spent]
        stance, _, role = max(options, key=lambda option: option[1])
        return self.play(role, stance)

    # ---- steps (BS-6) ------------------------------------------------------------------------------------------------

    def step(self) -> Message:
        """The next command of the best way through the open steps."""
        _, _, first = self.thoughts.carry_out(self._me, self._sight.steps)
        if first is None:
            raise AssertionError("an open decision has a legal command")
        return command_of(first, self._sight.steps)

    # ---- the end of a round (BS-9) -----------------------------------------------------------------------------------

    def _offer(self) -> Message:
        """Up to four of what there is most of, at random (BS-17.1, step 9)."""
        number = self._rng.randrange(5)
        held = [*self._me.held]
        offered = [0] * len(held)
        for _ in range(min(number, sum(held))):
            most = max(range(len(held)), key=held.__getitem__)
            held[most] -= 1
            offered[most] += 1
        return pb.Offer(resources=_amounts(offered))

    def _hand_in(self) -> Message:
        """BS-9.8."""
        calm = Thoughts(self._sight.ground._replace(event=""), self._sight.left[self._sight.seat])
        best, command = calm.worth(self._me), None
        held = self._me.held
        for size, vp in EVENTS[THE_WORKS].params.set_vp.items():
            for left_out in range(len(held)) if int(size) < len(held) else (NO_ONE,):
                given = [index for index in range(len(held)) if index != left_out]
                if not all(held[index] for index in given):
                    continue
                after = tuple(amount - (index in given) for index, amount in enumerate(held))
                worth = calm.worth(self._me._replace(held=(after[0], after[1], after[2], after[3]))) + vp
                if worth > best:
                    best = worth
                    command = pb.HandIn(size=int(size), resources=[RESOURCE_IDS[index] for index in given])
        return command or pb.DeclineSet()


def _number(ranked: Sequence[tuple[float, str]]) -> int:
    """How many roles are best under More or Less? (BS-9.1): not every card comes to what it promises."""
    vp = EVENTS[MORE_OR_LESS].params.vp_by_count
    sums = [sum(0.7 * worth for worth, _ in ranked[:number]) + vp[str(number)] for number in range(1, len(ranked) + 1)]
    return 1 + max(range(len(sums)), key=sums.__getitem__)


def _amounts(counts: Sequence[int]) -> list[pb.Amount]:
    return [pb.Amount(resource=RESOURCE_IDS[i], amount=count) for i, count in enumerate(counts) if count]


def command_of(choice: Choice, steps: Steps) -> Message:
    """The command that this choice among open steps is."""
    step = next(step for step in steps if step.number == choice.step)
    if choice.kind == "skip_step":
        return pb.SkipStep(step=step.number)
    if step.kind is StepKind.GATHER:
        taken: Holding | list[int] = step.take
        if choice.what:
            taken = [int(resource == choice.what) for resource in RESOURCE_IDS]
        return pb.Gather(step=step.number, resources=_amounts(taken))
    if step.kind is StepKind.MOVE:
        return pb.MovePawn(step=step.number, pawn=choice.pawn, to=choice.what)
    if step.kind is StepKind.TURBO:
        return pb.Ride(step=step.number, circle=choice.what)
    if step.kind is StepKind.DELIVER:
        return pb.Deliver(step=step.number, pawn=choice.pawn, tower=choice.what)
    return pb.Dispel(step=step.number, space=choice.what)
