"""A program's way into a server: who one is, the games, challenges, matches, replays."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from grimoire.client.analysis import Analysis
from grimoire.client.connection import Connection
from grimoire.client.errors import Rejected, UnavailableError
from grimoire.client.keepsakes import Keepsakes, default_folder
from grimoire.client.logbook import LogBook
from grimoire.client.person import Person
from grimoire.client.quick_play import QuickPlay, mode_of
from grimoire.client.session import MatchSession, Update
from grimoire.client.tables import Tables
from grimoire.client.texts import sends_text
from grimoire.client.verify import fetch_export
from grimoire.engine import Viewer, ViewerKind
from grimoire.fairness.names import check_match_id
from grimoire.fairness.transparency import Checkpoint, VerifierKey
from grimoire.match.codes import reject
from grimoire.v1 import (
    audit_pb2,
    envelope_pb2,
    frame_pb2,
    manifest_pb2,
    match_pb2,
    matchmaking_pb2,
    play_pb2,
    replay_pb2,
    rules_pb2,
    transparency_pb2,
)

__all__ = ["Client"]

_CONNECT_S: Final = 10.0
_OPEN_S: Final = 15.0
_AUDIT_S: Final = 120.0
_CHUNK: Final = 64 * 1024
_LEAVES: Final = 1_000
_GONE: Final = (
    matchmaking_pb2.CHALLENGE_STATUS_MATCHED,
    matchmaking_pb2.CHALLENGE_STATUS_CANCELLED,
    matchmaking_pb2.CHALLENGE_STATUS_EXPIRED,
)


@sends_text
class Client(Person, QuickPlay, Tables, Analysis):
    """A signed-in connection; make it with `Client.connect`.

    Every method may raise `UnavailableError`, `NotSignedInError` and `Rejected`; those that can be repeated without
    harm are, while the server is away.

    Example:
        >>> async def main() -> None:
        ...     async with await Client.connect("127.0.0.1:7420") as client:
        ...         await client.guest("Aino")
        ...         challenge = await client.play_bot("two_towers", "heuristic")
        ...         async with await client.open_match(challenge.match_id) as match:
        ...             async for update in match.updates():
        ...                 for prompt in match.own_prompts:
        ...                     answer = prompt.legal[0]
        ...                     await match.submit(answer.type, answer.payload, prompt.prompt_id)
        ...             print(match.closed, await match.verify_result())
    """

    def __init__(self, connection: Connection, language: str, keepsakes: Keepsakes, logbook: LogBook) -> None:
        self._connection = connection
        self._language = language
        self._keepsakes = keepsakes
        self._logbook = logbook

    @classmethod
    async def connect(
        cls,
        address: str,
        token: str | None = None,
        *,
        language: str = "en",
        keepsakes: Path | None = None,
        patience_s: float = 30.0,
        timeout_s: float = _CONNECT_S,
    ) -> Client:
        """Connects to a server.

        Args:
            address: `host:port`, or `grpcs://host:port` for TLS.
            token: of an earlier session; None: sign in with `guest`.
            language: of what is said to people.
            keepsakes: folder for this player's evidence; None: in this user's data folder.
            patience_s: how long requests and commands are repeated while the server is away, in seconds.
            timeout_s: how long the first connection may take.

        Raises:
            UnavailableError: if no server answers.
            ValueError: if the address is none.
        """
        connection = Connection(address, token, patience_s)
        try:
            await connection.ready(timeout_s)
        except BaseException:
            await connection.close()
            raise
        kept = Keepsakes(keepsakes or default_folder())
        return cls(connection, language, kept, LogBook(kept.folder, connection.address))

    async def close(self) -> None:
        """Hangs up; sessions of matches end with it."""
        await self._connection.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def signed_in(self, token: str) -> Client:
        """Another player over the same line, for programs that play for many; close the first one last."""
        return Client(self._connection.with_token(token), self._language, self._keepsakes, self._logbook)

    # ---- who one is -------------------------------------------------------------------------------------------------

    @property
    def token(self) -> str | None:
        """The session token: whoever has it is this player. Keep it to come back."""
        return self._connection.token

    async def guest(self, name: str = "") -> play_pb2.Account:
        """A new guest; the token is used from now on.

        Args:
            name: 1 to 24 characters, shown to others; empty: one is made up.
        """
        request = play_pb2.CreateGuestRequest(name=name)
        # Without the token one had: where that has run out, no call is taken with it.
        nobody = self._connection.with_token(None)
        reply = await nobody.ask(nobody.session.CreateGuest, request)
        self._connection.token = reply.token
        return reply.account

    async def whoami(self) -> play_pb2.Account:
        """One's own account."""
        return (await self._connection.ask(self._connection.session.WhoAmI, play_pb2.WhoAmIRequest())).account

    # ---- games ------------------------------------------------------------------------------------------------------

    async def games(self) -> list[play_pb2.GameSummary]:
        """What can be played here now."""
        request = play_pb2.ListGamesRequest(language=self._language)
        return list((await self._connection.ask(self._connection.play.ListGames, request)).games)

    async def describe(self, game: str) -> manifest_pb2.Manifest:
        """A game in words and tables: options, cards, texts, rules."""
        request = play_pb2.DescribeGameRequest(game=game, language=self._language)
        return (await self._connection.ask(self._connection.play.DescribeGame, request)).manifest

    # ---- challenges -------------------------------------------------------------------------------------------------

    async def challenges(self, game: str = "") -> list[matchmaking_pb2.Challenge]:
        """Open challenges, of one game or of all."""
        request = matchmaking_pb2.ListChallengesRequest(game=game, language=self._language)
        return list((await self._connection.ask(self._connection.matchmaking.ListChallenges, request)).challenges)

    async def create(
        self,
        game: str,
        options: Mapping[str, str] | None = None,
        *,
        seats: int = 0,
        bots: Sequence[str] = (),
        rated: bool | None = None,
    ) -> matchmaking_pb2.Challenge:
        """Opens a challenge that others may join.

        Args:
            game: code name.
            options: by name; what is not named takes its default.
            seats: 0: the game's default number.
            bots: levels for seats that need no person, from the last seat backwards.
            rated: None: rated among people, not rated with a bot.
        """
        request = matchmaking_pb2.CreateChallengeRequest(
            game=game,
            options=_options(options),
            seats=seats,
            bots=bots,
            mode=mode_of(rated),
            language=self._language,
            request_id=secrets.token_bytes(16),
        )
        reply = await self._connection.ask(self._connection.matchmaking.CreateChallenge, request)
        return _agreed(reply.challenge, reply.rejection if reply.HasField("rejection") else None)

    async def challenge(self, challenge_id: str) -> matchmaking_pb2.Challenge:
        """One challenge as it is now."""
        request = matchmaking_pb2.GetChallengeRequest(challenge_id=challenge_id, language=self._language)
        reply = await self._connection.ask(self._connection.matchmaking.GetChallenge, request)
        return _agreed(reply.challenge, reply.rejection if reply.HasField("rejection") else None)

    async def join(self, challenge_id: str) -> matchmaking_pb2.Challenge:
        """Takes a seat."""
        request = matchmaking_pb2.JoinChallengeRequest(challenge_id=challenge_id, language=self._language)
        reply = await self._connection.ask(self._connection.matchmaking.JoinChallenge, request)
        return _agreed(reply.challenge, reply.rejection if reply.HasField("rejection") else None)

    async def cancel(self, challenge_id: str) -> None:
        """Withdraws one's own challenge."""
        request = matchmaking_pb2.CancelChallengeRequest(challenge_id=challenge_id)
        reply = await self._connection.ask(self._connection.matchmaking.CancelChallenge, request)
        if reply.HasField("rejection"):
            raise Rejected(reply.rejection)

    async def watch_challenge(self, challenge_id: str) -> AsyncGenerator[matchmaking_pb2.Challenge, None]:
        """A challenge now and after each change, until its match is created or it is gone."""
        request = matchmaking_pb2.WatchChallengeRequest(challenge_id=challenge_id, language=self._language)
        stream = self._connection.stream(self._connection.matchmaking.WatchChallenge, request)
        async with contextlib.aclosing(stream) as responses:
            async for response in responses:
                yield response.challenge

    async def matched(self, challenge_id: str) -> matchmaking_pb2.Challenge:
        """Waits until a challenge has its match, or is gone; asks anew where the stream breaks.

        Raises:
            UnavailableError: if the server stays away.
        """
        while True:
            challenge = await self.challenge(challenge_id)
            if challenge.status in _GONE:
                return challenge
            with contextlib.suppress(UnavailableError):
                async with contextlib.aclosing(self.watch_challenge(challenge_id)) as changes:
                    async for challenge in changes:
                        if challenge.status in _GONE:
                            return challenge

    async def play_bot(
        self, game: str, level: str, options: Mapping[str, str] | None = None, *, seats: int = 0
    ) -> matchmaking_pb2.Challenge:
        """A match with the game's own player on all other seats, at once; its id is in the challenge."""
        request = matchmaking_pb2.PlayBotRequest(
            game=game,
            options=_options(options),
            level=level,
            seats=seats,
            language=self._language,
            request_id=secrets.token_bytes(16),
        )
        reply = await self._connection.ask(self._connection.matchmaking.PlayBot, request)
        challenge = _agreed(reply.challenge, reply.rejection if reply.HasField("rejection") else None)
        return challenge if challenge.match_id else await self.matched(challenge.challenge_id)

    async def rematch(self, match_id: str) -> matchmaking_pb2.Challenge:
        """Offers another match with the seats changed and the same options, or accepts the offer."""
        request = matchmaking_pb2.RematchRequest(match_id=match_id, language=self._language)
        reply = await self._connection.ask(self._connection.matchmaking.Rematch, request)
        return _agreed(reply.challenge, reply.rejection if reply.HasField("rejection") else None)

    # ---- matches ----------------------------------------------------------------------------------------------------

    async def matches(
        self, *, mine: bool = False, game: str = "", finished: bool = False, limit: int = 0
    ) -> list[matchmaking_pb2.MatchSummary]:
        """Matches, newest first: running ones or those that are over; one's own or all that may be watched."""
        request = matchmaking_pb2.ListMatchesRequest(mine=mine, game=game, finished=finished, limit=limit)
        return list((await self._connection.ask(self._connection.matchmaking.ListMatches, request)).matches)

    async def open_match(
        self,
        match_id: str,
        seat: int | None = None,
        *,
        as_public: bool = False,
        phrase: str = "",
        timeout_s: float = _OPEN_S,
        on_update: Callable[[Update], None] | None = None,
    ) -> MatchSession:
        """Follows a match, and plays one's seat in it if one has one.

        The session does this seat's part of the handshake unasked: it draws a nonce, keeps it, seals it, and opens it
        when all have sealed.

        Args:
            match_id: of the match.
            seat: which of one's own seats; None: the first, or none.
            as_public: watch as anybody does, although one has a seat.
            phrase: one's own, mixed into the nonce.
            timeout_s: for the first screen.
            on_update: called back with every frame, those before this method returns included: the whole history.

        Raises:
            Rejected: `unknown_match`, or `not_a_seat`.
        """
        if not _may_be_an_id(match_id):
            raise Rejected(reject("unknown_match", field="match_id"))
        session = MatchSession(
            self._connection,
            match_id,
            seat=seat,
            as_public=as_public,
            phrase=phrase,
            keepsakes=self._keepsakes,
            logbook=self._logbook,
        )
        if on_update is not None:
            session.on_update(on_update)
        await session.open(timeout_s)
        return session

    # ---- replays ----------------------------------------------------------------------------------------------------

    async def match(self, match_id: str) -> replay_pb2.GetMatchResponse:
        """What a stored match is, how far it goes, and through whose eyes one may see it now."""
        request = replay_pb2.GetMatchRequest(match_id=match_id)
        return await self._connection.ask(self._connection.replay.GetMatch, request)

    async def frames(
        self, match_id: str, viewer: Viewer, first: int = 1, last: int = 0
    ) -> AsyncGenerator[rules_pb2.ReplayFrame, None]:
        """The screens of a match, version by version.

        Args:
            match_id: of the match.
            viewer: through whose eyes.
            first, last: versions, inclusive; `last` 0: to the end.
        """
        seat = viewer.seat if viewer.kind is ViewerKind.SEAT else 0
        request = replay_pb2.StreamFramesRequest(
            match_id=match_id,
            viewer=frame_pb2.Viewer(kind=frame_pb2.ViewerKind.ValueType(viewer.kind.value), seat=seat),
            to=last,
        )
        # The field is called as a keyword of this language is.
        setattr(request, "from", first)
        stream = self._connection.stream(self._connection.replay.StreamFrames, request)
        async with contextlib.aclosing(stream) as responses:
            async for response in responses:
                for frame in response.frames:
                    yield frame

    async def marks(self, match_id: str) -> list[rules_pb2.Mark]:
        """Turns and key events of a match, for a timeline."""
        request = replay_pb2.GetMarksRequest(match_id=match_id)
        return list((await self._connection.ask(self._connection.replay.GetMarks, request, timeout_s=_AUDIT_S)).marks)

    async def export(self, match_id: str) -> bytes:
        """The self-contained file of a match, as far as one may see it now."""
        return await fetch_export(self._connection, match_id)

    # ---- the transparency log ---------------------------------------------------------------------------------------

    @property
    def log_key(self) -> VerifierKey | None:
        """The key of this server's transparency log: taken on first use, kept, and compared ever after.

        Compare it with one you know from elsewhere. None: nothing has been seen of that log yet.
        """
        return self._logbook.key

    @property
    def log_seen(self) -> Checkpoint | None:
        """The latest checkpoint of the log that has been seen here."""
        return self._logbook.head

    @property
    def log_note(self) -> bytes:
        """That checkpoint as it was signed, for others to compare; empty: none has been seen."""
        return self._logbook.note

    async def log_checkpoint(self) -> Checkpoint:
        """The newest checkpoint of the log, compared with those seen before.

        Raises:
            Alarm: if it is not of the log that was seen before.
        """
        request = transparency_pb2.GetCheckpointRequest()
        reply = await self._connection.ask(self._connection.transparency.GetCheckpoint, request)
        return await self._logbook.check(self._connection, "", reply.key, reply.checkpoint)

    async def log_leaves(self, last: int, first: int = 0) -> AsyncGenerator[list[bytes], None]:
        """Leaves of the log in order, from `first` on, `last` not among them; in pieces."""
        while first < last:
            request = transparency_pb2.GetLeavesRequest(first=first, count=min(last - first, _LEAVES))
            reply = await self._connection.ask(self._connection.transparency.GetLeaves, request)
            if not reply.leaves:
                return
            first += len(reply.leaves)
            yield list(reply.leaves)

    # ---- files ------------------------------------------------------------------------------------------------------

    async def import_file(self, data: bytes) -> replay_pb2.ImportResponse:
        """Brings a file; it is audited first and kept under an id of its own."""
        return await self._connection.upload(self._connection.replay.Import, _pieces(data))

    async def audit(self, match_id: str) -> audit_pb2.AuditReport:
        """What the server's own audit says of a match. `MatchSession.verify_result` asks nobody."""
        request = replay_pb2.AuditRequest(match_id=match_id)
        return (await self._connection.ask(self._connection.replay.Audit, request, timeout_s=_AUDIT_S)).report


def _options(options: Mapping[str, str] | None) -> Iterable[match_pb2.OptionValue]:
    return [match_pb2.OptionValue(name=name, value=value) for name, value in (options or {}).items()]


def _agreed(
    challenge: matchmaking_pb2.Challenge, rejection: envelope_pb2.Rejection | None
) -> matchmaking_pb2.Challenge:
    if rejection is not None:
        raise Rejected(rejection)
    return challenge


def _may_be_an_id(match_id: str) -> bool:
    """Whether a match may be called so; whatever a person typed is no defect of the program."""
    try:
        check_match_id(match_id)
    except ValueError:
        return False
    return True


async def _pieces(data: bytes) -> AsyncIterator[replay_pb2.ImportRequest]:
    for start in range(0, max(len(data), 1), _CHUNK):
        yield replay_pb2.ImportRequest(chunk=data[start : start + _CHUNK])
