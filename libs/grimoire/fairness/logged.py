"""Check 7 of an audit: the match is in the transparency log, and the log says of it what the match itself says."""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.message import DecodeError

from grimoire.fairness.checks import NotYet
from grimoire.fairness.facts import Facts
from grimoire.fairness.findings import Lie
from grimoire.fairness.transparency.evidence import Evidence, EvidenceError, Proved
from grimoire.fairness.transparency.leaves import Leaf, LeafKind, leaves_of
from grimoire.fairness.transparency.note import VerifierKey
from grimoire.v1 import frame_pb2

__all__ = ["prove_log", "said_of"]

Entries = Sequence[frame_pb2.ViewerEntry]


def prove_log(
    facts: Facts, entries: Entries, evidence: Evidence | None, key: VerifierKey | None, *, from_file: bool
) -> Proved:
    """What the log proves of a match.

    Args:
        facts: of the match's own log.
        entries: of it, as far as it goes.
        evidence: proofs from the transparency log; None: nobody brought any.
        key: of the transparency log, as known from elsewhere; None: taken from the evidence.
        from_file: the match comes from a file, which must carry proofs once it is revealed.

    Raises:
        Lie: if something does not hold.
        NotYet: if there is nothing that could be proved, or not all of it yet.
    """
    if facts.analysis:
        if evidence is not None:
            raise Lie(1, "an analysis match is shown as if it were in the transparency log")
        raise NotYet("not checked: analysis matches are not in the transparency log")
    if evidence is None:
        if from_file and facts.revealed is not None:
            raise Lie(0, "the file carries no proof that the match is in the transparency log")
        raise NotYet("not checked: there are no proofs from the transparency log here")
    try:
        proved = evidence.prove(facts.match_id, key)
    except EvidenceError as error:
        raise Lie(0, str(error)) from None
    expected = _expected(entries)
    versions = _versions(facts)
    for kind, leaf in proved.leaves.items():
        if expected.get(kind) != leaf:
            raise Lie(versions.get(kind, 0), f"the {kind} leaf in the transparency log is not what the match says")
    missing = [kind.value for kind in expected if kind not in proved.leaves]
    if missing:
        if facts.revealed is None:
            raise NotYet(f"{_so_far(proved)} still without its leaf: {', '.join(missing)}")
        raise Lie(0, f"the transparency log has no leaf of this match for: {', '.join(missing)}")
    if facts.revealed is None:
        raise NotYet(f"{_so_far(proved)} the match is not yet revealed")
    return proved


def said_of(proved: Proved, key: VerifierKey | None) -> str:
    """What holds, in a sentence.

    Args:
        proved: from `prove_log`.
        key: as given to it.
    """
    places = ", ".join(f"{kind} {number}" for kind, number in proved.numbers.items())
    known = "the key that was asked for" if key is not None else "compare this key with the one you know of that log"
    return (
        f"all its leaves stand in the log ({places}; signed for {proved.checkpoint.size} leaves) "
        f"and say what the match says; signed by {proved.key}: {known}"
    )


def _so_far(proved: Proved) -> str:
    listed = ", ".join(proved.leaves)
    return f"what is in the transparency log so far holds ({listed});" if listed else "nothing is in the log yet;"


def _expected(entries: Entries) -> dict[LeafKind, Leaf]:
    try:
        return {leaf.kind: leaf for leaf in leaves_of(entries)}
    except (DecodeError, ValueError):
        raise Lie(0, "the entries cannot be read") from None


def _versions(facts: Facts) -> dict[LeafKind, int]:
    said = {
        LeafKind.COMMIT: facts.created,
        LeafKind.START: facts.started,
        LeafKind.CLOSE: facts.closed or facts.voided,
        LeafKind.REVEAL: facts.revealed,
    }
    return {kind: one.version for kind, one in said.items() if one is not None}
