"""The command played for a seat whose time is up (WG-12.3)."""

from __future__ import annotations

from google.protobuf.message import Message

from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.pieces import CARD_KIND, KINDS
from wizards_garden.state import NO_ONE, Stage, State

__all__ = ["default_command"]


def default_command(state: State) -> Message:
    """What happens if the asked seat does not answer; always legal."""
    stage = state.stage
    if stage is Stage.PREPARATION:
        first, second = state.seats[state.active].hand[:2]
        return pb.Prepare(spirits=[first, second], kind=KINDS[CARD_KIND[first]])
    if stage in (Stage.ACTION, Stage.BUTTERFLY):
        return pb.EndAction()
    if stage is Stage.DEFENCE:
        none = pb.Defend()
        setattr(none, "with", "none")
        return none
    if stage is Stage.AFTER_BATTLE:
        light = state.battle is not None and state.battle.dimmed != NO_ONE
        return pb.ChooseLight(light=False) if light else pb.ChooseSpace(to="origin")
    return pb.EndPhase()
