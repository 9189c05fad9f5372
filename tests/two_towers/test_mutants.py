"""A changed rule is caught at the very entry where it first matters, by judging a log of the true rules again."""

from __future__ import annotations

import functools
import gzip
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from grimoire.engine import ALL
from grimoire.fairness.export import read_export
from grimoire.fairness.secret import Secret
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from grimoire.match import Entry, MatchState, Referee, created_in, redecide
from grimoire.match.golden import golden_names
from grimoire.match.table import Table
from grimoire.v1 import audit_pb2, frame_pb2, match_pb2
from tests.two_towers.mutants import MUTANTS, Mutant, Step
from two_towers import PLUGIN
from two_towers.state import State

GOLDEN = Path(__file__).parents[1] / "golden" / "two_towers"
Log = list[frame_pb2.ViewerEntry]


# ---- logs of the true rules ------------------------------------------------------------------------------------------


def arranged(name: str, own: Mapping[str, object], *courses: Callable[[Table], object]) -> Log:
    """An analysis match: seat 0 begins with this, some things happen, and seat 1 resigns unless it is over."""
    table = Table(
        PLUGIN.game,
        match_id=name,
        seats=2,
        mode=match_pb2.MATCH_MODE_ANALYSIS,
        position=PLUGIN.positions.parse({"seats": [own, {}]}, {}).SerializeToString(),
    )
    table.begin()
    for course in courses:
        assert isinstance(course(table), Entry)
    if not table.running.over:
        table.play(1, match_pb2.Resign())
    return table.log(ALL)


def plays(seat: int, card: str) -> Callable[[Table], object]:
    """This seat plays the card in its first slot."""
    return lambda table: table.answer(seat, pb.PlayCard(slot=0, card=card))


def gives_up(seat: int, slot: int) -> Callable[[Table], object]:
    """This seat discards what lies there."""
    return lambda table: table.answer(seat, pb.DiscardCard(slot=slot, card=table.running.game.seats[seat].hand[slot]))


@functools.cache
def logs() -> dict[str, tuple[Log, tuple[Step, ...]]]:
    """Every golden log, and a few positions for what happens in none of them."""
    found: dict[str, Log] = {
        name: read_export([gzip.decompress((GOLDEN / f"{name}.jsonl.gz").read_bytes())]).entries
        for name in golden_names(GOLDEN)
    }
    found |= {
        "parity": arranged("parity", {"monasteries": 4, "mana": 9, "hand": ["parity"]}, plays(0, "parity")),
        "gaps": arranged("gaps", {"hand": ["rainbow", "any", None]}, plays(0, "rainbow")),
        "goal-tower": arranged("goal-tower", {"tower": 49, "mana": 1, "hand": ["quartz"]}, plays(0, "quartz")),
        "goal-stock": arranged("goal-stock", {"ore": 148, "hand": ["lucky_cache"]}, plays(0, "lucky_cache")),
        "redeemed": arranged(
            "redeemed",
            {"hand": ["rainbow"]},
            Table.expire_next,
            gives_up(1, 1),
            plays(0, "rainbow"),
            gives_up(1, 1),
            Table.expire_next,
        ),
    }
    return {name: (log, tuple(steps(log))) for name, log in found.items()}


def steps(log: Log) -> Iterator[Step]:
    """What happened in each entry, with the true state before it."""
    created = created_in(log)
    assert created is not None
    last = match_pb2.Events.FromString(log[-1].public).events[-1]
    seed = Secret(match_pb2.FairnessRevealed.FromString(last.body).server_seed)
    referee: Referee[State] = Referee(PLUGIN.game, lambda *_: seed)
    state: MatchState[Any] | None = None
    missed = [0, 0]
    for version, entry in enumerate(log, 1):
        parts = {part.audience: part.body for part in entry.parts}
        record = match_pb2.CommandRecord.FromString(parts["command"])
        events = referee.schema.merge(entry.public, {a: b for a, b in parts.items() if a != "command"})
        own = tuple(event for event in events if event.DESCRIPTOR.file.package.startswith("grimoire.games"))
        yield Step(
            version,
            {o.name: o.value for o in created.options},
            created.mode == match_pb2.MATCH_MODE_ANALYSIS,
            (missed[0], missed[1]),
            None if state is None else state.game,
            own,
            tuple(record.draws),
        )
        for event in own:
            if isinstance(event, pb.TurnTimedOut):
                missed[event.seat] += 1
            elif isinstance(event, pb.CardDiscarded) and event.cause != "timeout":
                missed[event.seat] = 0
        state = referee.fold(state, entry.header, entry.public, parts, entry.hash)


# ---- mutants ---------------------------------------------------------------------------------------------------------


def shown_first(mutant: Mutant, told: tuple[Step, ...]) -> int:
    """The version at which a mutant must be found out; 0: nowhere in this log."""
    return next((step.version for step in told if mutant.shows(step)), 0)


def check_logs(mutant: Mutant, patch: pytest.MonkeyPatch, spared: int) -> None:
    """Judges every log in which the mutant shows, and some of those it leaves alone, the shortest first."""
    expected = {name: shown_first(mutant, told) for name, (_, told) in logs().items()}
    assert any(expected.values()), "no log shows what this mutant changes"
    alone = sorted((name for name, version in expected.items() if not version), key=lambda name: len(logs()[name][0]))
    mutant.make(patch)
    for name in [*(name for name, version in expected.items() if version), *alone[:spared]]:
        check = redecide(PLUGIN.game, logs()[name][0])
        status = audit_pb2.CHECK_STATUS_FAILED if expected[name] else audit_pb2.CHECK_STATUS_PASSED
        assert (check.status, check.version) == (status, expected[name]), f"{name}: {check.detail}"


NAMES = [mutant.name.replace(" ", "-") for mutant in MUTANTS]


@pytest.mark.parametrize("mutant", MUTANTS, ids=NAMES)
def test_a_changed_rule_is_caught_at_the_very_entry(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    check_logs(mutant, monkeypatch, spared=3)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=NAMES)
def test_a_changed_rule_disturbs_no_log_in_which_it_does_not_matter(
    mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_logs(mutant, monkeypatch, spared=len(logs()))


def test_the_true_rules_confirm_every_log() -> None:
    for name, (log, _) in logs().items():
        assert redecide(PLUGIN.game, log).status == audit_pb2.CHECK_STATUS_PASSED, name


def test_there_are_mutants_of_every_kind() -> None:
    assert len(MUTANTS) >= 25
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    broken = {mutant.rule.rpartition(".")[0] for mutant in MUTANTS}
    assert broken >= {"TT-1", "TT-2", "TT-3", "TT-4", "TT-5", "TT-7", "TT-8"}
