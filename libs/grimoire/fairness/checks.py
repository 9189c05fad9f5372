"""The checks 1 to 6 of an audit, each a function of the log's own statements. No game code is needed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from google.protobuf.message import DecodeError

from grimoire.fairness.audiences import COMMAND
from grimoire.fairness.chain import part_salt
from grimoire.fairness.commitments import (
    NONCE_SIZE,
    SEED_SIZE,
    deal_digest,
    deal_salt,
    joint_seed,
    nonce_seal,
    server_commitment,
)
from grimoire.fairness.draws import MAX_BOUND, Stream
from grimoire.fairness.facts import Facts, Said
from grimoire.fairness.findings import Lie
from grimoire.fairness.names import check_game, check_match_id
from grimoire.fairness.secret import Secret
from grimoire.v1 import frame_pb2, match_pb2

__all__ = [
    "NotYet",
    "check_commitment",
    "check_deal",
    "check_draws",
    "check_joint_seed",
    "check_nonces",
    "check_parts",
    "recomputed_joint",
    "revealed_seed",
]

Entries = Sequence[frame_pb2.ViewerEntry]


class NotYet(Exception):  # noqa: N818 - it is no error
    """A check that cannot be made of this log; the text says why."""


def revealed_seed(facts: Facts) -> Secret:
    """S, as revealed.

    Raises:
        NotYet: before the reveal.
        Lie: if it has not the size of a seed.
    """
    said = _revealed(facts)
    if len(said.event.server_seed) != SEED_SIZE:
        raise Lie(said.version, f"the revealed server seed is not {SEED_SIZE} bytes long")
    return Secret(said.event.server_seed)


def check_commitment(facts: Facts) -> str:
    """Check 1: S is what the operator committed to before anybody else moved.

    Returns:
        What holds, in a sentence. The same goes for the other checks.

    Raises:
        Lie: at the first entry that lies. The same goes for the other checks.
        NotYet: before the reveal. The same goes for the other checks.
    """
    created = _created(facts)
    seed = revealed_seed(facts)
    if server_commitment(facts.game, facts.match_id, seed) != created.event.server_commitment:
        raise Lie(_revealed(facts).version, "the revealed server seed does not fit the commitment in match_created")
    return "the revealed server seed fits the commitment made in the first entry, before any seat sent anything"


def check_nonces(facts: Facts) -> str:
    """Check 2: every seat sealed before any opened, openings fit their seals, and are those revealed."""
    _created(facts)
    sealed, opened = _replay_handshake(facts)
    said = facts.revealed
    if said is None:
        raise NotYet("the seals that can be opened so far fit; the rest is not yet revealed")
    if _by_seat(said.event.nonces, said.version) != opened:
        raise Lie(said.version, "fairness_revealed shows other nonces than were opened")
    if facts.revealed_nonces is not None:
        return f"all {facts.seats} seats sealed before any opened, and every opening fits its seal"
    if facts.voided is None:
        raise Lie(said.version, "the match was played without revealing its nonces")
    _check_blame(facts, sealed, opened)
    return (
        f"the handshake never ended: {len(sealed)} of {facts.seats} seats sealed, {len(opened)} opened; "
        "every opening fits its seal"
    )


def check_joint_seed(facts: Facts) -> str:
    """Check 3: J follows from S and every seat's nonce."""
    said = _revealed(facts)
    if facts.revealed_nonces is None:
        if said.event.joint_seed or said.event.salt:
            raise Lie(said.version, "a joint seed is revealed, but the handshake never ended")
        return "the handshake never ended, so there is no joint seed, and none is claimed"
    if recomputed_joint(facts) != Secret(said.event.joint_seed or b"-"):
        raise Lie(said.version, "the revealed joint seed does not follow from the server seed and the nonces")
    return "the joint seed follows from the server seed and the nonces of all seats"


def recomputed_joint(facts: Facts) -> Secret | None:
    """J from S and the revealed nonces; None when the handshake never ended.

    Raises:
        NotYet: before the reveal.
        Lie: if S or the nonces are not what they should be.
    """
    seed = revealed_seed(facts)
    if facts.revealed_nonces is None:
        return None
    nonces = _by_seat(facts.revealed_nonces.event.nonces, facts.revealed_nonces.version)
    if sorted(nonces) != list(range(facts.seats)):
        raise Lie(facts.revealed_nonces.version, "nonces_revealed does not name every seat once")
    return joint_seed(check_game(facts.game), facts.match_id, seed, [nonces[seat] for seat in range(facts.seats)])


