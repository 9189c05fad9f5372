"""People who play by program: they make matches quickly, and know what a screen must not show."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from grimoire.client import Client, MatchSession
from grimoire.plugins import load_game

GAME = "two_towers"


@dataclass
class Duel:
    """A running match of two programs."""

    match_id: str
    clients: list[Client]
    sessions: list[MatchSession]

    def hand(self, seat: int) -> set[str]:
        """Cards that only this seat may see now."""
        view = load_game(GAME).game.view_type.FromString(self.sessions[seat].view)
        return {slot.card for side in view.seats for slot in side.hand if slot.card}

    def hands(self) -> set[str]:
        """Cards that only their holders may see now."""
        return self.hand(0) | self.hand(1)

    async def move(self) -> bool:
        """One command of whoever is to act; False if the match is over."""
        while True:
            for session in self.sessions:
                if session.finished:
                    return False
                if await act(session):
                    await asyncio.gather(*(other.reached(session.version, timeout_s=20) for other in self.sessions))
                    return True
            await asyncio.sleep(0.01)

    async def to_end(self) -> None:
        """All that is left of the match."""
        while await self.move():
            pass


async def act(session: MatchSession, level: str = "heuristic") -> bool:
    """What the game's bot would do in this seat; False if nothing is asked of it."""
    prompts = [prompt for prompt in session.own_prompts if prompt.required]
    if session.finished or not prompts:
        return False
    plugin = load_game(GAME)
    view = plugin.game.view_type.FromString(session.view)
    code, message = plugin.bot.suggest(view, prompts[0], level, random.Random(1), 20)
    accepted = await session.submit(code, message, prompts[0].prompt_id)
    await session.reached(accepted.version, timeout_s=20)
    return True


@asynccontextmanager
async def duel(address: str, kept: Path, **options: str) -> AsyncIterator[Duel]:
    """A match of two programs that has begun.

    Args:
        address: of the edge.
        kept: a folder for their evidence.
        options: of the challenge. Nobody plays for a person who is slow to look, unless they say so.
    """
    names = ("Aino", "Väinö")
    clients = [await Client.connect(address, keepsakes=kept / name) for name in names]
    sessions: list[MatchSession] = []
    try:
        for client, name in zip(clients, names, strict=True):
            await client.guest(name)
        opened = await clients[0].create(GAME, {"turn_time_s": "3600", **options})
        await clients[1].join(opened.challenge_id)
        match_id = (await clients[0].matched(opened.challenge_id)).match_id
        sessions += await asyncio.gather(*(client.open_match(match_id) for client in clients))
        for session in sessions:
            await session.started(timeout_s=30)
        yield Duel(match_id, clients, sessions)
    finally:
        for session in sessions:
            await session.close()
        for client in clients:
            await client.close()
