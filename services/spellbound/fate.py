"""What happens by itself: the end of a story, the refill, the end of the deck, the encounter (SB-11 to SB-14).

Each function does its part and calls the next one, until the match waits for somebody: a window is open (`resume` goes
on when it closes), a book is to be chosen, or the next turn has begun. Where it goes on follows from the state alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import FORTUNA, GUARDS, KNIGHT, MINIONS, MOON, SQUIRE, SUN, WICKED, WITCHES
from spellbound.catalogue import DATA
from spellbound.course import Course
from spellbound.deal import sorted_cards
from spellbound.notions import (
    books_on_track,
    counts,
    empty_places,
    idle_piece,
    moves_of,
    result_of,
    wicked_in_upper_row,
)
from spellbound.places import CLIMB_MOVES, CLIMB_WICKED, NOWHERE, PIECES, STRENGTH, TOP_STEP, TRACK_END
from spellbound.state import NO_BATTLE, NO_ONE, WindowKind
from spellbound.windows import asked_seat, seats_to_ask

__all__ = [
    "act_in_set_up",
    "end_story",
    "go_on",
    "meet",
    "move_chosen_book",
    "open_window",
    "skip_turn",
    "start_turn",
]

_CONSTANTS = DATA.constants


# ---- windows (SB-16.3) -----------------------------------------------------------------------------------------------


def open_window(course: Course, kind: WindowKind) -> bool:
    """Opens a window if somebody holds a fitting spell; whether it is open now."""
    seats = seats_to_ask(course.draft, kind)
    if seats:
        course.tell(pb.WindowOpened(window=kind.value, seats=seats))
    return bool(seats)


def go_on(course: Course) -> None:
    """Closes the open window if nobody is to be asked any more, and goes on where it interrupted."""
    draft = course.draft
    window, batch = draft.window, draft.batch
    if window is None or course.over or asked_seat(draft) != NO_ONE:
        return
    course.tell(pb.WindowClosed(window=window.kind.value))
    if window.kind is WindowKind.MOVES:
        if batch is None:
            raise RuntimeError("a window on moves without any")
        course.make_moves(batch.moves, batch.cause)
        _after_batch(course, batch.cause)
    else:
        _AFTER_WINDOW[window.kind](course)


# ---- turns -----------------------------------------------------------------------------------------------------------


def start_turn(course: Course, mage: int) -> None:
    """A mage's turn begins."""
    draft = course.draft
    course.tell(pb.TurnStarted(turn=draft.turn + 1, mage=mage, seat=draft.terms.mage_seats[mage]))


def _next_mage(course: Course) -> int:
    draft = course.draft
    return (draft.turn_mage + 1) % len(draft.places)


def skip_turn(course: Course) -> None:
    """SB-4.3: no card, no penalty, no refill."""
    draft = course.draft
    course.tell(pb.TurnSkipped(turn=draft.turn, mage=draft.turn_mage))
    start_turn(course, _next_mage(course))


def _end_turn(course: Course) -> None:
    """SB-12.5."""
    draft = course.draft
    course.tell(pb.TurnEnded(turn=draft.turn, mage=draft.turn_mage))
    start_turn(course, _next_mage(course))


# ---- the end of the story (SB-11) ------------------------------------------------------------------------------------


def end_story(course: Course) -> None:
    """SB-11.1."""
    course.tell(pb.StoryEnded(mage=course.draft.turn_mage))
    if not open_window(course, WindowKind.STORY_END):
        _penalty(course)


def _penalty(course: Course) -> None:
    """SB-11.2."""
    piece = idle_piece(course.draft)
    if piece == NOWHERE:
        _fortuna(course)
    else:
        _batch(course, "not_moved", (piece,))


def _fortuna(course: Course) -> None:
    """SB-11.3."""
    draft = course.draft
    if FORTUNA in draft.lower:
        sun, moon = draft.supply
        stone = ("sun" if sun else "") if draft.visited else ("moon" if moon else "")
        course.tell(pb.FortunaResolved(stone=stone))
        course.discard(FORTUNA, "display", "fortuna")
    _purge(course)


