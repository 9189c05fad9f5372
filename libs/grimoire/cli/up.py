"""`grimoire up`."""

from __future__ import annotations

from rich.panel import Panel
from rich.table import Table

from grimoire.cli.errors import explained
from grimoire.cli.say import ERRORS
from grimoire.runtime.config import Config, RunFile
from grimoire.runtime.stack import run_stack

__all__ = ["up"]


def up(*, processes: bool) -> int:
    """Runs the stack until Ctrl+C.

    Args:
        processes: one process for each service instead of one for all.

    Returns:
        The exit status.
    """
    with explained():
        config = Config.from_env()
        ERRORS.print("Starting Grimoire …")
        return int(run_stack(config, processes=processes, ready=lambda running: _welcome(config, running)))


def _welcome(config: Config, running: RunFile) -> None:
    facts = Table.grid(padding=(0, 2))
    if "web" in running.addresses:
        facts.add_row("Open", f"[bold]http://{running.addresses['web']}/[/]")
    facts.add_row("Programs connect to", f"[bold]{running.addresses['gateway']}[/]")
    facts.add_row("Metrics", f"http://{running.addresses['metrics']}/metrics")
    facts.add_row("Data", str(config.home))
    facts.add_row("", "")
    facts.add_row("Play", "[bold]grimoire play two_towers --vs bot:heuristic[/]")
    facts.add_row("Invite a friend", "[bold]grimoire play two_towers --challenge[/]")
    facts.add_row("Stop", "Ctrl+C")
    ERRORS.print(Panel(facts, title="Grimoire is up", subtitle="type these in another terminal", expand=False))
