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
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from grimoire.match.table import Table
from grimoire.plugins import load_game
from grimoire.v1 import match_pb2
from tests.support.feed import StillDesk, TableFeed, act, table_of
from tests.support.screens import Stage, buttons, lines, said, text, until

PLUGIN = load_game("wizards_garden")
SMALL, LARGE = (80, 24), (120, 40)
LANGUAGES = ("en", "fi")
SITTERS = Sitters({0: Sitter("Aino"), 1: Sitter("", "heuristic")})

everywhere = pytest.mark.parametrize(
    ("language", "size"), [("en", SMALL), ("fi", SMALL), ("en", LARGE), ("fi", LARGE)], ids=str
)
both_ways = pytest.mark.parametrize(("language", "size"), [("en", SMALL), ("fi", LARGE)], ids=str)
"""Something that is done, once at each size."""

FIELD: Mapping[str, Any] = {
    "yard": ["B@c5", "R@c4*fire", "PP@b4", "R@a4", "w2@c4", "PB@c3", "F3@e4"],
    "blue": {"fire": 2, "lit": "spirit", "spells": ["gem", "skull"], "hand": ["fire"]},
    "red": {"fire": 1, "spells": ["conch"]},
}
ATTACK = {**FIELD, "threats": ["c5>c4", "b4>a4"], "state": "attack"}


def position(described: Mapping[str, Any]) -> Table:
    event = PLUGIN.positions.parse(described, {})
    return table_of(PLUGIN.game, position=event.SerializeToString(), mode=match_pb2.MATCH_MODE_ANALYSIS)


def stage(feed: TableFeed, language: str) -> Stage:
    """The screen of a match that was dealt long ago."""
    feed.table.now_ms += 20_000
    return Stage(MatchScreen(MatchModel(feed, PLUGIN, SITTERS, language), StillDesk(), board_of(PLUGIN)))


async def settle(pilot: Pilot[Any]) -> None:
    await until(pilot, lambda: "●" in text(pilot.app))
    await pilot.pause()


