"""A new match: every option of the schema can be set by keys, and what the server refuses is marked."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from textual.widgets import Checkbox, Input, Select

from grimoire.cli.screens.challenge_form import ChallengeForm
from grimoire.cli.screens.wording import Wording
from grimoire.cli.screens.words import LANGUAGES, Words
from grimoire.client import Rejected
from grimoire.plugins import load_game
from grimoire.v1 import envelope_pb2, manifest_pb2, matchmaking_pb2
from tests.support.screens import Stage, text, until

PLUGIN = load_game("two_towers")


class Server:
    """Keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[dict[str, str], str]] = []
        self.refuse: Rejected | None = None

    async def create(self, options: Mapping[str, str], level: str) -> matchmaking_pb2.Challenge:
        self.asked.append((dict(options), level))
        if self.refuse is not None:
            raise self.refuse
        return matchmaking_pb2.Challenge(challenge_id="c1")


def form(server: Server, language: str = "en", values: Mapping[str, str] | None = None) -> Stage:
    return Stage(ChallengeForm(Words(language), Wording(PLUGIN, language), values or {}, server.create))


async def test_defaults_are_filled_in_and_sent() -> None:
    server = Server()
    app = form(server)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(app.results))
    defaults = {
        "battlefield": "archmage_fortress",
        "deck_type": "standard",
        "turn_time_s": "60",
        "timeout_limit": "3",
        "first_player": "random",
    }
    assert server.asked == [(defaults, "")]
    assert app.results[0].challenge_id == "c1"


async def test_every_option_can_be_set_by_keys_alone() -> None:
    server = Server()
    app = form(server)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter", "down", "down", "enter", "tab")  # the steady bot
        await pilot.press("enter", "end", "enter", "tab")  # the last battlefield
        await pilot.press("enter", "down", "enter", "tab")  # the endless deck
        await pilot.press(*"45", "tab", *"7", "tab")
        await pilot.press("enter", "down", "enter")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(server.asked))
    assert server.asked == [
        (
            {
                "battlefield": "mirror_labyrinth",
                "deck_type": "endless",
                "turn_time_s": "45",
                "timeout_limit": "7",
                "first_player": "seat_0",
            },
            "heuristic",
        )
    ]


async def test_values_of_the_command_line_are_the_beginning() -> None:
    server = Server()
    app = form(server, values={"deck_type": "endless", "turn_time_s": "20"})
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(server.asked))
    assert server.asked[0][0]["deck_type"] == "endless"
    assert server.asked[0][0]["turn_time_s"] == "20"


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Time for a decision cannot be 5; allowed: 10..86400. (TT-1.5)"),
        ("fi", "Aika päätökseen ei voi olla 5; sallittu: 10..86400. (TT-1.5)"),
    ],
)
async def test_a_refused_option_is_marked_and_said(language: str, sentence: str) -> None:
    server = Server()
    arguments = [
        envelope_pb2.Argument(name=n, value=v)
        for n, v in (("name", "turn_time_s"), ("value", "5"), ("allowed", "10..86400"))
    ]
    server.refuse = Rejected(
        envelope_pb2.Rejection(code="bad_option", rule="TT-1.5", field="turn_time_s", arguments=arguments)
    )
    app = form(server, language)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+s")
        await until(pilot, lambda: sentence in text(app))
        assert [row.id for row in app.screen.query(".wrong")] == ["row-turn_time_s"]
        assert app.results == []
        server.refuse = None
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(app.results))


async def test_escape_makes_nothing() -> None:
    server = Server()
    app = form(server)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("escape")
        await until(pilot, lambda: app.results == [None])
    assert server.asked == []


@pytest.mark.parametrize("language", LANGUAGES)
async def test_each_kind_of_option_has_its_control(language: str) -> None:
    wording = Wording(PLUGIN, language)
    wording.manifest.options.append(
        manifest_pb2.OptionSchema(name="rated", type=manifest_pb2.OPTION_TYPE_BOOL, default="true", label="Rated")
    )
    server = Server()
    app = Stage(ChallengeForm(Words(language), wording, {}, server.create))
    async with app.run_test(size=(80, 30)) as pilot:
        await pilot.pause()
        kinds = {widget.name: type(widget) for widget in app.screen.query(".option")}
        assert kinds["battlefield"] is kinds["deck_type"] is kinds["first_player"] is Select
        assert kinds["turn_time_s"] is kinds["timeout_limit"] is Input
        assert kinds["rated"] is Checkbox
        app.screen.query_one(Checkbox).toggle()
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(server.asked))
        assert server.asked[0][0]["rated"] == "false"


async def test_the_number_of_seats_is_asked_where_a_game_leaves_it_open() -> None:
    server = Server()
    wording = Wording(load_game("spellbound"), "fi")
    app = Stage(ChallengeForm(Words("fi"), wording, {"seats": "1", "mages": "3"}, server.create))
    async with app.run_test(size=(80, 30)) as pilot:
        await pilot.pause()
        assert "Paikkoja" in text(app)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(server.asked))
    options = server.asked[0][0]
    assert (options["seats"], options["mages"], options["mage_seats"]) == ("1", "3", "")
