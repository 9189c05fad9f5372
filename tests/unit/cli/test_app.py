"""From the command line to a match, to the next one, and out: the full-screen client over a client that is made up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from textual.worker import WorkerFailed

from grimoire.cli.screens.app import GrimoireApp, board_of
from grimoire.cli.screens.challenge_form import ChallengeForm
from grimoire.cli.screens.lobby_screen import LobbyScreen
from grimoire.cli.screens.match_screen import MatchScreen
from grimoire.cli.screens.waiting_screen import WaitingScreen
from grimoire.cli.screens.wish import Wish
from grimoire.client import Rejected, UnavailableError
from grimoire.plugins import load_game
from grimoire.v1 import envelope_pb2, matchmaking_pb2
from tests.support.feed import SessionFeed, table_of
from tests.support.screens import text, until

PLUGIN = load_game("two_towers")
SEATS = [
    matchmaking_pb2.ChallengeSeat(seat=0, name="Aino", mine=True),
    matchmaking_pb2.ChallengeSeat(seat=1, bot=True, level="random"),
]


class MadeUpClient:
    """As much of a `Client` as the screens use."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.sessions: list[SessionFeed] = []
        self.refuse: dict[str, Exception] = {}
        self.match_at_once = True

    def _note(self, name: str, *arguments: Any) -> None:
        self.calls.append((name, *arguments))
        if name in self.refuse:
            raise self.refuse.pop(name)

    def _challenge(self, *, matched: bool) -> matchmaking_pb2.Challenge:
        status = matchmaking_pb2.CHALLENGE_STATUS_MATCHED if matched else matchmaking_pb2.CHALLENGE_STATUS_OPEN
        return matchmaking_pb2.Challenge(
            challenge_id="c1", game="two_towers", status=status, match_id="m1" if matched else "", seats=SEATS
        )

    async def play_bot(
        self, game: str, level: str, options: Mapping[str, str], *, seats: int
    ) -> matchmaking_pb2.Challenge:
        self._note("play_bot", game, level, dict(options), *([seats] if seats else []))
        return self._challenge(matched=True)

    async def create(self, game: str, options: Mapping[str, str], *, seats: int) -> matchmaking_pb2.Challenge:
        self._note("create", game, dict(options), *([seats] if seats else []))
        return self._challenge(matched=False)

    async def join(self, challenge_id: str) -> matchmaking_pb2.Challenge:
        self._note("join", challenge_id)
        return self._challenge(matched=True)

    async def challenge(self, challenge_id: str) -> matchmaking_pb2.Challenge:
        self._note("challenge", challenge_id)
        return self._challenge(matched=False)

    async def matched(self, challenge_id: str) -> matchmaking_pb2.Challenge:
        self._note("matched", challenge_id)
        return self._challenge(matched=self.match_at_once)

    async def cancel(self, challenge_id: str) -> None:
        self._note("cancel", challenge_id)

    async def rematch(self, match_id: str) -> matchmaking_pb2.Challenge:
        self._note("rematch", match_id)
        return self._challenge(matched=True)

    async def challenges(self, game: str) -> list[matchmaking_pb2.Challenge]:
        return []

    async def matches(self, **_: Any) -> list[matchmaking_pb2.MatchSummary]:
        return [matchmaking_pb2.MatchSummary(match_id="m7", game="two_towers", seats=SEATS)]

    async def play_on(self, match_id: str, version: int, **wishes: Any) -> matchmaking_pb2.Challenge:
        self._note("play_on", match_id, version, wishes)
        challenge = self._challenge(matched=not wishes["invite"])
        if not (wishes["level"] or wishes["invite"]):
            challenge.seats[1].CopyFrom(matchmaking_pb2.ChallengeSeat(seat=1, name="Aino", mine=True))
        return challenge

    async def open_match(
        self, match_id: str, seat: int | None, *, as_public: bool, phrase: str, on_update: Callable[[Any], None]
    ) -> SessionFeed:
        self._note("open_match", match_id, as_public, phrase)
        session = SessionFeed(table_of(PLUGIN.game), None if as_public else seat or 0)
        session.table.now_ms += 20_000
        self.sessions.append(session)
        return session


def app_of(client: MadeUpClient, **wish: Any) -> GrimoireApp:
    app = GrimoireApp(client, Wish(**wish), me="Aino", log_file=Path("client.log"))  # type: ignore[arg-type]
    app.animation_level = "none"
    return app


def shows(app: GrimoireApp, kind: type) -> bool:
    return isinstance(app.screen, kind)


async def leave(app: GrimoireApp, pilot: Any) -> None:
    """Out of a running match."""
    await pilot.press("q")
    await until(pilot, lambda: "Come back with" in text(app) or "Takaisin" in text(app))
    await pilot.press("right", "enter")


async def test_straight_to_a_match_against_a_bot() -> None:
    client = MadeUpClient()
    app = app_of(client, level="random", options={"deck_type": "endless"}, phrase="owl")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: shows(app, MatchScreen))
        assert client.calls[:2] == [
            ("play_bot", "two_towers", "random", {"deck_type": "endless"}),
            ("open_match", "m1", False, "owl"),
        ]
        await until(pilot, lambda: "Aino" in text(app) and "Random (bot)" in text(app))
        await leave(app, pilot)
        await until(pilot, lambda: app.return_value == 0)
    assert client.sessions[0].closed_down


async def test_a_challenge_waits_and_then_begins() -> None:
    client = MadeUpClient()
    app = app_of(client, challenge=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: shows(app, MatchScreen))
    assert [call[0] for call in client.calls] == ["create", "matched", "open_match"]


