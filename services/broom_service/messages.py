"""Parts of the state as messages, and back; where both have the same fields, by their names."""

from __future__ import annotations

from msgspec.structs import asdict

from broom_service.resources import NOTHING, as_message, read
from broom_service.state import NO_ONE, Play, Score, Step, StepKind
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["play_message", "play_of", "score_message", "score_of", "step_message", "step_of"]


def play_message(play: Play) -> pb.Play:
    """A card that was laid down, or a seat that passed."""
    return pb.Play(**asdict(play))


def play_of(message: pb.Play) -> Play:
    """The inverse of `play_message`."""
    return Play(*[getattr(message, field) for field in Play.__struct_fields__])


def score_message(score: Score) -> pb.SeatScore:
    """A seat at the end."""
    return pb.SeatScore(**asdict(score))


def score_of(message: pb.SeatScore) -> Score:
    """The inverse of `score_message`."""
    return Score(*[getattr(message, field) for field in Score.__struct_fields__])


def step_message(step: Step) -> pb.Step:
    """An open step."""
    return pb.Step(
        step=step.number,
        group=step.group,
        kind=step.kind.value,
        cause=step.cause,
        take=None if step.take == NOTHING else as_message(step.take),
        one=step.one,
        moves=step.moves,
        terrains=step.terrains,
        delivers=step.delivers,
        pawn=None if step.pawn == NO_ONE else step.pawn,
        region=step.region,
        bonus_vp=step.bonus,
        circles=step.circles,
    )


def step_of(message: pb.Step) -> Step:
    """The inverse of `step_message`."""
    return Step(
        number=message.step,
        group=message.group,
        kind=StepKind(message.kind),
        cause=message.cause,
        take=read(message.take),
        one=message.one,
        moves=message.moves,
        terrains=(*message.terrains,),
        delivers=message.delivers,
        pawn=message.pawn if message.HasField("pawn") else NO_ONE,
        region=message.region,
        bonus=message.bonus_vp,
        circles=(*message.circles,),
    )
