"""A person at the other side of the table, who takes the first legal thing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from bots.fallback import first_moves
from grimoire.client import MatchSession, Rejected
from grimoire.plugins import load_game
from tests.gateway.house import GAME

__all__ = ["play", "until"]


async def play(session: MatchSession) -> None:
    """The first legal thing, until the match is over."""
    schema = load_game(GAME).game.schema
    async for _ in session.updates():
        while not session.finished and (due := [p for p in session.own_prompts if p.required]):
            move = next(first_moves(due[0], schema))
            try:
                await session.submit(move.type, move.payload, due[0].prompt_id)
            except Rejected as rejected:
                if rejected.code not in ("stale_prompt", "match_over"):
                    raise


async def until(condition: Callable[[], bool], within_s: float = 60.0) -> None:
    async with asyncio.timeout(within_s):
        while not condition():
            await asyncio.sleep(0.01)
