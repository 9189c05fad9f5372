"""The course of a turn (TT-4, TT-7, TT-8): what follows from an accepted command, in the rules' order.

A `Course` changes a draft and writes down the events as it goes. It judges no command; `rules.py` does, before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from google.protobuf.message import Message

from grimoire.engine import Decision, Draws
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from two_towers.cards import CATALOGUE, Card, catalogue_order
from two_towers.catalogue import DATA
from two_towers.draft import Draft
from two_towers.effects import Log
from two_towers.fields import BARRACKS, FIELDS, MANA, MINES, MONASTERIES, ORE, RECRUITS, Numbers
from two_towers.judging import judge, judge_turn_limit
from two_towers.state import EMPTY, Phase, Result, State, other
from two_towers.worst import worst_slot

__all__ = ["PLAY_LIMIT", "TURN_LIMIT", "Course", "draw_endless", "seat_numbers"]

TURN_LIMIT: Final = DATA.constants.turn_limit
PLAY_LIMIT: Final = DATA.constants.turn_action_limit
_COPIES_IN_HAND: Final = 2


def seat_numbers(numbers: Numbers) -> pb.SeatNumbers:
    """A seat's eight numbers as a message."""
    tower, wall, mines, monasteries, barracks, ore, mana, recruits = numbers
    return pb.SeatNumbers(
        tower=tower,
        wall=wall,
        mines=mines,
        monasteries=monasteries,
        barracks=barracks,
        ore=ore,
        mana=mana,
        recruits=recruits,
    )


def draw_endless(hand: Sequence[str], draw_no: int, draws: Draws) -> str:
    """Draw number `draw_no` for this hand (TT-8.3): a third copy is set aside unseen and the label asked again."""
    label = f"draw/{draw_no}"
    while True:
        card = CATALOGUE[draws.below(label, len(CATALOGUE))]
        if hand.count(card) < _COPIES_IN_HAND:
            return card


