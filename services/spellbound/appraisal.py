"""What the end of a turn is worth to the mages (SB-24.1): books, gaps, hats near the end, the tower, cards in hand."""

from __future__ import annotations

import functools
import math
from typing import Final

import msgspec

from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import COLOUR, FORTUNA, INFLUENCE, MODES, MOON, SET_CARDS, TROLLS, WITCHES
from spellbound.catalogue import DATA
from spellbound.places import CITIES, GAINED, LOST, NOWHERE, STRENGTH, TRACK_END, TROLL, WILDERNESS
from spellbound.sketch import HIDDEN, Sketch

__all__ = ["Appraisal", "Outlook", "Weights", "battle_chance"]

_LIMITS: Final = DATA.constants
_A_TURN: Final = 3.2
"""Mage cards drawn in a usual turn."""
_SAFE: Final = 4.0
"""A book that is so far ahead of its piece is in no danger."""
MOVERS: Final = frozenset(
    card for card, modes in MODES.items() if any("move" in part.any for mode in modes.values() for part in mode.parts)
)
"""Cards that move a mage."""
_SENT: Final = 1.3
"""Sun force sent to the tower in a usual turn."""


class Weights(msgspec.Struct, frozen=True):
    """Points. The tables are read between their entries too.

    Attributes:
        steps: of a book, by its space from 4 to 9.
        gaps: of a book on track, by the space between it and its piece, from 0 (it is lost) to 4.
        second: by the space of the piece that is second nearest the end.
        first: by the space of the piece that is nearest.
        spare: share of what a book is worth that is not among the best four.
        wand: by level.
        wicked: by the number of wicked cards that are going to lie in the display after the refill.
        kept: a card left in the display.
        ally: for each influence that a recruited ally asks for.
        tower: of winning the next encounter, times its chance.
        worse: of the witch going up two steps.
        climb: by the witch's step: of her going up one.
        battle: of winning the battle, times its chance.
        fifth: share of a danger that counts for a book that is not needed any more.
        last: how much more a danger counts once a book is lost.
        gathered: a mage at the tower once four books are gained.
        later: share of the battle's worth that is left for each turn that it must wait.
        survival: by the space of the piece that is second nearest the end: the chance to outlive another turn.
        early: by books gained: share of the battle's worth that counts before there are four.
        way: a card that moves the next mage, when it must still go to the tower.
        sought: of knowing where the tower is, when four books are gained.
        covered: a place that somebody guards when the deck ends.
    """

    steps: tuple[float, ...] = (0.0, 11.0, 23.0, 37.0, 52.0, 82.0)
    gaps: tuple[float, ...] = (-156.0, -34.0, -15.0, -6.0, 0.0)
    second: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -6.0, -20.0, -55.0, -500.0)
    first: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -2.0, -6.0, -14.0, -30.0)
    spare: float = 0.5
    step_back: float = 2.5
    wand: tuple[float, ...] = (0.0, 4.5, 10.0, 13.0)
    spell: float = 8.0
    wicked: tuple[float, ...] = (0.0, -8.0, -20.0, -40.0, -52.0, -62.0)
    kept: float = 6.5
    ally: float = 11.0
    ally_set: float = 10.0
    lying: float = 4.0
    reveal: float = 2.6
    restocked: float = 6.0
    fortuna: float = 6.0
    guard: float = 9.0
    tower: float = 60.0
    worse: float = 30.0
    climb: tuple[float, ...] = (0.0, 20.0, 30.0, 80.0, 300.0)
    annihilated: float = 400.0
    battle: float = 260.0
    fifth: float = 0.1
    last: float = 4.0
    gathered: float = 25.0
    later: float = 0.97
    survival: tuple[float, ...] = (1.0, 1.0, 0.97, 0.96, 0.94, 0.92, 0.88, 0.75, 0.5, 0.0)
    early: tuple[float, ...] = (0.0, 0.0, 0.1, 0.5, 1.0, 1.0)
    way: float = 12.0
    sought: float = 120.0
    covered: float = 32.0
    end_of_deck: float = 12.0


