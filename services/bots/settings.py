"""How bots behave."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

import msgspec

from grimoire.runtime.config import ConfigError

__all__ = ["BotSettings"]

_PACE_VARIABLE: Final = "GRIMOIRE_BOTS_PACE_MS"
_BUDGET_VARIABLE: Final = "GRIMOIRE_BOTS_BUDGET_MS"
_MATCHES_VARIABLE: Final = "GRIMOIRE_BOTS_MATCHES"
_WORKERS_VARIABLE: Final = "GRIMOIRE_BOTS_WORKERS"


class BotSettings(msgspec.Struct, frozen=True):
    """How bots behave.

    Attributes:
        pace_ms: against people a move takes at least so long, so that it can be followed; among bots none waits.
        budget_ms: how long a bot may think about one move.
        matches: seats taken at once; beyond it no invitation is accepted.
        workers: processes that think; 0: one fewer than there are processors, at least one.
        overtime_s: a bot that has not answered so long after its budget is taken to hang.
    """

    pace_ms: int = 600
    budget_ms: int = 300
    matches: int = 256
    workers: int = 0
    overtime_s: float = 5.0

    @property
    def worker_count(self) -> int:
        """Processes that think."""
        return self.workers or max(1, (os.cpu_count() or 2) - 1)

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> BotSettings:
        """Reads `GRIMOIRE_BOTS_PACE_MS`, `_BUDGET_MS`, `_MATCHES` and `_WORKERS`; what is not set takes its default.

        Raises:
            ConfigError: if a variable is no number in its range.

        >>> BotSettings.from_env({"GRIMOIRE_BOTS_PACE_MS": "0"}).pace_ms
        0
        """
        variables = os.environ if env is None else env
        default = cls()
        return cls(
            pace_ms=_number(variables, _PACE_VARIABLE, default.pace_ms, 0, 60_000),
            budget_ms=_number(variables, _BUDGET_VARIABLE, default.budget_ms, 1, 60_000),
            matches=_number(variables, _MATCHES_VARIABLE, default.matches, 1, 100_000),
            workers=_number(variables, _WORKERS_VARIABLE, default.workers, 0, 256),
        )


def _number(env: Mapping[str, str], variable: str, default: int, least: int, most: int) -> int:
    text = env.get(variable, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        raise ConfigError(f"{variable} must be a whole number from {least} to {most}; it is {text!r}")
    return int(text)
