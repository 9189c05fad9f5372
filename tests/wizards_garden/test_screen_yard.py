"""The yard, what stands beside it and below it: every size, every sign, nothing told by colour alone."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import pytest
from textual.geometry import Size

from grimoire.engine import PUBLIC, Illegal, Viewer
from grimoire.engine.board import Shown
from grimoire.games.two_towers.v1 import two_towers_pb2
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from tests.wizards_garden.lively import GAME, draws, lively_match, setup_of
from wizards_garden.catalogue import DATA
from wizards_garden.pieces import CARDS, KINDS
from wizards_garden.positions import WizardsGardenPositions
from wizards_garden.screen.layout import Layout, layout
from wizards_garden.screen.lines import crossing
from wizards_garden.screen.own import own_lines
from wizards_garden.screen.refs import beside, choices, clicked
from wizards_garden.screen.side import side_lines
from wizards_garden.screen.yard import yard_lines
from wizards_garden.words import LANGUAGES, words_in

SIZES = ((80, 19), (84, 34), (100, 28), (160, 50), (60, 16), (30, 8))
NAMES = {0: "Aino", 1: "W" * 24}
SPACES = [space.id for space in DATA.board.spaces]


def shown(view: pb.View, language: str = "en", **more: Any) -> Shown:
    return Shown(view=view, language=language, names=NAMES, **more)


def arranged(position: Mapping[str, object], viewer: Viewer | None = None) -> pb.View:
    event = WizardsGardenPositions().parse(position, {})
    start = GAME.start(setup_of({}, event.SerializeToString()), draws(0))
    assert not isinstance(start, Illegal)
    return GAME.view(start.state, viewer or Viewer.of_seat(0))


def worst() -> pb.View:
    """Every space full to the brim, threats over every border, long lists: more than there can ever be."""
    spaces = [
        pb.Space(space=s, gnome="red_gnome_10", lantern="pest", bright=True, water=5)
        if n % 2
        else pb.Space(space=s, pests=["pest_09", "pest_10"], water=5)
        for n, s in enumerate(SPACES)
    ]
    groups = [
        pb.Group(group=f"{s.id}>{t}", origin=s.id, target=t, pieces=["pest_09", "pest_10"], strength=2, in_transit=True)
        for s in DATA.board.spaces
        for t in s.adjacent
    ]
    side = pb.SeatView(
        spirits=["spirit_pest_01", "spirit_pest_02"],
        lanterns=[pb.Lantern(kind=kind, state="dim_on_board") for kind in KINDS],
        fire=5,
        hand_count=5,
        spell_count=3,
        gnomes_in_supply=10,
        hand=CARDS[:5],
        spells=["butterfly", "trinket", "feather"],
    )
    seats = [side, pb.SeatView()]
    seats[1].CopyFrom(side)
    seats[1].seat = 1
    return pb.View(
        own_seat=0,
        turn_no=1000,
        turn_limit=1000,
        state="defence",
        phase="attack",
        asked_seat=0,
        spaces=spaces,
        groups=groups,
        seats=seats,
        row=CARDS[:3],
        discards=CARDS[:20],
        deck_count=45,
        pests_in_supply=10,
        water_in_supply=20,
        fire_in_supply=10,
        battle=pb.Battle(seat=1, group="a3>a4", target="a4", strength=5, awaits="defence"),
    )


def text(view: pb.View, **more: Any) -> str:
    return "\n".join(line.plain for line in yard_lines(shown(view, **more), layout(80, 19)))


def rows(view: pb.View, **more: Any) -> dict[str, list[str]]:
    """What stands on each row of the small yard, by the row's number."""
    lines = text(view, **more).splitlines()
    return {
        line[0]: [cell.strip() for cell in line[3:-1].replace("┃", "│").split("│")]
        for line in lines
        if line[:1].isdecimal()
    }


# ---- sizes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_keeps_to_its_place(size: tuple[int, int], language: str) -> None:
    plan, view = layout(*size), worst()
    usable = frozenset({*(f"space:{s}" for s in SPACES), *(f"kind:{kind}" for kind in KINDS)})
    drawn = shown(view, language, usable=usable, fits=usable, picked=("space:a1",))
    lines = yard_lines(drawn, plan)
    assert {len(line) for line in lines[1:]} == {plan.yard_width}
    assert len(lines) == plan.yard_height
    beside_it = side_lines(drawn, Size(plan.side, plan.yard_height))
    assert len(beside_it) <= plan.yard_height
    assert all(len(line) <= plan.side for line in beside_it)
    below = own_lines(drawn, Size(size[0], 3))
    assert len(below) == 3
    assert all(len(line) <= size[0] for line in below)


def test_the_smallest_promised_size_shows_all_of_the_worst_space() -> None:
    view = worst()
    assert layout(80, 19) == Layout(8, 1, 31)
    assert "■10✶ж" in text(view)
    assert "ж9ж10≈5" in text(view).replace("ж9ж10  ≈5", "ж9ж10≈5").replace("ж9ж10 ≈5", "ж9ж10≈5")