class Course:
    """Events and the state they lead to.

    Args:
        state: before the command.
        draws: the match's randomness.
    """

    __slots__ = ("_draft", "_draws", "_events")

    def __init__(self, state: State, draws: Draws) -> None:
        self._draft = Draft(state)
        self._draws = draws
        self._events: list[Message] = []

    def decision(self) -> Decision[State]:
        """Everything that happened."""
        return Decision((*self._events,), self._draft.freeze())

    # ---- the start of a turn -----------------------------------------------------------------------------------------

    def start_turn(self, turn_no: int, seat: int) -> None:
        """Production (TT-4.1), then the judging (TT-4.2)."""
        numbers = self._draft.numbers[seat]
        mines, monasteries, barracks = numbers[MINES], numbers[MONASTERIES], numbers[BARRACKS]
        ore, mana, recruits = numbers[ORE] + mines, numbers[MANA] + monasteries, numbers[RECRUITS] + barracks
        self._draft.start_turn(turn_no, seat, (ore, mana, recruits))
        event = pb.TurnStarted(turn_no=turn_no, seat=seat)
        # Filled in place: handing over ready submessages copies them and takes three times as long.
        produced, after = event.produced, event.stocks_after
        produced.ore, produced.mana, produced.recruits = mines, monasteries, barracks
        after.ore, after.mana, after.recruits = ore, mana, recruits
        self._events.append(event)
        self._judge()

    # ---- actions -----------------------------------------------------------------------------------------------------

    def play(self, seat: int, slot: int, card: Card) -> None:
        """A card that the seat can pay for is played (TT-4.4)."""
        draft = self._draft
        left = draft.numbers[seat][card.stock] - card.cost
        draft.play(seat, slot, card.id, card.stock, left)
        self._events.append(
            pb.CardPlayed(seat=seat, slot=slot, card=card.id, cost=card.cost, resource=card.resource, stock_after=left)
        )
        self._apply(seat, card)
        if self._judge():
            return
        if card.draws:  # TT-4.6
            self._draw(seat, slot, "effect")
            return
        self._refill(seat)
        if card.play_again and draft.plays < PLAY_LIMIT:  # TT-4.7
            return
        self.end_turn()

    def _apply(self, seat: int, card: Card) -> None:
        numbers = self._draft.numbers
        log: Log = []
        card.apply((numbers[seat], numbers[other(seat)]), log)
        if log:
            event = pb.EffectsApplied(seat=seat, card=card.id)
            add = event.changes.add
            for whose, field, delta, value in log:
                add(seat=whose ^ seat, field=FIELDS[field], delta=delta, value=value)
            self._events.append(event)

    def discard(self, seat: int, slot: int, card: str) -> None:
        """A card is given up in `main` (TT-4.10) or as the forced discard (TT-4.6)."""
        forced = self._draft.phase is Phase.FORCED_DISCARD
        self._discard(seat, slot, card, "forced" if forced else "chosen")
        self._refill(seat)
        if forced and self._draft.plays < PLAY_LIMIT:
            return
        self.end_turn()

    def time_out(self, seat: int) -> None:
        """The clock of this seat's decision has run out (TT-7)."""
        draft = self._draft
        consecutive = draft.timeouts[seat] + 1
        draft.time_out(seat, consecutive)
        self._events.append(pb.TurnTimedOut(seat=seat, turn_no=draft.turn_no, consecutive=consecutive))
        if consecutive >= draft.terms.timeout_limit:
            self._end(Result(other(seat), ("timeouts",)))
            return
        slot = worst_slot(draft.hands[seat], draft.numbers[seat])
        self._discard(seat, slot, draft.hands[seat][slot], "timeout")
        self._refill(seat)
        self.end_turn()  # TT-7.3: in both phases

    def resign(self, seat: int) -> None:
        """The other seat wins (TT-5.4)."""
        self._end(Result(other(seat), ("resigned",)))

    def _discard(self, seat: int, slot: int, card: str, cause: str) -> None:
        self._draft.discard(seat, slot, card, cause)
        self._events.append(pb.CardDiscarded(seat=seat, slot=slot, card=card, cause=cause))

    # ---- drawing -----------------------------------------------------------------------------------------------------

    def _refill(self, seat: int) -> None:
        """Every empty slot, the lowest first, gets a card (TT-4.5)."""
        hand = self._draft.hands[seat]
        while EMPTY in hand:
            self._draw(seat, hand.index(EMPTY), "refill")

    def _draw(self, seat: int, slot: int, cause: str) -> None:
        draft = self._draft
        if draft.terms.standard:
            if not draft.pile:
                self._reshuffle()
            card = draft.pile[0]
            draft.draw(seat, slot, card, cause)
            drawn = pb.CardDrawn(seat=seat, slot=slot, cause=cause, pile_count=len(draft.pile), card=card)
        else:
            draw_no = draft.draws_made + 1
            card = draw_endless(draft.hands[seat], draw_no, self._draws)
            draft.draw(seat, slot, card, cause)
            drawn = pb.CardDrawn(seat=seat, slot=slot, cause=cause, draw_no=draw_no, card=card)
        self._events.append(drawn)

    def _reshuffle(self) -> None:
        """The discard pile, in catalogue order, is shuffled into a new pile (TT-8.1)."""
        draft = self._draft
        n = draft.reshuffles + 1
        cards = self._draws.shuffle(f"reshuffle/{n}", catalogue_order(draft.discards))
        draft.reshuffle(n, cards)
        self._events.append(pb.PileReshuffled(n=n, count=len(cards), cards=cards))

    # ---- the end of a turn, and of the match -------------------------------------------------------------------------

    def end_turn(self) -> None:
        """The turn passes, or the last one has ended (TT-4.9)."""
        draft = self._draft
        turn_no, seat = draft.turn_no, draft.active
        self._events.append(pb.TurnEnded(turn_no=turn_no, seat=seat))
        if turn_no >= TURN_LIMIT:
            self._end(judge_turn_limit(draft.numbers))
            return
        self.start_turn(turn_no + 1, other(seat))

    def _judge(self) -> bool:
        """Ends the match if a seat meets a condition (TT-4.8)."""
        terms = self._draft.terms
        result = judge(self._draft.numbers, terms.goal_tower, terms.goal_resource)
        if result is None:
            return False
        self._end(result)
        return True

    def _end(self, result: Result) -> None:
        self._draft.end(result)
        self._events.append(
            pb.MatchEnded(
                outcome=result.outcome,
                winner=result.winner,
                reasons=result.reasons,
                ladder_step=result.ladder_step,
                numbers=[seat_numbers(numbers) for numbers in self._draft.numbers],
            )
        )
