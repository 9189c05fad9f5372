"""The statistics, and the audit page saved to a disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import Browser, FilePayload, expect

from tests.web.built import dist
from tests.web.conftest import Finished
from tests.web.people import PHONE, Person
from tests.web.texts import like, says

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("screen", [{}, PHONE], ids=["desktop", "phone"])
async def test_promises_and_shuffles_are_counted(
    person: Callable[..., Person], finished: Finished, screen: dict[str, object]
) -> None:
    assert finished.match_id
    async with person(**({"screen": screen} if screen else {}), dark=bool(screen)) as sceptic:
        page = await sceptic.open("/stats")
        await expect(page.get_by_role("status").filter(has_text="✓").first).to_be_visible(timeout=30_000)
        await expect(page.get_by_role("row").filter(has_text=says("stats.started")).get_by_text("1")).to_be_visible()
        await expect(page.get_by_text(like("stats.judging"))).to_have_count(0, timeout=30_000)
        await sceptic.no_sideways_scroll()
        await sceptic.axe()


@pytest.mark.parametrize("subtle", [True, False], ids=["webcrypto", "script"])
async def test_the_saved_page_says_the_same_from_a_disk(
    browser: Browser, finished: Finished, tmp_path: Path, subtle: bool
) -> None:
    """W-AUD-5: no server, no network, with the browser's hashes and without."""
    saved = tmp_path / "audit.html"
    saved.write_bytes((dist() / "audit-offline.html").read_bytes())
    faults: list[str] = []
    context = await browser.new_context(offline=True, locale="en-GB")
    try:
        page = await context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        if not subtle:
            await page.add_init_script("Object.defineProperty(Crypto.prototype, 'subtle', { get: () => undefined })")
        await page.goto(saved.as_uri())
        file = FilePayload(name="match.jsonl", mimeType="application/jsonl", buffer=finished.log)
        await page.locator("input[type=file]").set_input_files(file)
        await expect(page.get_by_text(says("audit.verdict.holds"))).to_be_visible(timeout=30_000)
        await expect(page.get_by_text(says(f"audit.hasher.{'webcrypto' if subtle else 'noble'}"))).to_be_visible()
        await page.get_by_role("button", name=says("audit.vectors_run")).click()
        await expect(page.locator("strong").get_by_text("22 of 22")).to_be_visible()
    finally:
        await context.close()
    assert not faults
