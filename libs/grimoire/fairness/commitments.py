"""Seeds, seals and digests that are fixed before the first card (fairness specification, sections 2 and 3)."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence

from grimoire.fairness.hashing import lines, sha256
from grimoire.fairness.names import check_game, check_match_id
from grimoire.fairness.secret import Secret

__all__ = [
    "NONCE_SIZE",
    "SEED_SIZE",
    "deal_digest",
    "deal_salt",
    "joint_seed",
    "nonce_from_phrase",
    "nonce_seal",
    "rules_digest",
    "server_commitment",
    "server_seed",
]

SEED_SIZE = 32
"""Bytes of S, J, the host key and the deal's salt."""

NONCE_SIZE = 32
"""Bytes of a seat's nonce."""


def server_seed(host_key: Secret, game: str, match_id: str) -> Secret:
    """S, from the host's key: HMAC-SHA256(K_host, lines("grimoire/server-seed/1", game, match_id)). Never stored.

    Args:
        host_key: at least 32 random bytes, known to the game service alone.
        game: code name.
        match_id: of the match; never reused.
    """
    if len(host_key.open()) < SEED_SIZE:
        raise ValueError(f"a host key has at least {SEED_SIZE} bytes")
    text = lines("grimoire/server-seed/1", check_game(game), check_match_id(match_id))
    return Secret(hmac.digest(host_key.open(), text, "sha256"))


def server_commitment(game: str, match_id: str, seed: Secret) -> bytes:
    """What `match_created` says of S before anybody else has moved; 32 bytes.

    >>> server_commitment("two_towers", "tt-vector-1", Secret(bytes(range(32)))).hex()[:16]
    'a69e6e1196a10879'
    """
    _check_seed(seed)
    return sha256(lines(f"grimoire/{check_game(game)}/commit/1", check_match_id(match_id), seed.open().hex()))


def nonce_seal(game: str, match_id: str, seat: int, nonce: bytes) -> bytes:
    """What a seat sends before it opens its nonce; 32 bytes.

    Args:
        game: code name.
        match_id: of the match.
        seat: from 0.
        nonce: 32 bytes.

    >>> nonce_seal("two_towers", "tt-vector-1", 0, bytes([0x11]) * 32).hex()[:16]
    '2b09ac24ecac9e38'
    """
    _check_nonce(nonce)
    if seat < 0:
        raise ValueError("seats count from 0")
    return sha256(lines(f"grimoire/{check_game(game)}/nonce/1", check_match_id(match_id), seat, nonce.hex()))


def joint_seed(game: str, match_id: str, seed: Secret, nonces: Sequence[bytes]) -> Secret:
    """J, which nobody could choose alone: over S and every seat's nonce.

    Args:
        game: code name.
        match_id: of the match.
        seed: S.
        nonces: by seat, 32 bytes each.
    """
    _check_seed(seed)
    for nonce in nonces:
        _check_nonce(nonce)
    return Secret(
        sha256(
            lines(
                f"grimoire/{check_game(game)}/joint/1",
                check_match_id(match_id),
                seed.open().hex(),
                *(nonce.hex() for nonce in nonces),
            )
        )
    )


def deal_salt(game: str, joint: Secret) -> bytes:
    """The salt that keeps a deal digest from being searched; 32 bytes, secret until the reveal."""
    _check_seed(joint)
    return hmac.digest(joint.open(), lines(f"grimoire/{check_game(game)}/salt/1"), "sha256")


def deal_digest(game: str, match_id: str, salt: bytes, deal_lines: Sequence[str]) -> bytes:
    """What `match_started` says of the deal; 32 bytes.

    Args:
        game: code name.
        match_id: of the match.
        salt: from `deal_salt`.
        deal_lines: the game's lines, as its rules name them (Two Towers: TT-9.5), without line feeds.
    """
    return sha256(lines(f"grimoire/{check_game(game)}/deal/1", check_match_id(match_id), salt.hex(), *deal_lines))


def nonce_from_phrase(random32: bytes, phrase: str) -> bytes:
    """A nonce with a person's own phrase mixed into full randomness; 32 bytes.

    A phrase alone could be guessed from its seal, and the others would then choose last.

    Args:
        random32: 32 fresh bytes from the system's secure source.
        phrase: any text.

    >>> nonce_from_phrase(bytes([0x33]) * 32, "open sesame").hex()[:16]
    'bd143ad67e4c8733'
    """
    if len(random32) != NONCE_SIZE:
        raise ValueError(f"a phrase is mixed into exactly {NONCE_SIZE} random bytes")
    return sha256(lines("grimoire/nonce-phrase/1", random32.hex(), phrase.encode("utf-8").hex()))


def rules_digest(game: str, rules_version: int, files: Mapping[str, bytes]) -> bytes:
    """What a game's rules and data are, in 32 bytes.

    Args:
        game: code name.
        rules_version: raised only when a recorded match no longer re-decides identically.
        files: every data file by name; the digest takes them in the order of their names.
    """
    hashes = (sha256(files[name]).hex() for name in sorted(files))
    return sha256(lines("grimoire/rules/1", check_game(game), rules_version, *hashes))


def _check_seed(seed: Secret) -> None:
    if len(seed.open()) != SEED_SIZE:
        raise ValueError(f"a seed has {SEED_SIZE} bytes")


def _check_nonce(nonce: bytes) -> None:
    if len(nonce) != NONCE_SIZE:
        raise ValueError(f"a nonce has {NONCE_SIZE} bytes")
