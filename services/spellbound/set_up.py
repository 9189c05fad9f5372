"""The set-up (SB-3), as events."""

from __future__ import annotations

from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import WICKED, WITCHES
from spellbound.catalogue import DATA
from spellbound.course import Course
from spellbound.deal import Deal, deal, first_mage, shuffled_start_deck, sorted_cards, villages_to_reveal
from spellbound.fate import act_in_set_up, start_turn
from spellbound.places import BOOK_START, CITIES, FIRST_VILLAGE, PLACE_INDEX, PLACES, TRACK_START, WILDERNESS
from spellbound.state import Stones, Terms

__all__ = ["set_up"]

_CONSTANTS = DATA.constants
_FIRST_WITCHES = frozenset(DATA.start_deck.always) & WITCHES


def set_up(course: Course, first_mage_option: str) -> tuple[str, ...]:
    """Everything before the first prompt; the lines of the deal digest (SB-20.2)."""
    terms, draws = course.draft.terms, course.draws
    dealt = deal(terms, draws)
    hats, troll = _start_spaces(terms)
    bag, supply = _stones(terms)
    course.tell(
        pb.PiecesPlaced(
            hats=hats,
            troll=troll,
            books=BOOK_START,
            witch=1,
            mages=[PLACES[WILDERNESS]] * len(terms.mage_seats),
            bag=pb.Stones(sun=bag[0], moon=bag[1]),
            supply=pb.Stones(sun=supply[0], moon=supply[1]),
            mage_seats=terms.mage_seats,
            seats=terms.seats,
        )
    )
    _lay_out(course, dealt)
    deck = _first_display(course, dealt.start_deck, hats, troll)
    for village in villages_to_reveal(draws):
        course.reveal(PLACE_INDEX[village] - FIRST_VILLAGE, "setup")
    first = first_mage(first_mage_option, len(terms.mage_seats), draws)
    start_turn(course, first)
    return (
        f"spells:{','.join(dealt.spell_deck)}",
        f"villages:{','.join(dealt.villages)}",
        f"set_aside:{','.join(sorted(dealt.set_aside))}",
        f"box:{','.join(sorted(dealt.box))}",
        f"wicked:{','.join(dealt.wicked_deck)}",
        f"destiny:{','.join(deck)}",
        f"first_mage:{first}",
    )


def _start_spaces(terms: Terms) -> tuple[list[int], int]:
    """Of the hats, and of the troll (SB-2.2, SB-3.13)."""
    if terms.witchfinder_general:
        start = DATA.witchfinder_piece_start
        return [start.hats] * CITIES, start.troll
    return [TRACK_START] * CITIES, TRACK_START


def _stones(terms: Terms) -> tuple[Stones, Stones]:
    """Bag and supply (SB-2.5, SB-3.12)."""
    stones = DATA.stones
    sun, moon = stones.bag_start.sun, stones.bag_start.moon
    if terms.dan:
        sun, moon = stones.bag_start_dan.sun, terms.dan
    return (sun, moon), (stones.sun - sun, stones.moon - moon)


def _lay_out(course: Course, dealt: Deal) -> None:
    """Spell deck, villages and wicked deck (SB-3.4 to SB-3.7)."""
    course.tell(pb.SpellDeckSet(count=len(dealt.spell_deck), order=dealt.spell_deck))
    course.tell(
        pb.VillagesSet(
            set_aside_count=len(dealt.set_aside),
            box_count=len(dealt.box),
            cards=dealt.villages,
            set_aside=dealt.set_aside,
            box=dealt.box,
        )
    )
    wicked = dealt.wicked_deck
    course.tell(pb.WickedDeckSet(top=wicked[0], count=len(wicked), order=wicked))


def _first_display(course: Course, cards: tuple[str, ...], hats: list[int], troll: int) -> tuple[str, ...]:
    """SB-3.9: as often as needed; the start deck that was accepted."""
    attempt = 1
    while True:
        order = shuffled_start_deck(cards, attempt, course.draws)
        listed = sorted_cards(cards)
        course.tell(pb.DestinyDeckSet(attempt=attempt, count=len(order), cards=listed, order=order))
        if _drawn_up(course):
            return order
        course.tell(pb.SetupDisplayUndone(attempt=attempt, hats=hats, troll=troll))
        attempt += 1


def _drawn_up(course: Course) -> bool:
    """Draws until five cards lie in the lower row; False: all four witches came before."""
    draft = course.draft
    while len(draft.lower) < _CONSTANTS.display_mages:
        card = draft.deck[0]
        wicked = card in WICKED
        course.tell(pb.DestinyCardDrawn(card=card, to="upper" if wicked else "lower"))
        if _FIRST_WITCHES.issubset(draft.upper):
            return False
        if wicked:
            act_in_set_up(course, card)
    return True
