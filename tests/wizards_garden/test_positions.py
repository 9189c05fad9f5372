"""Arranged positions: defaults, what can be named, what is refused (services/wizards_garden/README.md)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import wizards_garden
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.notation import Placed, PositionError, read_placed, read_threat
from wizards_garden.pieces import CARDS, SPELLS
from wizards_garden.positions import WizardsGardenPositions, position_fault
from wizards_garden.state import Terms

TERMS = Terms(spells_per_player=2, turn_limit=200)


def parse(position: dict[Any, Any], options: dict[str, str] | None = None) -> pb.PositionArranged:
    return WizardsGardenPositions().parse(position, options or {})


def standing(event: pb.PositionArranged) -> dict[str, tuple[str, ...]]:
    """Pieces by space."""
    return {s.space: (*s.pests, *([s.gnome] if s.gnome else ())) for s in event.spaces}


# ---- the notation ----------------------------------------------------------------------------------------------------


def test_words_for_pieces() -> None:
    assert read_placed("B@a4") == Placed("a4", seat=0)
    assert read_placed("R@a4*fire") == Placed("a4", seat=1, lantern="fire", bright=True)
    assert read_placed("R@a4~fire") == Placed("a4", seat=1, lantern="fire")
    assert read_placed("P@a3") == Placed("a3", pests=1)
    assert read_placed("PP@a3") == Placed("a3", pests=2)
    assert read_placed("PB@c3") == Placed("c3", seat=0, pests=1)
    assert read_placed("F3@c4") == Placed("c4", fish_fire=3)
    assert read_placed("w2@a4") == Placed("a4", water=2)


@pytest.mark.parametrize(
    "word", ["", "B", "B@", "X@a4", "PPB@a4", "B@a4*", "P@a4*fire", "w@a4", "F10@a4", "b@a4", "B@a4 "]
)
def test_what_is_no_piece(word: str) -> None:
    with pytest.raises(PositionError, match="is no piece"):
        read_placed(word)


def test_words_for_threats() -> None:
    threat = read_threat("a3>a4")
    assert (threat.group, threat.in_transit, threat.lone) == ("a3>a4", False, False)
    assert (read_threat("1@a3>a4").lone, read_threat("PP@b3>a3").pests, read_threat("R@c7>d6").seat) == (True, 2, 1)
    for word in ("a3", "a3>", "2@a3>a4", "F@a3>a4", "a3-a4"):
        with pytest.raises(PositionError, match="is no threat"):
            read_threat(word)


# ---- what is not named -----------------------------------------------------------------------------------------------


def test_the_standard_position() -> None:
    event = parse({})
    assert standing(event) == {
        "b1": ("blue_gnome_01",),
        "c1": ("blue_gnome_02",),
        "d1": ("blue_gnome_03",),
        "c2": ("blue_gnome_04",),
        "d7": ("red_gnome_01",),
        "c7": ("red_gnome_02",),
        "b7": ("red_gnome_03",),
        "c6": ("red_gnome_04",),
    }
    assert {s.space: (s.lantern, s.bright) for s in event.spaces if s.lantern} == {
        "c1": ("gnome", True),
        "c7": ("water", True),
    }
    assert [[*board.spirits] for board in event.boards] == [
        ["spirit_gnome_01", "spirit_fire_01"],
        ["spirit_water_01", "spirit_pest_01"],
    ]
    assert [*event.row] == ["spirit_pest_02", "spirit_water_02", "spirit_fire_02"]
    assert [(b.seat, b.fire, b.lit, b.hand_count, b.spell_count) for b in event.boards] == [
        (0, 0, "", 0, 0),
        (1, 0, "", 0, 0),
    ]
    assert (event.phase, event.turn_no, event.active_seat, event.first_seat) == ("garden", 1, 0, 0)
    assert (event.turn_limit, event.spells_per_player, event.deck_count, event.reshuffles) == (200, 2, 43, 0)
    assert [*event.deck] == [card for card in CARDS if card in {*event.deck}]
    assert ([*event.set_aside], [*event.groups], [*event.discards], [*event.cast]) == ([*SPELLS], [], [], [])
    assert not event.HasField("action")
    assert not event.HasField("battle")


def test_the_first_seat_follows_from_the_turn() -> None:
    for turn, active, first in ((1, "blue", 0), (2, "blue", 1), (2, "red", 0), (7, "red", 1)):
        event = parse({"turn": turn, "active": active})
        assert (event.first_seat, event.active_seat) == (first, int(active == "red"))


# ---- what can be named -----------------------------------------------------------------------------------------------


def test_pieces_come_with_the_lowest_free_number() -> None:
    event = parse({"free": ["c2"], "yard": ["B@a4*fire", "B@a5", "R@e5", "PP@a3", "PR@e4", "F3@c4", "w2@a4"]})
    found = standing(event)
    assert (found["a4"], found["a5"], found["e5"]) == (("blue_gnome_04",), ("blue_gnome_05",), ("red_gnome_05",))
    assert (found["a3"], found["e4"]) == (("pest_01", "pest_02"), ("pest_03", "red_gnome_06"))
    assert "c2" not in found
    by_space = {s.space: s for s in event.spaces}
    assert (by_space["a4"].lantern, by_space["a4"].bright, by_space["a4"].water) == ("fire", True, 2)
    assert by_space["c4"].fish_fire == 3
    assert [s.space for s in event.spaces] == sorted(by_space, key=lambda s: (s[1], s[0]))


def test_a_yard_may_be_one_text() -> None:
    assert parse({"yard": "B@a4 PP@a3", "free": "c2 b1"}) == parse({"yard": ["B@a4", "PP@a3"], "free": ["c2", "b1"]})


def test_another_first_lantern() -> None:
    event = parse({"yard": ["B@c1*pest", "R@c7*fire"]})
    assert {s.space: (s.gnome, s.lantern) for s in event.spaces if s.lantern} == {
        "c1": ("blue_gnome_02", "pest"),
        "c7": ("red_gnome_02", "fire"),
    }


def test_threats() -> None:
    event = parse(
        {
            "state": "attack",
            "yard": ["B@b4", "PP@a5", "R@a4", "B@a2", "PR@e5", "PP@c4"],
            "threats": ["PP@b3>a3", "b4>a4", "a5>a4", "B@a2>a3", "e5>e6", "1@c4>d4", "1@c4>c5"],
        }
    )
    groups = {group.group: group for group in event.groups}
    assert [*groups] == sorted(groups)
    assert [*groups["b3>a3"].pieces] == ["pest_06", "pest_07"]
    assert [*groups["a5>a4"].pieces] == ["pest_01", "pest_02"]
    assert [*groups["e5>e6"].pieces] == ["pest_03", "red_gnome_06"]
    assert [*groups["c4>d4"].pieces] == ["pest_04"]
    assert [*groups["c4>c5"].pieces] == ["pest_05"]
    assert [*groups["a2>a3"].pieces] == ["blue_gnome_07"]
    assert {name: (group.in_transit, group.strength) for name, group in groups.items()} == {
        "a2>a3": (True, 0),
        "a5>a4": (False, 2),
        "b3>a3": (True, 2),
        "b4>a4": (False, 0),
        "c4>c5": (False, 1),
        "c4>d4": (False, 1),
        "e5>e6": (False, 2),
    }


def test_boards_hands_and_spells() -> None:
    event = parse(
        {
            "blue": {"fire": 2, "lit": "fire", "spirits": ["fire", "fire"], "hand": ["gnome", "spirit_fire_09"]},
            "red": {"spells": ["conch"], "cast": ["eye"]},
            "row": ["fire", "spirit_pest_10", "gnome"],
        }
    )
    assert [*event.boards[0].spirits] == ["spirit_fire_01", "spirit_fire_02"]
    assert [*event.row] == ["spirit_fire_03", "spirit_pest_10", "spirit_gnome_01"]
    assert [*event.hands[0].cards] == ["spirit_gnome_02", "spirit_fire_09"]
    assert (event.boards[0].fire, event.boards[0].lit, event.boards[0].hand_count) == (2, "fire", 2)
    assert ([*event.hands[1].spells], event.boards[1].spell_count) == (["conch"], 1)
    assert [(c.seat, c.spell) for c in event.cast] == [(1, "eye")]
    assert {"conch", "eye"}.isdisjoint(event.set_aside)


def test_ways_to_name_a_deck() -> None:
    top = parse({"deck_top": ["gnome", "gnome"]})
    assert ([*top.deck][:2], top.deck_count, len(top.discards)) == (["spirit_gnome_02", "spirit_gnome_03"], 43, 0)
    assert (parse({"deck": 3}).deck_count, len(parse({"deck": 3}).discards)) == (3, 40)
    none = parse({"deck": []})
    assert (none.deck_count, len(none.discards)) == (0, 43)
    listed = parse({"deck": ["fire"], "discards": ["spirit_pest_10"]})
    assert ([*listed.deck], listed.discards[0], len(listed.discards)) == (["spirit_fire_03"], "spirit_pest_10", 42)


def test_the_middle_of_a_match() -> None:
    options = {"turn_limit": "40", "spells_per_player": "3"}
    event = parse(
        {"turn": 40, "active": "red", "state": "wizard_main", "reshuffles": 2, "wizard_replaced": False}, options
    )
    assert (event.turn_no, event.turn_limit, event.spells_per_player, event.reshuffles) == (40, 40, 3, 2)
    assert parse({"state": "wizard_end", "wizard_replaced": True, "blue": {"spells": ["doll"]}}).wizard_replaced


# ---- what is refused -------------------------------------------------------------------------------------------------

BAD: list[tuple[dict[Any, Any], str]] = [
    ({"turns": 3}, "no key 'turns'"),
    ({"blue": {"gold": 3}}, "no key 'gold'"),
    ({"blue": 3}, "must be a mapping"),
    ({"blue": {"fire": 6}}, "`fire` must be a whole number in 0..5"),
    ({"blue": {"fire": True}}, "`fire` must be"),
    ({"blue": {"lit": "gold"}}, "`lit` must be one of"),
    ({"blue": {"lit": "gnome"}}, "in two places (WG-2.3)"),
    ({"blue": {"spirits": ["fire"]}}, "Both spirit slots"),
    ({"blue": {"spirits": "fire"}}, "must be a list of words"),
    ({"blue": {"hand": ["gold"]}}, "no card 'gold'"),
    ({"blue": {"hand": [3]}}, "must be a list of words"),
    ({"blue": {"hand": ["fire"] * 6}}, "at most five spirit cards"),
    ({"blue": {"hand": ["fire"] * 5}, "red": {"hand": ["fire"] * 4}}, "no more cards of the kind fire"),
    ({"blue": {"hand": ["spirit_pest_07"]}, "row": ["spirit_pest_07", "fire", "fire"]}, "in two places"),
    ({"row": ["fire"]}, "open row has 3"),
    ({"blue": {"spells": ["gold"]}}, "no spell 'gold'"),
    ({"blue": {"spells": ["eye", "eye"]}}, "eye is in two places"),
    ({"blue": {"spells": ["eye", "fish", "doll"]}}, "at most 2 spells"),
    ({"blue": {"spells": ["eye", "fish"], "cast": ["doll"]}}, "at most 2 spells"),
    ({"deck": 44}, "`deck` must be"),
    ({"deck": [], "deck_top": ["fire"]}, "not both"),
    ({"state": "over"}, "`state` must be one of"),
    ({"state": "action"}, "`state` must be one of"),
    ({"active": 2}, "`active` must be one of"),
    ({"turn": 0}, "`turn` must be"),
    ({"turn": 201}, "`turn` must be"),
    ({"wizard_replaced": 1}, "true or false"),
    ({"free": ["c1"]}, "`free` names"),
    ({"free": ["a4"]}, "`free` names"),
    ({"yard": ["B@z9"]}, "no space z9"),
    ({"yard": ["B@a4*gold"]}, "no kind 'gold'"),
    ({"yard": ["B@b1"]}, "something stands on b1"),
    ({"yard": ["P@a4", "w1@a4", "F1@a4"]}, "something stands on a4"),
    ({"yard": ["B@a1", "B@a2", "B@a3", "B@a4", "B@a5", "B@a6", "B@a7"]}, "supply holds no more"),
    ({"yard": ["w5@a2", "w5@e2", "w5@a4", "w5@c4", "w1@e4"]}, "20 water crystals"),
    ({"yard": ["F5@c4", "F5@c5", "F1@c3"]}, "10 fire crystals"),
    ({"yard": ["F6@c4"]}, "five fish fire"),
    ({"yard": ["B@c7"]}, "something stands on c7"),
    ({"yard": ["P@b5"]}, "is a pit"),
    ({"yard": ["PR@c2"], "free": ["c2"]}, "a terrace (WG-2.9)"),
    ({"yard": ["B@b7"], "free": ["b7"]}, "the other seat's terrace"),
    ({"yard": ["w1@b4"]}, "no deposit"),
    ({"yard": ["w6@a4"]}, "at most 5 water"),
    ({"yard": ["B@b4*fire"]}, "no gnome that holds a deposit"),
    ({"yard": ["B@a4*fire", "B@a2~fire"]}, "in two places (WG-2.3)"),
    ({"yard": ["R@c7~water"]}, "stay bright for ever"),
    ({"yard": ["B@a2*pest", "B@a4*water", "B@e2*spirit", "B@e4*fire"]}, "has won already"),
    ({"state": "wizard_end"}, "WG-4.6"),
    ({"state": "attack"}, "WG-4.7"),
    ({"yard": ["B@b4", "R@a4"], "threats": ["b4>a4"]}, "before the garden's choice"),
    ({"state": "attack", "threats": ["a4>a5"]}, "nothing stands on a4"),
    ({"state": "attack", "yard": ["B@b4"], "threats": ["b4>c6"]}, "do not touch"),
    ({"state": "attack", "yard": ["B@b4"], "threats": ["b4>b5"]}, "a pit or a terrace"),
    ({"state": "attack", "yard": ["B@b6"], "threats": ["b6>b7"]}, "a pit or a terrace"),
    ({"state": "attack", "yard": ["B@b4"], "threats": ["b4>z9"]}, "no space 'z9'"),
    ({"state": "attack", "yard": ["B@a4*fire"], "threats": ["a4>a5"]}, "bearer never threatens"),
    ({"state": "attack", "yard": ["B@b4"], "threats": ["b4>a4", "b4>c4"]}, "nothing stands on b4"),
    ({"state": "attack", "threats": ["P@c4>c5"]}, "from a pit"),
    ({"state": "attack", "threats": ["B@b4>a4"]}, "from a deposit"),
    ({"state": "attack", "threats": ["R@a4>a5"]}, "one own gnome"),
    ({"state": "attack", "threats": ["PP@b3>a3", "P@b3>b4"]}, "Two pests at most"),
    ({"state": "wizard_main", "yard": ["R@b4"], "threats": ["b4>a4"]}, "only Doll"),
    ({"state": "attack", "yard": ["B@a4"], "threats": ["a4>a5", "B@a4>a5"]}, "One border carries one threat"),
]


@pytest.mark.parametrize(("position", "sentence"), BAD)
def test_a_bad_position_says_why(position: dict[Any, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence.replace("(", r"\(").replace(")", r"\)")):
        parse(position)


def test_a_bad_option_is_told() -> None:
    with pytest.raises(ValueError, match="first_player must be one of"):
        parse({}, {"first_player": "green"})


def test_what_the_rules_forbid_names_its_rule() -> None:
    with pytest.raises(PositionError) as caught:
        parse({"yard": ["P@b3"]})
    assert caught.value.rule == "WG-2.8"


def test_the_example_of_the_readme_can_be() -> None:
    readme = Path(wizards_garden.__file__).with_name("README.md").read_text()
    block = re.search(r"```yaml\n(options: .*?)```", readme.partition("## Arranged positions")[2], re.DOTALL)
    assert block
    example = yaml.safe_load(block[1])
    event = parse(example["position"], {name: str(value) for name, value in example["options"].items()})
    assert [group.group for group in event.groups] == ["a3>a4", "b3>c3", "b4>a4"]
    assert standing(event)["c3"] == ("pest_03", "blue_gnome_06")


# ---- positions from clients: whatever the parser would not make is refused, and nothing raises -----------------------

Forger = Callable[[pb.PositionArranged], object]

FORGED: list[tuple[str, Forger]] = [
    ("turn limit", lambda e: setattr(e, "turn_limit", 40)),
    ("spells per player", lambda e: setattr(e, "spells_per_player", 3)),
    ("two seats", lambda e: setattr(e, "first_seat", 2)),
    ("take turns", lambda e: setattr(e, "first_seat", 1)),
    ("`state` must be one of", lambda e: setattr(e, "phase", "over")),
    ("`state` must be one of", lambda e: setattr(e, "phase", "")),
    ("`turn` must be", lambda e: setattr(e, "turn_no", 0)),
    ("turn's number is 0", lambda e: setattr(e, "phase", "preparation")),
    ("boards and hands", lambda e: e.boards.pop()),
    ("boards and hands", lambda e: setattr(e.hands[0], "seat", 7)),
    ("count and its cards", lambda e: setattr(e.boards[0], "hand_count", 4)),
    ("count of spells", lambda e: setattr(e.boards[1], "spell_count", 1)),
    ("0..5 fire", lambda e: setattr(e.boards[0], "fire", 2**32 - 1)),
    ("no kind", lambda e: setattr(e.boards[0], "lit", "gold")),
    ("no space", lambda e: setattr(e.spaces[0], "space", "z9")),
    ("listed twice", lambda e: e.spaces.add(space="c1")),
    ("no piece", lambda e: setattr(e.spaces[0], "gnome", "dwarf")),
    ("is no gnome", lambda e: e.spaces.add(space="a4", gnome="pest_01")),
    ("listed as a pest", lambda e: e.spaces.add(space="a4", pests=["blue_gnome_09"])),
    ("more than one gnome", lambda e: e.spaces.add(space="a4", pests=["pest_01", "pest_02", "pest_03"])),
    ("more than one gnome", lambda e: e.spaces.add(space="a4", pests=["pest_01"], fish_fire=1)),
    ("in two places", lambda e: e.spaces.add(space="a4", gnome="blue_gnome_01")),
    ("in two places", lambda e: e.spaces.add(space="a4", pests=["pest_01", "pest_01"])),
    ("at most 5 water", lambda e: e.spaces.add(space="a4", water=2**32 - 1)),
    ("there is no lantern", lambda e: e.spaces.add(space="a4", gnome="blue_gnome_09", bright=True)),
    (
        "no gnome that holds",
        lambda e: e.spaces.add(space="a4", gnome="blue_gnome_09", pests=["pest_01"], lantern="fire"),
    ),
    ("no kind", lambda e: e.spaces.add(space="a4", gnome="blue_gnome_09", lantern="gold")),
    ("all 50 spirit cards", lambda e: e.deck.pop()),
    ("deck's count", lambda e: setattr(e, "deck_count", 42)),
    ("no card", lambda e: e.deck.__setitem__(0, "dragon")),
    ("in two places", lambda e: e.discards.append("spirit_fire_01")),
    ("open row", lambda e: e.discards.append(e.row.pop())),
    ("all 12 spells", lambda e: e.set_aside.pop()),
    ("no spell", lambda e: e.set_aside.__setitem__(0, "dragon")),
    ("two seats", lambda e: e.cast.add(seat=2, spell=e.set_aside.pop())),
    ("is called a4>a5", lambda e: e.groups.add(group="x", origin="a4", target="a5")),
    ("no space", lambda e: e.groups.add(group="x", origin="", target="")),
    ("no piece", lambda e: e.groups.add(group="a4>a5", origin="a4", target="a5", pieces=["dwarf"])),
    ("stand on a4", lambda e: e.groups.add(group="a4>a5", origin="a4", target="a5")),
    ("stand on a4", lambda e: e.groups.add(group="a4>a5", origin="a4", target="a5", pieces=["pest_01"])),
    ("from a deposit", lambda e: e.groups.add(group="a4>a5", origin="a4", target="a5", in_transit=True)),
    ("pending only", lambda e: e.pending.add(index=0, kind="fire", steps=2)),
    ("pending only", lambda e: setattr(e, "pending_source", "gem")),
    ("no source", lambda e: e.action.SetInParent()),
    ("`awaits` must be", lambda e: e.battle.SetInParent()),
]


@pytest.mark.parametrize(("sentence", "forge"), FORGED)
def test_a_forged_position_is_refused(sentence: str, forge: Forger) -> None:
    event = parse({})
    assert position_fault(event, TERMS) == ""
    forge(event)
    assert sentence in position_fault(event, TERMS)


def acting(**fields: Any) -> pb.Action:
    usual: dict[str, Any] = {"source": "magician", "kind": "gnome", "steps": 1, "steps_left": 1}
    return pb.Action(**(usual | fields))


def fighting(**fields: Any) -> pb.Battle:
    usual: dict[str, Any] = {"seat": 0, "group": "b4>a4", "target": "a4", "strength": 2, "fire": 2, "awaits": "defence"}
    return pb.Battle(**(usual | fields))


ACTIONS: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    ("", {"source": "spirit", "steps": 2, "steps_left": 1, "moved": ["blue_gnome_01"]}),
    ("no source", {"source": "tea"}),
    ("no kind", {"kind": "tea"}),
    ("no action of lantern", {"source": "lantern"}),
    ("has 1 steps", {"steps": 2}),
    ("has 1 steps", {"steps_left": 0}),
    ("has 2 steps", {"source": "spirit", "steps": 2, "steps_left": 3}),
    ("no piece", {"moved": ["dwarf"]}),
    ("takes part in a step once", {"moved": ["pest_01", "pest_01"]}),
    ("Only Doll's action", {"gnome": "red_gnome_01"}),
]


@pytest.mark.parametrize(("sentence", "fields"), ACTIONS)
def test_an_action_under_way(sentence: str, fields: dict[str, Any]) -> None:
    event = parse({"state": "wizard_main"})
    event.action.CopyFrom(acting(**fields))
    fault = position_fault(event, TERMS)
    assert sentence in fault
    assert bool(fault) == bool(sentence)


def test_an_action_without_a_step_is_over() -> None:
    event = parse({"state": "wizard_main", "blue": {"fire": 5}})
    event.action.CopyFrom(acting(kind="fire"))
    assert "is over (WG-6.1)" in position_fault(event, TERMS)


def test_actions_of_spells_under_way() -> None:
    flight = parse({"blue": {"hand": ["fire"]}})
    flight.action.CopyFrom(acting(source="butterfly", steps=5, steps_left=3))
    assert position_fault(flight, TERMS) == ""
    flight.hands[0].cards.pop()
    assert "count" in position_fault(flight, TERMS)
    doll = parse({"state": "wizard_end", "blue": {"spells": ["eye"]}, "yard": ["R@a4", "R@e4*fire"]})
    doll.action.CopyFrom(acting(source="doll", gnome="red_gnome_05"))
    assert position_fault(doll, TERMS) == ""
    for gnome in ("", "red_gnome_01", "red_gnome_06", "blue_gnome_01"):
        doll.action.gnome = gnome
        assert "Doll moves" in position_fault(doll, TERMS)
    gem = parse({"state": "wizard_main"})
    gem.phase, gem.wizard_replaced, gem.pending_source = "wizard_pending", True, "gem"
    gem.pending.add(index=1, kind="fire", steps=2)
    assert position_fault(gem, TERMS) == ""
    gem.pending[0].steps = 1
    assert "Gem gives" in position_fault(gem, TERMS)
    gem.pending_source = "flower"
    assert "Flower gives" in position_fault(gem, TERMS)
    gem.pending[0].kind = "water"
    assert position_fault(gem, TERMS) == ""
    del gem.pending[:]
    assert "Nothing is pending" in position_fault(gem, TERMS)


BATTLES: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    ("", {"group": "skull", "strength": 1, "fire": 1}),
    ("active seat attacks", {"seat": 1}),
    ("`awaits` must be", {"awaits": "tea"}),
    ("no space", {"target": "z9"}),
    ("one of the threats", {"group": "a3>a4"}),
    ("one of the threats", {"target": "a5"}),
    ("attack with fire", {"strength": 3}),
    ("attack with fire", {"strength": 0, "fire": 0}),
    ("no survivors", {"group": "skull", "awaits": "space"}),
    ("in the supply after the battle", {"awaits": "light"}),
    ("No lantern was dimmed", {"awaits": "light", "fire": 0}),
    ("not free", {"awaits": "space", "fire": 0}),
    ("10 fire crystals", {"strength": 5, "fire": 9}),
]


@pytest.mark.parametrize(("sentence", "fields"), BATTLES)
def test_a_battle_under_way(sentence: str, fields: dict[str, Any]) -> None:
    event = parse({"state": "attack", "yard": ["B@b4", "R@a4"], "threats": ["b4>a4"], "blue": {"fire": 2}})
    event.battle.CopyFrom(fighting(**fields))
    fault = position_fault(event, TERMS)
    assert sentence in fault
    assert bool(fault) == bool(sentence)
