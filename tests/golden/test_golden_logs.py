"""Every golden log still comes out as it was recorded."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from grimoire.fairness.export import read_export
from grimoire.match.golden import check_golden, golden_names, record_golden
from grimoire.match.table import Table
from grimoire.plugins import game_names, load_game
from grimoire.v1 import match_pb2
from tests.golden.plan import PLANS
from tests.golden.record import played
from tests.support.toy import PLUGIN as TOY

HERE = Path(__file__).parent
LOGS = [(game, name) for game in game_names() for name in golden_names(HERE / game)]


@pytest.mark.parametrize(("game", "name"), LOGS, ids=[f"{game}/{name}" for game, name in LOGS])
def test_a_golden_log_comes_out_as_it_was_recorded(game, name):
    assert check_golden(HERE / game, name, load_game(game)) == ""


def test_every_planned_log_is_recorded_and_every_recorded_log_planned():
    assert {(plan.game, plan.name) for plan in PLANS} == {*LOGS}


@pytest.mark.parametrize("game", game_names())
def test_every_installed_game_has_golden_logs(game):
    assert len([1 for name, _ in LOGS if name == game]) >= 20


def created_and_ends(game: str) -> tuple[list[dict[str, str]], set[str]]:
    """The options of every log of a game, and every way in which they end."""
    chosen, ends = [], set()
    for name in golden_names(HERE / game):
        export = read_export([gzip.decompress((HERE / game / f"{name}.jsonl.gz").read_bytes())])
        created = match_pb2.MatchCreated.FromString(
            match_pb2.Events.FromString(export.entries[0].public).events[0].body
        )
        chosen.append({o.name: o.value for o in created.options})
        for event in match_pb2.Events.FromString(export.entries[-1].public).events:
            if event.type == "match_closed":
                closed = match_pb2.MatchClosed.FromString(event.body)
                ends |= {*closed.reasons, match_pb2.OutcomeKind.Name(closed.kind)}
            if event.type == "match_voided":
                ends.add(match_pb2.MatchVoided.FromString(event.body).reason)
    return chosen, ends


def all_events_occur(name: str) -> bool:
    """Whether a game's logs hold every event of its schema."""
    game = load_game(name).game
    logs = [HERE / game.id / f"{log}.jsonl.gz" for log in golden_names(HERE / game.id)]
    entries = [entry for log in logs for entry in read_export([gzip.decompress(log.read_bytes())]).entries]
    return {e.type for entry in entries for e in match_pb2.Events.FromString(entry.public).events} >= {
        *game.schema.events
    }


def spells_cast(name: str) -> set[str]:
    """The spells of a game's logs, in which every event of its schema occurs."""
    game = load_game(name).game
    types, spells = set(), set()
    for log in golden_names(HERE / game.id):
        for entry in read_export([gzip.decompress((HERE / game.id / f"{log}.jsonl.gz").read_bytes())]).entries:
            for event in match_pb2.Events.FromString(entry.public).events:
                types.add(event.type)
                if event.type == "spell_cast":
                    spells.add(game.schema.events[event.type].FromString(event.body).spell)
    assert types >= game.schema.events.keys()
    return spells


def test_all_battlefields_decks_and_ends_occur():
    chosen, ends = created_and_ends("two_towers")
    assert len({(options["battlefield"], options["deck_type"]) for options in chosen}) == 16
    assert ends >= {
        "tower_built",
        "tower_destroyed",
        "resource",
        "resigned",
        "timeouts",
        "turn_limit",
        "OUTCOME_KIND_DRAW",
        "not_sealed",
        "not_opened",
        "maintenance",
    }


def test_all_spells_events_and_ends_of_the_garden_occur():
    chosen, ends = created_and_ends("wizards_garden")
    assert {options["spells_per_player"] for options in chosen} == {"1", "2", "3"}
    assert ends >= {
        "five_lanterns",
        "turn_limit",
        "resigned",
        "OUTCOME_KIND_DRAW",
        "not_sealed",
        "not_opened",
        "maintenance",
    }
    assert len(spells_cast("wizards_garden")) == 12


