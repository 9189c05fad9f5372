"""Why a command is refused, judged by a second reading of the rules that shares nothing with the game (BS-11.1).

For a command, `Reading.faults` lists everything that is wrong with it; the first in the rules' order is the answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any, Final

from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from broom_service.state import State
from grimoire.engine import Actor, Illegal
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from grimoire.match.scenario.legality import allows
from tests.broom_service.lively import BOARDS, GAME, draws
from tests.broom_service.second import FOREST, KINDS, ORDER, Reading
from tests.broom_service.test_second_course import arranged, match

CODES: Final = (
    "not_your_turn",
    "unknown_role",
    "duplicate_role",
    "wrong_count",
    "role_not_in_hand",
    "must_follow",
    "bad_stance",
    "must_be_brave",
    "bad_instead",
    "tile_not_held",
    "tile_not_usable",
    "unknown_step",
    "wrong_step_kind",
    "bad_pawn",
    "bad_resources",
    "not_adjacent",
    "water",
    "wrong_terrain",
    "clouded",
    "bad_circle",
    "unknown_tower",
    "tower_covered",
    "tower_not_here",
    "tower_occupied",
    "no_potion",
    "bad_wands",
    "no_cloud",
    "cloud_not_near",
    "not_enough_wands",
    "cannot_skip",
    "not_enough_resources",
)
"""In the rules' order; `add_role` alone looks at its tile first."""

NONSENSE: Final = "nonsense"
PROMPTS: Final[dict[str, tuple[type[Message], ...]]] = {
    "choose": (pb.ChooseRoles,),
    "extra": (pb.AddRole, pb.DeclineExtra),
    "lead": (pb.PlayRole,),
    "follow": (pb.PlayRole,),
    "steps": (pb.Gather, pb.MovePawn, pb.Ride, pb.Deliver, pb.Dispel, pb.SkipStep),
    "offer": (pb.Offer,),
    "hand_in": (pb.HandIn, pb.DeclineSet),
}
EVERYTHING: Final = [each for classes in PROMPTS.values() for each in classes]


def first_of(faults: list[str], command: Message) -> str:
    """The code that is told; empty: accepted."""
    if isinstance(command, pb.AddRole) and "tile_not_held" in faults:
        return "tile_not_held"
    return min(faults, key=CODES.index) if faults else ""


