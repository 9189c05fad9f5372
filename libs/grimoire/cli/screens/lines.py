"""Lines from standard input, without holding anything up: a terminal, a pipe or a file."""

from __future__ import annotations

import asyncio
import codecs
import os
import threading
from collections.abc import Callable
from typing import Final

__all__ = ["InputLines"]

_CHUNK: Final = 4096


class InputLines:
    """Reads a file descriptor in a thread of its own.

    The thread reads the descriptor itself, not Python's buffered file: a program may end while it waits there.

    Args:
        descriptor: to read from.
        on_line: called in the event loop with each line without its end, and once with None at the end of input.
    """

    def __init__(self, descriptor: int, on_line: Callable[[str | None], None]) -> None:
        self._descriptor = descriptor
        self._on_line = on_line
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._read, name="input lines", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        rest = ""
        while True:
            try:
                data = os.read(self._descriptor, _CHUNK)
            except OSError:
                data = b""
            *lines, rest = (rest + decoder.decode(data, final=not data)).split("\n")
            for line in lines:
                self._tell(line.rstrip("\r"))
            if not data:
                if rest:
                    self._tell(rest)
                self._tell(None)
                return

    def _tell(self, line: str | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._on_line, line)
        except RuntimeError:  # the loop has closed: nobody listens any more
            return
