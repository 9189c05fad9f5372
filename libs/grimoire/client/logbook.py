"""What a player's program remembers of a server's transparency log: its key, and that it has only ever grown."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import secrets
from pathlib import Path
from typing import Final, Literal

import msgspec

from grimoire.client.connection import Connection
from grimoire.client.errors import Alarm, Rejected
from grimoire.fairness.transparency import (
    Checkpoint,
    Evidence,
    LoggedLeaf,
    NoteError,
    VerifierKey,
    open_checkpoint,
    verify_consistency,
)
from grimoire.v1 import transparency_pb2

__all__ = ["LogBook", "LogBookError", "evidence_of"]

# The standard one: a program that sets up no logging must not find a line in its output.
_log: Final = logging.getLogger(__name__)

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9.-]", re.ASCII)
_NOT_SO_FAR: Final = "malformed"
"""What a log answers that is asked about a size it has not reached."""
_FIRST_PAUSE_S: Final = 0.05
_LAST_PAUSE_S: Final = 1.0


class LogBookError(ValueError):
    """A file that is no logbook, or no longer one."""


class _Page(msgspec.Struct, frozen=True, tag_field="kind", tag="grimoire-logbook", forbid_unknown_fields=True):
    format: Literal[1]
    server: str
    key: str
    first: bytes
    last: bytes


class LogBook:
    """One server's log, as one has seen it.

    The key is taken on first use and kept; so are the earliest checkpoint and the latest. Every checkpoint that is
    shown later must be consistent with the latest before it, and so with all of them. In a file beside the keepsakes:
    `<server>.logbook`.

    Args:
        folder: of keepsakes.
        server: its address.
    """

    def __init__(self, folder: Path, server: str) -> None:
        self.path = folder / f"{_UNSAFE.sub('_', server)}.logbook"
        self._server = server
        self._lock = asyncio.Lock()
        self._key: VerifierKey | None = None
        self._first = b""
        self._last = b""
        self._head: Checkpoint | None = None
        self._loaded = False

    @property
    def key(self) -> VerifierKey | None:
        """The log's key, once one has been seen.

        Raises:
            LogBookError: if the file cannot be read.
        """
        self._load()
        return self._key

    @property
    def head(self) -> Checkpoint | None:
        """The latest checkpoint that has been seen. Raises as `key`."""
        self._load()
        return self._head

    @property
    def note(self) -> bytes:
        """The latest checkpoint as it was signed; empty: none has been seen. Raises as `key`."""
        self._load()
        return self._last

    async def check(self, connection: Connection, match_id: str, key: str, note: bytes) -> Checkpoint:
        """Takes a checkpoint that the server shows.

        Args:
            connection: to that server; it is asked for a proof of consistency.
            match_id: on whose behalf, for the alarm; may be empty.
            key: as the server names it.
            note: the signed checkpoint.

        Raises:
            Alarm: if it is of another key than before, not signed by it, or of another history; or if the log no longer
                reaches as far as one that was seen before.
            UnavailableError, Rejected: if the server does not prove consistency now.
            LogBookError: if the file cannot be read.
        """
        async with self._lock:
            self._load()
            try:
                shown = VerifierKey.parse(key)
                checkpoint = open_checkpoint(note, shown, alone=True)
            except NoteError as error:
                raise Alarm(match_id, 0, f"the transparency log's checkpoint does not hold: {error}") from None
            if self._key is not None and shown != self._key:
                raise Alarm(
                    match_id,
                    0,
                    f"the key of the transparency log has changed from {self._key} to {shown}; if this server was set "
                    f"up anew, remove {self.path}",
                )
            await self._compare(connection, match_id, checkpoint)
            if self._head is None or checkpoint.size > self._head.size:
                self._keep(shown, checkpoint, note)
            return checkpoint

    async def _compare(self, connection: Connection, match_id: str, shown: Checkpoint) -> None:
        kept = self._head
        if kept is None:
            return
        old, new = sorted((kept, shown), key=lambda checkpoint: checkpoint.size)
        path: tuple[bytes, ...] = ()
        # Every tree begins with the empty one; whether there is still as much as was signed for is asked all the same.
        if 0 < old.size < new.size or shown.size < kept.size:
            path = await self._proof(connection, match_id, old.size, new.size)
        if not verify_consistency(old.size, old.root, new.size, new.root, path):
            raise Alarm(
                match_id,
                0,
                f"the transparency log shows another history: its checkpoint of {shown.size} leaves does not go with "
                f"the one of {kept.size} that was seen before",
            )

    async def _proof(self, connection: Connection, match_id: str, old: int, new: int) -> tuple[bytes, ...]:
        """The server's proof that the tree of one size begins with that of another.

        An instance may lag behind what another has shown, for a moment; a log that stays behind what it has signed for
        was rolled back.
        """
        request = transparency_pb2.GetConsistencyRequest(to=new)
        # The field is called as a keyword of this language is.
        setattr(request, "from", old)
        loop = asyncio.get_running_loop()
        give_up, pause = loop.time() + connection.patience_s, _FIRST_PAUSE_S
        while True:
            try:
                return tuple((await connection.ask(connection.transparency.GetConsistency, request)).path)
            except Rejected as rejected:
                if rejected.code != _NOT_SO_FAR:
                    raise
                if loop.time() + pause > give_up:
                    raise Alarm(
                        match_id,
                        0,
                        f"the transparency log has signed for {new} leaves and does not reach so far any more: "
                        f"{rejected.message}",
                    ) from None
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LAST_PAUSE_S)

    def _keep(self, key: VerifierKey, checkpoint: Checkpoint, note: bytes) -> None:
        if self._key is None:
            _log.info("log_key_pinned server=%s key=%s", self._server, key)
            self._first = note
        self._key, self._head, self._last = key, checkpoint, note
        self._save(_Page(1, self._server, str(key), self._first, self._last))

    def _load(self) -> None:
        if self._loaded:
            return
        try:
            page = msgspec.json.decode(self.path.read_bytes(), type=_Page)
            self._key = VerifierKey.parse(page.key)
            open_checkpoint(page.first, self._key)
            self._head = open_checkpoint(page.last, self._key)
            self._first, self._last = page.first, page.last
        except FileNotFoundError:
            pass
        except (msgspec.MsgspecError, NoteError) as error:
            raise LogBookError(f"{self.path.name} is no logbook: {error}") from None
        self._loaded = True

    def _save(self, page: _Page) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(page) + b"\n")
        draft.replace(self.path)


def evidence_of(reply: transparency_pb2.GetInclusionResponse) -> Evidence:
    """The proof in an answer; nothing in it is checked yet."""
    leaf = reply.leaf
    return Evidence(reply.key, reply.checkpoint, (LoggedLeaf(leaf.number, leaf.leaf, tuple(leaf.path)),))
