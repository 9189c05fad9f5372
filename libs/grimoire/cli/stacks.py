"""The server a command talks to: named, running on this machine, or made for the occasion."""

from __future__ import annotations

import contextlib
import os
import secrets
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


class _Guests(msgspec.Struct):
    """Who this user is on one server.

    Attributes:
        last: name that was used last.
        tokens: session token by name.
    """

    last: str = ""
    tokens: dict[str, str] = {}


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
        name: of the guest, of whom this user may have several; empty: whoever it was last.
        language: of texts.
    """
    address = running_edge(server)
    path = Config.from_env().home / "client" / f"{address.replace('/', '_').replace(':', '_')}.json"
    guests = _read(path)
    known, keepsakes = guests.tokens.get(name or guests.last), Config.from_env().home / "keepsakes"
    async with await Client.connect(address, known, language=language, keepsakes=keepsakes) as client:
        if known is None or not await _still_valid(client):
            account = await client.guest(name)
            name = name or account.name
        _note(path, name or guests.last, client.token or "")
        yield client


async def _still_valid(client: Client) -> bool:
    try:
        await client.whoami()
    except NotSignedInError:
        return False
    return True


def _read(path: Path) -> _Guests:
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(path.read_bytes(), type=_Guests)
    return _Guests()


def _note(path: Path, name: str, token: str) -> None:
    """Keeps a guest, beside those that another terminal may have added meanwhile."""
    guests = _read(path)
    if guests.last == name and guests.tokens.get(name) == token:
        return
    guests.last, guests.tokens[name] = name, token
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.encode(guests))
    draft.replace(path)


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
