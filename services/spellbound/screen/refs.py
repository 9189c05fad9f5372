"""What may be picked: in what order it is offered, how a thing is marked, and what a thing is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from grimoire.boards import marks_of
from grimoire.engine.board import Shown
from spellbound.cards import CARD_ORDER, TYPE
from spellbound.names import mage_name, name_of
from spellbound.places import BOOKS, PIECES, PLACES
from spellbound.screen.speech import Speech, view_of
from spellbound.short import force_signs

__all__ = ["choices", "marks", "on_table", "ref_words"]

_ORDER: Final = (
    "accept",
    "step",
    "card",
    "mode",
    "level",
    "spell",
    "rider",
    "mage",
    "book",
    "piece",
    "place",
    "village",
)
"""Kinds of refs as they are offered."""
_PLACE_RANK: Final = {place: number for number, place in enumerate(PLACES)}
_BOOK_RANK: Final = {book: number for number, book in enumerate(BOOKS)}
_PIECE_RANK: Final = {piece: number for number, piece in enumerate(PIECES)}
_STEP_RANK: Final = {
    step: number
    for number, step in enumerate(
        ("move", "magic", "influence", "book_own", "book_any", "watchman", "changeling", "tower_discard_top")
    )
}


def choices(shown: Shown) -> Sequence[str]:
    """What may be picked next, in the order of the digits."""
    offered = [ref for ref in shown.fits or shown.instead if ref.partition(":")[0] in _ORDER]
    if not any(ref.startswith("card:") for ref in shown.picked):
        # A card's uses are offered once it is picked: one use is like another's in name.
        offered = [ref for ref in offered if not ref.startswith("mode:")]
    rows = _rows(shown)
    leads = [ref for ref in offered if _leads(ref, rows)]
    if not shown.picked and len(leads) > 1:
        # Where to, or which book, is asked once it is clear what for.
        offered = leads
    return sorted(offered, key=lambda ref: _rank(ref, rows))


_LEADING: Final = frozenset({"accept", "step", "level", "spell", "village"})


def _leads(ref: str, rows: Mapping[str, int]) -> bool:
    """Whether something begins with this thing."""
    kind, _, name = ref.partition(":")
    return kind in _LEADING or (kind == "card" and name in rows)


def _rows(shown: Shown) -> Mapping[str, int]:
    """Cards of the display in the order they are drawn: the mage row, then the wicked row."""
    view = view_of(shown)
    cards = [card.card for row in (view.lower_row, view.upper_row) for card in row]
    return {card: number for number, card in enumerate(cards)}


def _rank(ref: str, rows: Mapping[str, int]) -> tuple[int, int, str]:
    kind, _, name = ref.partition(":")
    if kind == "accept":
        return 0, name != "True", name
    if kind == "card":
        return _ORDER.index(kind), rows.get(name, len(rows) + CARD_ORDER.get(name, 0)), name
    for ranks in (_PLACE_RANK, _BOOK_RANK, _PIECE_RANK, _STEP_RANK):
        if name in ranks:
            return _ORDER.index(kind), ranks[name], name
    return _ORDER.index(kind), 0, name


def marks(shown: Shown) -> Mapping[str, str]:
    """The sign before each thing that is picked, or may be picked next."""
    return marks_of(choices(shown), shown.picked)


def on_table(ref: str, shown: Shown) -> bool:
    """Whether a thing stands in the picture, where its sign marks it."""
    kind, _, name = ref.partition(":")
    if kind == "card":
        return name in _rows(shown)
    return kind in ("place", "village", "book", "piece")


def ref_words(ref: str, shown: Shown, *, brief: bool = False) -> str:
    """A thing that may be picked, in a few words, or in even fewer."""
    speech = Speech(shown.language)
    words = speech.words
    kind, _, name = ref.partition(":")
    if kind == "accept":
        return words.commands["answer_ride_accept" if name == "True" else "answer_ride_decline"]
    if kind == "step":
        return words.terms[f"step.{name}"]
    if kind == "level":
        text = words.commands[f"use_wand_{name}"]
        return text.partition(":")[0] if brief else text
    if kind == "mode":
        return _use(name, shown) or name
    if kind == "mage":
        return mage_name(int(name), shown.language)
    if kind == "rider":
        return speech("rider", mage=mage_name(int(name), shown.language))
    if kind == "village":
        return words.commands["discard_influence_at"].format(village=name_of(name, shown.language))
    if kind == "card":
        return f"{name_of(name, shown.language)} {force_signs(name)}".strip()
    return name_of(name, shown.language)


def _use(mode: str, shown: Shown) -> str:
    """What a picked card does in this mode."""
    for ref in shown.picked:
        kind, _, card = ref.partition(":")
        text = Speech(shown.language).words.commands.get(f"play_card_{TYPE.get(card, '')}_{mode}")
        if kind == "card" and text:
            return text.partition(": ")[2].removeprefix("1 ")
    return ""
