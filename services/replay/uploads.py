"""Files that people bring along: read strictly, verified, judged anew by the rules, and only then kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec

from grimoire.fairness.export import MAX_FILE_BYTES, Export, ExportError, ExportReader
from grimoire.fairness.verify import unreadable
from grimoire.match.headline import headline
from grimoire.v1 import audit_pb2, frame_pb2, replay_pb2
from replay.audits import Auditor, has_failed, with_walk_of_file
from replay.bench import Bench
from replay.limits import ReplayLimits
from replay.refusals import RefusalKind, Refused
from replay.rules import Rules, UnjudgedError
from replay.shelf import Shelf, ShelfUnavailableError

__all__ = ["Importer"]


class _Upload(msgspec.Struct, frozen=True):
    """A file that could be read."""

    file: bytes
    export: Export


class Importer:
    """Takes uploads. Nothing in a file is trusted; a file with a single lie in it is not kept.

    Args:
        rules: for the rules walk.
        auditor: for the checks before it.
        bench: where files are read.
        shelf: where good files go.
        limits: how long anything may take.
    """

    def __init__(self, rules: Rules, auditor: Auditor, bench: Bench, shelf: Shelf, limits: ReplayLimits) -> None:
        self._rules = rules
        self._auditor = auditor
        self._bench = bench
        self._shelf = shelf
        self._limits = limits

    async def take(
        self, account_id: str, requests: AsyncIterator[replay_pb2.ImportRequest]
    ) -> replay_pb2.ImportResponse:
        """Reads a file, audits it, and keeps it if it holds.

        Args:
            account_id: who brings it.
            requests: its bytes, cut anywhere.

        Returns:
            The report; and the id under which the file is kept, or none if the report says that something lies.

        Raises:
            Refused: the file is too large or too slow, is not yet revealed, or is of a game that is not played here.
        """
        try:
            upload = await self._read(requests)
        except ExportError as error:
            return replay_pb2.ImportResponse(report=unreadable(error))
        report = await self._auditor.audit_file(upload.export)
        if has_failed(report):
            return replay_pb2.ImportResponse(report=report)
        head = headline(upload.export.match_id, upload.export.entries)
        report = with_walk_of_file(report, await self._walk(head, upload.export))
        if has_failed(report):
            return replay_pb2.ImportResponse(report=report)
        try:
            match_id = await self._shelf.add(account_id, head, upload.file)
        except ShelfUnavailableError:
            raise Refused(
                RefusalKind.UNAVAILABLE, "unavailable", "The file cannot be kept at this moment; try again."
            ) from None
        return replay_pb2.ImportResponse(match_id=match_id, report=report)

    async def _read(self, requests: AsyncIterator[replay_pb2.ImportRequest]) -> _Upload:
        reader = ExportReader()
        entries: list[frame_pb2.ViewerEntry] = []
        chunks: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._limits.upload_s):
                while True:
                    async with asyncio.timeout(self._limits.upload_idle_s):
                        request = await anext(requests, None)
                    if request is None:
                        break
                    size += len(request.chunk)
                    if size > MAX_FILE_BYTES:
                        raise Refused(
                            RefusalKind.MALFORMED, "too_large", f"A file has at most {MAX_FILE_BYTES} bytes.", "chunk"
                        )
                    chunks.append(request.chunk)
                    # Reading is work for the processor; meanwhile others are served.
                    entries += await self._bench.run(reader.feed, request.chunk)
        except TimeoutError:
            raise Refused(RefusalKind.BUSY, "too_slow", "The upload took too long; send the file again.") from None
        reader.close()
        return _Upload(
            b"".join(chunks), Export(reader.game, reader.match_id, tuple(entries), reader.head, reader.evidence)
        )

    async def _walk(self, head: frame_pb2.MatchHead, export: Export) -> audit_pb2.AuditCheck:
        if not head.revealed:
            raise Refused(
                RefusalKind.NOT_NOW,
                "not_revealed",
                "This file was made before the secrets of its match were opened; export the match again after its end.",
            )
        if head.game not in self._rules.games:
            raise Refused(RefusalKind.NOT_NOW, "unknown_game", f"The game {head.game} is not played here.")
        try:
            return await self._rules.redecide(head.game, export.entries)
        except UnjudgedError as error:
            sentence = f"This file is not kept: judging it by the rules of its game {error}."
            raise Refused(RefusalKind.NOT_NOW, "unjudged", sentence) from None
