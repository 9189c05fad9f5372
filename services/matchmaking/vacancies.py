"""Seats that are left while a match runs: who plays on, who decides that, and who comes back. Pure.

A seat whose person has left is vacant for a while (the table's grace). In a co-operative match the others vote in that
time: as soon as most of them want the same, that is done, and when the time is up the choice of most who have spoken;
without such a choice a bot plays on. In every other match a bot plays on when the time is up. Whoever left may come
back at any moment before the match is over: to a vacant seat by acting, to any other by asking for it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec
from google.protobuf.message import Message
from msgspec.structs import replace

from grimoire.engine import Illegal, Leaving
from grimoire.v1 import matchmaking_pb2
from matchmaking.sitting import Gift, Sitter, Vacancy
from matchmaking.texts import illegal

if TYPE_CHECKING:
    from matchmaking.challenge import Challenge

__all__ = [
    "MENDED",
    "RETURNED",
    "Bound",
    "Keep",
    "Lose",
    "Mend",
    "Move",
    "Return",
    "Settle",
    "Vote",
    "choice_of",
    "decide_move",
    "evolve_move",
    "parted",
    "voters",
]


RETURNED: Final = "returned"
MENDED: Final = "mended"
"""Why a seat is given to somebody whatever whoever sits there does; for every other reason only while it is left."""
SILENT: Final = frozenset({"timed_out", "away"})
"""Why a seat is left whose person has not said that it goes: it may not even know."""


class Lose(msgspec.Struct, frozen=True):
    """The host: the match says that a seat's person has left.

    Attributes:
        version: of the match's entry that says so.
        left_ms: its time, UTC ms.
    """

    seat: int
    reason: str
    version: int
    left_ms: int


class Keep(msgspec.Struct, frozen=True):
    """The host: the match says that the person is there after all."""

    seat: int
    version: int


class Vote(msgspec.Struct, frozen=True):
    """Somebody at the table says who shall play on; `choice`: whoever holds this seat, None: a bot."""

    account_id: str
    seat: int
    choice: int | None


class Settle(msgspec.Struct, frozen=True):
    """The clock, or the last vote that was needed: decides, if it is time; `bot` sits down where nobody else does."""

    seat: int
    bot: Sitter


class Return(msgspec.Struct, frozen=True):
    """Somebody who left asks for the seats it sat down on."""

    account_id: str


class Bound(msgspec.Struct, frozen=True):
    """The host: the game has bound the seat to this account; `refused`: it will not for good."""

    seat: int
    account_id: str
    refused: bool = False


class Mend(msgspec.Struct, frozen=True):
    """The host: the match has bound this seat to somebody else than the table gave it to; it is told once more."""

    seat: int


Move = Lose | Keep | Vote | Settle | Return | Bound | Mend


# ---- looking --------------------------------------------------------------------------------------------------------


def voters(challenge: Challenge, vacancy: Vacancy) -> tuple[str, ...]:
    """Accounts that may vote on a vacant seat: the people at the table who have not left themselves, each once."""
    if challenge.leaving != Leaving.VOTED:
        return ()
    gone = {seat for seat, _ in _vacant(challenge)}
    # Whose seat is on its way to another has left, too.
    gone |= {gift.seat for gift in challenge.gifts if gift.sitter != challenge.seats[gift.seat]}
    leaver = challenge.seats[vacancy.seat]
    people = (
        sitter.account_id
        for seat, sitter in challenge.sitters
        if seat not in gone and not sitter.bot and (leaver is None or sitter.account_id != leaver.account_id)
    )
    return tuple(dict.fromkeys(people))


def choice_of(challenge: Challenge, vacancy: Vacancy, now_ms: int) -> str | None:
    """Who plays on: an account, or empty: a bot. None: it is not decided yet."""
    entitled = voters(challenge, vacancy)
    cast = [choice for voter, choice in vacancy.votes if voter in entitled and choice in ("", *entitled)]
    ranked = Counter(cast).most_common(1)
    if ranked and 2 * ranked[0][1] > len(entitled):
        return ranked[0][0]
    if now_ms < vacancy.decide_ms:
        return None
    return ranked[0][0] if ranked and 2 * ranked[0][1] > len(cast) else ""


def _vacant(challenge: Challenge) -> list[tuple[int, Vacancy]]:
    return [(vacancy.seat, vacancy) for vacancy in challenge.vacancies]


def _vacancy(challenge: Challenge, seat: int) -> Vacancy | None:
    return next((vacancy for vacancy in challenge.vacancies if vacancy.seat == seat), None)


def _gift(challenge: Challenge, seat: int) -> Gift | None:
    return next((gift for gift in challenge.gifts if gift.seat == seat), None)


# ---- deciding -------------------------------------------------------------------------------------------------------


def decide_move(challenge: Challenge, move: Move, now_ms: int) -> tuple[Message, ...] | Illegal:
    """Judges one of these commands against a challenge whose match exists; see `challenge.decide`."""
    if isinstance(move, Lose):
        return _lose(challenge, move, now_ms)
    if isinstance(move, Keep):
        vacancy = _vacancy(challenge, move.seat)
        is_news = vacancy is not None and move.version > challenge.heard_of(move.seat)
        return (matchmaking_pb2.ChallengeSeatKept(seat=move.seat),) if is_news else ()
    if isinstance(move, Vote):
        return _vote(challenge, move)
    if isinstance(move, Settle):
        return _settle(challenge, move, now_ms)
    if isinstance(move, Return):
        return _return(challenge, move)
    gift = _gift(challenge, move.seat)
    if isinstance(move, Mend):
        sits = challenge.seats[move.seat]
        return (_given(move.seat, sits, MENDED),) if sits is not None and gift is None else ()
    if gift is None or gift.sitter.account_id != move.account_id:
        return ()
    if move.refused:
        return (matchmaking_pb2.ChallengeSeatKept(seat=move.seat),)
    return (matchmaking_pb2.ChallengeSeatBound(seat=move.seat),)


def _lose(challenge: Challenge, move: Lose, now_ms: int) -> tuple[Message, ...]:
    known = _vacancy(challenge, move.seat) or _gift(challenge, move.seat)
    sits = challenge.seats[move.seat] if move.seat < len(challenge.seats) else None
    if not challenge.leaving or known is not None or sits is None or move.version <= challenge.heard_of(move.seat):
        return ()
    if sits.bot and sits.level:
        return ()
    if move.reason in SILENT and not _is_waited_for(challenge, sits):
        return ()
    wait_ms = challenge.grace_s * 1000
    return (
        matchmaking_pb2.ChallengeSeatLeft(
            seat=move.seat,
            reason=move.reason,
            # Counted from now where the news came late: the others had no time to speak before.
            decide_ms=max(move.left_ms, now_ms) + wait_ms,
            match_version=move.version,
        ),
    )


def _is_waited_for(challenge: Challenge, gone: Sitter) -> bool:
    """Whether other people are at the table: who plays alone, or with bots, may take a long break."""
    return any(not sitter.bot and sitter.account_id != gone.account_id for _, sitter in challenge.sitters)


def _vote(challenge: Challenge, move: Vote) -> tuple[Message, ...] | Illegal:
    vacancy = _vacancy(challenge, move.seat)
    if vacancy is None:
        return illegal("no_vacancy", field="seat")
    entitled = voters(challenge, vacancy)
    if move.account_id not in entitled:
        return illegal("not_a_voter")
    choice = ""
    if move.choice is not None:
        fellow = challenge.seats[move.choice] if move.choice < len(challenge.seats) else None
        if fellow is None or fellow.account_id not in entitled:
            return illegal("bad_choice", field="fellow")
        choice = fellow.account_id
    if (move.account_id, choice) in vacancy.votes:
        return ()
    return (matchmaking_pb2.ChallengeVoteCast(seat=move.seat, voter=move.account_id, choice=choice),)


def _settle(challenge: Challenge, move: Settle, now_ms: int) -> tuple[Message, ...]:
    vacancy = _vacancy(challenge, move.seat)
    choice = None if vacancy is None else choice_of(challenge, vacancy, now_ms)
    if vacancy is None or choice is None:
        return ()
    if choice:
        return (_given(move.seat, Sitter(choice), "vote"),)
    return (_given(move.seat, move.bot, vacancy.reason),)


def _return(challenge: Challenge, move: Return) -> tuple[Message, ...] | Illegal:
    theirs = [
        seat
        for seat, sitter in enumerate(challenge.started)
        if sitter is not None and sitter.account_id == move.account_id and _is_elsewhere(challenge, seat, sitter)
    ]
    if not theirs:
        sits = any(sitter is not None and sitter.account_id == move.account_id for sitter in challenge.started)
        return () if sits else illegal("nothing_to_return_to")
    return tuple(_given(seat, sitter, RETURNED) for seat in theirs if (sitter := challenge.started[seat]))


def _is_elsewhere(challenge: Challenge, seat: int, sitter: Sitter) -> bool:
    """Whether the seat is vacant, another's, or about to be."""
    gift = _gift(challenge, seat)
    if gift is not None:
        return gift.sitter != sitter
    return challenge.seats[seat] != sitter or _vacancy(challenge, seat) is not None


