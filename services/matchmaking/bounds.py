"""How much one account may ask, and what cannot be asked at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from grimoire.engine import Illegal
from grimoire.runtime.identity import Identity
from matchmaking.challenge import Open, Stage
from matchmaking.games import Checked
from matchmaking.ledger import Ledger
from matchmaking.limits import Limits, Pace
from matchmaking.texts import illegal, term

__all__ = ["Bounds", "default_seats", "unreadable_options", "unreadable_request_id", "wrong_seats"]

_OPTIONS: Final = 64
_TEXT: Final = 256


class Bounds:
    """Counts what accounts ask and hold.

    Args:
        ledger: the challenges.
        limits: how much is allowed.
    """

    def __init__(self, ledger: Ledger, limits: Limits) -> None:
        self._ledger = ledger
        self._limits = limits
        self._pace = Pace(limits.asks_per_s, limits.asks_at_once)
        self._opening: Counter[str] = Counter()

    def too_fast(self, caller: Identity) -> Illegal | None:
        """Counts one ask, or says why it is refused."""
        wait_ms = self._pace.wait_ms(caller.account_id)
        return illegal("rate_limited", retry_after_ms=wait_ms) if wait_ms else None

    def too_many_matches(self, caller: Identity) -> Illegal | None:
        """Why the caller may not begin another match."""
        limit = self._limits.matches_per_account
        theirs = self._ledger.of_account(caller.account_id)
        playing = sum(challenge.stage is not Stage.OPEN for challenge in theirs)
        return illegal("too_many_matches", limit=limit) if playing >= limit else None

    @contextmanager
    def room(self, caller: Identity, opening: Open) -> Iterator[Illegal | None]:
        """Keeps room for a challenge while it is being opened; or says why there is none."""
        refusal = self.too_many_matches(caller)
        stays_open = len(opening.sitters) < opening.seats
        if stays_open and refusal is None:
            refusal = self._too_many_open(caller)
        if refusal is not None or not stays_open:
            yield refusal
            return
        self._opening[caller.account_id] += 1
        try:
            yield None
        finally:
            self._opening[caller.account_id] -= 1
            if not self._opening[caller.account_id]:
                del self._opening[caller.account_id]

    def _too_many_open(self, caller: Identity) -> Illegal | None:
        limit = self._limits.open_per_account
        theirs = self._ledger.of_account(caller.account_id)
        open_ = sum(c.stage is Stage.OPEN and c.owner == caller.account_id for c in theirs)
        if open_ + self._opening[caller.account_id] >= limit:
            return illegal("too_many_challenges", limit=limit)
        if self._ledger.open_count + self._opening.total() >= self._limits.open_total:
            return illegal("overloaded", retry_after_ms=60_000)
        return None


def unreadable_request_id(request_id: bytes) -> Illegal | None:
    """A request id is 16 bytes, or absent."""
    if len(request_id) in (0, 16):
        return None
    return illegal("malformed", field="request_id", detail="request_id must be 16 bytes, or absent")


def unreadable_options(options: Sequence[tuple[str, str]]) -> Illegal | None:
    """Options are few, short, and named once."""
    names = [name for name, _ in options]
    if len(names) > _OPTIONS or any(len(text) > _TEXT for pair in options for text in pair):
        return illegal("malformed", field="options", detail="it has too many options, or too long ones")
    if len(names) != len(set(names)):
        return illegal("malformed", field="options", detail="an option is named twice")
    return None


def default_seats(checked: Checked) -> int:
    """Two, or as few as the game allows."""
    return max(checked.min_seats, min(2, checked.max_seats))


def wrong_seats(checked: Checked, seats: int, language: str) -> Illegal | None:
    """Why the game is not for so many."""
    if checked.min_seats <= seats <= checked.max_seats:
        return None
    bounds = {"min": checked.min_seats, "max": checked.max_seats, "seats": seats}
    return illegal("bad_option", field="seats", detail=term("bad_seats", language, **bounds))
