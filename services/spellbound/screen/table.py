"""The table, line by line: tracks and tower, mages, villages, the display, what is under way, what may be chosen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from textual.geometry import Size

from grimoire.boards import DIGITS, legend_lines
from grimoire.engine.board import Shown
from grimoire.engine.lines import cut, fitting
from grimoire.engine.pieces import Line, Piece, flowing, padded, side_by_side, width_of
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import MOON as MOON_FORCE
from spellbound.cards import TYPE
from spellbound.catalogue import DATA
from spellbound.names import mage_letter, name_of, type_text
from spellbound.screen.refs import choices, marks, on_table, ref_words
from spellbound.screen.signs import (
    ACCENT,
    BOOK_COLOURS,
    DANGER,
    FAINT,
    MOON,
    MUTED,
    SEATS,
    SUN,
    seat_colour,
)
from spellbound.screen.speech import Speech, view_of
from spellbound.short import (
    BOOK_SIGN,
    GUARD_SIGN,
    MOON_SIGN,
    NEW_SIGN,
    SPELL_SIGN,
    SUN_SIGN,
    counted,
    force_signs,
    gap,
    is_caught_next,
    legend,
    letters_at,
    piece_sign,
    progress_words,
    window_words,
)
from spellbound.terminal import warnings

__all__ = ["table_lines"]

_CELL: Final = 3
_LABEL: Final = 10
"""Cells of a track's name, its mark included."""
_STATE: Final = 7
_LETTERS: Final = 5
_TALL: Final = 30
"""From so many rows on cards of the display have a line each, with their texts."""
_COLUMNS: Final = 3
"""Of villages."""
_LEFT: Final = _LABEL + _CELL * DATA.constants.track_end + _STATE + _LETTERS


def table_lines(shown: Shown, size: Size) -> list[Line]:
    """The table from the top downwards, at most as many lines as there are rows.

    Args:
        shown: the view, the names and what may be picked.
        size: in cells.
    """
    return _Drawing(shown, size).lines()


