"""Where bots think: in processes of their own, so that one that searches keeps nobody else waiting."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import multiprocessing.connection
import os
import random
import secrets
import signal
import threading
import traceback
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Final

import msgspec
import structlog

from bots.settings import BotSettings
from grimoire.plugins import load_game
from grimoire.v1 import prompt_pb2

__all__ = ["Move", "Thinkers", "ThinkingError", "think"]

_log: Final = structlog.stdlib.get_logger(__name__)

_SEED_BYTES: Final = 16
_SPREAD: Final = 4


class Move(msgspec.Struct, frozen=True):
    """A command to send.

    Attributes:
        type: its code.
        payload: the command message, serialised.
    """

    type: str
    payload: bytes


class Failure(msgspec.Struct, frozen=True):
    """What a bot broke with, and where; not what it said, for it may have said what it saw."""

    error: str
    where: str


class ThinkingError(Exception):
    """A bot raised, hung, or its process died; the message says which and holds nothing it saw."""


def think(game: str, view: bytes, prompt: bytes, level: str, seed: bytes, budget_ms: int) -> Move | Failure:
    """What a game's own player would answer; a failure is a value, so that it crosses processes without its words.

    Args:
        game: code name; installed here.
        view: the seat's view message, serialised.
        prompt: the seat's prompt with everything legal, serialised.
        level: one of the bot's levels; an unknown one plays as the strongest.
        seed: of the bot's own randomness.
        budget_ms: how long it may think.
    """
    try:
        return _suggested(game, view, prompt, level, seed, budget_ms)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return Failure(type(error).__name__, f"{Path(last.filename).name}:{last.lineno}")


def _suggested(game: str, view: bytes, prompt: bytes, level: str, seed: bytes, budget_ms: int) -> Move:
    plugin = load_game(game)
    levels = plugin.bot.levels
    code, message = plugin.bot.suggest(
        plugin.game.view_type.FromString(view),
        prompt_pb2.Prompt.FromString(prompt),
        level if level in levels else levels[-1],
        # A player's whims; the match's draws are the server's.
        random.Random(seed),  # noqa: S311
        budget_ms,
    )
    return Move(code, message.SerializeToString())


class Thinkers:
    """A bounded pool of processes that think.

    Args:
        settings: how many, and for how long.
    """

    def __init__(self, settings: BotSettings) -> None:
        self._settings = settings
        self._pool: ProcessPoolExecutor | None = None
        self._warm: set[str] = set()
        # A few more than there are workers, so that none is idle; the rest wait here, where they can be cancelled.
        self._places = asyncio.Semaphore(_SPREAD * settings.worker_count)

    async def move(self, game: str, view: bytes, prompt: prompt_pb2.Prompt, level: str) -> Move:
        """What to answer.

        Raises:
            ThinkingError: if the bot fails.
        """
        budget_ms = self._settings.budget_ms
        asked = (game, view, prompt.SerializeToString(), level, secrets.token_bytes(_SEED_BYTES), budget_ms)
        # Those in front of it in the pool think first.
        patience_s = (_SPREAD + 1) * budget_ms / 1000 + self._settings.overtime_s
        async with self._places:
            pool = self._started()
            try:
                future = asyncio.get_running_loop().run_in_executor(pool, think, *asked)
                async with asyncio.timeout(patience_s):
                    move = await future
            except TimeoutError:
                self._replace(pool)
                raise ThinkingError("it does not come to an end") from None
            except BrokenProcessPool:
                self._replace(pool)
                raise ThinkingError("its process died") from None
        if isinstance(move, Failure):
            raise ThinkingError(f"it raised {move.error} in {move.where}")
        return move

    def warm(self, game: str) -> None:
        """Lets the processes start and load a game before anybody waits for them."""
        pool = self._started()
        if game in self._warm:
            return
        self._warm.add(game)
        for _ in range(self._settings.worker_count):
            pool.submit(load_game_there, game)

    def close(self) -> None:
        """Ends the processes; nobody is thinking any more."""
        if self._pool is not None:
            self._replace(self._pool)

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                max_workers=self._settings.worker_count,
                # A fork of a process with gRPC's threads in it would not live long.
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_begin_worker,
            )
        return self._pool

    def _replace(self, pool: ProcessPoolExecutor) -> None:
        if self._pool is pool:
            self._pool = None
            self._warm.clear()
        # The executor has no way to end a process that is busy.
        processes = list(getattr(pool, "_processes", None) or {})
        pool.shutdown(wait=False, cancel_futures=True)
        for pid in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)


def load_game_there(game: str) -> None:
    """Loads a game in the process that runs this."""
    load_game(game)


def _begin_worker() -> None:
    # Ctrl-C in a terminal reaches the whole group; the service ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), name="tether", daemon=True).start()


def _end_with(sentinel: int) -> None:
    """A worker whose parent was killed would wait for work for ever."""
    multiprocessing.connection.wait([sentinel])
    os._exit(0)
