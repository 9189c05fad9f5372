"""The course of a match: what follows from an accepted command, written down as events in the rules' order.

A `Course` changes a draft by the events it tells. It judges no command: `witching.py`, `story.py`, `steps.py`,
`spells.py` and `battle.py` do, before they call it. What happens by itself after a story is `fate.py`'s.
"""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.message import Message

from grimoire.engine import Decision, Draws
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import FAIRY_SPRING, FORTUNA, FORTUNA_VILLAGE, INFLUENCE, SET_CARDS, SPELLS, Timing
from spellbound.catalogue import DATA
from spellbound.draft import Draft
from spellbound.evolve import apply
from spellbound.notions import ally_at, amount_at, books_lost, holder_of
from spellbound.places import (
    BOOKS,
    FIRST_VILLAGE,
    GAINED,
    PIECES,
    PLACES,
    SPELL_SPACES,
    TRACK_END,
    TRACK_START,
    TROLL,
    VILLAGES,
    on_track,
)
from spellbound.state import State

__all__ = ["Course"]

_CONSTANTS = DATA.constants
_SCRY = "scry"
_TROLL_BANE = "troll_bane"


class Course:
    """Events and the state they lead to.

    Args:
        state: before the command.
        draws: the match's randomness.

    Attributes:
        draft: the state as it is now.
    """

    __slots__ = ("_events", "draft", "draws")

    def __init__(self, state: State, draws: Draws) -> None:
        self.draft = Draft.of(state)
        self.draws = draws
        self._events: list[Message] = []

    def decision(self) -> Decision[State]:
        """Everything that happened."""
        return Decision((*self._events,), self.draft.freeze())

    def tell(self, event: Message) -> None:
        """Something happens."""
        apply(self.draft, event)
        self._events.append(event)

    @property
    def over(self) -> bool:
        """The match has ended."""
        return self.draft.result is not None

    def end(self, *, won: bool, reason: str) -> None:
        """The match ends (SB-15)."""
        self.tell(pb.MatchEnded(result="won" if won else "lost", reason=reason))

    # ---- mages (SB-7.1 to SB-7.3) ------------------------------------------------------------------------------------

    def move(self, mage: int, to: int, cause: str) -> None:
        """A figure goes to another place; what that brings is `arrive`'s."""
        origin = PLACES[self.draft.places[mage]]
        self.tell(pb.MageMoved(mage=mage, to=PLACES[to], cause=cause, **{"from": origin}))

    def arrive(self, mage: int, *, charges: int) -> None:
        """What waits at a village (SB-7.2).

        Args:
            mage: who arrived.
            charges: the mage whose wand a Fairy Spring charges.
        """
        draft = self.draft
        village = draft.places[mage] - FIRST_VILLAGE
        if village < 0:
            return
        card = draft.villages[village]
        if not draft.face_up[village]:
            self.reveal(village, "arrival")
        if card == FAIRY_SPRING and draft.wands[charges] < _CONSTANTS.wand_top:
            self.charge(charges, "fairy_spring")
        elif card == FORTUNA_VILLAGE and not draft.visited and FORTUNA in draft.lower:
            self.tell(pb.FortunaVisited(mage=mage))

    def charge(self, mage: int, cause: str) -> None:
        """A wand goes up one level."""
        self.tell(pb.WandCharged(mage=mage, level_now=self.draft.wands[mage] + 1, cause=cause))

    def reveal(self, village: int, cause: str) -> None:
        """A face-down village is turned up."""
        self.tell(pb.VillageRevealed(village=VILLAGES[village], card=self.draft.villages[village], cause=cause))

    # ---- stones (SB-7.8) ---------------------------------------------------------------------------------------------

    def draw_stone(self, cause: str) -> bool:
        """One stone is drawn; whether it is a sunstone."""
        draft = self.draft
        if draft.bag == (0, 0):
            sun, moon = draft.drawn
            self.tell(pb.BagRefilled(sun=sun, moon=moon))
        sun, moon = draft.bag
        number = draft.stones_drawn + 1
        is_sun = self.draws.below(f"stone/{number}", sun + moon) < sun
        self.tell(pb.StoneDrawn(number=number, stone="sun" if is_sun else "moon", cause=cause))
        return is_sun

    # ---- books and spells (SB-7.15 to SB-7.17) -----------------------------------------------------------------------

    def move_book(self, book: int, mage: int, cause: str) -> None:
        """A book moves on one space; `mage` gets the spell of a spell space."""
        to = self.draft.books[book] + 1
        self.tell(pb.BookMoved(book=BOOKS[book], to=to, mage=mage, cause=cause))
        if to == GAINED:
            self.tell(pb.BookGained(book=BOOKS[book]))
        elif to in SPELL_SPACES:
            self._gain_spell(mage, cause)

    def _gain_spell(self, mage: int, cause: str) -> None:
        if not self.draft.spell_deck:
            return  # only an arranged position can have more spell spaces ahead than spells (SB-22.6)
        spell = self.draft.spell_deck[0]
        self.tell(pb.SpellGained(mage=mage, spell=spell, cause=cause))
        if SPELLS[spell] != Timing.AT_ONCE:
            return
        self.cast(pb.SpellCast(spell=spell))
        if spell == _SCRY:  # SB-10.6
            hidden = [number for number, face_up in enumerate(self.draft.face_up) if not face_up]
            for village in hidden[: _CONSTANTS.scry_reveals]:
                self.reveal(village, _SCRY)
        elif self.draft.pieces[TROLL] > TRACK_START:  # SB-10.10
            self.move_back(TROLL, _TROLL_BANE)

    def cast(self, event: pb.SpellCast) -> None:
        """A spell is used up; `event` has the command's fields."""
        event.mage = holder_of(self.draft, event.spell)
        self.tell(event)

    # ---- influence (SB-7.9 to SB-7.11) -------------------------------------------------------------------------------

    def recruit_if_enough(self, place: int, more: int = 0) -> None:
        """The ally comes as soon as the influence reaches what it asks for (SB-7.10)."""
        draft = self.draft
        ally = ally_at(draft, place)
        if not ally or amount_at(draft, place) + more < INFLUENCE[ally]:
            return
        leaving = [card for card in SET_CARDS[ally] if card in draft.set_aside]
        leaving += [card for card, _ in draft.lying[place - FIRST_VILLAGE]]
        self.tell(pb.AllyRecruited(village=PLACES[place], card=ally, to_discards=leaving))

    def discard(self, card: str, source: str, cause: str) -> None:
        """A card goes onto the destiny discards (SB-2.15)."""
        self.tell(pb.CardDiscarded(card=card, cause=cause, **{"from": source}))

    def end_card(self) -> None:
        """The card in progress leaves (SB-6.4, SB-7.11)."""
        progress = self.draft.progress
        if progress is None:
            raise RuntimeError("no card is in progress")
        if progress.given and not progress.recruited:
            where = PLACES[progress.village]
            self.tell(pb.CardEnded(card=progress.card, to=where, influence=progress.given))
        else:
            self.tell(pb.CardEnded(card=progress.card, to="discards"))

    def after_step(self) -> None:
        """The card ends by itself when no step is left (SB-6.2)."""
        progress = self.draft.progress
        if progress is not None and not any(times for _, times in progress.left):
            self.end_card()

    # ---- pieces (SB-13) ----------------------------------------------------------------------------------------------

    def move_back(self, piece: int, cause: str) -> None:
        """A piece goes back one space (SB-13.5)."""
        self.tell(pb.PieceMoved(piece=PIECES[piece], to=self.draft.pieces[piece] - 1, by=-1, cause=cause))

    def make_moves(self, moves: Sequence[int], cause: str) -> None:
        """Single moves one by one; a lost match stops at once (SB-13.3, SB-13.4)."""
        draft = self.draft
        for piece in moves:
            to = draft.pieces[piece] + 1
            if to > TRACK_END:
                continue
            self.tell(pb.PieceMoved(piece=PIECES[piece], to=to, by=1, cause=cause))
            if on_track(draft.books[piece]) and draft.books[piece] == to:
                self.tell(pb.BookLost(book=BOOKS[piece]))
                if books_lost(draft) >= _CONSTANTS.books_lost_to_lose:
                    self.end(won=False, reason="books_lost")
            elif to == TRACK_END and draft.pieces.count(TRACK_END) >= _CONSTANTS.pieces_at_end_to_lose:
                self.end(won=False, reason="pieces_at_end")
            if draft.result is not None:
                return
