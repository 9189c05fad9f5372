"""Replay frames, and whole matches between bots."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import grimoire.match
from grimoire.engine import ALL, PUBLIC, Viewer
from grimoire.fairness.verify import verify
from grimoire.match import FrameFold, redecide
from grimoire.match.driver import BotPlayers, play_match
from grimoire.match.table import Table
from grimoire.plugins import load_game
from grimoire.v1 import match_pb2, rules_pb2
from tests.support.toy import PLUGIN as TOY
from tests.support.toy import schema as toy


def stored(entry) -> tuple[bytes, bytes, dict[str, bytes], bytes]:
    return entry.header, entry.public, dict(entry.parts), entry.hash


@pytest.fixture(scope="module")
def table() -> Table:
    return play_match(TOY, ["careful", "random"], "frames", options={"mode": "duel", "rounds": "2"})


@pytest.mark.parametrize("viewer", [Viewer.of_seat(0), Viewer.of_seat(1), PUBLIC, ALL], ids=str)
def test_a_frame_is_what_the_viewer_saw_then(table, viewer):
    fold = FrameFold(table.referee, viewer, TOY.texts)
    for entry in table.entries:
        frame = fold.frame(*stored(entry))
        assert (frame.version, frame.hash, frame.server_time_ms) == (entry.version, entry.hash, entry.server_time_ms)
        assert fold.state == entry.state
        assert [e.type for e in frame.events] == [table.referee.schema.code(e) for e in entry.events]
        if entry.state.game is None:
            assert frame.view == b""
        else:
            assert frame.view == table.referee.game.view(entry.state.game, viewer).SerializeToString()
        assert [p.prompt_id for p in frame.prompts] == [p.prompt_id for p in entry.state.prompts]
        for prompt in frame.prompts:
            assert bool(prompt.legal) is (viewer == Viewer.of_seat(prompt.seat))


def test_a_frame_shows_a_viewer_its_own_parts_only(table):
    dealt = next(e for e in table.entries if any(isinstance(x, toy.RunesDealt) for x in e.events))
    for viewer, hands in ((Viewer.of_seat(0), [0]), (Viewer.of_seat(1), [1]), (PUBLIC, []), (ALL, [0, 1])):
        fold = FrameFold(table.referee, viewer)
        for entry in table.entries[: dealt.version - 1]:
            fold.advance(*stored(entry))
        frame = fold.frame(*stored(dealt))
        body = next(e.body for e in frame.events if e.type == "runes_dealt")
        event = toy.RunesDealt.FromString(body)
        assert [hand.seat for hand in event.hands] == hands
        assert bool(event.pouch) is (viewer == ALL)


def test_a_step_may_be_shown_to_everybody_in_any_order(table):
    viewers = [Viewer.of_seat(0), ALL, PUBLIC, Viewer.of_seat(1)]
    alone = {viewer: FrameFold(table.referee, viewer, TOY.texts) for viewer in viewers}
    expected = {viewer: [fold.frame(*stored(entry)) for entry in table.entries] for viewer, fold in alone.items()}
    assert len({frames[-1].view for frames in expected.values()}) > 1
    state, steps = None, []
    for entry in table.entries:
        steps.append(table.referee.step(state, *stored(entry)))
        state = steps[-1].state
    for viewer in (*viewers, *reversed(viewers)):
        fold = FrameFold(table.referee, viewer, TOY.texts)
        assert [fold.show(step) for step in steps] == expected[viewer]
        assert [fold.show(step.put_by()) for step in steps] == expected[viewer]


def test_marks_tell_start_turns_and_end(table):
    fold = FrameFold(table.referee, PUBLIC, TOY.texts)
    marks = [mark for entry in table.entries for mark in fold.frame(*stored(entry)).marks]
    kinds = [mark.kind for mark in marks]
    assert kinds[0] == rules_pb2.MARK_KIND_START
    assert kinds[-1] == rules_pb2.MARK_KIND_END
    assert kinds.count(rules_pb2.MARK_KIND_TURN) == 2
    assert {a.name: a.value for a in marks[1].label.arguments} == {"round_no": "1"}
    silent = FrameFold(table.referee, PUBLIC)
    plain = [mark for entry in table.entries for mark in silent.frame(*stored(entry)).marks]
    assert [mark.kind for mark in plain] == [rules_pb2.MARK_KIND_START, rules_pb2.MARK_KIND_END]


def test_a_frame_names_who_acted(table):
    fold = FrameFold(table.referee, PUBLIC)
    actors = [(frame.actor, frame.seat) for frame in (fold.frame(*stored(entry)) for entry in table.entries)]
    assert actors[:4] == [
        (match_pb2.ACTOR_KIND_HOST, 0),
        (match_pb2.ACTOR_KIND_SEAT, 0),
        (match_pb2.ACTOR_KIND_SEAT, 1),
        (match_pb2.ACTOR_KIND_SEAT, 0),
    ]


# ---- bots at a table -------------------------------------------------------------------------------------------------


def test_bots_play_a_whole_match_that_passes_every_check():
    plugin = load_game("two_towers")
    table = play_match(plugin, ["heuristic", "random"], "bots", seed="7", options={"deck_type": "endless"})
    log = table.log(ALL)
    report = verify(log, schema=table.referee.schema, rules_walk=redecide(plugin.game, log))
    assert report.passed
    assert table.running.time_ms - table.running.created_ms > 1_000


def test_the_same_seed_plays_the_same_match():
    first = play_match(TOY, ["random", "random"], "same", seed="s")
    assert first.running.hash == play_match(TOY, ["random", "random"], "same", seed="s").running.hash
    assert first.running.hash != play_match(TOY, ["random", "random"], "same", seed="t").running.hash


def test_a_match_that_is_voided_has_no_outcome():
    table = Table(TOY.game, match_id="void", seats=2)
    table.begin()
    table.void("x")
    with pytest.raises(RuntimeError, match="voided"):
        BotPlayers(table, TOY, ("random", "random"), "s").finish()


def test_options_that_are_refused_are_said():
    with pytest.raises(RuntimeError, match="bad_option"):
        play_match(TOY, ["random", "random"], "m", options={"rounds": "9"})


# ---- documentation ---------------------------------------------------------------------------------------------------

MODULES = [module.name for module in pkgutil.walk_packages(grimoire.match.__path__, "grimoire.match.")]


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_in_docstrings_are_true(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0
