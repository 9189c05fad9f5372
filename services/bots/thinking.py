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
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
import structlog

from bots.settings import BotSettings
from grimoire.plugins import load_game
from grimoire.v1 import prompt_pb2

__all__ = ["Move", "Thinkers", "ThinkingError", "think"]

_log: Final = structlog.stdlib.get_logger(__name__)

_SEED_BYTES: Final = 16
_START_S: Final = 60.0
_TRIES: Final = 2


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


class _ReplacedError(Exception):
    """The pool was given up while one waited for it."""


_Asked: TypeAlias = tuple[str, bytes, bytes, str, bytes, int]


class Thinkers:
    """A bounded pool of processes that think.

    Args:
        settings: how many, and for how long.
    """

    def __init__(self, settings: BotSettings) -> None:
        self._settings = settings
        self._pool: ProcessPoolExecutor | None = None
        self._loaded: dict[str, Future[None]] = {}
        # No more in the pool than can think at once: time in a queue is not time spent thinking.
        self._places = asyncio.Semaphore(settings.worker_count)

    async def move(self, game: str, view: bytes, prompt: prompt_pb2.Prompt, level: str) -> Move:
        """What to answer.

        Raises:
            ThinkingError: if the bot fails.
        """
        seed = secrets.token_bytes(_SEED_BYTES)
        asked = (game, view, prompt.SerializeToString(), level, seed, self._settings.budget_ms)
        async with self._places:
            for _ in range(_TRIES):
                pool = self._started()
                try:
                    move = await self._ask(pool, game, asked)
                except TimeoutError:
                    self._replace(pool)
                    raise ThinkingError("it does not come to an end") from None
                except (BrokenProcessPool, _ReplacedError):
                    # Perhaps it was another's fault: a pool dies as one.
                    self._replace(pool)
                    continue
                if isinstance(move, Failure):
                    raise ThinkingError(f"it raised {move.error} in {move.where}")
                return move
        raise ThinkingError("its process died")

    async def _ask(self, pool: ProcessPoolExecutor, game: str, asked: _Asked) -> Move | Failure:
        try:
            async with asyncio.timeout(_START_S):
                # Shielded: others wait for the same loading.
                await asyncio.shield(asyncio.wrap_future(self.load(game)))
            async with asyncio.timeout(self._settings.budget_ms / 1000 + self._settings.overtime_s):
                return await asyncio.wrap_future(pool.submit(think, *asked))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Not we were cancelled but what we waited for: the pool has been replaced.
            raise _ReplacedError from None
        except RuntimeError as error:
            if isinstance(error, BrokenProcessPool) or self._pool is pool:
                raise
            raise _ReplacedError from None

    def load(self, game: str) -> Future[None]:
        """Lets the processes start and load a game, before anybody waits for them."""
        pool = self._started()
        loaded = self._loaded.get(game)
        if loaded is None:
            loaded = self._loaded[game] = pool.submit(load_game_there, game)
        return loaded

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
            self._loaded.clear()
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
