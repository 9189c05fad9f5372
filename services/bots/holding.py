"""The seats that this instance holds, so that no other plays them: asked for at matchmaking, again and again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from typing import Final

import grpc
import structlog

from bots.player import SeatKey
from grimoire.plugins import game_names
from grimoire.v1 import matchmaking_pb2, matchmaking_pb2_grpc

__all__ = ["Holding"]

_log: Final = structlog.stdlib.get_logger(__name__)

_EVERY_S: Final = 2.0
_ASK_S: Final = 2.0
_RELEASE_S: Final = 1.0


class Holding:
    """Asks matchmaking for seats, about three times within the time for which it gives them.

    What is held is given up when matchmaking says so, and when it was silent for longer than it gave the seats: others
    may have them by then. Nothing is given up while matchmaking is away: who does not run gives no seat to anybody, and
    once it is back it leaves time to those who hold seats.

    Args:
        stub: of matchmaking.
        instance: names this one; another each time it starts.
        most: how many seats may be held now.
        play: told after each answer what is held; None: nothing is sure to be held until the next answer.
    """

    def __init__(
        self,
        stub: matchmaking_pb2_grpc.MatchmakingServiceAsyncStub,
        instance: str,
        most: Callable[[], int],
        play: Callable[[Iterable[SeatKey] | None], None],
    ) -> None:
        self._stub = stub
        self._instance = instance
        self._most = most
        self._play = play
        self._every_s = _EVERY_S
        self._held_s = 0.0
        self._end: asyncio.TimerHandle | None = None
        self._woken = asyncio.Event()
        self.invited: dict[SeatKey, asyncio.Future[bool]] = {}
        """Seats that are being asked for."""

    async def run(self) -> None:
        """Holds seats until it is cancelled."""
        try:
            while True:
                self._woken.clear()
                try:
                    await self._ask()
                except Exception:
                    _log.exception("bot_seats_not_asked")
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._every_s):
                        await self._woken.wait()
        finally:
            self._end_at(None)

    async def accept(self, seat: SeatKey) -> bool:
        """Asks for a seat to which this instance was invited; whether it holds it now."""
        answer = self.invited.get(seat)
        if answer is None:
            answer = self.invited[seat] = asyncio.get_running_loop().create_future()
            self._woken.set()
        return await asyncio.shield(answer)

    async def release(self) -> None:
        """Gives all seats back; where that fails they are free a little later."""
        request = matchmaking_pb2.ListBotSeatsRequest(instance=self._instance)
        try:
            await self._stub.ListBotSeats(request, timeout=_RELEASE_S)
        except grpc.aio.AioRpcError as error:
            _log.info("bot_seats_not_released", code=error.code().name)

    async def _ask(self) -> None:
        invited = dict(self.invited)
        request = matchmaking_pb2.ListBotSeatsRequest(
            instance=self._instance,
            most=self._most(),
            invited=map(_message, invited),
            games=game_names(),
        )
        asked_at = asyncio.get_running_loop().time()
        held: set[SeatKey] = set()
        try:
            reply = await self._stub.ListBotSeats(request, timeout=_ASK_S)
        except grpc.aio.AioRpcError as error:
            _log.debug("bot_seats_unknown", code=error.code().name)
            if error.code() is grpc.StatusCode.UNAVAILABLE and self._end is not None:
                self._end_at(asked_at + self._held_s)
        else:
            held = {SeatKey(s.match_id, s.game, s.seat, s.account_id, s.level) for s in reply.seats}
            self._held_s = reply.held_ms / 1000
            self._every_s = self._held_s / 3 or _EVERY_S
            self._end_at(asked_at + self._held_s if held else None)
            self._play(held)
        finally:
            for seat, answer in invited.items():
                del self.invited[seat]
                answer.set_result(seat in held)

    def _end_at(self, time_s: float | None) -> None:
        """Until then the seats are sure to be held; None: there are none."""
        if self._end is not None:
            self._end.cancel()
        self._end = None if time_s is None else asyncio.get_running_loop().call_at(time_s, self._lose)

    def _lose(self) -> None:
        _log.warning("bot_seats_not_renewed", held_s=self._held_s)
        self._end = None
        self._play(None)


def _message(seat: SeatKey) -> matchmaking_pb2.BotSeat:
    return matchmaking_pb2.BotSeat(
        match_id=seat.match_id, game=seat.game, seat=seat.seat, account_id=seat.account_id, level=seat.level
    )
