"""The server a command talks to: named, running on this machine, or made for the occasion."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import msgspec

from grimoire.cli.say import ERRORS, fail
from grimoire.client import Client, NotSignedInError
from grimoire.runtime.config import Config, LogLevel, RunFile
from grimoire.runtime.observe import set_up_process
from grimoire.runtime.stack import Stack

__all__ = ["running_edge", "signed_in", "throw_away_stack"]


class _Session(msgspec.Struct):
    """Who this user is on one server."""

    token: str
    name: str


def running_edge(server: str) -> str:
    """Address of the edge to talk to.

    Args:
        server: as given on the command line; empty: the stack that runs on this machine.
    """
    if server:
        return server
    running = RunFile.read(Config.from_env().home)
    if running is None:
        fail("No Grimoire runs on this machine.", hint="Start it in another terminal: `grimoire up` (or `make run`).")
    return running.addresses["gateway"]


@contextlib.asynccontextmanager
async def signed_in(server: str, *, name: str = "", language: str = "en") -> AsyncIterator[Client]:
    """A client that is signed in as this user's guest on that server, the same one every time.

    Args:
        server: as for `running_edge`.
        name: a new name makes a new guest.
        language: of texts.
    """
    address = running_edge(server)
    path = Config.from_env().home / "client" / f"{address.replace('/', '_').replace(':', '_')}.json"
    known = _read(path)
    if known is not None and name and name != known.name:
        known = None
    token, keepsakes = known.token if known else None, Config.from_env().home / "keepsakes"
    async with await Client.connect(address, token, language=language, keepsakes=keepsakes) as client:
        if known is None or not await _still_valid(client):
            account = await client.guest(name)
            _write(path, _Session(client.token or "", account.name))
        yield client


async def _still_valid(client: Client) -> bool:
    try:
        await client.whoami()
    except NotSignedInError:
        return False
    return True


def _read(path: Path) -> _Session | None:
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(path.read_bytes(), type=_Session)
    return None


def _write(path: Path, session: _Session) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(msgspec.json.encode(session))


@contextlib.asynccontextmanager
async def throw_away_stack(*, processes: bool = False) -> AsyncIterator[str]:
    """The edge of the stack that runs here; if none does, of one that is gone afterwards with all its data."""
    running = RunFile.read(Config.from_env().home)
    if running is not None:
        ERRORS.print("Using the stack that runs on this machine.")
        yield running.addresses["gateway"]
        return
    with tempfile.TemporaryDirectory(prefix="grimoire-") as folder:
        config = replace(Config.for_test(Path(folder)), log_level=LogLevel.WARNING)
        set_up_process(config)
        # Nobody looks on, so bots need not wait until a move can be followed.
        os.environ.setdefault("GRIMOIRE_BOTS_PACE_MS", "0")
        async with Stack(config, processes=processes) as stack:
            yield str(stack.config.gateway)
