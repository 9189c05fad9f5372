"""Broom Service as a `Game`: options, the start, and the judging of every command (BS-1 to BS-13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from google.protobuf.message import DecodeError, Message

from broom_service.catalogue import DATA, DATA_BYTES, DATA_FILE
from broom_service.course import Course
from broom_service.evolve import evolve, fold
from broom_service.judge import judge
from broom_service.leaving import RESIGNED, clear_timeouts, count_timeout, retire
from broom_service.legal import legal_commands
from broom_service.options import configure, terms_of
from broom_service.positions import position_fault
from broom_service.rejections import bad_position, refuse
from broom_service.set_up import set_up
from broom_service.state import ASKED_TOGETHER, Stage, State
from broom_service.timeout import default_command
from broom_service.view import asked_seats, view
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
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from grimoire.v1 import match_pb2

__all__ = ["BroomService"]


class BroomService:
    """The rules of Broom Service, rules version 1."""

    id: str = "broom_service"
    rules_version: int = 1
    catalog_version: str = DATA.catalog_version
    rules_digest: bytes = rules_digest("broom_service", 1, {DATA_FILE: DATA_BYTES})
    min_seats: int = DATA.options.seats.min
    max_seats: int = DATA.options.seats.max
    schema: Schema = Schema((pb.DESCRIPTOR,))
    view_type: type[Message] = pb.View
    standing: frozenset[str] = frozenset()

    # ---- the start (BS-3) --------------------------------------------------------------------------------------------

    def configure(self, options: Mapping[str, str], seats: int) -> MatchFacts | Illegal:
        """Judges the options of a challenge (BS-1.3)."""
        return configure(options, seats)

    def initial(self, setup: Setup) -> State:
        """The state before the first event."""
        return State(terms_of(setup.options, setup.seats))

    def start(self, setup: Setup, draws: Draws) -> Start[State] | Illegal:
        """Deals, and asks all seats for their roles; or arranges the position of an analysis match."""
        if setup.position:
            return self._start_arranged(setup)
        course = Course(self.initial(setup), draws)
        lines = set_up(course)
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
        clouds = ",".join(placed.cloud for placed in position.clouds)
        tiles = ",".join(placed.tile for placed in position.tiles)
        events = ",".join((*position.events_to_come, *position.events_out))
        stack = ",".join(position.bewitched_stack)
        lines = (position.board, str(position.first_seat), clouds, tiles, events, stack)
        return Start(lines, (position,), evolve(state, position))

    # ---- commands (BS-11) --------------------------------------------------------------------------------------------

    def decide(
        self, state: State, actor: Actor, command: Message, prompt: Prompt | None, draws: Draws
    ) -> Decision[State] | Illegal:
        """Judges a command in the order of BS-11.1, as far as the platform has not done so."""
        if state.result is not None:
            return refuse("match_over")
        course = Course(state, draws)
        if isinstance(command, match_pb2.Expire):
            if actor.kind is not ActorKind.CLOCK or prompt is None:
                return refuse("not_authorised")
            if count_timeout(course, prompt.seat):
                return course.decision()
            return judge(course, prompt.seat, default_command(state, prompt.seat)) or course.decision()
        if actor.kind is not ActorKind.SEAT:
            return refuse("not_authorised")
        seat = actor.seat
        if state.retired[seat]:  # BS-12.4
            return refuse("seat_retired")
        if isinstance(command, match_pb2.Resign):
            retire(course, seat, RESIGNED)
            return course.decision()
        if prompt is None or prompt.seat != seat or prompt.kind != state.asked:
            return refuse("not_your_turn")
        clear_timeouts(course, seat)
        return judge(course, seat, command) or course.decision()

    def evolve(self, state: State, event: Message) -> State:
        """The state after one of the game's events."""
        return evolve(state, event)

    def fold(self, state: State, events: Iterable[Message]) -> State:
        """The state after some of them."""
        return fold(state, events)

    # ---- what may be asked of a state --------------------------------------------------------------------------------

    def prompts(self, state: State) -> tuple[Prompt, ...]:
        """Who is asked: all seats that have not answered in a simultaneous stage, else one (BS-12.1).

        A prompt's key follows from what everybody sees, and no other seat's answer or leaving changes it.
        """
        asked = state.asked
        if asked in ASKED_TOGETHER:
            key = state.round
        elif asked is Stage.STEPS:
            key = state.step_facts
        else:
            key = state.round << 8 | len(state.plays)
        return tuple(Prompt(Seat(seat), asked.value, key) for seat in asked_seats(state))

    def legal(self, state: State, seat: Seat, prompt: Prompt) -> tuple[Legal, ...]:
        """Every command that `decide` accepts from this seat for this prompt."""
        return legal_commands(state, seat, prompt)

    def view(self, state: State, viewer: Viewer) -> pb.View:
        """What this viewer may know (BS-11.4)."""
        return view(state, viewer)

    def out(self, state: State) -> frozenset[int]:
        """Seats that have retired (BS-12.4)."""
        return frozenset(seat for seat, gone in enumerate(state.retired) if gone)

    def outcome(self, state: State) -> Outcome | None:
        """Ranks with shared victories (BS-10.5); None while the match runs."""
        result = state.result
        if result is None:
            return None
        kind = OutcomeKind.WIN if len(result.winners) == 1 else OutcomeKind.SHARED
        return Outcome(kind, tuple(score.rank for score in result.scores), (result.reason,))
