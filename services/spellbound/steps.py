"""The steps of a card in progress (SB-6.2, SB-7, SB-8), and what they share with the wand and spells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import BOOK, INFLUENCE, MODES, SET_CARDS, STEPS, WICKED
from spellbound.catalogue import DATA
from spellbound.course import Course
from spellbound.fate import open_window
from spellbound.notions import ally_at, amount_at, city_to_city, lowest_requirement
from spellbound.places import (
    CITIES,
    FIRST_VILLAGE,
    NOWHERE,
    PLACE_INDEX,
    PLACES,
    TRACK_START,
    WILDERNESS,
    on_track,
)
from spellbound.state import NO_ONE, Fields, Progress, WindowKind
from spellbound.superfluous import superfluous

__all__ = [
    "STEP_FAULTS",
    "answer_ride",
    "book_fault",
    "card_step",
    "changeling_fault",
    "move_fault",
    "ride_fault",
    "step_left",
    "top_wicked_card",
    "watchman_fault",
]

_FIELDS: Final = {
    "move": frozenset({"step", "to", "rider"}),
    "watchman": frozenset({"step", "city"}),
    "changeling": frozenset({"step", "village"}),
}
_STEP_ONLY: Final = frozenset({"step"})


# ---- what may be done ------------------------------------------------------------------------------------------------


def step_left(progress: Progress, step: str) -> bool:
    """Whether the mode still has such a step (SB-6.2)."""
    return any(times and step in kinds for kinds, times in progress.left)


def move_fault(fields: Fields, mage: int, to: int) -> str:
    """Why a figure cannot make this movement (SB-7.1); empty: it can."""
    here = fields.places[mage]
    if to == here:
        return "same_place"
    return "city_to_city" if city_to_city(here, to) else ""


def ride_fault(fields: Fields, progress: Progress, rider: int, to: int) -> str:
    """Why this mage cannot ride along (SB-8.2)."""
    if rider == fields.acting or fields.places[rider] != fields.here:
        return "rider_not_here"
    if progress.rider not in (NO_ONE, rider):
        return "one_rider"
    if not MODES[progress.card][progress.mode].carry:
        return "no_carry"
    return "ride_refused" if (rider, to) in progress.refused else ""


def _magic_fault(fields: Fields, _progress: Progress) -> str:
    """SB-7.5 to SB-7.7."""
    here = fields.here
    if here > WILDERNESS:
        return "no_magic_here"
    if here == WILDERNESS:
        return "wand_full" if fields.wands[fields.turn_mage] >= DATA.constants.wand_top else ""
    return "hat_at_start" if fields.pieces[here] <= TRACK_START else ""


def _influence_fault(fields: Fields, progress: Progress) -> str:
    """SB-7.9."""
    here = fields.here
    if not ally_at(fields, here):
        return "no_ally_here"
    return "influence_elsewhere" if progress.village not in (NOWHERE, here) else ""


def book_fault(fields: Fields, only: int = NOWHERE) -> str:
    """Why the acting mage cannot move the book of its place, or only this one (SB-7.15)."""
    here = fields.here
    if here > WILDERNESS or only not in (NOWHERE, here):
        return "not_at_the_book"
    return "" if on_track(fields.books[here]) else "book_not_on_track"


def watchman_fault(fields: Fields, to: int) -> str:
    """SB-8.3."""
    if to == fields.watchman:
        return "same_place"
    return "not_a_city" if to >= CITIES else ""


def changeling_fault(fields: Fields, place: int) -> str:
    """SB-8.4."""
    ally = ally_at(fields, place)
    if not ally:
        return "no_target"
    return "" if INFLUENCE[ally] == lowest_requirement(fields) else "not_lowest"


def top_wicked_card(fields: Fields) -> str:
    """The topmost witch or troll card at the tower; empty: none (SB-8.6)."""
    return next((card for card in reversed(fields.moon_pile) if card in WICKED), "")


STEP_FAULTS: Final[dict[str, Callable[[Fields, Progress], str]]] = {
    "magic": _magic_fault,
    "influence": _influence_fault,
    "book_own": lambda fields, progress: book_fault(fields, BOOK[progress.card]),
    "book_any": lambda fields, _: book_fault(fields),
    "tower_discard_top": lambda fields, _: "" if top_wicked_card(fields) else "no_target",
}
"""Why a step without a choice cannot be made; empty: it can."""


# ---- one step --------------------------------------------------------------------------------------------------------


def card_step(course: Course, command: pb.CardStep) -> str:
    """Uses one step of the card in progress; or the code why not."""
    step = command.step
    progress = course.draft.progress
    if progress is None or step not in STEPS or superfluous(command, _FIELDS.get(step, _STEP_ONLY)):
        return "unknown_id"
    if step == "move":
        return _move(course, command, progress)
    if step == "watchman":
        return _watchman(course, command.city, progress)
    if step == "changeling":
        return _changeling(course, command.village, progress)
    if not step_left(progress, step):
        return "step_not_left"
    fault = STEP_FAULTS[step](course.draft, progress)
    if not fault:
        _STEPS[step](course)
    return fault


def _move(course: Course, command: pb.CardStep, progress: Progress) -> str:
    draft = course.draft
    rider = command.rider if command.HasField("rider") else NO_ONE
    if command.to not in PLACE_INDEX or rider >= len(draft.places):
        return "unknown_id"
    if not step_left(progress, "move"):
        return "step_not_left"
    to = PLACE_INDEX[command.to]
    fault = move_fault(draft, draft.acting, to)
    if not fault and rider != NO_ONE:
        fault = ride_fault(draft, progress, rider, to)
    if fault:
        return fault
    seats = draft.terms.mage_seats
    if rider != NO_ONE and seats[rider] != draft.active_seat:
        course.tell(pb.RideAsked(mage=draft.acting, rider=rider, to=command.to))
    else:
        _go(course, to, rider)
    return ""


def _go(course: Course, to: int, rider: int) -> None:
    draft = course.draft
    course.move(draft.acting, to, "card")
    if rider != NO_ONE:
        course.move(rider, to, "ride")
    course.arrive(draft.acting, charges=draft.turn_mage)
    if rider != NO_ONE:
        course.arrive(rider, charges=rider)
    course.after_step()


def answer_ride(course: Course, command: pb.AnswerRide) -> str:
    """The rider's seat agrees or declines (SB-8.2)."""
    draft = course.draft
    ride = draft.ride
    if ride is None:
        return "wrong_state"
    course.tell(pb.RideAnswered(mage=draft.acting, rider=ride.rider, to=PLACES[ride.to], accept=command.accept))
    if command.accept:
        _go(course, ride.to, ride.rider)
    return ""


