"""`grimoire play --from`: what is read from the command line."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from grimoire.cli import play as module
from grimoire.cli.app import app
from grimoire.cli.play import Wish
from grimoire.v1 import replay_pb2

runner = CliRunner()


def wish_of(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Wish:
    """What `play` is asked for."""
    asked: list[Wish] = []

    async def play(wish: Wish) -> int:
        asked.append(wish)
        return 0

    monkeypatch.setattr(module, "play", play)
    result = runner.invoke(app, ["play", *arguments])
    assert result.exit_code == 0, result.output
    return asked[0]


def test_a_match_and_a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    wish = wish_of(monkeypatch, "--from", "m7@12", "--vs", "bot:searching", "--seat", "1")
    assert (wish.source, wish.version, wish.level, wish.seat, wish.alone) == ("m7", 12, "searching", 1, False)
    assert wish_of(monkeypatch, "--from", "a@b.jsonl@3").source == "a@b.jsonl"
    assert wish_of(monkeypatch, "--from", "m7@12").alone
    assert not wish_of(monkeypatch, "--from", "m7@12", "--challenge").alone
    assert not wish_of(monkeypatch, "--match", "m7").alone


@pytest.mark.parametrize(
    "wrong",
    [
        ("--from", "m7"),
        ("--from", "m7@"),
        ("--from", "@3"),
        ("--from", "m7@last"),
        ("--from", "m7@3", "--match", "m8"),
        ("--from", "m7@3", "--join", "c1"),
    ],
)
def test_what_cannot_be_meant_is_refused(wrong: tuple[str, ...]) -> None:
    assert runner.invoke(app, ["play", *wrong]).exit_code == 2


class Importing:
    """As much of a `Client` as takes a file."""

    def __init__(self, match_id: str) -> None:
        self._match_id = match_id
        self.taken = b""

    async def import_file(self, data: bytes) -> replay_pb2.ImportResponse:
        self.taken = data
        return replay_pb2.ImportResponse(match_id=self._match_id)


def with_source(client: Any, wish: Wish) -> Wish:
    return asyncio.run(module._with_source(client, wish))


def test_a_file_is_brought_along_first(tmp_path: Path) -> None:
    file = tmp_path / "duel.jsonl"
    file.write_bytes(b"a match")
    client = Importing("import-1")
    wish = with_source(client, Wish(source=str(file), version=3))
    assert (wish.source, wish.version, client.taken) == ("import-1", 3, b"a match")
    assert with_source(client, Wish(source="m7")).source == "m7"
    with pytest.raises(typer.Exit) as refused:
        with_source(Importing(""), Wish(source=str(file)))
    assert refused.value.exit_code == 1
    with pytest.raises(typer.Exit) as missing:
        with_source(client, Wish(source=str(tmp_path / "none.jsonl")))
    assert missing.value.exit_code == 2
