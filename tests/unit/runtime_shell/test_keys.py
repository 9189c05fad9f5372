from __future__ import annotations

import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from grimoire.fairness.secret import Secret
from grimoire.runtime.keys import KeyFileError, KeyRing

LOAD = """
import sys, hashlib
from pathlib import Path
from grimoire.runtime.keys import KeyRing
sys.stdin.readline()
ring = KeyRing.load_or_create(Path(sys.argv[1]))
shared = (ring.session_key, ring.occupant_key, ring.service_token, ring.log_key, ring.nats_password("gateway"))
print(ring.host_key.key_id, *(hashlib.sha256(key.open()).hexdigest() for key in shared))
"""


def everything(ring: KeyRing) -> list[Secret]:
    shared = [ring.session_key, ring.occupant_key, ring.service_token, ring.log_key, ring.nats_password("gateway")]
    return [*(key.key for key in ring.host_keys.values()), *shared]


def test_keys_are_made_once_and_stay(tmp_path: Path) -> None:
    first, second = (KeyRing.load_or_create(tmp_path / "keys") for _ in range(2))
    assert everything(first) == everything(second)
    values = [key.open() for key in everything(first)]
    assert all(len(value) == 32 for value in values)
    assert len({*values}) == len(values)


def test_another_home_has_other_keys(tmp_path: Path) -> None:
    one, other = KeyRing.load_or_create(tmp_path / "a"), KeyRing.load_or_create(tmp_path / "b")
    assert not {key.open() for key in everything(one)} & {key.open() for key in everything(other)}


def test_only_their_owner_can_read_them(tmp_path: Path) -> None:
    previous = os.umask(0)
    try:
        everything(KeyRing.load_or_create(tmp_path / "keys"))
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "keys").iterdir()}
    names = ("host-0001.key", "session.key", "occupant.key", "service.key", "log.key", "nats-gateway.key")
    assert files == dict.fromkeys(names, 0o600)


def test_processes_that_start_at_once_agree(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LOAD, str(tmp_path / "keys")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes) for _ in range(4)]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate(timeout=60)[0] for process in processes]
    assert len({*told}) == 1
    assert len(told[0].split()) == 6
    assert not [path.name for path in (tmp_path / "keys").iterdir() if path.name.startswith(".")]


def test_a_new_host_key_is_for_new_matches_and_the_old_stay_readable(tmp_path: Path) -> None:
    before = KeyRing.load_or_create(tmp_path)
    after = before.rotated()
    assert after.host_key.key_id != before.host_key.key_id
    assert [*after.host_keys] == [before.host_key.key_id, after.host_key.key_id]
    assert after.host_keys[before.host_key.key_id].key == before.host_key.key
    again = KeyRing.load_or_create(tmp_path).rotated()
    assert len(again.host_keys) == 3
    assert again.session_key == before.session_key


def test_a_key_that_another_process_added_is_found(tmp_path: Path) -> None:
    here, there = KeyRing.load_or_create(tmp_path), KeyRing.load_or_create(tmp_path)
    added = there.rotated().host_key
    assert added.key_id not in here.host_keys
    assert here.find_host_key(added.key_id) == added
    assert here.host_key == there.host_key
    with pytest.raises(KeyFileError, match="no host key 0123"):
        here.find_host_key("0123")


def test_a_key_id_tells_nothing_of_the_key_but_belongs_to_it(tmp_path: Path) -> None:
    ring = KeyRing.load_or_create(tmp_path / "a")
    (tmp_path / "b").mkdir(mode=0o700)
    copy = tmp_path / "b" / "host-0007.key"
    copy.touch(mode=0o600)
    copy.write_text((tmp_path / "a" / "host-0001.key").read_text())
    assert KeyRing.load_or_create(tmp_path / "b").host_key == ring.host_key
    assert ring.host_key.key_id not in ring.host_key.key.open().hex()


@pytest.mark.parametrize("name", ["session.key", "host-0001.key", "nats-gateway.key"])
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o622])
def test_a_file_open_to_others_is_refused_with_what_to_do(tmp_path: Path, name: str, mode: int) -> None:
    KeyRing.load_or_create(tmp_path).nats_password("gateway")
    (tmp_path / name).chmod(mode)
    with pytest.raises(KeyFileError, match=f"chmod 600 .*{name}"):
        KeyRing.load_or_create(tmp_path).nats_password("gateway")


def test_a_folder_open_to_others_is_refused_with_what_to_do(tmp_path: Path) -> None:
    KeyRing.load_or_create(tmp_path / "keys")
    (tmp_path / "keys").chmod(0o755)
    with pytest.raises(KeyFileError, match="chmod 700"):
        KeyRing.load_or_create(tmp_path / "keys")


@pytest.mark.parametrize("text", ["", "00" * 31, "00" * 33, "zz" * 32, "ü" * 32, "-----BEGIN PRIVATE KEY-----"])
def test_what_is_no_key_is_refused_and_never_quoted(tmp_path: Path, text: str) -> None:
    KeyRing.load_or_create(tmp_path)
    (tmp_path / "session.key").write_text(text)
    with pytest.raises(KeyFileError, match=r"session\.key") as refused:
        KeyRing.load_or_create(tmp_path)
    assert not text or text not in str(refused.value)


def test_a_folder_in_a_files_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "session.key").mkdir(mode=0o700)
    with pytest.raises(KeyFileError, match=r"session\.key"):
        KeyRing.load_or_create(tmp_path)


@pytest.mark.parametrize("role", ["", "../session", "a/b", "Gateway", "x" * 49])
def test_a_role_that_is_no_name_reaches_no_file(tmp_path: Path, role: str) -> None:
    with pytest.raises(ValueError, match="cannot name a role"):
        KeyRing.load_or_create(tmp_path).nats_password(role)


def test_no_text_or_copy_of_a_ring_shows_a_key(tmp_path: Path) -> None:
    ring = KeyRing.load_or_create(tmp_path)
    text = f"{ring!r} {ring} {ring.host_key!r} {vars(ring)}"
    for key in everything(ring):
        assert key.open().hex() not in text
        assert repr(key.open()) not in text
    with pytest.raises(TypeError):
        pickle.dumps(ring)
