"""What a player's program checks for itself while a match runs, and its part of the handshake. Pure.

The client is the witness: it keeps its nonce before it seals, follows the chain from the first entry, and compares what
it is shown with what it kept (fairness specification, sections 2 and 5).
"""

from __future__ import annotations

import enum
import secrets
from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from grimoire.client.errors import Alarm
from grimoire.fairness.commitments import NONCE_SIZE, nonce_from_phrase, nonce_seal
from grimoire.fairness.keepsake import Keepsake
from grimoire.fairness.livechain import ChainBroken, LiveChain
from grimoire.fairness.secret import Secret
from grimoire.fairness.transparency import (
    CommitLeaf,
    Evidence,
    EvidenceError,
    LeafKind,
    NoteError,
    VerifierKey,
    leaves_of,
)
from grimoire.v1 import frame_pb2, match_pb2

__all__ = ["Step", "Witness", "whole_events"]

M = TypeVar("M", bound=Message)


class Step(enum.Enum):
    """What a seat has to do next in the handshake."""

    CHECK_LOG = "check_log"
    MAKE_NONCE = "make_nonce"
    SEAL = "seal"
    OPEN = "open"


class Witness:
    """One viewer's checks of one match.

    Args:
        match_id: of the match.
        seat: one's own; None: a spectator.
        keepsake: what is kept of the seat from an earlier session; None: nothing.

    Attributes:
        chain: as far as it has been followed.
        seat: one's own; None: a spectator.
        created: the first entry's facts.
        keepsake: one's own evidence; None before there is a nonce, and for spectators.
        in_handshake: the match waits for nonces.
        commit_leaf: what must be in the transparency log before this seat seals; None: nothing (analysis), or the first
            entry has not been seen.
        evidence: that it is; None: not seen yet.
    """

    def __init__(self, match_id: str, seat: int | None = None, keepsake: Keepsake | None = None) -> None:
        self.chain = LiveChain(match_id)
        self.seat = seat
        self.created: match_pb2.MatchCreated | None = None
        self.keepsake = keepsake
        self.in_handshake = False
        self.commit_leaf: CommitLeaf | None = None
        self.evidence: Evidence | None = None
        self._seals: dict[int, bytes] = {}
        self._opened: set[int] = set()
        self._sealed_own = False
        # Heads from before the nonce was made, until there is a keepsake for them.
        self._heads: dict[int, bytes] = {}

    @property
    def match_id(self) -> str:
        """Of the match."""
        return self.chain.match_id

    def take(self, entry: frame_pb2.ViewerEntry) -> list[match_pb2.Event]:
        """Checks the next entry.

        Returns:
            Its events, as far as they are open to this viewer.

        Raises:
            Alarm: if it does not follow from those before, differs from what was seen before, or breaks the handshake.
        """
        try:
            header = self.chain.feed(entry)
        except ChainBroken as broken:
            raise Alarm(self.match_id, broken.version, broken.reason) from None
        self._remember(header.version, entry.hash)
        try:
            events = whole_events(entry)
            if header.version == 1:
                self._expect_commit(entry)
            for event in events:
                self._follow(event)
        except DecodeError:
            raise self._alarm("its events cannot be read") from None
        return events

    def check_head(self, head: frame_pb2.MatchHead) -> None:
        """The head a view is said to be of must be the entry that was checked last.

        Raises:
            Alarm: if it is another.
        """
        if (head.match_id, head.version, head.hash) != (self.match_id, self.chain.version, self.chain.head):
            raise self._alarm("the view is of another history than its entries")

    def next_step(self) -> Step | None:
        """What this seat has to do now; None: nothing, or not its turn to move in the handshake."""
        if self.seat is None or self.created is None or not self.in_handshake:
            return None
        if self.commit_leaf is not None and self.evidence is None:
            return Step.CHECK_LOG
        if self.keepsake is None:
            return Step.MAKE_NONCE
        if self._seals.get(self.seat) != self.keepsake.seal:
            return Step.SEAL
        if len(self._seals) == len(self.created.seats) and self.seat not in self._opened:
            return Step.OPEN
        return None

    def check_log(self, evidence: Evidence, key: VerifierKey) -> None:
        """Takes the proof that what the server promised in the first entry is in its transparency log.

        Args:
            evidence: as the server shows it.
            key: of the log, as it is known here.

        Raises:
            Alarm: if it does not prove that.
        """
        try:
            proved = evidence.prove(self.match_id, key)
        except EvidenceError as error:
            raise self._alarm(str(error)) from None
        if self.commit_leaf is None or proved.leaves.get(LeafKind.COMMIT) != self.commit_leaf:
            raise self._alarm("the transparency log holds another promise for this match than the one shown here")
        self.evidence = evidence
        if self.keepsake is not None:
            self.keepsake.evidence = evidence

    def _expect_commit(self, entry: frame_pb2.ViewerEntry) -> None:
        for leaf in leaves_of([entry]):
            if isinstance(leaf, CommitLeaf):
                self.commit_leaf = leaf

    def make_nonce(self, phrase: str = "") -> Keepsake:
        """Draws this seat's nonce. The keepsake must be stored before `Step.SEAL` is carried out.

        Args:
            phrase: a person's own, mixed in; it is never used alone.
        """
        if self.seat is None or self.created is None:
            raise ValueError("only a seat whose match is known has a nonce")
        fresh = secrets.token_bytes(NONCE_SIZE)
        nonce = Secret(nonce_from_phrase(fresh, phrase) if phrase else fresh)
        self.keepsake = Keepsake.make(
            self.created.game, self.match_id, self.seat, self.created.server_commitment, nonce
        )
        self.keepsake.evidence = self.evidence
        for version, head in self._heads.items():
            self.keepsake.saw(version, head)
        self._heads.clear()
        return self.keepsake

    def _remember(self, version: int, head: bytes) -> None:
        if self.seat is None:
            return
        if self.keepsake is None:
            self._heads[version] = head
            return
        if self.keepsake.heads.get(version, head) != head:
            raise self._alarm("this entry is not the one that was seen here before")
        self.keepsake.saw(version, head)

    # ---- the handshake ----------------------------------------------------------------------------------------------

    def _follow(self, event: match_pb2.Event) -> None:
        match event.type:
            case "match_created":
                self._follow_created(match_pb2.MatchCreated.FromString(event.body))
            case "nonce_sealed":
                self._follow_sealed(match_pb2.NonceSealed.FromString(event.body))
            case "nonce_opened":
                self._follow_opened(match_pb2.NonceOpened.FromString(event.body))
            case "nonces_revealed":
                self._follow_revealed(match_pb2.NoncesRevealed.FromString(event.body))
            case "match_started" | "match_voided":
                self.in_handshake = False

    def _follow_created(self, created: match_pb2.MatchCreated) -> None:
        kept = self.keepsake
        if self.created is not None:
            raise self._alarm("a match is created only once")
        if kept is not None and (created.game, created.server_commitment) != (kept.game, kept.commitment):
            raise self._alarm("the server commitment is not the one that was shown before")
        self.created = created
        self.in_handshake = True
        if kept is not None and kept.evidence is not None:
            self._check_kept(kept.evidence)

    def _check_kept(self, evidence: Evidence) -> None:
        """What was proved before is still a proof, of what is shown now."""
        try:
            self.check_log(evidence, VerifierKey.parse(evidence.key))
        except NoteError as error:
            raise self._alarm(f"what was kept of the transparency log does not hold: {error}") from None

    def _follow_sealed(self, sealed: match_pb2.NonceSealed) -> None:
        self._seals[sealed.seat] = sealed.seal
        if self.keepsake is None or sealed.seat != self.seat:
            return
        if sealed.seal == self.keepsake.seal:
            self._sealed_own = True
        elif self._sealed_own:
            raise self._alarm("somebody else has replaced the seal of your seat; if that was not you, the server lies")

    def _follow_opened(self, opened: match_pb2.NonceOpened) -> None:
        self._opened.add(opened.seat)
        kept = self.keepsake
        if kept is not None and opened.seat == self.seat and opened.nonce and Secret(opened.nonce) != kept.nonce:
            raise self._alarm("the nonce opened for your seat is not the one you kept")

    def _follow_revealed(self, revealed: match_pb2.NoncesRevealed) -> None:
        created = self.created
        seats = len(created.seats) if created is not None else 0
        if created is None or [n.seat for n in revealed.nonces] != list(range(seats)):
            raise self._alarm("not every seat's nonce is revealed, each once and in order")
        for told in revealed.nonces:
            if len(told.nonce) != NONCE_SIZE or self._seals.get(told.seat) != nonce_seal(
                created.game, self.match_id, told.seat, told.nonce
            ):
                raise self._alarm(f"the nonce of seat {told.seat} does not fit its seal")
            if self.keepsake is not None and told.seat == self.seat and Secret(told.nonce) != self.keepsake.nonce:
                raise self._alarm("the nonce revealed for your seat is not the one you kept")

    def _alarm(self, reason: str) -> Alarm:
        return Alarm(self.match_id, self.chain.version, reason)


def whole_events(entry: frame_pb2.ViewerEntry) -> list[match_pb2.Event]:
    """An entry's events with the fields of the opened parts put back, without knowing any game.

    Raises:
        DecodeError: if public bytes or a part are no events, or do not belong together.
    """
    events = list(match_pb2.Events.FromString(entry.public).events)
    for part in sorted(entry.parts, key=lambda p: p.audience):
        if part.audience == "command":
            continue
        for piece in match_pb2.PartEvents.FromString(part.body).events:
            if piece.index >= len(events):
                raise DecodeError("a part names an event that is not there")
            # Concatenated messages parse as one with the fields of both.
            events[piece.index].body += piece.body
    return events
