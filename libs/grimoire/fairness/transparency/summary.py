"""What a log shows when it is counted: every promise must be followed by a start or a void, every start by an end.

    commits = starts + voids + handshakes + missing starts
    starts  = closes + running + missing closes

A match that was broken off in silence is in no sum; it is listed by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from grimoire.fairness.transparency.leaves import CloseLeaf, CommitLeaf, Leaf, LeafKind
from grimoire.v1 import frame_pb2

__all__ = ["FOR_EVER", "Awaited", "Story", "Summary", "allowed_until", "read_stories", "summarise"]

GRACE_MS: Final = 60_000
"""How long a leaf may be on its way, and how late a clock may strike."""
YOUNG_HANDSHAKE_MS: Final = 120_000
YOUNG_MATCH_MS: Final = 600_000
FOR_EVER: Final = 2**63 - 1
"""UTC ms: there is no clock."""


class Story(msgspec.Struct):
    """What the log says of one match.

    Attributes:
        match_id, game: as in its commit leaf.
        times: by kind of leaf, UTC ms.
        outcome: of its close leaf; empty: none yet.
        void: whether that is a void.
    """

    match_id: str
    game: str
    times: dict[LeafKind, int]
    outcome: str = ""
    void: bool = False

    def take(self, leaf: Leaf) -> None:
        """Adds a leaf."""
        self.times[leaf.kind] = leaf.unix_ms
        if isinstance(leaf, CloseLeaf):
            self.outcome, self.void = leaf.outcome, leaf.void

    @property
    def awaits(self) -> LeafKind | None:
        """The leaf that should come next; None: all are there."""
        if LeafKind.CLOSE in self.times:
            return None if LeafKind.REVEAL in self.times else LeafKind.REVEAL
        return LeafKind.CLOSE if LeafKind.START in self.times else LeafKind.START

    @property
    def last_ms(self) -> int:
        """Of the latest leaf."""
        return max(self.times.values())

    @property
    def young_until_ms(self) -> int:
        """Until when nobody needs to ask whether it is still being played."""
        match self.awaits:
            case LeafKind.START:
                return self.last_ms + YOUNG_HANDSHAKE_MS
            case LeafKind.CLOSE:
                return self.last_ms + YOUNG_MATCH_MS
            case _:
                return self.last_ms + GRACE_MS


class Awaited(msgspec.Struct, frozen=True):
    """A leaf that should be there by now.

    Attributes:
        match_id, game: whose.
        kind: START: it neither began nor ended. CLOSE: it began and did not end. REVEAL: its secrets are not open.
        since_ms: when it was due, UTC ms.
    """

    match_id: str
    game: str
    kind: LeafKind
    since_ms: int


class Summary(msgspec.Struct, frozen=True):
    """The sums over the matches of a span of the log; see this module's equations.

    Attributes:
        closes: ends of matches that had started, voids among them.
        voids: ends of matches that had not.
        outcomes: by game and outcome.
        missing: by name.
    """

    commits: int
    starts: int
    closes: int
    voids: int
    reveals: int
    handshakes: int
    running: int
    outcomes: dict[tuple[str, str], int]
    missing: tuple[Awaited, ...]


def read_stories(leaves: Iterable[Leaf], stories: dict[str, Story] | None = None) -> dict[str, Story]:
    """Sorts leaves by match, in the order of their commit leaves.

    Args:
        leaves: in the order of the log.
        stories: to go on from, changed in place; None: from nothing. Leaves without a commit leaf there are left out.
    """
    stories = {} if stories is None else stories
    for leaf in leaves:
        if isinstance(leaf, CommitLeaf):
            stories.setdefault(leaf.match_id, Story(leaf.match_id, leaf.game, {}))
        story = stories.get(leaf.match_id)
        if story is not None:
            story.take(leaf)
    return stories


def summarise(stories: Iterable[Story], now_ms: int, allowed: Mapping[str, int]) -> Summary:
    """Counts.

    Args:
        stories: the matches of a span.
        now_ms: the time, UTC ms.
        allowed: by match id, until when it may go on without its next leaf (`allowed_until`). Of a match that is not
            named here nobody knows; it is missing once it is no longer young.
    """
    count: Counter[str] = Counter()
    outcomes: Counter[tuple[str, str]] = Counter()
    missing: list[Awaited] = []
    for story in stories:
        started = LeafKind.START in story.times
        count["commits"] += 1
        count["starts"] += started
        if story.outcome:
            count["closes" if started else "voids"] += 1
            outcomes[story.game, story.outcome] += 1
        count["reveals"] += LeafKind.REVEAL in story.times
        kind = story.awaits
        if kind is None:
            continue
        until_ms = max(story.young_until_ms, allowed.get(story.match_id, 0))
        if now_ms > until_ms:
            missing.append(Awaited(story.match_id, story.game, kind, until_ms))
        elif kind is not LeafKind.REVEAL:
            count["running" if started else "handshakes"] += 1
    return Summary(
        count["commits"],
        count["starts"],
        count["closes"],
        count["voids"],
        count["reveals"],
        count["handshakes"],
        count["running"],
        dict(sorted(outcomes.items())),
        tuple(missing),
    )


def allowed_until(head: frame_pb2.MatchHead) -> int:
    """Until when a match may go on without its next leaf, UTC ms: its clock must have struck by then.

    While it runs, one of its prompts is answered or expires within the longest time its clock gives for one. That time
    is allowed twice: the host may have been down meanwhile, and then gives the time back.
    """
    created = head.created
    if head.status == frame_pb2.MATCH_STATUS_HANDSHAKE:
        return head.created_ms + 2 * created.handshake_s * 1000 + GRACE_MS
    if head.status == frame_pb2.MATCH_STATUS_RUNNING:
        seconds = [limit.seconds for limit in created.time_control.per_prompt]
        if not seconds or 0 in seconds:
            return FOR_EVER
        return head.updated_ms + 2 * max(seconds) * 1000 + GRACE_MS
    if head.status in (frame_pb2.MATCH_STATUS_CLOSED, frame_pb2.MATCH_STATUS_VOID):
        if created.reveal.WhichOneof("at") == "event_end" and not head.revealed:
            return created.reveal.event_end.latest_ms + GRACE_MS
        return head.updated_ms + GRACE_MS
    return 0
