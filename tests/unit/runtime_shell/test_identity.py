from __future__ import annotations

import base64
import hashlib
import hmac
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.runtime import identity
from grimoire.runtime.identity import Identity, mint, new_account_id, new_match_id, occupant_id, verify
from grimoire.runtime.keys import KeyRing

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> KeyRing:
    return KeyRing.load_or_create(tmp_path_factory.mktemp("keys"))


@given(st.text(min_size=1, max_size=40), st.text(max_size=24), st.booleans())
def test_a_token_speaks_for_whom_it_was_minted(ring: KeyRing, account: str, name: str, bot: bool) -> None:
    assert verify(ring, mint(ring, account, name, bot)) == Identity(account, name, bot)


@given(st.data())
def test_no_changed_character_is_accepted(ring: KeyRing, data: st.DataObject) -> None:
    token = mint(ring, "account", "Väinö", False)
    place = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.sampled_from(ALPHABET + ".")).replace(token[place], "")
    changed = token[:place] + other + token[place + 1 :]
    assert verify(ring, changed) is None


@given(st.text(max_size=200))
def test_no_text_is_accepted_or_breaks_it(ring: KeyRing, text: str) -> None:
    assert verify(ring, text) is None


def test_parts_of_two_tokens_do_not_fit_together(ring: KeyRing) -> None:
    mine, theirs = mint(ring, "me", "Me", False), mint(ring, "them", "Them", False)
    assert verify(ring, f"{theirs.split('.')[0]}.{mine.split('.')[1]}") is None


def test_another_installations_token_is_refused(ring: KeyRing, tmp_path: Path) -> None:
    other = KeyRing.load_or_create(tmp_path)
    assert verify(ring, mint(other, "a", "A", False)) is None


def test_a_signature_made_for_something_else_is_refused(ring: KeyRing) -> None:
    body = mint(ring, "a", "A", False).split(".")[0]
    bare = hmac.digest(ring.session_key.open(), body.encode(), "sha256")
    assert verify(ring, f"{body}.{base64.urlsafe_b64encode(bare).rstrip(b'=').decode()}") is None


@pytest.mark.parametrize("lifetime_s", [0, -1, -100_000])
def test_an_expired_token_is_refused(ring: KeyRing, lifetime_s: int) -> None:
    assert verify(ring, mint(ring, "a", "A", False, lifetime_s=lifetime_s)) is None


def test_a_token_lasts_until_its_second(ring: KeyRing, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_800_000_000.0
    monkeypatch.setattr(identity.time, "time", lambda: now)
    token = mint(ring, "a", "A", True, lifetime_s=60)
    now += 59.9
    assert verify(ring, token) == Identity("a", "A", True)
    now += 0.1
    assert verify(ring, token) is None


def test_a_token_holds_no_secret(ring: KeyRing) -> None:
    body = mint(ring, "a", "A", True).split(".")[0]
    claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    assert claims[:3] == ["a", "A", True]
    assert claims[4:] == [""]


def test_a_pseudonym_is_as_specified(ring: KeyRing) -> None:
    text = b"grimoire/occupant/1\nm1\na1\n"
    expected = hmac.new(ring.occupant_key.open(), text, hashlib.sha256).digest()[:16].hex()
    assert occupant_id(ring, "m1", "a1") == expected
    assert len(expected) == 32


def test_a_pseudonym_is_another_in_each_match_and_for_each_account(ring: KeyRing) -> None:
    made = {occupant_id(ring, match, account) for match in ("m1", "m2") for account in ("a1", "a2")}
    assert len(made) == 4


def test_a_line_feed_cannot_make_two_people_one(ring: KeyRing) -> None:
    with pytest.raises(ValueError, match="line feed"):
        occupant_id(ring, "m1\na1", "a2")


@pytest.mark.parametrize("make", [new_match_id, new_account_id])
def test_fresh_ids_never_repeat_and_fit_a_subject(make: object) -> None:
    made = [make() for _ in range(2000)]
    assert len({*made}) == len(made)
    for one in made:
        assert len(one) == 26
        assert one.isascii()
        assert one.isalnum()
        assert one == one.lower()
    assert len({*"".join(made)}) == 32


@given(st.integers(0, 63))
def test_tokens_keep_to_a_safe_alphabet(ring: KeyRing, length: int) -> None:
    token = mint(ring, "a" * length or "b", "Ä" * 24, False)
    assert {*token} <= {*ALPHABET, "."}
