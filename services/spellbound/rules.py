"""Spellbound as a `Game`: options, the start, and the judging of every command (SB-1 to SB-18)."""

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
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from grimoire.v1 import match_pb2
from spellbound.catalogue import DATA, DATA_BYTES, DATA_FILE
from spellbound.course import Course
from spellbound.evolve import evolve, fold
from spellbound.judge import ANY_TIME, judge, set_reaction_policy
from spellbound.legal import legal_commands
from spellbound.options import MAX_MAGES, configure, terms_of
from spellbound.positions import position_fault
from spellbound.rejections import bad_position, refuse
from spellbound.set_up import set_up
from spellbound.state import Stage, State
from spellbound.timeout import default_command
from spellbound.view import view
from spellbound.windows import any_time_seats, asked_seat

__all__ = ["Spellbound"]

_MAIN = frozenset({Stage.WITCHING, Stage.STORY, Stage.CARD})
_TURN_SHIFT = 8
"""The optional prompt's number: its turn, and the spells that are out of the game."""


class Spellbound:
    """The rules of Spellbound, rules version 1."""

    id: str = "spellbound"
    rules_version: int = 1
    catalog_version: str = str(DATA.data_version)
    rules_digest: bytes = rules_digest("spellbound", 1, {DATA_FILE: DATA_BYTES})
    min_seats: int = 1
    max_seats: int = MAX_MAGES
    schema: Schema = Schema((pb.DESCRIPTOR,))
    view_type: type[Message] = pb.View
    standing: frozenset[str] = frozenset({"set_reaction_policy"})

    # ---- the start (SB-3) --------------------------------------------------------------------------------------------

    def configure(self, options: Mapping[str, str], seats: int) -> MatchFacts | Illegal:
        """Judges the options of a challenge (SB-1.3)."""
        return configure(options, seats)

    def initial(self, setup: Setup) -> State:
        """The state before the first event."""
        return State(terms_of(setup.options, setup.seats))

    def start(self, setup: Setup, draws: Draws) -> Start[State] | Illegal:
        """Deals, and asks the first mage's seat; or arranges the position of an analysis match."""
        if setup.position:
            return self._start_arranged(setup)
        course = Course(self.initial(setup), draws)
        lines = set_up(course, setup.options.get("first_mage", "random"))
        begun = course.decision()
        return Start(lines, begun.events, begun.state)

    def _start_arranged(self, setup: Setup) -> Start[State] | Illegal:
        state = self.initial(setup)
        try:
            position = pb.PositionArranged.FromString(setup.position)
        except DecodeError:
            return bad_position("It is no position of this game.")
        fault = position_fault(position, state.terms)
        if fault:
            return bad_position(fault)
        lines = (",".join(position.deck), ",".join(position.wicked_deck), ",".join(position.spell_deck))
        return Start(lines, (position,), evolve(state, position))

    # ---- commands (SB-18) --------------------------------------------------------------------------------------------

    def decide(
        self, state: State, actor: Actor, command: Message, prompt: Prompt | None, draws: Draws
    ) -> Decision[State] | Illegal:
        """Judges a command in the order of SB-18, as far as the platform has not done so."""
        if state.result is not None:
            return refuse("match_over")
        course = Course(state, draws)
        if isinstance(command, match_pb2.Expire):
            if actor.kind is not ActorKind.CLOCK or prompt is None:
                return refuse("not_authorised")
            return judge(course, prompt.seat, default_command(state), prompt.kind) or course.decision()
        if actor.kind is not ActorKind.SEAT:
            return refuse("not_authorised")
        if isinstance(command, match_pb2.Resign):
            course.end(won=False, reason="resigned")
            return course.decision()
        if isinstance(command, pb.SetReactionPolicy):
            return set_reaction_policy(course, actor.seat, command) or course.decision()
        if prompt is None or prompt.seat != actor.seat:
            return refuse("not_your_prompt")
        return judge(course, actor.seat, command, prompt.kind) or course.decision()

    def evolve(self, state: State, event: Message) -> State:
        """The state after one of the game's events."""
        return evolve(state, event)

    def fold(self, state: State, events: Iterable[Message]) -> State:
        """The state after some of them."""
        return fold(state, events)

    # ---- what may be asked of a state --------------------------------------------------------------------------------

    def prompts(self, state: State) -> tuple[Prompt, ...]:
        """Who is asked, and beside the active seat's own prompt those who may cast a spell unasked (SB-16)."""
        asked = state.asked
        if asked in _MAIN:
            own = Prompt(Seat(state.active_seat), asked.value, state.facts)
            key = state.turn << _TURN_SHIFT | len(state.removed)
            free = [Prompt(Seat(seat), ANY_TIME, key, "", required=False) for seat in any_time_seats(state)]
            return (own, *free)
        if asked is Stage.REACTION:
            return (Prompt(Seat(asked_seat(state)), asked.value, state.facts, "reaction"),)
        if asked is Stage.CONSENT and state.ride is not None:
            rider = state.terms.mage_seats[state.ride.rider]
            return (Prompt(Seat(rider), asked.value, state.facts, "reaction"),)
        if asked is Stage.CHOOSE_BOOK:
            return (Prompt(Seat(state.active_seat), asked.value, state.facts),)
        return ()

    def legal(self, state: State, seat: Seat, prompt: Prompt) -> tuple[Legal, ...]:
        """Every command that `decide` accepts from this seat for this prompt."""
        return legal_commands(state, seat, prompt)

    def view(self, state: State, viewer: Viewer) -> pb.View:
        """What this viewer may know (SB-17)."""
        return view(state, viewer)

    def outcome(self, state: State) -> Outcome | None:
        """Won or lost together (SB-15); None while the match runs."""
        result = state.result
        if result is None:
            return None
        kind = OutcomeKind.COOP_WON if result.won else OutcomeKind.COOP_LOST
        return Outcome(kind, (1,) * state.terms.seats, (result.reason,))
