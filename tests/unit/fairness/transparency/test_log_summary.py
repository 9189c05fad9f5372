"""The sums of the log: every promise is followed by something, and whatever is broken off in silence is named."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.fairness.transparency import CloseLeaf, CommitLeaf, LeafKind, RevealLeaf, StartLeaf
from grimoire.fairness.transparency.summary import (
    FOR_EVER,
    GRACE_MS,
    YOUNG_HANDSHAKE_MS,
    YOUNG_MATCH_MS,
    allowed_until,
    read_stories,
    summarise,
)
from grimoire.v1 import frame_pb2, match_pb2

HASH = bytes(32)
T = 1_767_225_600_000
LATE = T + 10 * YOUNG_MATCH_MS

COMMIT, START, CLOSE, REVEAL = LeafKind


def leaves(match_id: str, *kinds: str, outcome: str = "win", game: str = "toy") -> list:
    made = {
        "commit": CommitLeaf(match_id, game, HASH, HASH, T),
        "start": StartLeaf(match_id, HASH, T + 1_000),
        "close": CloseLeaf(match_id, outcome, 9, HASH, T + 2_000),
        "reveal": RevealLeaf(match_id, HASH, T + 2_000),
    }
    return [made[kind] for kind in kinds]


WHOLE = ("commit", "start", "close", "reveal")


def summary(*matches: list, now_ms: int = LATE, allowed: dict[str, int] | None = None):
    stories = read_stories(leaf for match in matches for leaf in match)
    return summarise(stories.values(), now_ms, allowed or {})


def test_what_is_finished_is_counted() -> None:
    found = summary(
        leaves("a", *WHOLE),
        leaves("b", *WHOLE, outcome="draw"),
        leaves("c", *WHOLE, outcome="void_host"),
        leaves("d", "commit", "close", "reveal", outcome="void_not_opened"),
        leaves("e", *WHOLE, game="magic"),
    )
    assert (found.commits, found.starts, found.closes, found.voids, found.reveals) == (5, 4, 4, 1, 5)
    assert (found.handshakes, found.running, found.missing) == (0, 0, ())
    assert found.outcomes == {
        ("magic", "win"): 1,
        ("toy", "draw"): 1,
        ("toy", "void_host"): 1,
        ("toy", "void_not_opened"): 1,
        ("toy", "win"): 1,
    }


@pytest.mark.parametrize(
    ("kinds", "kind", "young_ms"),
    [
        (("commit",), START, T + YOUNG_HANDSHAKE_MS),
        (("commit", "start"), CLOSE, T + 1_000 + YOUNG_MATCH_MS),
        (("commit", "start", "close"), REVEAL, T + 2_000 + GRACE_MS),
        (("commit", "close"), REVEAL, T + 2_000 + GRACE_MS),
    ],
)
def test_what_should_have_come_is_missing_by_name(kinds: tuple[str, ...], kind: LeafKind, young_ms: int) -> None:
    """A match that was dropped without a word looks like a running one, until its time is up."""
    assert summary(leaves("a", *kinds), now_ms=young_ms).missing == ()
    found = summary(leaves("a", *kinds), now_ms=young_ms + 1)
    assert [(m.match_id, m.game, m.kind, m.since_ms) for m in found.missing] == [("a", "toy", kind, young_ms)]
    alive = summary(leaves("a", *kinds), now_ms=young_ms + 1, allowed={"a": young_ms + 1})
    assert alive.missing == ()


def test_leaves_without_their_promise_in_the_span_are_left_out() -> None:
    found = summary(leaves("a", "start", "close", "reveal"), leaves("b", *WHOLE))
    assert (found.commits, found.starts) == (1, 1)


@given(st.lists(st.integers(0, 15), max_size=40), st.integers(0, 2**16), st.integers(-1, 20))
def test_the_sums_always_come_out(shapes: list[int], seed: int, minutes: int) -> None:
    """commits = starts + voids + handshakes + missing starts; starts = closes + running + missing closes."""
    chance = random.Random(seed)
    matches = []
    for number, shape in enumerate(shapes):
        kinds = ["commit"] + [kind for bit, kind in enumerate(WHOLE[1:]) if shape >> bit & 1]
        matches.append(leaves(f"m{number}", *kinds, outcome=chance.choice(["win", "void_host"])))
    allowed = {f"m{n}": T + chance.randrange(3_000_000) for n in range(len(shapes)) if chance.random() < 0.5}
    found = summary(*matches, now_ms=T + 60_000 * minutes, allowed=allowed)
    missing = [m.kind for m in found.missing]
    assert found.commits == len(shapes)
    assert found.commits == found.starts + found.voids + found.handshakes + missing.count(START)
    assert found.starts == found.closes + found.running + missing.count(CLOSE)
    assert sum(found.outcomes.values()) == found.closes + found.voids


# ---- how long a match may go on --------------------------------------------------------------------------------------


def head(status: frame_pb2.MatchStatus.ValueType, **more: object) -> frame_pb2.MatchHead:
    created = match_pb2.MatchCreated(
        handshake_s=60,
        reveal=match_pb2.Reveal(match_end=True),
        time_control=match_pb2.TimeControl(
            per_prompt=[
                match_pb2.ClassLimit(deadline_class="turn", seconds=90),
                match_pb2.ClassLimit(deadline_class="reaction", seconds=15),
            ]
        ),
    )
    return frame_pb2.MatchHead(status=status, created=created, created_ms=T, updated_ms=T + 5_000, **more)


def test_a_match_may_go_on_as_long_as_its_clock_lets_it() -> None:
    assert allowed_until(head(frame_pb2.MATCH_STATUS_HANDSHAKE)) == T + 120_000 + GRACE_MS
    assert allowed_until(head(frame_pb2.MATCH_STATUS_RUNNING)) == T + 5_000 + 180_000 + GRACE_MS
    assert allowed_until(head(frame_pb2.MATCH_STATUS_CLOSED)) == T + 5_000 + GRACE_MS
    assert allowed_until(head(frame_pb2.MATCH_STATUS_VOID)) == T + 5_000 + GRACE_MS
    assert allowed_until(head(frame_pb2.MATCH_STATUS_BROKEN)) == 0
    assert allowed_until(frame_pb2.MatchHead()) == 0


def test_a_match_without_a_clock_may_go_on_for_ever() -> None:
    timeless = head(frame_pb2.MATCH_STATUS_RUNNING)
    timeless.created.time_control.ClearField("per_prompt")
    assert allowed_until(timeless) == FOR_EVER
    untimed_reactions = head(frame_pb2.MATCH_STATUS_RUNNING)
    untimed_reactions.created.time_control.per_prompt[1].seconds = 0
    assert allowed_until(untimed_reactions) == FOR_EVER


def test_secrets_kept_until_an_event_ends_are_awaited_until_then() -> None:
    cup = head(frame_pb2.MATCH_STATUS_CLOSED)
    cup.created.reveal.CopyFrom(match_pb2.Reveal(event_end=match_pb2.EventEnd(event_id="cup", latest_ms=T + 10**9)))
    assert allowed_until(cup) == T + 10**9 + GRACE_MS
    cup.revealed = True
    assert allowed_until(cup) == T + 5_000 + GRACE_MS
