"""What the edge does unasked: what is old goes, and whom one forgets others forget too."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Final

import grpc
import structlog

from gateway.accounts import Accounts
from gateway.chat import Chat
from gateway.database import DatabaseError
from gateway.people import People
from gateway.presence import Presence
from gateway.refusals import Refused
from gateway.sessions import IDLE_MS
from grimoire.v1 import matchmaking_pb2, matchmaking_pb2_grpc

__all__ = ["Housekeeping"]

_log: Final = structlog.stdlib.get_logger(__name__)

_ROUND_S: Final = 5.0
_SWEEP_S: Final = 3600.0
_FORGET_S: Final = 60.0
_CALL_S: Final = 10.0
_DAY_MS: Final = 24 * 3600 * 1000


class Housekeeping:
    """Goes round every few seconds.

    Args:
        accounts, people, chat, presence: what is kept in order.
        matchmaking: keeps names too.
        now_ms: the wall clock, UTC ms.
    """

    def __init__(
        self,
        accounts: Accounts,
        people: People,
        chat: Chat,
        presence: Presence,
        matchmaking: matchmaking_pb2_grpc.MatchmakingServiceAsyncStub,
        now_ms: Callable[[], int],
    ) -> None:
        self._accounts = accounts
        self._people = people
        self._chat = chat
        self._presence = presence
        self._matchmaking = matchmaking
        self._now_ms = now_ms
        self._erased = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        accounts.on_erased.append(self._erased.set)

    def start(self) -> None:
        """Begins."""
        self._task = asyncio.create_task(self._run(), name="housekeeping")

    async def stop(self) -> None:
        """Breaks off; the next start goes on."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def sweep(self) -> None:
        """What is old goes. Raises `DatabaseError`."""
        now_ms = self._now_ms()
        ended = await self._people.end_idle(now_ms, IDLE_MS)
        await self._people.forgive_all(now_ms - _DAY_MS)
        await self._chat.sweep()
        lost = await self._people.lost_guests(now_ms - IDLE_MS)
        for account_id in lost:
            await self._accounts.erase(account_id)
        _log.info("edge_swept", sessions=ended, guests=len(lost))

    async def forget(self) -> None:
        """Tells matchmaking whom to forget; who is not forgotten now is next time. Raises `DatabaseError`."""
        for account_id in await self._people.to_forget():
            request = matchmaking_pb2.ForgetAccountRequest(account_id=account_id)
            await self._matchmaking.ForgetAccount(request, timeout=_CALL_S)
            await self._people.forgotten(account_id)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        swept_s = forgot_s = float("-inf")
        while True:
            self._presence.repeat()
            if self._erased.is_set() or loop.time() - forgot_s > _FORGET_S:
                self._erased.clear()
                forgot_s = loop.time()
                await self._try(self.forget)
            if loop.time() - swept_s > _SWEEP_S:
                swept_s = loop.time()
                await self._try(self.sweep)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_ROUND_S):
                    await self._erased.wait()

    async def _try(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except (DatabaseError, Refused, grpc.aio.AioRpcError) as error:
            _log.warning("housekeeping_put_off", what=work.__name__, why=type(error).__name__)
        except Exception:
            _log.exception("housekeeping_failed", what=work.__name__)
