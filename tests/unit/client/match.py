"""A match of the toy made by the referee alone, as one viewer would receive it."""

from __future__ import annotations

import secrets

from google.protobuf.message import Message

from grimoire.engine import HOST, Actor, Viewer
from grimoire.fairness import Secret, nonce_seal
from grimoire.fairness.commitments import server_seed
from grimoire.match import Entry, MatchState, Parsed, Referee, opened_entry
from grimoire.v1 import frame_pb2, match_pb2
from tests.support.toy import Toy

MATCH = "m" * 26
HOST_KEY = Secret(bytes(range(32)))
OCCUPANTS = ("o0", "o1")


class Recorded:
    """A referee and the entries it wrote."""

    def __init__(self) -> None:
        self.referee = Referee(Toy(), lambda game, match_id, _: server_seed(HOST_KEY, game, match_id))
        self.entries: list[Entry] = []
        self.now_ms = 1_800_000_000_000

    @property
    def state(self) -> MatchState[object]:
        return self.entries[-1].state

    def create(self, mode: match_pb2.MatchMode.ValueType = match_pb2.MATCH_MODE_CASUAL) -> None:
        spec = match_pb2.CreateMatch(
            game="toy",
            mode=mode,
            seats=[match_pb2.SeatOccupant(seat=n, occupant_id=o, kind=1) for n, o in enumerate(OCCUPANTS)],
        )
        self._keep(self.referee.create(MATCH, self._parsed("create_match", spec, ""), self.now_ms))

    def act(self, seat: int, kind: str, message: Message, prompt_id: int | None = None) -> None:
        parsed = self._parsed(kind, message, OCCUPANTS[seat], prompt_id)
        self._keep(self.referee.judge(self.state, Actor.of_seat(seat), parsed, self.now_ms))

    def void(self) -> None:
        parsed = self._parsed("void", match_pb2.Void(reason="test"), "")
        self._keep(self.referee.judge(self.state, HOST, parsed, self.now_ms))

    def seal(self, seat: int, nonce: bytes) -> None:
        self.act(seat, "seal_nonce", match_pb2.SealNonce(seal=nonce_seal("toy", MATCH, seat, nonce)))

    def open(self, seat: int, nonce: bytes) -> None:
        self.act(seat, "open_nonce", match_pb2.OpenNonce(nonce=nonce))

    def shown(self, viewer: Viewer, first: int = 1) -> list[frame_pb2.ViewerEntry]:
        """The entries from a version on, as this viewer receives them."""
        return [
            opened_entry(
                match_id=MATCH,
                version=entry.version,
                header=entry.header,
                public=entry.public,
                digests=entry.stored_digests(),
                hash_=entry.hash,
                parts=dict(entry.parts),
                viewer=viewer,
                revealed=self.state.revealed,
                seed=server_seed(HOST_KEY, "toy", MATCH),
            )
            for entry in self.entries[first - 1 :]
        ]

    def _keep(self, result: object) -> None:
        assert isinstance(result, Entry), result
        self.now_ms += 10
        self.entries.append(result)

    def _parsed(self, kind: str, message: Message, occupant: str, prompt_id: int | None = None) -> Parsed:
        return Parsed(secrets.token_bytes(16), kind, message, message.SerializeToString(), prompt_id, occupant)
