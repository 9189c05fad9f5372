"""Playing on: an unrated match from a version of a finished one, or from a position that somebody arranged."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Final

import msgspec

from grimoire.engine import Illegal, MatchId
from grimoire.runtime.identity import Identity, new_match_id, occupant_id
from grimoire.runtime.keys import KeyRing
from grimoire.v1 import match_pb2, matchmaking_pb2
from matchmaking.bounds import Bounds, default_seats, unreadable_options, unreadable_request_id, wrong_seats
from matchmaking.branches import Arranged, Branches
from matchmaking.challenge import Open, Sitter
from matchmaking.games import Games
from matchmaking.ledger import Ledger
from matchmaking.limits import Limits
from matchmaking.lobby import Lobby, sitter_of, unknown_level
from matchmaking.log import Record, derived_id
from matchmaking.sitting import new_bot
from matchmaking.texts import illegal, term

__all__ = ["Analyses", "AnalysisWish"]

_NONE: Final = matchmaking_pb2.ANALYSIS_PARTNERS_NONE
_BOTS: Final = matchmaking_pb2.ANALYSIS_PARTNERS_BOTS
_POSITION_BYTES: Final = 64 * 1024


class AnalysisWish(msgspec.Struct, frozen=True):
    """An analysis as somebody would like it.

    Attributes:
        match_id, version: of the match to play on from; empty: from `position`.
        game: of an arranged position.
        position: as people write it (JSON text), or as the game has it (bytes).
        options: name and value pairs that differ from that match's, or from the defaults.
        seats: of an arranged position; 0: the game's default number.
        partners: number of `grimoire.v1.AnalysisPartners`.
        level: of the bots.
        seat: the caller's; None: the one it had in that match, or 0.
        request_id: 16 bytes, so that asking twice makes one; empty: each time another.
        language: of the words in a refusal.
    """

    match_id: str = ""
    version: int = 0
    game: str = ""
    position: str | bytes = b""
    options: tuple[tuple[str, str], ...] = ()
    seats: int = 0
    partners: int = _NONE
    level: str = ""
    seat: int | None = None
    request_id: bytes = b""
    language: str = "en"

    def __repr__(self) -> str:
        return f"AnalysisWish(match_id={self.match_id!r}, version={self.version}, game={self.game!r})"


class Analyses:
    """Makes analysis matches. `create` may raise `Unavailable`: a part does not answer, asking again is safe.

    Args:
        branches, games, ledger, lobby: the parts it works with.
        bounds: how much one account may ask.
        keys: make the seats' pseudonyms.
        limits: how long an invitation stays open.
        now_ms: the wall clock, UTC ms.
    """

    def __init__(
        self,
        branches: Branches,
        games: Games,
        ledger: Ledger,
        lobby: Lobby,
        bounds: Bounds,
        keys: KeyRing,
        limits: Limits,
        now_ms: Callable[[], int],
    ) -> None:
        self._branches = branches
        self._games = games
        self._ledger = ledger
        self._lobby = lobby
        self._bounds = bounds
        self._keys = keys
        self._limits = limits
        self._now_ms = now_ms

    async def create(self, caller: Identity, wish: AnalysisWish) -> Record | Illegal:
        """A match from a position: alone and against bots at once, by invitation when the other has come."""
        refusal = unreadable_request_id(wish.request_id) or unreadable_options(wish.options)
        if refusal is None and len(wish.position) > _POSITION_BYTES:
            refusal = illegal("malformed", field="position", detail="a position is smaller than that")
        refusal = refusal or self._bounds.too_fast(caller)
        if refusal is not None:
            return refusal
        challenge_id = derived_id("analysis", caller.account_id, (wish.request_id or secrets.token_bytes(16)).hex())
        record = await self._ledger.get(challenge_id)
        if record is not None:
            return await self._lobby.created(record)
        arranged = await self._arranged(caller, wish)
        if isinstance(arranged, Illegal):
            return arranged
        sitters = await self._sitters(caller, wish, arranged)
        if isinstance(sitters, Illegal):
            return sitters
        opening = Open(
            challenge_id=challenge_id,
            game=arranged.game,
            options=arranged.options,
            seats=arranged.seats,
            sitters=sitters,
            expires_ms=self._now_ms() + int(self._limits.expires_s * 1000),
            match_id=new_match_id(),
            series_id=challenge_id,
            mode=match_pb2.MATCH_MODE_ANALYSIS,
            position=arranged.position,
            by_invitation=True,
        )
        answer = await self._lobby.open(caller, opening)
        return answer if isinstance(answer, Illegal) else await self._lobby.created(answer)

    async def _arranged(self, caller: Identity, wish: AnalysisWish) -> Arranged | Illegal:
        """The position, judged by the game together with the options."""
        if not wish.match_id:
            return await self._from_nothing(wish)
        branch = await self._branches.branch(caller, wish.match_id, wish.version)
        if isinstance(branch, Illegal):
            return branch
        options = {**dict(branch.options), **dict(wish.options)}
        judged = await self._branches.arrange(branch.game, branch.position, options.items(), branch.seats)
        if isinstance(judged, Illegal):
            return judged
        return msgspec.structs.replace(branch, options=judged.options)

    async def _from_nothing(self, wish: AnalysisWish) -> Arranged | Illegal:
        bounds = await self._games.check(wish.game, {})  # what options mean may depend on the number of seats
        if isinstance(bounds, Illegal):
            return bounds
        seats = wish.seats or default_seats(bounds)
        refusal = wrong_seats(bounds, seats, wish.language)
        if refusal is not None:
            return refusal
        checked = await self._games.check(wish.game, dict(wish.options), seats)
        if isinstance(checked, Illegal):
            return checked
        return await self._branches.arrange(wish.game, wish.position, wish.options, seats)

    async def _sitters(
        self, caller: Identity, wish: AnalysisWish, arranged: Arranged
    ) -> tuple[tuple[int, Sitter], ...] | Illegal:
        seat = wish.seat if wish.seat is not None else self._former_seat(caller, arranged)
        if seat >= arranged.seats:
            detail = term("no_seat", wish.language, seat=seat, last=arranged.seats - 1)
            return illegal("bad_option", field="seat", detail=detail)
        mine = (seat, sitter_of(caller))
        others = [number for number in range(arranged.seats) if number != seat]
        if wish.partners == _NONE:
            return (mine, *((number, sitter_of(caller)) for number in others))
        if wish.partners != _BOTS:
            return (mine,)
        manifest = await self._games.manifest(arranged.game, wish.language)
        refusal = unknown_level(manifest, wish.level, "level", wish.language)
        return refusal or (mine, *((number, new_bot(wish.level)) for number in others))

    def _former_seat(self, caller: Identity, arranged: Arranged) -> int:
        """Where the caller sat in the match that is branched; 0 if nowhere."""
        if not arranged.match_id:
            return 0
        pseudonym = occupant_id(self._keys, MatchId(arranged.match_id), caller.account_id)
        return arranged.occupants.index(pseudonym) if pseudonym in arranged.occupants else 0
