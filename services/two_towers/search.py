"""The searching player: plays its candidates forward in sampled worlds and takes the one that wins most.

It knows what its seat may see. What it does not know, the enemy's hand and the pile's order, is drawn anew for each
sample from the cards it has not seen; every candidate meets the same worlds, so that luck cancels out. Ahead, both
seats play as the heuristic player would, chains included; after a few turns the position is appraised. How much it
looks at follows from the time it is given, not from a clock: the same chance gives the same answer.
"""

from __future__ import annotations

import random
from typing import Final

import msgspec

from two_towers.appraisal import WORTH, Appraisal, appraisal_for, chance
from two_towers.cards import CARDS, CATALOGUE
from two_towers.effects import Sides
from two_towers.fields import BARRACKS, MANA, MINES, MONASTERIES, ORE, RECRUITS
from two_towers.heuristic import Heuristic, after_play, heuristic_for
from two_towers.judging import judge
from two_towers.state import HAND_SIZE

__all__ = ["Action", "Sight", "search"]

Action = tuple[bool, int]
"""Play (otherwise discard), and the slot."""

Goals = tuple[int, int]
"""Tower goal and resource goal."""

_TURNS: Final = 6
"""Turns looked ahead, the own one included."""

_SAMPLES: Final = 60
_SAMPLES_PER_MS: Final = 2
_FEWEST_SAMPLES: Final = 8
_DISCARDS_TRIED: Final = 3
_LONGEST_CHAIN: Final = 20

_PILE: Final = _TURNS * _LONGEST_CHAIN + HAND_SIZE
"""As many cards as a look-ahead can draw."""


class Sight(msgspec.Struct, frozen=True):
    """What the seat knows.

    Attributes:
        own, enemy: the eight numbers.
        hand: one's own, by slot.
        forced: a forced discard is due.
        unseen: cards that may be anywhere else; None in an endless match, where each draw may be any card.
        discards: the discard pile.
        pile_count: cards in the pile.
    """

    battlefield: str
    goal_tower: int
    goal_resource: int
    own: tuple[int, ...]
    enemy: tuple[int, ...]
    hand: tuple[str, ...]
    forced: bool
    unseen: tuple[str, ...] | None = None
    discards: tuple[str, ...] = ()
    pile_count: int = 0


class _World(msgspec.Struct):
    """One sample of what is hidden."""

    enemy_hand: list[str]
    pile: list[str]
    """Drawn from the end."""


