"""The heuristic player (SB-24.1): tries turns in pencil, and gives the first command of the best."""

from __future__ import annotations

import random
from typing import Final

from google.protobuf.message import Message

from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from grimoire.v1 import prompt_pb2
from spellbound.appraisal import Appraisal, Outlook, Weights, battle_chance
from spellbound.cards import MOON
from spellbound.catalogue import DATA
from spellbound.places import (
    BOOKS,
    CITIES,
    NOWHERE,
    PIECE_INDEX,
    PIECES,
    PLACE_INDEX,
    PLACES,
    TRACK_END,
    TROLL,
    WILDERNESS,
)
from spellbound.search import best_plan
from spellbound.sketch import Sketch, command_of
from spellbound.state import Stage, WindowKind

__all__ = ["Heuristic"]

WEIGHTS: Final = Weights()
_LIMITS: Final = DATA.constants
_ANY_TIME: Final = "any_time"


class Heuristic:
    """The player.

    Args:
        rng: its own randomness.
        plans: how many turns it tries for a decision.
        weights: what it values.
    """

    def __init__(self, rng: random.Random, plans: int, weights: Weights = WEIGHTS) -> None:
        self._rng = rng
        self._plans = plans
        self._weights = weights

    def choose(self, view: pb.View, prompt: prompt_pb2.Prompt) -> Message:
        """The best command for a prompt of one's own."""
        if prompt.kind == Stage.CONSENT:
            return pb.AnswerRide(accept=True)
        if prompt.kind == Stage.REACTION:
            return self._react(view, prompt)
        if prompt.kind == Stage.CHOOSE_BOOK:
            return pb.ChooseBook(book=self._best_book(view))
        if prompt.kind == _ANY_TIME:
            return self._unasked(view, prompt)
        sketch, outlook = Sketch(view), Outlook(view)
        if any(entry.type == "declare_final_battle" for entry in prompt.legal):
            chance = battle_chance(sketch, outlook, view.books_gained)
            if chance >= _enough(view, sketch):
                return _declared(view)
        may_skip = any(entry.type == "skip_turn" for entry in prompt.legal)
        plan = best_plan(sketch, Appraisal(self._weights, outlook), self._rng, self._plans, may_skip=may_skip)
        return command_of(plan[0])

    # ---- windows (SB-16) ---------------------------------------------------------------------------------------------

    def _react(self, view: pb.View, prompt: prompt_pb2.Prompt) -> Message:
        spells = _castable(prompt)
        window = view.window.window
        if window in (WindowKind.STONE, WindowKind.ENCOUNTER_STONES) and "alchemy" in spells:
            return pb.CastSpell(spell="alchemy")
        if window == WindowKind.MOVES:
            return self._before_moves(view, spells)
        if "teleport" in spells:
            return self._guard_a_place(view, window)
        return pb.Pass()

    def _before_moves(self, view: pb.View, spells: set[str]) -> Message:
        caught = [piece for piece in view.batch.moves if _catches(view, piece)]
        hats = [piece for piece in caught if PIECE_INDEX[piece] != TROLL]
        if "hat_trick" in spells and hats:
            return pb.CastSpell(spell="hat_trick", piece=max(hats, key=lambda piece: _track(view, piece).book_at))
        if "book_wyrm" in spells and caught:
            book = max(caught, key=lambda piece: _track(view, piece).book_at)
            return pb.CastSpell(spell="book_wyrm", book=_track(view, book).book)
        ending = [piece for piece in {*view.batch.moves} if _track(view, piece).piece_at == TRACK_END - 1]
        at_end = sum(track.piece_at == TRACK_END for track in view.tracks)
        hats = [piece for piece in ending if PIECE_INDEX[piece] != TROLL]
        if "hat_trick" in spells and hats and at_end + len(ending) >= _LIMITS.pieces_at_end_to_lose:
            return pb.CastSpell(spell="hat_trick", piece=min(hats, key=PIECE_INDEX.__getitem__))
        return pb.Pass()

    def _guard_a_place(self, view: pb.View, window: str) -> Message:
        """Teleport, where a piece would catch a book or be the second at the end."""
        if window == WindowKind.STORY_END:
            idle = _idle_piece(view)
            if idle == NOWHERE or not _in_danger(view, idle):
                return pb.Pass()
            return pb.CastSpell(spell="teleport", mage=view.acting_mage, to=self._refuge(view, idle))
        places = [PLACE_INDEX[mage.place] for mage in view.mages]
        watched = PLACE_INDEX[view.watchman] if view.watchman else NOWHERE
        empty = [place for place in range(CITIES + 1) if place not in places and place != watched]
        at_risk = [place for place in empty if _in_danger(view, place)]
        free = [m for m, place in enumerate(places) if place > WILDERNESS or places.count(place) > 1]
        free = free or [m for m, place in enumerate(places) if not _in_danger(view, place)]
        if not at_risk or not free:
            return pb.Pass()
        worst = max(at_risk, key=lambda place: view.tracks[place].book_at)
        return pb.CastSpell(spell="teleport", mage=free[0], to=PLACES[worst])

    def _refuge(self, view: pb.View, idle: int) -> str:
        """Another place with a live book, the most threatened."""
        live = [place for place in range(CITIES + 1) if place != idle and view.tracks[place].book_state == "on_track"]
        if not live:
            return PLACES[WILDERNESS if idle != WILDERNESS else 0]
        return PLACES[min(live, key=lambda place: view.tracks[place].book_at - view.tracks[place].piece_at)]

    # ---- books -------------------------------------------------------------------------------------------------------

    def _best_book(self, view: pb.View) -> str:
        """The book whose move is worth most."""
        sketch, appraisal = Sketch(view), Appraisal(self._weights, Outlook(view))

        def worth(book: int) -> float:
            tried = sketch.copied()
            tried.books[book] += 1
            return appraisal.worth(tried)

        return BOOKS[max((book for book in range(len(BOOKS)) if sketch.live(book)), key=worth)]

    def _unasked(self, view: pb.View, prompt: prompt_pb2.Prompt) -> Message:
        """A spell while others think (SB-16.2): who opens the prompt wants to cast."""
        spells = _castable(prompt)
        if "book_wyrm" in spells:
            return pb.CastSpell(spell="book_wyrm", book=self._best_book(view))
        own = next(mage for mage in view.mages if "teleport" in mage.spells)
        here = PLACE_INDEX[own.place]
        return pb.CastSpell(spell="teleport", mage=own.mage, to=self._refuge(view, here))


