"""The whole board: one table, lists beside it, and everything about one thing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from grimoire.boards import OneTableBoard
from grimoire.engine.board import BoardHost, Panel, Shown
from grimoire.engine.sentences import capital
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import SPELLS, TYPE
from spellbound.names import name_of, type_text
from spellbound.screen.refs import choices, ref_words
from spellbound.screen.signs import ACCENT
from spellbound.screen.speech import Speech, view_of
from spellbound.screen.table import table_lines
from spellbound.short import counted, force_signs, legend, village_words
from spellbound.terminal import mage_words, track_words, turn_words

__all__ = ["SpellboundBoard"]


class SpellboundBoard(OneTableBoard):
    """`grimoire.engine.board.Board` of Spellbound.

    Args:
        host: the client.
    """

    shortcuts: ClassVar[Mapping[str, str]] = {
        "n": "end_story",
        "x": "end_card",
        "d": "discard_card",
        "w": "use_wand",
        "p": "pass",
        "t": "send_to_tower",
        "k": "skip_turn",
        "f": "declare_final_battle",
        "u": "discard_influence",
    }

    def __init__(self, host: BoardHost) -> None:
        super().__init__(host, table_lines, choices, ACCENT)

    def headline(self) -> str:
        """Whose turn it is and what is asked."""
        if self._shown is None:
            return ""
        return turn_words(view_of(self._shown), self._shown.language, self._shown.names)

    def detail(self, ref: str) -> str:
        """Everything about one thing."""
        if self._shown is None:
            return ""
        view, language = view_of(self._shown), self._shown.language
        kind, _, name = ref.partition(":")
        if kind in ("card", "spell"):
            return _card_text(name, language)
        if kind == "place":
            return capital(_place_text(name, view, language)) + "."
        if kind in ("mage", "rider"):
            return next(
                f"{capital(mage_words(mage, view, language, self._shown.names))}."
                for mage in view.mages
                if mage.mage == int(name)
            )
        return f"{capital(ref_words(ref, self._shown))}."

    def panels(self) -> Sequence[Panel]:
        """Signs, mages with their spells, places in words, the tower, and the deck."""
        if self._shown is None:
            return ()
        view, speech = view_of(self._shown), Speech(self._shown.language)
        return (
            Panel("g", speech("signs"), legend(self._shown.language)),
            Panel("s", speech("mages"), tuple(_mages(self._shown))),
            Panel("v", speech("places"), tuple(_places(view, speech.language))),
            Panel("o", speech("tower"), tuple(_tower(view, speech))),
            Panel("y", speech("piles"), tuple(_piles(view, speech))),
        )


def _card_text(card: str, language: str) -> str:
    force = force_signs(card)
    name = f"{name_of(card, language)} {force}".strip()
    return f"{name} · {type_text(TYPE[card], language)}"


def _place_text(place: str, view: pb.View, language: str) -> str:
    for track in view.tracks:
        if track.place == place:
            return track_words(track, view, language)
    village = next(each for each in view.villages if each.village == place)
    line = village_words(village, view, language)
    return f"{line} · {type_text(TYPE[village.card], language).removesuffix('.')}" if village.card else line


def _mages(shown: Shown) -> Iterator[str]:
    view, language = view_of(shown), shown.language
    for mage in view.mages:
        yield capital(mage_words(mage, view, language, shown.names)) + "."
        for spell in mage.spells:
            timing = Speech(language).words.terms[SPELLS[spell]]
            yield f"  {name_of(spell, language)} ({timing}): {type_text(TYPE[spell], language)}"
    words = Speech(language).words
    for seat in dict.fromkeys(mage.seat for mage in view.mages):
        policy = words.terms[view.policies[seat]] if seat < len(view.policies) else ""
        asked = words.terminal["policy"].format(seat=words.seat(seat, shown.names), policy=policy)
        yield words.terminal["policies"].format(policies=asked)


def _places(view: pb.View, language: str) -> Iterator[str]:
    for track in view.tracks:
        yield capital(track_words(track, view, language)) + "."
    for village in view.villages:
        yield capital(_place_text(village.village, view, language)) + "."


def _tower(view: pb.View, speech: Speech) -> Iterator[str]:
    tower, language = view.tower, speech.language
    for key, cards in (("sun_pile", tower.sun_pile), ("moon_pile", tower.moon_pile), ("minions", tower.minions)):
        yield f"{speech(key)}:"
        yield from (f"  {name_of(card, language)} {force_signs(card)}" for card in reversed(cards))


def _piles(view: pb.View, speech: Speech) -> Iterator[str]:
    language, nothing = speech.language, speech("none")
    yield f"{speech('in_deck')}: {counted(view.deck_cards, language) or nothing}"
    yield f"{speech('discards')}: {counted(reversed(view.discards), language) or nothing}"
    yield f"{speech('removed')}: {counted(view.removed, language) or nothing}"
