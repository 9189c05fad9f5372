"""Mutants of Two Towers: one rule changed each, and where in a log that must show.

A mutant is a card with other contents, or one of the rules' functions with one piece of its text exchanged. `shows`
reads the log alone, with the true states beside it, and knows nothing of how the mutant is made: the first entry for
which it holds is where judging the log again has to fail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest
from google.protobuf.message import Message
from msgspec.structs import replace

from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from grimoire.v1 import match_pb2
from tests.support.mutation import exchanged
from two_towers.cards import CARDS, catalogue_order
from two_towers.effects import (
    Damage,
    Effect,
    Gain,
    Log,
    Lose,
    MatchEnemy,
    Sides,
    TowerDamage,
    WallDamage,
    _change,
    compile_effects,
)
from two_towers.fields import FIELD_INDEX, MANA, MINES, MONASTERIES, ORE, TOWER, WALL
from two_towers.state import SeatState, State, other

__all__ = ["MUTANTS", "Mutant", "Step"]


class Step(NamedTuple):
    """One entry of a log, as far as the game wrote it.

    Attributes:
        version: of the entry.
        options: of the match.
        arranged: it began from a position.
        missed: by seat, turns missed since it last gave a card up by its own choice, whatever it played between them.
        before: the game's state before it; None before the start.
        events: the game's.
        draws: what was drawn.
    """

    version: int
    options: Mapping[str, str]
    arranged: bool
    missed: tuple[int, int]
    before: State | None
    events: tuple[Message, ...]
    draws: tuple[match_pb2.Draw, ...]

    def of(self, kind: type[Message]) -> list[Any]:
        """Its events of one type."""
        return [event for event in self.events if isinstance(event, kind)]

    def played(self, *cards: str) -> bool:
        """One of these was played (any, if none is named)."""
        return any(not cards or event.card in cards for event in self.of(pb.CardPlayed))

    def drawn(self, cause: str) -> list[Any]:
        """Cards that were drawn for this reason."""
        return [event for event in self.of(pb.CardDrawn) if event.cause == cause]

    @property
    def starts(self) -> bool:
        """The match began here."""
        return self.before is None and bool(self.events)

    @property
    def end(self) -> Any:
        """The end of the match, if it was here."""
        return next(iter(self.of(pb.MatchEnded)), None)

    @property
    def own(self) -> SeatState:
        """The acting seat before it."""
        assert self.before is not None
        return self.before.seats[self.before.active]

    @property
    def enemy(self) -> SeatState:
        """The other one."""
        assert self.before is not None
        return self.before.seats[other(self.before.active)]


class Mutant(NamedTuple):
    """One changed rule.

    Attributes:
        rule: which one.
        name: what is wrong now.
        make: changes it.
        shows: whether it shows in a step, if it did in none before.
    """

    rule: str
    name: str
    make: Callable[[pytest.MonkeyPatch], None]
    shows: Callable[[Step], bool]


def card(name: str, *effects: Effect, **changes: object) -> Callable[[pytest.MonkeyPatch], None]:
    """Another card under the same name."""
    if effects:
        changes["apply"] = compile_effects(effects)
    return lambda patch: patch.setitem(CARDS, name, replace(CARDS[name], **changes))


def text(where: str, old: str, new: str) -> Callable[[pytest.MonkeyPatch], None]:
    """The function `module.name` or `module.Class.name` with one piece of its text exchanged."""
    return exchanged(f"two_towers.{where}", old, new)


def no_steal_rounded_up(sides: Sides, log: Log) -> None:
    """What a thief takes, the acting seat's half rounded down."""
    for what, n in ((MANA, 10), (ORE, 5)):
        taken = min(sides[1][what], n)
        _change(sides, log, 1, what, -taken)
        _change(sides, log, 0, what, taken // 2)


# ---- where it shows --------------------------------------------------------------------------------------------------


def standing(step: Step) -> int:
    """What the enemy has before its tower falls."""
    return step.enemy.numbers[WALL] + step.enemy.numbers[TOWER]


def spearman_is_higher(step: Step) -> bool:
    """A spearman attacks from the higher wall, and his third blow hits something."""
    return step.played("spearman") and step.own.numbers[WALL] > step.enemy.numbers[WALL] and standing(step) > 2


def thief_finds_odd(step: Step) -> bool:
    """A thief takes an odd number of something."""
    return step.played("thief") and any(min(step.enemy.numbers[what], n) % 2 for what, n in ((MANA, 10), (ORE, 5)))


def pays_all(step: Step) -> bool:
    """A card is paid with the last of its stock."""
    return any(event.stock_after == 0 for event in step.of(pb.CardPlayed))


def ends_turn(step: Step) -> bool:
    """A turn ends and another begins."""
    return bool(step.of(pb.TurnEnded)) and bool(step.of(pb.TurnStarted))


def acts_again(step: Step) -> bool:
    """A card that draws nothing lets the seat act again."""
    return not step.end and any(CARDS[e.card].play_again and not CARDS[e.card].draws for e in step.of(pb.CardPlayed))


def wins_by(step: Step, reason: str) -> bool:
    """The match ends for this reason, perhaps among others."""
    return step.end is not None and reason in step.end.reasons


def wins_exactly(step: Step, reason: str) -> bool:
    """It does, and the winner has what the goal asks and no more."""
    if not wins_by(step, reason) or step.before is None:
        return False
    own, terms = step.end.numbers[step.end.winner], step.before.terms
    if reason == "tower_built":
        return bool(own.tower == terms.goal_tower)
    return bool(max(own.ore, own.mana, own.recruits) == terms.goal_resource)


def wins_by_recruits(step: Step) -> bool:
    """Recruits alone are as many as the goal asks."""
    if not wins_by(step, "resource") or step.before is None:
        return False
    own = step.end.numbers[step.end.winner]
    return bool(max(own.ore, own.mana) < step.before.terms.goal_resource)


def wins_by_production(step: Step) -> bool:
    """The match ends as a turn begins."""
    return step.end is not None and any(isinstance(event, pb.TurnStarted) for event in step.events[-2:-1])


def timed_out(step: Step) -> Any:
    """The turn that was missed, if one was."""
    return next(iter(step.of(pb.TurnTimedOut)), None)


def plays_between(step: Step) -> bool:
    """A seat misses a turn, and has played since it missed the last one."""
    late = timed_out(step)
    return late is not None and late.consecutive != step.missed[late.seat] + 1


def gives_up_another(step: Step) -> bool:
    """What the clock discards does not lie in the first slot."""
    return any(event.cause == "timeout" and event.slot != 0 for event in step.of(pb.CardDiscarded))


def tries_again(step: Step) -> bool:
    """An endless draw met a third copy."""
    labels = [draw.label for draw in step.draws]
    return len(labels) != len({*labels})


def reshuffles_out_of_order(step: Step) -> bool:
    """The discard pile does not lie as the catalogue does."""
    if not step.of(pb.PileReshuffled) or step.before is None:
        return False
    left_hand = [event.card for event in step.events if isinstance(event, pb.CardPlayed | pb.CardDiscarded)]
    pile = [*step.before.discards, *left_hand]
    return pile != catalogue_order(pile)


def deals(step: Step, deck_type: str = "") -> bool:
    """The match begins with a deal."""
    return step.starts and not step.arranged and deck_type in ("", step.options["deck_type"])


def fills_two_slots(step: Step) -> bool:
    """Two slots of the hand are filled in one go."""
    return len({event.slot for event in step.drawn("refill")}) > 1


# ---- the mutants -----------------------------------------------------------------------------------------------------

CARD_MUTANTS = (
    ("an ogre does 6 damage", card("ogre", Damage("enemy", 6)), lambda s: s.played("ogre") and standing(s) > 6),
    ("a ruby builds 6", card("ruby", Gain("self", "tower", 6)), lambda s: s.played("ruby")),
    (
        "a rainbow shines for oneself alone",
        card("rainbow", Gain("self", "tower", 1), Gain("self", "mana", 3)),
        lambda s: s.played("rainbow"),
    ),
    (
        "a lucky cache holds no mana",
        card("lucky_cache", Gain("self", "ore", 2)),
        lambda s: s.played("lucky_cache"),
    ),
    (
        "a wall stops a gemstone flaw",
        card("gemstone_flaw", Damage("enemy", 3)),
        lambda s: s.played("gemstone_flaw") and s.enemy.numbers[WALL] > 0,
    ),
    (
        "tremors spare one's own wall",
        card("tremors", WallDamage("enemy", 5)),
        lambda s: s.played("tremors") and s.own.numbers[WALL] > 0,
    ),
    (
        "parity helps oneself alone",
        card("parity", MatchEnemy("monasteries")),
        lambda s: s.played("parity") and s.own.numbers[MONASTERIES] > s.enemy.numbers[MONASTERIES],
    ),
    (
        "a collapse hits one's own mines",
        card("collapse", Lose("self", "mines", 1)),
        lambda s: s.played("collapse") and s.own.numbers[MINES] + s.enemy.numbers[MINES] > 0,
    ),
    (
        "a goblin mob harms nobody at home",
        card("goblin_mob", Damage("enemy", 6)),
        lambda s: s.played("goblin_mob"),
    ),
    (
        "a berserker hurts himself first",
        card("berserker", TowerDamage("self", 3), Damage("enemy", 8)),
        lambda s: s.played("berserker"),
    ),
    ("a spearman forgets his wall", card("spearman", Damage("enemy", 2)), spearman_is_higher),
    ("a thief rounds down", card("thief", apply=no_steal_rounded_up), thief_finds_odd),
    (
        "shift moves nothing",
        card("shift", apply=lambda sides, log: None),
        lambda s: s.played("shift") and s.own.numbers[WALL] != s.enemy.numbers[WALL],
    ),
    (
        "friendly terrain ends the turn",
        card("friendly_terrain", play_again=False),
        lambda s: s.played("friendly_terrain") and not s.end,
    ),
    ("a prism draws nothing", card("prism", draws=False), lambda s: s.played("prism")),
    ("an orc costs 4", card("orc", cost=4), lambda s: s.played("orc")),
    (
        "a slasher is paid in mana",
        card("slasher", resource="mana", stock=FIELD_INDEX["mana"]),
        lambda s: s.played("slasher"),
    ),
)

TEXT_MUTANTS = (
    # Paying, playing
    (
        "TT-4.3",
        "something must be left over",
        "rules.TwoTowers._play",
        "stock < card.cost",
        "stock <= card.cost",
        pays_all,
    ),
    (
        "TT-4.4",
        "a card is one cheaper than it says",
        "turn.Course.play",
        "[card.stock] - card.cost",
        "[card.stock] - card.cost + 1",
        lambda s: s.played(),
    ),
    (
        "TT-4.5",
        "no card is drawn for one that was played",
        "turn.Course.play",
        "    self._refill(seat)\n",
        "",
        lambda s: s.played() and bool(s.drawn("refill")),
    ),
    (
        "TT-4.5",
        "the hand is filled up after the turn",
        "turn.Course.play",
        "    self._refill(seat)\n    if card.play_again and draft.plays < PLAY_LIMIT:  # TT-4.7\n        return\n"
        "    self.end_turn()\n",
        "    again = card.play_again and draft.plays < PLAY_LIMIT\n    if not again:\n        self.end_turn()\n"
        "    self._refill(seat)\n",
        lambda s: s.played() and bool(s.of(pb.TurnEnded)),
    ),
    (
        "TT-4.5",
        "the highest empty slot is filled first",
        "turn.Course._refill",
        "hand.index(EMPTY)",
        "len(hand) - 1 - hand[::-1].index(EMPTY)",
        fills_two_slots,
    ),
    (
        "TT-4.6",
        "a forced discard ends the turn",
        "turn.Course.discard",
        "if forced and self._draft.plays < PLAY_LIMIT:",
        "if False:",
        lambda s: any(event.cause == "forced" for event in s.of(pb.CardDiscarded)),
    ),
    ("TT-4.7", "nobody acts again", "turn.Course.play", "draft.plays < PLAY_LIMIT", "draft.plays < 1", acts_again),
    # Turns
    (
        "TT-4.1",
        "every turn digs up one ore more",
        "turn.Course.start_turn",
        "numbers[ORE] + mines",
        "numbers[ORE] + mines + 1",
        lambda s: bool(s.of(pb.TurnStarted)),
    ),
    (
        "TT-4.1",
        "monasteries give nothing",
        "turn.Course.start_turn",
        "numbers[MANA] + monasteries",
        "numbers[MANA]",
        lambda s: any(event.produced.mana for event in s.of(pb.TurnStarted)),
    ),
    (
        "TT-4.2",
        "nobody wins by production",
        "turn.Course.start_turn",
        "self._judge()",
        "pass",
        wins_by_production,
    ),
    ("TT-4.9", "the same seat goes on", "turn.Course.end_turn", "other(seat)", "seat", ends_turn),
    (
        "TT-4.9",
        "the last turn is the last but one",
        "turn.Course.end_turn",
        "turn_no >= TURN_LIMIT",
        "turn_no >= TURN_LIMIT - 1",
        lambda s: any(event.turn_no >= 999 for event in s.of(pb.TurnEnded)),
    ),
    ("TT-5.4", "who resigns wins", "turn.Course.resign", "other(seat)", "seat", lambda s: wins_by(s, "resigned")),
    # Time
    (
        "TT-7.2",
        "one more turn may be missed",
        "turn.Course.time_out",
        "consecutive >= draft.terms.timeout_limit",
        "consecutive > draft.terms.timeout_limit",
        lambda s: wins_by(s, "timeouts"),
    ),
    ("TT-7.2", "a missed turn counts twice", "turn.Course.time_out", "[seat] + 1", "[seat] + 2", timed_out),
    (
        "TT-7.3",
        "who misses a turn keeps it",
        "turn.Course.time_out",
        "self.end_turn()",
        "pass",
        lambda s: timed_out(s) and not s.end,
    ),
    ("TT-7.4", "playing redeems nothing", "draft.Draft.play", "self.timeouts[seat] = 0", "pass", plays_between),
    (
        "TT-7.5",
        "the clock discards the first card",
        "worst.worst_slot",
        "return min((slot for slot, card in enumerate(hand) if card != EMPTY), key=key)",
        "return next(slot for slot, card in enumerate(hand) if card != EMPTY)",
        gives_up_another,
    ),
    # Victory
    (
        "TT-1.2",
        "a tower must be higher than its goal",
        "judging.conditions",
        "own[TOWER] >= goal_tower",
        "own[TOWER] > goal_tower",
        lambda s: wins_exactly(s, "tower_built"),
    ),
    (
        "TT-1.2",
        "a tower without a stone still stands",
        "judging.conditions",
        "enemy[TOWER] == 0",
        "enemy[TOWER] < 0",
        lambda s: wins_by(s, "tower_destroyed"),
    ),
    (
        "TT-1.2",
        "a stock must exceed its goal",
        "judging.conditions",
        "_largest_stock(own) >= goal_resource",
        "_largest_stock(own) > goal_resource",
        lambda s: wins_exactly(s, "resource"),
    ),
    (
        "TT-1.2",
        "recruits are no resource",
        "judging._largest_stock",
        "max(numbers[ORE], numbers[MANA], numbers[RECRUITS])",
        "max(numbers[ORE], numbers[MANA])",
        wins_by_recruits,
    ),
    (
        "TT-4.8",
        "the ladder begins with the walls",
        "judging._ladder",
        '        ("tower", zero[TOWER], one[TOWER]),\n',
        "",
        lambda s: s.end is not None and s.end.ladder_step == "tower",
    ),
    (
        "TT-4.8",
        "the lower step of the ladder wins",
        "judging._ladder",
        "left > right",
        "left < right",
        lambda s: s.end is not None and s.end.ladder_step != "",
    ),
    (
        "TT-4.8",
        "seat 0 wins every draw",
        "judging._ladder",
        'return None, ""',
        'return 0, "stock"',
        lambda s: s.end is not None and s.end.outcome == "draw",
    ),
    # Draws
    (
        "TT-3.3",
        "the other seat begins",
        "deal.first_seat",
        'draws.coin("first_seat")',
        '1 - draws.coin("first_seat")',
        lambda s: deals(s) and s.options["first_player"] == "random",
    ),
    (
        "TT-3.4",
        "the pack is shuffled under another label",
        "deal.deal",
        '"deck"',
        '"pack"',
        lambda s: deals(s, "standard"),
    ),
    ("TT-3.5", "six cards are dealt at once", "deal.deal", "n % 2 == 0", "n < HAND_SIZE", deals),
    (
        "TT-4.5",
        "cards come from the bottom of the pile",
        "turn.Course._draw",
        "draft.pile[0]",
        "draft.pile[-1]",
        lambda s: bool(s.of(pb.CardDrawn)) and s.options["deck_type"] == "standard",
    ),
    (
        "TT-8.1",
        "discards are shuffled as they lie",
        "turn.Course._reshuffle",
        "catalogue_order(draft.discards)",
        "list(draft.discards)",
        reshuffles_out_of_order,
    ),
    (
        "TT-8.1",
        "reshuffles are numbered from 0",
        "turn.Course._reshuffle",
        'f"reshuffle/{n}"',
        'f"reshuffle/{n - 1}"',
        lambda s: bool(s.of(pb.PileReshuffled)),
    ),
    ("TT-8.3", "a third copy is kept", "turn.draw_endless", "< _COPIES_IN_HAND", "<= _COPIES_IN_HAND", tries_again),
    (
        "TT-8.3",
        "draws are numbered from 2",
        "turn.draw_endless",
        'f"draw/{draw_no}"',
        'f"draw/{draw_no + 1}"',
        lambda s: deals(s, "endless") or (s.options["deck_type"] == "endless" and bool(s.of(pb.CardDrawn))),
    ),
)

MUTANTS: tuple[Mutant, ...] = (
    *(Mutant("TT-2.4", name, make, shows) for name, make, shows in CARD_MUTANTS),
    *(Mutant(rule, name, text(where, old, new), shows) for rule, name, where, old, new, shows in TEXT_MUTANTS),
)