@pytest.mark.parametrize("size", SIZES[:3])
def test_whole_matches_are_drawn(size: tuple[int, int]) -> None:
    plan = layout(*size)
    for step in itertools.islice(lively_match(3, spells_per_player="3", turn_limit="40"), 250):
        for viewer in (Viewer.of_seat(step.prompt.seat), PUBLIC):
            drawn = shown(GAME.view(step.state, viewer), "fi")
            assert {len(line) for line in yard_lines(drawn, plan)[1:]} == {plan.yard_width}
            assert all(len(line) <= plan.side for line in side_lines(drawn, Size(plan.side, plan.yard_height)))


# ---- signs -----------------------------------------------------------------------------------------------------------

POSITION = {
    "yard": ["B@a4*fire", "w2@a4", "PP@a3", "R@e4~spirit", "w5@e4", "PR@c3", "F3@c4", "R@a5"],
    "threats": ["a5>a4", "P@d3>d4"][:1],
    "blue": {"fire": 2, "lit": "spirit", "hand": ["fire", "water"], "spells": ["conch", "gem"]},
    "red": {"fire": 3, "spells": ["skull"], "hand": ["gnome"]},
    "state": "attack",
    "active": "red",
}


def test_what_stands_where() -> None:
    yard = rows(arranged(POSITION))
    assert [*yard] == ["7", "6", "5", "4", "3", "2", "1"]
    assert yard["4"] == ["●5✶ϟ  ≈2", "", "ϟ3    ≈0", "", "■5○ψ  ≈5"]
    assert yard["3"] == ["ж1ж2", "╱╱╱╱╱╱╱╱", "ж3■6", "╱╱╱╱╱╱╱╱", ""]
    assert yard["1"] == ["", "●1", "●2✶Λ  ≈0", "●3", ""]
    assert yard["6"] == ["≈0", "", "■4", "", "≈0"]


def test_every_deposit_and_no_other_space_shows_its_water() -> None:
    yard = rows(arranged({}))
    cells = {f"{column}{row}": cell for row, line in yard.items() for column, cell in zip("abcde", line, strict=True)}
    assert {space for space, cell in cells.items() if cell.endswith("≈0")} == {*DATA.board.deposits}


def test_red_has_its_terrace_below_and_a_spectator_blues() -> None:
    turned = rows(arranged(POSITION, Viewer.of_seat(1)))
    assert [*turned] == ["1", "2", "3", "4", "5", "6", "7"]
    assert turned["4"] == ["■5○ψ  ≈5", "", "ϟ3    ≈0", "", "●5✶ϟ  ≈2"]
    assert text(arranged(POSITION, Viewer.of_seat(1))).splitlines()[0].split() == ["e", "d", "c", "b", "a"]
    assert [*rows(arranged(POSITION, PUBLIC))] == ["7", "6", "5", "4", "3", "2", "1"]


def test_threats_are_arrows_from_the_origin_to_the_target() -> None:
    def borders(view: pb.View) -> str:
        return text(view)

    down = arranged(POSITION)
    assert borders(down).count("▼") == 1
    assert borders(arranged(POSITION, Viewer.of_seat(1))).count("▲") == 1
    sideways = arranged({"yard": ["B@b4", "R@a4"], "threats": ["b4>a4"], "state": "attack"})
    assert "◀●5" in borders(sideways)
    border = [line for line in borders(sideways).splitlines() if line.startswith("4")]
    assert "■5" in border[0].partition("◀")[0]
    in_transit = arranged({"yard": ["R@a3"], "threats": ["P@b3>a3"], "state": "attack"})
    assert "◁" in borders(in_transit)


def test_terraces_have_heavy_lines_all_round() -> None:
    drawn = text(arranged({}))
    assert drawn.count("━") == 2 * 8 * (3 + 3)
    assert drawn.count("┃") == 8


@pytest.mark.parametrize("arms", ["udlr", "UDLR", "dR", "UdL", "ulR", ""])
def test_a_crossing_for_all_arms(arms: str) -> None:
    assert len(crossing(arms)) == 1


def test_legend_where_there_is_room() -> None:
    plan = layout(84, 34)
    lines = [line.plain for line in side_lines(shown(arranged(POSITION)), Size(plan.side, plan.yard_height))]
    words = words_in("en").terminal
    assert words["legend_bright"] in lines
    assert words["legend_threat"] in lines
    assert max(len(text) for key, text in words.items() if key.startswith("legend_")) <= 31
    assert max(len(text) for key, text in words_in("fi").terminal.items() if key.startswith("legend_")) <= 31


# ---- beside and below ------------------------------------------------------------------------------------------------


def test_both_wizard_boards_and_the_table() -> None:
    lines = [line.plain for line in side_lines(shown(arranged(POSITION)), Size(40, 16))]
    assert lines[0].startswith("▶▲ WWW")
    assert lines[1:4] == [" ≈ water  ж pest", " ж· ≈✶ ψ○ Λ· ϟ·  2/5  ■×3", " fire 3 · hand 1 · spells 1"]
    assert lines[4:7] == ["open: ж pest  ≈ water  ϟ fire", "deck 40 · discarded 0", "supply  ж7 ≈13 ϟ2"]
    assert lines[7] == " ● Aino (you) ● blue"
    assert lines[9] == " ж· ≈· ψ! Λ✶ ϟ✶  2/5  ●×5"
    assert lines[11:13] == ["Threats", " a5>a4 ■7"]


