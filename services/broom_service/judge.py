"""Commands by type: in which stage each belongs, and who judges it (BS-11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from google.protobuf.message import Message

from broom_service import carrying_out, choosing, endings, tricks
from broom_service.course import Course
from broom_service.flow import go_on
from broom_service.rejections import refuse
from broom_service.state import Stage
from grimoire.engine import Illegal
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["judge"]

Judge = Callable[[Course, int, Any], str]
"""The code of the rejection, or an empty text: the command is carried out."""

_CHOOSE: Final = frozenset({Stage.CHOOSE})
_EXTRA: Final = frozenset({Stage.EXTRA})
_TRICK: Final = frozenset({Stage.LEAD, Stage.FOLLOW})
_STEPS: Final = frozenset({Stage.STEPS})
_OFFER: Final = frozenset({Stage.OFFER})
_HAND_IN: Final = frozenset({Stage.HAND_IN})

_COMMANDS: Final[dict[type[Message], tuple[frozenset[Stage], Judge]]] = {
    pb.ChooseRoles: (_CHOOSE, choosing.choose_roles),
    pb.AddRole: (_EXTRA, choosing.add_role),
    pb.DeclineExtra: (_EXTRA, choosing.decline_extra),
    pb.PlayRole: (_TRICK, tricks.play_role),
    pb.Gather: (_STEPS, carrying_out.gather),
    pb.MovePawn: (_STEPS, carrying_out.move_pawn),
    pb.Ride: (_STEPS, carrying_out.ride),
    pb.Deliver: (_STEPS, carrying_out.deliver),
    pb.Dispel: (_STEPS, carrying_out.dispel),
    pb.SkipStep: (_STEPS, carrying_out.skip_step),
    pb.Offer: (_OFFER, endings.offer),
    pb.HandIn: (_HAND_IN, endings.hand_in),
    pb.DeclineSet: (_HAND_IN, endings.decline_set),
}

_RULES: Final[dict[tuple[type[Message], str], str]] = {
    (pb.AddRole, "tile_not_held"): "BS-4.5",
    (pb.AddRole, "duplicate_role"): "BS-4.5",
    (pb.MovePawn, "bad_pawn"): "BS-8.1",
    (pb.Deliver, "wrong_terrain"): "BS-7.3",
    (pb.Offer, "bad_resources"): "BS-9.6",
    (pb.HandIn, "bad_resources"): "BS-9.8",
    (pb.HandIn, "not_enough_resources"): "BS-9.8",
}
"""Where a command breaks another rule than the code's usual one."""


def judge(course: Course, seat: int, command: Message) -> Illegal | None:
    """Carries out a command of an asked seat and what follows from it, or says why not.

    After a refusal the course is of no more use.
    """
    entry = _COMMANDS.get(type(command))
    if entry is None:
        return refuse("not_authorised")
    stages, do = entry
    if course.draft.asked not in stages:
        return refuse("not_your_turn")
    code = do(course, seat, command)
    if code:
        return refuse(code, _RULES.get((type(command), code), ""))
    go_on(course)
    return None
