"""Whole matches through the referee: logs, chains, folds, audits."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grimoire.engine import ALL, PUBLIC, Actor, Viewer
from grimoire.fairness.livechain import LiveChain
from grimoire.fairness.verify import verify
from grimoire.match import Entry, MatchState, Parsed, redecide
from grimoire.match.scenario.invariants import words
from grimoire.v1 import audit_pb2, envelope_pb2
from tests.battery.contenders import CONTENDERS, SOME
from tests.battery.playing import complete, play_out, random_match, table_of

every = pytest.mark.parametrize("contender", CONTENDERS, ids=str)
some = pytest.mark.parametrize("contender", SOME, ids=str)
seeds = st.integers(0, 2**32)


def played(contender, seed):
    table = table_of(contender, seed)
    table.begin()
    play_out(table, contender, seed)
    return table


@every
def test_a_finished_log_passes_every_audit(contender):
    for seed in range(2):
        table = played(contender, seed)
        log = table.log(ALL)
        walk = redecide(contender.plugin.game, log)
        assert walk.status == audit_pb2.CHECK_STATUS_PASSED, walk.detail
        report = verify(log, schema=table.referee.schema, rules_walk=walk)
        assert report.passed, [c.detail for c in report.checks]
        for viewer in (PUBLIC, *map(Viewer.of_seat, range(contender.seats))):
            report = verify(table.log(viewer), schema=table.referee.schema, rules_walk=walk)
            assert report.passed, "after the reveal every viewer's log is whole"


@some
def test_two_runs_with_the_same_seeds_and_commands_are_the_same_bytes(contender):
    first, second = played(contender, 7), played(contender, 7)
    for one, two in zip(first.entries, second.entries, strict=True):
        assert (one.header, one.public, one.parts, one.digests, one.hash) == (
            two.header,
            two.public,
            two.parts,
            two.digests,
            two.hash,
        )


@some
def test_another_seed_deals_otherwise(contender):
    first, second = table_of(contender, 1), table_of(contender, 2)
    first.begin(), second.begin()
    assert first.running.game != second.running.game


@every
def test_every_viewer_follows_the_same_chain_while_cards_are_hidden(contender):
    table = table_of(contender, 3)
    table.begin()
    chance, game = random.Random(3), contender.plugin.game
    for _ in range(12):
        if table.running.over:
            break
        opened = chance.choice(table.running.prompts)
        legal = chance.choice(game.legal(table.running.game, opened.prompt.seat, opened.prompt))
        table.play(opened.prompt.seat, complete(legal, game.schema, chance), opened.prompt_id)
    for viewer in (PUBLIC, *map(Viewer.of_seat, range(contender.seats))):
        live = LiveChain(table.match_id)
        for entry in table.log(viewer):
            live.feed(entry)
        assert live.head == table.running.hash


@every
def test_the_state_is_the_fold_of_the_stored_bytes_at_every_entry(contender):
    table = played(contender, 11)
    state: MatchState | None = None
    for entry in table.entries:
        state = table.referee.fold(state, entry.header, entry.public, dict(entry.parts), entry.hash)
        assert state == entry.state


@every
def test_expiries_alone_end_a_match(contender):
    table = table_of(contender, 4)
    table.begin()
    for _ in range(contender.bound):
        answer = table.expire_next()
        if answer is None:
            break
        assert isinstance(answer, Entry)
    assert table.running.over


@every
def test_a_handshake_nobody_answers_ends_too(contender):
    table = table_of(contender, 5)
    table.create()
    assert isinstance(table.expire_next(), Entry)
    assert table.running.over


@some
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 5),
    type_=st.text(max_size=12) | st.sampled_from(["play_card", "discard_card", "choose_rune", "counter", "resign"]),
    payload=st.binary(max_size=64),
    prompt_id=st.none() | st.integers(0, 6),
    seat=st.none() | st.integers(0, 5),
)
def test_no_envelope_makes_the_referee_raise(contender, seed, type_, payload, prompt_id, seat):
    table = table_of(contender, seed)
    table.begin()
    for occupant in ("seat-0", "seat-1", ""):
        command = envelope_pb2.Command(
            command_id=table.new_command_id(),
            match_id=table.match_id,
            seat=seat,
            prompt_id=prompt_id,
            type=type_,
            payload=payload,
        )
        before = table.running
        answer = table.submit(command, occupant)
        if not isinstance(answer, Entry):
            assert table.running is before
        parsed = table.referee.read(command, occupant)
        if isinstance(parsed, Parsed) and seat is not None:
            table.referee.judge(before, Actor.of_seat(seat), parsed, table.now_ms)


@some
def test_no_state_or_entry_shows_a_hidden_word(contender):
    """Representations end up in logs."""
    for turn in random_match(contender, 9):
        text = f"{turn.state!r} {turn.state}"
        hidden = {*_hidden_words(contender, turn.state)}
        assert not hidden & {*re.findall(r"\w+", text)}


def _hidden_words(contender, state):
    """Words of the all-seeing view that the public view lacks."""
    game = contender.plugin.game
    return {*words(game.view(state, ALL))} - {*words(game.view(state, PUBLIC))}
