"""The command played for a seat whose time is up (BS-12.2)."""

from __future__ import annotations

from google.protobuf.message import Message

from broom_service.catalogue import DATA
from broom_service.reach import circles_free
from broom_service.roles import BRAVE, BRAVE_HEART, COWARDLY, ROLE_IDS
from broom_service.state import Stage, State, StepKind
from broom_service.tricks import is_spent
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["default_command"]


def default_command(state: State, seat: int) -> Message:
    """What happens if this asked seat does not answer; always legal."""
    asked = state.asked
    if asked is Stage.CHOOSE:
        free = [role for role in ROLE_IDS if role not in state.bewitched]
        return pb.ChooseRoles(roles=free[: DATA.constants.roles_per_round])
    if asked is Stage.EXTRA:
        return pb.DeclineExtra()
    if asked is Stage.LEAD:
        return _lead(state, seat)
    if asked is Stage.FOLLOW:
        return pb.PlayRole(role=state.led_role, stance=COWARDLY)
    if asked is Stage.STEPS:
        return _step(state)
    return pb.Offer() if asked is Stage.OFFER else pb.DeclineSet()


def _lead(state: State, seat: int) -> Message:
    role = state.hands[seat][0]
    if is_spent(state, role):  # BS-5.9
        return pb.PlayRole(role=role)
    return pb.PlayRole(role=role, stance=BRAVE if state.event == BRAVE_HEART else COWARDLY)


def _step(state: State) -> Message:
    step = min(state.top_steps, key=lambda step: step.number)
    if step.kind is StepKind.TURBO:
        return pb.Ride(step=step.number, circle=circles_free(state, step)[0])
    return pb.SkipStep(step=step.number)
