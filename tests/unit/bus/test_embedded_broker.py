"""The embedded broker's process: how it starts, is watched, and ends."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from grimoire.bus import GATEWAY, Bus, EmbeddedServer, OldServerError, ServerStartError
from grimoire.bus.embedded import server_config
from grimoire.bus.version import check_server_version
from grimoire.fairness.secret import Secret
from tests.support.broker import Broker, ended, fresh_passwords, until

OWNER = """
import asyncio, sys
from pathlib import Path
from grimoire.bus import EmbeddedServer
from grimoire.fairness.secret import Secret

async def main():
    home = Path(sys.argv[1])
    server = await EmbeddedServer.start({"gateway": Secret(bytes(32))}, run_dir=home / "run", log_dir=home / "logs")
    print("pid", server.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_it_listens_on_the_loopback_alone(broker: Broker) -> None:
    process = psutil.Process(broker.server.pid)
    listening = [c.laddr for c in process.net_connections() if c.status == psutil.CONN_LISTEN]
    assert [address.ip for address in listening] == ["127.0.0.1"]
    assert f"127.0.0.1:{listening[0].port}" == broker.server.address
    assert await broker.server.healthy()


async def test_no_password_stays_on_disk_or_in_the_process_list(broker: Broker, tmp_path: Path) -> None:
    await broker.connect(GATEWAY)
    process = psutil.Process(broker.server.pid)
    shown = " ".join([*process.cmdline(), *process.environ().values()])
    shown += files_below(tmp_path)
    for password in broker.passwords.values():
        assert password.open().hex() not in shown


async def test_it_is_started_again_on_the_same_port_when_it_dies(broker: Broker) -> None:
    first, address = broker.server.pid, broker.server.address
    assert first is not None
    for _ in range(2):
        pid = broker.server.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await until(lambda pid=pid: broker.server.pid not in (None, pid))
        async with asyncio.timeout(20):
            while not await broker.server.healthy():
                await asyncio.sleep(0.01)
    assert broker.server.address == address
    bus = await broker.connect(GATEWAY)
    assert bus.connected


async def test_a_stopped_one_stays_stopped(broker: Broker) -> None:
    pid = broker.server.pid
    assert pid is not None
    await broker.server.stop()
    await broker.server.stop()
    assert not psutil.pid_exists(pid)
    assert broker.server.pid is None
    assert not await broker.server.healthy()


async def test_a_taken_port_is_said(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ServerStartError, match="address already in use"):
            await EmbeddedServer.start(
                fresh_passwords(), run_dir=tmp_path / "r", log_dir=tmp_path / "l", port=taken.getsockname()[1]
            )
    assert list((tmp_path / "r").iterdir()) == []


@pytest.mark.parametrize("binary", ["false", "no-such-program-anywhere"])
async def test_a_program_that_is_no_broker_is_said(tmp_path: Path, binary: str) -> None:
    program = shutil.which(binary) or str(tmp_path / binary)
    with pytest.raises(ServerStartError):
        await EmbeddedServer.start(
            fresh_passwords(), run_dir=tmp_path / "run", log_dir=tmp_path / "logs", binary=program
        )


@pytest.mark.parametrize("version", ["2.9.99", "1.4.1", "0.0.0-unknown", "", "next"])
def test_old_or_unreadable_versions_are_refused(version: str) -> None:
    with pytest.raises(OldServerError):
        check_server_version(version)


def test_a_role_without_rights_to_send_is_given_none() -> None:
    text = server_config({"bots": Secret(bytes(32))}, host="127.0.0.1", port=1, log_file=None)
    assert '"deny"' in text
    assert '"publish": {}' not in text


def test_it_dies_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        lines = iter(parent.stdout.readline, "")
        server = psutil.Process(next(int(line.split()[1]) for line in lines if line.startswith("pid ")))
        assert server.name() == "nats-server"
        parent.kill()
    assert ended(server)


async def test_two_brokers_do_not_get_in_each_others_way(broker: Broker, tmp_path: Path) -> None:
    other = await EmbeddedServer.start(broker.passwords, run_dir=tmp_path / "run", log_dir=tmp_path / "other")
    try:
        assert other.address != broker.server.address
        buses = [await Bus.connect(broker.settings(GATEWAY)), await broker.connect(GATEWAY)]
        await buses[0].close()
    finally:
        await other.stop()


def files_below(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.rglob("*") if path.is_file())
