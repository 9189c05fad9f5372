"""What a position is worth to a seat: the weights of WG-20, and those of spells kept in hand.

The hidden is not looked at: of the other seat only the numbers of its cards and spells count.
"""

from __future__ import annotations

from collections import deque
from typing import Final

import msgspec

from wizards_garden.board import ADJACENT, DEPOSITS, FOR_GNOMES, FOR_PESTS, IS_DEPOSIT, SPACES, TERRACE_DEPOSIT
from wizards_garden.catalogue import DATA
from wizards_garden.draft import Draft
from wizards_garden.pieces import CARD_KIND, FIRST_PEST, GNOMES_EACH, KINDS, PEST, SPELLS
from wizards_garden.state import BRIGHT, DIM_ON_BOARD, LIT, NO_ONE, Group

__all__ = ["Appraisal", "Weights", "best_defence", "likelihood", "threat_worth", "threats_worth"]

_TO_WIN: Final = DATA.constants.lanterns_to_win
_MOST: Final = 5
"""Crystals on a board or deposit, cards in a hand (WG-11.2)."""

_STRONGER, _EVEN, _WEAKER = 0.9, 0.3, 0.03
"""How likely an attack wins that is stronger than the best defence, as strong, weaker."""

_TIME_LEFT: Final = (1.0, 1.0, 0.8, 0.6, 0.4, 0.0)
"""By lanterns in the yard: what a spell kept for later is still good for."""


class Weights(msgspec.Struct, frozen=True):
    """Points for what a seat has (WG-20), and what it keeps a spell for.

    Attributes:
        opponent: the other seat's points count so much.
        peace: the turn from which on they do not count any more.
        lantern, bright, lit: in the yard; bright there; lit on the wizard board.
        open, spare: deposits open for a lantern, as many as are still needed, and further ones.
        bare: one that is open while neither water nor fire guards it from an attack that the other seat can make.
        idle: the part of that which deposits are worth while nothing is lit.
        fire, home_water, water: up to 4, 3 and 3 crystals.
        pair, pair_by_swap: spirits that light a lantern, or do so after a swap.
        card: up to 3 spirit cards in hand.
        spirits: what the two-step action of each kind is worth to have, once for each kind.
        in_hand: the part of that which a card in hand is worth.
        near, step: a free gnome on the next deposit, and what each step to it takes off.
        spells: what each is worth that is kept for later, in the order of WG-13.
        spell_of_others: what a hidden one is worth to its owner.
    """

    opponent: float = 0.6
    peace: int = 100
    lantern: float = 100.0
    bright: float = 5.0
    lit: float = 28.0
    open: float = 20.0
    spare: float = 1.5
    bare: float = 12.0
    idle: float = 0.8
    fire: float = 3.0
    home_water: float = 5.0
    water: float = 1.5
    pair: float = 12.0
    pair_by_swap: float = 9.0
    card: float = 3.2
    spirits: tuple[float, ...] = (2.0, 1.5, 1.0, 5.0, 1.5)
    in_hand: float = 0.5
    near: float = 8.0
    step: float = 2.0
    spells: tuple[float, ...] = (7.0, 9.0, 6.0, 9.0, 6.0, 9.0, 7.0, 8.0, 4.0, 16.0, 9.0, 3.0)
    spell_of_others: float = 8.0


