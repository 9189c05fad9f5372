"""A second opinion on steps (WG-6, WG-8, WG-14), from the view and the data file alone.

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
    "unknown_id",
    "card_not_in_hand",
    "card_not_open",
    "not_your_gnome",
    "gnome_fixed",
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
    "discard_required",
)
"""As far as steps can break it, in the order of WG-14."""


def verdict(view: pb.View, command: Message) -> str:
    """The code of the rejection, or an empty text; for a step of the action under way, seen by the asked seat."""
    found = {*getattr(_Position(view), type(command).__name__)(command)}
    assert found <= {*ORDER}, found
    return min(found, key=ORDER.index, default="")


class _Position:
    """What the view says, by name. Each method named after a command gives everything that is wrong with it."""

    def __init__(self, view: pb.View) -> None:
        self.view = view
        self.seat = view.active_seat
        self.colour = _COLOURS[self.seat]
        self.held = {space.space: space for space in view.spaces}
        self.at = {piece: s.space for s in view.spaces for piece in (*s.pests, *([s.gnome] if s.gnome else []))}
        self.waiting = {piece for group in view.groups if group.in_transit for piece in group.pieces}
        self.hand = [*view.seats[self.seat].hand]

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
            if group is not None and (group.in_transit or {*group.pieces} & {*pests}):
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
            if self._group(origin, command.target) is not None:
                yield "border_taken"

    def BringGnomeThreatening(self, command: pb.BringGnomeThreatening) -> Iterator[str]:
        origin = getattr(command, "from")
        if origin not in _SPACES or command.target not in _SPACES:
            yield "unknown_id"
            return
        yield from self._from_deposit(origin, command.target)
        yield from self._gnome_threatens(command.target)
        if self._group(origin, command.target) is not None:
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
