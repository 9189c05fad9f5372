"""A second opinion on commands (WG-5 to WG-9, WG-13, WG-14), from the view and the data file alone.

It works in names, collects everything that is wrong with a command, and gives what the rules' table names first. It
shares nothing with the game but the schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf.message import Message

from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb

__all__ = ["ORDER", "verdict"]

_FILE = Path(__file__).parents[2] / "services" / "wizards_garden" / "data" / "wizards_garden.json"
_DATA = json.loads(_FILE.read_text())
_SPACES: dict[str, dict[str, Any]] = {space["id"]: space for space in _DATA["board"]["spaces"]}
_GNOMES = {gnome: colour for colour, ids in _DATA["piece_ids"]["gnomes"].items() for gnome in ids}
_PESTS = _DATA["piece_ids"]["pests"]
_CARDS = {card for kind in _DATA["kinds"] for card in kind["card_ids"]}
_COLOURS = ("blue", "red")

ORDER = (
    "wrong_state",
    "unknown_id",
    "spell_not_held",
    "spell_timing",
    "card_not_in_hand",
    "card_not_open",
    "bad_choice",
    "lantern_not_bright",
    "lantern_not_on_board",
    "already_lit",
    "nothing_lit",
    "deposit_not_open",
    "no_pair",
    "not_enough_water",
    "not_enough_fire",
    "bad_amount",
    "not_your_gnome",
    "gnome_fixed",
    "gnome_on_terrace",
    "in_transit",
    "already_moved",
    "no_supply",
    "origin_invalid",
    "not_adjacent",
    "forbidden_space",
    "space_occupied",
    "stack_full",
    "no_target",
    "own_target",
    "border_taken",
    "deposit_full",
    "deposit_blocked",
    "fire_full",
    "hand_full",
    "discard_not_allowed",
    "opposed",
    "unopposed",
    "target_blocked",
    "no_defence_possible",
    "no_effect",
    "discard_required",
)
"""The order of WG-14, from the state on."""

_QUIET = ("garden", "wizard_start", "wizard_main", "wizard_pending", "wizard_end", "attack")
_MAIN = ("wizard_start", "wizard_main")
_STATES = {
    "LanternAction": ("garden",),
    "LightWithWater": ("garden",),
    "PlaceLantern": ("garden",),
    "SwapSpirit": ("wizard_start",),
    "LightWithPair": _MAIN,
    "MagicianAction": _MAIN,
    "SpiritAction": _MAIN,
    "StartAction": ("wizard_pending",),
    "EndPhase": _QUIET,
    "EndAction": ("action", "butterfly"),
    "DeclareAttack": ("attack",),
    "Withdraw": ("attack",),
    "Advance": ("attack",),
    "Defend": ("defence",),
}
"""WG-14."""

_STEPS = {
    "BringPest": "pest",
    "MovePest": "pest",
    "ThreatenWithPests": "pest",
    "BringPestThreatening": "pest",
    "CollectWater": "water",
    "DrawSpirit": "spirit",
    "BringGnome": "gnome",
    "MoveGnome": "gnome",
    "ThreatenWithGnome": "gnome",
    "BringGnomeThreatening": "gnome",
    "CollectFire": "fire",
}
_WIZARD = ("feather", "bottle", "doll")


def verdict(view: pb.View, command: Message) -> str | None:
    """The code of the rejection, an empty text, or None: not judged here.

    Args:
        view: of the asked seat.
        command: one of its own.
    """
    position, name = _Position(view), type(command).__name__
    judge = getattr(position, name, None)
    if judge is None:
        return None
    if not position.has_state(name):
        return "wrong_state"
    found = {*judge(command)}
    assert found <= {*ORDER}, found
    return min(found, key=ORDER.index, default="")


class _Position:
    """What the view says, by name. Each method named after a command gives everything that is wrong with it."""

    def __init__(self, view: pb.View) -> None:
        self.view = view
        self.seat = view.asked_seat
        self.colour = _COLOURS[self.seat]
        self.held = {space.space: space for space in view.spaces}
        self.at = {piece: s.space for s in view.spaces for piece in (*s.pests, *([s.gnome] if s.gnome else []))}
        self.waiting = {piece for group in view.groups if group.in_transit for piece in group.pieces}
        self.own, self.other = view.seats[self.seat], view.seats[1 - self.seat]
        self.hand = [*self.own.hand]
        self.lanterns = {lantern.kind: lantern.state for lantern in self.own.lanterns}

    def has_state(self, name: str) -> bool:
        """Whether the command belongs to the state (WG-14); spells have their own timing."""
        action = self.view.action
        if name in _STEPS:
            if self.view.state == "butterfly":
                return name in ("MoveGnome", "BringGnome")
            if action.gnome:
                return name in ("MoveGnome", "ThreatenWithGnome")
            return self.view.state == "action" and action.kind == _STEPS[name]
        return name not in _STATES or self.view.state in _STATES[name]

    # ---- pests ---------------------------------------------------------------------------------------------------

    def BringPest(self, command: pb.BringPest) -> Iterator[str]:
        origin = getattr(command, "from")
        if origin not in _SPACES or command.to not in _SPACES:
            yield "unknown_id"
            return
        yield from self._from_pit(origin, command.to)
        yield from self._pest_enters(command.to, pair=False)

    def MovePest(self, command: pb.MovePest) -> Iterator[str]:
        if command.pest not in _PESTS or command.to not in _SPACES or self._in_supply(command.pest):
            yield "unknown_id"
            return
        yield from self._tired([command.pest])
        if command.pest in self.at:
            space = self.at[command.pest]
            yield from self._adjacent(space, command.to)
            yield from self._pest_enters(command.to, pair=bool(self.held[space].gnome))

    def ThreatenWithPests(self, command: pb.ThreatenWithPests) -> Iterator[str]:
        pests = [*command.pests]
        if not pests or {*pests} - {*_PESTS} or command.target not in _SPACES or any(map(self._in_supply, pests)):
            yield "unknown_id"
            return
        yield from self._tired(pests)
        spaces = {self.at.get(pest, "") for pest in pests}
        if len(spaces) != 1 or len({*pests}) != len(pests):
            yield "not_adjacent"
        yield from self._pests_threaten(command.target)
        for space in spaces - {""}:
            yield from self._adjacent(space, command.target)
            group = self._group(space, command.target)
            joined = group is not None and (group.in_transit or {*group.pieces} & {*pests})
            if joined or self._group(command.target, space):
                yield "border_taken"

    def BringPestThreatening(self, command: pb.BringPestThreatening) -> Iterator[str]:
        origin = getattr(command, "from")
        if origin not in _SPACES or command.target not in _SPACES:
            yield "unknown_id"
            return
        yield from self._from_pit(origin, command.target)
        yield from self._pests_threaten(command.target)
        if sum(len(group.pieces) for group in self.view.groups if group.origin == origin) >= 2:
            yield from ["stack_full"] * (_SPACES[origin]["kind"] == "pit")

    def _from_pit(self, origin: str, to: str) -> Iterator[str]:
        if not self.view.pests_in_supply:
            yield "no_supply"
        if _SPACES[origin]["kind"] != "pit":
            yield "origin_invalid"
        yield from self._adjacent(origin, to)

    def _pest_enters(self, to: str, *, pair: bool) -> Iterator[str]:
        if _SPACES[to]["kind"] in ("pit", "terrace"):
            yield "forbidden_space"
        holds = self.held.get(to, pb.Space())
        if holds.fish_fire or holds.gnome or (pair and holds.pests):
            yield "space_occupied"
        elif len(holds.pests) == 2:
            yield "stack_full"

    def _pests_threaten(self, target: str) -> Iterator[str]:
        if _SPACES[target]["kind"] in ("pit", "terrace"):
            yield "forbidden_space"
        holds = self.held.get(target, pb.Space())
        if holds.pests or not (holds.gnome or holds.fish_fire):
            yield "no_target"
        elif holds.gnome and _GNOMES[holds.gnome] == self.colour:
            yield "own_target"

    # ---- gnomes --------------------------------------------------------------------------------------------------

    def MoveGnome(self, command: pb.MoveGnome) -> Iterator[str]:
        if command.gnome not in _GNOMES or command.to not in _SPACES or self._no_card(command.discard):
            yield "unknown_id"
            return
        yield from self._discard(command.discard)
        yield from self._gnome_steps(command.gnome)
        if command.gnome in self.at:
            yield from self._adjacent(self.at[command.gnome], command.to)
        yield from self._gnome_enters(command.to)

    def BringGnome(self, command: pb.BringGnome) -> Iterator[str]:
        origin = getattr(command, "from")
        if origin not in _SPACES or command.to not in _SPACES or self._no_card(command.discard):
            yield "unknown_id"
            return
        yield from self._discard(command.discard)
        yield from self._from_deposit(origin, command.to)
        yield from self._gnome_enters(command.to)

    def ThreatenWithGnome(self, command: pb.ThreatenWithGnome) -> Iterator[str]:
        if command.gnome not in _GNOMES or command.target not in _SPACES:
            yield "unknown_id"
            return
        yield from self._gnome_steps(command.gnome)
        yield from self._gnome_threatens(command.target)
        if command.gnome in self.at:
            origin = self.at[command.gnome]
            yield from self._adjacent(origin, command.target)
            if self._group(origin, command.target) or self._group(command.target, origin):
                yield "border_taken"

    def BringGnomeThreatening(self, command: pb.BringGnomeThreatening) -> Iterator[str]:
        origin = getattr(command, "from")
        if origin not in _SPACES or command.target not in _SPACES:
            yield "unknown_id"
            return
        yield from self._from_deposit(origin, command.target)
        yield from self._gnome_threatens(command.target)
        if self._group(origin, command.target) or self._group(command.target, origin):
            yield "border_taken"

    def _gnome_steps(self, gnome: str) -> Iterator[str]:
        action = self.view.action
        if action.gnome:
            if gnome != action.gnome:
                yield "not_your_gnome"
            return
        holds = self.held[self.at[gnome]] if gnome in self.at else pb.Space()
        if _GNOMES[gnome] != self.colour or self._in_supply(gnome) or holds.pests:
            yield "not_your_gnome"
        if holds.lantern:
            yield "gnome_fixed"
        if action.source != "butterfly":
            yield from self._tired([gnome])

    def _gnome_enters(self, to: str) -> Iterator[str]:
        if not self._ground(to):
            yield "forbidden_space"
        holds = self.held.get(to, pb.Space())
        if holds.gnome or holds.pests or holds.fish_fire:
            yield "space_occupied"

    def _gnome_threatens(self, target: str) -> Iterator[str]:
        if not self._ground(target):
            yield "forbidden_space"
        holds = self.held.get(target, pb.Space())
        if not (holds.gnome or holds.pests or holds.fish_fire):
            yield "no_target"
        if holds.gnome and not holds.pests and _GNOMES[holds.gnome] == self.colour:
            yield "own_target"

    def _ground(self, space: str) -> bool:
        record = _SPACES[space]
        owners = (None,) if self.view.action.gnome else (None, self.colour)
        return record["kind"] != "pit" and record["terrace_owner"] in owners

    def _from_deposit(self, origin: str, to: str) -> Iterator[str]:
        if not self.view.seats[self.seat].gnomes_in_supply:
            yield "no_supply"
        holds = self.held.get(origin, pb.Space())
        own = holds.gnome and not holds.pests and _GNOMES[holds.gnome] == self.colour
        if not (_SPACES[origin]["has_deposit"] and own):
            yield "origin_invalid"
        yield from self._adjacent(origin, to)

    def _no_card(self, discard: str) -> bool:
        return bool(discard) and discard not in _CARDS

    def _discard(self, discard: str) -> Iterator[str]:
        butterfly = self.view.action.source == "butterfly"
        if discard and discard not in self.hand:
            yield "card_not_in_hand"
        if discard and not butterfly:
            yield "discard_not_allowed"
        if butterfly and not discard:
            yield "discard_required"

    # ---- water, spirits, fire ------------------------------------------------------------------------------------

    def CollectWater(self, command: pb.CollectWater) -> Iterator[str]:
        if command.deposit not in _SPACES or not _SPACES[command.deposit]["has_deposit"]:
            yield "unknown_id"
            return
        holds = self.held.get(command.deposit, pb.Space())
        if not self.view.water_in_supply:
            yield "no_supply"
        if holds.water >= 5:
            yield "deposit_full"
        if holds.pests or holds.fish_fire:
            yield "deposit_blocked"

    def DrawSpirit(self, command: pb.DrawSpirit) -> Iterator[str]:
        if (command.source != "deck" and command.source not in _CARDS) or self._no_card(command.discard):
            yield "unknown_id"
            return
        if command.discard and command.discard not in self.hand:
            yield "card_not_in_hand"
        if command.source != "deck" and command.source not in self.view.row:
            yield "card_not_open"
        if len(self.hand) == 5 and not command.discard:
            yield "hand_full"
        if len(self.hand) < 5 and command.discard:
            yield "discard_not_allowed"

    def CollectFire(self, command: pb.CollectFire) -> Iterator[str]:
        if not self.view.fire_in_supply:
            yield "no_supply"
        if self.view.seats[self.seat].fire >= 5:
            yield "fire_full"

    # ---- choices (WG-5, WG-6) ------------------------------------------------------------------------------------

    def LanternAction(self, command: pb.LanternAction) -> Iterator[str]:
        if command.kind not in self.lanterns:
            yield "unknown_id"
        elif self.lanterns[command.kind] != "bright_in_yard":
            yield "lantern_not_bright"

    def LightWithWater(self, command: pb.LightWithWater) -> Iterator[str]:
        yield from self._can_light(command.kind)
        terrace = _DATA["board"]["terrace_deposit"][self.colour]
        if self.held[terrace].water < 3:
            yield "not_enough_water"

    def PlaceLantern(self, command: pb.PlaceLantern) -> Iterator[str]:
        if command.space not in _SPACES:
            yield "unknown_id"
            return
        if "lit_on_board" not in self.lanterns.values():
            yield "nothing_lit"
        if not self._holds(command.space) or self.held[command.space].lantern:
            yield "deposit_not_open"

    def SwapSpirit(self, command: pb.SwapSpirit) -> Iterator[str]:
        if command.slot not in (0, 1) or command.card not in _CARDS:
            yield "unknown_id"
        if command.card not in self.hand:
            yield "card_not_in_hand"

    def LightWithPair(self, command: pb.LightWithPair) -> Iterator[str]:
        first, second = (_kind(card) for card in self.own.spirits)
        if first != second:
            yield "no_pair"
        else:
            yield from self._can_light(first)

    def MagicianAction(self, command: pb.MagicianAction) -> Iterator[str]:
        if command.kind not in self.lanterns:
            yield "unknown_id"

    def SpiritAction(self, command: pb.SpiritAction) -> Iterator[str]:
        if command.slot not in (0, 1):
            yield "unknown_id"

    def StartAction(self, command: pb.StartAction) -> Iterator[str]:
        if command.index not in [pending.index for pending in self.view.pending]:
            yield "unknown_id"

    def EndPhase(self, command: pb.EndPhase) -> Iterator[str]:
        yield from ()

    def EndAction(self, command: pb.EndAction) -> Iterator[str]:
        yield from ()

    def _can_light(self, kind: str) -> Iterator[str]:
        if kind not in self.lanterns:
            yield "unknown_id"
        elif self.lanterns[kind] == "lit_on_board":
            yield "already_lit"
        elif self.lanterns[kind] != "dim_on_board":
            yield "lantern_not_on_board"

    # ---- the attack phase (WG-9) ---------------------------------------------------------------------------------

    def Withdraw(self, command: pb.Withdraw) -> Iterator[str]:
        if command.group not in [group.group for group in self.view.groups]:
            yield "unknown_id"

    def DeclareAttack(self, command: pb.DeclareAttack) -> Iterator[str]:
        group = next((group for group in self.view.groups if group.group == command.group), None)
        if group is None:
            yield "unknown_id"
            return
        found = self._facing(group)
        yield from [found] * (found != "opposed")
        if found != "opposed" and not self.own.fire:
            return  # scenario 27 of WG-17
        by_gnome = group.pieces[0] in _GNOMES
        if command.fire > self.own.fire or (by_gnome and not self.own.fire):
            yield "not_enough_fire"
        if command.fire < 1 if by_gnome else command.fire != 0:
            yield "bad_amount"
        holds = self.held.get(group.target, pb.Space())
        if holds.pests and holds.gnome and _GNOMES[holds.gnome] == self.colour and command.fire > 1 and by_gnome:
            yield "own_target"

    def Advance(self, command: pb.Advance) -> Iterator[str]:
        group = next((group for group in self.view.groups if group.group == command.group), None)
        if group is None:
            yield "unknown_id"
            return
        found = self._facing(group)
        yield from [found] * (found != "unopposed")

    def _facing(self, group: pb.Group) -> str:
        holds = self.held.get(group.target, pb.Space())
        if not (holds.gnome or holds.pests or holds.fish_fire):
            return "unopposed"
        by_gnome = group.pieces[0] in _GNOMES
        faults = self._gnome_threatens(group.target) if by_gnome else self._pests_threaten(group.target)
        return "target_blocked" if [*faults] else "opposed"

    def Defend(self, command: pb.Defend) -> Iterator[str]:
        battle, how, amount = self.view.battle, getattr(command, "with"), command.amount
        if how not in ("none", "water", "fire"):
            yield "unknown_id"
            return
        holds = self.held.get(battle.target, pb.Space())
        own = holds.gnome and not holds.pests and _GNOMES[holds.gnome] == self.colour
        deposit = _SPACES[battle.target]["has_deposit"]
        if how == "none":
            yield from ["bad_amount"] * (amount != 0)
        elif not own or (how == "water" and not deposit):
            yield "no_defence_possible"
        else:
            if amount > (holds.water if how == "water" else self.own.fire):
                yield f"not_enough_{how}"
            if amount < 1 or (how == "water" and amount > battle.strength):
                yield "bad_amount"

    # ---- spells (WG-13) ------------------------------------------------------------------------------------------

    def CastFeather(self, command: pb.CastFeather) -> Iterator[str]:
        if command.discard not in _CARDS:
            yield "unknown_id"
        yield from self._spell("feather", *_MAIN, "wizard_end")
        if command.discard not in self.hand:
            yield "card_not_in_hand"

    def CastGem(self, command: pb.CastGem) -> Iterator[str]:
        yield from self._spell("gem", "wizard_start")

    def CastFlower(self, command: pb.CastFlower) -> Iterator[str]:
        yield from self._spell("flower", "wizard_start")

    def CastButterfly(self, command: pb.CastButterfly) -> Iterator[str]:
        yield from self._spell("butterfly", "garden")

    def CastTrinket(self, command: pb.CastTrinket) -> Iterator[str]:
        yield from self._spell("trinket", "garden")
        yield from self._can_light(command.kind)

    def CastConch(self, command: pb.CastConch) -> Iterator[str]:
        yield from self._spell("conch", "defence")
        if self.view.phase != "attack":
            yield "spell_timing"

    def CastSkull(self, command: pb.CastSkull) -> Iterator[str]:
        if command.target not in _SPACES:
            yield "unknown_id"
            return
        yield from self._spell("skull", *_QUIET)
        if command.fire > self.own.fire or not self.own.fire:
            yield "not_enough_fire"
        if command.fire < 1:
            yield "bad_amount"
        if _SPACES[command.target]["kind"] in ("pit", "terrace"):
            yield "forbidden_space"
        holds = self.held.get(command.target, pb.Space())
        if not holds.gnome and not holds.pests:
            yield "no_target"
        if holds.gnome and _GNOMES[holds.gnome] == self.colour and (not holds.pests or command.fire > 1):
            yield "own_target"

    def CastEye(self, command: pb.CastEye) -> Iterator[str]:
        if {command.a, command.b} - _CARDS:
            yield "unknown_id"
            return
        yield from self._spell("eye", *_QUIET)
        rows = [{*self.own.spirits}, {*self.other.spirits}, {*self.view.row}]
        if {command.a, command.b} - set().union(*rows):
            yield "card_not_open"
        if command.a == command.b:
            yield "bad_choice"
        if _kind(command.a) == _kind(command.b) or any({command.a, command.b} <= row for row in rows):
            yield "no_effect"

    def CastDagger(self, command: pb.CastDagger) -> Iterator[str]:
        if command.gnome not in _GNOMES:
            yield "unknown_id"
            return
        yield from self._spell("dagger", *_QUIET)
        yield from self._touched(command.gnome)
        if not self.view.pests_in_supply:
            yield "no_supply"

    def CastDoll(self, command: pb.CastDoll) -> Iterator[str]:
        if command.gnome not in _GNOMES:
            yield "unknown_id"
            return
        yield from self._spell("doll", "wizard_end")
        if _GNOMES[command.gnome] == self.colour:
            yield "not_your_gnome"
        yield from self._touched(command.gnome)

    def CastBottle(self, command: pb.CastBottle) -> Iterator[str]:
        spaces = [each.space for each in command.water]
        if {*spaces} - {*_SPACES}:
            yield "unknown_id"
            return
        yield from self._spell("bottle", *_MAIN, "wizard_end")
        if not all(map(self._holds, spaces)):
            yield "deposit_not_open"
        if any(each.amount > self.held.get(each.space, pb.Space()).water for each in command.water):
            yield "not_enough_water"
        amounts = [each.amount for each in command.water]
        dry = any(not self.held.get(space, pb.Space()).water for space in spaces)
        if dry or min(amounts, default=0) < 0 or len({*spaces}) < len(spaces):
            yield "bad_amount"
        if not 1 <= sum(amounts) <= self.other.fire:
            yield "bad_amount"

    def CastFish(self, command: pb.CastFish) -> Iterator[str]:
        spaces = [each.space for each in command.fires]
        if {*spaces} - {*_SPACES}:
            yield "unknown_id"
            return
        yield from self._spell("fish", *_QUIET)
        amounts = [each.amount for each in command.fires]
        if sum(amounts) > self.own.fire:
            yield "not_enough_fire"
        if not any(amounts) or min(amounts) < 0 or max(amounts) > 5 or len({*spaces}) < len(spaces):
            yield "bad_amount"
        for space in spaces:
            holds = self.held.get(space, pb.Space())
            if _SPACES[space]["kind"] in ("pit", "terrace"):
                yield "forbidden_space"
            if holds.gnome or holds.pests or holds.fish_fire:
                yield "space_occupied"

    def _spell(self, spell: str, *states: str) -> Iterator[str]:
        if spell not in self.own.spells:
            yield "spell_not_held"
        if self.view.state not in states or (self.view.wizard_replaced and spell in _WIZARD):
            yield "spell_timing"

    def _touched(self, gnome: str) -> Iterator[str]:
        holds = self.held[self.at[gnome]] if gnome in self.at else pb.Space()
        if self._in_supply(gnome) or holds.pests:
            yield "not_your_gnome"
        if holds.lantern:
            yield "gnome_fixed"
        if holds.space and _SPACES[holds.space]["kind"] == "terrace":
            yield "gnome_on_terrace"
        if gnome in self.waiting:
            yield "in_transit"

    def _holds(self, space: str) -> bool:
        holds = self.held.get(space, pb.Space())
        return bool(
            _SPACES[space]["has_deposit"] and holds.gnome and not holds.pests and _GNOMES[holds.gnome] == self.colour
        )

    # ---- parts ---------------------------------------------------------------------------------------------------

    def _in_supply(self, piece: str) -> bool:
        return piece not in self.at and piece not in self.waiting

    def _tired(self, pieces: list[str]) -> Iterator[str]:
        if self.waiting & {*pieces}:
            yield "in_transit"
        if {*self.view.action.moved} & {*pieces}:
            yield "already_moved"

    def _adjacent(self, one: str, other: str) -> Iterator[str]:
        a, b = _SPACES[one], _SPACES[other]
        if abs(a["x"] - b["x"]) + abs(a["y"] - b["y"]) != 1:
            yield "not_adjacent"

    def _group(self, origin: str, target: str) -> pb.Group | None:
        return next((g for g in self.view.groups if (g.origin, g.target) == (origin, target)), None)


def _kind(card: str) -> str:
    return next(kind["id"] for kind in _DATA["kinds"] if card in kind["card_ids"])
