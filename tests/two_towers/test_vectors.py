"""TT-9.11: the published test vector, through the game's own start."""

from __future__ import annotations

import pytest

from grimoire.engine import Setup
from grimoire.fairness import (
    RecordedDraws,
    Secret,
    Stream,
    deal_digest,
    deal_salt,
    joint_seed,
    server_commitment,
)
from tests.two_towers.table import GAME, VECTOR_JOINT, Table
from two_towers.cards import CATALOGUE

MATCH = "tt-vector-1"
SEED = Secret(bytes(range(32)))
NONCES = (b"\x11" * 32, b"\x22" * 32)

STANDARD_FIRST = (
    "dragons_heart,rabid_sheep,succubus,emerald,forced_labor,troll_trainer,rock_garden,orc,elven_archers,"
    "phase_jewel,rainbow,elven_scouts"
)
ENDLESS = (
    "rock_launcher,reinforced_wall,focused_designs,full_moon,crystal_rocks,crystal_rocks,thief,quarrys_help,"
    "power_burn,work_overtime,werewolf,gnome"
)


def test_commitment_and_joint_seed() -> None:
    assert (
        server_commitment("two_towers", MATCH, SEED).hex()
        == "a69e6e1196a108796ef35c779e4f58e74ef6b60defc5048c8e199210581bcd7b"
    )
    assert joint_seed("two_towers", MATCH, SEED, NONCES) == VECTOR_JOINT
    other = (b"\x11" * 31 + b"\x12", NONCES[1])
    assert joint_seed("two_towers", MATCH, SEED, other) != VECTOR_JOINT


@pytest.mark.parametrize(
    ("deck_type", "digest"),
    [
        ("standard", "7a59ecc3d8fc4093d7b5989525288ebe08a228afcca4b53b4e5e044878064d65"),
        ("endless", "b599868f816f76a62df4bd48e8c81321a19e12793d38153fcd61a6cd4825e09c"),
    ],
)
def test_deal_digest(deck_type: str, digest: str) -> None:
    table = Table.dealt(deck_type=deck_type)
    salt = deal_salt("two_towers", VECTOR_JOINT)
    assert salt.hex() == "c61f2236ed98eaf196a3871a591098649b051efb366de028d5a373d82f85c487"
    assert table.deal_lines[:2] == (deck_type, "1")
    assert deal_digest("two_towers", MATCH, salt, table.deal_lines).hex() == digest


def test_standard_order() -> None:
    table = Table.dealt()
    order = table.deal_lines[2].split(",")
    assert sorted(order) == sorted(CATALOGUE)
    assert ",".join(order[:12]) == STANDARD_FIRST
    assert order[-3:] == ["innovations", "mondo_wall", "gnome"]
    assert table.hand(1) == ("dragons_heart", "succubus", "forced_labor", "rock_garden", "elven_archers", "rainbow")
    assert table.hand(0) == ("rabid_sheep", "emerald", "troll_trainer", "orc", "phase_jewel", "elven_scouts")
    assert list(table.state.pile) == order[12:]


def test_endless_order() -> None:
    table = Table.dealt(deck_type="endless")
    assert table.deal_lines[2] == ENDLESS
    assert table.state.pile == ()
    assert table.state.draws_made == 12


def test_first_seat_and_later_draws() -> None:
    assert Stream("two_towers", VECTOR_JOINT, "first_seat").word() == 11174516263788401379
    draws = RecordedDraws("two_towers", VECTOR_JOINT)
    assert draws.shuffle("reshuffle/1", CATALOGUE[:6]) == [
        "earthquake",
        "friendly_terrain",
        "lucky_cache",
        "brick_shortage",
        "strip_mine",
        "rock_garden",
    ]
    assert [draws.choice("draw/13", CATALOGUE) for _ in range(3)] == ["elven_archers", "gnome", "ogre"]


def test_labels_of_a_deal() -> None:
    # TT-9.4: with a fixed first player the label `first_seat` is not used.
    labels = {}
    for first_player in ("random", "seat_0"):
        draws = RecordedDraws("two_towers", VECTOR_JOINT)
        GAME.start(Setup(MATCH, 2, {"first_player": first_player}), draws)
        labels[first_player] = [draw.label for draw in draws.taken]
    assert labels == {"random": ["first_seat", "deck"], "seat_0": ["deck"]}
    draws = RecordedDraws("two_towers", VECTOR_JOINT)
    GAME.start(Setup(MATCH, 2, {"deck_type": "endless", "first_player": "seat_1"}), draws)
    assert [draw.label for draw in draws.taken] == [f"draw/{n}" for n in range(1, 13)]
