"""The audit in the browser: an honest log holds, a log that was tampered with shows red at the right check."""

from __future__ import annotations

import base64
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


async def is_red(said: Locator) -> bool:
    """It, or what holds it, is drawn in the colour of danger."""
    found: bool = await said.evaluate("""(each) => {
        const probe = document.createElement("i");
        probe.style.color = "var(--danger)";
        each.append(probe);
        const red = getComputedStyle(probe).color;
        probe.remove();
        for (let at = each; at.tagName !== "MAIN"; at = at.parentElement) {
            const { color, borderTopColor, borderLeftColor } = getComputedStyle(at);
            if ([color, borderTopColor, borderLeftColor].includes(red)) return true;
        }
        return false;
    }""")
    return found


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


@pytest.mark.parametrize("what", ["public", "salt", "body", "hash"])
async def test_one_changed_entry_is_named(person: Callable[..., Person], finished: Finished, what: str) -> None:
    lines = finished.log.splitlines(keepends=True)
    at = len(lines) // 2
    version = at  # the first line is the file's head
    entry = json.loads(lines[at])
    assert entry["kind"] == "entry"
    holder = {"public": entry, "hash": entry}.get(what) or entry["parts"][0]
    data = bytearray(base64.b64decode(holder[what]))
    if what == "public":
        data = data.replace(b"\x04main", b"\x04mien")
    else:
        data[-1] ^= 1
    assert base64.b64decode(holder[what]) != data
    holder[what] = base64.b64encode(data).decode()
    lines[at] = json.dumps(entry, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    async with person(dark=True) as sceptic:
        page = await sceptic.open("/audit")
        await open_file(page, b"".join(lines))
        said = page.get_by_role("heading", name=f"Check 6 fails at entry {version}")
        await expect(said).to_be_visible()
        await expect(page.get_by_role("main")).to_contain_text("✗")
        assert await is_red(said)
        await sceptic.axe()


async def test_another_seed_or_another_key_fails_its_check(person: Callable[..., Person], finished: Finished) -> None:
    """The page tells which promise was broken, not only that the file differs."""
    async with person() as sceptic:
        page = await sceptic.open("/audit")
        log = json.loads(finished.log.splitlines()[-2])
        assert log["kind"] == "log"
        await open_file(page, finished.log.replace(log["key"].encode(), log["key"][:-2].encode() + b"AA"))
        await expect(verdict(page, "failed").or_(verdict(page, "unreadable"))).to_be_visible()


@pytest.mark.parametrize("junk", [b"", b"\x00\xff" * 500, b"{}\n", b'{"a":1}\n' * 2000, b"\xef\xbb\xbfhello"])
async def test_what_is_no_log_is_said_to_be_none(person: Callable[..., Person], junk: bytes) -> None:
    async with person() as sceptic:
        page = await sceptic.open("/audit")
        await open_file(page, junk, "holiday.jsonl")
        await expect(verdict(page, "unreadable")).to_be_visible()


async def test_an_unfinished_match_claims_nothing(person: Callable[..., Person], finished: Finished) -> None:
    lines = finished.log.splitlines(keepends=True)
    async with person() as sceptic:
        page = await sceptic.open("/audit")
        await open_file(page, b"".join(lines[: len(lines) // 2]))
        await page.get_by_role("main").get_by_role("heading", level=2).first.wait_for()
        await expect(page.get_by_text(says("audit.verdict.holds"))).to_have_count(0)
