"""`grimoire play` and `grimoire watch`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec

from grimoire.cli.say import fail, file_named
from grimoire.cli.screens.wish import SEATS, Wish
from grimoire.cli.stacks import signed_in
from grimoire.client import Client
from grimoire.plugins import load_game
from grimoire.runtime.config import Config, LogLevel
from grimoire.runtime.observe import configure_logging

__all__ = ["SEATS", "Wish", "play", "watch"]


async def play(wish: Wish) -> int:
    """Plays in this terminal.

    Args:
        wish: how to come to a match.

    Returns:
        The exit status.
    """
    load_game(wish.game)
    plain = wish.plain or not _is_terminal()
    with _logging_to_file() as log_file:
        async with signed_in(wish.server, name=wish.name, language=wish.language) as client:
            me = (await client.whoami()).name
            wish = await _with_source(client, wish)
            if plain:
                from grimoire.cli.screens.plain import PlainClient

                return await PlainClient(client, wish, me=me).run()
            from grimoire.cli.screens.app import GrimoireApp

            app = GrimoireApp(client, wish, me=me, log_file=log_file)
            await app.run_async()
            return app.return_code or 0


async def _with_source(client: Client, wish: Wish) -> Wish:
    """The wish with a match in the place of a file to play on from; the file is audited on the way."""
    file = file_named(wish.source) if wish.source else None
    if file is None:
        return wish
    try:
        data = await asyncio.to_thread(file.read_bytes)
    except OSError as error:
        fail(f"{file} cannot be read: {error.strerror}", code=2)
    brought = await client.import_file(data)
    if not brought.match_id:
        fail(f"{file} does not hold; see: grimoire audit {file}", code=1)
    return msgspec.structs.replace(wish, source=brought.match_id)


async def watch(match: str, *, plain: bool, language: str, server: str) -> int:
    """Watches a running match with the public's eyes.

    Args:
        match: its id; empty: those that can be watched are listed, to choose from where there is a screen.
        plain: lines of text instead of a full screen.
        language: of everything that is said.
        server: as for `running_edge`.

    Returns:
        The exit status.
    """
    return await play(Wish(match=match, plain=plain, language=language, server=server, watch=True))


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


@contextlib.contextmanager
def _logging_to_file() -> Iterator[Path]:
    """A log line must never fall on the screen, nor between the lines of the plain client."""
    config = Config.from_env()
    path = config.log_dir / "client.log"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        stream = path.open("a", encoding="utf-8")
    except OSError as error:
        fail(f"{path} cannot be written: {error.strerror}", code=2)
    with stream:
        path.chmod(0o600)
        level = LogLevel.WARNING if config.log_level is LogLevel.INFO else config.log_level
        configure_logging(replace(config, log_level=level), stream)
        try:
            yield path
        finally:
            configure_logging(config)