def _purge(course: Course) -> None:
    """SB-11.4."""
    wicked = wicked_in_upper_row(course.draft)
    if len(wicked) >= _CONSTANTS.purge_at:
        course.tell(pb.DisplayPurged(cards=wicked))
        _batch(course, "purge", range(len(PIECES)))
    else:
        _refill(course)


# ---- pieces moving on (SB-13) ----------------------------------------------------------------------------------------


def _batch(course: Course, cause: str, moves: Sequence[int]) -> None:
    """SB-13.3: asks for reactions, makes the moves, and goes on with what comes after this cause."""
    pieces = course.draft.pieces
    moves = [piece for piece in moves if pieces[piece] < TRACK_END]  # SB-13.2
    if moves:
        course.tell(pb.BatchFormed(cause=cause, moves=[PIECES[piece] for piece in moves]))
        if open_window(course, WindowKind.MOVES):
            return
        course.make_moves(moves, cause)
    _after_batch(course, cause)


def _after_batch(course: Course, cause: str) -> None:
    if course.draft.result is None:
        _AFTER_BATCH[cause](course)


def _act(course: Course, card: str) -> None:
    """A wicked card acts (SB-2.9)."""
    course.tell(pb.WickedCardActed(card=card))
    _batch(course, _cause(card), moves_of(course.draft, card))


def _cause(card: str) -> str:
    return "witch" if card in WITCHES else "troll"


def act_in_set_up(course: Course, card: str) -> None:
    """The same while the first display is laid out: nobody holds a spell yet (SB-3.9)."""
    cause, moves = _cause(card), moves_of(course.draft, card)
    course.tell(pb.WickedCardActed(card=card))
    course.tell(pb.BatchFormed(cause=cause, moves=[PIECES[piece] for piece in moves]))
    course.make_moves(moves, cause)


def _after_acting(course: Course) -> None:
    """A wicked card has acted: at the end of the deck it is discarded (SB-14.2), after a refill it stays (SB-12.3)."""
    if course.draft.deck_ending:
        course.discard(wicked_in_upper_row(course.draft)[0], "upper_row", "end_of_deck")
        _deck_acts(course)
    else:
        _fresh_cards_act(course)


# ---- refill (SB-12) --------------------------------------------------------------------------------------------------


def _refill(course: Course) -> None:
    """SB-12.1, SB-12.2."""
    draft = course.draft
    while len(draft.lower) < _CONSTANTS.display_mages:
        if not draft.deck:
            _deck_ends(course)
            return
        card = draft.deck[0]
        to = "lower" if card not in WICKED else "discards" if _guarded(course, card) else "upper"
        course.tell(pb.DestinyCardDrawn(card=card, to=to))
    for guard in [card for card in draft.upper if card in GUARDS]:
        course.discard(guard, "upper_row", "guard")
    _fresh_cards_act(course)


def _guarded(course: Course, card: str) -> bool:
    """SB-8.9."""
    draft = course.draft
    return card in WITCHES and (KNIGHT in draft.upper or (SQUIRE in draft.upper and not draft.squire_used))


def _fresh_cards_act(course: Course) -> None:
    """SB-12.3."""
    fresh = course.draft.fresh
    if fresh:
        _act(course, fresh[0])
    else:
        _end_turn(course)


# ---- the end of the deck (SB-14) -------------------------------------------------------------------------------------


def _deck_ends(course: Course) -> None:
    """SB-14.1."""
    course.tell(pb.DeckRanOut(number=course.draft.deck_ends + 1))
    if not open_window(course, WindowKind.END_OF_DECK):
        _deck_acts(course)


def _deck_acts(course: Course) -> None:
    """SB-14.2, SB-14.3."""
    wicked = wicked_in_upper_row(course.draft)
    if wicked:
        _act(course, wicked[0])
    else:
        _batch(course, "empty_places", empty_places(course.draft))


def _add_wicked_cards(course: Course, count: int) -> None:
    """From the top of the wicked deck into the destiny discards; without one the match is lost (SB-15.1d)."""
    draft = course.draft
    for _ in range(count):
        if not draft.wicked_deck:
            course.end(won=False, reason="wicked_deck_empty")
            return
        card, following = draft.wicked_deck[0], draft.wicked_deck[1:2]
        course.tell(pb.WickedCardAdded(card=card, next_top=following[0] if following else ""))


