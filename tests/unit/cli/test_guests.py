"""Who the user of a terminal is: the same guest every time, and several by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from grimoire.cli.stacks import signed_in
from tests.gateway.house import house


async def account(server: str, name: str = "") -> tuple[str, str]:
    """Id and name of whoever one is signed in as."""
    async with signed_in(server, name=name) as client:
        me = await client.whoami()
        return me.account_id, me.name


async def test_each_name_is_the_same_guest_every_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIMOIRE_HOME", str(tmp_path / "user"))
    async with house(tmp_path / "house") as home:
        nobody = await account(home.address)
        assert await account(home.address) == nobody
        aino = await account(home.address, "Aino")
        eino = await account(home.address, "Eino")
        assert (aino[1], eino[1]) == ("Aino", "Eino")
        assert len({nobody[0], aino[0], eino[0]}) == 3
        # Two terminals on one machine: neither takes the other's place.
        assert await account(home.address, "Aino") == aino
        assert await account(home.address, "Eino") == eino
        # Without a name: whoever it was last.
        assert await account(home.address) == eino
        files = list((tmp_path / "user" / "client").iterdir())
        assert [file.stat().st_mode & 0o777 for file in files] == [0o600]


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b"\xff", b'{"last":"Aino","tokens":{"Aino":"no token"}}'])
async def test_what_cannot_be_used_makes_a_new_guest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    monkeypatch.setenv("GRIMOIRE_HOME", str(tmp_path / "user"))
    async with house(tmp_path / "house") as home:
        await account(home.address, "Aino")
        (file,) = (tmp_path / "user" / "client").iterdir()
        file.write_bytes(data)
        again = await account(home.address, "Aino")
        assert await account(home.address, "Aino") == again
