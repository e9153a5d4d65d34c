"""A real browser: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

_QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

expect.set_options(timeout=60_000)  # milliseconds: on a busy machine a page is slow


def chromium_path() -> str | None:
    """Where the system's Chromium is; None where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@contextlib.asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A browser for as long as the block runs; the test is skipped where there is none."""
    path = chromium_path()
    if path is None:
        pytest.skip("Chromium is not installed: the memory page is not driven in a browser.")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(_QUIET))
        try:
            yield browser
        finally:
            await browser.close()


async def person(browser: Browser, address: str, token: str, **context: Any) -> tuple[BrowserContext, Page]:
    """Somebody with a browser of their own, signed in at the memory page of a service by pasting a token."""
    own = await browser.new_context(**{"locale": "en-GB", "timezone_id": "Europe/Berlin", **context})
    own.set_default_timeout(60_000)
    page = await own.new_page()
    await page.goto(f"{address.rstrip('/')}/memories")
    await page.get_by_role("textbox").fill(token)
    await page.get_by_role("textbox").press("Tab")
    await page.locator("form .button").click()
    await page.locator(".frame").wait_for()
    return own, page
