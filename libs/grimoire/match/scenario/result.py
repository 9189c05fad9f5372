"""How a scenario came out, as values for a test and as text for a person."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

__all__ = ["Failure", "ScenarioResult", "summary"]


class Failure(msgspec.Struct, frozen=True):
    """One expectation that did not hold.

    Attributes:
        step: its number in the file; `create` and `start` for what comes before the steps.
        line: of the expectation, or of the step.
        path: what was looked at.
        expected, got: as a scenario file would write them.
    """

    step: str
    line: int
    path: str
    expected: str
    got: str


class ScenarioResult(msgspec.Struct, frozen=True):
    """One scenario's outcome.

    Attributes:
        path: of its file.
        line: where the scenario begins.
        name, game, rules: as the file says (empty if it could not be read).
        steps: how many were done.
        failures: what did not hold; the scenario stops at the first step with any.
        fault: a mistake in the file itself, with what is allowed; empty: none.
        fault_line: where.
    """

    path: str
    line: int
    name: str = ""
    game: str = ""
    rules: tuple[str, ...] = ()
    steps: int = 0
    failures: tuple[Failure, ...] = ()
    fault: str = ""
    fault_line: int = 0

    @property
    def passed(self) -> bool:
        """Everything held."""
        return not self.failures and not self.fault

    def text(self) -> str:
        """A line for a scenario that passed; for another what was expected and what came."""
        title = f"{self.name or '(unnamed)'} ({', '.join(self.rules)})" if self.rules else self.name or "(unreadable)"
        if self.passed:
            return f"ok      {self.path}:{self.line} {title}"
        lines = [f"FAILED  {self.path}:{self.line} {title}"]
        if self.fault:
            lines.append(f"  {self.path}:{self.fault_line}: {self.fault}")
        for failure in self.failures:
            lines += [
                f"  {self.path}:{failure.line}: step {failure.step}: {failure.path}",
                f"    expected {failure.expected}",
                f"    got      {failure.got}",
            ]
        return "\n".join(lines)


def summary(results: Sequence[ScenarioResult]) -> str:
    """One sentence for all of them.

    >>> summary([ScenarioResult("a.yaml", 1), ScenarioResult("b.yaml", 1, fault="x")])
    '1 of 2 scenarios passed, 1 failed.'
    """
    failed = sum(not result.passed for result in results)
    return f"{len(results) - failed} of {len(results)} scenarios passed" + (f", {failed} failed." if failed else ".")
