"""`grimoire simulate`: bots in the engine alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from grimoire.cli.say import ERRORS, OUT, fail
from grimoire.match.simulate import SimulationError, SimulationReport, Spread, Together
from grimoire.match.simulate import simulate as run
from grimoire.plugins import UnknownGameError, load_game

__all__ = ["simulate"]


def simulate(
    game: str,
    matches: int,
    bots: Sequence[str],
    options: Mapping[str, str],
    *,
    seed: str,
    processes: int,
    seats: int = 0,
    as_json: bool,
) -> int:
    """Plays matches between bots and reports.

    Args:
        game: its name.
        matches: how many; seats change from match to match, so that the bots can be compared.
        bots: levels.
        options: of the game, by name.
        seed: the same seed gives the same matches.
        processes: 0: one for each core.
        seats: with one bot: how many; 0: two, or the nearest number the game allows.
        as_json: prints the report as JSON.
    """
    try:
        plugin = load_game(game)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=ERRORS, transient=True) as progress:
            bar = progress.add_task("Playing", total=matches)
            report = run(
                plugin,
                matches,
                bots,
                options,
                seed,
                lambda done: progress.update(bar, completed=done),
                processes,
                seats=seats,
            )
    except (SimulationError, UnknownGameError) as error:
        fail(str(error), code=2)
    if as_json:
        OUT.out(msgspec.json.format(msgspec.json.encode(report), indent=2).decode())
    else:
        _show(report)
    return 0


def _show(report: SimulationReport) -> None:
    facts = Table.grid(padding=(0, 2))
    if report.together is None:
        _show_bots(report)
        facts.add_row("Wins by seat", ", ".join(f"seat {s.seat}: {s.won}" for s in report.seats))
    else:
        OUT.print(f"{report.matches} matches of {report.game}, {len(report.seats)} seats together", highlight=False)
        facts.add_row("Bots", ", ".join(dict.fromkeys(bot.level for bot in report.bots)))
        facts.add_row("Won together", _together(report.together))
    options = ", ".join(f"{name} {value}" for name, value in report.options.items())
    facts.add_row("Options", options)
    facts.add_row("Ends", ", ".join(f"{reason} {count}" for reason, count in report.reasons.items()))
    facts.add_row("Turns", _spread(report.turns))
    facts.add_row("Decisions", _spread(report.decisions))
    facts.add_row("Rules alone", f"{report.decisions_per_s:,.0f} decisions a second on one core")
    total = f"{report.decisions_per_s_total:,.0f} decisions a second, bots' thinking included"
    facts.add_row("In all", f"{total}, {report.processes} processes")
    facts.add_row("Seed", report.seed)
    OUT.print(facts, highlight=False)


def _together(together: Together) -> str:
    share, low, high = (100 * part for part in (together.won / together.played, together.low, together.high))
    of = f"{together.won} of {together.played}"
    return f"{of}: {share:.1f} of 100 (likely {low:.1f} to {high:.1f})"


def _show_bots(report: SimulationReport) -> None:
    bots = Table(title=f"{report.matches} matches of {report.game}", title_justify="left")
    for heading in ("Bot", "Played", "Won", "Drawn", "Won of 100"):
        bots.add_column(heading, justify="left" if heading == "Bot" else "right")
    for bot in report.bots:
        share = 100 * bot.won / bot.played if bot.played else 0.0
        bots.add_row(bot.level, str(bot.played), str(bot.won), str(bot.drawn), f"{share:.1f}")
    OUT.print(bots)


def _spread(spread: Spread) -> str:
    return f"{spread.min} least, {spread.median:g} median, {spread.max} most"