@everywhere
async def test_everything_is_on_the_screen(language: str, size: tuple[int, int]) -> None:
    app = stage(TableFeed(position({**ATTACK, "state": "wizard_end"})), language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        said(app, ("Your turn", "Sinun vuorosi"), ("(you) ● blue", "(sinä) ● sininen"), language=language)
        said(app, ("Steady (bot) ■ red", "Vakaa (botti) ■ punainen"), language=language)
        said(app, ("fire 2 · hand 1 · spells 2", "tulta 2 · käsi 1 · loitsuja 2"), language=language)
        said(app, ("fire 1 · hand 0 · spells 1", "tulta 1 · käsi 0 · loitsuja 1"), language=language)
        said(app, ("deck 42 · discarded 0", "pakka 42 · poistetut 0"), language=language)
        said(app, ("supply ж7 ≈18 ϟ4", "varasto ж7 ≈18 ϟ4"), ("open: ж", "avoinna: ж"), language=language)
        said(app, ("Threats", "Uhat"), ("b4>a4 ж1ж2 2", "b4>a4 ж1ж2 2"), ("c5>c4 ●5", "c5>c4 ●5"), language=language)
        said(app, ("Hand: ϟ fire", "Käsi: ϟ tuli"), ("Gem, Skull", "Jalokivi, Pääkallo"), language=language)
        said(app, ("turn 1/200", "vuoro 1/200"), ("wizard phase", "taikurivaihe"), language=language)
        shown = "\n".join(lines(app))
        assert all(sign in shown for sign in ("■5✶ϟ", "ж1ж2", "ж3●6", "ϟ3", "▼", "◀", "●2✶Λ", "╱╱╱╱"))
        assert "ψ! Λ✶" in shown
        assert "◷ 1:40" in shown
        assert len(lines(app)) == size[1]
        assert {len(line) for line in lines(app)} == {size[0]}


@everywhere
async def test_the_first_choice_of_all(language: str, size: tuple[int, int]) -> None:
    table = table_of(PLUGIN.game, {"first_player": "blue"})
    feed = TableFeed(table)
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        said(
            app, ("Choose two spirits", "Valitse kaksi henkeä"), ("open: none", "avoinna: ei mitään"), language=language
        )
        await pilot.press("1")
        await pilot.press("enter")
        await until(pilot, lambda: bool(feed.submitted))
        command = pb.Prepare.FromString(feed.submitted[0][1])
        assert (feed.submitted[0][0], len(command.spirits)) == ("prepare", 2)
        said(app, ("Waiting for ▲ Steady", "Odotetaan: ▲ Vakaa"), language=language)


@both_ways
async def test_an_action_step_by_step(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position({"blue": {"spirits": ["gnome", "fire"]}, "state": "wizard_main"}))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("6")
        said(app, ("left: Λ gnome.", "vasen: Λ tonttu."), language=language)
        await pilot.press("enter")
        await until(pilot, lambda: bool(feed.submitted))
        assert feed.submitted == [("spirit_action", pb.SpiritAction(slot=0).SerializeToString(), 1)]
        said(app, ("move 2 gnomes: 2 left", "siirrä 2 tonttua: jäljellä 2"), language=language)
        await pilot.press("1", "left")
        assert any("a1" in line for line in lines(app))
        await pilot.press("enter")
        await until(pilot, lambda: len(feed.submitted) == 2)
        moved = pb.MoveGnome(gnome="blue_gnome_01", to="a1")
        assert feed.submitted[1] == ("move_gnome", moved.SerializeToString(), 2)
        said(app, ("move 2 gnomes: 1 left", "siirrä 2 tonttua: jäljellä 1"), language=language)
        said(app, ("Blue gnome 1 moves", "Sininen tonttu 1 siirtyy"), language=language)
        await pilot.press("d")
        said(app, ("End the action?", "Päätä toiminto?"), language=language)
        assert len(feed.submitted) == 2, "not by a slip of one key"
        await pilot.press("enter")
        await until(pilot, lambda: len(feed.submitted) == 3)
        assert feed.submitted[2][0] == "end_action"


@both_ways
async def test_a_click_on_a_piece_and_on_its_way(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position({"state": "garden"}))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("1", "enter")
        await until(pilot, lambda: bool(feed.submitted))
        at = next((x, y) for y, line in enumerate(lines(app)) if (x := line[:48].find("●4")) >= 0)
        up = 2 if size == SMALL else 4
        await pilot.click(offset=at)
        await pilot.click(offset=(at[0], at[1] - up))
        await pilot.press("enter")
        await until(pilot, lambda: len(feed.submitted) == 2)
        moved = pb.MoveGnome(gnome="blue_gnome_04", to="c3")
        assert feed.submitted[1] == ("move_gnome", moved.SerializeToString(), 2)


@everywhere
async def test_an_attack_is_declared_with_fire(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position(ATTACK))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("2")
        said(app, ("c5>c4: blue gnome 5", "c5>c4: sininen tonttu 5"), language=language)
        assert any(button.startswith("w ") for button in buttons(app))
        await pilot.press("k")
        await pilot.pause()
        said(app, ("Attack c4 from c5", "Hyökkää ruutuun c4 ruudusta c5"), ("1 to 2", "1–2"), language=language)
        await pilot.press("up", "enter")
        await until(pilot, lambda: bool(feed.submitted))
        declared = pb.DeclareAttack(group="c5>c4", fire=2)
        assert feed.submitted == [("declare_attack", declared.SerializeToString(), 1)]


@everywhere
async def test_the_defender_sees_what_may_be_done(language: str, size: tuple[int, int]) -> None:
    table = position(ATTACK)
    act(table, 0, "declare_attack", group="c5>c4", fire=2)
    feed = TableFeed(table, 1)
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        said(app, ("An attack: defend against it", "Hyökkäys: puolustaudu"), language=language)
        said(app, ("DEFEND c4: attack 2", "PUOLUSTA c4: hyökkäys 2"), language=language)
        said(app, ("⚔ attack 2 on c4", "⚔ hyökkäys 2, kohde c4"), language=language)
        said(app, ("1 nothing 2 water 3 fire", "1 ei mitään 2 vesi 3 tuli"), language=language)
        assert any(button.startswith(("Conch", "Kotilo")) for button in buttons(app))
        # One's own terrace is below.
        assert next(line for line in lines(app) if line.startswith("7 ")).count("■") == 3
        await pilot.press("2", "enter")
        await pilot.pause()
        await pilot.press("up", "enter")
        await until(pilot, lambda: bool(feed.submitted))
        command = pb.Defend.FromString(feed.submitted[0][1])
        assert (getattr(command, "with"), command.amount) == ("water", 2)
        await pilot.press("e")
        await pilot.pause()
        said(app, ("Water puts the attack out", "Vesi sammuttaa hyökkäyksen"), language=language)


@both_ways
async def test_after_the_battle(language: str, size: tuple[int, int]) -> None:
    table = position({**ATTACK, "yard": ["B@c5", "R@c4*fire", "B@b4", "R@a4"], "red": {}})
    act(table, 0, "declare_attack", group="c5>c4", fire=1)
    feed = TableFeed(table)
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        said(app, ("LIGHT fire lantern?", "SYTYTÄTKÖ: tulilyhty?"), ("1 light it", "1 sytytä"), language=language)
        await pilot.press("1", "enter")
        await until(pilot, lambda: bool(feed.submitted))
        assert feed.submitted[0][:2] == ("choose_light", pb.ChooseLight(light=True).SerializeToString())
        await pilot.press("1", "k")
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: len(feed.submitted) == 2)
        said(app, ("MOVE IN to a4?", "SIIRRYTÄÄNKÖ: a4?"), language=language)
        await pilot.press("1", "enter")
        await until(pilot, lambda: len(feed.submitted) == 3)
        assert feed.submitted[2][:2] == ("choose_space", pb.ChooseSpace(to="target").SerializeToString())


