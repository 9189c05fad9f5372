"""A table whose match never began because somebody did not come: it is open again, and the others keep their seats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from grimoire.runtime.identity import new_match_id
from grimoire.v1 import match_pb2
from matchmaking.challenge import Challenge, Open
from matchmaking.log import derived_id
from matchmaking.sitting import Sitter, new_bot

__all__ = ["NOT_SEALED", "missing_in", "opened_again"]

NOT_SEALED: Final = "not_sealed"
"""Why a match is void of which somebody never came; who did is not to blame."""
_SEATS_OF_A_DUEL: Final = 2


def missing_in(public: bytes) -> tuple[int, ...]:
    """Seats whose people never came, if these public bytes of an entry say that a match is void for that.

    Raises:
        DecodeError: if the bytes are no events.
    """
    for event in match_pb2.Events.FromString(public).events:
        if event.type == "match_voided":
            void = match_pb2.MatchVoided.FromString(event.body)
            is_that = void.by == match_pb2.VOIDED_BY_HANDSHAKE and void.reason == NOT_SEALED
            return tuple(void.seats) if is_that else ()
    return ()


def opened_again(before: Challenge, missing: Iterable[int], now_ms: int, open_s: float) -> Open | None:
    """The same table once more, without those who did not come; its id follows from the match.

    Args:
        before: whose match is void.
        missing: seats that did not come.
        now_ms: UTC ms.
        open_s: how long it stays open.

    Returns:
        None: there is no table to keep, because two played who compete, nobody came, or nobody is missing.
    """
    is_table = len(before.seats) > _SEATS_OF_A_DUEL or bool(before.leaving)
    gone = {sitter.account_id for seat in missing if (sitter := _at(before, seat)) and not _is_bot(sitter)}
    people = [(n, s) for n, s in before.sitters if not _is_bot(s) and s.account_id not in gone]
    if not is_table or not gone or not people or before.position or before.rematch_of:
        return None
    # Who opened it still does; else whoever sits first.
    people.sort(key=lambda pair: pair[1].account_id != before.owner)
    bots = [(n, new_bot(s.level)) for n, s in before.sitters if _is_bot(s)]
    challenge_id = derived_id("again", before.match_id)
    return Open(
        challenge_id=challenge_id,
        game=before.game,
        options=before.options,
        seats=len(before.seats),
        sitters=(*people, *bots),
        expires_ms=now_ms + int(open_s * 1000),
        match_id=new_match_id(),
        series_id=challenge_id,
        mode=before.mode,
        by_invitation=before.by_invitation,
        spectator_delay_s=before.spectator_delay_s,
        leaving=before.leaving,
        grace_s=before.grace_s,
        difficulty=before.difficulty,
        parties=tuple((account_id, party_id) for account_id, party_id in before.parties if account_id not in gone),
    )


def _at(challenge: Challenge, seat: int) -> Sitter | None:
    return challenge.seats[seat] if seat < len(challenge.seats) else None


def _is_bot(sitter: Sitter) -> bool:
    return bool(sitter.bot and sitter.level)