def search(sight: Sight, rng: random.Random, budget_ms: int) -> Action:
    """The best candidate found."""
    look = _LookAhead(sight, rng)
    alive = look.candidates()
    winning = next((action for action in alive if look.wins_at_once(action)), None)
    if winning is not None or len(alive) == 1:
        return winning or alive[0]
    samples = max(_FEWEST_SAMPLES, min(_SAMPLES, budget_ms * _SAMPLES_PER_MS))
    halvings = (samples // 4, samples // 2)
    won = dict.fromkeys(alive, 0.0)
    for sample in range(1, samples + 1):
        world = look.world()
        for action in alive:
            won[action] += look.play_out(action, world)
        if sample in halvings:
            keep = max(2, (len(alive) + 1) // 2)
            alive = sorted(alive, key=won.__getitem__, reverse=True)[:keep]
    return max(alive, key=won.__getitem__)


class _LookAhead:
    """Samples worlds and plays them out for one decision."""

    def __init__(self, sight: Sight, rng: random.Random) -> None:
        self._sight = sight
        self._rng = rng
        self._goals = sight.goal_tower, sight.goal_resource
        self._appraisal: Appraisal = appraisal_for(sight.battlefield, *self._goals)
        self._heuristic: Heuristic = heuristic_for(*self._goals)

    # ---- what may be done ------------------------------------------------------------------------------------------

    def candidates(self) -> list[Action]:
        """Every play that can be paid, and the discards that cost least."""
        sight = self._sight
        held = [(slot, CARDS[card]) for slot, card in enumerate(sight.hand) if card]
        plays = [(True, slot) for slot, card in held if card.cost <= sight.own[card.stock]]
        discards = sorted(((WORTH[card.id], slot) for slot, card in held))[:_DISCARDS_TRIED]
        return [*([] if sight.forced else plays), *((False, slot) for _, slot in discards)]

    def wins_at_once(self, action: Action) -> bool:
        """Whether nothing more need be thought about."""
        play, slot = action
        if not play:
            return False
        result = judge(after_play(self._sight.own, self._sight.enemy, CARDS[self._sight.hand[slot]]), *self._goals)
        return result is not None and result.winner == 0

    # ---- worlds ----------------------------------------------------------------------------------------------------

    def world(self) -> _World:
        """What is hidden, drawn anew."""
        sight, rng = self._sight, self._rng
        if sight.unseen is None:
            return _World(rng.choices(CATALOGUE, k=HAND_SIZE), rng.choices(CATALOGUE, k=_PILE))
        unseen = [*sight.unseen]
        rng.shuffle(unseen)
        hand, pile = unseen[:HAND_SIZE], unseen[HAND_SIZE : HAND_SIZE + sight.pile_count]
        if len(pile) < _PILE:
            # The discards come back when the pile is empty (TT-8.1); with few cards about, any card may.
            again = rng.sample(sight.discards, len(sight.discards))
            pile = [*rng.choices(CATALOGUE, k=_PILE), *again, *pile]
        return _World([*hand, *rng.choices(CATALOGUE, k=HAND_SIZE - len(hand))], pile)

    def play_out(self, action: Action, world: _World) -> float:
        """The chance to win after this action in this world."""
        sight = self._sight
        pile = [*world.pile]
        hand = [card or pile.pop() for card in sight.hand]
        course = _Course(([*sight.own], [*sight.enemy]), (hand, [*world.enemy_hand]), pile, self._goals)
        forced = sight.forced
        first: Action | None = action
        for turn in range(_TURNS):
            seat = turn % 2
            if turn and course.produce(seat):
                return course.won
            if course.turn(seat, first, forced, self._heuristic):
                return course.won
            first, forced = None, False
        return chance(self._logit(course, to_move=_TURNS % 2))

    def _logit(self, course: _Course, to_move: int) -> float:
        own, enemy = course.numbers
        side = self._appraisal.side
        hands = [sum([WORTH[card] for card in hand]) for hand in course.hands]
        tempo = self._appraisal.to_move if to_move == 0 else -self._appraisal.to_move
        return side(own) - side(enemy) + hands[0] - hands[1] + tempo


class _Course:
    """A match running ahead, changed in place. Seat 0 is the thinking one."""

    __slots__ = ("_goals", "_pile", "hands", "numbers", "won")

    def __init__(self, numbers: Sides, hands: tuple[list[str], list[str]], pile: list[str], goals: Goals) -> None:
        self.numbers = numbers
        self.hands = hands
        self.won = 0.5
        """Once it is over: 1 if seat 0 has won, 0 if it has lost."""
        self._pile = pile
        self._goals = goals

    def produce(self, seat: int) -> bool:
        """The start of a turn (TT-4.1); whether the match is over (TT-4.2)."""
        numbers = self.numbers[seat]
        numbers[ORE] += numbers[MINES]
        numbers[MANA] += numbers[MONASTERIES]
        numbers[RECRUITS] += numbers[BARRACKS]
        return self._is_over()

    def turn(self, seat: int, first: Action | None, forced: bool, player: Heuristic) -> bool:
        """One seat's turn to its end, beginning with `first`; whether the match is over."""
        own, enemy, hand = self.numbers[seat], self.numbers[1 - seat], self.hands[seat]
        for _ in range(_LONGEST_CHAIN):
            if first is not None:
                (play, slot), first = first, None
            elif forced:
                play, slot = False, min(range(len(hand)), key=lambda held: WORTH[hand[held]])
            else:
                play, slot = player.choose(hand, own, enemy)
            if not play:
                hand[slot] = self._pile.pop()
                if not forced:
                    return False
                forced = False
                continue
            card = CARDS[hand[slot]]
            own[card.stock] -= card.cost
            card.apply((own, enemy), [])
            if self._is_over():
                return True
            hand[slot] = self._pile.pop()
            forced = card.draws
            if not card.play_again:
                return False
        return False

    def _is_over(self) -> bool:
        result = judge(self.numbers, *self._goals)
        if result is None:
            return False
        if result.winner is not None:
            self.won = 1.0 - result.winner
        return True
