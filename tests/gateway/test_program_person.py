"""Programs sign up and in, and talk, with the client library."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
import pytest_asyncio

from gateway.service import Gateway
from grimoire.client import NotSignedInError, Rejected
from tests.gateway.house import House, house
from tests.gateway.tables import running_table
from tests.gateway.test_accounts import CHEAP, FREE, GOOD

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    gateway = Gateway(account_limits=FREE, hash_cost=CHEAP)
    async with house(tmp_path_factory.mktemp("house"), gateway) as running:
        yield running


async def test_a_program_signs_up_and_comes_back(home: House) -> None:
    first, second = await home.client("Guest"), await home.client("")
    guest = await first.whoami()
    account = await first.sign_up("Robotti", GOOD, label="my bot")
    assert (account.account_id, account.guest) == (guest.account_id, False)
    assert (await first.whoami()).name == "Robotti"
    assert (await second.sign_in("robotti", GOOD)).account_id == account.account_id
    with pytest.raises(Rejected) as refused:
        await second.sign_in("robotti", GOOD + "!")
    assert refused.value.code == "wrong_password"
    token = second.token
    await second.sign_out()
    assert second.token is None
    again = await home.client(token=token)
    with pytest.raises(NotSignedInError):
        await again.whoami()
    for client in (first, second, again):
        await client.close()


async def test_a_program_talks_and_hears(home: House) -> None:
    async with running_table(home) as table:
        aino, vaino = table.clients
        said = await aino.say(table.match_id, "Onnea")
        assert (said.text, said.seat, said.mine) == ("Onnea", 0, True)
        async with aclosing(vaino.hear(table.match_id)) as heard:
            assert (await anext(heard)).text == "Onnea"
            await aino.say(table.match_id, "matkaan")
            message = await anext(heard)
            assert (message.text, message.name, message.mine) == ("matkaan", "Aino", False)