def _after_empty_places(course: Course) -> None:
    """SB-14.4, SB-14.5."""
    _add_wicked_cards(course, 1)
    if not course.over:
        meet(course, "encounter")


def meet(course: Course, cause: str) -> None:
    """Stones are drawn, and forces counted: an encounter, or the battle (SB-14.5, SB-15.5)."""
    for _ in range(STRENGTH[course.draft.witch]):
        course.draw_stone(cause)
    if not open_window(course, WindowKind.ENCOUNTER_STONES):
        _count(course)


def _count(course: Course) -> None:
    """SB-14.6 to SB-14.8."""
    draft = course.draft
    suns = sum(stone.counts_as_sun for stone in draft.stones)
    moon, sun = counts(draft, suns)
    result = result_of(draft, moon, sun)
    parts = pb.Parts(
        strength=STRENGTH[draft.witch],
        moonstones=len(draft.stones) - suns,
        moon_pile=sum(MOON[card] for card in draft.moon_pile),
        minions=sum(MOON[card] for card in draft.minions),
        sunstones=suns,
        sun_pile=sum(SUN[card] for card in draft.sun_pile),
        books=max(draft.battle, 0),
    )
    course.tell(pb.EncounterCounted(moon=moon, sun=sun, parts=parts, result=result))
    if draft.battle != NO_BATTLE:
        course.end(won=result == "won", reason="final_battle" if result == "won" else "final_battle_lost")
        return
    cards = [*draft.sun_pile, *draft.moon_pile]
    if cards:
        course.tell(pb.TowerCleared(cards=cards))
    if result == "annihilation":
        course.end(won=False, reason=result)
    elif result == "won":
        _won(course)
    else:
        _climb(course)


def _won(course: Course) -> None:
    """SB-14.9."""
    draft = course.draft
    waiting = [minion for minion in MINIONS if minion not in draft.minions]
    course.tell(pb.EncounterWon(minion=waiting[0] if waiting else ""))
    books = books_on_track(draft)
    if len(books) == 1:
        course.move_book(books[0], draft.turn_mage, "encounter")
    if len(books) <= 1:
        _sweep_up(course)


def move_chosen_book(course: Course, book: int) -> None:
    """The active seat has chosen (SB-14.9)."""
    course.move_book(book, course.draft.turn_mage, "encounter")
    _sweep_up(course)


def _climb(course: Course) -> None:
    """SB-14.10: step by step, each with its effects."""
    draft = course.draft
    if not draft.climb:
        _sweep_up(course)
        return
    course.tell(pb.WitchClimbed(step=draft.witch + 1))
    if draft.witch == TOP_STEP:
        course.end(won=False, reason="witch_at_top")
    else:
        _batch(course, "tower_step", CLIMB_MOVES[draft.witch])


def _after_tower_moves(course: Course) -> None:
    _add_wicked_cards(course, CLIMB_WICKED[course.draft.witch])
    if not course.over:
        _climb(course)


def _sweep_up(course: Course) -> None:
    """SB-14.11."""
    draft = course.draft
    number = draft.sweep_ups + 1
    order = course.draws.shuffle(f"reshuffle/{number}", draft.discards)
    cards = sorted_cards(draft.discards)
    course.tell(pb.DestinyDeckSet(number=number, count=len(order), cards=cards, order=order))
    _refill(course)


_AFTER_BATCH: Final[dict[str, Callable[[Course], None]]] = {
    "not_moved": _fortuna,
    "purge": _refill,
    "witch": _after_acting,
    "troll": _after_acting,
    "empty_places": _after_empty_places,
    "tower_step": _after_tower_moves,
}

_AFTER_WINDOW: Final[dict[WindowKind, Callable[[Course], None]]] = {
    WindowKind.STORY_END: _penalty,
    WindowKind.END_OF_DECK: _deck_acts,
    WindowKind.STONE: Course.after_step,
    WindowKind.ENCOUNTER_STONES: _count,
}
