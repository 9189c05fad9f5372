"""`grimoire audit` and `grimoire export`."""

from __future__ import annotations

from pathlib import Path

from google.protobuf.json_format import MessageToJson
from rich.table import Table

from grimoire.cli.say import ERRORS, OUT, fail, file_named
from grimoire.cli.stacks import signed_in
from grimoire.fairness.keepsake import Keepsake, KeepsakeError
from grimoire.fairness.verify import exit_status
from grimoire.match.offline import audit_bytes
from grimoire.v1 import audit_pb2

__all__ = ["audit", "export"]

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


async def audit(match: str, *, keepsake: Path | None, as_json: bool, server: str) -> int:
    """Audits a file or a stored match on this machine; the server's word is not taken for it.

    Args:
        match: a file, or the id of a match.
        keepsake: what a seat's client kept.
        as_json: prints the report as JSON.
        server: as for `running_edge`.

    Returns:
        0 if everything holds, 1 if something lies, 3 if only the rules walk could not be done here.
    """
    kept = _keepsake(keepsake)
    data = await _log(match, server)
    with ERRORS.status("Judging every command again …"):
        report = audit_bytes(data, keepsake=kept)
    if as_json:
        OUT.out(MessageToJson(report, preserving_proto_field_name=True))
    else:
        _show(report)
    return exit_status(report)


async def _log(match: str, server: str) -> bytes:
    path = file_named(match)
    if path is not None:
        try:
            return path.read_bytes()
        except OSError as error:
            fail(f"{path} cannot be read: {error.strerror}")
    async with signed_in(server) as client:
        return await client.export(match)


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