def _watchman(course: Course, city: str, progress: Progress) -> str:
    """SB-8.3."""
    draft = course.draft
    if city not in PLACE_INDEX:
        return "unknown_id"
    if not step_left(progress, "watchman"):
        return "step_not_left"
    fault = watchman_fault(draft, PLACE_INDEX[city])
    if fault:
        return fault
    left = draft.watchman
    if left != NOWHERE and draft.pieces[left] > TRACK_START:
        course.move_back(left, "watchman")
    course.tell(pb.WatchmanMoved(to=city, **{"from": "" if left == NOWHERE else PLACES[left]}))
    course.after_step()
    return ""


def _changeling(course: Course, village: str, progress: Progress) -> str:
    """SB-8.4."""
    draft = course.draft
    place = PLACE_INDEX.get(village, NOWHERE)
    if place < FIRST_VILLAGE:
        return "unknown_id"
    if not step_left(progress, "changeling"):
        return "step_not_left"
    fault = changeling_fault(draft, place)
    if fault:
        return fault
    card = draft.villages[place - FIRST_VILLAGE]
    course.discard(card, village, "changeling")
    following = next((each for each in SET_CARDS[card] if each in draft.set_aside), "")
    course.tell(pb.VillageRestocked(village=village, card=following))
    course.after_step()
    return ""


def _magic(course: Course) -> None:
    """SB-7.5, SB-7.6."""
    draft = course.draft
    here = draft.here
    if here == WILDERNESS:
        course.charge(draft.turn_mage, "magic")
    elif course.draw_stone("magic"):
        course.move_back(here, "magic")
    elif open_window(course, WindowKind.STONE):
        return
    course.after_step()


def _influence(course: Course) -> None:
    """SB-7.9, SB-7.10."""
    draft = course.draft
    here, progress = draft.here, draft.progress
    if progress is None:
        raise RuntimeError("no card is in progress")
    amount = amount_at(draft, here) + 1
    course.tell(pb.InfluenceAdded(village=PLACES[here], card=progress.card, amount_now=amount))
    course.recruit_if_enough(here)
    course.after_step()


def _book(course: Course) -> None:
    """SB-7.15."""
    course.move_book(course.draft.here, course.draft.turn_mage, "card")
    course.after_step()


def _tower_discard_top(course: Course) -> None:
    """SB-8.6."""
    course.discard(top_wicked_card(course.draft), "tower", "ranger")
    course.after_step()


_STEPS: Final[dict[str, Callable[[Course], None]]] = {
    "magic": _magic,
    "influence": _influence,
    "book_own": _book,
    "book_any": _book,
    "tower_discard_top": _tower_discard_top,
}
