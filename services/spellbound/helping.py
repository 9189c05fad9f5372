"""Spells cast while others think (SB-16.2): when a fellow player had better cast at once than wait for its own turn."""

from __future__ import annotations

from typing import Final

from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.appraisal import MOVERS, Outlook, battle_chance
from spellbound.catalogue import DATA
from spellbound.places import BOOKS, GAINED, NOWHERE, PLACES
from spellbound.sketch import Sketch
from spellbound.windows import BOOK_WYRM, TELEPORT

__all__ = ["enough_chance", "help_of"]

_TO_WIN: Final = DATA.constants.books_to_win


def help_of(view: pb.View, seat: int) -> pb.CastSpell | None:
    """What this seat should cast now so that the final battle can be declared in this very turn; None: nothing.

    A fellow's mage is taken to the tower without its player's leave only as the last one to come (SB-10.9).

    Args:
        view: the seat's own.
        seat: whose spells these are; it is another seat's turn.
    """
    spells = {spell for mage in view.mages if mage.seat == seat for spell in mage.spells}
    if TELEPORT not in spells and BOOK_WYRM not in spells:
        return None
    if view.books_gained < _TO_WIN - 1:
        return None
    sketch = Sketch(view)
    tower = sketch.tower
    if tower == NOWHERE:
        return None
    missing = [mage for mage, place in enumerate(sketch.places) if place != tower]
    if sketch.acting in missing and _goes_itself(sketch):
        missing.remove(sketch.acting)
    chance = battle_chance(sketch, Outlook(view), max(_TO_WIN, view.books_gained))
    if chance < enough_chance(view, sketch):
        return None
    if view.books_gained >= _TO_WIN:
        if TELEPORT in spells and len(missing) == 1:
            return pb.CastSpell(spell=TELEPORT, mage=missing[0], to=PLACES[tower])
        return None
    nearly = [book for book, at in enumerate(sketch.books) if at == GAINED - 1]
    if BOOK_WYRM in spells and nearly and not missing:
        return pb.CastSpell(spell=BOOK_WYRM, book=BOOKS[nearly[0]])
    return None


def _goes_itself(sketch: Sketch) -> bool:
    """The acting mage can still move in this turn."""
    moves = any("move" in kinds and times for kinds, times in sketch.left)
    return moves or sketch.wand > 0 or any(card in MOVERS for card in sketch.lower)


def enough_chance(view: pb.View, sketch: Sketch) -> float:
    """The chance at which the battle is declared: the nearer the match is to being lost, the lower."""
    second = sorted(sketch.pieces)[-2]
    if second >= GAINED - 1:
        return 0.35
    if view.wicked_deck_count <= 1 or view.tower.witch == len(DATA.tower) - 1:
        return 0.5
    if view.deck_count < 4:
        return 0.6
    return 0.75 if second >= GAINED - 2 else 0.85