def _given(seat: int, sitter: Sitter, reason: str) -> matchmaking_pb2.ChallengeSeatGiven:
    return matchmaking_pb2.ChallengeSeatGiven(
        seat=seat, account_id=sitter.account_id, bot=sitter.bot, level=sitter.level, reason=reason
    )


# ---- folding --------------------------------------------------------------------------------------------------------


def evolve_move(challenge: Challenge, event: Message, at_ms: int) -> Challenge | None:
    """Folds one event of these; None: it is another."""
    if isinstance(event, matchmaking_pb2.ChallengeSeatLeft):
        vacancy = Vacancy(event.seat, event.reason, at_ms, event.decide_ms)
        heard = {**dict(challenge.heard), event.seat: event.match_version}
        challenge = replace(challenge, heard=tuple(sorted(heard.items())))
        if event.reason not in SILENT:
            challenge = _parted_at(challenge, event.seat)
        return replace(challenge, vacancies=(*challenge.vacancies, vacancy))
    if isinstance(event, matchmaking_pb2.ChallengeVoteCast):
        return replace(
            challenge,
            vacancies=tuple(
                replace(v, votes=tuple({**dict(v.votes), event.voter: event.choice}.items()))
                if v.seat == event.seat
                else v
                for v in challenge.vacancies
            ),
        )
    if isinstance(event, matchmaking_pb2.ChallengeSeatKept):
        return _without(challenge, event.seat)
    if isinstance(event, matchmaking_pb2.ChallengeSeatGiven):
        number = challenge.given + 1
        gift = Gift(event.seat, Sitter(event.account_id, event.bot, event.level), event.reason, number)
        challenge = _without(challenge, event.seat)
        return replace(challenge, gifts=(*challenge.gifts, gift), given=number)
    if isinstance(event, matchmaking_pb2.ChallengeSeatBound):
        bound = _gift(challenge, event.seat)
        if bound is None:
            raise ValueError("a seat is bound that was not given")
        if bound.reason not in (RETURNED, MENDED):
            challenge = _parted_at(challenge, event.seat)
        started = challenge.started
        seats = tuple(bound.sitter if n == event.seat else s for n, s in enumerate(challenge.seats))
        return replace(_without(challenge, event.seat), seats=seats, first=started)
    return None


def parted(challenge: Challenge, account_id: str) -> Challenge:
    """Whoever seated this account as a friend of its party does so no more: it has not stayed."""
    if not challenge.parties:
        return challenge
    return replace(challenge, parties=tuple(pair for pair in challenge.parties if pair[0] != account_id))


def _parted_at(challenge: Challenge, seat: int) -> Challenge:
    sits = challenge.seats[seat]
    return challenge if sits is None else parted(challenge, sits.account_id)


def _without(challenge: Challenge, seat: int) -> Challenge:
    return replace(
        challenge,
        vacancies=tuple(v for v in challenge.vacancies if v.seat != seat),
        gifts=tuple(g for g in challenge.gifts if g.seat != seat),
    )
