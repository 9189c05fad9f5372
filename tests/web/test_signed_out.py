"""Somebody deletes the account elsewhere while a match of theirs is open."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.async_api import expect

from tests.web.people import Person
from tests.web.seats import Seat
from tests.web.texts import says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]


async def test_a_page_notices_on_its_stream_that_it_is_signed_out(person: Callable[..., Person]) -> None:
    """The name goes, and the match is not said to be none."""
    async with person() as mira:
        mira.network_may_fail = True
        page = await mira.open("/")
        await page.get_by_role("button", name=says("lobby.bot_play")).click()
        assert await Seat(page).turn_or_end()
        calls = f"{mira.base}/grimoire.v1.AccountService"
        headers = {"origin": mira.base, "content-type": "application/json"}
        me = await (await mira.context.request.post(f"{calls}/GetMe", data="{}", headers=headers)).json()
        name = page.get_by_role("banner").get_by_text(me["account"]["name"])
        await expect(name).to_be_visible()

        answer = await mira.context.request.post(f"{calls}/DeleteAccount", data="{}", headers=headers)
        assert answer.ok, await answer.text()
        await expect(name).to_have_count(0)
        await expect(page.get_by_text(says("match.unknown"))).to_have_count(0)
