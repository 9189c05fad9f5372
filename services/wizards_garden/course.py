"""The course of a turn (WG-4): what follows from an accepted command, in the rules' order.

A `Course` changes a draft and writes down the events as it goes. It judges no command; `steps.py`, `choices.py`,
`battle.py` and `spells.py` do, before they call it.
"""

from __future__ import annotations

from collections.abc import Iterable

from google.protobuf.message import Message

from grimoire.engine import Decision, Draws
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.board import SPACES, TERRACE_DEPOSIT
from wizards_garden.catalogue import DATA
from wizards_garden.draft import Draft
from wizards_garden.pieces import CARD_ORDER, KINDS, PIECES
from wizards_garden.reach import can_step, groups_with
from wizards_garden.state import (
    BRIGHT,
    LIT,
    NO_ONE,
    Group,
    Pending,
    Result,
    Source,
    Stage,
    State,
    other,
)

__all__ = ["Course"]

_OPEN_ROW = DATA.constants.open_row
_TO_WIN = DATA.constants.lanterns_to_win


class Course:
    """Events and the state they lead to.

    Args:
        state: before the command.
        draws: the match's randomness.

    Attributes:
        draft: the state as it is now.
    """

    __slots__ = ("_draws", "_events", "draft")

    def __init__(self, state: State, draws: Draws) -> None:
        self.draft = Draft(state)
        self._draws = draws
        self._events: list[Message] = []

    def decision(self) -> Decision[State]:
        """Everything that happened."""
        self.draft.events += len(self._events)
        return Decision((*self._events,), self.draft.freeze())

    def tell(self, event: Message) -> None:
        """Writes an event down; the draft has been changed by it."""
        self._events.append(event)

    # ---- turns and phases (WG-4) -------------------------------------------------------------------------------------

    def enter(self, stage: Stage, seat: int) -> None:
        """The match waits for this from now on, if it did not already."""
        draft = self.draft
        if draft.stage is stage and draft.battle is None and draft.active == seat:
            return
        draft.enter(stage, seat)
        self.tell(pb.StateEntered(state=stage.value, seat=seat))

    def begin_play(self) -> None:
        """Three cards are turned up, and turn 1 begins (WG-3.6)."""
        row = self.draft.deck[:_OPEN_ROW]
        self.draft.set_row(row)
        self.tell(pb.OpenRowSet(cards=row))
        self._start_turn(1, self.draft.terms.first_seat)

    def _start_turn(self, turn: int, seat: int) -> None:
        self.draft.start_turn(turn, seat)
        self.tell(pb.TurnStarted(turn=turn, seat=seat))
        self.enter(Stage.GARDEN, seat)

    def end_garden(self) -> None:
        """The garden phase is over (WG-4.2)."""
        self.enter(Stage.WIZARD_START, self.draft.active)

    def end_wizard(self) -> None:
        """The wizard phase's choice is made (WG-4.6): whether more may come is public."""
        draft = self.draft
        if draft.spells[draft.active]:
            self.enter(Stage.WIZARD_END, draft.active)
        else:
            self.begin_attack()

    def begin_attack(self) -> None:
        """The attack phase opens if anything threatens (WG-4.7)."""
        if self.draft.groups:
            self.enter(Stage.ATTACK, self.draft.active)
        else:
            self.end_turn()

    def end_turn(self) -> None:
        """The turn passes, or the last one has ended (WG-4.8, WG-12.2)."""
        draft = self.draft
        turn, seat = draft.turn_no, draft.active
        self.tell(pb.TurnEnded(turn=turn, seat=seat))
        if turn >= draft.terms.turn_limit:
            self.end(Result(self._ahead(), "turn_limit"))
        else:
            self._start_turn(turn + 1, other(seat))

    def resume(self) -> None:
        """Back to the phase after something inside it; what a public fact ends, ends by itself (WG-4.6, WG-4.7)."""
        draft = self.draft
        phase, seat = draft.phase, draft.active
        if phase is Stage.WIZARD_END and not draft.spells[seat]:
            self.begin_attack()
        elif phase is Stage.ATTACK and not draft.groups and not draft.spells[seat]:
            self.end_turn()
        else:
            self.enter(phase, seat)

    def end(self, result: Result) -> None:
        """The match is over (WG-12)."""
        self.draft.end(result)
        self.tell(pb.MatchEnded(result=result.name, reason=result.reason))

    def _ahead(self) -> int | None:
        """Who has more lanterns in the yard, then more bright ones (WG-12.2)."""
        blue, red = self.draft.lanterns
        for mine, theirs in (
            (sum(lantern > LIT for lantern in blue), sum(lantern > LIT for lantern in red)),
            (blue.count(BRIGHT), red.count(BRIGHT)),
        ):
            if mine != theirs:
                return 0 if mine > theirs else 1
        return None

    # ---- lanterns (WG-5) ---------------------------------------------------------------------------------------------

    def light(self, seat: int, kind: int, by: str) -> None:
        """A lantern is lit, another that was lit goes out (WG-5.5)."""
        draft = self.draft
        if LIT in draft.lanterns[seat]:
            lit = draft.lanterns[seat].index(LIT)
            draft.put_out(seat, lit)
            self.tell(pb.LanternPutOut(seat=seat, kind=KINDS[lit]))
        draft.light(seat, kind)
        self.tell(pb.LanternLit(seat=seat, kind=KINDS[kind], by=by))

    def place_lantern(self, seat: int, kind: int, space: int) -> bool:
        """A lantern goes onto the gnome there; whether that was the last one (WG-12.1)."""
        draft = self.draft
        gnome = draft.standing[space][0]
        draft.place_lantern(seat, kind, gnome)
        self.tell(pb.LanternPlaced(seat=seat, kind=KINDS[kind], space=SPACES[space], gnome=PIECES[gnome]))
        if sum(lantern > LIT for lantern in draft.lanterns[seat]) < _TO_WIN:
            return False
        self.end(Result(seat, "five_lanterns"))
        return True

    def prepare(self, seat: int, cards: tuple[str, str], kind: int) -> None:
        """A seat's preparation is done (WG-3.5)."""
        draft = self.draft
        draft.place_spirits(seat, cards)
        self.tell(pb.BoardSpiritsPlaced(seat=seat, cards=cards))
        self.place_lantern(seat, kind, TERRACE_DEPOSIT[seat])
        if draft.spirits[other(seat)]:
            self.begin_play()
        else:
            self.enter(Stage.PREPARATION, other(seat))

    # ---- actions (WG-6) ----------------------------------------------------------------------------------------------

    def open_action(
        self, source: Source, kind: int, steps: int, *, index: int | None = None, gnome: int = NO_ONE
    ) -> None:
        """An action begins, and closes at once if it has no legal step (WG-6.1)."""
        draft = self.draft
        draft.open_action(source.value, kind, steps, index, gnome)
        event = pb.ActionOpened(source=source.value, kind=KINDS[kind], steps=steps, index=index)
        if gnome != NO_ONE:
            event.gnome = PIECES[gnome]
        self.tell(event)
        if can_step(draft, draft.active, kind, draft.action):
            self.enter(Stage.BUTTERFLY if source is Source.BUTTERFLY else Stage.ACTION, draft.active)
        else:
            self.close_action("no_legal_step")

    def after_step(self) -> None:
        """A step is done: the action goes on, or closes by itself (WG-6.1)."""
        draft = self.draft
        action = draft.action
        if action is None:
            raise RuntimeError("a step without an action")
        if action.left == 0:
            self.close_action("used_up")
        elif not can_step(draft, draft.active, action.kind, action):
            self.close_action("no_legal_step")

    def close_action(self, reason: str) -> None:
        """The action is over; what opened it says what comes next."""
        draft = self.draft
        action = draft.action
        if action is None:
            raise RuntimeError("no action to close")
        draft.close_action()
        self.tell(pb.ActionClosed(reason=reason))
        if action.source == Source.LANTERN:
            self.end_garden()
        elif action.source in (Source.MAGICIAN, Source.SPIRIT):
            self.end_wizard()
        elif action.source == Source.BUTTERFLY:
            self.end_turn()
        elif action.source in (Source.FEATHER, Source.DOLL):
            self.resume()
        elif draft.pending:
            self.enter(Stage.WIZARD_PENDING, draft.active)
        else:
            self.end_wizard()

    def leave_groups(self, pieces: tuple[int, ...]) -> None:
        """Pieces give up their threats (WG-8.7, WG-8.8)."""
        for group in groups_with(self.draft, pieces):
            leaving = tuple(piece for piece in group.pieces if piece in pieces)
            self.draft.drop(leaving)
            self.tell(pb.ThreatDropped(group=group.id, pieces=[PIECES[piece] for piece in leaving]))

    def withdraw(self, group: Group) -> None:
        """A group goes back to its space; in transit, to the supply (WG-9.4)."""
        self.draft.withdraw(group)
        to = "supply" if group.in_transit else "origin"
        self.tell(pb.GroupWithdrawn(group=group.id, pieces=[PIECES[piece] for piece in group.pieces], to=to))

    # ---- cards (WG-10) -----------------------------------------------------------------------------------------------

    def discard(self, seat: int, card: str) -> None:
        """A card of the hand goes to the discard pile (WG-10.2)."""
        self.draft.discard(seat, card)
        self.tell(pb.SpiritDiscarded(seat=seat, card=card))

    def draw_from_deck(self, seat: int) -> None:
        """The top card comes into the hand."""
        card = self._top()
        self.draft.draw_spirit(seat, "deck", card)
        self.tell(pb.SpiritDrawn(seat=seat, source="deck", card=card))

    def draw_open(self, seat: int, card: str) -> None:
        """An open card comes into the hand and is replaced at once (WG-6.4)."""
        draft = self.draft
        place = draft.row.index(card)
        draft.draw_spirit(seat, card, card)
        self.tell(pb.SpiritDrawn(seat=seat, source=card, card=card))
        if draft.deck or draft.discards:
            turned = self._top()
            draft.refill_row(place, turned)
            self.tell(pb.OpenRowRefilled(place=place, card=turned))

    def _top(self) -> str:
        """The top of the deck; an empty deck is made anew from the discard pile (WG-10.3)."""
        draft = self.draft
        if not draft.deck:
            number = draft.reshuffles + 1
            order = self._draws.shuffle(f"reshuffle/{number}", sorted(draft.discards, key=CARD_ORDER.__getitem__))
            draft.reshuffle(number, order)
            self.tell(pb.DeckReshuffled(number=number, count=len(order), order=order))
        return draft.deck[0]

    # ---- crystals and spells -----------------------------------------------------------------------------------------

    def return_water(self, deposit: int, amount: int, why: str) -> None:
        """Water goes to the supply."""
        self.draft.return_water(deposit, amount)
        self.tell(pb.WaterReturned(deposit=SPACES[deposit], amount=amount, why=why))

    def return_fire(self, seat: int, amount: int, why: str) -> None:
        """Fire goes to the supply."""
        self.draft.return_fire(seat, amount, why)
        self.tell(pb.FireReturned(seat=seat, amount=amount, why=why))

    def cast(self, seat: int, event: pb.SpellCast, pending: Iterable[Pending] = ()) -> None:
        """A spell leaves the hand face up (WG-7.2); `event` has the command's fields."""
        event.seat = seat
        waiting = tuple(pending)
        for each in waiting:
            event.pending.add(index=each.index, kind=KINDS[each.kind], steps=each.steps)
        self.draft.cast_spell(seat, event.spell, waiting)
        self.tell(event)
