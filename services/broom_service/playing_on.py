"""A round played on in pencil to its end, by all seats as the heuristic player would (BS-4.7, BS-5)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from broom_service.appraisal import Appraisal, event_vp
from broom_service.catalogue import DATA
from broom_service.heuristic import Thoughts, prefers
from broom_service.roles import BRAVE
from broom_service.sight import Hands, Sight
from broom_service.sketch import Sketch
from broom_service.state import NO_ONE

__all__ = ["Card", "Playing"]

_PENALTY = DATA.constants.bewitched_penalty


class Card(msgspec.Struct, frozen=True):
    """A role card as it is laid down."""

    role: str
    stance: str


class Playing:
    """Plays rounds on from one moment.

    Args:
        sight: the moment, as one seat sees it.
        thoughts: by seat.
    """

    def __init__(self, sight: Sight, thoughts: tuple[Thoughts, ...]) -> None:
        self._sight = sight
        self._thoughts = thoughts
        ground = sight.ground
        self._seats = ground.seats
        self._end = Appraisal(ground._replace(event=""), DATA.constants.rounds - ground.round)
        self._sketches: list[Sketch] = []
        self._hands: list[list[str]] = []
        self._table = sight.sketches[0]

    def from_choice(self, hands: Hands) -> float:
        """All have these roles: what comes of the round for the own seat, beside the others."""
        self._begin(hands)
        self._tricks(self._sight.leader)
        return self._result()

    def from_card(self, hands: Hands, card: Card) -> float:
        """The own seat leads or follows with this card."""
        sight = self._sight
        self._begin(hands)
        order = [(sight.leader + distance) % self._seats for distance in range(sight.placed, self._seats)]
        leader = self._trick(sight.leader, order, card.role, sight.brave, card)
        self._tricks(leader)
        return self._result()

    # ---- the course of a round ---------------------------------------------------------------------------------------

    def _begin(self, hands: Hands) -> None:
        self._sketches = [*self._sight.sketches]
        self._hands = [[*hand] for hand in hands]
        self._table = self._sketches[0]

    def _tricks(self, leader: int) -> None:
        seats, hands = self._seats, self._hands
        while any(hands):
            while not hands[leader]:
                leader = (leader + 1) % seats
            card = self._lead(leader)
            order = [(leader + distance) % seats for distance in range(seats)]
            leader = self._trick(leader, order, card.role, NO_ONE, card)

    def _trick(self, leader: int, order: Iterable[int], role: str, brave: int, card: Card | None) -> int:
        """The rest of a trick; its first seat lays down the card. Who leads next."""
        order = [*order]
        for place, seat in enumerate(order):
            if role not in self._hands[seat]:
                card = None
                continue
            self._hands[seat].remove(role)
            sketch = self._sketches[seat].beside(self._table)
            if role in self._sight.bewitched:
                sketch = sketch._replace(vp=sketch.vp - _PENALTY)
            stance = card.stance if card else self._stance(seat, sketch, role, order[place + 1 :], leads=False)[0]
            card = None
            if stance == BRAVE:
                brave = seat
                self._sketches[seat] = sketch
            else:
                self._done(seat, self._thoughts[seat].cowardly(sketch, role)[1])
        if brave == NO_ONE:
            return leader
        sketch = self._sketches[brave].beside(self._table)
        self._done(brave, self._thoughts[brave].role(sketch, role, brave=True)[1])
        return brave

    def _done(self, seat: int, sketch: Sketch) -> None:
        self._sketches[seat] = self._table = sketch

    def _lead(self, seat: int) -> Card:
        sketch = self._sketches[seat].beside(self._table)
        later = [(seat + distance) % self._seats for distance in range(1, self._seats)]
        best, card = float("-inf"), Card("", "")
        for role in self._hands[seat]:
            stance, promise = self._stance(seat, sketch, role, later, leads=True)
            if promise > best:
                best, card = promise, Card(role, stance)
        return card

    def _stance(self, seat: int, sketch: Sketch, role: str, later: list[int], *, leads: bool) -> tuple[str, float]:
        cards = [len(self._hands[other]) for other in later]
        bewitched = role in self._sight.bewitched
        return prefers(self._thoughts[seat], sketch, role, cards, bewitched=bewitched, leads=leads)

    # ---- what came of it ---------------------------------------------------------------------------------------------

    def _result(self) -> float:
        """The own seat's position beside the mean of the others'."""
        ground = self._sight.ground
        worths = []
        for sketch in self._sketches:
            now = sketch.beside(self._table)
            worths.append(self._end.worth(now) + event_vp(ground, now))
        own = worths.pop(self._sight.seat)
        return own - sum(worths) / len(worths)
