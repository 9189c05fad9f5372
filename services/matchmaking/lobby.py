"""What a player can do in the lobby. Knows nothing of gRPC; every answer is a challenge or a refusal."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from grimoire.engine import Illegal
from grimoire.match.seats import GRACE_S, MAX_GRACE_S
from grimoire.runtime.identity import Identity, new_match_id
from grimoire.v1 import manifest_pb2, match_pb2, matchmaking_pb2
from matchmaking.archive import Archive
from matchmaking.bounds import Bounds, default_seats, unreadable_options, unreadable_request_id, wrong_seats
from matchmaking.challenge import Cancel, Challenge, Fill, Join, Leave, Open, Sitter, Stage
from matchmaking.endings import Endings
from matchmaking.games import Checked, Games
from matchmaking.ledger import Ledger
from matchmaking.limits import Limits
from matchmaking.log import Record, derived_id
from matchmaking.names import NameBook
from matchmaking.partings import Partings
from matchmaking.sitting import new_bot
from matchmaking.texts import illegal, term
from matchmaking.watches import Watches

__all__ = ["Lobby", "Row", "Wish", "sitter_of", "unknown_level"]

_ID: Final = re.compile(r"[0-9a-z]{26}")
_MODES: Final = (match_pb2.MATCH_MODE_UNSPECIFIED, match_pb2.MATCH_MODE_RATED, match_pb2.MATCH_MODE_CASUAL)
MAX_SPECTATOR_DELAY_S: Final = 3600
MAX_SEATS: Final = 16
_ROW_KINDS: Final = frozenset(matchmaking_pb2.SeatRowKind.values()) - {matchmaking_pb2.SEAT_ROW_KIND_UNSPECIFIED}
_REMATCHES: Final = 16
"""How often the rematch of one match can be offered, withdrawn and offered again."""

_Answer = Record | Illegal


class Row(msgspec.Struct, frozen=True):
    """Who shall sit on one seat: number of `grimoire.v1.SeatRowKind`; a bot with its level."""

    kind: int
    level: str = ""


class Wish(msgspec.Struct, frozen=True):
    """A challenge as somebody would like it.

    Attributes:
        game: code name.
        options: name and value pairs; those that are missing take the game's defaults.
        seats: 0: the game's default number.
        bots: levels of the bots, from the last seat backwards.
        all_bots: with one level in `bots`: it takes all other seats.
        request_id: 16 bytes, so that asking twice opens one challenge; empty: each time another.
        mode: number of `grimoire.v1.MatchMode`; unspecified: rated among people.
        language: of the words in a refusal.
        spectator_delay_s: how much later its match is shown to who holds no seat.
        rows: who shall sit where, from seat 0; instead of `seats` and `bots`.
        friends: accounts of one's party for the rows of friends; without rows they sit beside the caller.
        party_id: theirs.
        by_invitation: it stands in no list.
        grace_s: how long a seat waits for its person; 0: the default.
    """

    game: str
    options: tuple[tuple[str, str], ...]
    seats: int = 0
    bots: tuple[str, ...] = ()
    all_bots: bool = False
    request_id: bytes = b""
    mode: int = match_pb2.MATCH_MODE_UNSPECIFIED
    language: str = "en"
    spectator_delay_s: int = 0
    rows: tuple[Row, ...] = ()
    friends: tuple[str, ...] = ()
    party_id: str = ""
    by_invitation: bool = False
    grace_s: int = 0


class Lobby:
    """The lobby of all games. Every method may raise `Unavailable`: a part does not answer, asking again is safe.

    Args:
        ledger, archive, names, games, watches, endings, partings: the parts it works with.
        bounds: how much one account may ask.
        limits: how long things take.
        now_ms: the wall clock, UTC ms.
    """

    def __init__(
        self,
        ledger: Ledger,
        archive: Archive,
        names: NameBook,
        games: Games,
        watches: Watches,
        endings: Endings,
        partings: Partings,
        bounds: Bounds,
        limits: Limits,
        now_ms: Callable[[], int],
    ) -> None:
        self._ledger = ledger
        self._archive = archive
        self._names = names
        self._games = games
        self._watches = watches
        self._endings = endings
        self._partings = partings
        self._bounds = bounds
        self._limits = limits
        self._now_ms = now_ms

    # ---- opening ---------------------------------------------------------------------------------------------------

    async def create(self, caller: Identity, wish: Wish) -> _Answer:
        """Opens a challenge; with bots on all other seats its match is created at once."""
        refusal = _unreadable(caller, wish) or self._bounds.too_fast(caller)
        if refusal is not None:
            return refusal
        request_id = wish.request_id or secrets.token_bytes(16)
        challenge_id = derived_id("open", caller.account_id, request_id.hex())
        record = await self._ledger.get(challenge_id)
        if record is not None:
            return await self._repeated(record, wish)
        opening = await self._judge(caller, wish, challenge_id)
        answer = opening if isinstance(opening, Illegal) else await self.open(caller, opening)
        return answer if isinstance(answer, Illegal) else await self._repeated(answer, wish)

    async def _judge(self, caller: Identity, wish: Wish, challenge_id: str) -> Open | Illegal:
        checked = await self._games.check(wish.game, {})  # what options mean may depend on the number of seats
        if isinstance(checked, Illegal):
            return checked
        manifest = await self._games.manifest(wish.game, wish.language)
        rows = wish.rows or _rows(wish, default_seats(checked))
        refusal = _bad_company(checked, manifest, rows, wish)
        if refusal is not None:
            return refusal
        checked = await self._games.check(wish.game, dict(wish.options), len(rows))
        if isinstance(checked, Illegal):
            return checked
        return Open(
            challenge_id=challenge_id,
            game=wish.game,
            options=checked.options,
            seats=len(rows),
            sitters=_seated(rows, sitter_of(caller), wish.friends),
            expires_ms=self._now_ms() + int(self._limits.expires_s * 1000),
            match_id=new_match_id(),
            series_id=challenge_id,
            mode=wish.mode or match_pb2.MATCH_MODE_RATED,
            by_invitation=wish.by_invitation,
            spectator_delay_s=wish.spectator_delay_s,
            leaving=checked.leaving,
            grace_s=(wish.grace_s or GRACE_S) if checked.leaving else 0,
            difficulty=checked.difficulty,
            parties=tuple((friend, wish.party_id) for friend in wish.friends),
        )

    async def open(self, caller: Identity, opening: Open) -> _Answer:
        """Opens a challenge that has been judged; see `created` for what becomes of a full one."""
        with self._bounds.room(caller, opening) as refusal:
            if refusal is not None:
                return refusal
            await self._names.remember(caller.account_id, caller.name)
            return await self._ledger.act(opening.challenge_id, opening)

    async def _repeated(self, record: Record, wish: Wish) -> _Answer:
        """The challenge this request opened, now or before; a different one under its id is a mistake."""
        challenge = record.challenge
        rows = wish.rows or _rows(wish, len(challenge.seats))
        same = (
            challenge.game == wish.game
            and set(wish.options) <= set(challenge.options)
            and len(rows) == len(challenge.seats)
            and wish.mode in (match_pb2.MATCH_MODE_UNSPECIFIED, challenge.mode)
            and all(_fits(row, sitter, challenge.owner) for row, sitter in zip(rows, challenge.started, strict=True))
            and wish.spectator_delay_s == challenge.spectator_delay_s
            and wish.by_invitation == challenge.by_invitation
        )
        return await self.created(record) if same else illegal("command_id_reused", field="request_id")

    # ---- joining and leaving ---------------------------------------------------------------------------------------

    async def join(self, caller: Identity, challenge_id: str, seats: tuple[int, ...] = ()) -> _Answer:
        """Takes a seat, or these. Who comes first gets it; coming twice is coming once."""
        refusal = self._bounds.too_fast(caller) or self._bounds.too_many_matches(caller)
        if refusal is not None:
            return refusal
        return await self._sit_down(caller, challenge_id, seats)

    async def leave(self, caller: Identity, challenge_id: str) -> _Answer:
        """Gets up from somebody else's open table. Leaving twice is leaving once."""
        return await self._partings.act(challenge_id, Leave(caller.account_id))

    async def fill(self, caller: Identity, challenge_id: str, level: str, language: str) -> _Answer:
        """Lets bots of one level take all open seats of one's own table; its match is created at once."""
        record = await self._ledger.get(challenge_id)
        if record is None:
            return illegal("unknown_challenge", field="challenge_id")
        manifest = await self._games.manifest(record.challenge.game, language)
        refusal = unknown_level(manifest, level, "level", language)
        if refusal is not None:
            return refusal
        bots = tuple(new_bot(level) for _ in record.challenge.seats)
        answer = await self._ledger.act(challenge_id, Fill(caller.account_id, bots, new_match_id()))
        return answer if isinstance(answer, Illegal) else await self.created(answer)

    async def cancel(self, caller: Identity, challenge_id: str) -> _Answer:
        """Withdraws an open challenge of one's own."""
        return await self._ledger.act(challenge_id, Cancel(caller.account_id))

    async def _sit_down(self, caller: Identity, challenge_id: str, seats: tuple[int, ...] = ()) -> _Answer:
        if await self._ledger.get(challenge_id) is None:
            return illegal("unknown_challenge", field="challenge_id")
        await self._names.remember(caller.account_id, caller.name)
        answer = await self._ledger.act(challenge_id, Join(sitter_of(caller), new_match_id(), seats))
        return answer if isinstance(answer, Illegal) else await self.created(answer)

    async def created(self, record: Record) -> Record:
        """Gives a full challenge a moment to become a match, so that the answer can name it."""
        if record.challenge.stage is not Stage.FULL:
            return record
        return await self._watches.settled(record, self._limits.created_s)

    # ---- again -----------------------------------------------------------------------------------------------------

    async def rematch(self, caller: Identity, match_id: str) -> _Answer:
        """Offers another match with the seats moved by one, or accepts the other's offer; bots accept at once.

        Both at the same moment is one match: the offer's id follows from the match before, so whoever comes second
        finds it there and joins.
        """
        refusal = self._bounds.too_fast(caller)
        if refusal is not None:
            return refusal
        before = await self._finished(caller, match_id)
        if isinstance(before, Illegal):
            return before
        until_ms = before.ended_ms + int(self._limits.rematch_s * 1000)
        for number in range(_REMATCHES):
            challenge_id = derived_id("rematch", match_id, number)
            record = await self._ledger.get(challenge_id)
            if record is None:
                if self._now_ms() >= until_ms:
                    break
                return await self._offer(caller, before, challenge_id, until_ms)
            if record.challenge.stage is Stage.EXPIRED:
                break
            if record.challenge.stage is not Stage.CANCELLED:
                return await self._accept(caller, record)
        return illegal("rematch_too_late", minutes=round(self._limits.rematch_s / 60))

    async def _finished(self, caller: Identity, match_id: str) -> Challenge | Illegal:
        """The challenge of a match that is over and in which the caller sat."""
        challenge = self._ledger.of_match(match_id)
        if challenge is not None and caller.account_id in challenge.members:
            # It may have ended a moment ago.
            await self._endings.check(challenge)
        challenge_id = challenge.challenge_id if challenge else await self.archived(match_id)
        record = await self._ledger.get(challenge_id) if challenge_id else None
        if record is None:
            return illegal("unknown_match", field="match_id")
        if caller.account_id not in record.challenge.members:
            return illegal("not_a_seat", field="match_id")
        return record.challenge if record.challenge.stage is Stage.ENDED else illegal("match_not_over")

    def too_fast(self, caller: Identity) -> Illegal | None:
        """Counts one ask, or says why it is refused."""
        return self._bounds.too_fast(caller)

    async def archived(self, match_id: str) -> str | None:
        """The challenge of a match that is over."""
        # What people send as an id is looked up only if it could be one.
        return await self._archive.challenge_of(match_id) if _ID.fullmatch(match_id) else None

    async def _offer(self, caller: Identity, before: Challenge, challenge_id: str, until_ms: int) -> _Answer:
        # Seats move by one; the person who asks sits down first, then the bots; the other people come by themselves.
        # Who came in for somebody else during the match was a guest.
        moved = [before.started[seat - 1] for seat in range(len(before.seats))]
        # One may sit on several seats.
        mine = (
            (n, sitter_of(caller)) for n, s in enumerate(moved) if s is not None and s.account_id == caller.account_id
        )
        bots = ((n, new_bot(s.level)) for n, s in enumerate(moved) if s is not None and s.bot and s.level)
        opening = Open(
            challenge_id=challenge_id,
            game=before.game,
            options=before.options,
            seats=len(before.seats),
            sitters=(*mine, *bots),
            expires_ms=until_ms,
            match_id=new_match_id(),
            series_id=before.series_id,
            game_no=before.game_no + 1,
            rematch_of=before.match_id,
            kept_for=tuple("" if s is None or (s.bot and s.level) else s.account_id for s in moved),
            mode=before.mode,
            position=before.position,
            by_invitation=before.by_invitation,
            spectator_delay_s=before.spectator_delay_s,
            leaving=before.leaving,
            grace_s=before.grace_s,
            difficulty=before.difficulty,
        )
        answer = await self.open(caller, opening)
        return answer if isinstance(answer, Illegal) else await self._accept(caller, answer)

    async def _accept(self, caller: Identity, record: Record) -> _Answer:
        challenge = record.challenge
        if challenge.seat_of(caller.account_id) is not None:
            return await self.created(record)
        return await self._sit_down(caller, challenge.challenge_id)

    # ---- looking ---------------------------------------------------------------------------------------------------

    async def look(self, challenge_id: str) -> _Answer:
        """One challenge as it is, whatever became of it."""
        record = await self._ledger.get(challenge_id)
        return record if record is not None else illegal("unknown_challenge", field="challenge_id")

    def challenges(self, caller: Identity, game: str, limit: int) -> list[Challenge]:
        """Open challenges the caller may join or has opened, its own first, then the newest."""
        now_ms = self._now_ms()
        found = [
            challenge
            for challenge in self._ledger.live
            if challenge.is_open(now_ms)
            and (not game or challenge.game == game)
            and challenge.may_join(caller.account_id)
            and not (challenge.by_invitation and challenge.owner != caller.account_id)
        ]
        found.sort(key=lambda c: (c.seat_of(caller.account_id) is None, -c.created_ms, c.challenge_id))
        return found[:limit]

    def running(self, caller: Identity, *, mine: bool, game: str, limit: int) -> list[Challenge]:
        """Matches that are being played, newest first."""
        among = self._ledger.of_account(caller.account_id) if mine else self._ledger.live
        found = [
            challenge
            for challenge in among
            if challenge.stage is Stage.MATCHED
            and (not game or challenge.game == game)
            and (mine or challenge.mode != match_pb2.MATCH_MODE_ANALYSIS)
        ]
        found.sort(key=lambda c: (-c.filled_ms, c.match_id))
        return found[:limit]