def test_all_seats_difficulties_spells_events_and_ends_of_spellbound_occur():
    chosen, ends = created_and_ends("spellbound")
    assert {int(options["mages"]) for options in chosen} == {1, 2, 3, 4}
    assert {len({*options["mage_seats"].split(",")}) for options in chosen} == {1, 2, 3, 4}
    assert {options["troll_buster"] for options in chosen} == {options["witchfinder_general"] for options in chosen}
    assert len({options["dan"] for options in chosen}) >= 4
    assert ends >= {
        "final_battle",
        "final_battle_lost",
        "books_lost",
        "pieces_at_end",
        "witch_at_top",
        "wicked_deck_empty",
        "annihilation",
        "resigned",
        "not_sealed",
        "not_opened",
        "maintenance",
    }
    assert len(spells_cast("spellbound")) == 10


def test_all_seats_boards_events_and_ends_of_broom_service_occur():
    chosen, ends = created_and_ends("broom_service")
    boards = {(options["board"], options["storm_clouds"], options["mountain_tiles"]) for options in chosen}
    assert len(boards) == 6
    assert {len(plan.levels) for plan in PLANS if plan.game == "broom_service"} == {2, 3, 4, 5}
    assert ends >= {
        "scored",
        "others_left",
        "OUTCOME_KIND_WIN",
        "OUTCOME_KIND_SHARED",
        "not_sealed",
        "not_opened",
        "maintenance",
    }
    assert all_events_occur("broom_service")


@pytest.mark.parametrize("game", game_names())
def test_they_stay_small(game):
    files = [path for path in (HERE / game).iterdir() if path.suffix in (".gz", ".json")]
    assert max(path.stat().st_size for path in files) <= 300_000
    assert sum(path.stat().st_size for path in files) < 750_000


def test_a_plan_plays_the_same_match_again():
    """Recording is no accident: the same plan gives the same bytes. (One without bots: those may learn.)"""
    plan = next(plan for plan in PLANS if plan.name == "void_never_opened")
    recorded = read_export([gzip.decompress((HERE / plan.game / f"{plan.name}.jsonl.gz").read_bytes())])
    assert played(plan).running.hash == recorded.head


# ---- the check itself ------------------------------------------------------------------------------------------------


@pytest.fixture
def over() -> Table:
    table = Table(TOY.game, match_id="golden-toy", seats=2)
    table.begin()
    table.play(0, match_pb2.Resign())
    return table


def test_a_log_is_never_overwritten(tmp_path, over):
    record_golden(tmp_path, "one", over)
    before = (tmp_path / "one.jsonl.gz").read_bytes()
    with pytest.raises(FileExistsError, match="kept as they are"):
        record_golden(tmp_path, "one", over)
    assert (tmp_path / "one.jsonl.gz").read_bytes() == before
    assert check_golden(tmp_path, "one", TOY) == ""


def test_a_match_that_is_not_over_is_no_golden_log(tmp_path):
    table = Table(TOY.game, match_id="golden-toy", seats=2)
    table.begin()
    with pytest.raises(PermissionError):
        record_golden(tmp_path, "one", table)


def test_another_end_is_found(tmp_path, over):
    record_golden(tmp_path, "one", over)
    view = tmp_path / "one.view.json"
    recorded = json.loads(view.read_text())
    recorded["view"]["seats"][0]["tokens"] += 1
    view.write_text(json.dumps(recorded))
    assert check_golden(tmp_path, "one", TOY) == "view.seats[0].tokens: recorded 3, now 2"


def test_a_field_that_is_new_in_the_view_is_no_difference(tmp_path, over):
    record_golden(tmp_path, "one", over)
    view = tmp_path / "one.view.json"
    recorded = json.loads(view.read_text())
    del recorded["view"]["light"]
    view.write_text(json.dumps(recorded))
    assert check_golden(tmp_path, "one", TOY) == ""


def test_other_rules_are_found(tmp_path, over, monkeypatch):
    record_golden(tmp_path, "one", over)
    monkeypatch.setattr("tests.support.toy.rules.HAND_SIZE", 2)
    assert "check 8: the rules give other events" in check_golden(tmp_path, "one", TOY)


def test_a_broken_file_is_found(tmp_path, over):
    path = record_golden(tmp_path, "one", over)
    whole = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(whole[:-5], mtime=0))
    assert "cannot be read" in check_golden(tmp_path, "one", TOY)
    path.write_bytes(gzip.compress(whole.replace(b"A", b"B", 1), mtime=0))
    assert check_golden(tmp_path, "one", TOY) != ""
    path.write_bytes(b"nonsense")
    assert "cannot be read" in check_golden(tmp_path, "one", TOY)
