"""The data agrees with the figures of the rules, and a file that contradicts the rules or itself is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.wizards_garden.turned import piece, space
from wizards_garden.board import ADJACENT, DEPOSITS, IS_DEPOSIT, IS_PIT, PITS, SPACES, START, TERRACE, TERRACE_DEPOSIT
from wizards_garden.catalogue import DATA, DATA_BYTES, CatalogueError, load

YARD = """
7    .   [r]  [R]  [r]   .
6    E    .   [r]   .    E
5    .    #    .    #    .
4    E    .    E    .    E
3    .    #    .    #    .
2    E    .   [b]   .    E
1    .   [b]  [B]  [b]   .
"""
"""WG-2.6."""


def drawn() -> dict[str, str]:
    signs = {}
    for line in YARD.strip().splitlines():
        row, *cells = line.split()
        signs |= {f"{column}{row}": cell.strip("[]") for column, cell in zip("abcde", cells, strict=True)}
    return signs


def sign(index: int) -> str:
    if IS_PIT[index]:
        return "#"
    if TERRACE[index] >= 0:
        return ("b", "r")[TERRACE[index]].upper() if IS_DEPOSIT[index] else ("b", "r")[TERRACE[index]]
    return "E" if IS_DEPOSIT[index] else "."


def test_the_yard_is_as_the_rules_draw_it() -> None:
    assert {name: sign(index) for index, name in enumerate(SPACES)} == drawn()


def test_deposits_and_pits_lie_as_the_rules_say() -> None:
    assert len(DEPOSITS) == 9
    for pit in PITS:
        assert len(ADJACENT[pit]) == 4
        for beside in ADJACENT[pit]:
            assert not IS_DEPOSIT[beside]
            assert TERRACE[beside] < 0
            assert not IS_PIT[beside]
    assert [SPACES[deposit] for deposit in TERRACE_DEPOSIT] == ["c1", "c7"]


def test_turning_the_board_exchanges_the_colours_and_nothing_else() -> None:
    other = {-1: -1, 0: 1, 1: 0}
    for index in range(len(SPACES)):
        turned = space(index)
        assert space(turned) == index
        assert (IS_PIT[turned], IS_DEPOSIT[turned], TERRACE[turned]) == (
            IS_PIT[index],
            IS_DEPOSIT[index],
            other[TERRACE[index]],
        )
        assert {space(beside) for beside in ADJACENT[index]} == {*ADJACENT[turned]}
    assert {(piece(gnome), space(place)) for gnome, place in START} == {*START}


def test_figures_are_those_of_the_rules() -> None:
    supply, constants, options = DATA.supply, DATA.constants, DATA.options
    assert (supply.pests, supply.water, supply.fire, supply.gnomes_per_player) == (10, 20, 10, 10)  # WG-2.2
    assert (supply.spirit_cards, supply.spell_cards, supply.lanterns_per_player) == (50, 12, 5)
    assert (constants.lanterns_to_win, constants.start_gnomes) == (5, 4)
    assert (constants.deal_first, constants.deal_second, constants.board_spirits, constants.open_row) == (2, 3, 2, 3)
    assert (constants.hand_limit, constants.max_fire_per_player, constants.max_water_per_deposit) == (5, 5, 5)
    assert (constants.max_pests_per_space, constants.max_fish_fire_per_space) == (2, 5)
    assert (constants.water_to_light, constants.pair_strength) == (3, 2)
    assert (options.spells_per_player.default, options.turn_limit.default) == (2, 200)  # WG-1.3
    assert (options.spells_per_player.min, options.spells_per_player.max) == (1, 3)
    assert (options.turn_limit.min, options.turn_limit.max) == (40, 1000)
    assert options.first_player.default == "random"
    assert {(k.lantern_steps, k.magician_steps, k.spirit_steps, k.cards) for k in DATA.kinds} == {(1, 1, 2, 10)}  # WG-6


def test_spells_take_the_place_of_what_the_rules_say() -> None:
    """WG-13."""
    assert {spell.id: spell.replaces for spell in DATA.spells if spell.replaces} == {
        "gem": "wizard_phase",
        "flower": "wizard_phase",
        "butterfly": "turn",
        "trinket": "garden_phase",
    }
    assert {spell.id for spell in DATA.spells if spell.timing == "own_turn"} == {"skull", "eye", "dagger", "fish"}


# ---- faults ----------------------------------------------------------------------------------------------------------

Data = dict[str, Any]


def named(data: Data, table: str, name: str) -> Data:
    rows = data["board"]["spaces"] if table == "spaces" else data[table]
    return next(row for row in rows if row["id"] == name)


FAULTS: dict[str, Callable[[Data], object]] = {
    "another game": lambda d: d.update(game="two_towers"),
    "an unknown key": lambda d: d.update(more=1),
    "a spell without a Finnish name": lambda d: named(d, "spells", "gem")["name"].pop("fi"),
    "a spell missing": lambda d: d["spells"].pop(),
    "spells in another order": lambda d: d["spells"].reverse(),
    "a kind missing": lambda d: d["kinds"].pop(),
    "a card missing": lambda d: d["kinds"][0]["card_ids"].pop(),
    "a gnome missing": lambda d: d["piece_ids"]["gnomes"]["red"].pop(),
    "a pest too many": lambda d: d["supply"].update(pests=11),
    "a default out of range": lambda d: d["options"]["spells_per_player"].update(default=4),
    "another seat to begin": lambda d: d["options"]["first_player"].update(values=["random", "blue", "green"]),
    "a space missing": lambda d: d["board"]["spaces"].pop(),
    "a space that touches another far away": lambda d: named(d, "spaces", "a1")["adjacent"].append("e7"),
    "a space that does not touch its neighbour": lambda d: named(d, "spaces", "a1")["adjacent"].pop(),
    "a terrace of nobody": lambda d: named(d, "spaces", "b1").update(terrace_owner=None),
    "an owner of plain ground": lambda d: named(d, "spaces", "a1").update(terrace_owner="red"),
    "a deposit that is not listed": lambda d: named(d, "spaces", "b4").update(has_deposit=True),
    "a pit that is not listed": lambda d: d["board"]["pits"].pop(),
    "a start outside the terrace": lambda d: d["board"]["start"]["blue"].update(
        a1=d["board"]["start"]["blue"].pop("b1")
    ),
}


def test_the_data_as_it_is_is_sound() -> None:
    assert load(DATA_BYTES) == DATA


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.replace(" ", "-") for fault in FAULTS])
def test_data_that_contradict_the_rules_are_refused(fault: str) -> None:
    data = json.loads(DATA_BYTES)
    FAULTS[fault](data)
    with pytest.raises(CatalogueError, match="wizards_garden"):
        load(json.dumps(data).encode())
