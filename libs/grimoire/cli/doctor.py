"""`grimoire doctor`: looks at a set-up and says what to mend."""

from __future__ import annotations

import os
from collections.abc import Iterable

import msgspec

from grimoire.cli.checkup import databases, home, machine, running
from grimoire.cli.checkup.findings import Finding, Level, fail
from grimoire.cli.say import ERRORS, OUT
from grimoire.runtime.config import Config, ConfigError

__all__ = ["doctor", "examine"]

_SIGNS = {Level.OK: "[green]✓ ok  [/]", Level.WARN: "[yellow]! warn[/]", Level.FAIL: "[bold red]✗ fail[/]"}


async def doctor(*, as_json: bool) -> int:
    """Prints what was found, the grave last.

    Args:
        as_json: prints a JSON array of findings.

    Returns:
        1 if anything failed, else 0.
    """
    with ERRORS.status("Looking …"):
        found = await examine()
    if as_json:
        OUT.out(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    else:
        _show(found)
    return int(any(finding.level is Level.FAIL for finding in found))


async def examine() -> list[Finding]:
    """Everything that was looked at, in order. Nothing is changed, and no key or database is made."""
    found = [*machine.python(), *home.settings(os.environ)]
    try:
        config = Config.from_env()
    except ConfigError as error:
        return [*found, fail("settings", f"{error}.", "Correct it; nothing else can be looked at before.")]
    found += [*machine.disk(config), *machine.limits(), *machine.clock()]
    found += [*home.folders(config), *home.keys(config), *home.tls(config), *home.run_file(config)]
    found += [*machine.sqlite(config), *await machine.broker_program(config), *machine.traces(config)]
    found += [*databases.databases(config), *home.ports(config), *await home.logs(config)]
    found += await running.running(config)
    return found


def _show(found: Iterable[Finding]) -> None:
    order = [Level.OK, Level.WARN, Level.FAIL]
    counts = dict.fromkeys(order, 0)
    for finding in sorted(found, key=lambda one: order.index(one.level)):
        counts[finding.level] += 1
        OUT.print(f"{_SIGNS[finding.level]} {_plain(finding.told)}", highlight=False, soft_wrap=True)
        if finding.mend:
            OUT.print(f"         → {_plain(finding.mend)}", highlight=False, soft_wrap=True)
    if counts[Level.FAIL]:
        OUT.print(f"[bold red]{counts[Level.FAIL]} to mend[/], {counts[Level.WARN]} worth knowing.", highlight=False)
    else:
        OUT.print(f"[bold green]Nothing to mend[/], {counts[Level.WARN]} worth knowing.", highlight=False)


def _plain(text: str) -> str:
    """Paths of others must not be read as markup."""
    return text.replace("[", "\\[")
