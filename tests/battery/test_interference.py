"""Non-interference: what a seat may not know changes nothing that it is shown."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grimoire.engine import ALL, CLOCK, PUBLIC, Actor, Decision, Illegal, Prompt, Viewer
from grimoire.v1 import match_pb2
from tests.battery.contenders import CONTENDERS, SOME, Contender
from tests.battery.playing import complete, decide, made_up, random_match, words_of

seeds = st.integers(0, 2**32)


def compare_events(contender: Contender, one: Decision[Any], two: Decision[Any], viewer: Viewer) -> None:
    """What a viewer, and what everybody, receives is the same, as bytes."""
    first, second = (contender.plugin.game.schema.split(each.events, contender.seats) for each in (one, two))
    assert first.public == second.public
    for eyes in (viewer, PUBLIC):
        mine, theirs = (
            {audience: body for audience, body in split.parts.items() if eyes.may_see(audience)}
            for split in (first, second)
        )
        assert mine == theirs


class Screens:
    """What a viewer is shown of states; a state that is compared with several others is drawn once."""

    def __init__(self, contender: Contender, state: Any) -> None:
        self._game = contender.plugin.game
        self.state = state
        self.prompts = self._game.prompts(state)
        self._views: dict[Viewer, bytes] = {}
        self._legal: dict[Prompt, Any] = {}

    def view(self, viewer: Viewer) -> bytes:
        """The screen, as bytes."""
        if viewer not in self._views:
            self._views[viewer] = self._game.view(self.state, viewer).SerializeToString()
        return self._views[viewer]

    def legal(self, prompt: Prompt) -> Any:
        """What the asked seat may answer."""
        if prompt not in self._legal:
            self._legal[prompt] = self._game.legal(self.state, prompt.seat, prompt)
        return self._legal[prompt]


def compare_screens(one: Screens, two: Screens, viewer: Viewer) -> None:
    """View, prompts and legal commands are the same in both."""
    assert one.view(viewer) == two.view(viewer)
    assert one.view(PUBLIC) == two.view(PUBLIC)
    assert one.prompts == two.prompts
    for prompt in one.prompts:
        if prompt.seat == viewer.seat:
            assert one.legal(prompt) == two.legal(prompt)


def compare_commands(contender: Contender, before: Screens, seat: int, seed: int, chance: random.Random) -> int:
    """The same command on both sides of a swap is answered the same, as far as the seat can see."""
    game, viewer, state, compared = contender.plugin.game, Viewer.of_seat(seat), before.state, 0
    for prompt in before.prompts:
        command = complete(chance.choice(before.legal(prompt)), game.schema, chance)
        keep = frozenset(str(value) for _, value in command.ListFields())
        other = contender.swap(state, seat, keep, chance)
        compare_screens(before, Screens(contender, other), viewer)
        actor = Actor.of_seat(prompt.seat)
        one = decide(contender, state, actor, command, prompt, seed)
        two = decide(contender, other, actor, command, prompt, seed)
        if prompt.seat != seat and isinstance(two, Illegal):
            continue  # the other seat would not have been offered it
        assert isinstance(one, Decision)
        assert isinstance(two, Decision)
        compare_events(contender, one, two, viewer)
        compare_screens(Screens(contender, one.state), Screens(contender, two.state), viewer)
        compared += 1
    return compared


def compare_refusals(
    contender: Contender, before: Screens, seat: int, seed: int, chance: random.Random, words: list[str]
) -> None:
    """A seat's own commands, sensible or not, and its own expiry are answered the same."""
    game, viewer, state = contender.plugin.game, Viewer.of_seat(seat), before.state
    other = contender.swap(state, seat, frozenset(), chance)
    for prompt in before.prompts:
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
            compare_events(contender, one, two, viewer)


def check(contender: Contender, seed: int, every: int) -> int:
    chance, compared, words = random.Random(seed), 0, words_of(contender)
    for number, turn in enumerate(random_match(contender, seed)):
        if number % every == 0:
            before = Screens(contender, turn.state)
            for seat in range(contender.seats):
                compared += compare_commands(contender, before, seat, seed, chance)
                compare_refusals(contender, before, seat, seed, chance, words)
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
