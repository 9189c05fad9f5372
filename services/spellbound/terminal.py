"""The game as plain text: everything that is open, in words, readable aloud."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from google.protobuf.message import Message

from grimoire.engine.lines import own_view, wrapped
from grimoire.engine.sentences import capital
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import FORTUNA, MOON
from spellbound.catalogue import DATA
from spellbound.names import mage_name, name_of
from spellbound.short import (
    card_words,
    counted,
    gap,
    mages_at,
    progress_words,
    stones_words,
    village_words,
    window_words,
)
from spellbound.text import SpellboundTexts
from spellbound.words import Words, words_in

__all__ = ["SpellboundTerminal", "mage_words", "track_words", "turn_words", "warnings"]

_MIN_WIDTH: Final = 40


class SpellboundTerminal:
    """`Terminal` of Spellbound."""

    def render(self, view: Message, language: str, names: Mapping[int, str], width: int) -> Sequence[str]:
        """Text lines of a view, at most `width` columns wide (at least 40 are used).

        Raises:
            TypeError: for another game's view.
        """
        room = max(width, _MIN_WIDTH)
        page = _Page(own_view(view, pb.View, "Spellbound"), language, names)
        return [piece for line in page.lines() for piece in wrapped(capital(line), room)]


def turn_words(view: pb.View, language: str, names: Mapping[int, str]) -> str:
    """Whose turn it is and what is asked, or how the match ended."""
    words = words_in(language)
    if view.HasField("result"):
        ended = pb.MatchEnded(result=view.result.result, reason=view.result.reason)
        return words.terminal["over"].format(sentence=SpellboundTexts().say_event(ended, language, names))
    if not view.turn:
        return words.terminal["preparing"]
    key = "turn" if view.acting_mage == view.turn_mage else "turn_puppet"
    return words.terminal[key].format(
        turn=view.turn,
        mage=mage_name(view.turn_mage, language),
        seat=words.seat(view.active_seat, names),
        puppet=mage_name(view.acting_mage, language),
        state=words.terms[view.state],
    )


def track_words(track: pb.TrackView, view: pb.View, language: str) -> str:
    """A track with its place: piece, book, and who stands there."""
    say = words_in(language).terminal
    key = "track" if track.book_state == "on_track" else f"track_{track.book_state}"
    line = say[key].format(
        place=name_of(track.place, language),
        piece=name_of(track.piece, language),
        at=track.piece_at,
        book_at=track.book_at,
        gap=gap(track),
    )
    there = mages_at(view, track.place)
    if there:
        line = say["track_mages"].format(track=line, mages=", ".join(mage_name(mage, language) for mage in there))
    return say["track_watchman"].format(track=line) if view.watchman == track.place else line


def mage_words(mage: pb.MageView, view: pb.View, language: str, names: Mapping[int, str]) -> str:
    """A figure: whose it is, where it stands, its wand and spells, and whether it is its turn."""
    words = words_in(language)
    say = words.terminal
    line = say["mage"].format(
        mage=mage_name(mage.mage, language),
        seat=words.seat(mage.seat, names),
        place=name_of(mage.place, language),
        wand=mage.wand,
        spells=", ".join(name_of(spell, language) for spell in mage.spells) or say["no_spells"],
    )
    if not view.turn or view.HasField("result"):
        return line
    if mage.mage == view.turn_mage:
        return say["mage_turn"].format(line=line)
    return say["mage_acting"].format(line=line) if mage.mage == view.acting_mage else line


def warnings(view: pb.View, language: str) -> Iterator[str]:
    """What will happen at the end of the story if nothing is done about it."""
    say = words_in(language).terminal
    if view.HasField("result"):
        return
    if view.idle_piece:
        yield say["idle"].format(piece=name_of(view.idle_piece, language))
    if any(card.card == FORTUNA for card in view.lower_row):
        yield say["fortuna_visited" if view.fortuna_visited else "fortuna"]
    if sum(not card.guard for card in view.upper_row) >= DATA.constants.purge_at:
        yield say["purge"]


class _Page:
    """One view in one language."""

    def __init__(self, view: pb.View, language: str, names: Mapping[int, str]) -> None:
        self._view = view
        self._language = language
        self._names = names
        self._words: Words = words_in(language)

    def lines(self) -> Iterable[str]:
        view, language = self._view, self._language
        yield self._words.terminal["title"]
        yield turn_words(view, language, self._names)
        yield from window_words(view, language, self._names)
        progress = progress_words(view, language)
        if progress:
            yield progress
        yield from warnings(view, language)
        for mage in view.mages:
            yield mage_words(mage, view, language, self._names)
        yield self._say("books", gained=view.books_gained, lost=view.books_lost)
        yield self._say("tracks")
        for track in view.tracks:
            yield "  " + capital(track_words(track, view, language))
        yield self._say("villages")
        for village in view.villages:
            yield "  " + capital(village_words(village, view, language))
        yield self._say("upper", cards=self._row(view.upper_row))
        yield self._say("lower", cards=self._row(view.lower_row))
        yield from self._tower()
        yield from self._piles()
        yield from self._terms()
        yield from self._hidden()

    def _say(self, key: str, **arguments: object) -> str:
        return self._words.terminal[key].format(**arguments)

    def _listed(self, cards: Iterable[str]) -> str:
        return counted(cards, self._language) or self._words.terminal["nothing"]

    def _row(self, cards: Iterable[pb.CardView]) -> str:
        return ", ".join(card_words(card, self._language) for card in cards) or self._words.terminal["nothing"]

    def _tower(self) -> Iterable[str]:
        tower = self._view.tower
        key = "tower" if tower.strength else "tower_top"
        yield self._say(key, step=tower.witch, strength=tower.strength)
        moon = sum(MOON[card] for card in tower.moon_pile)
        yield self._say("sun_pile", force=tower.sun_force, cards=self._listed(tower.sun_pile))
        yield self._say("moon_pile", force=moon, cards=self._listed(tower.moon_pile))
        yield self._say("minions", cards=self._listed(tower.minions))

    def _piles(self) -> Iterable[str]:
        view = self._view
        yield self._say(
            "decks",
            deck=view.deck_count,
            discards=len(view.discards),
            wicked=view.wicked_deck_count,
            top=name_of(view.wicked_top, self._language) or self._words.terminal["wicked_none"],
            spells=view.spell_deck_count,
            ends=view.deck_ends,
        )
        bag, drawn, supply = (stones_words(each, self._words) for each in (view.bag, view.drawn, view.supply))
        yield self._say("stones", bag=bag, drawn=drawn, supply=supply)

    def _terms(self) -> Iterable[str]:
        view, words = self._view, self._words
        asked = {mage.seat: view.policies[mage.seat] for mage in view.mages if view.policies}
        policies = ", ".join(
            self._say("policy", seat=words.seat(seat, self._names), policy=words.terms[policy])
            for seat, policy in asked.items()
        )
        if policies:
            yield self._say("policies", policies=policies)
        variants = [words.options["troll_buster"]] if view.troll_buster else []
        variants += [words.options["witchfinder_general"]] if view.witchfinder_general else []
        variants += [_dan(view.dan, words)] if view.dan else []
        if variants:
            yield self._say("variants", variants=", ".join(variants))
        if view.arranged:
            yield self._say("arranged")

    def _hidden(self) -> Iterable[str]:
        """Only in the all-seeing view: decks from the top, and what lies face down."""
        view, words = self._view, self._words
        for key, cards in (
            ("destiny_deck", view.deck),
            ("wicked_deck", view.wicked_deck),
            ("spell_deck", view.spell_deck),
        ):
            if cards:
                named = ", ".join(name_of(card, self._language) for card in cards)
                yield self._say("hidden", what=words.terms[key], cards=named)
        for village, card in zip(view.villages, view.face_down, strict=False):
            if card:
                name = name_of(village.village, self._language)
                yield self._say("hidden", what=name, cards=name_of(card, self._language))


def _dan(dan: int, words: Words) -> str:
    return words.options.get(f"dan.{dan}") or words.options["dan.n"].format(n=dan)
