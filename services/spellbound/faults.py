"""Whether an arranged position can be: everything that the rules keep true at every moment (SB-22) is checked here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from grimoire.engine.written import demand, fault_of, once_each
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import (
    ALLIES,
    CARD_ORDER,
    FORTUNA,
    GUARDS,
    INFLUENCE,
    MINIONS,
    MODES,
    MOON,
    SPELLS,
    SUN,
    WICKED,
    Timing,
)
from spellbound.catalogue import DATA
from spellbound.evolve import evolve
from spellbound.notation import SHOWN
from spellbound.places import (
    BOOK_START,
    BOOKS,
    CITIES,
    GAINED,
    LOST,
    PIECES,
    PLACES,
    TRACK_END,
    TRACK_START,
    VILLAGES,
    on_track,
)
from spellbound.state import NO_ONE, Stage, State, Terms
from spellbound.under_way import check_under_way
from spellbound.windows import asked_seat

__all__ = ["MOST_TURNS", "check_position", "influence_steps", "position_fault"]

MOST_TURNS: Final = 800
"""Every match is over by then (SB-22.8)."""

_LIMITS: Final = DATA.constants
_BASICS: Final = tuple(card.id for card in DATA.cards if card.group == "basic")
_NEEDED: Final = tuple(card for card in _BASICS if not card.startswith("basic_influence"))
"""Basic cards that never lie at a village: they fill the display after every sweep up (SB-22.7)."""
_LOCATIONS: Final = tuple(card.id for card in DATA.cards if card.kind == "location")
_MAGE_CARDS: Final = frozenset((*_BASICS, *ALLIES, FORTUNA))
_DESTINY: Final = _MAGE_CARDS | WICKED
_AT_TABLE: Final = tuple(card.id for card in DATA.cards if card.kind in ("mage", "location", "wicked"))
_STATES: Final = tuple(stage.value for stage in Stage if stage not in (Stage.SETUP, Stage.OVER))
_MOST_STONES: Final = 100_000


def position_fault(event: pb.PositionArranged, terms: Terms) -> str:
    """What is wrong with a position for a match of these terms; empty: nothing.

    >>> position_fault(pb.PositionArranged(), Terms(seats=1, mage_seats=(0,)))
    'The match has the seats [0] for its mages (SB-1.2).'
    """
    return fault_of(check_position, event, terms)


def check_position(event: pb.PositionArranged, terms: Terms) -> None:
    """Raises `PositionError` for the first thing that is wrong with a position for a match of these terms."""
    _check_turn(event, terms)
    _check_tracks(event)
    _check_mages(event, terms)
    _check_stones(event)
    _check_cards(event)
    _check_spells(event)
    _check_rows(event)
    _check_villages(event)
    check_under_way(event)
    _check_lying(event)
    _check_asked(event, terms)


def _check_turn(event: pb.PositionArranged, terms: Terms) -> None:
    seats, mages = list(terms.mage_seats), len(terms.mage_seats)
    demand(list(event.mage_seats) == seats, f"The match has the seats {seats} for its mages.", "SB-1.2")
    demand(event.seats == terms.seats, f"The match has {terms.seats} seats.", "SB-1.2")
    demand(event.state in _STATES, f"`state` must be one of {', '.join(_STATES)}.", "SB-4")
    demand(1 <= event.turn <= MOST_TURNS, f"`turn` must be in 1..{MOST_TURNS}.", "SB-22.8")
    demand(event.turn_mage < mages and event.acting_mage < mages, f"There are {mages} mages.", "SB-1.2")
    puppet = event.acting_mage != event.turn_mage
    demand(not puppet or "puppetry" in event.removed, "Only Puppetry makes another mage act: it is cast.", "SB-10.7")
    ends = event.sweep_ups + event.deck_ending
    demand(event.deck_ends == ends, "Every end of the deck but one under way was swept up.", "SB-14.11")


def _check_tracks(event: pb.PositionArranged) -> None:
    """SB-2.2, SB-2.3, SB-22.3, SB-22.10."""
    demand(
        len(event.hats) == CITIES and len(event.books) == len(BOOKS), "There are four hats and five books.", "SB-2.2"
    )
    pieces = [*event.hats, event.troll]
    for piece, book, name in zip(pieces, event.books, PIECES, strict=True):
        demand(TRACK_START <= piece <= TRACK_END, f"{name} stands on a space in 1..9.", "SB-2.3")
        demand(book in (LOST, GAINED) or BOOK_START[0] <= book < GAINED, "A book stands on a space in 4..8.", "SB-2.3")
        demand(not on_track(book) or piece < book, f"{name} has caught the book ahead of it: it is lost.", "SB-13.4")
    demand([*event.books].count(LOST) < _LIMITS.books_lost_to_lose, "With two lost books the match is over.", "SB-15.1")
    at_end = pieces.count(TRACK_END)
    demand(at_end < _LIMITS.pieces_at_end_to_lose, "With two pieces on 9 the match is over.", "SB-15.1")
    demand(1 <= event.witch < len(DATA.tower), "The witch stands on a step in 1..4.", "SB-2.4")
    in_play = [*event.minions]
    destroyed = [minion for minion in MINIONS if minion in event.removed]
    expected = [minion for minion in MINIONS[: len(in_play) + len(destroyed)] if minion not in destroyed]
    demand(in_play == expected, f"Minions come into play in the order {', '.join(MINIONS)}.", "SB-3.8")
    demand(not event.watchman or event.watchman in PLACES[:CITIES], "The watchman stands in a city.", "SB-8.3")


def _check_mages(event: pb.PositionArranged, terms: Terms) -> None:
    demand(len(event.mages) == len(terms.mage_seats), f"There are {len(terms.mage_seats)} mages.", "SB-1.2")
    for mage in event.mages:
        demand(mage.place in PLACES, f"There is no place {mage.place[:SHOWN]!r}.", "SB-2.1")
        demand(mage.wand <= _LIMITS.wand_top, "A wand has the level 0..3.", "SB-2.6")
    demand(len(event.policies) == terms.seats, "Every seat has a reaction policy.", "SB-16.8")
    for policy in event.policies:
        demand(policy in DATA.reaction_policies, f"There is no policy {policy[:SHOWN]!r}.", "SB-16.8")


def _check_stones(event: pb.PositionArranged) -> None:
    """SB-22.2."""
    for kind, all_of_them in (("sun", DATA.stones.sun), ("moon", DATA.stones.moon)):
        found = sum(getattr(stones, kind) for stones in (event.bag, event.drawn, event.supply))
        demand(found == all_of_them, f"There are {all_of_them} {kind}stones, not {found}.", "SB-2.5")
    lying = event.drawn.sun + event.drawn.moon
    demand(lying <= event.stones_drawn <= _MOST_STONES, "Every stone of the drawn pile was drawn.", "SB-7.8")
    demand(event.bag.sun + event.bag.moon + lying, "There is a stone to draw.", "SB-2.5")


# ---- cards -----------------------------------------------------------------------------------------------------------


def _check_cards(event: pb.PositionArranged) -> None:
    """SB-22.1: every card lies in one place."""
    demand(len(event.villages) == len(VILLAGES) == len(event.face_down), "There are twelve villages.", "SB-2.1")
    lying = [influence.card for village in event.villages for influence in village.influence]
    rows = (event.lower_row, event.upper_row, event.sun_pile, event.moon_pile, event.discards)
    decks = (event.deck, event.wicked_deck, event.set_aside, event.box)
    everything = [card for row in (*rows, *decks) for card in row] + lying
    everything += [village.card for village in event.villages if village.card]
    everything += [card for card in event.face_down if card]
    everything += [card for card in event.removed if card not in SPELLS and card not in MINIONS]
    everything += [event.progress.card] if event.HasField("progress") else []
    once_each(everything, CARD_ORDER, "card", "SB-2", twice="SB-22.1")
    missing = next((card for card in _AT_TABLE if card not in everything), "")
    demand(not missing, f"{missing} lies nowhere.", "SB-22.1")
    demand(len(everything) == len(_AT_TABLE), "A spell or a minion lies among other cards.", "SB-2.14")
    out = {*event.set_aside, *event.box, *event.wicked_deck, *lying, *event.removed}
    lost = next((card for card in _NEEDED if card in out), "")
    demand(not lost, f"{lost} can be neither at a village nor out of the match.", "SB-22.7")
    demand(event.deck_count == len(event.deck), "The deck's count and its cards differ.")
    listed = [*event.deck_cards] == sorted(event.deck, key=CARD_ORDER.__getitem__)
    demand(listed, "What is told of the deck and its cards differ.", "SB-17.3")
    demand(event.wicked_deck_count == len(event.wicked_deck), "The wicked deck's count and its cards differ.")
    demand(event.wicked_top == next(iter(event.wicked_deck), ""), "The wicked deck's top card is another.", "SB-2.14")


def _check_spells(event: pb.PositionArranged) -> None:
    """SB-2.12, SB-22.6."""
    held = [spell for mage in event.mages for spell in mage.spells]
    gone = [card for card in event.removed if card in SPELLS]
    once_each([*held, *gone, *event.spell_deck], SPELLS, "spell", "SB-2", twice="SB-22.1")
    demand(len(held) + len(gone) + len(event.spell_deck) == len(SPELLS), "There are ten spells.", "SB-2.12")
    demand(event.spell_deck_count == len(event.spell_deck), "The spell deck's count and its cards differ.")
    for spell in held:
        demand(SPELLS[spell] != Timing.AT_ONCE, f"{spell} is cast at once: nobody holds it.", "SB-10.1")


def _check_rows(event: pb.PositionArranged) -> None:
    """SB-2.14: what may lie where."""
    _only(event.lower_row, _MAGE_CARDS, "the lower row", "SB-2.14")
    _only(event.upper_row, WICKED | GUARDS, "the upper row", "SB-2.14")
    _only(event.sun_pile, [card for card in _MAGE_CARDS if SUN[card]], "the sun pile", "SB-5.2")
    _only(event.moon_pile, [card for card in _DESTINY if MOON[card]], "the moon pile", "SB-5.2")
    for name, row in (("the deck", event.deck), ("the discards", event.discards)):
        _only(row, _DESTINY, name, "SB-2.14")
    _only(event.wicked_deck, WICKED, "the wicked deck", "SB-3.7")
    _only(event.set_aside, ALLIES, "the set-aside allies", "SB-3.6")
    visited = not event.visited or FORTUNA in event.lower_row
    demand(visited, "Fortuna is visited while her card lies in the display.", "SB-7.2")
    guards = [card for card in event.upper_row if card in GUARDS]
    demand(event.state != Stage.WITCHING or not guards, "Guards leave at the end of the refill.", "SB-8.9")
    least = _LIMITS.display_mages
    enough = event.state != Stage.WITCHING or len(event.lower_row) >= least
    demand(enough, f"In `witching` at least {least} cards lie in the lower row.", "SB-22.4")


def _only(cards: Iterable[str], allowed: Iterable[str], where: str, rule: str) -> None:
    allowed = {*allowed}
    for card in cards:
        demand(card in allowed, f"{card[:SHOWN]} does not lie in {where}.", rule)


# ---- villages --------------------------------------------------------------------------------------------------------


def _check_villages(event: pb.PositionArranged) -> None:
    taken = {mage.place for mage in event.mages}
    cards = []
    for name, village, hidden in zip(VILLAGES, event.villages, event.face_down, strict=True):
        demand(village.face_down == bool(hidden), f"The card at {name} lies face up or face down.", "SB-2.14")
        demand(not (village.card and hidden), f"One card lies at {name}.", "SB-2.14")
        demand(name not in taken or not hidden, f"A mage has been at {name}: its card is face up.", "SB-7.2")
        card = village.card or hidden
        demand(not card or card in ALLIES or card in _LOCATIONS, f"{card} does not lie at a village.", "SB-3.6")
        cards.append(card)
    for location in _LOCATIONS:
        demand(location in cards, f"{location} lies at one of the villages.", "SB-2.11")


def influence_steps(card: str) -> int:
    """How much influence a card can give at most; 0: it never lies at a village (SB-7.13).

    >>> influence_steps("warlock_1"), influence_steps("halfling_1"), influence_steps("pixies_1")
    (2, 1, 0)
    """
    parts = [part for mode in MODES.get(card, {}).values() for part in mode.parts if "influence" in part.any]
    return max((part.times for part in parts), default=0)


def _check_lying(event: pb.PositionArranged) -> None:
    """SB-7.9 to SB-7.13, SB-22.5."""
    for name, village, hidden in zip(VILLAGES, event.villages, event.face_down, strict=True):
        for influence in village.influence:
            most = influence_steps(influence.card)
            demand(most, f"{influence.card} gives no influence and does not lie at {name}.", "SB-7.13")
            demand(1 <= influence.amount <= most, f"{influence.card} is worth at most {most} at {name}.", "SB-7.11")
        gives = event.progress if event.progress.village == name and not event.progress.recruited else pb.Progress()
        amount = sum(influence.amount for influence in village.influence) + gives.given
        open_to_all = not hidden and village.card not in _LOCATIONS
        demand(open_to_all or not village.influence, f"No influence lies at {name}.", "SB-7.9")
        asked = INFLUENCE.get(village.card, 0)
        demand(not asked or amount < asked, f"With {amount} influence {village.card} is recruited.", "SB-22.5")


def _check_asked(event: pb.PositionArranged, terms: Terms) -> None:
    """SB-16.3: a window that asks nobody is not open."""
    if event.state == Stage.REACTION:
        state = evolve(State(terms), event)
        demand(asked_seat(state) != NO_ONE, f"In the window {event.window} nobody holds a fitting spell.", "SB-16.3")
