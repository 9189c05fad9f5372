"""The searching player: plays its best choices on to the round's end in imagined worlds, and takes the best.

It knows what its seat may see. The others' roles are imagined anew for each world: what each would like, and nothing
that it has played or passed. Every candidate meets the same worlds, so that luck cancels out. How much it looks at
follows from the time it is given, not from a clock: the same chance gives the same answer.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from google.protobuf.message import Message

from broom_service.catalogue import DATA
from broom_service.heuristic import Heuristic, Thoughts
from broom_service.playing_on import Card, Playing
from broom_service.roles import BRAVE, BRAVE_HEART, COWARDLY, EVENTS, MORE_OR_LESS, ROLE_IDS, STANCES, in_order
from broom_service.sight import Hands, Sight, determinise
from broom_service.state import Stage
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["Searching"]

T = TypeVar("T")

_MS_A_SEAT: Final = 0.8
"""Time to play a round on, for each seat."""
_FEWEST_ROUNDS: Final = 8
_MOST_ROUNDS: Final = 240
"""Rounds played on for one decision."""
_CANDIDATES: Final = 6
_TASTES: Final = 12
_TASTE: Final = 2.0
"""VP by which the tastes differ that candidates for a choice come from."""
_SPREAD: Final = 2.0
"""VP by which the others' tastes may differ from what is thought of them."""


class Searching:
    """A player of one decision.

    Args:
        sight: what its seat sees.
        rng: its own randomness.
        budget_ms: how long it may think.
    """

    def __init__(self, sight: Sight, rng: random.Random, budget_ms: int) -> None:
        self._sight = sight
        self._rng = rng
        self._rounds = max(_FEWEST_ROUNDS, min(_MOST_ROUNDS, int(budget_ms / (_MS_A_SEAT * sight.ground.seats))))
        self._heuristic = Heuristic(sight, rng)
        self._thoughts = tuple(
            self._heuristic.thoughts if seat == sight.seat else Thoughts(sight.ground, left)
            for seat, left in enumerate(sight.left)
        )
        self._playing = Playing(sight, self._thoughts)
        self._likings: dict[int, list[tuple[float, str]]] = {}

    def choose(self, prompt_kind: str) -> Message:
        """The command."""
        stage = Stage(prompt_kind)
        if stage is Stage.CHOOSE:
            return pb.ChooseRoles(roles=self._roles())
        spent = stage is Stage.LEAD and not self._fresh()
        if spent or stage not in (Stage.LEAD, Stage.FOLLOW):
            return self._heuristic.choose(prompt_kind)
        card = self._card()
        return self._heuristic.play(card.role, card.stance)

    # ---- candidates --------------------------------------------------------------------------------------------------

    def _fresh(self) -> list[str]:
        """Own roles that can be led; all of them but in arranged positions (BS-5.9)."""
        return [role for role in self._sight.hand if role not in self._sight.led]

    def _card(self) -> Card:
        """A role and its stance."""
        sight = self._sight
        leads = sight.stage is Stage.LEAD
        roles = self._fresh() if leads else [sight.led[-1]]
        stances = (BRAVE,) if leads and sight.ground.event == BRAVE_HEART else STANCES
        cards = [Card(role, stance) for role in roles for stance in stances]
        cards.sort(key=self._promise, reverse=True)
        return self._best(cards[:_CANDIDATES], self._playing.from_card)

    def _promise(self, card: Card) -> float:
        me = self._sight.sketches[self._sight.seat]
        if card.stance == COWARDLY:
            return self._heuristic.thoughts.cowardly(me, card.role)[0]
        return self._heuristic.promise(card.role)

    def _roles(self) -> tuple[str, ...]:
        """The choice of the round."""
        most = DATA.constants.roles_per_round
        rankings = [self._heuristic.ranked(_TASTE if taste else 0.0) for taste in range(_TASTES)]
        more_or_less = self._sight.ground.event == MORE_OR_LESS
        sizes = range(2, 6) if more_or_less else (most,)
        listed = [tuple(role for _, role in ranked[:size]) for ranked in rankings for size in sizes]
        candidates = [*dict.fromkeys(in_order(roles) for roles in listed)][: _CANDIDATES + 2 * more_or_less]
        vp = EVENTS[MORE_OR_LESS].params.vp_by_count

        def played(hands: Hands, roles: tuple[str, ...]) -> float:
            own = self._sight.seat
            gain = self._playing.from_choice((*hands[:own], roles, *hands[own + 1 :]))
            return gain + vp[str(len(roles))] if more_or_less else gain

        return self._best(candidates, played)

    # ---- worlds ------------------------------------------------------------------------------------------------------

    def _best(self, candidates: Sequence[T], played: Callable[[Hands, T], float]) -> T:
        """The candidate that comes out best in the same imagined worlds; the worst drop out on the way."""
        if len(candidates) == 1:
            return candidates[0]
        gained = [0.0] * len(candidates)
        alive = [*range(len(candidates))]
        rounds, worlds = self._rounds, 0
        while rounds >= len(alive) or not worlds:
            hands = self._imagined()
            for number in alive:
                gained[number] += played(hands, candidates[number])
            rounds -= len(alive)
            worlds += 1
            if worlds > 2 and len(alive) > 2:
                alive = sorted(alive, key=gained.__getitem__, reverse=True)[:-1]
        best: int = max(alive, key=gained.__getitem__)
        return candidates[best]

    def _imagined(self) -> Hands:
        sight = self._sight
        cards = sight.cards_left
        if sight.stage is Stage.CHOOSE:
            own = DATA.constants.roles_per_round
            if sight.ground.event == MORE_OR_LESS:
                own = self._rng.randint(2, 4)
            cards = tuple(0 if gone else own for gone in sight.retired)
        return determinise(sight, self._rng, self._liking_of, _SPREAD, cards)

    def _liking_of(self, seat: int) -> list[tuple[float, str]]:
        known = self._likings.get(seat)
        if known is None:
            sketch, thoughts = self._sight.sketches[seat], self._thoughts[seat]
            bewitched = self._sight.bewitched
            known = self._likings[seat] = [
                (thoughts.liking(sketch, role, bewitched=role in bewitched)[0], role) for role in ROLE_IDS
            ]
        return known