# ---- what the view says ----------------------------------------------------------------------------------------------


def _castable(prompt: prompt_pb2.Prompt) -> set[str]:
    """Spells that answer the prompt."""
    return {pb.CastSpell.FromString(entry.payload).spell for entry in prompt.legal if entry.type == "cast_spell"}


def _track(view: pb.View, piece: str) -> pb.TrackView:
    return view.tracks[PIECE_INDEX[piece]]


def _catches(view: pb.View, piece: str) -> bool:
    """It moves onto its book."""
    track = _track(view, piece)
    return track.book_state == "on_track" and track.piece_at + 1 == track.book_at


def _in_danger(view: pb.View, place: int) -> bool:
    track = view.tracks[place]
    at_end = sum(each.piece_at == TRACK_END for each in view.tracks)
    return _catches(view, PIECES[place]) or (at_end > 0 and track.piece_at == TRACK_END - 1)


def _idle_piece(view: pb.View) -> int:
    """The piece that SB-11.2 is going to move."""
    here = PLACE_INDEX[view.mages[view.acting_mage].place]
    return here if here <= WILDERNESS and not view.moved else NOWHERE


def _enough(view: pb.View, sketch: Sketch) -> float:
    """The chance at which the battle is declared."""
    if sum(piece >= TRACK_END - 1 for piece in sketch.pieces) > 1:
        return 0.35
    if view.wicked_deck_count <= 1 or view.tower.witch == len(DATA.tower) - 1:
        return 0.5
    return 0.6 if view.deck_count < 4 else 0.85


def _declared(view: pb.View) -> pb.DeclareFinalBattle:
    """The strongest cards are destroyed, with each book that is left the sun grows (SB-15.4)."""
    cards = sorted([*view.tower.moon_pile, *view.tower.minions], key=lambda card: -MOON[card])
    books = [track.book for track in view.tracks if track.book_state == "gained"]
    uses = (cards + ["sun"] * len(books))[: len(books)]
    return pb.DeclareFinalBattle(
        books=[pb.BookUse(book=book, use=use) for book, use in zip(books, uses, strict=True)],
    )
