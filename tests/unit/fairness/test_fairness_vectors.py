"""The published vectors of the fairness specification and of the Two Towers rules, TT-9.11."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from grimoire.fairness import (
    RecordedDraws,
    Secret,
    Stream,
    deal_digest,
    deal_salt,
    genesis,
    joint_seed,
    link,
    nonce_from_phrase,
    nonce_seal,
    part_digest,
    part_salt,
    server_commitment,
)

GAME = "two_towers"
MATCH = "tt-vector-1"
S = bytes(range(32))
NONCES = [bytes([0x11]) * 32, bytes([0x22]) * 32]
J = bytes.fromhex("a3cf2d2ced3fa6c8ef17d2865fbf425b0abd714bef60d21fccfe9a5b0ccd4f87")
SALT = bytes.fromhex("c61f2236ed98eaf196a3871a591098649b051efb366de028d5a373d82f85c487")
DATA = Path(__file__).parents[3] / "services" / "two_towers" / "data" / "two_towers.json"


@pytest.fixture(scope="module")
def cards() -> list[str]:
    """The 102 card ids in catalogue order."""
    return [card["id"] for card in json.loads(DATA.read_text(encoding="utf-8"))["cards"]]


def test_commitment_and_seals() -> None:
    assert (
        server_commitment(GAME, MATCH, Secret(S)).hex()
        == "a69e6e1196a108796ef35c779e4f58e74ef6b60defc5048c8e199210581bcd7b"
    )
    assert [nonce_seal(GAME, MATCH, seat, nonce).hex() for seat, nonce in enumerate(NONCES)] == [
        "2b09ac24ecac9e389b043a498e576cc3b1da140e9ffc2ebcc3dfe03636f887d5",
        "4e078de40d5f572718e222ab90341a86eeefe48ff93ff581d7243550ab4b4783",
    ]


def test_joint_seed_and_salt() -> None:
    assert joint_seed(GAME, MATCH, Secret(S), NONCES).open() == J
    assert deal_salt(GAME, Secret(J)) == SALT


def test_first_seat() -> None:
    assert Stream(GAME, Secret(J), "first_seat").word() == 11174516263788401379
    assert RecordedDraws(GAME, Secret(J)).coin("first_seat") == 1


def test_chain() -> None:
    h0 = genesis(MATCH)
    h1 = link(h0, b"header-1", b"public-1", [])
    salt = part_salt(Secret(S), MATCH, 2, "seat/0")
    digest = part_digest("seat/0", salt, b"ruby")
    assert [x.hex() for x in (h0, h1, salt, digest, link(h1, b"header-2", b"public-2", [("seat/0", digest)]))] == [
        "522216945be1987cbfadf1e5bd833d2e35677b3303efc52ea6a1e68a84ce6e04",
        "dd07d55b05b9a16e1493ea58ea6ae4d74cfc955fb7867f021690ef220ed718e6",
        "57fa197d586e206670cabe5fef95985f",
        "6dd8d83a7c620afd15e0a22d523aa3f93b4939e5a9cf35f57be76ccc5027cb4d",
        "c44941a3fee77c6ff6ba96e7da0b28bb9518f439e238c65413b030c35d47f50a",
    ]


def test_phrase_is_mixed_into_randomness(plain: SimpleNamespace) -> None:
    assert (
        nonce_from_phrase(bytes([0x33]) * 32, "open sesame").hex()
        == plain.nonce_from_phrase(bytes([0x33]) * 32, "open sesame").hex()
        == "bd143ad67e4c873307211336718aefec8f656e42e3daeb84f8774d99c2821c47"
    )


def test_sample() -> None:
    draws = RecordedDraws(GAME, Secret(J))
    assert draws.sample("x/1", range(1, 13), 4) == [6, 1, 9, 2]
    assert [list(d.results) for d in draws.taken] == [[5, 0, 8, 1]]


def test_standard_deal(cards: list[str]) -> None:
    order = RecordedDraws(GAME, Secret(J)).shuffle("deck", cards)
    assert order[:12] == [
        "dragons_heart",
        "rabid_sheep",
        "succubus",
        "emerald",
        "forced_labor",
        "troll_trainer",
        "rock_garden",
        "orc",
        "elven_archers",
        "phase_jewel",
        "rainbow",
        "elven_scouts",
    ]
    assert order[-3:] == ["innovations", "mondo_wall", "gnome"]
    assert (
        deal_digest(GAME, MATCH, SALT, ["standard", "1", ",".join(order)]).hex()
        == "7a59ecc3d8fc4093d7b5989525288ebe08a228afcca4b53b4e5e044878064d65"
    )


def test_endless_deal(cards: list[str]) -> None:
    draws = RecordedDraws(GAME, Secret(J))
    order = [draws.choice(f"draw/{k}", cards) for k in range(1, 13)]
    assert order == [
        "rock_launcher",
        "reinforced_wall",
        "focused_designs",
        "full_moon",
        "crystal_rocks",
        "crystal_rocks",
        "thief",
        "quarrys_help",
        "power_burn",
        "work_overtime",
        "werewolf",
        "gnome",
    ]
    assert (
        deal_digest(GAME, MATCH, SALT, ["endless", "1", ",".join(order)]).hex()
        == "b599868f816f76a62df4bd48e8c81321a19e12793d38153fcd61a6cd4825e09c"
    )


def test_reshuffle(cards: list[str]) -> None:
    assert RecordedDraws(GAME, Secret(J)).shuffle("reshuffle/1", cards[:6]) == [
        "earthquake",
        "friendly_terrain",
        "lucky_cache",
        "brick_shortage",
        "strip_mine",
        "rock_garden",
    ]


def test_a_label_asked_again_continues_its_stream(cards: list[str]) -> None:
    draws = RecordedDraws(GAME, Secret(J))
    assert [draws.choice("draw/13", cards) for _ in range(3)] == ["elven_archers", "gnome", "ogre"]
    assert [(d.label, d.bound, list(d.results)) for d in draws.taken] == [
        ("draw/13", 102, [cards.index(card)]) for card in ("elven_archers", "gnome", "ogre")
    ]


def test_one_changed_hex_digit_of_a_nonce_changes_everything(cards: list[str]) -> None:
    other = [NONCES[0], bytes([0x22]) * 31 + bytes([0x23])]
    joint = joint_seed(GAME, MATCH, Secret(S), other)
    assert joint.open() != J
    assert deal_salt(GAME, joint) != SALT
    assert RecordedDraws(GAME, joint).shuffle("deck", cards) != RecordedDraws(GAME, Secret(J)).shuffle("deck", cards)


def test_the_second_computation_agrees(plain: SimpleNamespace) -> None:
    assert plain.joint(GAME, MATCH, S, NONCES) == J
    assert plain.salt(GAME, J) == SALT
    assert plain.words(GAME, J, "first_seat", 1) == [11174516263788401379]
    assert plain.Drawer(GAME, J, "x/1").sample(list(range(1, 13)), 4) == [6, 1, 9, 2]
    assert plain.link(plain.genesis(MATCH), b"header-1", b"public-1", []).hex().startswith("dd07d55b05b9a16e")