def _unreadable(caller: Identity, wish: Wish) -> Illegal | None:
    if wish.mode not in _MODES:
        return illegal("bad_option", field="mode", detail=term("rated_or_casual", wish.language))
    rows = [row.kind for row in wish.rows]
    with_bots = caller.bot or bool(wish.bots) or matchmaking_pb2.SEAT_ROW_KIND_BOT in rows
    if wish.mode == match_pb2.MATCH_MODE_RATED and with_bots:
        return illegal("bad_option", field="mode", detail=term("bots_are_casual", wish.language))
    if wish.spectator_delay_s > MAX_SPECTATOR_DELAY_S:
        detail = term("at_most_seconds", wish.language, max=MAX_SPECTATOR_DELAY_S)
        return illegal("bad_option", field="spectator_delay_s", detail=detail)
    if wish.grace_s > MAX_GRACE_S:
        detail = term("at_most_seconds", wish.language, max=MAX_GRACE_S)
        return illegal("bad_option", field="grace_s", detail=detail)
    if rows and (wish.seats or wish.bots or not set(rows) <= _ROW_KINDS or len(rows) > MAX_SEATS):
        return illegal("malformed", field="rows", detail="rows say who sits where, instead of seats and bots")
    if wish.mode == match_pb2.MATCH_MODE_RATED and rows.count(matchmaking_pb2.SEAT_ROW_KIND_MINE) > 1:
        return illegal("one_seat_each", field="rows")
    return unreadable_request_id(wish.request_id) or unreadable_options(wish.options)


