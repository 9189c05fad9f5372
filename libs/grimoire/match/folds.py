"""How the platform's own events change a match: each fold does what its name says and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from google.protobuf.message import Message
from msgspec.structs import replace

from grimoire.engine import Prompt, Seat, Setup
from grimoire.fairness import chain, commitments
from grimoire.fairness.secret import Secret
from grimoire.match import seats
from grimoire.match.state import MatchState, Occupant, OpenPrompt, Phase
from grimoire.v1 import match_pb2

S = TypeVar("S")

SeedOf = Callable[[MatchState[Any]], Secret]
"""Gives S for a match, when its joint seed is due."""


def first_state(match_id: str, created: match_pb2.MatchCreated, now_ms: int, position: bytes) -> MatchState[Any]:
    """The state that the first entry is written on: version 0, nothing sealed."""
    count = len(created.seats)
    return MatchState(
        match_id=match_id,
        version=0,
        hash=chain.genesis(match_id),
        time_ms=now_ms,
        created_ms=now_ms,
        phase=Phase.HANDSHAKE,
        created=created.SerializeToString(),
        rules_version=created.rules_version,
        setup=Setup(
            match_id,
            count,
            {o.name: o.value for o in created.options},
            position,
            created.series.game_no,
        ),
        mode=created.mode,
        host_key_id=created.host_key_id,
        occupants=tuple(Occupant(s.occupant_id, s.kind, s.level) for s in created.seats),
        seconds={c.deadline_class: c.seconds for c in created.time_control.per_prompt},
        handshake_ms=created.handshake_s * 1000,
        handshake_extended_ms=0,
        seals=(b"",) * count,
        nonces=(b"",) * count,
        joint=None,
        game=None,
        prompts=(),
        next_prompt_id=1,
        outcome=None,
        closed=b"",
        revealed=False,
        leaving=created.leaving,
        missed=(0,) * count if created.leaving else (),
    )


def put(values: tuple[bytes, ...], index: int, value: bytes) -> tuple[bytes, ...]:
    """The values with one exchanged."""
    return (*values[:index], value, *values[index + 1 :])


def extend(state: MatchState[S], extensions: Sequence[tuple[int, int]]) -> MatchState[S]:
    """The clocks with down time given back: (prompt id or 0 for the handshake, ms)."""
    for prompt_id, by_ms in extensions:
        state = _extend_one(state, prompt_id, by_ms)
    return state


def _extend_one(state: MatchState[S], prompt_id: int, by_ms: int) -> MatchState[S]:
    if prompt_id == 0:
        return replace(state, handshake_extended_ms=state.handshake_extended_ms + by_ms)
    return replace(
        state,
        prompts=tuple(
            replace(p, extended_ms=p.extended_ms + by_ms) if p.prompt_id == prompt_id else p for p in state.prompts
        ),
    )


def fold_platform(state: MatchState[Any], event: Message, seed_of: SeedOf) -> MatchState[Any] | None:
    """The state after one platform event; None: the event is the game's."""
    fold = _FOLDS.get(type(event))
    if fold is not None:
        return fold(state, event)
    if isinstance(event, match_pb2.NoncesRevealed):
        nonces = tuple(n.nonce for n in event.nonces)
        game = match_pb2.MatchCreated.FromString(state.created).game
        joint = commitments.joint_seed(game, state.match_id, seed_of(state), nonces)
        return replace(state, nonces=nonces, joint=joint)
    return None


def _opened(state: MatchState[Any], event: match_pb2.PromptOpened) -> MatchState[Any]:
    prompt = Prompt(Seat(event.seat), event.kind, event.key, event.deadline_class, event.required)
    opened = OpenPrompt(event.prompt_id, prompt, state.time_ms, event.limit_ms)
    return replace(state, prompts=(*state.prompts, opened), next_prompt_id=event.prompt_id + 1)


def _closed(state: MatchState[Any], event: match_pb2.PromptClosed) -> MatchState[Any]:
    if event.cause == match_pb2.PROMPT_CAUSE_EXPIRED and (ran_out := state.open_prompt(event.prompt_id)):
        state = seats.expired(state, ran_out.prompt.seat)
    return replace(state, prompts=tuple(p for p in state.prompts if p.prompt_id != event.prompt_id))


_FOLDS: dict[type[Message], Callable[[MatchState[Any], Any], MatchState[Any]]] = {
    match_pb2.MatchCreated: lambda state, _: state,  # `first_state` has read it
    match_pb2.NonceSealed: lambda state, event: replace(state, seals=put(state.seals, event.seat, event.seal)),
    match_pb2.NonceOpened: lambda state, event: replace(state, nonces=put(state.nonces, event.seat, event.nonce)),
    match_pb2.MatchStarted: lambda state, _: replace(state, phase=Phase.RUNNING),
    match_pb2.PromptOpened: _opened,
    match_pb2.PromptClosed: _closed,
    match_pb2.ClockExtended: lambda state, event: _extend_one(state, event.prompt_id, event.by_ms),
    match_pb2.SeatLeft: lambda state, event: seats.left(state, event.seat),
    match_pb2.SeatBack: lambda state, event: seats.returned(state, event.seat),
    match_pb2.SeatBound: seats.bound,
    match_pb2.MatchClosed: lambda state, event: replace(state, phase=Phase.CLOSED, closed=event.SerializeToString()),
    match_pb2.MatchVoided: lambda state, _: replace(state, phase=Phase.VOID, prompts=()),
    match_pb2.FairnessRevealed: lambda state, _: replace(state, revealed=True),
}