class Outlook:
    """What stays the same while a turn is planned.

    Args:
        view: the seat's own.
    """

    def __init__(self, view: pb.View) -> None:
        listed = [*view.deck_cards] or [*view.discards, *(card.card for card in view.lower_row)]
        share = view.deck_count / max(1, len(listed))
        self.witches = [0.0] * CITIES
        for card in listed:
            if card in WITCHES:
                self.witches[COLOUR[card]] += share
        self.trolls = share * sum(card in TROLLS for card in listed)
        self.wicked_a_draw = (sum(self.witches) + self.trolls) / max(1, view.deck_count)
        self.mage_cards = view.deck_count - sum(self.witches) - self.trolls
        self.bag = view.bag.sun, view.bag.moon
        self.drawn = view.drawn.sun, view.drawn.moon
        self.strength = STRENGTH[min(view.tower.witch, len(STRENGTH) - 1)]
        self.witch = view.tower.witch
        self.minions = [MOON[card] for card in view.tower.minions]
        self.wicked_deck = view.wicked_deck_count
        stones = [self.bag[i] + self.drawn[i] for i in range(2)]
        self.sun_share = stones[0] / max(1, sum(stones))


@functools.lru_cache(maxsize=4096)
def _suns(bag: tuple[int, int], drawn: tuple[int, int], stones: int) -> tuple[float, ...]:
    """Chances of 0, 1, .. sunstones (SB-7.8)."""
    if not stones:
        return (1.0,)
    if bag == (0, 0):
        bag, drawn = drawn, (0, 0)
    sun, moon = bag
    chances = [0.0] * (stones + 1)
    total = sun + moon
    if sun:
        for suns, chance in enumerate(_suns((sun - 1, moon), (drawn[0] + 1, drawn[1]), stones - 1)):
            chances[suns + 1] += chance * sun / total
    if moon:
        for suns, chance in enumerate(_suns((sun, moon - 1), (drawn[0], drawn[1] + 1), stones - 1)):
            chances[suns] += chance * moon / total
    return tuple(chances)


def battle_chance(sketch: Sketch, outlook: Outlook, books: int) -> float:
    """Of winning the battle if it is declared now, the strongest cards destroyed (SB-15.4)."""
    forces = sorted([*(MOON[card] for card in sketch.moon_pile), *outlook.minions], reverse=True)
    margin = sketch.sun - sketch.moon
    for number in range(books):
        margin += max(1, forces[number]) if number < len(forces) else 1
    return _chance(outlook, margin)


def _chance(outlook: Outlook, margin: float) -> float:
    stones = outlook.strength
    chances = _suns(outlook.bag, outlook.drawn, stones)
    return sum(chance for suns, chance in enumerate(chances) if margin + 2 * suns - stones > 0)


def _between(table: tuple[float, ...], at: float) -> float:
    if at <= 0.0:
        return table[0]
    low = int(at)
    if low >= len(table) - 1:
        return table[-1]
    return table[low] + (at - low) * (table[low + 1] - table[low])


def _troll_cards(pieces: list[float], number: float) -> None:
    """So many troll cards act: with the troll at the end every hat moves on instead (SB-2.9)."""
    if pieces[TROLL] < TRACK_END:
        pieces[TROLL] += number
    else:
        for hat in range(CITIES):
            pieces[hat] += number


