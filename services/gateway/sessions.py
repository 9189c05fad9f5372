"""Sessions: from the token that a call shows to the caller it speaks for, and their end."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Final, TypeVar

import msgspec
import structlog

from gateway.callers import Caller, Scope, unauthenticated
from gateway.database import DatabaseError
from gateway.news import News
from gateway.people import People, Session
from gateway.refusals import unavailable
from grimoire.runtime.identity import mint, verify
from grimoire.runtime.keys import KeyRing

__all__ = ["SessionEnded", "Sessions"]

_log: Final = structlog.stdlib.get_logger(__name__)
_R = TypeVar("_R")

LIFETIME_MS: Final = 365 * 24 * 3600 * 1000
"""After this long one signs in again, however often a session is used."""
IDLE_MS: Final = 90 * 24 * 3600 * 1000
"""A session that is not used for so long ends."""

_PER_ACCOUNT: Final = 20
_LABEL: Final = 64
_FRESH_S: Final = 15.0
# While the database is away, who was known is known.
_STALE_S: Final = 600.0
_KEPT: Final = 20_000
_TOUCH_MS: Final = 10 * 60 * 1000


class SessionEnded(msgspec.Struct, frozen=True):
    """News: these sessions are over, or what is known of this account has changed."""

    account_id: str
    session_ids: tuple[str, ...] = ()


class _Known(msgspec.Struct):
    caller: Caller | None
    looked_s: float
    used_ms: int


class Sessions:
    """All sessions of this installation, as one instance of the edge knows them.

    Args:
        keys: tokens are signed with the session key.
        people: where sessions are kept.
        news: other instances hear of ends.
        now_ms: the wall clock, UTC ms.
        now: seconds of a clock that never goes back.
    """

    def __init__(
        self,
        keys: KeyRing,
        people: People,
        news: News,
        now_ms: Callable[[], int],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._keys = keys
        self._people = people
        self._news = news
        self._now_ms = now_ms
        self._now = now
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._over: OrderedDict[str, None] = OrderedDict()
        self._touching: set[asyncio.Task[None]] = set()
        news.hear("session", SessionEnded, self._heed)

    async def caller(self, token: str) -> Caller | None:
        """Whom a token speaks for now; None if it is forged or its session is over.

        Raises:
            Refused: unavailable.
        """
        identity = verify(self._keys, token)
        if identity is None:
            return None
        if not identity.session_id:
            # The platform's own bots need no account; a person's token without a session is none of ours.
            return Caller(identity.account_id, identity.name, True) if identity.bot else None
        known = await self._look(identity.session_id)
        if known is None or known.caller is None or known.caller.account_id != identity.account_id:
            return None
        self._touch(known)
        return known.caller

    async def open(self, account_id: str, scope: Scope, label: str) -> tuple[str, Session]:
        """A new session of an account.

        Returns:
            Its token, which nobody can make again, and what is kept of it.
        """
        now_ms = self._now_ms()
        session = Session(
            session_id=secrets.token_urlsafe(16),
            scope=scope,
            label=" ".join("".join(c if c.isprintable() else " " for c in label).split())[:_LABEL],
            created_ms=now_ms,
            used_ms=now_ms,
            expires_ms=now_ms + LIFETIME_MS,
        )
        await self.end(account_id, await self._people.open_session(account_id, session, _PER_ACCOUNT))
        # No name in it: names change, and can be erased.
        token = mint(self._keys, account_id, "", False, lifetime_s=LIFETIME_MS // 1000, session_id=session.session_id)
        return token, session

    async def end(self, account_id: str, session_ids: Iterable[str]) -> None:
        """These sessions have been deleted: they open nothing any more, here or elsewhere."""
        ended = SessionEnded(account_id, tuple(session_ids))
        if ended.session_ids:
            self._heed(ended)
            await self._news.tell("session", ended)

    async def changed(self, account_id: str) -> None:
        """What is known of this account is asked for again, here and elsewhere."""
        changed = SessionEnded(account_id)
        self._heed(changed)
        await self._news.tell("session", changed)

    async def while_open(self, caller: Caller | None, responses: AsyncGenerator[_R, None]) -> AsyncGenerator[_R, None]:
        """A stream's responses until the caller's session ends; streams bring a heartbeat every few seconds.

        Raises:
            Refused: unauthenticated, once it has ended.
        """
        async with contextlib.aclosing(responses):
            async for response in responses:
                if caller is not None and caller.session_id in self._over:
                    raise unauthenticated("This session is over; sign in again.")
                yield response

    async def close(self) -> None:
        """Waits for what is being written."""
        await asyncio.gather(*self._touching, return_exceptions=True)

    # ---- what is known ---------------------------------------------------------------------------------------------

    async def _look(self, session_id: str) -> _Known | None:
        known = self._known.get(session_id)
        now = self._now()
        if known is not None and now - known.looked_s < _FRESH_S:
            return known
        try:
            found = await self._people.caller(session_id, self._now_ms(), IDLE_MS)
        except DatabaseError as error:
            if known is not None and now - known.looked_s < _STALE_S:
                return known
            _log.warning("session_not_looked_up", why=str(error))
            raise unavailable("Sessions cannot be looked up now; try again.") from None
        if session_id in self._over:
            # It ended while we were looking.
            return None
        caller, used_ms = found if found is not None else (None, 0)
        known = self._known[session_id] = _Known(caller, now, used_ms)
        self._known.move_to_end(session_id)
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return known

    def _touch(self, known: _Known) -> None:
        caller, now_ms = known.caller, self._now_ms()
        if caller is None or now_ms - known.used_ms < _TOUCH_MS:
            return
        known.used_ms = now_ms
        task = asyncio.create_task(self._write_touch(caller, now_ms), name="session used")
        self._touching.add(task)
        task.add_done_callback(self._touching.discard)

    async def _write_touch(self, caller: Caller, now_ms: int) -> None:
        try:
            await self._people.touch(caller.session_id, caller.account_id, now_ms)
        except DatabaseError as error:
            _log.warning("session_use_not_noted", why=str(error))

    def _heed(self, ended: SessionEnded) -> None:
        for session_id in ended.session_ids:
            self._known.pop(session_id, None)
            self._over[session_id] = None
            if len(self._over) > _KEPT:
                self._over.popitem(last=False)
        if not ended.session_ids:
            theirs = [
                session_id
                for session_id, known in self._known.items()
                if known.caller is not None and known.caller.account_id == ended.account_id
            ]
            for session_id in theirs:
                del self._known[session_id]
