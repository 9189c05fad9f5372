"""Commitments, digests and links against the second computation, and what the formulas refuse."""

from __future__ import annotations

import hashlib
import hmac
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.fairness import (
    Secret,
    deal_digest,
    deal_salt,
    genesis,
    joint_seed,
    link,
    nonce_from_phrase,
    nonce_seal,
    part_digest,
    part_salt,
    rules_digest,
    server_commitment,
    server_seed,
)
from grimoire.fairness.hashing import lines, lp, sha256
from grimoire.fairness.names import check_game, check_label, check_match_id

words32 = st.binary(min_size=32, max_size=32)
games = st.from_regex(r"[a-z0-9_/.-]{1,64}", fullmatch=True)
matches = st.from_regex(r"[a-zA-Z0-9_/.-]{1,64}", fullmatch=True)
audiences = st.sampled_from(["command", "sealed", "seat/0", "seat/1", "seat/10", "seat/2"])


@given(games, matches, words32, st.lists(words32, min_size=1, max_size=8))
def test_seeds_and_seals(plain: SimpleNamespace, game: str, match_id: str, seed: bytes, nonces: list[bytes]) -> None:
    assert server_commitment(game, match_id, Secret(seed)) == plain.commitment(game, match_id, seed)
    assert joint_seed(game, match_id, Secret(seed), nonces).open() == plain.joint(game, match_id, seed, nonces)
    for seat, nonce in enumerate(nonces):
        assert nonce_seal(game, match_id, seat, nonce) == plain.seal(game, match_id, seat, nonce)


@given(games, matches, words32, st.lists(st.from_regex(r"[ -~]{0,40}", fullmatch=True), max_size=8))
def test_deals(plain: SimpleNamespace, game: str, match_id: str, joint: bytes, deal_lines: list[str]) -> None:
    salt = deal_salt(game, Secret(joint))
    assert salt == plain.salt(game, joint)
    assert deal_digest(game, match_id, salt, deal_lines) == plain.deal(game, match_id, salt, deal_lines)


@given(words32, st.text(max_size=50))
def test_phrases(plain: SimpleNamespace, random32: bytes, phrase: str) -> None:
    assert nonce_from_phrase(random32, phrase) == plain.nonce_from_phrase(random32, phrase)


@given(
    words32,
    matches,
    st.integers(1, 50_000),
    st.dictionaries(audiences, st.binary(max_size=80)),
    st.binary(max_size=80),
    st.binary(max_size=80),
    st.randoms(),
)
def test_chain(
    plain: SimpleNamespace,
    seed: bytes,
    match_id: str,
    version: int,
    parts: dict[str, bytes],
    header: bytes,
    public: bytes,
    chance: object,
) -> None:
    digests = []
    for audience, body in parts.items():
        salt = part_salt(Secret(seed), match_id, version, audience)
        assert salt == plain.part_salt(seed, match_id, version, audience)
        digests.append((audience, part_digest(audience, salt, body)))
        assert digests[-1][1] == plain.part_digest(audience, salt, body)
    start = genesis(match_id)
    assert start == plain.genesis(match_id)
    expected = plain.link(start, header, public, digests)
    chance.shuffle(digests)
    assert link(start, header, public, digests) == expected


def test_the_server_seed_follows_from_the_host_key() -> None:
    key = bytes(range(32))
    expected = hmac.new(key, b"grimoire/server-seed/1\ntoy\nm1\n", hashlib.sha256).digest()
    assert server_seed(Secret(key), "toy", "m1").open() == expected
    others = [
        server_seed(Secret(key), "toy", "m2"),
        server_seed(Secret(key), "joy", "m1"),
        server_seed(Secret(key[::-1]), "toy", "m1"),
    ]
    assert all(other != Secret(expected) for other in others)


def test_the_rules_digest_takes_files_in_order_of_their_names() -> None:
    files = {"b.json": b"two", "a.json": b"one"}
    text = "grimoire/rules/1\ntoy\n3\n" + "".join(f"{hashlib.sha256(files[n]).hexdigest()}\n" for n in sorted(files))
    assert rules_digest("toy", 3, files) == hashlib.sha256(text.encode()).digest()
    assert rules_digest("toy", 3, dict(reversed(files.items()))) == rules_digest("toy", 3, files)
    assert rules_digest("toy", 4, files) != rules_digest("toy", 3, files)
    assert rules_digest("toy", 3, {**files, "a.json": b"One"}) != rules_digest("toy", 3, files)


def test_framing() -> None:
    assert lines("a", 7, "") == b"a\n7\n\n"
    assert lp(b"") == bytes(4)
    assert lp(b"x" * 258) == b"\x00\x00\x01\x02" + b"x" * 258
    assert sha256(b"").hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize("item", ["a\nb", "\n", "ä", "\u2028"])
def test_a_line_is_one_line_of_ascii(item: str) -> None:
    with pytest.raises(ValueError, match="line feed"):
        lines("grimoire/x/1", item)
    with pytest.raises(ValueError, match="line feed"):
        deal_digest("toy", "m", bytes(32), ["standard", item])


@pytest.mark.parametrize("name", ["", "a b", "ä", "a\n", "x" * 65, "a\0"])
def test_names_are_checked(name: str) -> None:
    for check in (check_game, check_label, check_match_id):
        with pytest.raises(ValueError, match="is no"):
            check(name)
    with pytest.raises(ValueError, match="match id"):
        genesis(name)
    for call in (
        lambda: server_seed(Secret(bytes(32)), name, "m"),
        lambda: server_commitment("toy", name, Secret(bytes(32))),
        lambda: nonce_seal(name, "m", 0, bytes(32)),
        lambda: joint_seed("toy", name, Secret(bytes(32)), []),
        lambda: deal_salt(name, Secret(bytes(32))),
        lambda: deal_digest("toy", name, bytes(32), []),
        lambda: rules_digest(name, 1, {}),
    ):
        with pytest.raises(ValueError, match="is no"):
            call()


def test_match_ids_alone_may_have_capitals() -> None:
    assert check_match_id("Match-1") == "Match-1"
    for check in (check_game, check_label):
        with pytest.raises(ValueError, match="is no"):
            check("Match-1")


@pytest.mark.parametrize("size", [0, 1, 31, 33, 64])
def test_sizes_are_checked(size: int) -> None:
    data = bytes(size)
    calls = [
        lambda: nonce_seal("toy", "m", 0, data),
        lambda: joint_seed("toy", "m", Secret(bytes(32)), [bytes(32), data]),
        lambda: nonce_from_phrase(data, "x"),
    ]
    if size:
        calls += [
            lambda: server_commitment("toy", "m", Secret(data)),
            lambda: joint_seed("toy", "m", Secret(data), [bytes(32)]),
            lambda: deal_salt("toy", Secret(data)),
        ]
    for call in calls:
        with pytest.raises(ValueError, match=r"32|bytes"):
            call()


def test_a_host_key_may_be_longer_but_not_shorter() -> None:
    assert server_seed(Secret(bytes(64)), "toy", "m") != server_seed(Secret(bytes(range(64))), "toy", "m")
    with pytest.raises(ValueError, match="at least 32"):
        server_seed(Secret(bytes(31)), "toy", "m")


def test_seats_count_from_0() -> None:
    with pytest.raises(ValueError, match="from 0"):
        nonce_seal("toy", "m", -1, bytes(32))
