"""`grimoire audit` and `grimoire export`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from google.protobuf.json_format import MessageToJson
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from grimoire.cli.say import ERRORS, OUT, fail, file_named
from grimoire.cli.stacks import running_edge, signed_in
from grimoire.cli.wholelog.auditor import LogAuditor
from grimoire.cli.wholelog.show import show
from grimoire.fairness.keepsake import Keepsake, KeepsakeError
from grimoire.fairness.transparency import NoteError, VerifierKey
from grimoire.fairness.verify import exit_status
from grimoire.match.offline import audit_bytes
from grimoire.v1 import audit_pb2

__all__ = ["audit", "audit_all", "export"]

_SIGNS = {
    audit_pb2.CHECK_STATUS_PASSED: "[green]✓ holds[/]",
    audit_pb2.CHECK_STATUS_FAILED: "[bold red]✗ LIES[/]",
    audit_pb2.CHECK_STATUS_NOT_CHECKED: "[yellow]○ not checked[/]",
}


async def export(match: str, output: Path, *, server: str) -> int:
    """Writes the file of a match.

    Args:
        match: its id.
        output: where to.
        server: as for `running_edge`.
    """
    async with signed_in(server) as client:
        data = await client.export(match)
    _write(output, data)
    ERRORS.print(f"{output}: {len(data):,} bytes. Check it anywhere with `grimoire audit {output}`.", highlight=False)
    return 0


def _write(output: Path, data: bytes) -> None:
    try:
        output.write_bytes(data)
    except OSError as error:
        fail(f"{output} cannot be written: {error.strerror}")


async def audit(match: str, *, keepsake: Path | None, log_key: str, as_json: bool, server: str) -> int:
    """Audits a file or a stored match on this machine; the server's word is not taken for it.

    Args:
        match: a file, or the id of a match.
        keepsake: what a seat's client kept.
        log_key: of the transparency log, as known from elsewhere; empty: of a stored match the one that was first seen
            on that server, of a file its own word.
        as_json: prints the report as JSON.
        server: as for `running_edge`.

    Returns:
        0 if everything holds, 1 if something lies, 3 if only the rules walk could not be done here.
    """
    kept, known = _keepsake(keepsake), _key(log_key)
    data, pinned = await _log(match, server)
    with ERRORS.status("Judging every command again …"):
        report = audit_bytes(data, keepsake=kept, log_key=known or pinned)
    if as_json:
        OUT.out(MessageToJson(report, preserving_proto_field_name=True))
    else:
        _show(report)
    return exit_status(report)


async def audit_all(*, log_key: str, checkpoints: Sequence[Path] = (), as_json: bool, server: str) -> int:
    """Audits a server's whole transparency log and every match in it, and asks whether the draws look drawn.

    Args:
        log_key: as for `audit`.
        checkpoints: files with signed checkpoints that others were shown; the log must agree with each.
        as_json: prints the report as JSON.
        server: as for `running_edge`.

    Returns:
        0 if everything holds, 1 if something lies, is held back or is missing, 3 if not everything could be checked.
    """
    known, address = _key(log_key), running_edge(server)
    others = {str(path): _bytes(path) for path in checkpoints}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    async with signed_in(address) as client:
        with Progress(*columns, console=ERRORS) as progress:
            tasks = {}

            def tell(what: str, done: int, total: int) -> None:
                if what not in tasks:
                    tasks[what] = progress.add_task(what)
                progress.update(tasks[what], completed=done, total=total)

            found = await LogAuditor(client, address, known, tell, others).run()
    if as_json:
        OUT.out(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    else:
        show(found, OUT)
    return found.status


async def _log(match: str, server: str) -> tuple[bytes, VerifierKey | None]:
    """The file, and the key that the log of its server is known by."""
    path = file_named(match)
    if path is not None:
        return _bytes(path), None
    async with signed_in(server) as client:
        return await client.export(match), client.log_key


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        fail(f"{path} cannot be read: {error.strerror}")


def _key(text: str) -> VerifierKey | None:
    try:
        return VerifierKey.parse(text) if text else None
    except NoteError as error:
        fail(f"--log-key: {error}", code=2)


def _keepsake(path: Path | None) -> Keepsake | None:
    if path is None:
        return None
    try:
        return Keepsake.from_json(path.read_bytes())
    except OSError as error:
        fail(f"{path} cannot be read: {error.strerror}", code=2)
    except KeepsakeError as error:
        fail(f"{path} is no keepsake: {error}", code=2)


def _show(report: audit_pb2.AuditReport) -> None:
    what = f"{report.match_id} ({report.game}, {report.entries} entries)" if report.match_id else "a file"
    table = Table(title=f"Audit of {what}", title_justify="left")
    table.add_column("", justify="right")
    table.add_column("Check")
    table.add_column("Result")
    table.add_column("What was found")
    for check in report.checks:
        where = f" Version {check.version}." if check.version else ""
        where += f" Line {check.line}." if check.line else ""
        table.add_row(str(check.number), check.name, _SIGNS[check.status], check.detail + where)
    OUT.print(table)
    for limit in report.limits:
        OUT.print(f"• {limit}", highlight=False)
    OUT.print("[bold green]Everything that was checked holds.[/]" if report.passed else "[bold red]This log lies.[/]")
