"""Broker and services together, in one process and in one each."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from structlog.testing import capture_logs

from grimoire.bus import GATEWAY, Bus
from grimoire.runtime import stack as stack_module
from grimoire.runtime.config import Address, AlreadyRunningError, Config, ConfigError, RunFile
from grimoire.runtime.keys import KeyFileError, KeyRing
from grimoire.runtime.lifecycle import Service
from grimoire.runtime.metrics import METRICS
from grimoire.runtime.rpc import is_serving, open_channel
from grimoire.runtime.stack import Stack, StackError
from tests.support.broker import ended, until
from tests.support.toy_services import notes

NAMES = ("replay", "matchmaking", "gateway")
ROOT = Path(__file__).parents[3]

Start = Callable[..., AbstractAsyncContextManager[Stack]]


def toys(*names: str, kind: str = "well") -> list[Service]:
    return [Service(name, f"tests.support.toy_services:{kind}", name) for name in names]


_known: set[int] = set()


@pytest.fixture(autouse=True)
def _others_processes() -> None:
    """Processes that other tests of this run keep (a shared database server) are not this module's."""
    _known.clear()
    _known.update(child.pid for child in psutil.Process().children(recursive=True))


def left_behind() -> list[psutil.Process]:
    """Processes begun in this test that still run."""
    mine = (child for child in psutil.Process().children(recursive=True) if not any(p in _known for p in _line(child)))
    return [child for child in mine if not ended(child, 0)]


def _line(child: psutil.Process) -> list[int]:
    """The process and its parents: a database server begets processes of its own all the time, and buries them."""
    try:
        return [child.pid, *(parent.pid for parent in child.parents() if parent.pid != psutil.Process().pid)]
    except psutil.NoSuchProcess:
        return [child.pid]


@pytest.fixture(autouse=True)
def _children_find_the_toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture(params=["one process", "processes"])
def processes(request: pytest.FixtureRequest) -> bool:
    return request.param == "processes"


@pytest.fixture
def start(config: Config, processes: bool) -> Start:
    @asynccontextmanager
    async def start(services: list[Service]) -> AsyncIterator[Stack]:
        async with Stack(config, services, processes=processes) as stack:
            yield stack

    return start


async def serving(address: str) -> bool:
    channel = open_channel(address)
    try:
        return await is_serving(channel)
    finally:
        await channel.close()


