"""What the lobby counts, on the same page as everything else of the process."""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter

from grimoire.runtime.metrics import METRICS

__all__ = ["CONFLICTS", "EVENTS", "REFUSALS"]

EVENTS: Final = Counter(
    "challenge_events",
    "What happened to challenges, by game and event",
    ("game", "event"),
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
