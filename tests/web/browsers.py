"""The system's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium() -> str:
    """Path of the browser.

    Raises:
        RuntimeError: there is none; says what installs it.
    """
    for name in _NAMES:
        if found := shutil.which(name):
            return found
    raise RuntimeError("Browser tests need Chromium: `apt-get install chromium fonts-dejavu-core`")


@asynccontextmanager
async def open_browser() -> AsyncIterator[Browser]:
    """A browser without a window."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb"]
        )
        try:
            yield browser
        finally:
            await browser.close()
