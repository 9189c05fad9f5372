"""What one does with a server beside playing: finding and making matches, rematches, audits."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence

import msgspec

from grimoire.cli.screens.lobby_screen import Listing
from grimoire.cli.screens.sitters import Sitters, find_sitters
from grimoire.cli.screens.wish import SEATS, Wish
from grimoire.client import Client, ClientError, MatchSession, Update
from grimoire.fairness.keepsake import Keepsake
from grimoire.v1 import audit_pb2, matchmaking_pb2

__all__ = ["Early", "LobbyDesk", "MatchDesk", "Opened", "Target"]


class Target(msgspec.Struct, frozen=True):
    """The match to go to.

    Attributes:
        match_id: its id.
        seats: who sits there, as far as the challenge told.
        public: only watch it.
        seat: which of one's own seats; None: the first.
    """

    match_id: str
    seats: tuple[matchmaking_pb2.ChallengeSeat, ...] = ()
    public: bool = False
    seat: int | None = None

    @classmethod
    def of(cls, challenge: matchmaking_pb2.Challenge, seat: int | None = None) -> Target:
        """The match of a challenge that has one."""
        return cls(challenge.match_id, tuple(challenge.seats), seat=seat)

    @property
    def other_seats(self) -> list[int]:
        """The seats that are one's own too, where one plays against oneself."""
        own = [seat.seat for seat in self.seats if seat.mine]
        return [seat for seat in own if seat != (own[0] if self.seat is None else self.seat)]


class Early:
    """Updates that come while a screen is being made; it stops keeping them once they are taken."""

    def __init__(self) -> None:
        self._kept: list[Update] | None = []

    def keep(self, update: Update) -> None:
        """One more."""
        if self._kept is not None:
            self._kept.append(update)

    def take(self) -> Sequence[Update]:
        """All of them, once."""
        kept, self._kept = self._kept or [], None
        return kept


class Opened(msgspec.Struct, frozen=True):
    """A match that is being followed."""

    session: MatchSession
    sitters: Sitters
    early: Early
    game: str


class LobbyDesk:
    """The lobby's side of a signed-in client.

    Args:
        client: signed in.
        wish: what was asked for.
    """

    def __init__(self, client: Client, wish: Wish) -> None:
        self.client = client
        self.wish = wish

    async def listing(self) -> Listing:
        """Everything the lobby lists."""
        game = self.wish.game
        if self.wish.watch:
            return Listing(running=tuple(await self.client.matches()))
        challenges, own, finished, running = await asyncio.gather(
            self.client.challenges(game),
            self.client.matches(mine=True, game=game),
            self.client.matches(mine=True, game=game, finished=True, limit=5),
            self.client.matches(game=game),
        )
        return Listing(tuple(challenges), tuple(own), tuple(finished), tuple(running))

    async def create(self, options: Mapping[str, str], level: str) -> matchmaking_pb2.Challenge:
        """A challenge for anybody, or a match against a bot at once.

        Args:
            options: of the game, and the number of seats as `SEATS`; absent or empty: the game's usual number.
            level: of the bot on all other seats; empty: people.

        Raises:
            Rejected: if an option or the number of seats is refused.
        """
        named = {name: value for name, value in options.items() if name != SEATS}
        seats = int(number) if (number := options.get(SEATS, "")).isdecimal() else 0
        if level:
            return await self.client.play_bot(self.wish.game, level, named, seats=seats)
        return await self.client.create(self.wish.game, named, seats=seats)

    async def play_on(self) -> matchmaking_pb2.Challenge:
        """A match that goes on from the one that was asked for."""
        wish = self.wish
        return await self.client.play_on(
            wish.source,
            wish.version,
            level=wish.level,
            invite=wish.challenge,
            seat=wish.seat,
            options=wish.options,
        )

    async def join(self, challenge_id: str) -> matchmaking_pb2.Challenge:
        """Takes a seat, and waits for the match if all seats are taken.

        Raises:
            Rejected: if it is gone.
        """
        challenge = await self.client.join(challenge_id)
        if challenge.status == matchmaking_pb2.CHALLENGE_STATUS_FULL:
            return await self.client.matched(challenge_id)
        return challenge

    async def open(self, target: Target) -> Opened:
        """Begins to follow a match.

        Raises:
            Rejected, UnavailableError: if that cannot be.
        """
        early = Early()
        session = await self.client.open_match(
            target.match_id,
            target.seat,
            as_public=target.public,
            phrase=self.wish.phrase,
            on_update=early.keep,
        )
        sitters = Sitters.of(target.seats)
        with contextlib.suppress(ClientError):  # without names the seats have numbers
            sitters = sitters or await find_sitters(self.client, target.match_id, session.game)
        return Opened(session, sitters, early, session.game)


class MatchDesk:
    """What a match's screen asks for.

    Args:
        client: signed in.
        session: the match.
        command: to come back to it.
    """

    def __init__(self, client: Client, session: MatchSession, command: str) -> None:
        self.command = command
        self._client = client
        self._session = session

    async def audit(self) -> audit_pb2.AuditReport:
        """Checks 1 to 8 over the exported log, with one's own keepsake; every command is judged anew, here."""
        from grimoire.match.offline import audit_bytes

        verdict = await self._session.verify_result()
        if not verdict.holds:
            return verdict.report
        data = await self._client.export(self._session.match_id)
        return await asyncio.to_thread(audit_bytes, data, keepsake=self._keepsake(), log_key=self._client.log_key)

    def _keepsake(self) -> Keepsake | None:
        path = self._session.keepsake_path
        try:
            return None if path is None else Keepsake.from_json(path.read_bytes())
        except (OSError, ValueError):
            return None

    async def table(self) -> matchmaking_pb2.Table:
        """Who sits where, and who has left."""
        return await self._client.table(self._session.match_id)

    async def vote(self, seat: int, fellow: int | None) -> None:
        """Says who shall play on."""
        await self._client.vote(self._session.match_id, seat, fellow)

    async def come_back(self) -> None:
        """Takes one's own seats back."""
        await self._client.return_to_seat(self._session.match_id)

    async def rematch_offered(self) -> bool:
        """The other side has asked for a rematch of this match."""
        challenges = await self._client.challenges(self._session.game)
        return any(
            c.rematch_of == self._session.match_id and not all(s.mine or not s.name for s in c.seats)
            for c in challenges
        )