def check_draws(facts: Facts, entries: Entries, joint: Secret | None) -> str:
    """Check 4: every recorded draw comes from the stream of its label, and no label serves two entries.

    Args:
        facts: of the log.
        entries: with their command parts open.
        joint: J as recomputed; None when the handshake never ended.
    """
    if facts.arranged and not facts.analysis:
        raise Lie(facts.arranged, "a position is arranged, which only analysis matches allow")
    count = by_hand = 0
    used: dict[str, int] = {}
    for version, entry in enumerate(entries, 1):
        record = _record(entry, version)
        _check_position(facts, record, version)
        if not record.draws:
            continue
        if joint is None or facts.revealed_nonces is None or version < facts.revealed_nonces.version:
            raise Lie(version, "something is drawn before there is a joint seed")
        replay = _Replay(facts.game, joint)
        for draw in record.draws:
            if used.setdefault(draw.label, version) != version:
                raise Lie(version, f"the label {draw.label[:80]!r} was used in entry {used[draw.label]} already")
            count += 1
            fault = replay.fault(draw)
            if fault and not facts.analysis:
                raise Lie(version, f"draw {draw.label[:80]!r}: {fault}")
            by_hand += bool(fault)
    if by_hand:
        return f"{count} draws; {by_hand} were set by hand, which an analysis match allows; the others are recomputed"
    return f"all {count} recorded draws come out again from the joint seed"


def check_deal(facts: Facts, joint: Secret | None) -> str:
    """Check 5: the deal is the one whose digest was published before the first turn."""
    said = _revealed(facts)
    salt = b"" if joint is None else deal_salt(facts.game, joint)
    if said.event.salt != salt:
        raise Lie(said.version, "the revealed salt does not follow from the joint seed")
    if facts.started is None:
        if facts.closed is not None:
            raise Lie(said.version, "the match was played, but never started")
        return "the match never started, so there is no deal to check"
    started = facts.started
    try:
        digest = deal_digest(facts.game, facts.match_id, salt, started.event.deal_lines)
    except ValueError:
        raise Lie(started.version, "the deal's lines are not lines of ASCII text") from None
    if digest != started.event.deal_digest:
        raise Lie(started.version, "the deal digest does not fit the deal that was revealed")
    return "the deal is the one whose digest was published before the first turn"


def check_parts(facts: Facts, entries: Entries, seed: Secret | None) -> None:
    """Part of check 6, after the reveal: every part is open, under the salt that follows from S.

    Args:
        facts: of the log.
        entries: of the log.
        seed: S; None when it does not fit its commitment (then salts prove nothing).
    """
    for version, entry in enumerate(entries, 1):
        closed = {d.audience for d in entry.digests} - {p.audience for p in entry.parts}
        if closed:
            raise Lie(version, f"part {min(closed)[:80]!r} is not open, although everything was revealed")
        if seed is not None:
            for part in entry.parts:
                if part_salt(seed, facts.match_id, version, part.audience) != part.salt:
                    raise Lie(version, f"the salt of part {part.audience!r} does not follow from the server seed")
        header = match_pb2.EntryHeader.FromString(entry.header)
        record = _record(entry, version)
        if (record.actor, record.seat) != (header.actor, header.seat):
            raise Lie(version, "the command's record names another actor than the header")


class _Replay(msgspec.Struct):
    """One entry's draws, drawn again."""

    game: str
    joint: Secret
    streams: dict[str, Stream] = msgspec.field(default_factory=dict)

    def fault(self, draw: match_pb2.Draw) -> str:
        """Why this draw is not the next of its label's stream; empty: it is. The stream then moves on."""
        try:
            stream = self.streams.get(draw.label) or Stream(self.game, self.joint, draw.label)
        except ValueError:
            return "its label is not allowed"
        self.streams[draw.label] = stream
        before = stream.position
        fault = _fault(stream, draw)
        if fault:
            stream.go_to(before)
        return fault


def _fault(stream: Stream, draw: match_pb2.Draw) -> str:
    """The sizes are judged before anything is computed: a hostile log may claim a shuffle of four thousand million."""
    bound, results = draw.bound, draw.results
    if bound > MAX_BOUND:
        return "its bound is beyond 2**32"
    if draw.kind == match_pb2.DRAW_KIND_BELOW and bound and len(results) == 1:
        drawn = [stream.below(bound)]
    elif draw.kind == match_pb2.DRAW_KIND_SHUFFLE and len(results) == bound:
        drawn = stream.shuffle(bound)
    elif draw.kind == match_pb2.DRAW_KIND_SAMPLE and len(results) <= bound:
        drawn = stream.sample(bound, len(results))
    else:
        return "its kind, bound and results do not go together"
    return "" if drawn == list(results) else "its result is not what the joint seed gives"


