"""Every game by its pure functions alone."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from grimoire.engine import ALL, Actor, Decision, Illegal, Leaving
from grimoire.fairness.draws import RecordedDraws
from grimoire.match.rules import Rulebook
from grimoire.match.scenario.legality import allows
from grimoire.plugins import game_names
from grimoire.v1 import match_pb2
from tests.battery.contenders import CONTENDERS, KNOWN, SOME, Contender
from tests.battery.playing import decide, every_command, joint_of, made_up, random_match, setup_of, started, words_of

every = pytest.mark.parametrize("contender", CONTENDERS, ids=str)
some = pytest.mark.parametrize("contender", SOME, ids=str)
seeds = st.integers(0, 2**32)
few = settings(max_examples=15, deadline=None)


def test_every_installed_game_is_under_test():
    assert {*game_names()} <= KNOWN.keys()


def fold(contender: Contender, state, events):
    for event in events:
        state = contender.plugin.game.evolve(state, event)
    return state


# ---- legal and accepted ----------------------------------------------------------------------------------------------


@some
@few
@given(seed=seeds)
def test_every_legal_command_is_accepted(contender, seed):
    game = contender.plugin.game
    for turn in random_match(contender, seed):
        for prompt in game.prompts(turn.state):
            legal = game.legal(turn.state, prompt.seat, prompt)
            assert legal, "something can be answered to every prompt"
            for entry in legal:
                for command in every_command(entry, game.schema, at_most=20):
                    answer = decide(contender, turn.state, Actor.of_seat(prompt.seat), command, prompt, seed)
                    assert isinstance(answer, Decision), (command, answer)


@some
@few
@given(seed=seeds)
def test_every_other_command_is_refused(contender, seed):
    game, chance, words = contender.plugin.game, random.Random(seed), words_of(contender)
    refused = 0
    for turn in random_match(contender, seed):
        for prompt in game.prompts(turn.state):
            legal = game.legal(turn.state, prompt.seat, prompt)
            for _ in range(3):
                command = made_up(game.schema, words, chance)
                if game.schema.code(command) in game.standing:
                    continue
                before = turn.state
                answer = decide(contender, before, Actor.of_seat(prompt.seat), command, prompt, seed)
                listed = allows(legal, game.schema, command)
                assert isinstance(answer, Illegal) is (listed is False), (command, answer)
                if isinstance(answer, Illegal):
                    refused += 1
                    assert re.fullmatch(r"[a-z_]+", answer.code)
                    assert re.match(r"[A-Z]+-\d", answer.rule)
                    assert answer.message
    assert refused


@some
@few
@given(seed=seeds)
def test_a_seat_may_resign_at_any_time(contender, seed):
    game = contender.plugin.game
    retires = game.configure(contender.options, contender.seats).leaving is Leaving.RETIRES
    turns = list(random_match(contender, seed))
    for turn in turns[:: max(1, len(turns) // 5)]:
        for seat in range(contender.seats):
            decision = decide(contender, turn.state, Actor.of_seat(seat), match_pb2.Resign(), None, seed)
            if retires and isinstance(decision, Illegal):
                assert decision.code == "seat_retired", "it was out already: its time had run out too often"
                continue
            assert isinstance(decision, Decision)
            outcome = game.outcome(decision.state)
            if outcome is None:
                assert retires, "the match goes on without the seat"
                assert all(prompt.seat != seat for prompt in game.prompts(decision.state))
                continue
            assert outcome.reasons
            if outcome.winners and len(outcome.winners) < contender.seats:
                assert seat not in outcome.winners


# ---- state and events ------------------------------------------------------------------------------------------------


@every
@settings(max_examples=4, deadline=None)
@given(seed=seeds)
def test_the_state_is_the_fold_of_the_events(contender, seed):
    start = started(contender, seed)
    whole = fold(contender, contender.plugin.game.initial(setup_of(contender)), start.events)
    assert whole == start.state
    for turn in random_match(contender, seed):
        assert fold(contender, turn.state, turn.events) == turn.after
        whole = fold(contender, whole, turn.events)
        assert whole == turn.after


@every
@settings(max_examples=4, deadline=None)
@given(seed=seeds)
def test_events_folded_together_come_to_what_they_come_to_one_by_one(contender, seed):
    game = contender.plugin.game
    fold = Rulebook(game).newest.fold
    start, turns = started(contender, seed), list(random_match(contender, seed))
    first = game.initial(setup_of(contender))
    assert fold(first, ()) == first
    assert fold(first, start.events) == start.state
    for turn in turns:
        assert fold(turn.state, turn.events) == turn.after
    everything = [*start.events, *(event for turn in turns for event in turn.events)]
    assert fold(first, everything) == turns[-1].after


@some
@few
@given(seed=seeds)
def test_events_that_went_through_their_bytes_fold_alike(contender, seed):
    for turn in random_match(contender, seed):
        again = [type(event).FromString(event.SerializeToString()) for event in turn.events]
        assert fold(contender, turn.state, again) == turn.after


@some
@few
@given(seed=seeds)
def test_the_same_seed_and_commands_give_the_same_events(contender, seed):
    first, second = list(random_match(contender, seed)), list(random_match(contender, seed))
    assert [t.events for t in first] == [t.events for t in second]
    assert started(contender, seed).events == started(contender, seed).events
    assert started(contender, seed).deal_lines == started(contender, seed).deal_lines


@some
@few
@given(seed=seeds)
def test_judging_leaves_the_state_as_it_was(contender, seed):
    game = contender.plugin.game
    kept = [(turn, game.view(turn.state, ALL).SerializeToString()) for turn in random_match(contender, seed)]
    for turn, view in kept:
        assert game.view(turn.state, ALL).SerializeToString() == view


# ---- the course of a match -------------------------------------------------------------------------------------------


@every
@settings(max_examples=6, deadline=None)
@given(seed=seeds)
def test_every_random_match_ends_within_the_games_bound(contender, seed):
    game, turns, last = contender.plugin.game, 0, None
    for turn in random_match(contender, seed):
        turns, last = turns + 1, turn
        assert turns <= contender.bound
    outcome = game.outcome(last.after)
    assert len(outcome.ranks) == contender.seats
    assert min(outcome.ranks) == 1
    assert outcome.reasons
    assert game.prompts(last.after) == ()


@every
@settings(max_examples=4, deadline=None)
@given(seed=seeds)
def test_prompts_are_open_exactly_while_the_match_runs(contender, seed):
    game = contender.plugin.game
    classes = {name for name, _ in game.configure(contender.options, contender.seats).seconds} | {""}
    for turn in random_match(contender, seed):
        prompts = game.prompts(turn.state)
        assert game.outcome(turn.state) is None
        assert any(prompt.required for prompt in prompts)
        assert len({(p.seat, p.kind, p.key) for p in prompts}) == len(prompts)
        for prompt in prompts:
            assert 0 <= prompt.seat < contender.seats
            assert re.fullmatch(r"[a-z_]+", prompt.kind)
            assert prompt.deadline_class in classes
            assert bool(prompt.deadline_class) or not prompt.required, "what a match waits for has a deadline"


@some
@few
@given(seed=seeds)
def test_an_answered_or_expired_prompt_is_gone(contender, seed):
    """Otherwise its clock would run out for ever."""
    game = contender.plugin.game
    for turn in random_match(contender, seed):
        identity = (turn.prompt.seat, turn.prompt.kind, turn.prompt.key)
        assert identity not in {(p.seat, p.kind, p.key) for p in game.prompts(turn.after)}


# ---- options ---------------------------------------------------------------------------------------------------------


@every
def test_options_are_filled_in_and_stay_as_they_are(contender):
    game = contender.plugin.game
    facts = game.configure(contender.options, contender.seats)
    assert not isinstance(facts, Illegal)
    chosen = dict(facts.options)
    assert chosen.items() >= contender.options.items()
    assert game.configure(chosen, contender.seats) == facts


@some
def test_an_unknown_option_is_refused_by_name(contender):
    game = contender.plugin.game
    refused = game.configure({**contender.options, "no_such_option": "1"}, contender.seats)
    assert (refused.code, refused.field) == ("bad_option", "no_such_option")
    for name in dict(game.configure({}, contender.seats).options):
        refused = game.configure({name: "\x00 no such value"}, contender.seats)
        assert (refused.code, refused.field) == ("bad_option", name)


@some
def test_a_wrong_number_of_seats_is_refused(contender):
    game = contender.plugin.game
    for seats in (0, game.min_seats - 1, game.max_seats + 1, 99):
        refused = game.configure({}, seats)
        assert (refused.code, refused.field) == ("bad_option", "seats")


@some
@given(options=st.dictionaries(st.text(max_size=20), st.text(max_size=20), max_size=4), seats=st.integers(-1, 9))
@settings(max_examples=60, deadline=None)
def test_options_of_any_kind_are_judged_never_raised(contender, options, seats):
    contender.plugin.game.configure(options, seats)


@some
@given(position=st.binary(max_size=120))
@settings(max_examples=60, deadline=None)
def test_a_position_of_any_bytes_is_judged_never_raised(contender, position):
    game = contender.plugin.game
    setup = replace(setup_of(contender), position=position or b"\xff")
    game.start(setup, RecordedDraws(game.id, joint_of(1)))
