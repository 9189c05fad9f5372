"""The final battle is declared (SB-15.4)."""

from __future__ import annotations

from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import CARD_ORDER
from spellbound.catalogue import DATA
from spellbound.course import Course
from spellbound.fate import meet
from spellbound.notions import all_gathered, books_gained
from spellbound.places import BOOK_INDEX, BOOKS, GAINED
from spellbound.state import Fields

__all__ = ["SUN", "battle_fault", "declare_final_battle", "destroyable"]

SUN = "sun"
"""The use of a book that adds sun force."""


def battle_fault(fields: Fields) -> str:
    """Why no final battle can be declared; empty: it can."""
    if books_gained(fields) < DATA.constants.books_to_win:
        return "books_missing"
    return "" if all_gathered(fields) else "mages_not_gathered"


def destroyable(fields: Fields) -> tuple[str, ...]:
    """Cards that a book may destroy."""
    return (*fields.moon_pile, *fields.minions)


def declare_final_battle(course: Course, command: pb.DeclareFinalBattle) -> str:
    """SB-15.4, SB-15.5."""
    draft = course.draft
    books = [*command.books]
    destroyed = [book.use for book in books if book.use != SUN]
    if any(book.book not in BOOK_INDEX for book in books) or any(card not in CARD_ORDER for card in destroyed):
        return "unknown_id"
    if not {*destroyable(draft)}.issuperset(destroyed):
        return "card_elsewhere"
    fault = battle_fault(draft)
    if fault:
        return fault
    gained = [book for book, at in zip(BOOKS, draft.books, strict=True) if at == GAINED]
    named = sorted((book.book for book in books), key=BOOK_INDEX.__getitem__)
    if named != gained or len({*destroyed}) < len(destroyed):
        return "bad_assignment"
    course.tell(pb.BattleDeclared(seat=draft.active_seat, books=books, destroyed=destroyed))
    meet(course, "battle")
    return ""
