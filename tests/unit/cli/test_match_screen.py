"""The match screen over a game that brings no board: everything legal is a list, open fields are asked."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from textual.widgets import OptionList

from grimoire.cli.screens.app import board_of
from grimoire.cli.screens.match_screen import After, MatchScreen
from grimoire.cli.screens.model import MatchModel
from grimoire.cli.screens.sitters import Sitter, Sitters
from grimoire.cli.screens.words import LANGUAGES
from grimoire.client import Alarm, ClientError, Rejected, UnavailableError
from grimoire.plugins import GamePlugin
from grimoire.v1 import envelope_pb2
from tests.support.feed import StillDesk, TableFeed, table_of
from tests.support.screens import Stage, buttons, lines, text, until
from tests.support.toy import PLUGIN
from tests.support.toy import schema as pb
from tests.support.toy.texts import ToyTexts

SITTERS = Sitters({0: Sitter("Aino"), 1: Sitter("[red]Otso[/]"), 2: Sitter("", "careful")})


class ManyTongues(ToyTexts):
    """The toy's words, said to be so in whatever language the client speaks."""

    languages = LANGUAGES


def stage(
    feed: TableFeed, desk: StillDesk | None = None, *, plugin: GamePlugin = PLUGIN, language: str = "en"
) -> Stage:
    feed.table.now_ms += 20_000
    model = MatchModel(feed, plugin, SITTERS, language)
    return Stage(MatchScreen(model, desk or StillDesk(), board_of(PLUGIN)))


def model(app: Stage) -> MatchModel:
    screen = app.shown
    assert isinstance(screen, MatchScreen)
    return screen.model


def feed_of(seat: int | None = 0) -> TableFeed:
    return TableFeed(table_of(PLUGIN.game, {"mode": "duel"}, seats=3), seat)


def legal(app: Stage) -> list[str]:
    view = app.screen.query_one("#legal", OptionList)
    return [str(view.get_option_at_index(n).prompt) for n in range(view.option_count)]


async def test_everything_legal_is_listed_required_prompts_first() -> None:
    app = stage(feed_of())
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: len(legal(app)) == 2)
        assert [label.split()[1] for label in legal(app)] == ["Choose", "Chant"]
        assert "round 1/2" in text(app)
        assert "[red]Otso[/]" in text(app), "a name is never markup"


async def test_an_open_field_is_asked_and_the_command_sent() -> None:
    feed = feed_of()
    app = stage(feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: len(legal(app)) == 2)
        await pilot.press("1")
        await until(pilot, lambda: "choose" in text(app).casefold() and len(app.screen_stack) == 3)
        hand = feed.table.running.game.keepers[0].hand
        await pilot.press("3")
        await until(pilot, lambda: bool(feed.submitted))
        assert feed.submitted == [("choose_rune", pb.ChooseRune(rune=hand[2]).SerializeToString(), 1)]
        await until(pilot, lambda: "Waiting for" in text(app))


async def test_escape_leaves_the_open_field_and_sends_nothing() -> None:
    feed = feed_of()
    app = stage(feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: len(legal(app)) == 2)
        await pilot.press("1")
        await until(pilot, lambda: len(app.screen_stack) == 3)
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 2)
        assert feed.submitted == []


async def test_an_offer_beside_the_required_prompt_can_be_taken() -> None:
    feed = feed_of()
    app = stage(feed)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: len(legal(app)) == 2)
        await pilot.press("2")
        await until(pilot, lambda: bool(feed.submitted))
        assert feed.submitted[0][0] == "chant"
        await until(pilot, lambda: len(legal(app)) == 1)


async def test_several_seats_are_waited_for_by_name() -> None:
    feed = feed_of()
    app = stage(feed)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: len(legal(app)) == 2)
        feed.table.answer(0, pb.ChooseRune(rune=feed.table.running.game.keepers[0].hand[0]))
        feed.push()
        await until(pilot, lambda: "Waiting for ▲ [red]Otso[/], ■ careful (bot)" in text(app))


async def test_a_command_is_sent_under_one_id_until_there_is_an_answer() -> None:
    feed = feed_of()
    feed.fail_next = [UnavailableError("gone"), UnavailableError("gone")]
    app = stage(feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: len(legal(app)) == 2)
        await pilot.press("2")
        await until(pilot, lambda: len(feed.submitted) == 3)
        await until(pilot, lambda: len(legal(app)) == 1)
        assert len(set(feed.command_ids)) == 1
        assert feed.command_ids[0]