@both_ways
async def test_all_choices_in_words_with_a_filter(language: str, size: tuple[int, int]) -> None:
    feed = TableFeed(position({**FIELD, "yard": ["R@c4*fire"], "state": "wizard_start"}))
    app = stage(feed, language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("space")
        await pilot.pause()
        said(app, ("What you may do now", "Mitä voit tehdä nyt"), language=language)
        said(app, ("Magician action: move 1 pest", "Taikuritoiminto: siirrä 1 tuholainen"), language=language)
        await pilot.press(*("skull" if language == "en" else "pääk"))
        await pilot.pause()
        said(app, ("Skull: attack with fire alone", "Pääkallo: hyökkää pelkällä tulella"), language=language)
        assert ("Magician" in text(app), "Taikuritoiminto" in text(app)) == (False, False)
        await pilot.press("enter")
        asks = ("Which target", "Mikä kohde")[LANGUAGES.index(language)]
        await until(pilot, lambda: asks in text(app))
        await pilot.press("1")
        asks = ("How much fire", "Kuinka paljon tulta")[LANGUAGES.index(language)]
        await until(pilot, lambda: asks in text(app))
        await pilot.press("enter")
        await until(pilot, lambda: bool(feed.submitted))
        assert feed.submitted[0][0] == "cast_skull"


@both_ways
async def test_panels_and_help_tell_everything(language: str, size: tuple[int, int]) -> None:
    app = stage(TableFeed(position({**ATTACK, "red": {"cast": ["eye"]}})), language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        for key, wanted in (
            ("t", ("b4>a4: pest 1, pest 2, strength 2", "b4>a4: tuholainen 1, tuholainen 2, voima 2")),
            ("s", ("Replaces your wizard phase", "Korvaa taikurivaiheesi")),
            ("y", ("Row 5: c5: blue gnome 5", "Rivi 5: c5: sininen tonttu 5")),
            ("g", ("possessed gnome", "tuholaisen vallassa")),
            ("question_mark", ("End the phase", "Päätä vaihe")),
        ):
            await pilot.press(key)
            await pilot.pause()
            said(app, wanted, language=language)
            await pilot.press("escape")
            await pilot.pause()


@both_ways
async def test_a_spectator_sees_no_hand(language: str, size: tuple[int, int]) -> None:
    app = stage(TableFeed(position(ATTACK), None), language)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        said(app, ("hand 1 · spells 2", "käsi 1 · loitsuja 2"), language=language)
        assert not any(word in text(app) for word in ("Gem", "Jalokivi", "Hand:", "Käsi:"))


async def test_a_small_window_breaks_nothing() -> None:
    app = stage(TableFeed(position(ATTACK)), "fi")
    async with app.run_test(size=(40, 14)) as pilot:
        await settle(pilot)
        await pilot.press("1")
        await pilot.resize_terminal(200, 60)
        await pilot.pause()
        assert "c4" in text(app)
