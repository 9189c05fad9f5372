"""The toy's state: frozen records, and the one function that changes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from google.protobuf.message import Message
from msgspec.structs import replace

from tests.support.toy import schema as pb

RUNES = {
    "ash": 1, "birch": 2, "clay": 3, "dew": 4, "ember": 5, "flint": 6,
    "gale": 1, "hail": 2, "iron": 3, "jade": 4, "kelp": 5, "lime": 6,
    "moss": 1, "night": 2, "oak": 3, "pearl": 4, "quill": 5, "rime": 6,
    "salt": 1, "thorn": 2, "umber": 3, "vine": 4, "wax": 5, "yew": 6,
}  # fmt: skip
"""Catalogue order, with what each is worth (TOY-2)."""

HAND_SIZE = 3
TOKENS = 2


class Keeper(msgspec.Struct, frozen=True):
    """One seat."""

    hand: tuple[str, ...] = ()
    chosen: str = ""
    tokens: int = TOKENS
    score: int = 0
    always_pass: bool = False
    chanted: bool = False

    def __repr__(self) -> str:
        return f"Keeper(hand={len(self.hand)} runes, tokens={self.tokens}, score={self.score})"


class SpellOnStack(msgspec.Struct, frozen=True):
    """A rune or, with a stake, a counter."""

    serial: int
    seat: int
    rune: str = ""
    stake: int = 0
    target: int = 0


class State(msgspec.Struct, frozen=True):
    """A match of Beacon."""

    keepers: tuple[Keeper, ...]
    mode: str = "coop"
    rounds: int = 0
    goal: int = 0
    phase: str = "setup"
    round_no: int = 0
    pouch: tuple[str, ...] = ()
    stack: tuple[SpellOnStack, ...] = ()
    asked: int = -1
    """Who may react to the top of the stack."""
    serials: int = 0
    light: int = 0
    kind: str = ""
    ranks: tuple[int, ...] = ()
    reason: str = ""

    def __repr__(self) -> str:
        return f"State(phase={self.phase}, round_no={self.round_no}, keepers={self.keepers}, light={self.light})"


def reactor(state: State) -> int:
    """Who may answer the top of the stack: a rune the next seat, a counter whose spell it takes."""
    top = state.stack[-1]
    if not top.stake:
        return (top.seat + 1) % len(state.keepers)
    return next(spell.seat for spell in state.stack if spell.serial == top.target)


def least_stake(state: State) -> int:
    """What a counter to the top of the stack must cost at least (TOY-5)."""
    return state.stack[-1].stake + 1


def evolve(state: State, event: Message) -> State:
    """The state after one event."""
    return _FOLDS[type(event)](state, event)


def _keeper(state: State, seat: int, **changes: object) -> State:
    keepers = list(state.keepers)
    keepers[seat] = replace(keepers[seat], **changes)
    return replace(state, keepers=tuple(keepers))


def _dealt(state: State, event: Any) -> State:
    hands = {h.seat: tuple(h.runes) for h in event.hands}
    keepers = tuple(replace(k, hand=hands[seat]) for seat, k in enumerate(state.keepers))
    return replace(
        state, keepers=keepers, mode=event.mode, rounds=event.rounds, goal=event.goal, pouch=tuple(event.pouch)
    )


def _arranged(state: State, event: Any) -> State:
    state = _dealt(state, event)
    keepers = tuple(replace(k, tokens=event.tokens[seat]) for seat, k in enumerate(state.keepers))
    return replace(state, keepers=keepers, round_no=event.round_no - 1, light=event.light)


def _round_started(state: State, event: Any) -> State:
    return replace(state, phase="choose", round_no=event.round_no)


def _chosen(state: State, event: Any) -> State:
    hand = tuple(rune for rune in state.keepers[event.seat].hand if rune != event.rune)
    return _keeper(state, event.seat, hand=hand, chosen=event.rune)


def _shown(state: State, event: Any) -> State:
    stack = tuple(SpellOnStack(state.serials + n, s.seat, s.rune) for n, s in enumerate(event.shown, 1))
    state = replace(state, phase="stack", stack=stack, serials=state.serials + len(stack))
    state = replace(state, keepers=tuple(replace(k, chosen="") for k in state.keepers))
    return replace(state, asked=reactor(state))


def _countered(state: State, event: Any) -> State:
    state = _keeper(state, event.seat, tokens=event.tokens)
    spell = SpellOnStack(event.serial, event.seat, "", event.stake, event.target)
    state = replace(state, stack=(*state.stack, spell), serials=event.serial)
    return replace(state, asked=reactor(state))


def _without(state: State, *serials: int) -> State:
    state = replace(state, stack=tuple(s for s in state.stack if s.serial not in serials))
    return replace(state, asked=reactor(state) if state.stack else -1)


def _burnt(state: State, event: Any) -> State:
    return _without(replace(_keeper(state, event.seat, score=event.score), light=event.light), event.serial)


def _drawn(state: State, event: Any) -> State:
    for drawn in event.drawn:
        state = _keeper(state, drawn.seat, hand=(*state.keepers[drawn.seat].hand, drawn.rune))
    return replace(state, pouch=state.pouch[len(event.drawn) :])


def _closed(state: State, event: Any) -> State:
    return replace(state, phase="over", asked=-1, kind=event.kind, ranks=tuple(event.ranks), reason=event.reason)


_FOLDS: dict[type[Message], Callable[[State, Any], State]] = {
    pb.RunesDealt: _dealt,
    pb.PositionArranged: _arranged,
    pb.RoundStarted: _round_started,
    pb.RuneChosen: _chosen,
    pb.Chanted: lambda state, event: _keeper(state, event.seat, tokens=event.tokens, chanted=True),
    pb.StanceSet: lambda state, event: _keeper(state, event.seat, always_pass=event.always_pass),
    pb.RunesShown: _shown,
    pb.Countered: _countered,
    pb.PassedOn: lambda state, event: replace(state, asked=-1),
    pb.RuneBurnt: _burnt,
    pb.SpellUndone: lambda state, event: _without(state, event.serial, event.by),
    pb.RunesDrawn: _drawn,
    pb.BeaconClosed: _closed,
}
