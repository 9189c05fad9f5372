"""What is under way in an arranged position: an action, pending ones, a battle; and phases that need something left."""

from __future__ import annotations

from typing import Final

from grimoire.engine.written import demand
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.board import ADJACENT, FOR_PESTS, SPACE_INDEX
from wizards_garden.catalogue import DATA
from wizards_garden.pieces import FIRST_PEST, KIND_INDEX, KINDS, PIECE_INDEX, colour_of
from wizards_garden.state import SKULL, Source, Stage

__all__ = ["check_under_way"]

_MAIN: Final = (Stage.WIZARD_START, Stage.WIZARD_MAIN)
_WHERE: Final[dict[str, tuple[tuple[Stage, ...], int]]] = {
    Source.LANTERN: ((Stage.GARDEN,), 1),
    Source.MAGICIAN: (_MAIN, 1),
    Source.SPIRIT: (_MAIN, 2),
    Source.FEATHER: ((*_MAIN, Stage.WIZARD_END), 2),
    Source.GEM: ((Stage.WIZARD_PENDING,), 2),
    Source.FLOWER: ((Stage.WIZARD_PENDING,), 1),
    Source.DOLL: ((Stage.WIZARD_END,), 1),
    Source.BUTTERFLY: ((Stage.GARDEN,), 5),
}
"""In which phases each source opens an action, and of how many steps."""

_AWAITS: Final = ("defence", "light", "space")


def check_under_way(event: pb.PositionArranged) -> None:
    """Raises `PositionError` for what cannot be under way."""
    acting, fighting = event.HasField("action"), event.HasField("battle")
    demand(not (acting and fighting), "An action and a battle are never under way together.", "WG-9.13")
    _check_pending(event)
    if acting:
        _check_action(event, event.action)
    if fighting:
        _check_battle(event, event.battle)
    if acting or fighting:
        return
    spells = event.boards[event.active_seat].spell_count
    if event.phase == Stage.WIZARD_END:
        demand(spells, "`wizard_end` opens only for a seat with a spell card.", "WG-4.6")
    if event.phase == Stage.ATTACK:
        demand(spells or event.groups, "`attack` needs a threat, or a spell card in hand.", "WG-4.7")


def _check_pending(event: pb.PositionArranged) -> None:
    """WG-13.4, WG-13.7."""
    pending, source = list(event.pending), event.pending_source
    if event.phase != Stage.WIZARD_PENDING:
        demand(not pending and not source, "Actions are pending only in `wizard_pending`.", "WG-13.4")
        return
    demand(source in (Source.GEM, Source.FLOWER), "Actions of gem or flower are pending.", "WG-13.4")
    demand(event.wizard_replaced, "Gem and Flower take the place of the wizard phase.", "WG-4.6")
    demand(pending or event.HasField("action") or event.HasField("battle"), "Nothing is pending any more.", "WG-13.4")
    indices = [each.index for each in pending]
    demand(indices == sorted({*indices}), "Pending actions are listed by index, each once.")
    for each in pending:
        demand(each.kind in KIND_INDEX, f"There is no kind {each.kind[:40]!r}.", "WG-2.1")
        if source == Source.GEM:
            demand(each.index < 2 and each.steps == 2, "Gem gives two actions of two steps.", "WG-13.4")
        else:
            flower = each.index < len(KINDS) and each.kind == KINDS[each.index] and each.steps == 1
            demand(flower, "Flower gives one action of one step of each kind.", "WG-13.7")


def _check_action(event: pb.PositionArranged, action: pb.Action) -> None:
    """WG-6."""
    demand(action.source in _WHERE, f"There is no source {action.source[:40]!r}.", "WG-6")
    demand(action.kind in KIND_INDEX, f"There is no kind {action.kind[:40]!r}.", "WG-2.1")
    phases, steps = _WHERE[action.source]
    demand(event.phase in phases, f"In {event.phase} no action of {action.source} is under way.", "WG-6")
    demand(action.steps == steps and 1 <= action.steps_left <= steps, f"This action has {steps} steps.", "WG-6.1")
    for piece in action.moved:
        demand(piece in PIECE_INDEX, f"There is no piece {piece[:40]!r}.", "WG-2.5")
    demand(len({*action.moved}) == len(action.moved), "A piece takes part in a step once.", "WG-6.7")
    gnomes_only = action.source in (Source.DOLL, Source.BUTTERFLY)
    demand(not gnomes_only or action.kind == "gnome", f"{action.source} moves gnomes.", "WG-13.5")
    if action.source == Source.BUTTERFLY:
        demand(event.boards[event.active_seat].hand_count, "Butterfly goes on with a card in hand only.", "WG-13.5")
    if action.source == Source.DOLL:
        doll = next((s for s in event.spaces if s.gnome and s.gnome == action.gnome), pb.Space())
        possible = doll.gnome and not doll.pests and not doll.lantern and FOR_PESTS[SPACE_INDEX[doll.space]]
        possible = possible and colour_of(PIECE_INDEX[doll.gnome]) != event.active_seat
        demand(possible, "Doll moves a gnome of the other seat, no bearer, on no terrace.", "WG-13.8")
    else:
        demand(not action.gnome, "Only Doll's action names its gnome.", "WG-13.8")


