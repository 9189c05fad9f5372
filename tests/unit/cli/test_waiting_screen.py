"""Waiting for a friend: the id, the exact command, and a way out."""

from __future__ import annotations

import asyncio

import pytest

from grimoire.cli.screens.waiting_screen import WaitingScreen
from grimoire.cli.screens.wish import Wish
from grimoire.client import UnavailableError
from grimoire.plugins import load_game
from grimoire.v1 import matchmaking_pb2
from tests.support.screens import Stage, text, until

OPEN = matchmaking_pb2.Challenge(
    challenge_id="c123",
    game="two_towers",
    status=matchmaking_pb2.CHALLENGE_STATUS_OPEN,
)
OPEN.options.add(name="deck_type", value="endless")


class Server:
    """A challenge that changes when it is told to."""

    def __init__(self) -> None:
        self.changed: asyncio.Queue[matchmaking_pb2.Challenge | None] = asyncio.Queue()
        self.cancelled = 0

    async def matched(self) -> matchmaking_pb2.Challenge:
        challenge = await self.changed.get()
        if challenge is None:
            raise UnavailableError("the server does not answer")
        return challenge

    async def cancel(self) -> None:
        self.cancelled += 1
        self.end(matchmaking_pb2.CHALLENGE_STATUS_CANCELLED)

    def end(self, status: matchmaking_pb2.ChallengeStatus.ValueType, match_id: str = "") -> None:
        self.changed.put_nowait(matchmaking_pb2.Challenge(challenge_id="c123", status=status, match_id=match_id))


def waiting(server: Server, language: str = "en") -> Stage:
    return Stage(
        WaitingScreen(
            load_game("two_towers"),
            language,
            OPEN,
            command=Wish().command("--join", "c123"),
            matched=server.matched,
            cancel=server.cancel,
        )
    )


@pytest.mark.parametrize(
    ("language", "title", "deck"),
    [
        ("en", "Your challenge is open", "∞ Endless deck"),
        ("fi", "Haasteesi on avoinna", "∞ Loputon pakka"),
    ],
)
async def test_it_shows_the_id_the_options_and_the_friends_command(language: str, title: str, deck: str) -> None:
    app = waiting(Server(), language)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: title in text(app))
        assert "grimoire play two_towers --join c123" in text(app)
        assert deck in text(app)
        await pilot.press("l")
        assert title not in text(app)


async def test_a_friend_comes() -> None:
    server = Server()
    app = waiting(server)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "c123" in text(app))
        server.end(matchmaking_pb2.CHALLENGE_STATUS_MATCHED, "m1")
        await until(pilot, lambda: bool(app.results))
        assert app.results[0].match_id == "m1"


async def test_it_can_be_withdrawn() -> None:
    server = Server()
    app = waiting(server)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "c123" in text(app))
        await pilot.press("escape")
        await until(pilot, lambda: bool(app.results))
        assert server.cancelled == 1
        assert app.results[0].match_id == ""


async def test_a_lost_connection_is_told_and_waited_out() -> None:
    server = Server()
    app = waiting(server)
    async with app.run_test(size=(80, 24)) as pilot:
        server.changed.put_nowait(None)
        await until(pilot, lambda: "Connection lost" in text(app))
        server.end(matchmaking_pb2.CHALLENGE_STATUS_MATCHED, "m1")
        await until(pilot, lambda: bool(app.results))
