"""People with browsers of their own, at the memory page of the platform."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Browser, Page

from tests.acceptance.browser import chromium, person
from tests.acceptance.conftest import Together
from tests.services import Service, token

Visit = Callable[..., Awaitable[Page]]


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as found:
        yield found


@pytest.fixture
async def visit(browser: Browser, together: Together) -> Visit:
    """Somebody signed in, in a browser of their own. What the page may not do fails the test at its end."""

    async def sign_in(uid: str, **context: Any) -> Page:
        _, page = await person(browser, together.address, token(uid), **context)
        return page

    return sign_in


async def learn(runtime: Service, app: str, *facts: str, uid: str = "ana", **more: Any) -> list[str]:
    """What an application learns of somebody, one after the other."""
    ids = []
    for fact in facts:
        body = {"memory": fact, "wait": True, **more}
        status, said = await runtime.post(f"/api/v1/apps/memories/{app}", json=body, uid=uid)
        assert status == 200, said
        ids.append(said["results"][0]["id"])
    return ids


async def remembered(runtime: Service, app: str, uid: str = "ana") -> list[str]:
    """What an application remembers of somebody, newest first."""
    status, said = await runtime.get(f"/api/v1/apps/memories/{app}", uid=uid)
    assert status == 200, said
    return [memory["memory"] for memory in said["memories"]]


async def words(page: Page) -> list[str]:
    """The memories that a page shows, from its top."""
    return await page.locator(".memory > .words").all_inner_texts()


async def stop_the_clock(page: Page) -> None:
    """From here on no time passes on a page but what a test lets pass by `page.clock.run_for`."""
    now = time.time()
    await page.clock.install(time=now)
    await page.clock.pause_at(now + 60)


def complaints(page: Page) -> list[str]:
    """What the browser complains about from now on: faults of the script, and what the policy kept away."""
    found: list[str] = []
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on("console", lambda said: found.append(said.text) if said.type in {"error", "warning"} else None)
    return found