def test_threats_that_have_no_room_are_counted() -> None:
    view = worst()
    lines = [line.plain for line in side_lines(shown(view), Size(31, 16))]
    assert lines[-1] == f" +{len(view.groups) - 2} more: t"
    assert any(line == "⚔ attack 5 on a4" for line in lines)


def test_own_cards_are_below_and_a_spectator_has_none() -> None:
    own = [line.plain for line in own_lines(shown(arranged(POSITION)), Size(80, 3))]
    assert own[:2] == ["Hand: ϟ fire  ≈ water", "Spells: Conch, Gem"]
    public = [line.plain for line in own_lines(shown(arranged(POSITION, PUBLIC)), Size(80, 3))]
    assert public == [""]


def test_another_games_view_is_refused() -> None:
    other = Shown(view=two_towers_pb2.View(), language="en", names={})
    with pytest.raises(TypeError, match="no view of the Wizard's Garden"):
        yard_lines(other, layout(80, 19))


# ---- picking ---------------------------------------------------------------------------------------------------------

GNOMES = frozenset({"gnome:blue_gnome_01", "gnome:blue_gnome_04", "space:a1", "space:b2", "space:c3"})


def test_digits_stand_where_they_pick() -> None:
    view = arranged({})
    drawn = shown(view, usable=GNOMES, fits=GNOMES)
    assert [*choices(drawn)] == [
        "gnome:blue_gnome_01",
        "gnome:blue_gnome_04",
        "space:a1",
        "space:b2",
        "space:c3",
    ]
    yard = rows(view, usable=GNOMES, fits=GNOMES)
    assert yard["1"][:2] == ["³", "¹●1"]
    assert yard["2"][1:3] == ["⁴", "²●4"]
    picked = rows(view, usable=GNOMES, picked=("gnome:blue_gnome_04",), fits=frozenset({"space:b2", "space:c3"}))
    assert picked["2"][1:3] == ["¹", "▶●4"]
    assert picked["3"][2] == "²"


def test_choices_outside_the_yard_are_named_in_the_order_of_the_rules() -> None:
    usable = frozenset({"kind:fire", "kind:pest", "slot:1", "slot:0", "space:a4", "card:spirit_water_05"})
    drawn = shown(arranged({}), usable=usable, fits=usable)
    assert own_lines(drawn, Size(100, 3))[2].plain == (
        "Choose: 1 ж pest  2 ϟ fire  3 left: Λ gnome  4 right: ϟ fire  the yard: digits, arrows, mouse"
    )
    assert own_lines(drawn, Size(60, 3))[2].plain == "Choose: 1 ж  2 ϟ  3 left: Λ  4 right: ϟ"


def test_a_click_takes_what_fits_then_what_else_stands_there_and_puts_it_back() -> None:
    view = arranged({"yard": ["B@a4"]})
    usable = frozenset({"gnome:blue_gnome_05", "space:a4", "space:a5"})
    drawn = shown(view, usable=usable, fits=usable)
    assert clicked("a4", drawn) == "gnome:blue_gnome_05"
    picked = shown(
        view,
        usable=usable,
        picked=("gnome:blue_gnome_05",),
        fits=frozenset({"space:a5"}),
        instead=frozenset({"space:a4", "space:a5"}),
    )
    assert clicked("a5", picked) == "space:a5"
    assert clicked("a4", picked) == "space:a4", "the deposit, from which a gnome may be brought"
    brought = shown(view, usable=usable, picked=("space:a4",), instead=frozenset({"gnome:blue_gnome_05"}))
    assert clicked("a4", brought) == "space:a4", "put back"
    assert clicked("e1", drawn) == "space:e1", "the client says that it is not usable"


def test_arrows_lead_from_a_piece_to_its_ways_and_round_them() -> None:
    view = arranged({})
    ways = frozenset({"space:b2", "space:d2", "space:c3"})
    piece = shown(view, picked=("gnome:blue_gnome_04",), fits=ways)
    assert beside("gnome:blue_gnome_04", piece, 0, -1) == "space:c3"
    assert beside("gnome:blue_gnome_04", piece, 1, 0) == "space:d2"
    assert beside("gnome:blue_gnome_04", piece, 0, 1) == ""
    way = shown(view, picked=("gnome:blue_gnome_04", "space:c3"), instead=ways - {"space:c3"})
    assert beside("space:c3", way, -1, 0) == "space:b2"
    deposits = shown(view, picked=("space:c1",), instead=frozenset({"space:a2", "space:e2", "space:c4"}))
    assert beside("space:c1", deposits, 0, -1) == "space:c4"
    assert beside("space:c1", deposits, -1, 0) == "space:a2"
    kinds = shown(view, picked=("kind:pest",), instead=frozenset({"kind:water", "kind:fire"}))
    assert beside("kind:pest", kinds, 0, 1) == "kind:water"
    assert beside("kind:pest", kinds, -1, 0) == "kind:fire"
