"""Non-interference: what a seat may not know changes nothing that it is shown."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grimoire.engine import ALL, CLOCK, PUBLIC, Actor, Decision, Illegal, Viewer
from grimoire.v1 import match_pb2
from tests.battery.contenders import CONTENDERS, SOME, Contender
from tests.battery.playing import complete, decide, made_up, random_match, words_of

seeds = st.integers(0, 2**32)


def shown(contender: Contender, events: Any, viewer: Viewer) -> tuple[bytes, dict[str, bytes]]:
    """What a viewer receives of some events, as bytes."""
    split = contender.plugin.game.schema.split(events, contender.seats)
    return split.public, {a: body for a, body in split.parts.items() if viewer.may_see(a)}


def compare_screens(contender: Contender, state: Any, other: Any, viewer: Viewer) -> None:
    """View, prompts and legal commands are the same in both."""
    game = contender.plugin.game
    assert game.view(state, viewer).SerializeToString() == game.view(other, viewer).SerializeToString()
    assert game.view(state, PUBLIC).SerializeToString() == game.view(other, PUBLIC).SerializeToString()
    assert game.prompts(state) == game.prompts(other)
    for prompt in game.prompts(state):
        if prompt.seat == viewer.seat:
            assert game.legal(state, prompt.seat, prompt) == game.legal(other, prompt.seat, prompt)


def compare_commands(contender: Contender, state: Any, seat: int, seed: int, chance: random.Random) -> int:
    """The same command on both sides of a swap is answered the same, as far as the seat can see."""
    game, viewer, compared = contender.plugin.game, Viewer.of_seat(seat), 0
    for prompt in game.prompts(state):
        command = complete(chance.choice(game.legal(state, prompt.seat, prompt)), game.schema, chance)
        keep = frozenset(str(value) for _, value in command.ListFields())
        other = contender.swap(state, seat, keep, chance)
        compare_screens(contender, state, other, viewer)
        actor = Actor.of_seat(prompt.seat)
        one = decide(contender, state, actor, command, prompt, seed)
        two = decide(contender, other, actor, command, prompt, seed)
        if prompt.seat != seat and isinstance(two, Illegal):
            continue  # the other seat would not have been offered it
        assert isinstance(one, Decision)
        assert isinstance(two, Decision)
        assert shown(contender, one.events, viewer) == shown(contender, two.events, viewer)
        assert shown(contender, one.events, PUBLIC) == shown(contender, two.events, PUBLIC)
        compare_screens(contender, one.state, two.state, viewer)
        compared += 1
    return compared


def compare_refusals(contender: Contender, state: Any, seat: int, seed: int, chance: random.Random) -> None:
    """A seat's own commands, sensible or not, and its own expiry are answered the same."""
    game, viewer = contender.plugin.game, Viewer.of_seat(seat)
    words = words_of(contender)
    other = contender.swap(state, seat, frozenset(), chance)
    for prompt in game.prompts(state):
        if prompt.seat != seat:
            continue
        commands = [made_up(game.schema, words, chance) for _ in range(3)]
        for command in commands:
            if game.schema.code(command) in game.standing:
                continue
            one = decide(contender, state, Actor.of_seat(seat), command, prompt, seed)
            two = decide(contender, other, Actor.of_seat(seat), command, prompt, seed)
            assert type(one) is type(two)
            if isinstance(one, Illegal):
                assert one == two, "code, rule, sentence and arguments"
        if prompt.deadline_class:
            one = decide(contender, state, CLOCK, match_pb2.Expire(), prompt, seed)
            two = decide(contender, other, CLOCK, match_pb2.Expire(), prompt, seed)
            assert shown(contender, one.events, viewer) == shown(contender, two.events, viewer)


def check(contender: Contender, seed: int, every: int) -> int:
    chance, compared = random.Random(seed), 0
    for number, turn in enumerate(random_match(contender, seed)):
        if number % every == 0:
            for seat in range(contender.seats):
                compared += compare_commands(contender, turn.state, seat, seed, chance)
                compare_refusals(contender, turn.state, seat, seed, chance)
    return compared


@pytest.mark.parametrize("contender", CONTENDERS, ids=str)
@settings(max_examples=5, deadline=None)
@given(seed=seeds)
def test_what_a_seat_may_not_know_changes_nothing_it_sees(contender, seed):
    assert check(contender, seed, every=4)


def test_the_swap_does_change_something():
    """A test of the test: the states differ for the all-seeing view, so equal screens mean something."""
    for contender in SOME:
        game, chance, differing = contender.plugin.game, random.Random(5), 0
        for turn in random_match(contender, 5):
            for seat in range(contender.seats):
                other = contender.swap(turn.state, seat, frozenset(), chance)
                differing += game.view(turn.state, ALL) != game.view(other, ALL)
        assert differing > 5


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("contender", SOME, ids=str)
def test_ten_thousand_cases_of_each_viewer(contender):
    compared = seed = 0
    while compared < 10_000 * contender.seats:
        compared += check(contender, seed, every=1)
        seed += 1