def _replay_handshake(facts: Facts) -> tuple[dict[int, bytes], dict[int, bytes]]:
    """Seals and openings by seat, judged in their order; an opening still hidden is empty."""
    sealed: dict[int, bytes] = {}
    opened: dict[int, bytes] = {}
    for said in facts.handshake:
        event = said.event
        if isinstance(event, match_pb2.NonceSealed):
            if event.seat >= facts.seats:
                raise Lie(said.version, f"there is no seat {event.seat} to seal")
            if len(sealed) == facts.seats:  # a seal may be replaced only until the last one is in
                raise Lie(said.version, f"seat {event.seat} sealed again after every seat had sealed")
            sealed[event.seat] = event.seal
        elif isinstance(event, match_pb2.NonceOpened):
            if len(sealed) < facts.seats:
                raise Lie(said.version, f"seat {event.seat} opened before every seat had sealed")
            if event.seat in opened or event.seat >= facts.seats:
                raise Lie(said.version, f"seat {event.seat} cannot open here")
            opened[event.seat] = event.nonce
            if event.nonce or facts.revealed:
                _check_seal(facts, said.version, event.seat, event.nonce, sealed)
        elif isinstance(event, match_pb2.NoncesRevealed):
            _check_revealed(facts, said.version, event, sealed, opened)
    return sealed, opened


def _check_revealed(
    facts: Facts,
    version: int,
    event: match_pb2.NoncesRevealed,
    sealed: dict[int, bytes],
    opened: dict[int, bytes],
) -> None:
    nonces = _by_seat(event.nonces, version)
    if sorted(nonces) != sorted(opened) or len(nonces) != facts.seats:
        raise Lie(version, "nonces_revealed does not name every seat once, after all have opened")
    for seat, nonce in nonces.items():
        if opened[seat] and opened[seat] != nonce:
            raise Lie(version, f"the nonce revealed for seat {seat} is not the one it opened")
        _check_seal(facts, version, seat, nonce, sealed)


def _check_seal(facts: Facts, version: int, seat: int, nonce: bytes, sealed: dict[int, bytes]) -> None:
    if len(nonce) != NONCE_SIZE:
        raise Lie(version, f"the nonce of seat {seat} is not {NONCE_SIZE} bytes long")
    if nonce_seal(facts.game, facts.match_id, seat, nonce) != sealed[seat]:
        raise Lie(version, f"the nonce of seat {seat} does not fit its seal")


def _check_blame(facts: Facts, sealed: dict[int, bytes], opened: dict[int, bytes]) -> None:
    """A void names the seats that were missing, and only those: it is counted against them in public."""
    said = facts.voided
    if said is None or said.event.by != match_pb2.VOIDED_BY_HANDSHAKE:
        return
    came, reason = (opened, "not_opened") if len(sealed) == facts.seats else (sealed, "not_sealed")
    missing = [seat for seat in range(facts.seats) if seat not in came]
    if said.event.reason != reason or list(said.event.seats) != missing:
        raise Lie(said.version, f"the void blames others than the seats that had {reason.replace('_', ' ')}")


def _check_position(facts: Facts, record: match_pb2.CommandRecord, version: int) -> None:
    if facts.analysis or record.type != "create_match":
        return
    try:
        position = match_pb2.CreateMatch.FromString(record.payload).position
    except DecodeError:
        raise Lie(version, "the command cannot be read") from None
    if position:
        raise Lie(version, "the match begins from an arranged position, which only analysis matches allow")


def _record(entry: frame_pb2.ViewerEntry, version: int) -> match_pb2.CommandRecord:
    for part in entry.parts:
        if part.audience == COMMAND:
            try:
                return match_pb2.CommandRecord.FromString(part.body)
            except DecodeError:
                raise Lie(version, "the command's record cannot be read") from None
    raise Lie(version, "the command's record is not open")


def _created(facts: Facts) -> Said[match_pb2.MatchCreated]:
    if facts.created is None or not facts.seats:
        raise Lie(1, "the log does not begin with a proper match_created")
    try:
        check_game(facts.game)
        check_match_id(facts.match_id)
    except ValueError:
        raise Lie(facts.created.version, "the first entry names no proper game and match") from None
    return facts.created


def _revealed(facts: Facts) -> Said[match_pb2.FairnessRevealed]:
    _created(facts)
    if facts.revealed is None:
        raise NotYet("not yet revealed")
    return facts.revealed


def _by_seat(nonces: Sequence[match_pb2.SeatNonce], version: int) -> dict[int, bytes]:
    listed = {nonce.seat: nonce.nonce for nonce in nonces}
    if len(listed) != len(nonces):
        raise Lie(version, "a seat's nonce is listed twice")
    for seat, nonce in listed.items():
        if len(nonce) != NONCE_SIZE:
            raise Lie(version, f"the nonce of seat {seat} is not {NONCE_SIZE} bytes long")
    return listed
