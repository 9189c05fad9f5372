"""The whole match screen in every state a player meets, in both languages and at small and large sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from textual.pilot import Pilot

from grimoire.cli.screens.app import board_of
from grimoire.cli.screens.match_screen import MatchScreen
from grimoire.cli.screens.model import MatchModel
from grimoire.cli.screens.sitters import Sitter, Sitters
from grimoire.engine import Illegal
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from grimoire.match.table import Table
from grimoire.plugins import load_game
from grimoire.v1 import match_pb2
from tests.support.feed import StillDesk, TableFeed, act, table_of
from tests.support.screens import Stage, lines, said, text, until

PLUGIN = load_game("spellbound")
SMALL, LARGE = (80, 24), (120, 40)
LANGUAGES = ("en", "fi")
SITTERS = Sitters({0: Sitter("Aino"), 1: Sitter("", "heuristic"), 2: Sitter("Otso")})

everywhere = pytest.mark.parametrize(
    ("language", "size"), [("en", SMALL), ("fi", SMALL), ("en", LARGE), ("fi", LARGE)], ids=str
)
both_ways = pytest.mark.parametrize(("language", "size"), [("en", SMALL), ("fi", LARGE)], ids=str)
"""Something that is done, once at each size."""


def position(described: Mapping[str, Any], seats: int = 2, **options: str) -> Table:
    facts = PLUGIN.game.configure(options, seats)
    assert not isinstance(facts, Illegal), facts
    event = PLUGIN.positions.parse(described, dict(facts.options))
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
    await until(pilot, lambda: "■" in text(pilot.app))
    await pilot.pause()


def sent(feed: TableFeed, at: int = -1) -> Any:
    """A command that was sent."""
    code, payload, _ = feed.submitted[at]
    return PLUGIN.game.schema.commands[code].FromString(payload)


FIELD: dict[str, Any] = {
    "mages": ["city_red", "wilderness", "city_red"],
    "wands": {0: 2},
    "spells": {0: ["sun_burst"], 1: ["teleport"]},
    "hats": {"red": 3, "blue": 5},
    "books": {"blue": "gained", "yellow": "lost"},
    "lower_row": ["basic_move_red", "centaur_1", "fortuna_deck"],
    "upper_row": ["witch_blue_a"],
    "sun_pile": ["dragon_1"],
    "moon_pile": ["troll_a"],
    "influence": {"village_03": ["basic_influence_red"]},
}


# ---- what is seen ----------------------------------------------------------------------------------------------------


@everywhere
async def test_everything_is_on_the_screen(language: str, size: tuple[int, int]) -> None:
    app = stage(TableFeed(position(FIELD, 2, mages="3")), language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        said(app, ("Your turn", "Sinun vuorosi"), language=language)
        said(app, ("A ● Aino (you) wand 2 · Sun Burst", "A ● Aino (sinä) sauva 2 · Aurin"), language=language)
        said(app, ("B ▲ Steady (bot) wand 0 · Teleport", "B ▲ Vakaa (botti) sauva 0 · Kaukosi"), language=language)
        said(app, ("C ● Aino (you) wand 0", "C ● Aino (sinä) sauva 0"), language=language)
        said(app, ("+1 !! AC", "+1 !! AC"), ("gained", "saatu"), ("LOST", "POISSA"), language=language)
        said(app, ("Baba Yaga 1/5 · strength 1", "Baba Jaga 1/5 · voima 1"), language=language)
        said(app, ("☀4 Dragon", "☀4 Lohikäärme"), ("☾1 Troll", "☾1 Peikko"), language=language)
        said(app, ("bag ☀3☾2", "pussi ☀3☾2"), ("books 1/4 · lost 1/2", "kirjat 1/4 · menetetty 1/2"), language=language)
        said(app, ("3 Lizardman 1/4", "3 Liskomies 1/4"), ("12 ?", "12 ?"), language=language)
        said(app, ("Witch (blue) ☾1", "Noita (sininen) ☾1"), ("Centaur ☀2", "Kentauri ☀2"), language=language)
        said(app, ("Turn 1 · mage A (Aino): the story", "Vuoro 1 · velho A (Aino): tarina"), language=language)
        assert len(lines(app)) == size[1]
        assert {len(line) for line in lines(app)} == {size[0]}


@everywhere
async def test_a_deal_and_witching_time(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(table_of(PLUGIN.game, {"first_mage": "0", "mages": "2"}, seats=1))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        said(app, ("Send a card to the tower", "Lähetä yksi kortti torniin"), language=language)
        await pilot.press("1")
        await pilot.press("enter")
        await until(pilot, lambda: bool(feed.submitted))
        assert feed.submitted[0][0] == "send_to_tower"
        assert len(sent(feed).cards) == 1
        await until(pilot, lambda: ("The story", "Tarina")[LANGUAGES.index(language)] in text(app))


# ---- the story -------------------------------------------------------------------------------------------------------


@both_ways
async def test_a_card_is_picked_and_one_of_its_uses(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position(FIELD, 2, mages="3"))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("1")
        said(app, ("1 movement, or 1 research", "1 siirtyminen tai 1 tutkimus"), language=language)
        said(app, ("research its book", "tutki kortin kirjaa"), language=language)
        await pilot.press("2", "enter")
        await until(pilot, lambda: bool(feed.submitted))
        assert sent(feed) == pb.PlayCard(card="basic_move_red", mode="research")
        said(app, ("left: the card's book", "jäljellä: kortin kirja"), language=language)
        await pilot.press("1", "enter")
        await until(pilot, lambda: len(feed.submitted) == 2)
        assert sent(feed) == pb.CardStep(step="book_own")


@both_ways
async def test_a_movement_to_a_place_that_is_clicked(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position(FIELD, 2, mages="3"))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("2", "enter")
        await until(pilot, lambda: bool(feed.submitted))
        assert sent(feed) == pb.PlayCard(card="centaur_1", mode="ride")
        await pilot.press("1")
        y, line = next((n, each) for n, each in enumerate(lines(app)) if " 4 " in each and "5 " in each and n > 8)
        await pilot.click(offset=(line.index(" 4 ") + 3, y))
        said(app, ("Village 4: Witch's Tower", "Kylä 4: Noidantorni"), language=language)
        await pilot.press("enter")
        await until(pilot, lambda: len(feed.submitted) == 2)
        assert sent(feed) == pb.CardStep(step="move", to="village_04")
        said(app, ("movement 2 times", "siirtyminen 2 kertaa"), language=language)
        await pilot.press("x", "enter")
        await until(pilot, lambda: len(feed.submitted) == 3)
        assert feed.submitted[2][0] == "end_card"


@both_ways
async def test_the_wand_and_a_refusal(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position({**FIELD, "lower_row": [*FIELD["lower_row"], "librarian"]}, 2, mages="3"))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("n")
        await pilot.pause()
        assert not feed.submitted, "the story cannot be ended with three cards"
        await pilot.press("w")
        await pilot.pause()
        said(app, ("Wand", "Sauva"), language=language)


@both_ways
async def test_lying_influence_is_taken_away(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position(FIELD, 2, mages="3"))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("u")
        said(app, ("1) Influence (red)", "1) Vaikutus (punainen)"), language=language)
        await pilot.press("1", "enter")
        await until(pilot, lambda: bool(feed.submitted))
        assert sent(feed) == pb.DiscardInfluence(village="village_03", cards=["basic_influence_red"])


# ---- others' turns ---------------------------------------------------------------------------------------------------


@everywhere
async def test_a_rider_is_asked(language: str, size: tuple[int, int]) -> None:
    table = position({**FIELD, "mages": ["city_red", "city_red"]}, 2)
    act(table, 0, "play_card", card="centaur_1", mode="ride")
    act(table, 0, "card_step", step="move", to="village_05", rider=1)
    feed = TableFeed(table, 1)
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        said(app, ("May your mage be taken along?", "Lähteekö velhosi kyytiin?"), language=language)
        said(
            app,
            ("asks mage B to ride along to village 5", "tarjoaa kyydin kylään 5; kysytään: velho B"),
            language=language,
        )
        said(app, ("1) Ride along 2) Stay here", "1) Lähde kyytiin 2) Jää tänne"), language=language)
        await pilot.press("1", "enter")
        await until(pilot, lambda: bool(feed.submitted))
        assert sent(feed) == pb.AnswerRide(accept=True)


@everywhere
async def test_a_window_asks_who_holds_a_spell(language: str, size: tuple[int, int]) -> None:
    table = position(
        {
            "moved": True,
            "spells": {1: ["hat_trick"]},
            "hats": {"red": 3},
            "lower_row": ["basic_move_red", "basic_move_blue"],
            "deck_top": ["witch_red_b"],
        },
        2,
    )
    act(table, 0, "end_story")
    feed = TableFeed(table, 1)
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        said(app, ("A spell could help", "Loitsu voisi auttaa"), language=language)
        said(app, ("About to move on: red hat", "Etenemässä: punainen hattu"), language=language)
        said(app, ("Asked now", "Nyt kysytään"), ("Hat Trick", "Hattutemppu"), language=language)
        await pilot.press("1")
        if not feed.submitted:
            await pilot.press("1")
        await pilot.press("enter")
        await until(pilot, lambda: bool(feed.submitted))
        assert sent(feed) == pb.CastSpell(spell="hat_trick", piece="hat_red")
        await pilot.press("e")
        await pilot.pause()
        said(app, ("the red hat stays", "punainen hattu jää paikalleen"), language=language)


@both_ways
async def test_a_spell_of_any_time_while_another_plays(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position({**FIELD, "mages": ["city_red", "wilderness"]}, 2), 1)
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        said(app, ("Waiting for ● Aino", "Odotetaan: ● Aino"), language=language)
        said(app, ("Teleport", "Kaukosiirto"), language=language)
        await pilot.press("space")
        await pilot.pause()
        said(app, ("Teleport: put mage A somewhere else", "Kaukosiirto: velho A muualle"), language=language)
        await pilot.press("enter")
        await until(pilot, lambda: ("Where to", "Mihin")[LANGUAGES.index(language)] in text(app))
        await pilot.press("1")
        await until(pilot, lambda: bool(feed.submitted))
        assert (sent(feed).spell, sent(feed).HasField("mage")) == ("teleport", True)


@both_ways
async def test_a_spectator_sees_all_and_may_do_nothing(language: str, size: tuple[int, int]) -> None:
    app = stage(TableFeed(position({**FIELD, "mages": ["city_red", "wilderness"]}, 2), None), language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        said(app, ("Sun Burst", "Auringonpurkaus"), ("▶A ● Aino wand 2", "▶A ● Aino sauva 2"), language=language)
        assert ("(you)", "(sinä)")[LANGUAGES.index(language)] not in text(app)


# ---- the end of the deck, the battle, the end ------------------------------------------------------------------------


@both_ways
async def test_an_encounter_is_won_and_a_book_chosen(language: str, size: tuple[int, int]) -> None:
    suns = [
        f"basic_{kind}_{book}" for kind in ("move", "magic") for book in ("red", "blue", "green", "yellow", "silver")
    ]
    table = position(
        {"moved": True, "lower_row": [], "sun_pile": suns, "deck": ["basic_influence_red"], "watchman": "city_red"}, 2
    )
    act(table, 0, "end_story")
    feed = TableFeed(table)
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        said(app, ("choose a book to move on", "mikä kirja etenee"), language=language)
        said(app, ("Skeleton Army", "Luurankoarmeija"), language=language)
        assert [line[0] for line in lines(app)[2:7]] == [*"¹²³⁴⁵"]
        await pilot.press("5", "enter")
        await until(pilot, lambda: bool(feed.submitted))
        assert sent(feed) == pb.ChooseBook(book="silver")
        await pilot.press("e")
        await pilot.pause()
        said(app, ("the mages win", "velhot voittavat"), language=language)


@both_ways
async def test_the_final_battle_is_declared_and_decides(language: str, size: tuple[int, int]) -> None:
    table = position(
        {
            "mages": ["village_04", "village_04"],
            "books": dict.fromkeys(("red", "blue", "green", "yellow"), "gained"),
            "sun_pile": ["dragon_1", "dragon_2", "dragon_3"],
            "moon_pile": ["troll_a"],
            "minions": ["skeleton_army"],
            "lower_row": ["basic_move_red"],
        },
        2,
    )
    feed = TableFeed(table)
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("f")
        asks = ("What each book does", "Mitä kukin kirja tekee")[LANGUAGES.index(language)]
        await until(pilot, lambda: asks in text(app))
        said(app, ("red spell book", "punainen loitsukirja"), ("1 sun force", "1 aurinkovoima"), language=language)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: ("cannot be undone", "peru")[LANGUAGES.index(language)] in text(app))
        assert not feed.submitted
        await pilot.press("tab", "enter")
        await until(pilot, lambda: bool(feed.submitted))
        assert {use.use for use in sent(feed).books} == {"sun"}
        await until(pilot, lambda: ("final battle", "lopputaistelussa")[LANGUAGES.index(language)] in text(app))
        said(app, ("Baba Yaga is beaten", "Baba Jaga on voitettu"), language=language)


@both_ways
async def test_panels_and_choices_tell_everything(language: str, size: tuple[int, int]) -> None:
    app = stage(TableFeed(position(FIELD, 2, mages="3")), language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        for key, wanted in (
            ("g", ("witch's hat", "noidanhattu")),
            ("s", ("Discard one witch or troll card", "Poista tornista yksi noita- tai")),
            ("v", ("Village 3: Lizardman, influence 1 of 4", "Kylä 3: Liskomies, vaikutusta 1/4")),
            ("o", ("Sun pile, newest first", "Aurinkopino, uusin ensin")),
            ("y", ("Destiny discards, newest first", "Poistopakka, uusin ensin")),
        ):
            await pilot.press(key)
            await pilot.pause()
            said(app, wanted, language=language)
            await pilot.press("escape")
            await pilot.pause()
        await pilot.press("space")
        await pilot.pause()
        said(app, ("Travel (red): research its book", "Matka (punainen): tutki kortin kirjaa"), language=language)