def _distances(seat: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """By space: how far each deposit of the open yard is for this seat's gnomes, the nearest first."""
    ground = FOR_GNOMES[seat]
    found = []
    for start in range(len(SPACES)):
        steps = {start: 0}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for beside in ADJACENT[here]:
                if ground[beside] and beside not in steps:
                    steps[beside] = steps[here] + 1
                    queue.append(beside)
        found.append(tuple(sorted((steps[d], d) for d in DEPOSITS if d in steps and d not in TERRACE_DEPOSIT)))
    return tuple(found)


_DISTANCES: Final = (_distances(0), _distances(1))


class Appraisal:
    """What positions are worth by some weights."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._fire = [weights.fire * min(n, 4) for n in range(_MOST + 1)]
        self._home_water = [weights.home_water * min(n, 3) for n in range(_MOST + 1)]
        self._water = [weights.water * min(n, 3) for n in range(_MOST + 1)]
        self._cards = [weights.card * min(n, 3) for n in range(_MOST + 1)]
        self._nearest = [
            [[(w, d) for n, d in row if (w := weights.near - weights.step * n) > 0] for row in distances]
            for distances in _DISTANCES
        ]
        self._spirits = [
            [weights.spirits[one] + (weights.spirits[two] if one != two else 0.0) for two in range(len(KINDS))]
            for one in range(len(KINDS))
        ]
        self._spells = dict(zip(SPELLS, weights.spells, strict=True))
        self._in_hand = [weights.in_hand * worth for worth in weights.spirits]

    def worth(self, draft: Draft, seat: int) -> float:
        """What the position, with the threats it makes, is worth to this seat."""
        own = self._side(draft, seat, knows=True)
        rivalry = self._rivalry(draft.turn_no)
        worth = own - rivalry * self._weights.opponent * self._side(draft, 1 - seat, knows=False)
        return worth + rivalry * threats_worth(draft, seat) if draft.groups else worth

    def _rivalry(self, turn: int) -> float:
        """How much the other seat's points count. Who fights for long would never end; so it wears off."""
        weights = self._weights
        return min(1.0, max(0.0, (weights.peace - turn) / 40))

    def _side(self, draft: Draft, seat: int, *, knows: bool) -> float:
        weights = self._weights
        lanterns = draft.lanterns[seat]
        placed = _TO_WIN - lanterns.count(DIM_ON_BOARD)
        is_lit = LIT in lanterns
        worth = weights.bright * lanterns.count(BRIGHT) + self._fire[draft.fire[seat]]
        if is_lit:
            placed -= 1
            worth += weights.lit
        worth += weights.lantern * placed
        guarded, bare, yard = self._yard(draft, seat)
        needed = _TO_WIN - placed
        places = weights.open * min(guarded, needed)
        if guarded + bare > needed:
            places += weights.spare * (guarded + bare - needed)
            bare = max(needed - guarded, 0)
        places += weights.bare * bare
        worth += yard + (places if is_lit else weights.idle * places)
        home = self._home_water[draft.water[TERRACE_DEPOSIT[seat]]]
        spirits, pair = draft.spirits[seat], 0.0
        hand = draft.hands[seat]
        worth += home + self._cards[len(hand)]
        if spirits:
            one, two = CARD_KIND[spirits[0]], CARD_KIND[spirits[1]]
            worth += self._spirits[one][two]
            if one == two and lanterns[one] == DIM_ON_BOARD:
                pair = weights.pair
            if knows:
                best = 0.0
                for card in hand:
                    kind = CARD_KIND[card]
                    if kind in (one, two):
                        if not pair and lanterns[kind] == DIM_ON_BOARD:
                            pair = weights.pair_by_swap
                    elif self._in_hand[kind] > best:
                        best = self._in_hand[kind]
                worth += best
        worth += pair
        spells = draft.spells[seat]
        if spells:
            kept = sum([self._spells[spell] for spell in spells]) if knows else weights.spell_of_others * len(spells)
            worth += kept * _TIME_LEFT[placed]
        return worth

    def _yard(self, draft: Draft, seat: int) -> tuple[int, int, float]:
        """How many deposits are open for a lantern, guarded and not; the worth of water and of gnomes under way.

        A gnome under way counts by its way to the next deposit without a lantern; one more step where something stands
        on it. A deposit that the seat holds itself counts too: else its other gnomes would lose more than taking it is
        worth.
        """
        standing, bears, water, fish = draft.standing, draft.bears, draft.water, draft.fish
        nearest, home, step = self._nearest[seat], TERRACE_DEPOSIT[seat], self._weights.step
        guarded, bare, worth = 0, 0, 0.0
        fire = draft.fire[seat] > 1
        first = seat * GNOMES_EACH
        gnome = first - 1
        for place in draft.places[first : first + GNOMES_EACH]:
            gnome += 1
            if place < 0 or len(standing[place]) != 1:
                continue
            if IS_DEPOSIT[place]:
                if place != home:
                    worth += self._water[water[place]]
                    if bears[gnome] == NO_ONE:
                        if fire or water[place] or not self._is_exposed(draft, 1 - seat, place):
                            guarded += 1
                        else:
                            bare += 1
                continue
            best = 0.0
            for near, deposit in nearest[place]:
                if near <= best:
                    break
                there = standing[deposit]
                if not there:
                    if not fish[deposit]:
                        best = near
                        break
                elif bears[there[0]] != NO_ONE:
                    continue
                if near - step > best:
                    best = near - step
            worth += best
        return guarded, bare, worth

    def _is_exposed(self, draft: Draft, attacker: int, deposit: int) -> bool:
        """Whether the other seat may be able to attack a gnome there in its next turn, by what all can see of it."""
        standing, fire = draft.standing, draft.fire[attacker]
        for beside in ADJACENT[deposit]:
            there = standing[beside]
            if there:
                first = there[0]
                if first >= FIRST_PEST or (fire and first // GNOMES_EACH == attacker and draft.bears[first] == NO_ONE):
                    return True
        if draft.lanterns[attacker][PEST] == BRIGHT:
            return True
        return any(CARD_KIND[card] == PEST for card in draft.spirits[attacker])


# ---- threats ---------------------------------------------------------------------------------------------------------


def best_defence(draft: Draft, target: int, defender: int) -> int:
    """The most that may be put against an attack on this space."""
    there = draft.standing[target]
    if not there:
        return draft.fish[target]
    if there[-1] < FIRST_PEST and len(there) == 1:
        if there[0] // GNOMES_EACH != defender:
            return 0
        fire = draft.fire[defender]
        return max(fire, draft.water[target]) if IS_DEPOSIT[target] else fire
    return len(there)


def threat_worth(draft: Draft, seat: int, target: int) -> float:
    """What it is worth to this seat to destroy, or dim, what stands there."""
    there = draft.standing[target]
    deposit = IS_DEPOSIT[target]
    if not there:
        return (9.0 if deposit else 1.0) if FOR_PESTS[target] else 0.0
    first = there[0]
    if first >= FIRST_PEST:
        return 12.0 if deposit else 4.0
    kind, owner = draft.bears[first], first // GNOMES_EACH
    if kind == NO_ONE:
        return 13.0 if deposit else 4.0
    if draft.lanterns[owner][kind] != BRIGHT:
        return 0.0
    lanterns = draft.lanterns[seat]
    return 28.0 if lanterns[kind] == DIM_ON_BOARD and LIT not in lanterns else 6.0


def threats_worth(draft: Draft, seat: int) -> float:
    """What the threats of this seat's turn are worth: of each target, by how likely it is won (WG-20)."""
    groups = draft.groups
    if not groups or draft.active != seat:
        return 0.0
    fire = draft.fire[seat]
    total = 0.0
    listed = sorted([(threat_worth(draft, seat, group.target), n) for n, group in enumerate(groups)], reverse=True)
    for worth, number in listed:
        group = groups[number]
        defence = best_defence(draft, group.target, 1 - seat)
        strength = _strength(group, fire)
        if group.pieces[0] < FIRST_PEST:
            fire -= min(fire, defence + 1)
        total += worth * likelihood(strength, defence)
    return total


def _strength(group: Group, fire: int) -> int:
    return len(group.pieces) if group.pieces[0] >= FIRST_PEST else fire


def likelihood(strength: int, defence: int) -> float:
    """How likely an attack succeeds."""
    if strength <= 0:
        return 0.0
    if strength > defence:
        return _STRONGER
    return _EVEN if strength == defence else _WEAKER
