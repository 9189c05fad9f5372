"""The lobby: what is listed, in whose words, and what choosing leads to."""

from __future__ import annotations

import pytest
from textual.widgets import OptionList

from grimoire.cli.screens.lobby_screen import Choice, ChoiceKind, Listing, LobbyScreen
from grimoire.client import UnavailableError
from grimoire.plugins import load_game
from grimoire.v1 import match_pb2, matchmaking_pb2
from tests.support.screens import Stage, lines, text, until

PLUGIN = load_game("two_towers")
OPTIONS = {
    "battlefield": "mirror_labyrinth",
    "deck_type": "endless",
    "turn_time_s": "45",
    "timeout_limit": "4",
    "first_player": "seat_1",
}


def seat(number: int, name: str = "", *, mine: bool = False, level: str = "") -> matchmaking_pb2.ChallengeSeat:
    return matchmaking_pb2.ChallengeSeat(seat=number, name=name, mine=mine, bot=bool(level), level=level)


def challenge(identity: str, *seats: matchmaking_pb2.ChallengeSeat) -> matchmaking_pb2.Challenge:
    made = matchmaking_pb2.Challenge(challenge_id=identity, game="two_towers", seats=seats)
    for name, value in OPTIONS.items():
        made.options.add(name=name, value=value)
    return made


def match(
    identity: str, *seats: matchmaking_pb2.ChallengeSeat, ranks: tuple[int, ...] = ()
) -> matchmaking_pb2.MatchSummary:
    summary = matchmaking_pb2.MatchSummary(match_id=identity, game="two_towers", seats=seats, finished=bool(ranks))
    if ranks:
        summary.closed.CopyFrom(
            match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_WIN, ranks=ranks, reasons=["tower_built"])
        )
    return summary


FULL = Listing(
    challenges=(challenge("c1", seat(0, "Otso"), seat(1)), challenge("c2", seat(0, "Aino", mine=True), seat(1))),
    own=(match("m1", seat(0, "Aino", mine=True), seat(1, level="heuristic")),),
    finished=(match("m0", seat(0, "Aino", mine=True), seat(1, "Eino"), ranks=(1, 2)),),
    running=(
        match("m1", seat(0, "Aino", mine=True), seat(1, level="heuristic")),
        match("m2", seat(0, "Vaka"), seat(1, "[b]Ilma[/b]")),
    ),
)


class Server:
    """What the lobby asks."""

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        self.away = False
        self.asked = 0

    async def fetch(self) -> Listing:
        self.asked += 1
        if self.away:
            raise UnavailableError("no server answers")
        return self.listing


def lobby(server: Server, language: str = "en", *, watch_only: bool = False) -> Stage:
    return Stage(LobbyScreen(PLUGIN, language, server.fetch, me="Aino", watch_only=watch_only))


def rows(app: Stage) -> list[str | None]:
    view = app.screen.query_one("#lobby", OptionList)
    return [
        view.get_option_at_index(n).id for n in range(view.option_count) if not view.get_option_at_index(n).disabled
    ]


def marked(app: Stage) -> str | None:
    view = app.screen.query_one("#lobby", OptionList)
    return None if view.highlighted is None else view.get_option_at_index(view.highlighted).id


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_everything_is_listed_once(size: tuple[int, int]) -> None:
    app = lobby(Server(FULL))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "match:m1" in rows(app))
        assert rows(app) == [
            "bot:random",
            "bot:heuristic",
            "bot:searching",
            "match:m1",
            "new",
            "join:c1",
            "wait:c2",
            "watch:m2",
            "match:m0",
        ]
        assert "you are Aino" in text(app)
        assert "[b]Ilma[/b]" in text(app), "a name is never markup"
        assert "● you – ▲ Eino Victory: a tower reached its goal" in text(app)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ("Mirror Labyrinth", "∞ Endless deck", "◷ Time for a decision: 45 s", "② second seat")),
        ("fi", ("Peililabyrintti", "∞ Loputon pakka", "◷ Aika päätökseen: 45 s", "② toinen paikka")),
    ],
)
async def test_every_option_of_a_challenge_is_an_icon_and_words(language: str, expected: tuple[str, ...]) -> None:
    app = lobby(Server(FULL), language)
    async with app.run_test(size=(160, 40)) as pilot:
        await until(pilot, lambda: "join:c1" in rows(app))
        for each in expected:
            assert each in text(app)
        assert ": 4" in text(app)


@pytest.mark.parametrize(
    ("keys", "choice"),
    [
        (["enter"], Choice(ChoiceKind.BOT, "random")),
        (["down", "enter"], Choice(ChoiceKind.BOT, "heuristic")),
        (["down"] * 3 + ["enter"], Choice(ChoiceKind.MATCH, "m1")),
        (["n"], Choice(ChoiceKind.NEW)),
        (["down"] * 5 + ["enter"], Choice(ChoiceKind.JOIN, "c1")),
        (["down"] * 6 + ["enter"], Choice(ChoiceKind.WAIT, "c2")),
        (["down"] * 7 + ["enter"], Choice(ChoiceKind.WATCH, "m2")),
        (["j", *"abc", "enter"], Choice(ChoiceKind.JOIN, "abc")),
        (["q"], Choice(ChoiceKind.QUIT)),
    ],
)
async def test_choosing_by_keys(keys: list[str], choice: Choice) -> None:
    app = lobby(Server(FULL))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "match:m1" in rows(app))
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        await until(pilot, lambda: app.results == [choice])


async def test_what_is_marked_stays_marked_when_the_list_changes() -> None:
    server = Server(FULL)
    app = lobby(server)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "join:c1" in rows(app))
        await pilot.press(*["down"] * 5)
        assert marked(app) == "join:c1"
        server.listing = Listing(challenges=(challenge("c9", seat(0, "Uusi"), seat(1)), *FULL.challenges))
        await until(pilot, lambda: "join:c9" in rows(app))
        assert marked(app) == "join:c1"


async def test_a_server_that_is_away_is_told_and_asked_again() -> None:
    server = Server(FULL)
    server.away = True
    app = lobby(server)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Connection lost" in lines(app)[0])
        server.away = False
        await until(pilot, lambda: "Connection lost" not in lines(app)[0])
        assert server.asked >= 2


async def test_the_language_changes_at_once() -> None:
    app = lobby(Server(FULL))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "join:c1" in rows(app))
        await pilot.press("l")
        assert "PELAA BOTTIA VASTAAN" in text(app)
        assert "Ennakoiva (botti)" in text(app)


async def test_only_watching() -> None:
    app = lobby(Server(Listing(running=FULL.running)), watch_only=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: rows(app) == ["watch:m1", "watch:m2"])
        await pilot.press("n", "enter")
        await until(pilot, lambda: app.results == [Choice(ChoiceKind.WATCH, "m1")])


async def test_a_match_that_ends_while_the_lists_are_asked_for_stands_there_once() -> None:
    moved = match("m1", seat(0, "Aino", mine=True), seat(1, "Eino"), ranks=(1, 2))
    app = lobby(Server(Listing(own=FULL.own, finished=(moved,))))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: rows(app).count("match:m1") == 1)


async def test_an_empty_lobby_says_so() -> None:
    app = lobby(Server(Listing()))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Nobody else plays now." in text(app))
