"""Files of matches without any running service: audited, and shown frame by frame, by whoever holds one.

The game is loaded by its name when it is needed; without it a file can still be verified up to the rules walk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError

from grimoire.engine import Game, Viewer, ViewerKind
from grimoire.fairness.export import Export, ExportError, line_of, read_export
from grimoire.fairness.keepsake import MAX_KEEPSAKE_BYTES, Keepsake
from grimoire.fairness.secret import Secret
from grimoire.fairness.transparency import VerifierKey
from grimoire.fairness.verify import first_lie, unreadable, verify_export, with_check
from grimoire.match.codes import reject
from grimoire.match.frames import FrameFold
from grimoire.match.headline import headline
from grimoire.match.redecide import NAME, redecide
from grimoire.match.referee import Referee
from grimoire.match.rules import created_in
from grimoire.plugins import GamePlugin, UnknownGameError, load_game
from grimoire.v1 import audit_pb2, frame_pb2, match_pb2, rules_pb2

__all__ = [
    "OfflineError",
    "audit_bytes",
    "audit_export",
    "audit_file",
    "frames_of_file",
    "head_of_file",
    "read_file",
]

_PIECE = 64 * 1024


class OfflineError(ValueError):
    """A file that cannot be shown; the message is a sentence for people."""


def read_file(path: Path) -> Export:
    """What a file holds; nothing in it is proved yet.

    Raises:
        OSError: if it cannot be read.
        ExportError: if it is not an exported match; names the line.
    """
    with path.open("rb") as file:
        return read_export(iter(lambda: file.read(_PIECE), b""))


def audit_file(path: Path, keepsake: Path | None = None, log_key: VerifierKey | None = None) -> audit_pb2.AuditReport:
    """Audits a file: all checks without a service, the rules walk if the game is installed.

    Args:
        path: of an exported match. Nothing in it is trusted.
        keepsake: of a file in which a seat's own program kept what it saw; it is compared with the log.
        log_key: of the transparency log, as known from elsewhere; None: the file's word is taken for it, and said so.

    Returns:
        The report; a file that is no exported match gives one too. `grimoire.fairness.verify.exit_status` reads it.

    Raises:
        OSError: if a file cannot be read.
        KeepsakeError: if the keepsake is none.
    """
    kept = None if keepsake is None else _keepsake(keepsake)
    with path.open("rb") as file:
        return _audit(iter(lambda: file.read(_PIECE), b""), kept, log_key)


def audit_bytes(
    data: bytes, keepsake: Keepsake | None = None, log_key: VerifierKey | None = None
) -> audit_pb2.AuditReport:
    """As `audit_file`, for an export that is in memory."""
    return _audit(iter((data,)), keepsake, log_key)


def _audit(chunks: Iterator[bytes], keepsake: Keepsake | None, log_key: VerifierKey | None) -> audit_pb2.AuditReport:
    try:
        export = read_export(chunks)
    except ExportError as error:
        return unreadable(error)
    return audit_export(export, keepsake, log_key)


def audit_export(
    export: Export, keepsake: Keepsake | None = None, log_key: VerifierKey | None = None
) -> audit_pb2.AuditReport:
    """As `audit_file`, for an export that has been read."""
    keepsakes = [] if keepsake is None else [keepsake]
    plugin = _plugin(export.game)
    game = None if plugin is None else _rules(plugin, export)
    schema = None if game is None else game.schema
    report = verify_export(export, schema=schema, keepsakes=keepsakes, log_key=log_key)
    if first_lie(report) is not None:
        return report
    walk = _walk(plugin, export)
    if walk.version:
        walk.line = line_of(walk.version)
    return with_check(report, walk)


def head_of_file(path: Path) -> frame_pb2.MatchHead:
    """What everybody may know of the match in a file, as the file says.

    Raises:
        OSError: if it cannot be read.
        OfflineError: if it is not an exported match, or an empty one.
    """
    return _head(_export(path))


def frames_of_file(path: Path, viewer: Viewer, first: int = 1, last: int = 0) -> Iterator[rules_pb2.ReplayFrame]:
    """What a viewer saw at each version of a revealed match, folded by the installed game.

    The file is not audited here: what it says is shown. A version that cannot be shown is a frame with a `fault`.

    Args:
        path: of an exported, revealed match.
        viewer: whose eyes.
        first: from version 1.
        last: inclusive; 0: the last.

    Raises:
        OSError: if the file cannot be read.
        OfflineError: if it is not an exported match, is not revealed, is of a game or rules version that is not
            installed, or has no such seat or versions. Raised at once, not with the first frame.
    """
    export = _export(path)
    head = _head(export)
    seed = _seed(export)
    if seed is None:
        raise OfflineError("this file was made before the match's secrets were opened; export the match after its end")
    if viewer.kind is ViewerKind.SEAT and viewer.seat >= len(head.created.seats):
        raise OfflineError(f"this match has no seat {viewer.seat}")
    last = last or head.version
    if not 1 <= first <= last <= head.version:
        raise OfflineError(f"this match has the versions 1 to {head.version}")
    plugin = _plugin(export.game)
    if plugin is None:
        raise OfflineError(f"the game {export.game} is not installed here")
    game = _rules(plugin, export)
    if game is None:
        raise OfflineError(
            f"rules version {head.created.rules_version} of {export.game}, under which this match was played, is not"
            " installed here"
        )
    fold: FrameFold[Any] = FrameFold(Referee(game, lambda *_: seed), viewer, plugin.texts)
    return _frames(fold, export.entries[:last], first)


def _frames(
    fold: FrameFold[Any], entries: Sequence[frame_pb2.ViewerEntry], first: int
) -> Iterator[rules_pb2.ReplayFrame]:
    for version, entry in enumerate(entries, 1):
        parts = {part.audience: part.body for part in entry.parts}
        step = fold.advance if version < first else fold.frame
        try:
            frame = step(entry.header, entry.public, parts, entry.hash)
        except Exception:
            # Whatever a game makes of a log that it may never have written: its neighbours can still be shown.
            frame = rules_pb2.ReplayFrame(
                version=version, hash=entry.hash, fault=reject("match_broken", version=version)
            )
        if frame is not None and version >= first:
            yield frame


def _walk(plugin: GamePlugin | None, export: Export) -> audit_pb2.AuditCheck:
    if plugin is None:
        return _not_walked(f"the game {export.game} is not installed here")
    if not headline(export.match_id, export.entries).revealed:
        return _not_walked("the match is not yet revealed")
    try:
        return redecide(plugin.game, export.entries, plugin.older)
    except Exception as error:
        # A log that a stranger wrote may lead the rules where no match leads; that is no judgement.
        return _not_walked(f"the rules broke on this log ({type(error).__name__})")


def _not_walked(reason: str) -> audit_pb2.AuditCheck:
    return audit_pb2.AuditCheck(
        number=8, name=NAME, status=audit_pb2.CHECK_STATUS_NOT_CHECKED, detail=f"not checked: {reason}"
    )


def _plugin(game: str) -> GamePlugin | None:
    try:
        return load_game(game)
    except UnknownGameError:
        return None


def _rules(plugin: GamePlugin, export: Export) -> Game[Any] | None:
    """The rules that the match was played by, as the file says; None if they are not installed."""
    created = created_in(export.entries)
    return None if created is None else plugin.rules(created.rules_version)


def _keepsake(path: Path) -> Keepsake:
    with path.open("rb") as file:
        return Keepsake.from_json(file.read(MAX_KEEPSAKE_BYTES + 1))


def _export(path: Path) -> Export:
    try:
        return read_file(path)
    except ExportError as error:
        raise OfflineError(f"this file cannot be read: {error}") from None


def _head(export: Export) -> frame_pb2.MatchHead:
    try:
        return headline(export.match_id, export.entries)
    except (DecodeError, IndexError):
        raise OfflineError("this file holds no log that can be read; audit it to see what is wrong") from None


def _seed(export: Export) -> Secret | None:
    """S, where the log's end reveals it."""
    for event in match_pb2.Events.FromString(export.entries[-1].public).events:
        if event.type == "fairness_revealed":
            seed = match_pb2.FairnessRevealed.FromString(event.body).server_seed
            return Secret(seed) if seed else None
    return None
