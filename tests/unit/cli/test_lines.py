"""Lines from pipes and files, whole and in order, without holding up whoever waits for them."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from grimoire.cli.screens.lines import InputLines


async def read(descriptor: int) -> list[str | None]:
    """Everything until the end of input."""
    found: asyncio.Queue[str | None] = asyncio.Queue()
    InputLines(descriptor, found.put_nowait)
    lines: list[str | None] = []
    async with asyncio.timeout(60):
        while True:
            lines.append(await found.get())
            if lines[-1] is None:
                return lines


async def test_a_pipe() -> None:
    out, into = os.pipe()
    os.write(into, "play örk".encode()[:7])
    reading = asyncio.create_task(read(out))
    await asyncio.sleep(0)
    os.write(into, "play örk".encode()[7:] + b"i\r\n\nlast")
    os.close(into)
    assert await reading == ["play örki", "", "last", None]
    os.close(out)


async def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "moves"
    path.write_text("1\n2\n")
    with path.open("rb") as file:
        assert await read(file.fileno()) == ["1", "2", None]


async def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "moves"
    path.write_bytes(b"\xff\xfe1\n")
    with path.open("rb") as file:
        lines = await read(file.fileno())
    assert lines[-1] is None
    assert len(lines) == 2


async def test_a_closed_input_has_ended() -> None:
    out, into = os.pipe()
    os.close(into)
    os.close(out)
    assert await read(out) == [None]
