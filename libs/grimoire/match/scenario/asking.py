"""Which prompt a step is about."""

from __future__ import annotations

from collections.abc import Sequence

from grimoire.match.scenario.document import Keys, ScenarioError
from grimoire.match.scenario.spec import Step, Who
from grimoire.match.state import OpenPrompt
from grimoire.match.table import Table

__all__ = ["prompt_id_of", "prompt_of"]


def prompt_of(table: Table, step: Step, closed: OpenPrompt | None) -> OpenPrompt | None:
    """The prompt a step names, where it is or was open.

    Args:
        table: where the match is played.
        step: the step.
        closed: the prompt that closed last.

    Raises:
        ScenarioError: if it describes one that is not open.
    """
    if table.state is None or step.command is None:
        return None
    wanted = step.command.prompt
    if wanted == "current":
        return _current(table, step, closed)
    if wanted == "previous":
        return closed
    if isinstance(wanted, Keys):
        return _described(table.state.prompts, wanted, step)
    return table.state.open_prompt(wanted) if isinstance(wanted, int) else None


def prompt_id_of(step: Step, opened: OpenPrompt | None) -> int | None:
    """The number that is sent; None: none."""
    wanted = step.command.prompt if step.command else "none"
    if wanted == "none":
        return None
    if isinstance(wanted, int):
        return wanted
    return opened.prompt_id if opened is not None and wanted != "handshake" else 0


def _described(prompts: Sequence[OpenPrompt], wanted: Keys, step: Step) -> OpenPrompt:
    seat = wanted.get("seat", step.seat if step.who is Who.SEAT else None)
    for opened in prompts:
        if opened.prompt.kind == wanted.get("kind", opened.prompt.kind) and seat in (None, opened.prompt.seat):
            return opened
    listed = ", ".join(f"{p.prompt_id} ({p.prompt.kind}, seat {p.prompt.seat})" for p in prompts) or "none"
    raise ScenarioError(wanted.line, f"no such prompt is open; open are: {listed}")


def _current(table: Table, step: Step, closed: OpenPrompt | None) -> OpenPrompt | None:
    """A seat's own prompt that takes such a command, its first, or any; the clock's next; after the end the last."""
    state = table.running
    if step.who is Who.CLOCK:
        return min((p for p in state.prompts if p.limit_ms), key=lambda p: p.deadline_ms, default=closed)
    own = [p for p in state.prompts if p.prompt.seat == step.seat]
    able = [p for p in own if step.command is not None and _takes(table, p, step.command.type)]
    return next(iter((*able, *own, *state.prompts)), closed)


def _takes(table: Table, opened: OpenPrompt, type_: str) -> bool:
    legal = table.referee.game.legal(table.running.game, opened.prompt.seat, opened.prompt)
    return any(entry.type == type_ for entry in legal)
