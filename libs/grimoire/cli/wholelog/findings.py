"""What an audit of a whole log found, as it is printed and as JSON."""

from __future__ import annotations

import enum

import msgspec

from grimoire.fairness.statistics import Row
from grimoire.fairness.transparency.summary import Awaited

__all__ = ["Doubt", "Findings", "KeyFrom", "MatchDoubt", "Sums"]


class KeyFrom(enum.StrEnum):
    """How the log's key is known."""

    GIVEN = "given"
    """On the command line."""
    PINNED = "pinned"
    """Seen on this server before, and kept."""
    SHOWN = "shown"
    """Seen now for the first time: it proves only that whoever has it signed."""


class Doubt(enum.StrEnum):
    """Why a match of the log does not stand."""

    LIES = "lies"
    """A check of its file fails, or the file is not what the log says."""
    WITHHELD = "withheld"
    """It is over, and the server does not give its file."""
    UNANSWERED = "unanswered"
    """The server could not be reached for it; nothing is known."""
    UNJUDGED = "unjudged"
    """Nothing lies, and not everything could be checked here (rules that are not installed)."""


class MatchDoubt(msgspec.Struct, frozen=True):
    """One match that does not stand.

    Attributes:
        match_id, game: whose.
        doubt: of what kind.
        what: a sentence.
    """

    match_id: str
    game: str
    doubt: Doubt
    what: str


class Sums(msgspec.Struct, frozen=True):
    """The matches of one game that were promised in one month, UTC.

    `commits = starts + voids + handshakes + missing_starts`, `starts = closes + running + missing_closes`,
    `closes + voids = reveals + unrevealed + missing_reveals`; see `grimoire.fairness.transparency.summary`.
    """

    game: str
    month: str
    commits: int
    starts: int
    voids: int
    handshakes: int
    closes: int
    running: int
    reveals: int
    unrevealed: int
    missing_starts: int = 0
    missing_closes: int = 0
    missing_reveals: int = 0


class Findings(msgspec.Struct):
    """The whole report.

    Attributes:
        server: its address.
        key: of the log, in one line.
        key_from: how it is known.
        checkpoint: the signed note that was audited; empty: it does not hold.
        size: leaves it was signed for.
        seen_before: leaves when it was last seen from here; 0: never.
        faults: of the log itself, sentences.
        sums: by game and month.
        outcomes: how often each was logged, by game and outcome.
        missing: leaves that should be there by now.
        audited: matches whose file holds in every check.
        matches: those that do not stand.
        draws: statistics over all files that hold.
    """

    server: str
    key: str = ""
    key_from: KeyFrom = KeyFrom.SHOWN
    checkpoint: str = ""
    size: int = 0
    seen_before: int = 0
    faults: list[str] = []
    sums: list[Sums] = []
    outcomes: dict[str, dict[str, int]] = {}
    missing: list[Awaited] = []
    audited: int = 0
    matches: list[MatchDoubt] = []
    draws: list[Row] = []

    @property
    def lies(self) -> bool:
        """Something is false, held back or missing."""
        return bool(self.faults or self.missing) or any(
            match.doubt in (Doubt.LIES, Doubt.WITHHELD) for match in self.matches
        )

    @property
    def status(self) -> int:
        """Exit status: 0 everything holds, 1 not so, 3 nothing is false but not everything could be checked."""
        if self.lies:
            return 1
        return 3 if self.matches else 0
