"""What a seat's own program keeps of a match: the witness that nobody else can stand in for.

A log alone cannot show that a seat's nonce was the seat's own, nor that history was not rewritten while the match ran.
The seat can: it kept its nonce, the head after each entry it saw, and the ids of its commands.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Literal

import msgspec

from grimoire.fairness.commitments import NONCE_SIZE, nonce_seal
from grimoire.fairness.facts import Facts, gather
from grimoire.fairness.findings import Check, Finding
from grimoire.fairness.names import check_game, check_match_id
from grimoire.fairness.secret import Secret
from grimoire.fairness.transparency.evidence import Evidence, EvidenceError, Proved
from grimoire.fairness.transparency.leaves import LeafKind
from grimoire.v1 import frame_pb2, match_pb2

__all__ = ["MAX_KEEPSAKE_BYTES", "Keepsake", "KeepsakeError", "compare", "compare_evidence", "compare_facts"]

MAX_KEEPSAKE_BYTES = 8 * 1024 * 1024


class KeepsakeError(ValueError):
    """A file that is no keepsake."""


class _File(
    msgspec.Struct,
    frozen=True,
    tag_field="kind",
    tag="grimoire-keepsake",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    format: Literal[1]
    game: str
    match_id: str
    seat: Annotated[int, msgspec.Meta(ge=0, lt=64)]
    commitment: bytes
    nonce: bytes
    seal: bytes
    heads: dict[Annotated[int, msgspec.Meta(ge=1)], bytes]
    commands: list[bytes]
    evidence: Evidence | None = None


_decode = msgspec.json.Decoder(_File).decode


class Keepsake(msgspec.Struct):
    """One seat's evidence. Kept in a file that only its owner may read: until the reveal the nonce is a secret.

    Attributes:
        game: code name.
        match_id: of the match.
        seat: one's own, from 0.
        commitment: the server's, as shown before one sealed.
        nonce: one's own.
        seal: as sent.
        heads: by version, the hash of each entry seen.
        commands: ids of one's accepted commands, seal and opening among them.
        evidence: that the commitment was in the transparency log, under a signed checkpoint, before one sealed.

    >>> kept = Keepsake.make("two_towers", "m1", 0, bytes(32), Secret(bytes(32)))
    >>> kept.saw(1, bytes([1]) * 32)
    >>> Keepsake.from_json(kept.to_json()) == kept
    True
    """

    game: str
    match_id: str
    seat: int
    commitment: bytes
    nonce: Secret
    seal: bytes
    heads: dict[int, bytes] = msgspec.field(default_factory=dict)
    commands: list[bytes] = msgspec.field(default_factory=list)
    evidence: Evidence | None = None

    @classmethod
    def make(cls, game: str, match_id: str, seat: int, commitment: bytes, nonce: Secret) -> Keepsake:
        """A new keepsake with its seal computed; store it before the seal is sent."""
        return cls(game, match_id, seat, commitment, nonce, nonce_seal(game, match_id, seat, nonce.open()))

    def saw(self, version: int, head: bytes) -> None:
        """Keeps the head after an entry; versions count from 1."""
        self.heads[version] = head

    def sent(self, command_id: bytes) -> None:
        """Keeps the id of an accepted command."""
        if command_id not in self.commands:
            self.commands.append(command_id)

    def to_json(self) -> bytes:
        """One line of JSON, keys in fixed order, heads by version, bytes in base64; it holds the nonce."""
        file = _File(
            1,
            self.game,
            self.match_id,
            self.seat,
            self.commitment,
            self.nonce.open(),
            self.seal,
            dict(sorted(self.heads.items())),
            self.commands,
            self.evidence,
        )
        return msgspec.json.encode(file) + b"\n"

    @classmethod
    def from_json(cls, data: bytes) -> Keepsake:
        """Reads what `to_json` wrote.

        Raises:
            KeepsakeError: if it is anything else.
        """
        if len(data) > MAX_KEEPSAKE_BYTES:
            raise KeepsakeError(f"a keepsake has at most {MAX_KEEPSAKE_BYTES} bytes")
        try:
            file = _decode(data)
            check_game(file.game)
            check_match_id(file.match_id)
        except (msgspec.DecodeError, ValueError, RecursionError):
            # The cause could quote the file, and with it the nonce.
            raise KeepsakeError("this is not a keepsake") from None
        if len(file.nonce) != NONCE_SIZE:
            raise KeepsakeError(f"a nonce has {NONCE_SIZE} bytes")
        return cls(
            file.game,
            file.match_id,
            file.seat,
            file.commitment,
            Secret(file.nonce),
            file.seal,
            file.heads,
            file.commands,
            file.evidence,
        )


def compare(keepsake: Keepsake, entries: Sequence[frame_pb2.ViewerEntry]) -> list[Finding]:
    """Where a log contradicts what a seat kept; empty: it does not.

    Args:
        keepsake: the seat's own.
        entries: from version 1, revealed or not; of an unfinished match what is there so far is compared.

    Returns:
        Findings for the checks 1 (commitment), 2 (nonce and seal) and 6 (heads and commands).
    """
    return compare_facts(keepsake, gather(entries, keepsake.match_id), entries, keepsake.commands)


def compare_facts(
    keepsake: Keepsake, facts: Facts, entries: Sequence[frame_pb2.ViewerEntry], commands: Collection[bytes]
) -> list[Finding]:
    """As `compare`, over facts already gathered.

    Args:
        keepsake: the seat's own.
        facts: of the log.
        entries: of the log.
        commands: all ids this seat knows to be its own, from every keepsake it has (one for each device).
    """
    if (keepsake.match_id, keepsake.game) != (facts.match_id, facts.game):
        return [Finding(Check.NONCES, 0, f"the keepsake of seat {keepsake.seat} is of another match")]
    return [
        *_commitment(keepsake, facts),
        *_seal(keepsake, facts),
        *_nonce(keepsake, facts),
        *_heads(keepsake, entries),
        *_commands(keepsake, facts, {*commands}),
    ]


def compare_evidence(keepsake: Keepsake, proved: Proved) -> list[Finding]:
    """Where the transparency log contradicts what a seat was shown of it before it sealed; empty: it does not.

    Args:
        keepsake: the seat's own.
        proved: what the log proves of the match now.
    """
    if keepsake.evidence is None:
        return []
    seat = keepsake.seat
    try:
        kept = keepsake.evidence.prove(keepsake.match_id)
    except EvidenceError as error:
        return [Finding(Check.TRANSPARENCY_LOG, 0, f"what seat {seat} kept of the log does not hold: {error}")]
    before, now = kept.checkpoint, proved.checkpoint
    if kept.key != proved.key:
        reason = f"seat {seat} was shown the log of another key, {kept.key}"
    elif kept.numbers.get(LeafKind.COMMIT) != proved.numbers.get(LeafKind.COMMIT):
        reason = f"seat {seat} was shown the commitment at another place of the log"
    elif before.size == now.size and before.root != now.root:
        reason = f"seat {seat} was shown another log of the same size"
    elif kept.leaves.get(LeafKind.COMMIT) != proved.leaves.get(LeafKind.COMMIT):
        reason = f"seat {seat} was shown another commit leaf"
    else:
        return []
    return [Finding(Check.TRANSPARENCY_LOG, 0, reason)]


def _commitment(keepsake: Keepsake, facts: Facts) -> list[Finding]:
    if facts.created is None or facts.created.event.server_commitment == keepsake.commitment:
        return []
    detail = f"the server commitment is not the one that seat {keepsake.seat} was shown"
    return [Finding(Check.COMMITMENT, facts.created.version, detail)]


def _seal(keepsake: Keepsake, facts: Facts) -> list[Finding]:
    """The seat's last seal is the one that binds."""
    own = [
        said
        for said in facts.handshake
        if isinstance(said.event, match_pb2.NonceSealed) and said.event.seat == keepsake.seat
    ]
    if not own or own[-1].event == match_pb2.NonceSealed(seat=keepsake.seat, seal=keepsake.seal):
        return []
    return [Finding(Check.NONCES, own[-1].version, f"the seal of seat {keepsake.seat} is not the one it sent")]


