"""A challenge: seats that fill, once, and the match that comes of it. Pure: no I/O, no clock, no randomness.

The Decider pattern: `decide` judges a command against the state and says which events follow, `evolve` folds one event.
The life of a challenge:

    OPEN ──last seat taken──> FULL ──match created──> MATCHED ──match over──> ENDED
                                                      (here seats may change hands: vacancies.py)
      ├──withdrawn──> CANCELLED <──match refused──┘
      └──time up──> EXPIRED
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Final

import msgspec
from google.protobuf.message import Message
from msgspec.structs import replace

from grimoire.engine import Illegal
from grimoire.v1 import match_pb2, matchmaking_pb2
from matchmaking.sitting import Gift, Sitter, Vacancy
from matchmaking.texts import illegal
from matchmaking.vacancies import Bound, Keep, Lose, Mend, Move, Return, Settle, Vote, decide_move, evolve_move, parted

__all__ = [
    "Cancel",
    "Challenge",
    "Command",
    "Create",
    "End",
    "Expire",
    "Fail",
    "Fill",
    "Join",
    "Leave",
    "Open",
    "Sitter",
    "Stage",
    "decide",
    "evolve",
    "fold",
]


class Stage(enum.IntEnum):
    """Where a challenge stands. Numbers are those of `grimoire.v1.ChallengeStatus`, and ENDED after them."""

    OPEN = 1
    FULL = 2
    MATCHED = 3
    CANCELLED = 4
    EXPIRED = 5
    ENDED = 6

    @property
    def settled(self) -> bool:
        """Nobody waits for it any more: its match exists, or never will."""
        return self not in (Stage.OPEN, Stage.FULL)

    @property
    def live(self) -> bool:
        """Something of it still runs: the search, the creation, or the match."""
        return self in (Stage.OPEN, Stage.FULL, Stage.MATCHED)


class Challenge(msgspec.Struct, frozen=True):
    """The fold of a challenge's log.

    Attributes:
        options: every option with its final value, in the game's order.
        seats: by seat; None: open.
        kept_for: of a rematch: by seat, the account it is kept for (empty: a bot's). Otherwise empty: whoever comes.
        owner: account that opened it.
        mode: number of `grimoire.v1.MatchMode`; no longer rated as soon as a bot sits.
        created_ms, expires_ms, filled_ms, ended_ms: UTC ms; the last two, of the match's beginning and end, 0 before.
        rematch_of: the match before; empty: none.
        series_id, game_no: the series its match belongs to, and the number in it from 0.
        match_id: fixed when the last seat is taken, before anything is created.
        reason: why it was cancelled.
        closed: the serialised `MatchClosed` once the match is over.
        position: of an analysis: the game's serialised `PositionArranged`; who arranged it may see all of it.
        by_invitation: stands in no list; whoever knows the id may join.
        spectator_delay_s: while its match runs, who holds no seat sees it so much later.
        leaving: number of `grimoire.engine.Leaving`: what becomes of a seat whose person leaves the match.
        grace_s: how long such a seat waits.
        difficulty: names of the options that make a co-operative match harder or easier.
        first: by seat, who sat there when the match began, once a seat has changed hands; empty before.
        vacancies: seats that their people have left.
        gifts: seats that were given and are not bound in the match yet.
        heard: by seat, the last entry of the match that said it was left.
        given: how often a seat was given.
        parties: account and party of those whom their party's leader seated, as long as they stay.
    """

    challenge_id: str
    game: str
    options: tuple[tuple[str, str], ...]
    seats: tuple[Sitter | None, ...]
    kept_for: tuple[str, ...]
    owner: str
    mode: int
    stage: Stage
    created_ms: int
    expires_ms: int
    rematch_of: str
    series_id: str
    game_no: int
    match_id: str = ""
    reason: str = ""
    filled_ms: int = 0
    closed: bytes = b""
    ended_ms: int = 0
    position: bytes = b""
    by_invitation: bool = False
    spectator_delay_s: int = 0
    leaving: int = 0
    grace_s: int = 0
    difficulty: tuple[str, ...] = ()
    first: tuple[Sitter | None, ...] = ()
    vacancies: tuple[Vacancy, ...] = ()
    gifts: tuple[Gift, ...] = ()
    heard: tuple[tuple[int, int], ...] = ()
    given: int = 0
    parties: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return f"Challenge(challenge_id={self.challenge_id!r}, game={self.game!r}, stage={self.stage.name})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        # A position holds hidden cards.
        return [("challenge_id", self.challenge_id), ("game", self.game), ("stage", self.stage.name)]

    def seat_of(self, account_id: str) -> int | None:
        """The seat this account holds, if any; the first of several."""
        return next((n for n, s in enumerate(self.seats) if s is not None and s.account_id == account_id), None)

    @property
    def started(self) -> tuple[Sitter | None, ...]:
        """By seat, who sat there when the match began."""
        return self.first or self.seats

    @property
    def substituted(self) -> tuple[int, ...]:
        """Seats on which somebody else sits than when the match began."""
        pairs = zip(self.seats, self.started, strict=True)
        return tuple(seat for seat, (now, first) in enumerate(pairs) if now != first)

    @property
    def members(self) -> frozenset[str]:
        """Accounts that sit at it now or sat there when the match began."""
        return frozenset(sitter.account_id for sitter in (*self.seats, *self.first) if sitter is not None)

    def heard_of(self, seat: int) -> int:
        """Version of the last entry of the match that said that this seat was left; 0: none."""
        return dict(self.heard).get(seat, 0)

    @property
    def sitters(self) -> tuple[tuple[int, Sitter], ...]:
        """Taken seats in order."""
        return tuple((n, s) for n, s in enumerate(self.seats) if s is not None)

    @property
    def bots(self) -> tuple[tuple[int, Sitter], ...]:
        """Seats of built-in bots in order."""
        return tuple((n, s) for n, s in self.sitters if s.bot and s.level)

    @property
    def deadline_ms(self) -> int | None:
        """When its clock has something to do next, UTC ms; None: nothing."""
        if self.stage is Stage.OPEN:
            return self.expires_ms
        return min((vacancy.decide_ms for vacancy in self.vacancies), default=None)

    def is_open(self, now_ms: int) -> bool:
        """Whether somebody may still join: the time counts, not whether its end has been written down yet."""
        return self.stage is Stage.OPEN and now_ms < self.expires_ms

    def may_join(self, account_id: str) -> bool:
        """A rematch is kept for those who played; anything else is for all."""
        return not self.kept_for or account_id in self.kept_for


class Open(msgspec.Struct, frozen=True):
    """Opens a challenge. The options have been judged by the game; the first sitter is who opens it.

    Attributes:
        sitters: seat and who takes it at once: the owner first, then bots.
        match_id: used if these fill it.
        mode: number of `grimoire.v1.MatchMode`; a bot makes a rated one casual.
        position: of an analysis only.
        by_invitation: whether it stands in no list.
        spectator_delay_s: how much later its match is shown to who holds no seat.
        leaving, grace_s, difficulty: as in `Challenge`.
        parties: account and party of the sitters whom their party's leader seats.
    """

    challenge_id: str
    game: str
    options: tuple[tuple[str, str], ...]
    seats: int
    sitters: tuple[tuple[int, Sitter], ...]
    expires_ms: int
    match_id: str
    series_id: str
    game_no: int = 0
    rematch_of: str = ""
    kept_for: tuple[str, ...] = ()
    mode: int = match_pb2.MATCH_MODE_RATED
    position: bytes = b""
    by_invitation: bool = False
    spectator_delay_s: int = 0
    leaving: int = 0
    grace_s: int = 0
    difficulty: tuple[str, ...] = ()
    parties: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return f"Open(challenge_id={self.challenge_id!r}, game={self.game!r})"


class Join(msgspec.Struct, frozen=True):
    """Takes a seat.

    Attributes:
        match_id: used if it is the last one.
        seats: which; empty: the first that is open (of a rematch: the one that is kept).
    """

    sitter: Sitter
    match_id: str
    seats: tuple[int, ...] = ()


class Leave(msgspec.Struct, frozen=True):
    """Gets up from somebody else's open table."""

    account_id: str


class Fill(msgspec.Struct, frozen=True):
    """Bots take all open seats; only who opened the table may ask for that.

    Attributes:
        bots: at least as many as seats are open.
        match_id: used for the match.
    """

    account_id: str
    bots: tuple[Sitter, ...]
    match_id: str


class Cancel(msgspec.Struct, frozen=True):
    """Withdraws a challenge; only who opened it may."""

    account_id: str


class Expire(msgspec.Struct, frozen=True):
    """The clock: the time of an open challenge is up."""


class Create(msgspec.Struct, frozen=True):
    """The host: the game has acknowledged the match."""


class Fail(msgspec.Struct, frozen=True):
    """The host: the game refused the match for good."""

    reason: str


class End(msgspec.Struct, frozen=True):
    """The host: the match is over.

    Attributes:
        closed: how; serialised `MatchClosed`.
        ended_ms: server time of the match's last entry.
    """

    closed: bytes
    ended_ms: int


Command = Open | Join | Leave | Fill | Cancel | Expire | Create | Fail | End | Move


def decide(challenge: Challenge | None, command: Command, now_ms: int) -> tuple[Message, ...] | Illegal:
    """Judges a command.

    Args:
        challenge: the state; None before the first event.
        command: what is asked.
        now_ms: UTC ms.

    Returns:
        The events it leads to; none if it has been done already. Or why it is refused.
    """
    if isinstance(command, Open):
        return _open(command) if challenge is None else ()
    if challenge is None:
        return illegal("unknown_challenge")
    if isinstance(command, Join):
        return _join(challenge, command, now_ms)
    if isinstance(command, Leave):
        return _leave(challenge, command, now_ms)
    if isinstance(command, Fill):
        return _fill(challenge, command, now_ms)
    if isinstance(command, Lose | Keep | Vote | Settle | Return | Bound | Mend):
        return decide_move(challenge, command, now_ms) if challenge.stage is Stage.MATCHED else _too_late(command)
    if isinstance(command, Cancel):
        return _cancel(challenge, command)
    if isinstance(command, Expire):
        due = challenge.stage is Stage.OPEN and now_ms >= challenge.expires_ms
        return (matchmaking_pb2.ChallengeExpired(),) if due else ()
    if isinstance(command, Create):
        return (_matched(challenge),) if challenge.stage is Stage.FULL else ()
    if isinstance(command, Fail):
        cancelled = matchmaking_pb2.ChallengeCancelled(reason=command.reason)
        return (cancelled,) if challenge.stage is Stage.FULL else ()
    return _end(challenge, command)


def _open(command: Open) -> tuple[Message, ...]:
    mode = command.mode
    for _, sitter in command.sitters:
        mode = _mode_with(sitter.bot, mode)
    accounts = [sitter.account_id for _, sitter in command.sitters]
    mode = _mode_with(len(set(accounts)) < len(accounts), mode)
    opened = matchmaking_pb2.ChallengeOpened(
        challenge_id=command.challenge_id,
        game=command.game,
        options=[match_pb2.OptionValue(name=name, value=value) for name, value in command.options],
        seats=command.seats,
        expires_ms=command.expires_ms,
        mode=match_pb2.MatchMode.ValueType(mode),
        rematch_of=command.rematch_of,
        series=match_pb2.Series(series_id=command.series_id, game_no=command.game_no),
        kept_for=command.kept_for,
        position=command.position,
        by_invitation=command.by_invitation,
        spectator_delay_s=command.spectator_delay_s,
        leaving=match_pb2.Leaving.ValueType(command.leaving),
        grace_s=command.grace_s,
        difficulty=command.difficulty,
    )
    party_of = dict(command.parties)
    joined = tuple(_joined(seat, sits, party_of.get(sits.account_id, "")) for seat, sits in command.sitters)
    full = len(command.sitters) == command.seats
    return (opened, *joined, *_filled(command.match_id, full))


def _mode_with(unrated: bool, mode: int) -> int:
    """Only people play for ratings, and each on one seat."""
    return match_pb2.MATCH_MODE_CASUAL if unrated and mode == match_pb2.MATCH_MODE_RATED else mode


def _join(challenge: Challenge, command: Join, now_ms: int) -> tuple[Message, ...] | Illegal:
    account_id = command.sitter.account_id
    if challenge.seat_of(account_id) is not None and _has(challenge, account_id, command.seats):
        return illegal("own_challenge") if account_id == challenge.owner and not command.seats else ()
    if challenge.stage in (Stage.FULL, Stage.MATCHED, Stage.ENDED):
        return illegal("challenge_full")
    if not challenge.is_open(now_ms):
        return illegal("challenge_gone")
    if not challenge.may_join(account_id):
        return illegal("not_invited")
    open_seats = [n for n, sitter in enumerate(challenge.seats) if sitter is None]
    wanted = _wanted(challenge, command, open_seats)
    if isinstance(wanted, Illegal):
        return wanted
    joined = tuple(_joined(seat, command.sitter) for seat in wanted)
    return (*joined, *_filled(command.match_id, len(open_seats) == len(wanted)))


def _has(challenge: Challenge, account_id: str, seats: tuple[int, ...]) -> bool:
    """Whether the account sits on all of these already."""
    held = [n for n, sitter in challenge.sitters if sitter.account_id == account_id]
    return all(seat in held for seat in seats)


def _wanted(challenge: Challenge, command: Join, open_seats: list[int]) -> list[int] | Illegal:
    """The seats this join takes; those that it has already are not taken again."""
    account_id = command.sitter.account_id
    if challenge.kept_for:
        kept = [n for n in open_seats if challenge.kept_for[n] == account_id]
        return kept or illegal("seat_taken", field="seats")
    if not command.seats:
        return open_seats[:1]
    mine = [n for n, sitter in challenge.sitters if sitter.account_id == account_id]
    wanted = sorted(set(command.seats) - set(mine))
    if not set(wanted) <= set(open_seats):
        return illegal("seat_taken", field="seats")
    if len(mine) + len(wanted) > 1 and challenge.mode == match_pb2.MATCH_MODE_RATED:
        return illegal("one_seat_each", field="seats")
    return wanted


def _leave(challenge: Challenge, command: Leave, now_ms: int) -> tuple[Message, ...] | Illegal:
    if challenge.seat_of(command.account_id) is None:
        return ()
    if command.account_id == challenge.owner:
        return illegal("host_stays")
    if not challenge.is_open(now_ms):
        return illegal("too_late_to_leave")
    return (matchmaking_pb2.ChallengeLeft(account_id=command.account_id),)


def _fill(challenge: Challenge, command: Fill, now_ms: int) -> tuple[Message, ...] | Illegal:
    if command.account_id != challenge.owner:
        return illegal("not_host")
    if challenge.stage in (Stage.FULL, Stage.MATCHED, Stage.ENDED):
        return ()
    if not challenge.is_open(now_ms):
        return illegal("challenge_gone")
    open_seats = [n for n, sitter in enumerate(challenge.seats) if sitter is None]
    joined = tuple(_joined(seat, bot) for seat, bot in zip(open_seats, command.bots, strict=False))
    return (*joined, *_filled(command.match_id, full=True))


def _too_late(command: Move) -> tuple[Message, ...] | Illegal:
    """The match is over, or not there yet: of people's wishes it is said, news of the match is no news any more."""
    return illegal("match_not_running") if isinstance(command, Vote | Return) else ()


def _cancel(challenge: Challenge, command: Cancel) -> tuple[Message, ...] | Illegal:
    if command.account_id != challenge.owner:
        return illegal("not_your_challenge")
    if challenge.stage is Stage.OPEN:
        return (matchmaking_pb2.ChallengeCancelled(reason="withdrawn"),)
    if challenge.stage is Stage.CANCELLED:
        return ()
    return illegal("challenge_gone" if challenge.stage is Stage.EXPIRED else "too_late_to_cancel")


def _end(challenge: Challenge, command: End) -> tuple[Message, ...]:
    ended = matchmaking_pb2.ChallengeEnded(
        closed=match_pb2.MatchClosed.FromString(command.closed), ended_ms=command.ended_ms
    )
    if challenge.stage is Stage.FULL:
        # A match that is over had been created; only the acknowledgement was lost.
        return (_matched(challenge), ended)
    return (ended,) if challenge.stage is Stage.MATCHED else ()


def _joined(seat: int, sitter: Sitter, party_id: str = "") -> Message:
    return matchmaking_pb2.ChallengeJoined(
        seat=seat, account_id=sitter.account_id, bot=sitter.bot, level=sitter.level, party_id=party_id
    )


def _filled(match_id: str, full: bool) -> tuple[Message, ...]:
    return (matchmaking_pb2.ChallengeFilled(match_id=match_id),) if full else ()


def _matched(challenge: Challenge) -> Message:
    return matchmaking_pb2.ChallengeMatched(match_id=challenge.match_id)


def evolve(challenge: Challenge | None, event: Message, at_ms: int) -> Challenge:
    """Folds one event.

    Args:
        challenge: the state before; None only for `ChallengeOpened`.
        event: one of the challenge events.
        at_ms: server time of its entry.

    Raises:
        ValueError: if the event is no event of a challenge, or the log does not begin with `ChallengeOpened`.
    """
    if isinstance(event, matchmaking_pb2.ChallengeOpened):
        return _opened(event, at_ms)
    if challenge is None:
        raise ValueError("a challenge's log begins with challenge_opened")
    if isinstance(event, matchmaking_pb2.ChallengeJoined):
        sitter = Sitter(event.account_id, event.bot, event.level)
        seats = tuple(sitter if n == event.seat else s for n, s in enumerate(challenge.seats))
        mode = _mode_with(event.bot, challenge.mode)
        parties = (*challenge.parties, (event.account_id, event.party_id)) if event.party_id else challenge.parties
        return replace(challenge, seats=seats, owner=challenge.owner or event.account_id, mode=mode, parties=parties)
    if isinstance(event, matchmaking_pb2.ChallengeLeft):
        left = event.account_id
        seats = tuple(None if s is not None and s.account_id == left else s for s in challenge.seats)
        return parted(replace(challenge, seats=seats), left)
    moved = evolve_move(challenge, event, at_ms)
    if moved is not None:
        return moved
    if isinstance(event, matchmaking_pb2.ChallengeFilled):
        return replace(challenge, stage=Stage.FULL, match_id=event.match_id, filled_ms=at_ms)
    if isinstance(event, matchmaking_pb2.ChallengeMatched):
        return replace(challenge, stage=Stage.MATCHED)
    if isinstance(event, matchmaking_pb2.ChallengeCancelled):
        return replace(challenge, stage=Stage.CANCELLED, reason=event.reason)
    if isinstance(event, matchmaking_pb2.ChallengeExpired):
        return replace(challenge, stage=Stage.EXPIRED)
    if isinstance(event, matchmaking_pb2.ChallengeEnded):
        closed = event.closed.SerializeToString()
        challenge = replace(challenge, vacancies=(), gifts=())
        return replace(challenge, stage=Stage.ENDED, closed=closed, ended_ms=event.ended_ms)
    raise ValueError(f"{type(event).__name__} is no event of a challenge")


def _opened(event: matchmaking_pb2.ChallengeOpened, at_ms: int) -> Challenge:
    return Challenge(
        challenge_id=event.challenge_id,
        game=event.game,
        options=tuple((option.name, option.value) for option in event.options),
        seats=(None,) * event.seats,
        kept_for=tuple(event.kept_for),
        owner="",
        mode=event.mode,
        stage=Stage.OPEN,
        created_ms=at_ms,
        expires_ms=event.expires_ms,
        rematch_of=event.rematch_of,
        series_id=event.series.series_id,
        game_no=event.series.game_no,
        position=event.position,
        by_invitation=event.by_invitation,
        spectator_delay_s=event.spectator_delay_s,
        leaving=event.leaving,
        grace_s=event.grace_s,
        difficulty=tuple(event.difficulty),
    )


def fold(challenge: Challenge | None, events: Iterable[Message], at_ms: int) -> Challenge:
    """Folds the events of one entry.

    Raises:
        ValueError: as `evolve`, or if there is no event.
    """
    for event in events:
        challenge = evolve(challenge, event, at_ms)
    if challenge is None:
        raise ValueError("an entry without events")
    return challenge


ENDS: Final = frozenset({Stage.CANCELLED, Stage.EXPIRED, Stage.ENDED})
"""Stages after which nothing is written any more."""
