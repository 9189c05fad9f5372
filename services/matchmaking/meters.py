"""What the lobby counts, on the same page as everything else of the process."""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter, Histogram

from grimoire.runtime.metrics import METRICS

__all__ = ["CONFLICTS", "EVENTS", "HANDOVERS", "RATED", "READY_CHECKS", "REFUSALS", "TICKETS", "WAITED"]

EVENTS: Final = Counter(
    "challenge_events",
    "What happened to challenges, by game and event",
    ("game", "event"),
    namespace="grimoire",
    registry=METRICS.registry,
)

HANDOVERS: Final = Counter(
    "seat_handovers",
    "Seats that changed hands while a match ran, by game and who got it: bot, person",
    ("game", "to"),
    namespace="grimoire",
    registry=METRICS.registry,
)

CONFLICTS: Final = Counter(
    "challenge_conflicts",
    "Times somebody else wrote to a challenge first",
    namespace="grimoire",
    registry=METRICS.registry,
)

REFUSALS: Final = Counter(
    "challenge_refusals",
    "Requests to the lobby that were refused, by code",
    ("code",),
    namespace="grimoire",
    registry=METRICS.registry,
)

TICKETS: Final = Counter(
    "quickplay_tickets",
    "What happened to tickets of quick play: entered, deduplicated (asked for again), matched, cancelled, expired, "
    "not_ready, returned (somebody else was not ready)",
    ("game", "what"),
    namespace="grimoire",
    registry=METRICS.registry,
)

READY_CHECKS: Final = Counter(
    "quickplay_ready_checks",
    "Matches formed and put to their people: formed, passed, failed, lost (a ticket had changed meanwhile)",
    ("game", "what"),
    namespace="grimoire",
    registry=METRICS.registry,
)

WAITED: Final = Histogram(
    "quickplay_wait_seconds",
    "From entering a queue until all were ready, by ticket",
    ("game",),
    namespace="grimoire",
    registry=METRICS.registry,
    buckets=(1, 2, 5, 10, 20, 30, 45, 60, 90, 120, 300, 900),
)

RATED: Final = Counter(
    "rated_matches",
    "Matches that changed ratings",
    ("game",),
    namespace="grimoire",
    registry=METRICS.registry,
)
