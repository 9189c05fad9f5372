"""The heuristic player (SB-24.1): tries turns in pencil, and gives the first command of the best."""

from __future__ import annotations

import random
from typing import Final

from google.protobuf.message import Message

from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from grimoire.v1 import prompt_pb2
from spellbound.appraisal import Appraisal, Outlook, Weights, battle_chance
from spellbound.cards import FORTUNA, INFLUENCE, MOON, TOWER
from spellbound.catalogue import DATA
from spellbound.helping import enough_chance, help_of
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
from spellbound.search import best_plan, obvious
from spellbound.sketch import Sketch, command_of
from spellbound.state import Stage, WindowKind

__all__ = ["Heuristic"]

WEIGHTS: Final = Weights()
_LIMITS: Final = DATA.constants
_ANY_TIME: Final = "any_time"
_NEAR: Final = 2
"""Spaces."""
_FULL: Final = 8
"""Cards and the like for which a turn is thought over as long as at its beginning."""


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
            return pb.AnswerRide(accept=not _leaves_the_tower(view))
        if prompt.kind == Stage.REACTION:
            return self._react(view, prompt)
        if prompt.kind == Stage.CHOOSE_BOOK:
            return pb.ChooseBook(book=self._best_book(view))
        if prompt.kind == _ANY_TIME:
            return self._unasked(view, prompt)
        sketch, outlook = Sketch(view), Outlook(view)
        if any(entry.type == "declare_final_battle" for entry in prompt.legal):
            chance = battle_chance(sketch, outlook, view.books_gained)
            if chance >= enough_chance(view, sketch):
                return _declared(view)
        action = obvious(sketch)
        if action:
            return command_of(action)
        may_skip = any(entry.type == "skip_turn" for entry in prompt.legal)
        plans = self._plans_for(sketch)
        plan = best_plan(sketch, Appraisal(self._weights, outlook), self._rng, plans, may_skip=may_skip)
        taken = _taken_back(view, sketch, outlook) if plan[0] == ("end",) else None
        return command_of(plan[0]) if taken is None else taken

    def _plans_for(self, sketch: Sketch) -> int:
        """The more is still to come in the turn, the more ways there are to go on."""
        if sketch.stage == Stage.WITCHING:
            return self._plans
        to_come = len(sketch.lower) + len(sketch.spells) + (sketch.wand > 0) + 2 * bool(sketch.card)
        return max(self._plans // _FULL, self._plans * min(to_come, _FULL) // _FULL)

    # ---- windows (SB-16) ---------------------------------------------------------------------------------------------

    def _react(self, view: pb.View, prompt: prompt_pb2.Prompt) -> Message:
        spells = _castable(prompt)
        window = view.window.window
        if window == WindowKind.ENCOUNTER_STONES and "alchemy" in spells:
            return pb.CastSpell(spell="alchemy")
        if window == WindowKind.STONE and "alchemy" in spells:
            here = PLACE_INDEX[view.mages[view.acting_mage].place]
            return pb.CastSpell(spell="alchemy") if _pressing(view.tracks[here]) else pb.Pass()
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
        """A spell while others think (SB-16.2); who is asked although nothing is wanted casts as well as may be."""
        wanted = help_of(view, prompt.seat)
        if wanted is not None:
            return wanted
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


def _pressing(track: pb.TrackView) -> bool:
    """A step back of the piece is worth a spell: it is near its book, or near the end."""
    near = track.book_state == "on_track" and track.book_at - track.piece_at <= _NEAR
    return near or track.piece_at >= TRACK_END - _NEAR


def _in_danger(view: pb.View, place: int) -> bool:
    track = view.tracks[place]
    at_end = sum(each.piece_at == TRACK_END for each in view.tracks)
    return _catches(view, PIECES[place]) or (at_end > 0 and track.piece_at == TRACK_END - 1)


def _idle_piece(view: pb.View) -> int:
    """The piece that SB-11.2 is going to move."""
    here = PLACE_INDEX[view.mages[view.acting_mage].place]
    return here if here <= WILDERNESS and not view.moved else NOWHERE


def _leaves_the_tower(view: pb.View) -> bool:
    """The ride leads away from the tower, where the battle may be declared soon (SB-15.4)."""
    tower = next((each.village for each in view.villages if each.card == TOWER), "")
    gathered = view.books_gained >= _LIMITS.books_to_win and view.mages[view.acting_mage].place == tower
    return gathered and view.ride.to != tower


def _taken_back(view: pb.View, sketch: Sketch, outlook: Outlook) -> Message | None:
    """Influence to be discarded at the end of the turn (SB-7.14), if the deck ends in its refill.

    What is far from recruiting anybody, or is not needed any more, is of more use in the new deck.
    """
    kept = len(sketch.lower) - (FORTUNA in sketch.lower)
    if _LIMITS.display_mages - kept <= outlook.mage_cards:
        return None
    enough = view.books_gained >= _LIMITS.books_to_win - 1
    for village, lies in zip(view.villages, sketch.lying, strict=True):
        if lies and (enough or INFLUENCE.get(village.card, 0) - lies > 1):
            return pb.DiscardInfluence(village=village.village, cards=[card.card for card in village.influence])
    return None


def _declared(view: pb.View) -> pb.DeclareFinalBattle:
    """The strongest cards are destroyed, with each book that is left the sun grows (SB-15.4)."""
    cards = sorted([*view.tower.moon_pile, *view.tower.minions], key=lambda card: -MOON[card])
    books = [track.book for track in view.tracks if track.book_state == "gained"]
    uses = (cards + ["sun"] * len(books))[: len(books)]
    return pb.DeclareFinalBattle(
        books=[pb.BookUse(book=book, use=use) for book, use in zip(books, uses, strict=True)],
    )
