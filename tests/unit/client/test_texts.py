"""Half of a character is refused like anything else that cannot be sent, whichever call it is given to."""

from __future__ import annotations

import inspect
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console

from grimoire.cli.say import quiet_exit
from grimoire.client import MINE, Client, Keepsakes, Rejected
from grimoire.client.connection import Connection
from grimoire.client.logbook import LogBook
from grimoire.engine import PUBLIC

HALF = "Aino \ud800"
GIVEN: dict[str, Any] = {
    "Viewer": PUBLIC,
    "Sequence[Row]": [MINE],
    "Mapping[str, object] | bytes": b"x",
    "bool": True,
    "int": 1,
    "int | None": 1,
    "Sequence[int]": [0],
    "bytes": b"x",
    "Mapping[str, str]": {"a": HALF},
}


def with_text() -> list[str]:
    """All public calls that cannot do without a text."""
    found = []
    for name, method in inspect.getmembers(Client, callable):
        asks = inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method)
        if not name.startswith("_") and asks and not inspect.ismethod(method):
            needed = [p for p in inspect.signature(method).parameters.values() if p.default is p.empty]
            found += [name] * any(p.annotation == "str" for p in needed)
    return found


async def test_there_are_many_of_them() -> None:
    assert {"join", "say", "open_match", "watch_challenge", "open_table", "vote"} <= set(with_text())
    assert len(with_text()) > 25


@pytest.mark.parametrize("name", with_text())
async def test_a_call_refuses_half_of_a_character(name: str, tmp_path: Path) -> None:
    nobody_answers = Connection("127.0.0.1:1", None, 0)
    client = Client(nobody_answers, "en", Keepsakes(tmp_path), LogBook(tmp_path, "nowhere"))
    method = getattr(client, name)
    needed = [p for p in inspect.signature(method).parameters.values() if p.default is p.empty]
    values = {p.name: HALF if p.annotation == "str" else GIVEN[p.annotation] for p in needed}
    asked = anext(method(**values)) if inspect.isasyncgenfunction(method) else method(**values)
    with pytest.raises(Rejected) as refused:
        await asked
    assert refused.value.code == ("unknown_match" if name == "open_match" else "malformed")
    await client.close()


def test_a_command_line_ends_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended, quiet_exit():
        b"\xff".decode(errors="surrogateescape").encode()
    assert ended.value.exit_code == 2
    assert "not UTF-8" in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_that_cannot_show_a_language_is_no_fault_of_the_arguments(
    encoding: str, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = Console(file=TextIOWrapper(BytesIO(), encoding=encoding))
    with pytest.raises(typer.Exit) as ended, quiet_exit():
        screen.print("Ελληνικά")
    assert ended.value.exit_code == 1
    said = capsys.readouterr().err
    assert "terminal cannot show" in said
    assert "PYTHONIOENCODING=utf-8" in said