class Appraisal:
    """The points of a sketch at the end of its story.

    Args:
        weights: what it values.
        outlook: of the turn.
    """

    def __init__(self, weights: Weights, outlook: Outlook) -> None:
        self._weights = weights
        self._outlook = outlook
        turns = outlook.mage_cards / _A_TURN
        stones = outlook.strength * (2.0 * outlook.sun_share - 1.0)
        near = max(0.0, 1.0 - turns / 2.0)
        self._covered = weights.covered * near
        self._climbs = weights.climb[outlook.witch]
        # Whether the deck goes on, or ends in the refill: how much later counts, the margin still to come.
        self._later = min(1.0, 1.0 / (1.0 + 0.25 * turns)), 1.0
        self._to_come = stones, _SENT * turns

    def worth(self, sketch: Sketch) -> float:
        """What the mages have, and what is going to happen to it."""
        if sketch.skipped:
            return self._skipped(sketch)
        weights = self._weights
        kept = len(sketch.lower) - (FORTUNA in sketch.lower)
        pieces, ends = self._moved_on(sketch, kept)
        worth = self._books(sketch, pieces) + self._ends(pieces) + weights.kept * kept
        worth += self._hand(sketch) + self._tower(sketch, pieces, ends)
        if ends < 1.0:
            staying = len(sketch.upper) if len(sketch.upper) < _LIMITS.purge_at else 0
            draws = max(0, _LIMITS.display_mages - kept)
            worth += _between(weights.wicked, staying + draws * self._outlook.wicked_a_draw)
        return worth

    def _skipped(self, sketch: Sketch) -> float:
        """Nothing moves, nothing is drawn."""
        return self._books(sketch, sketch.pieces) + self._ends(sketch.pieces) + self._tower(sketch, sketch.pieces, 0.0)

    # ---- what is going to happen -------------------------------------------------------------------------------------

    def _moved_on(self, sketch: Sketch, kept: int) -> tuple[list[float], float]:
        """Where the pieces will stand after the refill, and how surely the deck ends in it."""
        outlook = self._outlook
        pieces = sketch.pieces[:]
        if not sketch.moved:
            here = sketch.places[sketch.acting]
            if here <= WILDERNESS:
                pieces[here] += 1.0
        if len(sketch.upper) >= _LIMITS.purge_at:
            pieces = [at + 1.0 for at in pieces]
        draws = max(0, _LIMITS.display_mages - kept)
        left = outlook.mage_cards
        share = 1.0 if draws > left else draws / (left + 1.0)
        guard = sketch.guard
        if guard != 2 or share >= 1.0:
            weak = 0.6 if guard else 1.0
            for colour, witches in enumerate(outlook.witches):
                pieces[colour] += share * witches * weak
        _troll_cards(pieces, share * outlook.trolls)
        if draws > left:
            self._end_of_deck(sketch, pieces)
            return pieces, 1.0
        return pieces, 0.0

    def _end_of_deck(self, sketch: Sketch, pieces: list[float]) -> None:
        """SB-14.2, SB-14.3."""
        if len(sketch.upper) < _LIMITS.purge_at:
            for card in sketch.upper:
                if card in TROLLS:
                    _troll_cards(pieces, 1.0)
                else:
                    pieces[COLOUR[card]] += 1.0
        for piece in range(len(pieces)):
            if piece not in sketch.places and piece != sketch.watchman:
                pieces[piece] += 1.0

    # ---- tracks ------------------------------------------------------------------------------------------------------

    def _books(self, sketch: Sketch, pieces: list[float]) -> float:
        weights = self._weights
        lost_before = sketch.books.count(LOST)
        enough = sketch.books.count(GAINED) >= _LIMITS.books_to_win
        steps, gaps = weights.steps, weights.gaps
        needed = weights.fifth if enough else weights.last if lost_before else 1.0
        values = []
        worth = 0.0
        for book, at in enumerate(sketch.books):
            if at == LOST:
                continue
            value = steps[at - 4]
            values.append(value)
            if at == GAINED:
                continue
            gap = at - pieces[book]
            if gap < _SAFE:
                worth += _between(gaps, gap) * needed
                if gap < 1.0:
                    worth -= (1.0 - max(gap, 0.0)) * value * (0.3 if enough else 1.0)
        values.sort(reverse=True)
        best, rest = values[: _LIMITS.books_to_win], values[_LIMITS.books_to_win :]
        worth += sum(best) + weights.spare * sum(rest) * (0.2 if enough else 1.0)
        return worth

    def _ends(self, pieces: list[float]) -> float:
        """SB-15.1b: the nearest two pieces."""
        weights = self._weights
        second, first = sorted(pieces)[-2:]
        near = _between(weights.first, min(first, TRACK_END)) + _between(weights.second, min(second, TRACK_END))
        return near - weights.step_back * sum(pieces)

    # ---- what they hold ----------------------------------------------------------------------------------------------

    def _hand(self, sketch: Sketch) -> float:
        weights = self._weights
        worth = weights.wand[sketch.wand] + weights.spell * (len(sketch.spells) + sketch.spells_gained)
        worth += weights.reveal * sketch.reveals + weights.restocked * sketch.restocked
        for ally in sketch.recruits:
            worth += weights.ally * (1 + INFLUENCE[ally]) + weights.ally_set * (len(SET_CARDS[ally]) - 1)
        for village, lying in enumerate(sketch.lying):
            if lying:
                need = INFLUENCE.get(sketch.villages[village], 9)
                worth += weights.lying * lying * (1.0 + lying / need)
        if FORTUNA in sketch.lower:
            worth += weights.fortuna if sketch.visited else -weights.fortuna
        if sketch.guard:
            outlook = self._outlook
            draws = _LIMITS.display_mages - len(sketch.lower)
            coming = sum(outlook.witches) * draws / (outlook.mage_cards + 1.0)
            worth += weights.guard * min(coming, 9.0 if sketch.guard == 2 else 1.0)
        return worth

    # ---- the tower ---------------------------------------------------------------------------------------------------

    def _tower(self, sketch: Sketch, pieces: list[float], ends: float) -> float:
        weights = self._weights
        gained = sketch.books.count(GAINED)
        later = self._later[1 if ends else 0]
        stones, sent = self._to_come
        margin = sketch.sun - sketch.moon + stones
        if not ends:
            margin += sent
        climbs = self._climbs
        worth = weights.tower / (1.0 + math.exp(-(margin - 0.5) / 1.6))
        worth -= climbs * later / (1.0 + math.exp((margin - 0.5) / 1.6))
        worth -= (weights.worse + climbs) * later / (1.0 + math.exp((margin + 4.5) / 1.2))
        worth -= weights.annihilated * later / (1.0 + math.exp((margin + 9.0) / 0.8))
        if ends:
            worth -= weights.end_of_deck
        elif self._covered:
            guarded = len({place for place in sketch.places if place <= WILDERNESS})
            worth += self._covered * (guarded + (sketch.watchman != NOWHERE)) * 0.5
        share = weights.early[gained]
        if share:
            worth += share * self._ready(sketch, pieces, gained)
        return worth

    def _ready(self, sketch: Sketch, pieces: list[float], gained: int) -> float:
        """How near the mages are to the battle."""
        weights = self._weights
        tower, mages = sketch.tower, len(sketch.places)
        away = [mage for mage, place in enumerate(sketch.places) if place != tower]
        chance = battle_chance(sketch, self._outlook, gained)
        # The mage whose turn comes next has distance 0, the one whose turn it is now the greatest.
        waits = 1 + max([(mage - sketch.turn_mage - 1) % mages for mage in away], default=-1)
        # Whoever stands there skips (SB-4.3), and the last to come declares at once: the turns between are dangerous.
        dangers = max(0, len(away) - 1)
        if tower == NOWHERE:
            waits += 1
            dangers += 1
        lives = _between(weights.survival, min(sorted(pieces)[-2], TRACK_END)) ** dangers
        worth = weights.battle * (0.35 + 0.65 * chance) * weights.later**waits * lives
        if tower == NOWHERE:
            hidden = sketch.villages.count(HIDDEN) + sketch.reveals
            worth += weights.sought * (sketch.reveals / hidden if hidden else 0.0)
        else:
            worth += weights.sought + weights.gathered * (mages - len(away))
            following = (sketch.turn_mage + 1) % mages
            if following in away and any(card in MOVERS for card in sketch.lower):
                worth += weights.way
        forces = sketch.sun - sketch.moon
        return worth + 4.0 * max(-8, min(8, forces))
