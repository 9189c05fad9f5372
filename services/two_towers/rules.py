"""Two Towers as a `Game`: options, the start, and the judging of every command (TT-1 to TT-8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from google.protobuf.message import DecodeError, Message

from grimoire.engine import (
    Actor,
    ActorKind,
    Decision,
    Draws,
    Illegal,
    Legal,
    MatchFacts,
    Outcome,
    OutcomeKind,
    Prompt,
    Schema,
    Seat,
    Setup,
    Start,
    Viewer,
)
from grimoire.fairness.commitments import rules_digest
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from grimoire.v1 import match_pb2
from two_towers import rejections
from two_towers.battlefields import BATTLEFIELDS
from two_towers.cards import CARDS
from two_towers.catalogue import DATA, DATA_BYTES, DATA_FILE
from two_towers.deal import deal, first_seat
from two_towers.evolve import evolve, fold
from two_towers.legal import legal_commands
from two_towers.options import DEFAULTS, configure
from two_towers.positions import position_fault
from two_towers.state import EMPTY, HAND_SIZE, Phase, State, Terms
from two_towers.turn import Course, seat_numbers
from two_towers.view import view

__all__ = ["TwoTowers"]


class TwoTowers:
    """The rules of Two Towers, rules version 1."""

    id: str = "two_towers"
    rules_version: int = 1
    catalog_version: str = DATA.catalog_version
    rules_digest: bytes = rules_digest("two_towers", 1, {DATA_FILE: DATA_BYTES})
    min_seats: int = DATA.constants.seats
    max_seats: int = DATA.constants.seats
    schema: Schema = Schema((pb.DESCRIPTOR,))
    view_type: type[Message] = pb.View
    standing: frozenset[str] = frozenset()

    # ---- the start (TT-3) --------------------------------------------------------------------------------------------

    def configure(self, options: Mapping[str, str], seats: int) -> MatchFacts | Illegal:
        """Judges the options of a challenge (TT-1.5)."""
        return configure(options, seats)

    def initial(self, setup: Setup) -> State:
        """The state before the first event."""
        options = {**DEFAULTS, **setup.options}
        return State(
            Terms(
                deck_type=options["deck_type"],
                battlefield=options["battlefield"],
                timeout_limit=int(options["timeout_limit"]),
                standard=options["deck_type"] == "standard",
            )
        )

    def start(self, setup: Setup, draws: Draws) -> Start[State] | Illegal:
        """Deals, and begins turn 1; or arranges the position of an analysis match."""
        if setup.position:
            return self._start_arranged(setup, draws)
        terms = self.initial(setup).terms
        field = BATTLEFIELDS[terms.battlefield]
        first = first_seat(setup.options.get("first_player", DEFAULTS["first_player"]), draws)
        dealt = deal(standard=terms.standard, first=first, draws=draws)
        second = Seat(1 - first)
        events: list[Message] = [
            pb.BattleBegun(
                first_seat=first,
                deck_type=terms.deck_type,
                battlefield=field.id,
                numbers=[seat_numbers(field.numbers)] * DATA.constants.seats,
                goal_tower=field.goal_tower,
                goal_resource=field.goal_resource,
                pile_count=len(dealt.pile) if terms.standard else None,
                timeout_limit=terms.timeout_limit,
            )
        ]
        if terms.standard:
            events.append(pb.PileOrdered(cards=dealt.pile))
        events += [pb.HandDealt(seat=seat, cards=dealt.hands[seat]) for seat in (first, second)]
        course = Course(fold(self.initial(setup), events), draws)
        course.start_turn(1, first)
        begun = course.decision()
        lines = (terms.deck_type, str(first), ",".join(dealt.order))  # TT-9.5
        return Start(lines, (*events, *begun.events), begun.state)

    def _start_arranged(self, setup: Setup, draws: Draws) -> Start[State] | Illegal:
        terms = self.initial(setup).terms
        try:
            position = pb.PositionArranged.FromString(setup.position)
        except DecodeError:
            return rejections.bad_position("It is no position of this game.")
        fault = position_fault(position, terms)
        if fault:
            return rejections.bad_position(fault)
        course = Course(fold(self.initial(setup), (position,)), draws)
        if position.at == "turn_start":
            course.start_turn(position.turn_no, position.active_seat)
        elif position.at == "turn_end":
            course.end_turn()
        begun = course.decision()
        cards = [card for hand in position.hands for card in hand.cards if card != EMPTY]
        lines = (terms.deck_type, str(begun.state.terms.first_seat), ",".join((*cards, *position.pile)))
        return Start(lines, (position, *begun.events), begun.state)

    # ---- commands (TT-5) ---------------------------------------------------------------------------------------------

    def decide(
        self, state: State, actor: Actor, command: Message, prompt: Prompt | None, draws: Draws
    ) -> Decision[State] | Illegal:
        """Judges a command in the order of TT-5.2, as far as the platform has not done so."""
        if state.result is not None:
            return rejections.plain("match_over")
        if isinstance(command, match_pb2.Expire):
            return self._expire(state, actor, prompt, draws)
        if actor.kind is not ActorKind.SEAT:
            return rejections.plain("not_authorised")
        if isinstance(command, match_pb2.Resign):
            course = Course(state, draws)
            course.resign(actor.seat)
            return course.decision()
        if isinstance(command, pb.PlayCard):
            return self._play(state, actor.seat, command, draws)
        if isinstance(command, pb.DiscardCard):
            return self._discard(state, actor.seat, command, draws)
        return rejections.plain("not_authorised")

    def _play(self, state: State, seat: Seat, command: pb.PlayCard, draws: Draws) -> Decision[State] | Illegal:
        if seat != state.active:
            return rejections.plain("not_your_prompt")
        if state.phase is Phase.FORCED_DISCARD:
            return rejections.plain("must_discard")
        slot, card_id = command.slot, command.card
        refusal = _wrong_slot(state, slot, card_id)
        if refusal:
            return refusal
        card = CARDS[card_id]
        stock = state.seats[seat].numbers[card.stock]
        if stock < card.cost:  # TT-4.3
            return rejections.cannot_afford(card, stock)
        course = Course(state, draws)
        course.play(seat, slot, card)
        return course.decision()

    def _discard(self, state: State, seat: Seat, command: pb.DiscardCard, draws: Draws) -> Decision[State] | Illegal:
        if seat != state.active:
            return rejections.plain("not_your_prompt")
        slot, card_id = command.slot, command.card
        refusal = _wrong_slot(state, slot, card_id)
        if refusal:
            return refusal
        course = Course(state, draws)
        course.discard(seat, slot, card_id)
        return course.decision()

    def _expire(self, state: State, actor: Actor, prompt: Prompt | None, draws: Draws) -> Decision[State] | Illegal:
        if actor.kind is not ActorKind.CLOCK:
            return rejections.plain("not_authorised")
        course = Course(state, draws)
        course.time_out(state.active if prompt is None else prompt.seat)
        return course.decision()

    def evolve(self, state: State, event: Message) -> State:
        """The state after one of the game's events."""
        return evolve(state, event)

    def fold(self, state: State, events: Iterable[Message]) -> State:
        """The state after some of them."""
        return fold(state, events)

    # ---- what may be asked of a state --------------------------------------------------------------------------------

    def prompts(self, state: State) -> tuple[Prompt, ...]:
        """The one open decision (TT-4.3, TT-4.6), numbered over the match (TT-5)."""
        if state.phase in (Phase.MAIN, Phase.FORCED_DISCARD):
            return (Prompt(Seat(state.active), state.phase.value, state.decisions + 1),)
        return ()

    def legal(self, state: State, seat: Seat, prompt: Prompt) -> tuple[Legal, ...]:  # noqa: ARG002
        """Every command that `decide` accepts from this seat."""
        return legal_commands(state, seat)

    def view(self, state: State, viewer: Viewer) -> pb.View:
        """What this viewer may know (TT-6)."""
        return view(state, viewer)

    def outcome(self, state: State) -> Outcome | None:
        """Win or draw (TT-1.4); None while the match runs."""
        result = state.result
        if result is None:
            return None
        if result.winner is None:
            return Outcome(OutcomeKind.DRAW, (1, 1), result.reasons)
        return Outcome(OutcomeKind.WIN, (1, 2) if result.winner == 0 else (2, 1), result.reasons)


def _wrong_slot(state: State, slot: int, card_id: str) -> Illegal | None:
    """TT-5.1 and the slot's own rejections, in the order of TT-5.2."""
    if not 0 <= slot < HAND_SIZE:
        return rejections.bad_slot(slot)
    held = state.seats[state.active].hand[slot]
    if held == EMPTY:
        return rejections.empty_slot(slot)
    if held != card_id:
        return rejections.card_mismatch(slot)
    return None
