"""The Wizard's Garden as a `Game`: options, the start, and the judging of every command (WG-1 to WG-14)."""

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
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from grimoire.v1 import match_pb2
from wizards_garden.board import SPACES, START
from wizards_garden.catalogue import DATA, DATA_BYTES, DATA_FILE
from wizards_garden.course import Course
from wizards_garden.deal import Deal, deal, first_seat
from wizards_garden.evolve import evolve, fold
from wizards_garden.judge import judge
from wizards_garden.legal import legal_commands
from wizards_garden.options import DEFAULTS, configure
from wizards_garden.pieces import PIECES
from wizards_garden.positions import position_fault
from wizards_garden.rejections import bad_position, refuse
from wizards_garden.state import Result, Stage, State, Terms, other
from wizards_garden.timeout import default_command
from wizards_garden.view import view

__all__ = ["WizardsGarden"]

_CLASSES = {Stage.PREPARATION: "setup", Stage.DEFENCE: "reaction"}


class WizardsGarden:
    """The rules of the Wizard's Garden, rules version 1."""

    id: str = "wizards_garden"
    rules_version: int = 1
    catalog_version: str = str(DATA.data_version)
    rules_digest: bytes = rules_digest("wizards_garden", 1, {DATA_FILE: DATA_BYTES})
    min_seats: int = DATA.players
    max_seats: int = DATA.players
    schema: Schema = Schema((pb.DESCRIPTOR,))
    view_type: type[Message] = pb.View
    standing: frozenset[str] = frozenset()

    # ---- the start (WG-3) --------------------------------------------------------------------------------------------

    def configure(self, options: Mapping[str, str], seats: int) -> MatchFacts | Illegal:
        """Judges the options of a challenge (WG-1.3)."""
        return configure(options, seats)

    def initial(self, setup: Setup) -> State:
        """The state before the first event."""
        options = {**DEFAULTS, **setup.options}
        return State(Terms(int(options["spells_per_player"]), int(options["turn_limit"])))

    def start(self, setup: Setup, draws: Draws) -> Start[State] | Illegal:
        """Deals, and asks the first seat to prepare; or arranges the position of an analysis match."""
        if setup.position:
            return self._start_arranged(setup)
        blank = self.initial(setup)
        first = first_seat(setup.options.get("first_player", DEFAULTS["first_player"]), draws)
        dealt = deal(first=first, spells_per_player=blank.terms.spells_per_player, draws=draws)
        events = _dealt(first, dealt)
        course = Course(fold(blank, events), draws)
        course.enter(Stage.PREPARATION, first)
        begun = course.decision()
        lines = (str(first), ",".join(dealt.spirit_order), ",".join(dealt.spell_order))
        return Start(lines, (*events, *begun.events), begun.state)

    def _start_arranged(self, setup: Setup) -> Start[State] | Illegal:
        state = self.initial(setup)
        try:
            position = pb.PositionArranged.FromString(setup.position)
        except DecodeError:
            return bad_position("It is no position of this game.")
        fault = position_fault(position, state.terms)
        if fault:
            return bad_position(fault)
        state = evolve(state, position)
        hands = [",".join((*hand.cards, *hand.spells)) for hand in position.hands]
        lines = (str(position.first_seat), *hands, ",".join(position.deck))
        return Start(lines, (position,), state)

    # ---- commands (WG-14) --------------------------------------------------------------------------------------------

    def decide(
        self,
        state: State,
        actor: Actor,
        command: Message,
        prompt: Prompt | None,  # noqa: ARG002 - a seat is asked one thing at a time
        draws: Draws,
    ) -> Decision[State] | Illegal:
        """Judges a command in the order of WG-14, as far as the platform has not done so."""
        if state.result is not None:
            return refuse("match_over")
        if isinstance(command, match_pb2.Expire):
            if actor.kind is not ActorKind.CLOCK:
                return refuse("not_authorised")
            return self._carry_out(state, default_command(state), draws)
        if actor.kind is not ActorKind.SEAT:
            return refuse("not_authorised")
        if isinstance(command, match_pb2.Resign):
            course = Course(state, draws)
            course.end(Result(other(actor.seat), "resigned"))
            return course.decision()
        if actor.seat != state.asked:
            return refuse("not_your_prompt")
        return self._carry_out(state, command, draws)

    def _carry_out(self, state: State, command: Message, draws: Draws) -> Decision[State] | Illegal:
        course = Course(state, draws)
        return judge(course, command) or course.decision()

    def evolve(self, state: State, event: Message) -> State:
        """The state after one of the game's events."""
        return evolve(state, event)

    def fold(self, state: State, events: Iterable[Message]) -> State:
        """The state after some of them."""
        return fold(state, events)

    # ---- what may be asked of a state --------------------------------------------------------------------------------

    def prompts(self, state: State) -> tuple[Prompt, ...]:
        """The one seat that is asked, in the state it is asked in (WG-4.9)."""
        stage = state.stage
        if stage is Stage.OVER or stage is Stage.SETUP:
            return ()
        return (Prompt(Seat(state.asked), stage.value, state.events, _CLASSES.get(stage, "turn")),)

    def legal(self, state: State, seat: Seat, prompt: Prompt) -> tuple[Legal, ...]:  # noqa: ARG002
        """Every command that `decide` accepts from this seat."""
        return legal_commands(state, seat)

    def view(self, state: State, viewer: Viewer) -> pb.View:
        """What this viewer may know (WG-15.2)."""
        return view(state, viewer)

    def outcome(self, state: State) -> Outcome | None:
        """Win or draw (WG-12); None while the match runs."""
        result = state.result
        if result is None:
            return None
        if result.winner is None:
            return Outcome(OutcomeKind.DRAW, (1, 1), (result.reason,))
        return Outcome(OutcomeKind.WIN, (1, 2) if result.winner == 0 else (2, 1), (result.reason,))


def _dealt(first: int, dealt: Deal) -> list[Message]:
    """The events of the deal, in the rules' order (WG-3.1 to WG-3.4)."""
    seats = (first, other(first))
    return [
        pb.FirstSeatSet(seat=first),
        pb.GnomesSetUp(
            positions=[pb.GnomePosition(gnome=PIECES[gnome], space=SPACES[space]) for gnome, space in START]
        ),
        *(pb.SpiritsDealt(seat=seat, count=len(dealt.hands[seat]), cards=dealt.hands[seat]) for seat in seats),
        *(pb.SpellsDealt(seat=seat, count=len(dealt.spells[seat]), spells=dealt.spells[seat]) for seat in seats),
        pb.DeckSet(count=len(dealt.deck), order=dealt.deck, set_aside=dealt.set_aside),
    ]