async def test_nothing_is_sent_twice_while_the_first_is_on_its_way() -> None:
    feed = feed_of()
    feed.hold = asyncio.Event()
    app = stage(feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: len(legal(app)) == 2)
        await pilot.press("2")
        await until(pilot, lambda: "Sending" in text(app))
        await pilot.press("2", "1", "enter")
        feed.hold.set()
        await until(pilot, lambda: "Sending" not in text(app))
        assert len(feed.submitted) == 1


async def test_a_refusal_is_a_sentence_with_its_rule_and_stays_in_the_log() -> None:
    feed = feed_of()
    rejection = envelope_pb2.Rejection(code="bad_stake", rule="TOY-5", message="Stake 1 to 2 tokens.")
    feed.fail_next = [Rejected(rejection)]
    app = stage(feed)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: len(legal(app)) == 2)
        await pilot.press("2")
        await until(pilot, lambda: "✗ Stake 1 to 2 tokens. (TOY-5)" in text(app))
        assert "! Refused: Stake" in text(app)
        assert model(app).lines()[-1].text == "Refused: Stake 1 to 2 tokens. (TOY-5)"


async def test_a_platform_refusal_is_said_in_the_persons_language() -> None:
    feed = feed_of()
    feed.fail_next = [Rejected(envelope_pb2.Rejection(code="stale_prompt", message="server's words"))]
    app = stage(feed, plugin=msgspec.structs.replace(PLUGIN, texts=ManyTongues()))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: len(legal(app)) == 2)
        await pilot.press("l", "2")
        await until(pilot, lambda: "Tätä ei enää kysytä" in text(app))
        await pilot.press("l")
        await until(pilot, lambda: "Αυτή η ερώτηση έκλεισε" in text(app))


async def test_a_game_of_one_language_is_not_mixed_with_another() -> None:
    app = stage(feed_of(), language="el")
    async with app.run_test(size=(160, 40)) as pilot:
        await until(pilot, lambda: len(legal(app)) == 2)
        assert "Your turn" in text(app)
        assert not {*buttons(app)} & {"l Suomeksi", "l Ελληνικά"}
        await pilot.press("l")
        await pilot.pause()
        assert model(app).language == "en"


async def test_an_alarm_is_shown_and_nothing_is_played_on() -> None:
    feed = feed_of()
    app = stage(feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: len(legal(app)) == 2)
        feed.stop(Alarm("screen-test", 7, "its hash is another"))
        await until(pilot, lambda: "its hash is another" in text(app))
        assert "does not play on" in text(app)
        await pilot.press("escape")
        await until(pilot, lambda: "ALARM" in lines(app)[0])


async def test_a_failure_is_a_sentence_on_the_screen() -> None:
    feed = feed_of()
    app = stage(feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: len(legal(app)) == 2)
        feed.stop(ClientError("following the match failed"))
        await until(pilot, lambda: "following the match failed" in lines(app)[0])


async def test_leaving_a_running_match_is_asked_and_tells_the_way_back() -> None:
    app = stage(feed_of())
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: len(legal(app)) == 2)
        await pilot.press("q")
        await until(pilot, lambda: "--match" in text(app) and "screen-test" in text(app))
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 2)
        await pilot.press("q", "right", "enter")
        await until(pilot, lambda: app.results == [After.QUIT])


async def test_a_watcher_has_no_commands() -> None:
    feed = feed_of(None)
    app = stage(feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "watching, public view" in text(app))
        assert legal(app) == []
        await pilot.press("1", "2", "enter", "r")
        assert feed.submitted == []
        await pilot.press("b")
        await until(pilot, lambda: app.results == [After.LOBBY])


async def test_no_colour_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = stage(feed_of())
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "▶ Your turn" in text(app))
        assert app.no_color
        colours = {
            segment.style.color.name
            for strip in app.screen._compositor.render_strips()
            for segment in app._filters[-1].apply(list(strip), app.screen.background_colors[1])
            if segment.style and segment.style.color
        }
        assert colours <= {"default"}
