"""One service as a process of its own: how it starts, is told to stop, and what its exit status says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from grimoire.plugins import game_names
from grimoire.runtime.config import Config, ConfigError
from grimoire.runtime.lifecycle import PARENT_VARIABLE, Exit, Service, default_services
from tests.support.broker import ended

CODE = "import sys; from grimoire.runtime.lifecycle import main; main(*sys.argv[1:])"
ROOT = Path(__file__).parents[3]


def environment(config: Config, **more: str) -> dict[str, str]:
    return {**os.environ, **config.to_env(), "PYTHONPATH": str(ROOT), PARENT_VARIABLE: str(os.getpid()), **more}


@contextmanager
def process(config: Config, toy: str, **more: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", CODE, "replay", f"tests.support.toy_services:{toy}", "replay"]
    with subprocess.Popen(
        command,
        env=environment(config, **more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def first_line(running: subprocess.Popen[str]) -> dict[str, str]:
    assert running.stdout is not None
    return json.loads(running.stdout.readline())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it(config: Config, number: signal.Signals) -> None:
    with process(config, "idle") as running:
        assert first_line(running)["address"] == ""
        running.send_signal(number)
        assert running.wait(20) == Exit.STOPPED


def test_it_tells_its_addresses_and_shows_its_metrics(config: Config) -> None:
    with process(config, "idle") as running:
        metrics = first_line(running)["metrics"]
        page = urllib.request.urlopen(f"http://{metrics}/metrics", timeout=10).read().decode()
    assert "grimoire_commands" in page


def test_nothing_is_announced_to_a_person(config: Config) -> None:
    with process(config, "idle", **{PARENT_VARIABLE: ""}) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if "service_started" in line:
                break
        running.terminate()
        assert running.communicate(timeout=20)[0] == ""


@pytest.mark.parametrize(
    ("toy", "code"),
    [("broken", Exit.FAILED), ("short_lived", Exit.FAILED), ("misconfigured", Exit.MISCONFIGURED)],
)
def test_its_exit_status_says_why_it_ended(config: Config, toy: str, code: Exit) -> None:
    with process(config, toy) as running:
        _, errors = running.communicate(timeout=30)
    assert running.returncode == code
    assert "an open seed" not in errors
    if toy == "misconfigured":
        assert "GRIMOIRE_SOMETHING must be else" in errors
        assert "Traceback" not in errors


def test_a_bad_setting_is_said_in_one_line(config: Config) -> None:
    with process(config, "idle", GRIMOIRE_METRICS="nowhere") as running:
        _, errors = running.communicate(timeout=30)
    assert running.returncode == Exit.MISCONFIGURED
    assert errors.startswith("replay: GRIMOIRE_METRICS must be host:port")
    assert errors.count("\n") == 1


def test_one_that_does_not_stop_is_forced_within_the_bound(config: Config) -> None:
    with process(config, "stubborn", GRIMOIRE_STOP_TIMEOUT="0.1") as running:
        first_line(running)
        running.terminate()
        assert running.wait(20) == Exit.FORCED


def test_a_second_signal_ends_it_at_once(config: Config) -> None:
    with process(config, "stubborn", GRIMOIRE_STOP_TIMEOUT="600") as running:
        first_line(running)
        running.terminate()
        assert running.stderr is not None
        while running.poll() is None:
            running.terminate()
        assert running.wait(20) == Exit.FORCED


def test_it_does_not_outlive_a_parent_that_is_killed(config: Config) -> None:
    code = (
        "import os, subprocess, sys;"
        f"os.environ[{PARENT_VARIABLE!r}] = str(os.getpid());"
        "pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE);"
        "child = subprocess.Popen([sys.executable, '-c', *sys.argv[1:]], **pipes);"
        "child.stdout.readline(); print(child.pid, flush=True); child.wait()"
    )
    command = [sys.executable, "-c", code, CODE, "replay", "tests.support.toy_services:idle", "replay"]
    with subprocess.Popen(command, env=environment(config), stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    assert ended(child)


@pytest.mark.parametrize("target", ["no_such_module:serve", "tests.support.toy_services:no_such", "x y", ""])
def test_a_target_that_is_not_there_names_the_service(target: str) -> None:
    with pytest.raises(ConfigError, match="replay"):
        Service("replay", target).load()


def test_who_is_called_starts_before_who_calls() -> None:
    names = [service.name for service in default_services()]
    assert {*names} == {*game_names(), "replay", "matchmaking", "gateway", "bots"}
    assert names.index("gateway") > max(names.index(name) for name in (*game_names(), "replay", "matchmaking"))
    assert names[-1] == "bots"
    assert [service.name for service in default_services() if service.edge] == ["gateway"]
