"""TT-11.6: a state is rebuilt from its events with the catalogue withheld."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import msgspec
import pytest

from grimoire.engine import Actor
from tests.two_towers.table import GAME, Table, random_joint
from two_towers import __file__ as package
from two_towers.state import Terms

# A process in which nothing of the catalogue can be loaded, nor anything that knows it.
ALONE = """
import base64, importlib, json, pathlib, sys, types
import msgspec

folder, log = json.loads(sys.stdin.read())
class Withheld:
    def find_spec(self, name, *_):
        if name.startswith("two_towers.") and name.partition(".")[2] not in ("evolve", "draft", "state", "fields"):
            raise ImportError(f"{name} is withheld")
sys.meta_path.insert(0, Withheld())
bare = types.ModuleType("two_towers")
bare.__path__ = [folder]
sys.modules["two_towers"] = bare

from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from two_towers.evolve import evolve
from two_towers.state import State, Terms

state = State(Terms(**log["terms"]))
for name, body in log["events"]:
    state = evolve(state, getattr(pb, name).FromString(base64.b64decode(body)))
    print(msgspec.json.encode(state).decode())
for module in ("cards", "catalogue", "effects", "turn"):
    try:
        importlib.import_module(f"two_towers.{module}")
    except ImportError:
        continue
    raise SystemExit(f"{module} could be loaded")
"""


def random_log(deck_type: str) -> Table:
    table, rng = Table.dealt(random_joint(11), deck_type=deck_type), random.Random(deck_type)
    for number in range(400):
        if table.state.result is not None:
            break
        if number % 17 == 16:
            table.expire()
            continue
        prompt = table.prompt
        entry = rng.choice(GAME.legal(table.state, prompt.seat, prompt))
        table.accept(Actor.of_seat(prompt.seat), GAME.schema.command(entry.type, entry.fixed), prompt)
    return table


@pytest.mark.parametrize("deck_type", ["standard", "endless"])
def test_events_alone_rebuild_every_state(deck_type: str) -> None:
    table = random_log(deck_type)
    terms = Terms(
        deck_type=deck_type, battlefield="archmage_fortress", timeout_limit=3, standard=deck_type == "standard"
    )
    log = {
        "terms": msgspec.to_builtins(terms),
        "events": [(type(event).__name__, msgspec.to_builtins(event.SerializeToString())) for event in table.history],
    }
    done = subprocess.run(
        [sys.executable, "-c", ALONE],
        input=json.dumps([package.rpartition("/")[0], log]),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rebuilt = done.stdout.splitlines()
    assert len(rebuilt) == len(table.history)
    state = table.folded(0)
    for event, line in zip(table.history, rebuilt, strict=True):
        state = GAME.evolve(state, event)
        assert line == msgspec.json.encode(state).decode()
    assert state == table.state
