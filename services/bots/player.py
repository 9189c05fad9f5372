"""One seat played by a bot, from the handshake to the end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Final

import msgspec
import structlog

from bots.fallback import first_moves
from bots.settings import BotSettings
from bots.thinking import Move, Thinkers, ThinkingError
from grimoire.client import Alarm, Client, MatchSession, Rejected, UnavailableError
from grimoire.engine import Volunteer
from grimoire.match.seats import occupants_of
from grimoire.plugins import load_game
from grimoire.v1 import match_pb2, prompt_pb2

__all__ = ["BotPlayer", "SeatKey"]

_log: Final = structlog.stdlib.get_logger(__name__)

_FIRST_PAUSE_S: Final = 0.1
_LAST_PAUSE_S: Final = 5.0
_PASSED: Final = ("stale_prompt", "not_your_prompt", "match_over")
_NOT_OURS: Final = ("unknown_match", "not_a_seat")


class SeatKey(msgspec.Struct, frozen=True):
    """A seat to play.

    Attributes:
        match_id: of the match.
        game: code name.
        seat: from 0.
        account_id: of the bot.
        level: how strong.
    """

    match_id: str
    game: str
    seat: int
    account_id: str
    level: str


class BotPlayer:
    """Plays one seat. It knows what the seat's own feed says, and nothing else.

    Args:
        seat: which.
        client: signed in as the bot's account.
        thinkers: where it thinks.
        settings: how it behaves.
    """

    def __init__(self, seat: SeatKey, client: Client, thinkers: Thinkers, settings: BotSettings) -> None:
        self._seat = seat
        self._client = client
        self._thinkers = thinkers
        self._settings = settings
        plugin = load_game(seat.game)
        self._schema = plugin.game.schema
        self._bot = plugin.bot
        self._pace_s = 0.0
        # Offers that were answered, or came to nothing: each gets one try.
        self._let_be: set[int] = set()

    async def play(self) -> None:
        """Until the match is over; a lost server is waited for."""
        pause = _FIRST_PAUSE_S
        while True:
            try:
                async with await self._client.open_match(self._seat.match_id, self._seat.seat) as session:
                    pause = _FIRST_PAUSE_S
                    self._pace_s = self._pace(session)
                    await self._follow(session)
                    if session.finished:
                        session.forget_keepsake()
                        return
            except UnavailableError:
                _log.info("bot_waits", match_id=self._seat.match_id, seat=self._seat.seat)
            except Rejected as rejected:
                if rejected.code in _NOT_OURS:
                    # It may have been given to somebody else, or back to its person.
                    _log.info("bot_has_no_seat", match_id=self._seat.match_id, code=rejected.code)
                    return
                _log.info("bot_refused", match_id=self._seat.match_id, code=rejected.code)
            except Alarm as alarm:
                # A witness that saw a lie does not play on; the clock ends the match.
                _log.error("bot_alarm", match_id=alarm.match_id, version=alarm.version, reason=alarm.reason)
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LAST_PAUSE_S)

    async def _follow(self, session: MatchSession) -> None:
        async with contextlib.aclosing(session.updates()) as updates:
            async for _ in updates:
                while not session.finished and (prompt := self._due(session)) is not None:
                    await self._answer(session, prompt)

    def _due(self, session: MatchSession) -> prompt_pb2.Prompt | None:
        """The own prompt the match waits for, or an open offer that the game's bot wants to answer."""
        prompts = session.own_prompts
        required = next((p for p in prompts if p.required), None)
        bot = self._bot
        if required is not None or not prompts or not isinstance(bot, Volunteer):
            return required
        offers = [p for p in prompts if p.prompt_id not in self._let_be]
        view = session.view_message if offers else None
        if view is None:
            return None
        try:
            return next((p for p in offers if bot.volunteers(view, p, self._seat.level)), None)
        except Exception as error:
            # Not what it said: it may have said what it saw.
            _log.warning("bot_failed", **self._context(offers[0]), reason=f"it raised {type(error).__name__}")
            self._let_be.update(p.prompt_id for p in offers)
            return None

    async def _answer(self, session: MatchSession, prompt: prompt_pb2.Prompt) -> None:
        since = time.monotonic()
        try:
            move: Move | None = await self._thinkers.move(self._seat.game, session.view, prompt, self._seat.level)
        except ThinkingError as failure:
            _log.warning("bot_failed", **self._context(prompt), reason=str(failure))
            move = None
        await asyncio.sleep(max(0.0, self._pace_s - (time.monotonic() - since)))
        if not prompt.required:
            self._let_be.add(prompt.prompt_id)
        if move is not None and await self._send(session, prompt, move):
            return
        if not prompt.required:
            return
        for other in first_moves(prompt, self._schema):
            if await self._send(session, prompt, other):
                return
        _log.error("bot_has_no_answer", **self._context(prompt))
        # Its prompt is left to the clock; what others do goes on.
        await session.reached(session.version + 1)

    async def _send(self, session: MatchSession, prompt: prompt_pb2.Prompt, move: Move) -> bool:
        """Whether the prompt is dealt with: answered, or no longer open.

        Raises:
            Rejected: the seat is somebody else's by now.
        """
        try:
            await session.submit(move.type, move.payload, prompt.prompt_id)
        except Rejected as rejected:
            if rejected.code in _PASSED:
                return True
            if rejected.code in _NOT_OURS:
                raise
            _log.warning("bot_rejected", **self._context(prompt), type=move.type, code=rejected.code)
            return False
        return True

    def _pace(self, session: MatchSession) -> float:
        people = any(s.kind == match_pb2.OCCUPANT_KIND_PERSON for s in occupants_of(session.head).values())
        return self._settings.pace_ms / 1000 if people else 0.0

    def _context(self, prompt: prompt_pb2.Prompt) -> dict[str, str | int]:
        seat = self._seat
        return {"match_id": seat.match_id, "seat": seat.seat, "level": seat.level, "prompt_id": prompt.prompt_id}
