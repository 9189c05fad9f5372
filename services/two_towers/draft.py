"""The one place where a state changes: a draft that is thawed, changed in place, and frozen again.

Both roads lead through it. `evolve` reads the values out of an event, `decide` has just worked them out; both call the
same method, so the state after a command cannot differ from the fold of its events. No rules, no cards, no chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grimoire.engine import Seat
from two_towers.fields import STOCKS
from two_towers.state import EMPTY, Phase, Result, SeatState, Shown, State, Terms

__all__ = ["Draft"]

_new_state = State
_new_seat = SeatState


class Draft:
    """A state under change.

    Attributes are those of `State`, the seats' numbers and hands as lists.
    """

    __slots__ = (
        "active",
        "decisions",
        "discards",
        "draws_made",
        "hands",
        "numbers",
        "phase",
        "pile",
        "plays",
        "reshuffles",
        "result",
        "shown_before",
        "shown_now",
        "terms",
        "timeouts",
        "turn_no",
    )

    def __init__(self, state: State) -> None:
        zero, one = state.seats
        self.terms = state.terms
        self.numbers = ([*zero.numbers], [*one.numbers])
        self.hands = ([*zero.hand], [*one.hand])
        self.timeouts = [zero.timeouts, one.timeouts]
        self.active = state.active
        self.turn_no = state.turn_no
        self.phase = state.phase
        self.decisions = state.decisions
        self.plays = state.plays
        self.pile = state.pile
        self.discards = state.discards
        self.reshuffles = state.reshuffles
        self.draws_made = state.draws_made
        self.shown_before = state.shown_before
        self.shown_now = state.shown_now
        self.result = state.result

    def freeze(self) -> State:
        """The state as it is now."""
        numbers, hands, timeouts = self.numbers, self.hands, self.timeouts
        return _new_state(
            self.terms,
            (
                _new_seat((*numbers[0],), (*hands[0],), timeouts[0]),
                _new_seat((*numbers[1],), (*hands[1],), timeouts[1]),
            ),
            self.active,
            self.turn_no,
            self.phase,
            self.decisions,
            self.plays,
            self.pile,
            self.discards,
            self.reshuffles,
            self.draws_made,
            self.shown_before,
            self.shown_now,
            self.result,
        )

    # ---- the start ---------------------------------------------------------------------------------------------------

    def begin(self, terms: Terms, numbers: Iterable[Sequence[int]]) -> None:
        """Both seats take their figures (TT-3.2)."""
        self.terms = terms
        self.active = terms.first_seat
        for seat, eight in enumerate(numbers):
            self.numbers[seat][:] = eight

    def order_pile(self, cards: Iterable[str]) -> None:
        """What is left after the deal becomes the draw pile."""
        self.pile = tuple(cards)

    def deal(self, seat: int, cards: Sequence[str]) -> None:
        """A hand by slot (TT-3.5)."""
        self.hands[seat][:] = cards
        if not self.terms.standard:
            self.draws_made += len(cards)

    # ---- the course of a turn ----------------------------------------------------------------------------------------

    def start_turn(self, turn_no: int, seat: int, stocks: tuple[int, int, int]) -> None:
        """A turn begins, its production done (TT-4.1)."""
        self.turn_no = turn_no
        self.active = seat
        self.phase = Phase.MAIN
        self.plays = 0
        self.shown_before, self.shown_now = self.shown_now, ()
        numbers = self.numbers[seat]
        for field, stock in zip(STOCKS, stocks, strict=True):
            numbers[field] = stock

    def play(self, seat: int, slot: int, card: str, stock: int, left: int) -> None:
        """A card is paid for and leaves the hand (TT-4.4); `left` remains in `stock`."""
        self.numbers[seat][stock] = left
        self.timeouts[seat] = 0  # TT-7.4
        self.plays += 1
        self.decisions += 1
        self._show(seat, slot, card, "played")

    def change(self, seat: int, field: int, value: int) -> None:
        """One number becomes another."""
        self.numbers[seat][field] = value

    def discard(self, seat: int, slot: int, card: str, cause: str) -> None:
        """A card is given up; whatever was being decided is decided (TT-4.6, TT-4.10, TT-7.3)."""
        if cause != "timeout":
            self.timeouts[seat] = 0  # TT-7.4
            self.decisions += 1
        self.phase = Phase.MAIN
        self._show(seat, slot, card, cause)

    def _show(self, seat: int, slot: int, card: str, how: str) -> None:
        self.hands[seat][slot] = EMPTY
        self.shown_now = (*self.shown_now, Shown(seat, card, how, self.turn_no))
        if self.terms.standard:
            self.discards = (*self.discards, card)

    def reshuffle(self, n: int, cards: Iterable[str]) -> None:
        """The discard pile becomes the draw pile (TT-8.1)."""
        self.reshuffles = n
        self.pile = tuple(cards)
        self.discards = ()

    def draw(self, seat: int, slot: int, card: str, cause: str) -> None:
        """A card comes into a slot; drawn by an effect, it asks for a discard (TT-4.6)."""
        if self.terms.standard:
            self.pile = self.pile[1:]
        else:
            self.draws_made += 1
        self.hands[seat][slot] = card
        if cause == "effect":
            self.phase = Phase.FORCED_DISCARD

    def time_out(self, seat: int, consecutive: int) -> None:
        """A decision was not made in time (TT-7.2)."""
        self.timeouts[seat] = consecutive
        self.decisions += 1

    def end(self, result: Result) -> None:
        """The match is over."""
        self.result = result
        self.phase = Phase.OVER

    # ---- analysis ----------------------------------------------------------------------------------------------------

    def arrange(
        self,
        *,
        active: int,
        turn_no: int,
        phase: Phase,
        plays: int,
        timeouts: Sequence[int],
        pile: Iterable[str],
        discards: Iterable[str],
        reshuffles: int,
        draws_made: int,
    ) -> None:
        """Everything of an arranged position that a deal does not say."""
        self.active = Seat(active)
        self.turn_no = turn_no
        self.phase = phase
        self.plays = plays
        self.timeouts[:] = timeouts
        self.pile = tuple(pile)
        self.discards = tuple(discards)
        self.reshuffles = reshuffles
        self.draws_made = draws_made
