"""The program in the library's README runs as it stands there, against a whole installation."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

import grimoire.client
from grimoire.runtime.config import Config
from grimoire.runtime.stack import Stack


async def test_the_program_in_the_readme_plays_a_match_and_audits_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRIMOIRE_BOTS_PACE_MS", "0")
    readme = (Path(grimoire.client.__file__).parent / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert block is not None
    async with Stack(Config.for_test(tmp_path / "home")) as stack:
        assert "127.0.0.1:7420" in block[1]
        program = block[1].replace("127.0.0.1:7420", str(stack.config.gateway))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", program),
            env=os.environ | {"XDG_DATA_HOME": str(tmp_path / "data")},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert "OUTCOME_KIND_" in out.decode()
    assert out.decode().rstrip().endswith("everything that was checked holds")
    assert list((tmp_path / "data" / "grimoire" / "keepsakes").glob("*.keepsake"))
