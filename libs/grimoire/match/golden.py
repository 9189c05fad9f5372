"""Golden logs: whole matches kept for ever, each with the view it ended in. Later versions must judge them alike."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any, Final

import msgspec

from grimoire.engine import ALL
from grimoire.fairness.export import Export, ExportError, read_export, write_export
from grimoire.fairness.secret import Secret
from grimoire.fairness.verify import verify_export
from grimoire.match.redecide import redecide
from grimoire.match.referee import Referee
from grimoire.match.scenario.matching import compare
from grimoire.match.scenario.plain import plain
from grimoire.match.state import MatchState
from grimoire.match.table import Table
from grimoire.plugins import GamePlugin
from grimoire.v1 import audit_pb2, match_pb2

__all__ = ["check_golden", "golden_names", "record_golden"]

_LOG: Final = ".jsonl.gz"
_VIEW: Final = ".view.json"


def golden_names(folder: Path) -> list[str]:
    """Names of the logs in a folder."""
    return sorted(path.name.removesuffix(_LOG) for path in folder.glob(f"*{_LOG}"))


def record_golden(folder: Path, name: str, table: Table) -> Path:
    """Keeps a match that is over.

    Args:
        folder: where the game's golden logs lie.
        name: of the new one.
        table: where it was played.

    Returns:
        The file, an export; the final view lies beside it.

    Raises:
        FileExistsError: a golden log is never overwritten.
        PermissionError: if the match is not over.
    """
    log, view = folder / (name + _LOG), folder / (name + _VIEW)
    if log.exists() or view.exists():
        raise FileExistsError(f"{log} exists; golden logs are kept as they are")
    game, match_id = table.referee.game.id, table.match_id
    exported = b"".join(write_export(game, match_id, table.log(ALL), ALL))
    shown = msgspec.json.encode(_final_view(table.referee, table.running), order="sorted")
    folder.mkdir(parents=True, exist_ok=True)
    log.write_bytes(gzip.compress(exported, mtime=0))
    view.write_bytes(msgspec.json.format(shown) + b"\n")
    return log


def check_golden(folder: Path, name: str, plugin: GamePlugin) -> str:
    """Audits a golden log, judges each of its entries again, and compares where it ends.

    A field that is new in the view since the log was recorded is no difference.

    Returns:
        What is wrong with it; empty: nothing.
    """
    try:
        export = read_export([gzip.decompress((folder / (name + _LOG)).read_bytes())])
    except (ExportError, OSError, EOFError) as error:
        return f"it cannot be read: {error}"
    walk = redecide(plugin.game, export.entries, plugin.older)
    report = verify_export(export, schema=plugin.game.schema, in_log=False, rules_walk=walk)
    wrong = [f"check {c.number}: {c.detail}" for c in report.checks if c.status == audit_pb2.CHECK_STATUS_FAILED]
    if walk.status != audit_pb2.CHECK_STATUS_PASSED:
        wrong.append(f"check 8: {walk.detail}")
    if wrong:
        return "; ".join(wrong)
    recorded = msgspec.json.decode((folder / (name + _VIEW)).read_bytes())
    differences = compare(recorded, _refolded_view(export, plugin))
    return "; ".join(f"{d.path}: recorded {d.expected}, now {d.got}" for d in differences)


def _refolded_view(export: Export, plugin: GamePlugin) -> dict[str, Any]:
    created = match_pb2.MatchCreated.FromString(match_pb2.Events.FromString(export.entries[0].public).events[0].body)
    revealed = match_pb2.Events.FromString(export.entries[-1].public).events[-1]
    seed = Secret(match_pb2.FairnessRevealed.FromString(revealed.body).server_seed)
    referee = Referee(plugin.game, lambda *_: seed, host_key_id=created.host_key_id, older=plugin.older)
    state: MatchState[Any] | None = None
    for entry in export.entries:
        parts = {part.audience: part.body for part in entry.parts}
        state = referee.fold(state, entry.header, entry.public, parts, entry.hash)
    if state is None:
        raise AssertionError("an audited log has entries")
    return _final_view(referee, state)


def _final_view(referee: Referee[Any], state: MatchState[Any]) -> dict[str, Any]:
    """The view of everything, and how the match ended."""
    view = {} if state.game is None else plain(referee.rules(state.rules_version).game.view(state.game, ALL))
    closed = plain(match_pb2.MatchClosed.FromString(state.closed)) if state.closed else {}
    return {"status": state.phase.name.lower(), "version": state.version, "closed": closed, "view": view}