def _rows(wish: Wish, seats: int) -> tuple[Row, ...]:
    """What a wish without rows means: the caller, its friends, open seats, bots from the last seat backwards."""
    seats = wish.seats or max(seats, 0 if wish.all_bots else 1 + len(wish.friends) + len(wish.bots))
    levels = wish.bots * (seats - 1) if wish.all_bots else wish.bots
    friends = (Row(matchmaking_pb2.SEAT_ROW_KIND_FRIEND),) * len(wish.friends)
    bots = tuple(Row(matchmaking_pb2.SEAT_ROW_KIND_BOT, level) for level in reversed(levels))
    taken = (Row(matchmaking_pb2.SEAT_ROW_KIND_MINE), *friends)
    opened = (Row(matchmaking_pb2.SEAT_ROW_KIND_OPEN),) * (seats - len(taken) - len(bots))
    return (*taken, *opened, *bots)


def _seated(rows: Sequence[Row], caller: Sitter, friends: Sequence[str]) -> tuple[tuple[int, Sitter], ...]:
    """Who sits down at once, the caller first."""
    mine = [(seat, caller) for seat, row in enumerate(rows) if row.kind == matchmaking_pb2.SEAT_ROW_KIND_MINE]
    places = [seat for seat, row in enumerate(rows) if row.kind == matchmaking_pb2.SEAT_ROW_KIND_FRIEND]
    invited = [(seat, Sitter(account_id)) for seat, account_id in zip(places, friends, strict=False)]
    bots = [(seat, new_bot(r.level)) for seat, r in enumerate(rows) if r.kind == matchmaking_pb2.SEAT_ROW_KIND_BOT]
    return (*mine, *invited, *bots)


