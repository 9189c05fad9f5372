"""The game as plain text: everything that is open, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from google.protobuf.message import Message

from grimoire.engine.lines import wrapped
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.names import mage_name, name_of
from spellbound.words import Words, words_in

__all__ = ["SpellboundTerminal"]

_MIN_WIDTH: Final = 40


class SpellboundTerminal:
    """`Terminal` of Spellbound."""

    def render(self, view: Message, language: str, names: Mapping[int, str], width: int) -> Sequence[str]:
        """Text lines of a view, at most `width` columns wide (at least 40 are used).

        Raises:
            TypeError: for another game's view.
        """
        if not isinstance(view, pb.View):
            raise TypeError(f"{type(view).__name__} is no view of Spellbound")
        room = max(width, _MIN_WIDTH)
        return [piece for line in _Page(view, language, names).lines() for piece in wrapped(line, room)]


class _Page:
    """One view in one language."""

    def __init__(self, view: pb.View, language: str, names: Mapping[int, str]) -> None:
        self._view = view
        self._language = language
        self._names = names
        self._words: Words = words_in(language)

    def _say(self, key: str, **arguments: object) -> str:
        return self._words.terminal[key].format(**arguments)

    def _name(self, thing: str) -> str:
        return name_of(thing, self._language)

    def _listed(self, things: Sequence[str]) -> str:
        return ", ".join(self._name(thing) for thing in things) or self._words.terminal["nothing"]

    def lines(self) -> Iterator[str]:
        view = self._view
        yield self._turn()
        for track in view.tracks:
            yield self._track(track)
        for village in view.villages:
            if village.card or village.influence or village.face_down:
                yield self._village(village)
        for mage in view.mages:
            yield self._mage(mage)
        yield self._say("upper", cards=self._listed([card.card for card in view.upper_row]))
        yield self._say("lower", cards=self._listed([card.card for card in view.lower_row]))
        yield self._tower()
        yield self._piles()

    def _turn(self) -> str:
        view = self._view
        if view.HasField("result"):
            ended = self._words.reasons[view.result.reason]
            return self._say(f"ended_{view.result.result}", reason=ended)
        mage = mage_name(view.turn_mage, self._language)
        seat = self._words.seat(view.active_seat, self._names)
        return self._say("turn", turn=view.turn, mage=mage, seat=seat, state=self._words.terms[view.state])

    def _track(self, track: pb.TrackView) -> str:
        key = f"track_{track.book_state}"
        piece, book = self._name(track.piece), self._name(track.book)
        return self._say(
            key, place=self._name(track.place), piece=piece, at=track.piece_at, book=book, to=track.book_at
        )

    def _village(self, village: pb.VillageView) -> str:
        name = self._name(village.village)
        if village.face_down:
            return self._say("village_hidden", village=name)
        card = self._name(village.card) if village.card else self._words.terminal["nothing"]
        if not village.requirement and not village.influence:
            return self._say("village", village=name, card=card)
        return self._say("ally", village=name, card=card, amount=village.amount, of=village.requirement)

    def _mage(self, mage: pb.MageView) -> str:
        return self._say(
            "mage",
            mage=mage_name(mage.mage, self._language),
            seat=self._words.seat(mage.seat, self._names),
            place=self._name(mage.place),
            wand=mage.wand,
            spells=self._listed([*mage.spells]),
        )

    def _tower(self) -> str:
        tower = self._view.tower
        return self._say(
            "tower",
            step=tower.witch,
            moon=tower.moon_force,
            sun=tower.sun_force,
            moons=self._listed([*tower.moon_pile, *tower.minions]),
            suns=self._listed([*tower.sun_pile]),
        )

    def _piles(self) -> str:
        view = self._view
        return self._say(
            "piles",
            deck=view.deck_count,
            discards=len(view.discards),
            wicked=view.wicked_deck_count,
            top=self._listed([view.wicked_top] if view.wicked_top else []),
            sun=view.bag.sun,
            moon=view.bag.moon,
        )
