"""Fair draws and the tamper-evident log: hashing, commitments, draws, chain, export, audit. Pure; no I/O, no clock."""

from grimoire.fairness.chain import genesis, link, part_digest, part_salt
from grimoire.fairness.commitments import (
    deal_digest,
    deal_salt,
    joint_seed,
    nonce_from_phrase,
    nonce_seal,
    rules_digest,
    server_commitment,
    server_seed,
)
from grimoire.fairness.draws import ForcedDraws, RecordedDraws, Stream
from grimoire.fairness.secret import Secret

__all__ = [
    "ForcedDraws",
    "RecordedDraws",
    "Secret",
    "Stream",
    "deal_digest",
    "deal_salt",
    "genesis",
    "joint_seed",
    "link",
    "nonce_from_phrase",
    "nonce_seal",
    "part_digest",
    "part_salt",
    "rules_digest",
    "server_commitment",
    "server_seed",
]
