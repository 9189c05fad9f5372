"""Whether this process lives, and whether its services can do their work. Told over gRPC health and over HTTP.

Two questions with different answers: a process that *lives* needs no restart (its event loop turns), one that is
*ready* can be sent work (its store, its broker and, for a game, its partitions are there).

| Where | Says |
|---|---|
| `GET /healthz` | 200: it lives; 503: its event loop stands still |
| `GET /readyz` | 200: all services of this process are ready; 503 otherwise; each with what it lacks, as JSON |
| `GET /readyz/<service>` | the same of one service; 404: there is none of that name here |
| gRPC health | SERVING if that service is ready |

HTTP answers stand beside `/metrics`, for a supervisor and for people; nothing in them is secret.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["HEALTH", "Health"]

STANDSTILL_S: Final = 15.0


class Health:
    """What is known of this process; read from other threads."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._beat_s = now_s()
        self._services: dict[object, tuple[str, Mapping[str, str]]] = {}

    def beat(self) -> None:
        """The event loop turns."""
        self._beat_s = self._now_s()

    def note(self, key: object, service: str, faults: Mapping[str, str]) -> None:
        """How a service is.

        Args:
            key: of this one run of it.
            service: its name.
            faults: check -> what is wrong; empty: it is ready.
        """
        self._services = {**self._services, key: (service, MappingProxyType(dict(faults)))}

    def forget(self, key: object) -> None:
        """It runs no longer."""
        self._services = {other: told for other, told in self._services.items() if other is not key}

    @property
    def alive(self) -> bool:
        """The event loop has turned lately, or nothing runs on it yet."""
        return not self._services or self._now_s() - self._beat_s < STANDSTILL_S

    def faults(self, service: str = "") -> dict[str, dict[str, str]] | None:
        """What each service lacks, by name (several runs of one together); None: there is none of this name.

        Args:
            service: this one only; empty: all.
        """
        told: dict[str, dict[str, str]] = {}
        for name, faults in self._services.values():
            if service in ("", name):
                told.setdefault(name, {}).update(faults)
        if not self.alive:
            told = {name: {**faults, "loop": "it stands still"} for name, faults in told.items()}
        return None if service and not told else told


HEALTH: Final = Health()
"""Of this process."""
