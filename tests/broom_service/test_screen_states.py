"""The whole match screen in every state a player meets, in all three languages and at small and large sizes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Any

import pytest
from textual.pilot import Pilot

from broom_service import PLUGIN
from broom_service.words import LANGUAGES
from grimoire.cli.screens.app import board_of
from grimoire.cli.screens.match_screen import MatchScreen
from grimoire.cli.screens.model import MatchModel
from grimoire.cli.screens.plain_match import PlainMatch
from grimoire.cli.screens.sitters import Sitter, Sitters
from grimoire.engine import Illegal
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from grimoire.match.table import Table
from grimoire.v1 import match_pb2
from tests.support.feed import StillDesk, TableFeed, act, table_of
from tests.support.screens import Stage, buttons, lines, said, text, until

SMALL, LARGE = (80, 24), (120, 40)
SITTERS = Sitters({0: Sitter("Aino"), 1: Sitter("", "heuristic"), 2: Sitter("Otso"), 3: Sitter("Mira")})

everywhere = pytest.mark.parametrize(
    ("language", "size"), [(language, size) for size in (SMALL, LARGE) for language in LANGUAGES], ids=str
)
each_way = pytest.mark.parametrize(("language", "size"), [("en", SMALL), ("el", SMALL), ("fi", LARGE)], ids=str)
"""Something that is done, once in each language."""


def position(described: Mapping[str, Any], seats: int = 3, **options: str) -> Table:
    facts = PLUGIN.game.configure(options, seats)
    assert not isinstance(facts, Illegal), facts
    event = PLUGIN.positions.parse({"players": seats, **described}, dict(facts.options))
    return table_of(
        PLUGIN.game,
        options,
        seats=seats,
        position=event.SerializeToString(),
        mode=match_pb2.MATCH_MODE_ANALYSIS,
    )


def stage(feed: TableFeed, language: str) -> Stage:
    """The screen of a match that was dealt long ago."""
    feed.table.now_ms += 20_000
    return Stage(MatchScreen(MatchModel(feed, PLUGIN, SITTERS, language), StillDesk(), board_of(PLUGIN)))


async def settle(pilot: Pilot[Any]) -> None:
    await until(pilot, lambda: "▯" in text(pilot.app))
    await pilot.pause()


def sent(feed: TableFeed, at: int = -1) -> Any:
    """A command that was sent."""
    code, payload, _ = feed.submitted[at]
    return PLUGIN.game.schema.commands[code].FromString(payload)


def shows(app: Stage, language: str, *texts: tuple[str, str, str]) -> None:
    """Each text, in its language: English, Greek, Finnish."""
    said(app, *texts, language=language, languages=LANGUAGES)


ROLES: Mapping[str, Any] = {"roles": ["forest_witch", "hill_druid", "weather_fairy"], "resources": "o1 g1 p1 w3"}
FIELD: dict[str, Any] = {
    "event": "black_market",
    "bewitched": ["prairie_witch", "valley_druid"],
    "clouds": {"c08": "heavy_13"},
    "seats": {
        0: {**ROLES, "pawns": ["p3", "h4"], "vp": 23},
        1: {"roles": ["forest_witch"], "vp": -2},
        2: {"roles": ["hill_druid"]},
    },
}


# ---- what is seen ----------------------------------------------------------------------------------------------------


@everywhere
async def test_everything_is_on_the_screen(language: str, size: tuple[int, int]) -> None:
    app = stage(TableFeed(position(FIELD)), language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        shows(app, language, ("Your turn", "Η σειρά σου", "Sinun vuorosi"))
        shows(app, language, ("Round 1 of 7", "Γύρος 1 από 7", "Kierros 1/7"))
        shows(app, language, ("Black Market", "Μαύρη Αγορά", "Musta pörssi"))
        shows(app, language, ("☠ Prairie Witch", "☠ Μάγισσα του λιβα", "☠ Niittynoita"))
        shows(app, language, ("¹Forest Witch", "¹Μάγισσα του δάσους", "¹Metsänoita"))
        shows(app, language, ("▶● Aino (you)", "▶● Aino (εσύ)", "▶● Aino (sinä)"))
        shows(app, language, ("▲ Steady (bot)", "▲ Σταθερός (μποτ)", "▲ Vakaa (botti)"))
        shows(app, language, *[("o1 g1 p1 w3",) * 3, ("p3 ♜",) * 3, ("☁2↯2",) * 3])
        assert len(lines(app)) == size[1]
        assert {len(line) for line in lines(app)} == {size[0]}


@everywhere
async def test_a_deal_and_the_choice_of_roles(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(table_of(PLUGIN.game, {"first_player": "seat_0"}, seats=2))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        shows(app, language, ("Choose your role cards", "Διάλεξε τις κάρτες ρόλων σου", "Valitse roolikorttisi"))
        await pilot.press("space", "enter")
        asks = ("Root Gatherer", "Συλλέκτης ριζών", "Juurenkerääjä")[LANGUAGES.index(language)]
        await until(pilot, lambda: len(app.screen_stack) == 3 and asks in text(app))
        for _ in range(4):
            await pilot.press("space", "down")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(feed.submitted))
        assert len(sent(feed).roles) in (1, 4)
        who = ("Waiting for", "Αναμονή", "Odotetaan")[LANGUAGES.index(language)]
        await until(pilot, lambda: who in text(app))


# ---- tricks and actions ----------------------------------------------------------------------------------------------


@each_way
async def test_a_role_is_played_cowardly_and_carried_out(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position(FIELD))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("1")
        shows(app, language, ("1) brave 2) cowardly", "1) γενναία 2) δειλά", "1) rohkeasti 2) arasti"))
        shows(app, language, ("Fly one pawn to", "Πέτα με ένα πιόνι", "Lennä yhdellä nappulalla"))
        await pilot.press("2", "enter")
        await until(pilot, lambda: bool(feed.submitted))
        assert sent(feed) == pb.PlayRole(role="forest_witch", stance="cowardly")
        shows(app, language, ("fly to forest", "πτήση, έδαφος: δάσος", "lennä, maasto: metsä"))
        await pilot.press("1", "enter")
        if len(feed.submitted) < 2:
            await pilot.press("1", "enter")
        await until(pilot, lambda: len(feed.submitted) == 2)
        assert sent(feed).to == "f1"


@each_way
async def test_the_event_in_place_of_the_action(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position(FIELD))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("2", "3", "enter")
        await until(pilot, lambda: bool(feed.submitted))
        assert sent(feed) == pb.PlayRole(role="hill_druid", stance="cowardly", instead="event")
        shows(app, language, ("26 ▯2", "26 ▯2", "26 ▯2"))


@each_way
async def test_a_druid_delivers_to_a_tower_that_is_clicked(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position(FIELD))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("2", "2", "enter")
        await until(pilot, lambda: bool(feed.submitted))
        y, line = next((n, each) for n, each in enumerate(lines(app)) if "o6" in each and n > 8)
        await pilot.click(offset=(line.index("o6"), y))
        shows(
            app,
            language,
            ("Orange round tower 1, VP 6", "Πορτοκαλί κυκλικός πύργος 1, ΠΝ 6", "Oranssi pyöreä torni 1, VP 6"),
        )
        await pilot.press("enter")
        await until(pilot, lambda: len(feed.submitted) == 2)
        assert (sent(feed).tower, sent(feed).pawn) == ("orange_rd_01", 1)
        await pilot.press("e")
        await pilot.pause()
        shows(
            app,
            language,
            ("delivers from hill 4", "παραδίδει από τον λόφο 4", "toimittaa kukkulalta 4"),
        )


@each_way
async def test_the_fairy_charms_a_cloud_away_or_gives_it_up(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position(FIELD))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("3", "1", "enter")
        await until(pilot, lambda: bool(feed.submitted))
        assert sent(feed) == pb.PlayRole(role="weather_fairy", stance="brave")
        shows(app, language, ("charm a cloud away, +3 VP", "διώξε ένα σύννεφο, +3 ΠΝ", "loitsi pilvi pois, +3 VP"))
        await pilot.press("1")
        shows(app, language, ("Heavy cloud (stars 2", "Μεγάλο σύννεφο (αστέρια 2", "Raskas pilvi (tähtiä 2"))
        await pilot.press("escape", "x", "enter")
        await until(pilot, lambda: len(feed.submitted) == 2)
        assert feed.submitted[1][0] == "skip_step"


@each_way
async def test_following_after_a_brave_one(language: str, size: tuple[int, int]) -> None:
    table = position(FIELD)
    act(table, 0, "play_role", role="forest_witch", stance="brave")
    feed = TableFeed(table, 1)
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        shows(app, language, ("You have this role", "Έχεις τον ρόλο", "Sinulla on rooli"))
        shows(app, language, ("Forest Witch: ● brave", "Μάγισσα του δάσους: ● γενναία", "Metsänoita: ● rohkea"))
        await pilot.press("1", "enter")
        await until(pilot, lambda: bool(feed.submitted))
        assert sent(feed) == pb.PlayRole(role="forest_witch", stance="brave")
        await pilot.press("e")
        await pilot.pause()
        shows(app, language, ("is brave too: Aino is out", "παίζει επίσης γενναία: Aino", "on rohkea: Aino putoaa"))


@each_way
async def test_offers_are_sealed(language: str, size: tuple[int, int]) -> None:
    seats = {0: {"roles": ["hill_druid"], "resources": "o1 w2"}, 1: {"resources": "g3"}}
    table = position({"event": "the_upper_hand", "seats": seats}, 2)
    act(table, 0, "play_role", role="hill_druid", stance="brave")
    act(table, 1, "offer")
    feed = TableFeed(table, 0)
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        shows(app, language, ("Offer resources in secret", "Πρόσφερε κρυφά πόρους", "Tarjoa salaa resursseja"))
        shows(app, language, ("▲ Steady (bot) has made", "▲ Σταθερός (μποτ) έκανε", "▲ Vakaa (botti) on tarjonnut"))


# ---- others' turns, panels, the end ----------------------------------------------------------------------------------


@each_way
async def test_a_spectator_sees_what_is_public(language: str, size: tuple[int, int]) -> None:
    app = stage(TableFeed(position(FIELD), None), language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        shows(app, language, ("Aino decides", "Αποφασίζει: ● Aino", "Vuorossa: ● Aino"))
        assert not {"Forest Witch", "Metsänoita", "Μάγισσα του δάσους"} & {*text(app).split("  ")}
        for own in ("(you)", "(εσύ)", "(sinä)"):
            assert own not in text(app)


@each_way
async def test_panels_and_choices_tell_everything(language: str, size: tuple[int, int]) -> None:
    app = stage(TableFeed(position(FIELD)), language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        for key, wanted in (
            ("z", ("heavy cloud: stars", "μεγάλο σύννεφο: αστέρια", "raskas pilvi: tähdet")),
            ("s", ("with final scoring now", "με τελική βαθμολογία", "loppupisteineen nyt")),
            ("v", ("Prairie 1: green round tower 2", "Λιβάδι 1: πράσινος κυκλικός", "Niitty 1: vihreä pyöreä torni 2")),
            ("o", ("Bewitched, 3 VP lost", "Μαγεμένοι ρόλοι, 3 ΠΝ", "Lumottu, maksaa 3 VP")),
        ):
            await pilot.press(key)
            await pilot.pause()
            shows(app, language, wanted)
            await pilot.press("escape")
            await pilot.pause()
        await pilot.press("space")
        await pilot.pause()
        shows(
            app,
            language,
            ("Play it cowardly: Black Market", "Παίξε δειλά: Μαύρη Αγορά", "Pelaa arasti: Musta pörssi"),
        )


async def test_the_language_goes_round_all_three() -> None:
    app = stage(TableFeed(position(FIELD)), "en")
    async with app.run_test(size=LARGE) as pilot:
        await settle(pilot)
        for wanted in ("Sinun vuorosi", "Η σειρά σου", "Your turn"):
            await pilot.press("l")
            await until(pilot, lambda wanted=wanted: wanted in text(app))  # type: ignore[misc]


@each_way
async def test_the_match_is_left_and_won(language: str, size: tuple[int, int]) -> None:
    table = position(FIELD, 3)
    for seat in (1, 2):
        table.submit(table.envelope(seat, "resign", b"", None), table.running.occupants[seat].occupant_id)
    app = stage(TableFeed(table), language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        shows(app, language, ("All others have left", "Όλοι οι άλλοι αποχώρησαν", "Kaikki muut ovat lähteneet"))
        shows(app, language, ("Victory", "Νίκη", "Voitto"))
        assert buttons(app)


# ---- in lines --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "typed"),
    [("en", "cowardly black market"), ("el", "δειλά μαύρη αγορά"), ("fi", "arasti musta pörssi")],
)
async def test_a_role_is_played_in_words(language: str, typed: str) -> None:
    feed = TableFeed(position(FIELD))
    model = MatchModel(feed, PLUGIN, SITTERS, language)
    heard: list[str] = []
    match = PlainMatch(model, heard.append, "grimoire play --match screen-test", lambda: 80)
    arrived = asyncio.Event()
    arrived.set()
    async with asyncio.timeout(20):
        await match.run(deque([typed, "1", None]), arrived, tuple)
    assert sent(feed, 0) == pb.PlayRole(role="forest_witch", stance="cowardly", instead="event")
    assert any(("Your turn", "Η σειρά σου", "Sinun vuorosi")[LANGUAGES.index(language)] in line for line in heard)
