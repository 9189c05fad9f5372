"""TT-2.9: a data file that contradicts the rules or itself is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from two_towers.cards import build
from two_towers.catalogue import DATA_BYTES, CatalogueError, load

Data = dict[str, Any]


def card(data: Data, card_id: str) -> Data:
    return next(c for c in data["cards"] if c["id"] == card_id)


FAULTS: dict[str, Callable[[Data], object]] = {
    "another schema": lambda d: d.update(schema="two_towers/2"),
    "an unknown key": lambda d: d.update(more=1),
    "a card without a Finnish name": lambda d: card(d, "ruby")["name"].pop("fi"),
    "a negative cost": lambda d: card(d, "ruby").update(cost=-1),
    "an unknown stock": lambda d: card(d, "ruby").update(resource="gold"),
    "another colour's stock": lambda d: card(d, "ruby").update(resource="ore"),
    "a card missing": lambda d: d["cards"].pop(),
    "a card twice": lambda d: card(d, "ruby").update(id="emerald"),
    "a number out of order": lambda d: card(d, "ruby").update(no=103),
    "35 blue cards": lambda d: card(d, "orc").update(colour="blue", resource="mana"),
    "play_again without the effect": lambda d: card(d, "ruby").update(play_again=True),
    "the effect without play_again": lambda d: card(d, "quartz").update(play_again=False),
    "eleven cards that act again": lambda d: (
        card(d, "ruby").update(play_again=True),
        card(d, "ruby")["effects"].append({"op": "play_again"}),
    ),
    "play_again not last": lambda d: card(d, "quartz")["effects"].reverse(),
    "play_again in a condition": lambda d: card(d, "foundations")["effects"][0]["then"].append({"op": "play_again"}),
    "a draw without a discard": lambda d: card(d, "prism")["effects"].pop(1),
    "two cards drawn": lambda d: card(d, "prism")["effects"][0].update(n=2),
    "an unknown verb": lambda d: card(d, "ruby")["effects"].append({"op": "freeze"}),
    "an effect with too much": lambda d: card(d, "ruby")["effects"][0].update(where="here"),
    "an effect of nothing": lambda d: card(d, "ruby")["effects"][0].update(n=0),
    "a condition on nothing": lambda d: card(d, "foundations")["effects"][0]["cond"].update(left="self.height"),
    "an unlisted verb": lambda d: d["effect_ops"].remove("if"),
    "an option for no battlefield": lambda d: d["options"]["battlefield"]["one_of"].append("moon"),
    "a battlefield without an option": lambda d: d["options"]["battlefield"]["one_of"].pop(),
    "a default that is not offered": lambda d: d["options"]["deck_type"].update(default="tiny"),
    "a default out of range": lambda d: d["options"]["turn_time_s"].update(default=5),
    "a battlefield without a goal": lambda d: d["battlefields"][0].pop("goal_tower"),
    "a battlefield twice": lambda d: d["battlefields"][1].update(id="archmage_fortress"),
    "a producer of another stock": lambda d: d["resources"][0].update(producer="barracks"),
    "three seats": lambda d: d["constants"].update(seats=3),
}


def read(data: Data) -> None:
    catalogue = load(json.dumps(data).encode())
    build(catalogue.cards, catalogue.effect_ops)


def test_the_data_file_is_sound() -> None:
    read(json.loads(DATA_BYTES))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str) -> None:
    data = json.loads(DATA_BYTES)
    FAULTS[fault](data)
    with pytest.raises(CatalogueError):
        read(data)