# ---- a battle --------------------------------------------------------------------------------------------------------


def _check_battle(event: pb.PositionArranged, battle: pb.Battle) -> None:
    """WG-9."""
    demand(battle.seat == event.active_seat, "The active seat attacks.", "WG-9")
    demand(battle.awaits in _AWAITS, f"`awaits` must be one of {', '.join(_AWAITS)}.", "WG-9.13")
    space = next((space for space in event.spaces if space.space == battle.target), pb.Space(space=battle.target))
    demand(space.space in SPACE_INDEX, f"There is no space {battle.target[:40]!r}.", "WG-2.6")
    if battle.group == SKULL:
        demand(event.phase != Stage.PREPARATION, "No battle comes before the first turn.", "WG-13.2")
        demand(battle.awaits != "space", "Skull has no survivors to place.", "WG-13.2")
        pieces = [""]
    else:
        demand(event.phase == Stage.ATTACK, "Battles of pieces are fought in `attack`.", "WG-9")
        group = next((group for group in event.groups if group.group == battle.group), None)
        gone = group is None and battle.awaits == "light"  # its attacker was destroyed
        named = group is not None and group.target == battle.target
        demand(named or (gone and _names_border(battle)), "A battle is fought by one of the threats.", "WG-9")
        pieces = list(group.pieces) if group else []
    if battle.awaits == "defence":
        _check_declared(battle, space, pieces)
    else:
        demand(battle.fire == 0, "The fire set aside is in the supply after the battle.", "WG-9.13")
    if battle.awaits == "light":
        _check_light(event, battle, space)
    if battle.awaits == "space":
        empty = not (space.gnome or space.pests or space.fish_fire)
        demand(empty and FOR_PESTS[SPACE_INDEX[space.space]], f"{battle.target} is not free to move in.", "WG-9.11")


def _names_border(battle: pb.Battle) -> bool:
    """The name of a group that is gone still names a border of its target."""
    origin, _, target = battle.group.partition(">")
    touches = origin in SPACE_INDEX and SPACE_INDEX[battle.target] in ADJACENT[SPACE_INDEX[origin]]
    return touches and target == battle.target


def _check_declared(battle: pb.Battle, space: pb.Space, pieces: list[str]) -> None:
    """WG-9.3: what was declared against what stands there."""
    pests = sum(PIECE_INDEX.get(piece, -1) >= FIRST_PEST for piece in pieces)
    if pests:
        right = battle.strength == len(pieces) and battle.fire == 0
    else:
        right = battle.strength == battle.fire and 1 <= battle.fire <= DATA.constants.max_fire_per_player
    demand(right, "A gnome and Skull attack with fire, pests with their number, a pair with 2.", "WG-9.3")
    demand(space.gnome or space.pests or space.fish_fire, f"Nothing stands on {battle.target}.", "WG-9.1")


def _check_light(event: pb.PositionArranged, battle: pb.Battle, space: pb.Space) -> None:
    """WG-9.10: a lantern that this battle dimmed, and one of the same kind that can be lit."""
    dimmed = space.lantern and not space.bright and space.lantern == battle.kind
    demand(dimmed and colour_of(PIECE_INDEX[space.gnome]) != event.active_seat, "No lantern was dimmed.", "WG-9.10")
    own = [each.lantern for each in event.spaces if each.gnome and colour_of(PIECE_INDEX[each.gnome]) == battle.seat]
    can = battle.kind not in own and event.boards[battle.seat].lit != battle.kind
    demand(can, "There is no lantern of this kind to be lit.", "WG-9.10")