async def test_joining_by_id() -> None:
    client = MadeUpClient()
    app = app_of(client, join="c1", language="fi")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "vuoro" in text(app))
    assert client.calls[0] == ("join", "c1")


async def test_back_to_a_match_of_ones_own_finds_the_names() -> None:
    client = MadeUpClient()
    app = app_of(client, match="m7")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: shows(app, MatchScreen) and "Aino (you)" in text(app))
    assert client.calls == [("open_match", "m7", False, "")]


async def test_playing_on_from_a_match_against_a_bot() -> None:
    client = MadeUpClient()
    app = app_of(client, source="m7", version=12, level="random", options={"turn_time_s": "600"})
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: shows(app, MatchScreen))
    wishes = {"level": "random", "invite": False, "seat": None, "options": {"turn_time_s": "600"}}
    assert client.calls[0] == ("play_on", "m7", 12, wishes)


async def test_playing_on_with_a_guest_waits_for_one() -> None:
    client = MadeUpClient()
    app = app_of(client, source="m7", version=12, challenge=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: shows(app, MatchScreen))
    assert [call[0] for call in client.calls] == ["play_on", "matched", "open_match"]


async def test_playing_on_alone_tells_how_to_play_the_other_seat() -> None:
    client = MadeUpClient()
    app = app_of(client, source="m7", version=12, seat=1)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "--match m1 --seat 0" in " ".join(text(app).split()))
        await pilot.press("enter")
        await until(pilot, lambda: shows(app, MatchScreen))
    assert client.sessions[0].seat == 1


async def test_what_cannot_be_is_told_and_then_there_is_the_lobby() -> None:
    client = MadeUpClient()
    client.refuse["join"] = Rejected(envelope_pb2.Rejection(code="challenge_full", message="All seats are taken."))
    app = app_of(client, join="c1")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "All seats are taken." in text(app))
        await pilot.press("enter")
        await until(pilot, lambda: shows(app, LobbyScreen))
        await pilot.press("q")
        await until(pilot, lambda: app.return_value == 0)


async def test_from_the_lobby_to_a_match_and_back() -> None:
    client = MadeUpClient()
    app = app_of(client)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: shows(app, LobbyScreen))
        await until(pilot, lambda: "YOUR MATCHES" in text(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: shows(app, MatchScreen))
        assert ("play_bot", "two_towers", "heuristic", {}) in client.calls
        table = client.sessions[0].table
        await pilot.press("r", "right", "enter")
        await until(pilot, lambda: table.running.over)
        await until(pilot, lambda: "DEFEAT" in text(app))
        await pilot.press("b")
        await until(pilot, lambda: shows(app, LobbyScreen))


async def test_a_rematch_follows() -> None:
    client = MadeUpClient()
    app = app_of(client, level="random")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: shows(app, MatchScreen))
        await until(pilot, lambda: "Your turn" in text(app) or "Waiting" in text(app))
        await pilot.press("r", "right", "enter")
        await until(pilot, lambda: "DEFEAT" in text(app))
        await pilot.press("m")
        await until(pilot, lambda: len(client.sessions) == 2 and shows(app, MatchScreen))
        assert ("rematch", "m1") in client.calls


async def test_a_new_match_with_ones_own_options_can_be_withdrawn() -> None:
    client = MadeUpClient()
    client.match_at_once = False
    app = app_of(client, options={"turn_time_s": "30"})
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: shows(app, LobbyScreen))
        await pilot.press("n")
        await until(pilot, lambda: shows(app, ChallengeForm))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: shows(app, WaitingScreen) and "c1" in text(app))
        assert client.calls[0][2]["turn_time_s"] == "30"
        await pilot.press("escape")
        await until(pilot, lambda: ("cancel", "c1") in client.calls)


async def test_watching_sees_what_is_public() -> None:
    client = MadeUpClient()
    app = app_of(client, watch=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: shows(app, LobbyScreen) and "Aino" in text(app))
        await until(pilot, lambda: "WATCH" in text(app) and "● you" in text(app))
        await pilot.press("enter")
        await until(pilot, lambda: shows(app, MatchScreen))
        assert client.calls == [("open_match", "m7", True, "")]
        await pilot.press("q")
        await until(pilot, lambda: shows(app, LobbyScreen))


async def test_the_language_goes_along_from_screen_to_screen() -> None:
    client = MadeUpClient()
    app = app_of(client)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: shows(app, LobbyScreen))
        await pilot.press("l", "enter")
        await until(pilot, lambda: shows(app, MatchScreen))
        await until(pilot, lambda: "vuoro" in text(app))
        await pilot.press("l")
        await leave(app, pilot)


async def test_a_server_that_goes_away_is_told() -> None:
    client = MadeUpClient()
    client.refuse["open_match"] = UnavailableError("the server does not show this match")
    app = app_of(client, match="m1")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "the server does not show this match" in text(app))


async def test_a_mistake_of_the_programs_own_ends_with_a_sentence_and_no_traceback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    client = MadeUpClient()
    client.refuse["play_bot"] = ZeroDivisionError("hidden detail")
    app = app_of(client, level="random")
    with pytest.raises(WorkerFailed):  # the pilot raises it again for us; nobody else sees it
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: app.return_code == 1)
    said = capsys.readouterr().err
    assert "Something went wrong in this program" in said
    assert "client.log" in said
    assert "hidden detail" not in said
    assert "Traceback" not in said


def test_a_board_is_found_by_its_name() -> None:
    assert getattr(board_of(PLUGIN), "__name__", "") == "TwoTowersBoard"
