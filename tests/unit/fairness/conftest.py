"""A second computation of everything hashed, written plainly from the specification, and whole logs built with it.

Nothing here uses `grimoire.fairness`: what the library accepts and what it computes is judged from outside.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool

from grimoire.engine import Schema
from grimoire.v1 import frame_pb2, match_pb2, visibility_pb2

GAME = "toy"
MATCH = "Match/1"
SEED = bytes(range(32))
NONCES = (bytes([0x11]) * 32, bytes([0x22]) * 32)
DECK = ("ruby", "emerald", "quartz", "orc", "imp", "ogre")

SEAT, CLOCK, HOST = 1, 2, 3


# ---- the specification, once more -----------------------------------------------------------------------------------


def text(*items: object) -> bytes:
    return "".join(f"{item}\n" for item in items).encode("ascii")


def framed(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def commitment(game: str, match_id: str, seed: bytes) -> bytes:
    return hashlib.sha256(text(f"grimoire/{game}/commit/1", match_id, seed.hex())).digest()


def seal(game: str, match_id: str, seat: int, nonce: bytes) -> bytes:
    return hashlib.sha256(text(f"grimoire/{game}/nonce/1", match_id, seat, nonce.hex())).digest()


def nonce_from_phrase(random32: bytes, phrase: str) -> bytes:
    return hashlib.sha256(text("grimoire/nonce-phrase/1", random32.hex(), phrase.encode().hex())).digest()


def joint(game: str, match_id: str, seed: bytes, nonces: list[bytes]) -> bytes:
    return hashlib.sha256(
        text(f"grimoire/{game}/joint/1", match_id, seed.hex(), *[nonce.hex() for nonce in nonces])
    ).digest()


def salt(game: str, j: bytes) -> bytes:
    return hmac.new(j, text(f"grimoire/{game}/salt/1"), hashlib.sha256).digest()


def deal(game: str, match_id: str, deal_salt: bytes, lines: list[str]) -> bytes:
    return hashlib.sha256(text(f"grimoire/{game}/deal/1", match_id, deal_salt.hex(), *lines)).digest()


def stream(game: str, j: bytes, label: str) -> Iterator[int]:
    for block in itertools.count():
        cut = hmac.new(j, text(f"grimoire/{game}/stream/1", label, block), hashlib.sha256).digest()
        for at in range(0, 32, 8):
            yield int.from_bytes(cut[at : at + 8], "big")


def words(game: str, j: bytes, label: str, count: int) -> list[int]:
    return list(itertools.islice(stream(game, j, label), count))


class Drawer:
    """below, shuffle and sample over a list of words, as sections 3 and M2 say."""

    def __init__(self, game: str, j: bytes, label: str) -> None:
        self.words = stream(game, j, label)

    def below(self, n: int) -> int:
        while True:
            w = next(self.words)
            if w < (2**64 // n) * n:
                return w % n

    def shuffle(self, a: list) -> list:
        a = list(a)
        for i in range(len(a) - 1, 0, -1):
            j = self.below(i + 1)
            a[i], a[j] = a[j], a[i]
        return a

    def sample(self, a: list, k: int) -> list:
        a = list(a)
        for t in range(k):
            j = t + self.below(len(a) - t)
            a[t], a[j] = a[j], a[t]
        return a[:k]


def part_salt(seed: bytes, match_id: str, version: int, audience: str) -> bytes:
    return hmac.new(seed, text("grimoire/part-salt/1", match_id, version, audience), hashlib.sha256).digest()[:16]


def part_digest(audience: str, a_salt: bytes, body: bytes) -> bytes:
    return hashlib.sha256(b"grimoire/part/1\n" + framed(audience.encode()) + framed(a_salt) + framed(body)).digest()


def genesis(match_id: str) -> bytes:
    return hashlib.sha256(text("grimoire/chain/1", match_id)).digest()


def link(previous: bytes, header: bytes, public: bytes, digests: list[tuple[str, bytes]]) -> bytes:
    data = b"grimoire/event/1\n" + previous + framed(header) + hashlib.sha256(public).digest()
    for audience, digest in sorted(digests, key=lambda pair: pair[0].encode()):
        data += framed(audience.encode()) + digest
    return hashlib.sha256(data).digest()


# ---- a toy game's schema --------------------------------------------------------------------------------------------

_U32, _STR, _MSG = 13, 9, 11
_ONE, _MANY = 1, 3
_PUBLIC, _OWN, _EACH, _SEALED = 1, 2, 3, 4


def _toy_schema() -> Schema:
    """card_dealt (SEAT), hands_shown (EACH_SEAT), pile_ordered (SEALED), turn_passed (all public)."""
    file = descriptor_pb2.FileDescriptorProto(
        name="fairness_tests/toy.proto", package="fairness_tests", syntax="proto3"
    )
    file.dependency.append("grimoire/v1/visibility.proto")

    def message(name: str, fields: list[tuple[str, int, int, int]], *, all_public: bool = False) -> None:
        added = file.message_type.add(name=name)
        if name != "Shown":
            added.options.Extensions[visibility_pb2.event] = True
        if all_public:
            added.options.Extensions[visibility_pb2.all_public] = True
        for number, (field_name, kind, label, visibility) in enumerate(fields, 1):
            made = added.field.add(name=field_name, number=number, type=kind, label=label)
            if kind == _MSG:
                made.type_name = ".fairness_tests.Shown"
            if visibility:
                made.options.Extensions[visibility_pb2.visibility] = visibility

    message("Shown", [("seat", _U32, _ONE, 0), ("card", _STR, _ONE, 0)])
    message("CardDealt", [("seat", _U32, _ONE, _PUBLIC), ("card", _STR, _ONE, _OWN)])
    message("HandsShown", [("note", _STR, _ONE, _PUBLIC), ("hands", _MSG, _MANY, _EACH)])
    message("PileOrdered", [("size", _U32, _ONE, _PUBLIC), ("cards", _STR, _MANY, _SEALED)])
    message("TurnPassed", [("seat", _U32, _ONE, 0)], all_public=True)
    message("PositionArranged", [("size", _U32, _ONE, _PUBLIC), ("cards", _STR, _MANY, _SEALED)])
    pool = descriptor_pool.Default()
    try:
        found = pool.FindFileByName(file.name)
    except KeyError:
        pool.Add(file)
        found = pool.FindFileByName(file.name)
    return Schema([found])


TOY = _toy_schema()
WHOLE = TOY.union(Schema([match_pb2.DESCRIPTOR]))


def event(code: str, **fields: object):
    """An event message by code."""
    return WHOLE.events[code](**fields)


# ---- a log, step by step --------------------------------------------------------------------------------------------


@dataclass
class Step:
    """One entry before it is hashed; tests change it to make a log that lies but hangs together."""

    events: list
    actor: int = SEAT
    seat: int = 0
    type: str = "play"
    payload: bytes = b""
    draws: list = field(default_factory=list)
    time_ms: int = 0
    version: int = 0
    match_id: str = MATCH
    command_id: bytes = b""
    record_seat: int | None = None
    touch_public: Callable[[bytes], bytes] = lambda public: public
    touch_parts: Callable[[dict[str, bytes]], dict[str, bytes]] = lambda parts: parts
    salts: dict[str, bytes] = field(default_factory=dict)


def draw(label: str, kind: str, bound: int, results: list[int]) -> match_pb2.Draw:
    number = {"below": 1, "shuffle": 2, "sample": 3}[kind]
    return match_pb2.Draw(label=label, kind=number, bound=bound, results=results)


def write(steps: list[Step], seed: bytes = SEED, seats: int = 2) -> list[frame_pb2.ViewerEntry]:
    """The whole log of these steps, every part open."""
    entries = []
    previous = genesis(MATCH)
    for number, step in enumerate(steps, 1):
        version = step.version or number
        header = match_pb2.EntryHeader(
            match_id=step.match_id,
            version=version,
            server_time_ms=step.time_ms or 1_767_225_600_000 + 1000 * number,
            command_id=step.command_id or hashlib.sha256(b"%d" % number).digest()[:16],
            actor=step.actor,
            seat=step.seat if step.actor == SEAT else 0,
        ).SerializeToString()
        split = WHOLE.split(step.events, seats)
        record = match_pb2.CommandRecord(
            actor=step.actor,
            seat=(step.seat if step.actor == SEAT else 0) if step.record_seat is None else step.record_seat,
            type=step.type,
            payload=step.payload,
            draws=step.draws,
        ).SerializeToString()
        public = step.touch_public(split.public)
        parts = step.touch_parts({"command": record, **split.parts})
        opened = []
        for audience in sorted(parts):
            a_salt = step.salts.get(audience) or part_salt(seed, MATCH, version, audience)
            opened.append(frame_pb2.OpenedPart(audience=audience, salt=a_salt, body=parts[audience]))
        digests = [(p.audience, part_digest(p.audience, p.salt, p.body)) for p in opened]
        previous = link(previous, header, public, digests)
        entries.append(
            frame_pb2.ViewerEntry(
                header=header,
                public=public,
                parts=opened,
                digests=[match_pb2.PartDigest(audience=a, digest=d) for a, d in digests],
                hash=previous,
            )
        )
    return entries


def created(mode: int, seed: bytes = SEED, game: str = GAME) -> match_pb2.MatchCreated:
    return match_pb2.MatchCreated(
        game=game,
        rules_version=1,
        rules_digest=bytes(32),
        mode=mode,
        seats=[match_pb2.SeatOccupant(seat=s, occupant_id=f"occupant-{s}", kind=1) for s in range(2)],
        server_commitment=commitment(game, MATCH, seed),
        reveal=match_pb2.Reveal(match_end=True),
        handshake_s=60,
    )


def seat_nonces(nonces: dict[int, bytes]) -> list[match_pb2.SeatNonce]:
    return [match_pb2.SeatNonce(seat=seat, nonce=nonce) for seat, nonce in nonces.items()]


def sealing() -> list[Step]:
    """Creation and both seals: entries 1 to 3."""
    return [
        Step([created(match_pb2.MATCH_MODE_CASUAL)], actor=HOST, type="create_match"),
        *(
            Step([event("nonce_sealed", seat=s, seal=seal(GAME, MATCH, s, NONCES[s]))], seat=s, type="seal_nonce")
            for s in (0, 1)
        ),
    ]


def finished(mode: int = match_pb2.MATCH_MODE_CASUAL) -> list[Step]:
    """A whole match in eight entries: handshake 1 to 5 (5 deals), two plays, the end."""
    j = joint(GAME, MATCH, SEED, list(NONCES))
    order = Drawer(GAME, j, "deck").shuffle(list(range(6)))
    first = Drawer(GAME, j, "first_seat").below(2)
    lines = [str(first), ",".join(DECK[i] for i in order)]
    deal_salt = salt(GAME, j)
    again = Drawer(GAME, j, "draw/7")
    steps = sealing()
    steps[0].events = [created(mode)]
    steps += [
        Step([event("nonce_opened", seat=0, nonce=NONCES[0])], seat=0, type="open_nonce"),
        Step(
            [
                event("nonce_opened", seat=1, nonce=NONCES[1]),
                event("nonces_revealed", nonces=seat_nonces(dict(enumerate(NONCES)))),
                event("match_started", deal_digest=deal(GAME, MATCH, deal_salt, lines), deal_lines=lines),
                event("card_dealt", seat=0, card=DECK[order[0]]),
                event("card_dealt", seat=1, card=DECK[order[1]]),
                event("pile_ordered", size=4, cards=[DECK[i] for i in order[2:]]),
                event("prompt_opened", prompt_id=1, seat=first, kind="main", deadline_class="turn"),
            ],
            seat=1,
            type="open_nonce",
            draws=[draw("first_seat", "below", 2, [first]), draw("deck", "shuffle", 6, order)],
        ),
        Step(
            [event("prompt_closed", prompt_id=1, cause=1), event("turn_passed", seat=first)],
            seat=first,
            draws=[
                draw("draw/7", "below", 102, [again.below(102)]),
                draw("draw/7", "below", 102, [again.below(102)]),
                draw("villages", "sample", 12, Drawer(GAME, j, "villages").sample(list(range(12)), 3)),
            ],
        ),
        Step(
            [
                event(
                    "hands_shown",
                    note="all",
                    hands=[{"seat": 1, "card": DECK[order[1]]}, {"seat": 0, "card": DECK[order[0]]}],
                )
            ],
            actor=CLOCK,
            type="expire",
        ),
        Step(
            [
                event("match_closed", kind=1, ranks=[1, 2], reasons=["tower"]),
                event(
                    "fairness_revealed",
                    server_seed=SEED,
                    nonces=seat_nonces(dict(enumerate(NONCES))),
                    joint_seed=j,
                    salt=deal_salt,
                ),
            ],
            seat=1 - first,
            type="resign",
        ),
    ]
    return steps


def voided(opened: int, *, reason: str = "not_opened", seats: list[int] | None = None, by: int = 1) -> list[Step]:
    """A handshake in which only the first `opened` seats opened, ended by the clock (or the host)."""
    steps = sealing()
    steps += [Step([event("nonce_opened", seat=s, nonce=NONCES[s])], seat=s, type="open_nonce") for s in range(opened)]
    blamed = list(range(opened, 2)) if seats is None else seats
    steps.append(
        Step(
            [
                event("match_voided", by=by, reason=reason, seats=blamed),
                event("fairness_revealed", server_seed=SEED, nonces=seat_nonces(dict(enumerate(NONCES[:opened])))),
            ],
            actor=CLOCK if by == 1 else HOST,
            type="expire" if by == 1 else "void",
        )
    )
    return steps


@pytest.fixture(scope="session")
def plain() -> SimpleNamespace:
    """The second computation, and what builds logs with it."""
    return SimpleNamespace(**{name: value for name, value in globals().items() if not name.startswith("_")})
