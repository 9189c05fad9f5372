from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from grimoire.runtime.config import AlreadyRunningError, RunFile

ADDRESSES = {"gateway": "127.0.0.1:7420"}


def test_what_one_process_writes_another_finds(tmp_path: Path) -> None:
    written = RunFile.of_this_process("1.2", ADDRESSES, {"replay": 7})
    written.write(tmp_path)
    code = (
        "import sys; from pathlib import Path; from grimoire.runtime.config import RunFile;"
        "f = RunFile.read(Path(sys.argv[1])); print(f.pid, f.version, f.addresses, f.processes)"
    )
    told = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert told.stdout.split(maxsplit=2) == [str(os.getpid()), "1.2", f"{ADDRESSES} {{'replay': 7}}\n"]


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    RunFile.of_this_process("1", ADDRESSES).write(tmp_path)
    path = RunFile.path(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_nothing_there_is_no_stack(tmp_path: Path) -> None:
    assert RunFile.read(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x"}', '{"version": "1"}'])
def test_a_damaged_file_is_no_stack(tmp_path: Path, text: str) -> None:
    RunFile.path(tmp_path).parent.mkdir()
    RunFile.path(tmp_path).write_text(text)
    assert RunFile.read(tmp_path) is None


def test_the_file_of_a_process_that_ended_is_stale(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        started = psutil.Process(child.pid).create_time()
        RunFile(version="1", pid=child.pid, started=started, addresses=ADDRESSES).write(tmp_path)
        assert RunFile.read(tmp_path) is not None
        child.kill()
    assert RunFile.read(tmp_path) is None


def test_a_later_process_with_the_same_pid_is_not_taken_for_it(tmp_path: Path) -> None:
    RunFile.of_this_process("1", ADDRESSES).write(tmp_path)
    path = RunFile.path(tmp_path)
    text = json.loads(path.read_text())
    path.write_text(json.dumps({**text, "started": text["started"] - 3600}))
    assert RunFile.read(tmp_path) is None


def test_a_live_stack_is_not_overwritten_but_a_stale_one_is(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        started = psutil.Process(child.pid).create_time()
        RunFile(version="1", pid=child.pid, started=started, addresses={}).write(tmp_path)
        mine = RunFile.of_this_process("1", ADDRESSES)
        with pytest.raises(AlreadyRunningError, match=str(child.pid)):
            mine.write(tmp_path)
        mine.remove(tmp_path)
        assert RunFile.path(tmp_path).exists()
        child.kill()
    mine.write(tmp_path)
    assert RunFile.read(tmp_path) == mine
    mine.remove(tmp_path)
    mine.remove(tmp_path)
    assert RunFile.read(tmp_path) is None