async def until_async(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await condition():
            await asyncio.sleep(0.02)


async def test_everything_is_up_and_written_down_once_it_has_started(config: Config, start: Start) -> None:
    async with start(toys(*NAMES)) as stack:
        found = RunFile.read(config.home)
        assert found is not None
        assert found.pid == os.getpid()
        assert {*NAMES, "nats", "metrics"} <= {*found.addresses}
        assert len({*found.addresses.values()}) == len(found.addresses)
        for name in NAMES:
            assert await serving(found.addresses[name])
            assert str(stack.config.address(name)) == found.addresses[name]
        bus = await Bus.connect(config.bus_settings(KeyRing.load_or_create(config.keys_dir), GATEWAY))
        await bus.close()
    assert RunFile.read(config.home) is None


async def test_services_stop_in_the_reverse_order(config: Config, start: Start, processes: bool) -> None:
    async with start(toys(*NAMES)):
        starts = notes(config.home)
    assert notes(config.home)[len(starts) :] == [f"stop {name}" for name in reversed(NAMES)]
    if not processes:
        assert starts == [f"start {name}" for name in NAMES]


async def test_children_are_processes_of_their_own(config: Config, start: Start, processes: bool) -> None:
    async with start(toys(*NAMES)):
        found = RunFile.read(config.home)
        assert found is not None
        assert set(found.processes) == ({*NAMES} if processes else set())
        children = [psutil.Process(pid) for pid in found.processes.values()]
    assert all(ended(child) for child in children)


async def test_a_service_that_breaks_is_started_again_under_its_address(config: Config, start: Start) -> None:
    async with start(toys(*NAMES)) as stack:
        before = RunFile.read(config.home)
        restarts = METRICS.restarts.labels("matchmaking")._value.get()
        (config.home / "break-matchmaking").touch()
        await until(lambda: notes(config.home).count("start matchmaking") == 2)
        assert METRICS.restarts.labels("matchmaking")._value.get() == restarts + 1
        address = str(stack.config.address("matchmaking"))
        await until_async(lambda: serving(address))
        assert not stack.gave_up.is_set()
        assert before is not None
        await until(lambda: (RunFile.read(config.home) or before).addresses["matchmaking"] == address)


async def test_a_killed_child_is_started_again_and_its_new_pid_written_down(config: Config) -> None:
    async with Stack(config, toys(*NAMES), processes=True):
        found = RunFile.read(config.home)
        assert found is not None
        os.kill(found.processes["replay"], signal.SIGKILL)

        def renewed() -> bool:
            now = RunFile.read(config.home)
            return now is not None and now.processes.get("replay") not in (None, found.processes["replay"])

        await until(renewed)
        assert await serving(found.addresses["replay"])


async def test_one_that_never_stays_up_is_given_up_with_a_message(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stack_module, "_FIRST_PAUSE_S", 0.001)
    with capture_logs() as logs:
        async with start(toys("replay", kind="short_lived")) as stack:
            await asyncio.wait_for(stack.gave_up.wait(), 30)
    assert [line["service"] for line in logs if line["event"] == "service_given_up"] == ["replay"]


@pytest.mark.parametrize(
    ("kind", "error"), [("broken", StackError), ("misconfigured", (ConfigError, StackError)), ("nowhere", Exception)]
)
async def test_a_failed_start_names_the_service_and_leaves_nothing_behind(
    config: Config, start: Start, kind: str, error: type[Exception]
) -> None:
    with pytest.raises(error, match="matchmaking") as failed:
        async with start([*toys("replay"), *toys("matchmaking", kind=kind)]):
            pass
    assert "an open seed" not in str(failed.value)
    assert RunFile.read(config.home) is None
    assert not left_behind()
    async with start(toys("replay")):
        assert RunFile.read(config.home) is not None


async def test_what_children_write_to_standard_output_disturbs_nobody(start: Start) -> None:
    async with start(toys("replay", kind="talkative")):
        pass


async def test_one_that_does_not_stop_is_forced(config: Config, processes: bool) -> None:
    hasty = replace(config, stop_timeout_s=0.1)
    async with Stack(hasty, toys("replay", kind="stubborn"), processes=processes):
        pass
    assert not left_behind()


async def test_a_child_that_hears_no_signal_is_killed(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack_module, "_KILL_AFTER_S", 0.1)
    hasty = replace(config, stop_timeout_s=0.1)
    async with Stack(hasty, toys("replay", kind="deaf"), processes=True):
        pass
    assert not left_behind()


async def test_two_stacks_in_one_home_are_refused(config: Config, start: Start) -> None:
    async with start(toys("replay")):
        with pytest.raises(AlreadyRunningError):
            await Stack(config, toys("replay")).start()
        assert RunFile.read(config.home) is not None


async def test_unusable_keys_are_said_before_anything_starts(config: Config, start: Start) -> None:
    KeyRing.load_or_create(config.keys_dir)
    (config.keys_dir / "session.key").chmod(0o644)
    with pytest.raises(KeyFileError, match="chmod 600"):
        async with start(toys("replay")):
            pass
    assert notes(config.home) == []


async def test_a_broker_elsewhere_is_used_and_none_is_started(config: Config, start: Start, processes: bool) -> None:
    async with start(toys("replay")) as first:
        elsewhere = replace(config, home=config.home.with_name("other"), nats_url=first.config.nats_url)
        KeyRing.load_or_create(elsewhere.keys_dir)
        for path in config.keys_dir.iterdir():
            (elsewhere.keys_dir / path.name).unlink(missing_ok=True)
            copy_private(path, elsewhere.keys_dir)
        async with Stack(elsewhere, toys("replay"), processes=processes):
            found = RunFile.read(elsewhere.home)
            assert found is not None
            assert "nats" not in found.addresses


def copy_private(path: Path, folder: Path) -> None:
    target = folder / path.name
    target.touch(mode=0o600)
    target.write_bytes(path.read_bytes())


async def test_fixed_ports_are_kept(config: Config, start: Start) -> None:
    async with start(toys("replay")) as stack:
        port = stack.config.address("replay").port
    fixed = config.with_address("replay", Address("127.0.0.1", port))
    async with Stack(fixed, toys("replay")) as again:
        assert again.config.address("replay").port == port


RUN = """
import sys
from grimoire.runtime.config import Config
from grimoire.runtime.metrics import METRICS
from grimoire.runtime.lifecycle import Service
from grimoire.runtime.stack import run_stack
services = [Service(n, "tests.support.toy_services:well", n) for n in ("replay", "gateway")]
config = Config.from_env()
code = run_stack(config, services, processes=sys.argv[1] == "True", ready=lambda f: print("ready", f.pid, flush=True))
sys.exit(code)
"""


def running_stack(config: Config, processes: bool) -> subprocess.Popen[str]:
    environment = {**os.environ, **config.to_env(), "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(processes)], env=environment, stdout=subprocess.PIPE, text=True
    )


def everyone_below(pid: int) -> list[psutil.Process]:
    below = psutil.Process(pid).children(recursive=True)
    assert any(process.name() == "nats-server" for process in below)
    return below


def test_kill_9_of_a_stack_leaves_nothing_behind(config: Config, processes: bool) -> None:
    with running_stack(config, processes) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline().startswith("ready")
        below = everyone_below(parent.pid)
        assert len(below) == (3 if processes else 1)
        parent.kill()
    assert all(ended(process) for process in below)
    assert RunFile.read(config.home) is None


def test_a_signal_stops_a_stack_in_order(config: Config, processes: bool) -> None:
    with running_stack(config, processes) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline().startswith("ready")
        below = everyone_below(parent.pid)
        parent.send_signal(signal.SIGINT)
        assert parent.wait(30) == 0
    assert all(ended(process) for process in below)
    assert notes(config.home)[-2:] == ["stop gateway", "stop replay"]
    assert not RunFile.path(config.home).exists()


EMBEDDED = """
import asyncio, signal, sys
from grimoire.runtime.config import Config
from grimoire.runtime.lifecycle import Service
from grimoire.runtime.stack import Stack

# What a shell starts in the background ignores SIGINT, and so do all below it.
signal.signal(signal.SIGINT, signal.default_int_handler)

async def main():
    kinds = {"replay": "well", "bots": "pondering"}
    services = [Service(name, f"tests.support.toy_services:{kind}", name) for name, kind in kinds.items()]
    async with Stack(Config.from_env(), services, processes=sys.argv[1] == "True"):
        print("ready", flush=True)
        await asyncio.Event().wait()

if __name__ == "__main__":  # processes that think import this program once more
    asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_program_that_embeds_a_stack_leaves_nothing_behind(
    config: Config, tmp_path: Path, processes: bool, number: signal.Signals
) -> None:
    program = tmp_path / "embedded.py"
    program.write_text(EMBEDDED)
    environment = {**os.environ, **config.to_env(), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(program), str(processes)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert any(line.startswith("ready") for line in iter(parent.stdout.readline, ""))
        below = everyone_below(parent.pid)
        thinks = [int(line.split()[1]) for line in notes(config.home) if line.startswith("thinks")]
        assert thinks[0] in [process.pid for process in below]
        parent.send_signal(number)
        parent.wait(60)
    assert all(ended(process) for process in below)
