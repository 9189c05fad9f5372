"""The audit in the browser: an honest log holds, a log that was tampered with shows red at the right check."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.async_api import FilePayload, Locator, Page, expect

from tests.web.conftest import Finished
from tests.web.people import PHONE, Person
from tests.web.texts import like, says

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def open_file(page: Page, data: bytes, name: str = "match.jsonl") -> None:
    """As if somebody had chosen this file."""
    file = FilePayload(name=name, mimeType="application/jsonl", buffer=data)
    await page.get_by_label(says("audit.open_file")).and_(page.locator("input")).set_input_files(file)


def verdict(page: Page, key: str) -> Locator:
    """The head of the page, if it says this."""
    return page.get_by_role("main").get_by_text(like(f"audit.verdict.{key}")).first


def with_one_hex_digit_changed(log: bytes, field: str) -> bytes:
    """The log with another digit in the first field of that name."""
    text = log.decode()
    at = text.index(f'"{field}":"') + len(field) + 4
    return (text[:at] + ("0" if text[at] != "0" else "1") + text[at + 1 :]).encode()


async def test_an_honest_log_holds(person: Callable[..., Person], finished: Finished) -> None:
    async with person() as sceptic:
        page = await sceptic.open(f"/m/{finished.match_id}/audit")
        await expect(verdict(page, "holds")).to_be_visible(timeout=30_000)
        await expect(page.get_by_role("main")).not_to_contain_text("✗")
        await sceptic.axe()


async def test_a_file_needs_no_account_and_no_server(person: Callable[..., Person], finished: Finished) -> None:
    async with person(PHONE, language="fi") as sceptic:
        page = await sceptic.open("/audit")
        sceptic.network_may_fail = True
        file = FilePayload(name="ottelu.jsonl", mimeType="application/jsonl", buffer=finished.log)
        await page.locator("input[type=file]").set_input_files(file)
        await expect(page.get_by_text(says("audit.verdict.holds", "fi"))).to_be_visible(timeout=30_000)
        await sceptic.no_sideways_scroll()


async def test_an_entry_left_out(person: Callable[..., Person], finished: Finished) -> None:
    lines = finished.log.splitlines(keepends=True)
    middle = len(lines) // 2
    async with person() as sceptic:
        page = await sceptic.open("/audit")
        await open_file(page, b"".join([*lines[:middle], *lines[middle + 1 :]]))
        await page.get_by_role("main").get_by_text("✗").first.wait_for()
        assert await page.get_by_text(says("audit.verdict.holds")).count() == 0
        await expect(verdict(page, "failed").or_(verdict(page, "unreadable"))).to_be_visible()
        await sceptic.axe()


async def test_red_is_red_and_said_in_words(person: Callable[..., Person], finished: Finished) -> None:
    async with person(dark=True) as sceptic:
        page = await sceptic.open("/audit")
        await open_file(page, finished.log.replace(b'"ore"', b'"oar"', 1))
        bad = verdict(page, "failed").or_(verdict(page, "unreadable"))
        await expect(bad).to_be_visible()
        danger = await page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--danger')")
        shown = await page.evaluate("""() => [...document.querySelectorAll("main *")].map((each) => {
            const style = getComputedStyle(each);
            return [style.color, style.borderTopColor, style.borderLeftColor, style.backgroundColor];
        }).flat()""")
        red, green, blue = (int(danger.strip().lstrip("#")[n : n + 2], 16) for n in (0, 2, 4))
        assert f"rgb({red}, {green}, {blue})" in shown


@pytest.mark.parametrize("junk", [b"", b"\x00\xff" * 500, b"{}\n", b'{"a":1}\n' * 2000, b"\xef\xbb\xbfhello"])
async def test_what_is_no_log_is_said_to_be_none(person: Callable[..., Person], junk: bytes) -> None:
    async with person() as sceptic:
        page = await sceptic.open("/audit")
        await open_file(page, junk, "holiday.jsonl")
        await expect(verdict(page, "unreadable")).to_be_visible()


async def test_an_unfinished_match_claims_nothing(person: Callable[..., Person], finished: Finished) -> None:
    first = json.loads(finished.log.splitlines()[0])
    assert first
    lines = finished.log.splitlines(keepends=True)
    async with person() as sceptic:
        page = await sceptic.open("/audit")
        await open_file(page, b"".join(lines[: len(lines) // 2]))
        await page.get_by_role("main").get_by_role("heading", level=2).first.wait_for()
        await expect(page.get_by_text(says("audit.verdict.holds"))).to_have_count(0)
