"""Commands by type: in which states each belongs, and who judges it (WG-14)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from google.protobuf.message import Message

from grimoire.engine import Illegal
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden import battle, choices, spells, steps
from wizards_garden.course import Course
from wizards_garden.draft import Draft
from wizards_garden.pieces import FIRE, GNOME, PEST, SPIRIT, WATER
from wizards_garden.rejections import refuse
from wizards_garden.state import NO_ONE, Stage

__all__ = ["judge"]

Judge = Callable[[Course, Any], str]
"""The code of the rejection, or an empty text: the command is carried out."""

_MAIN = frozenset({Stage.WIZARD_START, Stage.WIZARD_MAIN})
_PHASES = frozenset(
    {
        Stage.GARDEN,
        Stage.WIZARD_START,
        Stage.WIZARD_MAIN,
        Stage.WIZARD_PENDING,
        Stage.WIZARD_END,
        Stage.ATTACK,
    }
)
_ACTION_OR_BUTTERFLY = frozenset({Stage.ACTION, Stage.BUTTERFLY})

_CHOICES: Final[dict[type[Message], tuple[frozenset[Stage], Judge]]] = {
    pb.Prepare: (frozenset({Stage.PREPARATION}), choices.prepare),
    pb.LanternAction: (frozenset({Stage.GARDEN}), choices.lantern_action),
    pb.LightWithWater: (frozenset({Stage.GARDEN}), choices.light_with_water),
    pb.PlaceLantern: (frozenset({Stage.GARDEN}), choices.place_lantern),
    pb.SwapSpirit: (frozenset({Stage.WIZARD_START}), choices.swap_spirit),
    pb.LightWithPair: (_MAIN, choices.light_with_pair),
    pb.MagicianAction: (_MAIN, choices.magician_action),
    pb.SpiritAction: (_MAIN, choices.spirit_action),
    pb.StartAction: (frozenset({Stage.WIZARD_PENDING}), choices.start_action),
    pb.EndAction: (_ACTION_OR_BUTTERFLY, steps.end_action),
    pb.EndPhase: (_PHASES, choices.end_phase),
    pb.DeclareAttack: (frozenset({Stage.ATTACK}), battle.declare_attack),
    pb.Withdraw: (frozenset({Stage.ATTACK}), battle.withdraw),
    pb.Advance: (frozenset({Stage.ATTACK}), battle.advance),
    pb.Defend: (frozenset({Stage.DEFENCE}), battle.defend),
    pb.ChooseLight: (frozenset({Stage.AFTER_BATTLE}), battle.choose_light),
    pb.ChooseSpace: (frozenset({Stage.AFTER_BATTLE}), battle.choose_space),
}

_STEPS: Final[dict[type[Message], tuple[int, Judge]]] = {
    pb.BringPest: (PEST, steps.bring_pest),
    pb.MovePest: (PEST, steps.move_pest),
    pb.ThreatenWithPests: (PEST, steps.threaten_with_pests),
    pb.BringPestThreatening: (PEST, steps.bring_pest_threatening),
    pb.CollectWater: (WATER, steps.collect_water),
    pb.DrawSpirit: (SPIRIT, steps.draw_spirit),
    pb.BringGnome: (GNOME, steps.bring_gnome),
    pb.MoveGnome: (GNOME, steps.move_gnome),
    pb.ThreatenWithGnome: (GNOME, steps.threaten_with_gnome),
    pb.BringGnomeThreatening: (GNOME, steps.bring_gnome_threatening),
    pb.CollectFire: (FIRE, steps.collect_fire),
}

_SPELLS: Final[dict[type[Message], Judge]] = {
    pb.CastFeather: spells.cast_feather,
    pb.CastSkull: spells.cast_skull,
    pb.CastEye: spells.cast_eye,
    pb.CastGem: spells.cast_gem,
    pb.CastButterfly: spells.cast_butterfly,
    pb.CastDagger: spells.cast_dagger,
    pb.CastFlower: spells.cast_flower,
    pb.CastDoll: spells.cast_doll,
    pb.CastBottle: spells.cast_bottle,
    pb.CastTrinket: spells.cast_trinket,
    pb.CastConch: spells.cast_conch,
    pb.CastFish: spells.cast_fish,
}

_IN_BUTTERFLY: Final = frozenset({pb.MoveGnome, pb.BringGnome})
_IN_DOLL: Final = frozenset({pb.MoveGnome, pb.ThreatenWithGnome})

_RULES: Final[dict[tuple[type[Message], str], str]] = {
    (pb.CastFish, "bad_amount"): "WG-13.12",
    (pb.CastFish, "not_enough_fire"): "WG-13.12",
    (pb.CastFish, "forbidden_space"): "WG-13.12",
    (pb.CastFish, "space_occupied"): "WG-13.12",
    (pb.CastBottle, "bad_amount"): "WG-13.9",
    (pb.CastBottle, "not_enough_water"): "WG-13.9",
    (pb.CastBottle, "deposit_not_open"): "WG-13.9",
    (pb.CastSkull, "bad_amount"): "WG-13.2",
    (pb.CastSkull, "not_enough_fire"): "WG-13.2",
    (pb.CastSkull, "forbidden_space"): "WG-13.2",
    (pb.CastSkull, "no_target"): "WG-13.2",
    (pb.CastSkull, "own_target"): "WG-13.2",
    (pb.CastEye, "bad_choice"): "WG-13.3",
    (pb.CastEye, "card_not_open"): "WG-13.3",
    (pb.CastDoll, "not_your_gnome"): "WG-13.8",
    (pb.CastDagger, "not_your_gnome"): "WG-13.6",
    (pb.CastDagger, "gnome_fixed"): "WG-13.6",
    (pb.Defend, "bad_amount"): "WG-9.5",
    (pb.Defend, "not_enough_water"): "WG-9.5",
    (pb.Defend, "not_enough_fire"): "WG-9.5",
    (pb.DeclareAttack, "own_target"): "WG-9.12",
}
"""Where a command breaks another rule than the code's usual one."""


def judge(course: Course, command: Message) -> Illegal | None:
    """Carries out a command of the asked seat, or says why not and leaves everything as it was."""
    kind = type(command)
    code = _judge(course, kind, command)
    return refuse(code, _RULES.get((kind, code), "")) if code else None


def _judge(course: Course, kind: type[Message], command: Message) -> str:
    spell = _SPELLS.get(kind)
    if spell is not None:
        return spell(course, command)
    step = _STEPS.get(kind)
    if step is not None:
        needed, do = step
        return do(course, command) if _takes_step(course.draft, kind, needed) else "wrong_state"
    choice = _CHOICES.get(kind)
    if choice is None:
        return "not_authorised"
    stages, do = choice
    return do(course, command) if course.draft.stage in stages else "wrong_state"


def _takes_step(draft: Draft, kind: type[Message], needed: int) -> bool:
    """Whether the action under way takes such steps (WG-14)."""
    action = draft.action
    if action is None or action.kind != needed:
        return False
    if draft.stage is Stage.BUTTERFLY:
        return kind in _IN_BUTTERFLY
    return action.gnome == NO_ONE or kind in _IN_DOLL