class Sender:
    """Commands of every kind: mostly of what lies there, now and then of what does not exist."""

    def __init__(self, reading: Reading, seat: int, chance: random.Random) -> None:
        self._reading, self._seat, self._chance = reading, seat, chance

    def command(self, kind: str) -> Message:
        """A command, mostly of this kind of prompt."""
        fitting = PROMPTS[kind] if self._chance.random() < 0.97 else EVERYTHING
        if kind == "steps" and self._chance.random() < 0.9:
            fitting = tuple(self._of_step(step["kind"]) for step in self._reading.top())
        cls = self._chance.choice(fitting)
        made: Message = getattr(self, f"_{cls.__name__}")()
        return made

    def _of_step(self, kind: str) -> type[Message]:
        of = {"gather": pb.Gather, "move": pb.MovePawn, "turbo": pb.Ride, "deliver": pb.Deliver, "dispel": pb.Dispel}
        return of[kind] if self._chance.random() < 0.9 else pb.SkipStep

    def _one(self, *things: Any) -> Any:
        return NONSENSE if self._chance.random() < 0.03 else self._chance.choice(things or (NONSENSE,))

    def _role(self) -> str:
        hand = self._reading.hands[self._seat]
        return str(self._one(*hand) if self._chance.random() < 0.7 else self._one(*ORDER))

    def _step(self) -> int:
        numbers = [step["step"] for step in self._reading.steps] or [1]
        return int(self._chance.choice([*numbers, *numbers, *numbers, numbers[-1] + 1]))

    def _amounts(self) -> list[pb.Amount]:
        count = self._chance.choice((0, 1, 1, 1, 2, 2, 3))
        return [
            pb.Amount(resource=self._one(*KINDS), amount=self._chance.choice((1, 1, 1, 2, 3))) for _ in range(count)
        ]

    def _ChooseRoles(self) -> Message:
        return pb.ChooseRoles(roles=[self._one(*ORDER) for _ in range(self._chance.choice((0, 1, 3, 4, 4, 4, 5, 6)))])

    def _AddRole(self) -> Message:
        held = self._reading.forest[self._seat]
        return pb.AddRole(tile=self._one(*held, *held, *FOREST), role=self._one(*ORDER))

    def _DeclineExtra(self) -> Message:
        return pb.DeclineExtra()

    def _PlayRole(self) -> Message:
        chance, held = self._chance, self._reading.forest[self._seat]
        instead = chance.choice(("", "", "", "event", self._one(*held, *held, *FOREST)))
        resource = self._one(*KINDS) if chance.random() < (0.7 if instead == "event" else 0.03) else ""
        stance = chance.choice(("brave", "cowardly", "cowardly", "", NONSENSE) if chance.random() < 0.2 else STANCES)
        return pb.PlayRole(role=self._role(), stance=stance, instead=instead, resource=resource)

    def _Gather(self) -> Message:
        return pb.Gather(step=self._step(), resources=self._amounts())

    def _near(self) -> tuple[int, str]:
        """A pawn, now and then one that is not there, and a region, mostly next to it."""
        pawn = self._chance.choice((0, 0, 0, 1, 1, 1, 2))
        return pawn, self._reading.pawns[self._seat][min(pawn, 1)]

    def _MovePawn(self) -> Message:
        pawn, region = self._near()
        side = self._reading.side
        to = self._one(*side.near[region]) if self._chance.random() < 0.8 else self._one(*side.terrain)
        return pb.MovePawn(step=self._step(), pawn=pawn, to=to)

    def _Ride(self) -> Message:
        return pb.Ride(step=self._step(), circle=self._one(*"ABCD"))

    def _Deliver(self) -> Message:
        pawn, region = self._near()
        towers = self._reading.side.towers
        here = [tower for tower, record in towers.items() if region in record["touches"]]
        tower = self._one(*here) if self._chance.random() < 0.8 else self._one(*towers, "h_vat")
        wands = {} if self._chance.random() < 0.5 else {"take_wands": self._chance.randrange(4)}
        return pb.Deliver(step=self._step(), pawn=pawn, tower=tower, **wands)

    def _Dispel(self) -> Message:
        reading = self._reading
        spaces = [*reading.clouds] if reading.clouds and self._chance.random() < 0.8 else [*reading.side.spaces]
        return pb.Dispel(step=self._step(), space=self._one(*spaces))

    def _SkipStep(self) -> Message:
        return pb.SkipStep(step=self._step())

    def _Offer(self) -> Message:
        return pb.Offer(resources=self._amounts())

    def _HandIn(self) -> Message:
        size = self._chance.choice((3, 3, 4, 4, 2, 5))
        kinds = self._chance.sample(KINDS, min(size, 4)) if self._chance.random() < 0.8 else KINDS
        names = [self._one(kind) for kind in kinds]
        return pb.HandIn(size=size, resources=names[: self._chance.choice((3, 4, 4))])

    def _DeclineSet(self) -> Message:
        return pb.DeclineSet()


STANCES: Final = ("brave", "cowardly")


def as_listed(reading: Reading, command: Message) -> Message:
    """Where a tower has no wands, none are taken without saying so."""
    if isinstance(command, pb.Deliver) and command.HasField("take_wands") and not command.take_wands:
        tower = reading.tower(command.tower)
        if tower is not None and not tower["wands"]:
            command = pb.Deliver(step=command.step, pawn=command.pawn, tower=command.tower)
    return command


def compare(state: State, reading: Reading, chance: random.Random, commands: int) -> Iterator[str]:
    """Codes by which commands of each asked seat were answered; empty: accepted."""
    for prompt in GAME.prompts(state):
        listed = GAME.legal(state, prompt.seat, prompt)
        sender = Sender(reading, int(prompt.seat), chance)
        for _ in range(commands):
            command = sender.command(prompt.kind)
            answer = GAME.decide(state, Actor.of_seat(prompt.seat), command, prompt, draws(1))
            found = answer.code if isinstance(answer, Illegal) else ""
            wrong = reading.faults(int(prompt.seat), command)
            assert found == first_of(wrong, command), (prompt.kind, command, wrong)
            assert allows(listed, GAME.schema, as_listed(reading, command)) is not bool(found), (prompt.kind, command)
            yield found


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32), st.integers(2, 5), st.sampled_from(BOARDS))
def test_a_second_reading_refuses_the_same(seed: int, seats: int, options: Mapping[str, str]) -> None:
    chance = random.Random(seed)
    for moment, (state, reading) in enumerate(match(seed, seats, options)):
        if moment % 5 == seed % 5:
            for _ in compare(state, reading, chance, 8):
                pass


def test_every_reason_is_met() -> None:
    met: set[str] = set()
    for seed in range(200):
        chance = random.Random(seed)
        for state, reading in match(seed, 2 + seed % 4, BOARDS[seed % len(BOARDS)], begin=arranged):
            if chance.random() < 0.3:
                met.update(compare(state, reading, chance, 6))
        if met >= {*CODES, ""}:
            break
    assert met == {*CODES, ""}
