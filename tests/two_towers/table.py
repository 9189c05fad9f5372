"""A table without a platform: start, then commands, each checked against the fold of its events."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf.message import Message

from grimoire.engine import CLOCK, Actor, Decision, Illegal, Prompt, Setup, Viewer
from grimoire.fairness import ForcedDraws, RecordedDraws, Secret
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from grimoire.v1 import match_pb2
from two_towers.fields import FIELDS
from two_towers.positions import TwoTowersPositions
from two_towers.rules import TwoTowers
from two_towers.state import State

GAME = TwoTowers()

VECTOR_JOINT = Secret(bytes.fromhex("a3cf2d2ced3fa6c8ef17d2865fbf425b0abd714bef60d21fccfe9a5b0ccd4f87"))
"""J of TT-9.11."""


class Table:
    """One match."""

    def __init__(self, setup: Setup, joint: Secret, forced: Mapping[str, Sequence[int]]) -> None:
        self._joint = joint
        self._forced = forced
        self._setup = setup
        begun = GAME.start(setup, self._draws())
        assert not isinstance(begun, Illegal), begun
        self.deal_lines = begun.deal_lines
        self.history: list[Message] = [*begun.events]
        self.state: State = begun.state
        assert self.folded() == self.state

    @classmethod
    def dealt(cls, joint: Secret | None = None, match_id: str = "tt", **options: object) -> Table:
        """A match from the deal; without J the vectors' J is used."""
        return cls(Setup(match_id, 2, texts(options)), joint or VECTOR_JOINT, {})

    @classmethod
    def arranged(
        cls,
        position: Mapping[str, object],
        options: Mapping[str, object] | None = None,
        draws: Mapping[str, Sequence[int]] | None = None,
    ) -> Table:
        """A match from a position."""
        chosen = texts(options or {})
        event = TwoTowersPositions().parse(position, chosen)
        return cls(Setup("tt", 2, chosen, event.SerializeToString()), VECTOR_JOINT, draws or {})

    @classmethod
    def from_position(cls, position: pb.PositionArranged, options: Mapping[str, object]) -> Table:
        """A match from the game's own event."""
        return cls(Setup("tt", 2, texts(options), position.SerializeToString()), VECTOR_JOINT, {})

    def _draws(self) -> ForcedDraws:
        return ForcedDraws(self._forced, RecordedDraws("two_towers", self._joint))

    def folded(self, upto: int | None = None) -> State:
        """The state as the events alone give it."""
        state = GAME.initial(self._setup)
        for event in self.history[:upto]:
            state = GAME.evolve(state, event)
        return state

    # ---- commands ----------------------------------------------------------------------------------------------------

    @property
    def prompt(self) -> Prompt:
        (prompt,) = GAME.prompts(self.state)
        return prompt

    def play(self, card: str, slot: int | None = None) -> list[Any]:
        return self._act("play_card", card, slot)

    def discard(self, card: str, slot: int | None = None) -> list[Any]:
        return self._act("discard_card", card, slot)

    def expire(self) -> list[Any]:
        return self.accept(CLOCK, match_pb2.Expire(prompt_id=1), self.prompt)

    def resign(self, seat: int) -> list[Any]:
        return self.accept(Actor.of_seat(seat), match_pb2.Resign(), None)

    def _act(self, command: str, card: str, slot: int | None) -> list[Any]:
        seat = self.state.active
        place = self.state.seats[seat].hand.index(card) if slot is None else slot
        message = GAME.schema.command(command, {"slot": place, "card": card})
        return self.accept(Actor.of_seat(seat), message, self.prompt)

    def accept(self, actor: Actor, command: Message, prompt: Prompt | None) -> list[Any]:
        """The events of a command that must be accepted."""
        decision = GAME.decide(self.state, actor, command, prompt, self._draws())
        assert isinstance(decision, Decision), decision
        state = self.state
        for event in decision.events:
            state = GAME.evolve(state, event)
        assert state == decision.state
        self.state = state
        self.history += decision.events
        return [*decision.events]

    def refuse(self, actor: Actor, command: Message) -> Illegal:
        """The rejection of a command that must be refused."""
        before = self.state
        refusal = GAME.decide(self.state, actor, command, self.prompt, self._draws())
        assert isinstance(refusal, Illegal), refusal
        assert self.state == before
        return refusal

    # ---- looking -----------------------------------------------------------------------------------------------------

    def numbers(self, seat: int) -> dict[str, int]:
        return dict(zip(FIELDS, self.state.seats[seat].numbers, strict=True))

    def hand(self, seat: int) -> tuple[str, ...]:
        return self.state.seats[seat].hand

    def view(self, viewer: Viewer) -> pb.View:
        return GAME.view(self.state, viewer)


def texts(options: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in options.items()}


def kinds(events: Sequence[Message]) -> list[str]:
    """Codes of events."""
    return [GAME.schema.code(event) for event in events]


def only(events: Sequence[Message], kind: type[Any]) -> Any:
    """The one event of a kind."""
    (event,) = [e for e in events if isinstance(e, kind)]
    return event


def random_joint(seed: int) -> Secret:
    return Secret(random.Random(seed).randbytes(32))