class _Drawing:
    def __init__(self, shown: Shown, size: Size) -> None:
        self._shown = shown
        self._view = view_of(shown)
        self._speech = Speech(shown.language)
        self._marks: Mapping[str, str] = marks(shown)
        self._width, self._height = size.width, size.height

    def lines(self) -> list[Line]:
        """What is asked and may be chosen stands below, whatever has to give way."""
        below = [*self._under_way(), *self._choices()]
        top = [*self._top(), *self._villages()]
        for display in (self._told_display, self._display):
            rows = [*display()]
            if len(top) + len(rows) + len(below) <= self._height or display == self._display:
                break
        room = self._height - len(top) - len(rows) - len(below)
        air: list[Line] = [()] if room >= 3 else []
        lines: list[Line] = [*top[:-4], *air, *top[-4:], *air, *rows, *air, *below]
        if len(lines) > self._height:
            # Smaller than what is promised: the middle gives way, never what is asked.
            lines = [*lines[: max(0, self._height - len(below))], *below]
        lines += self._legend(self._height - len(lines))
        return lines[: self._height]

    # ---- marks -----------------------------------------------------------------------------------------------------

    def _piece(self, text: str, style: str, *refs: str) -> Piece:
        """A thing with a cell before it for its mark."""
        mark = next((self._marks[ref] for ref in refs if ref in self._marks), "")
        picked = any(ref in self._shown.picked for ref in refs)
        return Piece(f"{mark or ' '}{text}", f"{style} reverse" if picked else style, refs, mark)

    # ---- tracks, mages, tower --------------------------------------------------------------------------------------

    def _top(self) -> Iterator[Line]:
        left: list[Line] = [self._spaces(), *map(self._track, self._view.tracks), *map(self._mage, self._view.mages)]
        return iter([*side_by_side(left, [*self._facts()], min(_LEFT, self._width), self._width)])

    def _spaces(self) -> Line:
        spells = self._view.tracks[0].spell_spaces if self._view.tracks else ()
        numbers = (f"{n}{SPELL_SIGN if n in spells else ' '}" for n in range(1, DATA.constants.track_end + 1))
        return (Piece(" " * _LABEL), Piece("".join(f"{number:<{_CELL}}" for number in numbers), FAINT))

    def _track(self, track: pb.TrackView) -> Line:
        colour = BOOK_COLOURS[track.book]
        refs = f"place:{track.place}", f"book:{track.book}", f"piece:{track.piece}"
        line = [self._piece(f"{self._speech(track.place):<{_LABEL - 1}}", f"bold {colour}", *refs)]
        line += [self._space(track, space, colour, refs) for space in range(1, track.length + 1)]
        state, style = self._state(track)
        line.append(Piece(f"{state:<{_STATE}}", style, refs))
        line.append(Piece(letters_at(self._view, track.place), "bold", refs))
        return line

    def _space(self, track: pb.TrackView, space: int, colour: str, refs: tuple[str, ...]) -> Piece:
        if track.piece_at == space:
            return Piece(f"{piece_sign(track.piece):<{_CELL}}", f"bold {colour}", refs)
        if track.book_at == space and track.book_state != "lost":
            return Piece(f"{BOOK_SIGN:<{_CELL}}", f"bold {colour}", refs)
        return Piece(f"{SPELL_SIGN if space in track.spell_spaces else '·':<{_CELL}}", FAINT, refs)

    def _state(self, track: pb.TrackView) -> tuple[str, str]:
        if track.book_state == "on_track":
            return (f"+{gap(track)} !!", DANGER) if is_caught_next(track) else (f"+{gap(track)}", MUTED)
        return self._speech(track.book_state), f"bold {ACCENT}" if track.book_state == "gained" else DANGER

    def _mage(self, mage: pb.MageView) -> Line:
        view, shown, speech = self._view, self._shown, self._speech
        turn = view.turn and not view.HasField("result")
        sign = "▶" if turn and mage.mage == view.turn_mage else "»" if turn and mage.mage == view.acting_mage else " "
        name = speech.words.seat(mage.seat, shown.names)
        own = f" ({speech('you')})" if shown.seat == mage.seat else ""
        spells = ", ".join(name_of(spell, shown.language) for spell in mage.spells)
        wand = f" {speech('wand', n=mage.wand)}" + (f" · {spells}" if spells else "")
        refs = f"mage:{mage.mage}", f"rider:{mage.mage}"
        return (
            self._piece(f"{sign}{mage_letter(mage.mage)} ", f"bold {ACCENT}" if sign != " " else "bold", *refs),
            Piece(f"{SEATS[mage.seat]} {cut(name, 15)}{own}", f"bold {seat_colour(mage.seat)}", refs),
            Piece(wand, MUTED),
        )

    def _facts(self) -> Iterator[Line]:
        """Beside the tracks: the tower, decks, stones, books."""
        view, speech, width = self._view, self._speech, max(0, self._width - _LEFT)
        tower, terms = view.tower, speech.words.terms
        step = speech("witch", name=terms["witch"], step=tower.witch, top=len(DATA.tower))
        yield (Piece(fitting(width, f"{step} · {speech('strength', n=tower.strength)}", step), f"bold {MOON}"),)
        yield (Piece(f"{SUN_SIGN}{tower.sun_force} ", f"bold {SUN}"), Piece(self._pile(tower.sun_pile), MUTED))
        moon = sum(MOON_FORCE[card] for card in tower.moon_pile)
        yield (Piece(f"{MOON_SIGN}{moon} ", f"bold {MOON}"), Piece(self._pile(tower.moon_pile), MUTED))
        minions = counted(tower.minions, self._shown.language) or speech("none")
        yield (Piece(f"{speech('minions')}: {minions}", MUTED),)
        yield (Piece(speech("decks", deck=view.deck_count, out=len(view.discards), ends=view.deck_ends), MUTED),)
        top = name_of(view.wicked_top, self._shown.language) if view.wicked_top else speech("none")
        yield (Piece(f"{speech('wicked_deck')} {view.wicked_deck_count}: {top}", MUTED),)
        stones = speech("stones", bag=_stones(view.bag), drawn=_stones(view.drawn), supply=_stones(view.supply))
        brief = speech("stones_brief", bag=_stones(view.bag), drawn=_stones(view.drawn), supply=_stones(view.supply))
        yield (Piece(fitting(width, stones, brief), MUTED),)
        yield (Piece(speech("books", gained=view.books_gained, lost=view.books_lost), "bold"),)
        yield (Piece(speech("spell_deck", n=view.spell_deck_count), MUTED),)
        variants = [*self._variants()]
        if variants:
            yield (Piece(", ".join(variants), FAINT),)

    def _pile(self, cards: Sequence[str]) -> str:
        return counted(cards[::-1], self._shown.language) or self._speech("none")

    def _variants(self) -> Iterable[str]:
        view, words = self._view, self._speech.words
        if view.arranged:
            yield self._speech("arranged")
        if view.troll_buster:
            yield words.options["troll_buster"]
        if view.dan:
            yield self._speech("dan", n=view.dan)
        if view.witchfinder_general:
            yield words.options["witchfinder_general"]

    # ---- villages --------------------------------------------------------------------------------------------------

    def _villages(self) -> Iterator[Line]:
        width = self._width // _COLUMNS
        cells = [padded(self._village(village, width - 1), width) for village in self._view.villages]
        rows = -(-len(cells) // _COLUMNS)
        for row in range(rows):
            yield [piece for column in range(_COLUMNS) for piece in cells[row * _COLUMNS + column]]

    def _village(self, village: pb.VillageView, width: int) -> Line:
        """Number, card, influence lying and asked for, and who is there; the card's name gives way first."""
        refs = f"place:{village.village}", f"village:{village.village}"
        number = f"{int(village.village[-2:]):>2} "
        amount = f" {village.amount}/{village.requirement}" if village.requirement else ""
        if not amount and village.amount:
            amount = f" {village.amount}"
        letters = letters_at(self._view, village.village)
        tail = len(amount) + (len(letters) + 1 if letters else 0)
        name, style = self._village_name(village)
        line = [self._piece(number, MUTED, *refs), Piece(cut(name, max(1, width - 4 - tail)), style, refs)]
        if amount:
            line.append(Piece(amount, f"bold {SUN}" if village.amount else MUTED, refs))
        if letters:
            line.append(Piece(f" {letters}", f"bold {ACCENT}", refs))
        return line

    def _village_name(self, village: pb.VillageView) -> tuple[str, str]:
        if village.face_down:
            return "?", FAINT
        if not village.card:
            return "–", FAINT
        return name_of(village.card, self._shown.language), "" if village.requirement else f"bold {MOON}"

    # ---- the display -----------------------------------------------------------------------------------------------

    def _rows(self) -> Iterator[tuple[str, Sequence[pb.CardView]]]:
        yield self._speech("upper"), self._view.upper_row
        yield self._speech("lower"), self._view.lower_row

    def _card(self, card: pb.CardView) -> Piece:
        flag = NEW_SIGN if card.new else GUARD_SIGN if card.guard else ""
        force = "" if card.guard else force_signs(card.card)
        name = name_of(card.card, self._shown.language)
        text = " ".join(part for part in (f"{name}{flag}", force) if part)
        colour = BOOK_COLOURS.get(card.book, MOON if card.moon else "")
        return self._piece(f"{text} ", f"bold {colour}".strip(), f"card:{card.card}")

    def _display(self) -> Iterator[Line]:
        """Cards one after the other."""
        for label, cards in self._rows():
            before = Piece(f"{label}: ", MUTED)
            if cards:
                yield from flowing(before, map(self._card, cards), self._width)
            else:
                yield (before, Piece(self._speech("none"), FAINT))

    def _told_display(self) -> Iterator[Line]:
        """Each card on its own line, with what it does."""
        if self._height < _TALL:
            # Where lines are few, they are kept for what else there is.
            yield from [()] * (self._height + 1)
            return
        for label, cards in self._rows():
            yield (Piece(f"{label}:", MUTED), Piece("" if cards else f" {self._speech('none')}", FAINT))
            for card in cards:
                text = type_text(TYPE[card.card], self._shown.language)
                piece = self._card(card)
                room = self._width - len(piece.text) - 3
                yield (piece, Piece(f"· {cut(text, max(1, room))}", FAINT, piece.refs))

    # ---- what is under way -----------------------------------------------------------------------------------------

    def _under_way(self) -> Iterator[Line]:
        view, language = self._view, self._shown.language
        for text in window_words(view, language, self._shown.names):
            yield (Piece(cut(text, self._width), f"bold {ACCENT}"),)
        progress = progress_words(view, language)
        if progress:
            yield (Piece(cut(progress, self._width), f"bold {ACCENT}"),)
        warned = [*warnings(view, language)]
        if self._height < _TALL:
            warned = [" · ".join(self._brief_warnings())] if warned else []
        for text in warned:
            yield (Piece(cut(f"! {text}", self._width), DANGER),)

    def _brief_warnings(self) -> Iterator[str]:
        view, speech = self._view, self._speech
        if view.idle_piece:
            yield speech("idle", piece=name_of(view.idle_piece, self._shown.language))
        if any(card.group == "fortuna" for card in view.lower_row):
            yield speech("fortuna_visited" if view.fortuna_visited else "fortuna")
        if sum(not card.guard for card in view.upper_row) >= DATA.constants.purge_at:
            yield speech("purge")

    def _choices(self) -> Iterator[Line]:
        """What is not in the picture: what is picked of it, and with its digits what may be picked."""
        shown = self._shown
        offered = choices(shown) if shown.usable else ()
        named = [("▶", ref) for ref in shown.picked if not on_table(ref, shown)]
        named += [
            (f"{n}) " if n <= DIGITS else "", ref) for n, ref in enumerate(offered, 1) if not on_table(ref, shown)
        ]
        if not named:
            return
        line: list[Piece] = []
        for brief in (False, True):
            line = [Piece(f"{self._speech('choose')}: ", f"bold {ACCENT}")]
            for sign, ref in named:
                text = ref_words(ref, shown, brief=brief)
                line += [Piece(sign, f"bold {ACCENT}", (ref,)), Piece(f"{text}  ", MUTED, (ref,))]
            if width_of(line) <= self._width:
                break
        yield line if width_of(line) <= self._width else padded(line, self._width)

    def _legend(self, room: int) -> list[Line]:
        """What the signs mean, where there is room for all of it."""
        return legend_lines(legend(self._shown.language), self._width, room, FAINT)


def _stones(stones: pb.Stones) -> str:
    return f"{SUN_SIGN}{stones.sun}{MOON_SIGN}{stones.moon}"
