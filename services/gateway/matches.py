"""What the edge knows of a match: its game, and which pseudonym sits where."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

import msgspec

from gateway.refusals import RefusalKind, Refused, rejection, unavailable
from grimoire.engine import PUBLIC, MatchId, Viewer, ViewerKind
from grimoire.match.codes import reject
from grimoire.match.seats import occupants_of
from grimoire.runtime.identity import Identity, occupant_id
from grimoire.runtime.keys import KeyRing
from grimoire.v1 import frame_pb2, match_pb2

__all__ = ["Heads", "MatchFacts", "Matches"]

_KEPT = 50_000
_FRESH_S = 60.0
_LONG_S = 3600
_CHANGING_S = 1.0
"""Where seats may change hands; besides, who seems to hold none is looked up anew."""


class Heads(Protocol):
    """Finds a match among all games."""

    async def find(self, match_id: MatchId) -> frame_pb2.MatchHead | None:
        """Its head; None if no game knows it. Raises ConnectionError if that cannot be said now."""
        ...


class MatchFacts(msgspec.Struct, frozen=True):
    """A match, as far as the edge needs it.

    Attributes:
        match_id: of the match.
        game: code name.
        occupants: pseudonym by seat.
        rated: it counts.
        over: it has ended; what is true stays true, what is not may be a minute old.
        delay_s: while it runs, who holds no seat sees it so much later.
        changing: seats may change hands.
        people: seats that people hold.
        hurried: there are time limits, all of them shorter than an hour: who plays is expected to be there.
        created_ms: when it was created, UTC ms.
    """

    match_id: MatchId
    game: str
    occupants: tuple[tuple[int, str], ...]
    rated: bool = False
    over: bool = False
    delay_s: int = 0
    changing: bool = False
    people: frozenset[int] = frozenset()
    hurried: bool = False
    created_ms: int = 0

    def delay_for(self, viewer: Viewer) -> int:
        """Seconds by which these eyes see it later."""
        return 0 if self.over or viewer.kind is ViewerKind.SEAT else self.delay_s

    def seats_of(self, occupant: str) -> tuple[int, ...]:
        """The seats bound to a pseudonym."""
        return tuple(seat for seat, name in self.occupants if name == occupant)


class Matches:
    """Looks matches up, and says who holds which seat. The viewer is derived here, never taken from a client.

    Args:
        heads: finds a match.
        keys: of this installation; pseudonyms come from them.
        now: seconds of a clock that never goes back.
    """

    def __init__(self, heads: Heads, keys: KeyRing, now: Callable[[], float] = time.monotonic) -> None:
        self._heads = heads
        self._keys = keys
        self._now = now
        self._known: OrderedDict[MatchId, tuple[float, MatchFacts]] = OrderedDict()

    async def facts(self, match_id: str) -> MatchFacts:
        """A match by its id.

        Raises:
            Refused: `unknown_match`, or unavailable where a game that might know it does not answer.
        """
        key = MatchId(match_id)
        found = self._known.get(key)
        if found is not None and found[0] > self._now():
            self._known.move_to_end(key)
            return found[1]
        # Only ids of the platform's own making are worth a question to every game.
        head = await self._find(key) if len(match_id) == 26 and match_id.isascii() and match_id.isalnum() else None
        if head is None:
            raise Refused(RefusalKind.UNKNOWN, reject("unknown_match", field="match_id"))
        sitters = sorted(occupants_of(head).items())
        facts = MatchFacts(
            key,
            head.game,
            tuple((seat, sits.occupant_id) for seat, sits in sitters),
            rated=head.created.mode == match_pb2.MATCH_MODE_RATED,
            over=head.status in (frame_pb2.MATCH_STATUS_CLOSED, frame_pb2.MATCH_STATUS_VOID),
            delay_s=head.created.spectator_delay_s,
            changing=bool(head.created.leaving),
            people=frozenset(seat for seat, sits in sitters if sits.kind == match_pb2.OCCUPANT_KIND_PERSON),
            hurried=_hurried(head.created.time_control),
            created_ms=head.created_ms,
        )
        fresh_s = _CHANGING_S if facts.changing and not facts.over else _FRESH_S
        self._known[key] = (self._now() + fresh_s, facts)
        self._known.move_to_end(key)
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return facts

    async def facts_for(self, identity: Identity, match_id: str, seat: int | None) -> MatchFacts:
        """A match by its id, for somebody who may have been given a seat in it a moment ago.

        Args:
            identity: who asks.
            match_id: of the match.
            seat: which of its seats; None: any.

        Raises:
            Refused: as `facts`.
        """
        was_known = self.knows(match_id)
        facts = await self.facts(match_id)
        held = facts.seats_of(self.occupant(identity, facts.match_id))
        if was_known and facts.changing and not facts.over and (not held if seat is None else seat not in held):
            self.forget(facts.match_id)
            return await self.facts(match_id)
        return facts

    def holder(self, facts: MatchFacts, identity: Identity, viewer: Viewer) -> str:
        """The pseudonym that the match's owner shall find on the viewer's seat; empty where seats are kept."""
        checked = facts.changing and viewer.kind is ViewerKind.SEAT
        return self.occupant(identity, facts.match_id) if checked else ""

    def knows(self, match_id: str) -> bool:
        """Whether `facts` has them at hand; what it has not is a question to every game."""
        found = self._known.get(MatchId(match_id))
        return found is not None and found[0] > self._now()

    def game_of(self, match_id: str) -> str:
        """The game of a match that was looked up once; empty: it was not. Asks nobody."""
        found = self._known.get(MatchId(match_id))
        return found[1].game if found is not None else ""

    def forget(self, match_id: MatchId) -> None:
        """A seat changed hands: what is known is asked for again."""
        self._known.pop(match_id, None)

    def occupant(self, identity: Identity, match_id: MatchId) -> str:
        """The caller's pseudonym in a match."""
        return occupant_id(self._keys, match_id, identity.account_id)

    def viewer(self, facts: MatchFacts, identity: Identity, seat: int | None, as_public: bool) -> Viewer:
        """Whose eyes the caller looks through.

        Args:
            facts: of the match.
            identity: the caller.
            seat: which of its seats; None: its first, or the public's where it has none.
            as_public: the public's, whoever it is.

        Raises:
            Refused: if the seat asked for is not the caller's. It is never silently made less.
        """
        held = facts.seats_of(self.occupant(identity, facts.match_id))
        if seat is not None and as_public:
            raise Refused(
                RefusalKind.MALFORMED,
                rejection("malformed", "Ask for a seat or for the public view, not for both.", field="as_public"),
            )
        if seat is not None and seat not in held:
            raise Refused(RefusalKind.FORBIDDEN, reject("not_a_seat", field="seat", seat=seat))
        if as_public or not held:
            return PUBLIC
        return Viewer.of_seat(held[0] if seat is None else seat)

    async def _find(self, match_id: MatchId) -> frame_pb2.MatchHead | None:
        try:
            return await self._heads.find(match_id)
        except ConnectionError:
            raise unavailable("The service of this match cannot be reached now; try again.") from None


def _hurried(control: match_pb2.TimeControl) -> bool:
    limits = [limit.seconds for limit in control.per_prompt if limit.seconds]
    return bool(limits) and max(limits) < _LONG_S