def _nonce(keepsake: Keepsake, facts: Facts) -> list[Finding]:
    findings = []
    for said in (facts.revealed_nonces, facts.revealed):
        if said is None:
            continue
        findings += [
            Finding(Check.NONCES, said.version, f"the nonce of seat {keepsake.seat} is not the one it kept")
            for listed in said.event.nonces
            if listed.seat == keepsake.seat and Secret(listed.nonce or b"-") != keepsake.nonce
        ]
    return findings[:1]


def _heads(keepsake: Keepsake, entries: Sequence[frame_pb2.ViewerEntry]) -> list[Finding]:
    """The first entry that the seat saw otherwise."""
    for version, head in sorted(keepsake.heads.items()):
        if version > len(entries):
            return [Finding(Check.CHAIN, version, f"seat {keepsake.seat} saw this entry, but the log ends before it")]
        if entries[version - 1].hash != head:
            return [Finding(Check.CHAIN, version, f"seat {keepsake.seat} saw another entry here")]
    return []


def _commands(keepsake: Keepsake, facts: Facts, known: set[bytes]) -> list[Finding]:
    seat = keepsake.seat
    findings = [
        Finding(Check.CHAIN, 0, f"a command that seat {seat} sent, and that was accepted, is not in the log")
        for command_id in keepsake.commands
        if facts.commands.get(command_id, None) is None
    ][:1]
    until = facts.handed_over.get(seat, facts.entries + 1)
    findings += [
        Finding(Check.CHAIN, issuer.version, f"it is said to be from seat {seat}, which does not know of it")
        for command_id, issuer in facts.commands.items()
        if issuer.seat == seat and issuer.version <= until and command_id not in known
    ][:1]
    return findings
