"""Random play: engine only, and through the referee; commands made from legal entries, and commands made up."""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

import msgspec
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from grimoire.engine import CLOCK, Actor, Decision, Illegal, Legal, Prompt, Schema, Setup, Start
from grimoire.engine.answers import Answer, fill, random_answer
from grimoire.fairness.draws import RecordedDraws
from grimoire.fairness.secret import Secret
from grimoire.match import Entry
from grimoire.match.table import Table
from grimoire.v1 import match_pb2
from tests.battery.contenders import Contender

_INTEGERS = (FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64)
_SAMPLES = 5
_AT_MOST = 500
"""Answers to one slot that are tried in order; of more, some are tried at random."""
_SIGNED = (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64)


class Turn(msgspec.Struct, frozen=True):
    """One decision of a random match."""

    state: Any
    prompt: Prompt
    command: Message
    after: Any
    events: tuple[Message, ...]


@functools.lru_cache
def joint_of(seed: int) -> Secret:
    """A J for tests."""
    return Secret(random.Random(f"joint {seed}").randbytes(32))


def setup_of(contender: Contender, match_id: str = "battery") -> Setup:
    """What a match of this contender begins from."""
    facts = contender.plugin.game.configure(contender.options, contender.seats)
    return Setup(match_id, contender.seats, dict(facts.options))


def started(contender: Contender, seed: int) -> Start[Any]:
    """A deal."""
    game = contender.plugin.game
    start = game.start(setup_of(contender), RecordedDraws(game.id, joint_of(seed)))
    assert not isinstance(start, Illegal)
    return start


def decide(contender: Contender, state: Any, actor: Actor, command: Message, prompt: Prompt | None, seed: int) -> Any:
    """One judgement with the draws of this seed."""
    game = contender.plugin.game
    return game.decide(state, actor, command, prompt, RecordedDraws(game.id, joint_of(seed)))


def random_match(contender: Contender, seed: int) -> Iterator[Turn]:
    """A match of uniformly random legal commands; now and then a clock runs out."""
    game, chance = contender.plugin.game, random.Random(seed)
    state = started(contender, seed).state
    while game.outcome(state) is None:
        prompt = chance.choice(game.prompts(state))
        if prompt.deadline_class and chance.random() < 0.05:
            actor, command = CLOCK, match_pb2.Expire(prompt_id=1)
        else:
            actor = Actor.of_seat(prompt.seat)
            command = complete(chance.choice(game.legal(state, prompt.seat, prompt)), game.schema, chance)
        decision = decide(contender, state, actor, command, prompt, seed)
        assert isinstance(decision, Decision), decision
        yield Turn(state, prompt, command, decision.state, decision.events)
        state = decision.state


# ---- commands --------------------------------------------------------------------------------------------------------


def complete(legal: Legal, schema: Schema, chance: random.Random) -> Message:
    """A command of this entry, its slots filled at random."""
    command = schema.command(legal.type, legal.fixed)
    for slot in legal.slots:
        fill(command, slot, random_answer(slot, chance))
    return command


def every_command(legal: Legal, schema: Schema, at_most: int = _AT_MOST) -> list[Message]:
    """All commands of this entry, or the first of them."""
    values = [_values(slot) for slot in legal.slots]
    commands = []
    for chosen in itertools.islice(itertools.product(*values), at_most):
        command = schema.command(legal.type, legal.fixed)
        for slot, value in zip(legal.slots, chosen, strict=True):
            fill(command, slot, value)
        commands.append(command)
    return commands


def _values(slot: Any) -> list[Answer]:
    kind = slot.WhichOneof("kind")
    if kind == "one":
        return [*slot.one.candidates]
    if kind == "some":
        counts = range(slot.some.min, slot.some.max + 1)
        if sum(math.perm(len(slot.some.candidates), count) for count in counts) > _AT_MOST:
            chance = random.Random(str(slot))
            return [random_answer(slot, chance) for _ in range(_AT_MOST // 5)]
        return [chosen for count in counts for chosen in itertools.permutations(slot.some.candidates, count)]
    if kind in ("amounts", "assign"):
        chance = random.Random(str(slot))
        return [random_answer(slot, chance) for _ in range(_SAMPLES)]
    if kind == "number":
        return [*range(slot.number.min, slot.number.max + 1)]
    if kind == "option":
        return [*slot.option.options]
    raise ValueError(f"the battery fills no slot of the kind {kind}: a game that uses it teaches it here")


def made_up(schema: Schema, words: list[str], chance: random.Random) -> Message:
    """Any command of the game with plausible and implausible values."""
    command = schema.commands[chance.choice(sorted(schema.commands))]()
    for field in command.DESCRIPTOR.fields:
        if field.is_repeated or field.message_type is not None or chance.random() < 0.1:
            continue
        setattr(command, field.name, _value(field, words, chance))
    return command


def _value(field: Any, words: list[str], chance: random.Random) -> Any:
    if field.cpp_type in _INTEGERS:
        return chance.choice([*range(9), 2**31, 2**32 - 1])
    if field.cpp_type in _SIGNED:
        return chance.choice([*range(-3, 9), -(2**31), 2**31 - 1])
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return chance.random() < 0.5
    if field.type == FieldDescriptor.TYPE_BYTES:
        return chance.randbytes(chance.randrange(40))
    if field.enum_type is not None:
        return chance.choice(field.enum_type.values).number
    return chance.choice([*words, "", "ä", "nothing", "x" * 200])


def words_of(contender: Contender) -> list[str]:
    """Every id of the game's catalogues."""
    return [item.id for catalogue in contender.plugin.texts.manifest("en").catalogues for item in catalogue.items]


# ---- whole matches through the referee -------------------------------------------------------------------------------


def table_of(contender: Contender, seed: int, **more: Any) -> Table:
    """A table whose seed and nonces follow from a number."""
    chance = random.Random(f"table {seed}")
    return Table(
        contender.plugin.game,
        match_id=f"battery-{seed}",
        seats=contender.seats,
        options=contender.options,
        seed=Secret(chance.randbytes(32)),
        nonces=[chance.randbytes(32) for _ in range(contender.seats)],
        **more,
    )


def play_out(table: Table, contender: Contender, seed: int) -> None:
    """Plays random commands to the end; clocks run out, down time happens, seats say standing things."""
    game, chance = contender.plugin.game, random.Random(f"play {seed}")
    for _ in range(contender.bound):
        state = table.running
        if state.over:
            return
        table.now_ms += chance.randrange(4_000)
        stopped = chance.random() < 0.03
        if stopped:  # its clock gets the time back with the next command, so it cannot run out before
            table.down.append((table.now_ms, table.now_ms + 1_500))
            table.now_ms += 1_500
        if not stopped and chance.random() < 0.04:
            answer = table.expire_next()
        else:
            opened = chance.choice(state.prompts)
            legal = chance.choice(game.legal(state.game, opened.prompt.seat, opened.prompt))
            answer = table.play(opened.prompt.seat, complete(legal, game.schema, chance), opened.prompt_id)
        assert isinstance(answer, Entry), answer
    raise AssertionError(f"no end after {contender.bound} commands")
