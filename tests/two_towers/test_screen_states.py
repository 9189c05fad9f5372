"""The whole match screen in every state a player meets, in both languages and at small and large sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Button

from grimoire.cli.screens.app import board_of
from grimoire.cli.screens.match_screen import After, MatchScreen
from grimoire.cli.screens.model import MatchModel
from grimoire.cli.screens.sitters import Sitter, Sitters
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from grimoire.match.table import Table
from grimoire.plugins import load_game
from grimoire.v1 import match_pb2
from tests.support.feed import StillDesk, TableFeed, table_of
from tests.support.screens import Stage, buttons, lines, said, text, until

PLUGIN = load_game("two_towers")
SMALL, LARGE = (80, 24), (120, 40)
LANGUAGES = ("en", "fi")
SITTERS = Sitters({0: Sitter("Aino"), 1: Sitter("", "heuristic")})
HAND = ["dragon", "ruby", "quartz", "orc", "prism", "great_wall"]

everywhere = pytest.mark.parametrize(("language", "size"), [("en", SMALL), ("fi", SMALL), ("fi", LARGE)], ids=str)
"""A state that must look right in every language and size; the longer words are the Finnish ones."""
both_ways = pytest.mark.parametrize(("language", "size"), [("en", SMALL), ("fi", LARGE)], ids=str)
"""Something that is done, once at each size."""


def position(mine: Mapping[str, Any], **more: Any) -> Table:
    """A match that stands where seat 0 decides."""
    described = {"seats": {0: {"hand": HAND, **mine}, 1: {}}, **more}
    event = PLUGIN.positions.parse(described, {})
    return table_of(PLUGIN.game, position=event.SerializeToString(), mode=match_pb2.MATCH_MODE_ANALYSIS)


def stage(feed: TableFeed, language: str, desk: StillDesk | None = None, *, old: bool = True) -> Stage:
    """The screen of a match; `old`: it was dealt long ago."""
    if old:
        feed.table.now_ms += 20_000
    model = MatchModel(feed, PLUGIN, SITTERS, language)
    return Stage(MatchScreen(model, desk or StillDesk(), board_of(PLUGIN)))


async def settle(pilot: Pilot[Any]) -> None:
    await until(pilot, lambda: "●" in text(pilot.app))
    await pilot.pause()


@everywhere
async def test_your_turn(language: str, size: tuple[int, int]) -> None:
    app = stage(TableFeed(position({"ore": 7, "mana": 7, "recruits": 7})), language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        said(app, ("Your turn", "Sinun vuorosi"), ("Aino (you)", "Aino (sinä)"), language=language)
        said(app, ("Steady (bot)", "Vakaa (botti)"), ("goal 50", "tavoite 50"), language=language)
        said(app, ("short 18", "puuttuu 18"), ("Ruby", "Rubiini"), ("hand 6", "käsi 6"), language=language)
        assert "⚑150" in text(app)
        assert "◷ 0:40" in text(app)
        assert any("? " in button for button in buttons(app))
        assert len(lines(app)) == size[1]
        assert {len(line) for line in lines(app)} == {size[0]}


@everywhere
async def test_waiting(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position({"mana": 7}, active=1))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        said(app, ("Waiting for ▲ Steady (bot)", "Odotetaan: ▲ Vakaa (botti)"), language=language)
        await pilot.press("2")
        said(app, ("It is not your turn.", "Nyt ei ole sinun vuorosi."), language=language)
        await pilot.press("p", "d", "enter")
        assert feed.submitted == []


@everywhere
async def test_forced_discard(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position({"mana": 7}, phase="forced_discard"))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        said(app, ("DISCARD ONE OF SIX", "HYLKÄÄ YKSI KUUDESTA"), language=language)
        await pilot.press("2")
        commands = [label for label in buttons(app) if label.startswith(("p ", "d "))]
        assert [label[0] for label in commands] == ["d"]
        await pilot.press("p")
        await until(pilot, lambda: "TT-4.6" in text(app))
        said(app, ("now discard one of your six", "hylkää nyt yksi kuudesta"), language=language)
        await pilot.press("enter")
        await until(pilot, lambda: bool(feed.submitted))
        assert feed.submitted == [("discard_card", pb.DiscardCard(slot=1, card="ruby").SerializeToString(), 1)]


@everywhere
async def test_what_cannot_be_paid_is_explained_and_can_be_discarded(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position({"recruits": 5}))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("1", "p")
        await until(pilot, lambda: "TT-4.3" in text(app))
        said(app, ("so 20 is missing", "puuttuu 20"), language=language)
        assert feed.submitted == []
        await pilot.press("enter")
        said(app, ("Press enter again", "Paina enter uudelleen"), language=language)
        assert feed.submitted == [], "what is not the prompt's first command is not sent by a slip of Enter"
        await pilot.press("enter")
        await until(pilot, lambda: bool(feed.submitted))
        assert feed.submitted[0][0] == "discard_card"


@both_ways
async def test_a_card_is_played_and_the_tower_grows(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position({"mana": 7}))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("2")
        said(app, ("Your tower grows by 5.", "Tornisi kasvaa 5."), language=language)
        await pilot.press("p")
        await until(pilot, lambda: "25 +5" in text(app))
        said(app, ("Waiting for", "Odotetaan"), ("● Ruby", "● Rubiini"), language=language)
        assert feed.submitted == [("play_card", pb.PlayCard(slot=1, card="ruby").SerializeToString(), 1)]


@both_ways
async def test_acting_again_stays_on_turn(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position({"mana": 7}))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("3", "enter")
        await until(pilot, lambda: "21 +1" in text(app))
        said(app, ("Your turn", "Sinun vuorosi"), language=language)


@both_ways
async def test_over_by_resigning_twice_asked(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position({"mana": 7}))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("r")
        said(app, ("Really resign?", "Luovutatko varmasti?"), language=language)
        await pilot.press("enter")
        assert feed.submitted == [], "the focus is on No"
        await pilot.press("r", "tab", "enter")
        await until(pilot, lambda: bool(feed.submitted))
        await until(pilot, lambda: feed.table.running.revealed)
        await until(pilot, lambda: any("Rematch" in b or "Uusinta" in b for b in buttons(app)))
        said(app, ("DEFEAT", "TAPPIO"), ("one side resigned", "luovutus"), language=language)
        assert bytes(range(32)).hex() in text(app).replace(" ", ""), "the seed is open"
        await pilot.press("m")
        await until(pilot, lambda: bool(app.results))
        assert app.results == [After.REMATCH]


@everywhere
async def test_over_by_a_built_tower(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position({"mana": 7, "tower": 46}))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("2", "p")
        await until(pilot, lambda: any("Rematch" in b or "Uusinta" in b for b in buttons(app)))
        said(app, ("VICTORY", "VOITTO"), language=language)
        said(app, ("Aino wins: a tower reached its goal", "Voittaja on Aino"), language=language)
        assert "51 +5" in text(app)
        await pilot.press("escape")
        said(app, ("The match is over.", "Ottelu on ohi."), language=language)
        assert not any("Rematch" in b or "Uusinta" in b for b in buttons(app)), "the board can be looked at"
        await pilot.press("a")
        await until(pilot, lambda: "✓" in text(app))
        said(app, ("Everything that was checked holds", "Kaikki tarkistettu pitää paikkansa"), language=language)
        await pilot.press("escape", "q")
        await until(pilot, lambda: bool(app.results))
        assert app.results == [After.QUIT]


@both_ways
async def test_a_rematch_that_is_offered_is_told(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position({"mana": 7, "tower": 46}))
    desk = StillDesk()
    app = stage(feed, language, desk)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("2", "p")
        await until(pilot, lambda: feed.finished)
        desk.offered = True
        await until(pilot, lambda: "offers a rematch" in text(app) or "tarjoaa uusintaa" in text(app))


@everywhere
async def test_void(language: str, size: tuple[int, int]) -> None:
    table = Table(PLUGIN.game, match_id="screen-test", seats=2)
    table.create()
    table.seal(0)
    feed = TableFeed(table)
    app = stage(feed, language, old=False)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "✓" in text(app))
        table.expire_next()
        feed.push()
        await until(pilot, lambda: feed.finished)
        await until(pilot, lambda: "VOID" in text(app) or "MITÄTÖN" in text(app))
        said(app, ("Steady (bot) did not come", "Vakaa (botti) ei tullut"), language=language)
        assert not any("Rematch" in label or "Uusinta" in label for label in buttons(app))


@everywhere
async def test_handshake_ticks_and_the_digest_is_seen_before_the_first_turn(
    language: str, size: tuple[int, int]
) -> None:
    table = Table(PLUGIN.game, match_id="screen-test", seats=2)
    table.create()
    feed = TableFeed(table)
    app = stage(feed, language, old=False)
    async with app.run_test(size=size) as pilot:

        def ticks() -> int:
            return text(app).count("✓ ")

        await until(pilot, lambda: ticks() == 1)
        said(app, ("… Your own random number", "… Oma satunnaislukusi"), language=language)
        table.seal(1)
        feed.push()
        table.seal(0)
        feed.push()
        await until(pilot, lambda: ticks() == 2)
        table.open(0)
        feed.push()
        table.open(1)
        feed.push()
        await until(pilot, lambda: ticks() == 4)
        digest = app.screen.model.deal_digest  # type: ignore[attr-defined]
        assert digest in text(app)
        first = "1" if size == SMALL else "x"
        await pilot.press(first)
        await until(pilot, lambda: digest not in text(app) or size == LARGE)
        await until(pilot, lambda: "⚑" in text(app))
        assert feed.submitted == []
        assert app.screen.model.draft.picked == (), "the key that takes the digest away does nothing else"  # type: ignore[attr-defined]


@everywhere
async def test_reconnecting(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position({"mana": 7}))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        feed.connected = False
        await until(pilot, lambda: "again. The clock" in text(app) or "uudelleen. Kello" in text(app))
        said(app, ("Ruby", "Rubiini"), language=language)
        feed.connected = True
        await until(pilot, lambda: "again. The clock" not in text(app) and "uudelleen. Kello" not in text(app))


@everywhere
async def test_watching(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position({"mana": 7}), seat=None)
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        said(app, ("watching, public view", "katsot, julkinen näkymä"), language=language)
        said(app, ("● Aino decides", "Vuorossa: ● Aino"), language=language)
        await pilot.press("1", "p", "d", "enter", "r")
        assert feed.submitted == []
        assert not any(label.startswith(("p ", "d ", "r ")) for label in buttons(app))
        assert "Ruby" not in text(app)
        assert "Rubiini" not in text(app)
        feed.table.answer(0, pb.PlayCard(slot=1, card="ruby"))
        feed.push()
        await until(pilot, lambda: "25 +5" in text(app))
        await pilot.press("q")
        await until(pilot, lambda: bool(app.results))


@both_ways
async def test_the_clock_runs_by_the_servers_time_and_low_is_a_word(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position({"mana": 7}))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        feed.table.now_ms += 30_000
        await until(pilot, lambda: "◷ 0:10" in text(app))
        said(app, ("low!", "vähissä!"), language=language)


@both_ways
async def test_the_language_changes_at_once(language: str, size: tuple[int, int]) -> None:
    app = stage(TableFeed(position({"mana": 7})), language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("l")
        other = LANGUAGES[1 - LANGUAGES.index(language)]
        said(app, ("Your turn", "Sinun vuorosi"), ("goal 50", "tavoite 50"), ("Ruby", "Rubiini"), language=other)


@both_ways
async def test_lists_and_help(language: str, size: tuple[int, int]) -> None:
    app = stage(TableFeed(position({"mana": 7}, discards=["imp", "ogre"])), language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("x")
        shown = text(app)
        newest, oldest = ("Hiisi", "Piru") if language == "fi" else ("Ogre", "Imp")
        assert shown.index(newest) < shown.index(oldest)
        await pilot.press("x", "question_mark")
        said(app, ("Keys", "Näppäimet"), language=language)
        await pilot.press("escape", "c", *"luostari" if language == "fi" else "monast")
        await pilot.pause()
        said(app, (" of 102", "kaikkiaan 102"), language=language)
        await pilot.press("escape", "i")
        said(app, ("This match", "Tämä ottelu"), language=language)
        await pilot.press("escape", "e")
        said(app, ("Log", "Loki"), language=language)


@both_ways
async def test_the_mouse_picks_and_presses(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position({"mana": 7}))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        cards = list(app.screen.query("CardFace"))
        await pilot.click(cards[1])
        await until(pilot, lambda: any(label.startswith("p ") for label in buttons(app)))
        play = next(b for b in app.screen.query(Button) if b.display and str(b.label).startswith("p "))
        await pilot.click(play)
        await until(pilot, lambda: bool(feed.submitted))
        assert feed.submitted[0][0] == "play_card"


@both_ways
async def test_arrows_walk_over_the_hand(language: str, size: tuple[int, int]) -> None:
    app = stage(TableFeed(position({"mana": 7})), language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        walked = []
        for key in ("right", "right", "down", "left", "up", "left"):
            await pilot.press(key)
            walked.append(app.screen.model.draft.picked[0])  # type: ignore[attr-defined]
        assert walked == ["slot:0", "slot:1", "slot:4", "slot:3", "slot:0", "slot:5"]
        await pilot.press("escape")
        assert app.screen.model.draft.picked == ()  # type: ignore[attr-defined]


@both_ways
async def test_resizing_never_breaks_it(language: str, size: tuple[int, int]) -> None:
    app = stage(TableFeed(position({"mana": 7})), language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        for width, height in ((200, 60), (40, 12), (20, 5), (81, 25), size):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            assert len(lines(app)) == height
        said(app, ("Your turn", "Sinun vuorosi"), ("Ruby", "Rubiini"), language=language)