def _fits(row: Row, sitter: Sitter | None, owner: str) -> bool:
    """Whether a seat is as a row wished it, whoever has come meanwhile."""
    if row.kind == matchmaking_pb2.SEAT_ROW_KIND_BOT:
        return sitter is not None and sitter.level == row.level
    return (row.kind == matchmaking_pb2.SEAT_ROW_KIND_MINE) is (sitter is not None and sitter.account_id == owner)


def _bad_company(checked: Checked, manifest: manifest_pb2.Manifest, rows: Sequence[Row], wish: Wish) -> Illegal | None:
    """Why so many seats, or these bots and friends, will not do."""
    language, seats, kinds = wish.language, wish.seats or len(rows), [row.kind for row in rows]
    bots = [row.level for row in rows if row.kind == matchmaking_pb2.SEAT_ROW_KIND_BOT]
    refusal = wrong_seats(checked, seats, language)
    if refusal is not None:
        return refusal
    if matchmaking_pb2.SEAT_ROW_KIND_MINE not in kinds:
        return illegal("no_own_seat", field="rows")
    if len(bots) >= seats or len(rows) > seats:
        detail = term("too_many_bots", language, seats=seats, max=seats - 1)
        return illegal("bad_option", field="bots", detail=detail)
    if len(wish.friends) > kinds.count(matchmaking_pb2.SEAT_ROW_KIND_FRIEND):
        return illegal("party_too_large", field="party_id", size=1 + len(wish.friends), seats=seats)
    field = "rows" if wish.rows else "level" if wish.all_bots else "bots"
    refusals = (unknown_level(manifest, level, field, language) for level in bots)
    return next((refusal for refusal in refusals if refusal is not None), None)


def unknown_level(manifest: manifest_pb2.Manifest, level: str, field: str, language: str) -> Illegal | None:
    """Why there is no such bot."""
    levels = [known.level for known in manifest.bot_levels]
    if level in levels:
        return None
    detail = term("unknown_level", language, level=level[:64], levels=", ".join(levels))
    return illegal("bad_option", field=field, detail=detail)


def sitter_of(caller: Identity) -> Sitter:
    """The caller, as one who takes a seat."""
    return Sitter(caller.account_id, caller.bot)
