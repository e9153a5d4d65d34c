"""Photographs the memory page in each of its states, at three widths, light and dark, for a person to look at."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

import aiohttp
from playwright.async_api import Page

from bench.runtime import free_port
from shared.db.embedded import embedded
from shared.development import Development, both, service
from shared.verifier import issue
from tests.acceptance.browser import chromium, person

OUT = Path(__file__).parent / "out" / "page"
WIDTHS = (320, 768, 1440)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PERSON = "ana"

LEARNED: dict[str, list[dict[str, Any]]] = {
    "diary": [
        {"memory": "Mornings are for writing; calls only after ten.", "timestamp": "2026-11-03T07:41:00Z"},
        {"memory": "Her sister Ida lives in Lisbon and visits every spring.", "timestamp": "2026-11-19T18:02:00Z"},
        {"memory": "Is learning Portuguese, at level A2.", "timestamp": "2026-11-19T18:05:00Z"},
        {
            "memory": "The gate code is 4471 while the painters are here.",
            "timestamp": "2026-11-20T08:00:00Z",
            "expiration_date": "2026-11-25",
        },
        {"memory": "Prefers tea, oolong if there is any."},
        {"memory": "I am vegetarian and avoid gluten."},
    ],
    "travel": [
        {"memory": "Window seat, never the last row.", "timestamp": "2026-06-12T10:00:00Z"},
        {"memory": "The passport is valid until March 2031.", "timestamp": "2026-08-02T10:00:00Z"},
        {"memory": "Travels with hand luggage only."},
    ],
    "support-desk": [{"memory": "Parks on level 2 of the garage.", "timestamp": "2026-09-09T14:31:00Z"}],
}

KEYS: list[dict[str, Any]] = [
    {"name": "laptop", "application": "diary"},
    {"name": "Editor on every machine", "all_applications": True, "expires_at": "2027-06-30T21:59:59Z"},
    {"name": "מפתח של רות 🗝️", "application": "travel"},
]


async def main() -> None:
    """Fill a fresh store with what a person might see, then photograph it."""
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="rm-shots-") as directory:
        Path(directory).chmod(0o755)
        development = Development(Path(directory), free_port(), free_port())
        settings = await asyncio.to_thread(development.settings)
        async with (
            embedded(development.postgres),
            service("runtimes_svc", development.platform_port, development, settings),
            service("runtime_svc", development.runtime_port, development, settings),
        ):
            await both(development)
            token = issue(settings["MEMORY_JWT_SECRET"], PERSON, 3600)
            await fill(development, token)
            await shoot(development.platform, token)


async def fill(development: Development, token: str) -> None:
    """What applications learned, what the person corrected, allowed, saved and forgot."""
    platform = f"{development.platform}/api/runtimes/v1"
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}, raise_for_status=True) as session:
        ids = {}
        for app, lessons in LEARNED.items():
            for lesson in lessons:
                address = f"{development.runtime}/api/v1/apps/memories/{app}"
                async with session.post(address, json={**lesson, "wait": True}) as response:
                    ids[lesson["memory"]] = (await response.json())["results"][0]["id"]
        await session.post(f"{development.platform}/api/memory/state")
        better = {"memory": "Is learning Portuguese, at level B1 since October."}
        await session.patch(f"{platform}/memories/{ids['Is learning Portuguese, at level A2.']}", json=better)
        await session.put(f"{platform}/memory-shares", json={"source": "app:travel", "reader": "app:diary"})
        for key in KEYS:
            await session.post(f"{platform}/api-keys", json=key)
        await session.delete(f"{platform}/memories/{ids['Travels with hand luggage only.']}")


async def _sign_in(page: Page) -> None:
    await page.get_by_role("button", name="Sign out").click()
    await page.locator(".welcome").wait_for()


async def _application(page: Page) -> None:
    await page.locator(".memory").first.wait_for()
    await page.locator(".shared summary").wait_for()


async def _history(page: Page) -> None:
    await _application(page)
    await page.locator(".memory", has_text="Portuguese").get_by_role("button", name="History").click()
    await page.locator(".history li").first.wait_for()


async def _correcting(page: Page) -> None:
    await _application(page)
    await page.locator(".memory").nth(1).get_by_role("button", name="Correct").click()


async def _forgetting(page: Page) -> None:
    await _application(page)
    await page.locator(".memory").nth(1).get_by_role("button", name="Forget").click()


async def _undone(page: Page) -> None:
    await page.get_by_role("button", name="Undo").click()


async def _forget_all(page: Page) -> None:
    await _application(page)
    await page.get_by_role("button", name="Forget everything…").click()
    await page.locator("dialog").wait_for()


async def _searching(page: Page) -> None:
    await page.get_by_role("searchbox").fill("level")
    await page.locator(".results .memory").first.wait_for()


async def _restore(page: Page) -> None:
    await page.get_by_role("button", name="Restore…").first.click()
    await page.locator("dialog .change").first.wait_for()


async def _rows(page: Page) -> None:
    await page.locator(".rows").first.wait_for()


async def _making(page: Page) -> None:
    await _rows(page)
    await page.get_by_role("button", name="Make a key…").click()
    await page.get_by_label("What it is for").fill("A robot")


async def _made(page: Page) -> None:
    await _making(page)
    await page.get_by_label("Application", exact=True).fill("diary")
    await page.get_by_role("button", name="Make the key").click()
    await page.locator(".secret").wait_for()
    await page.locator(".rows li", has_text="A robot").wait_for()


async def _revoke_made(page: Page) -> None:
    await page.locator(".rows li", has_text="A robot").get_by_role("button").click()
    await page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    await page.get_by_text("The key was revoked.").wait_for()


async def _revoking(page: Page) -> None:
    await _rows(page)
    await page.get_by_role("button", name="Revoke…").first.click()


async def _matrix(page: Page) -> None:
    await page.locator(".matrix").wait_for()


async def _home(page: Page) -> None:
    await page.locator(".application").first.wait_for()


Prepare = Callable[[Page], Awaitable[None]]
STATES: list[tuple[str, str, Prepare, Prepare | None]] = [
    ("home", "#/", _home, None),
    ("search", "#/", _searching, None),
    ("application", "#/application/diary", _application, None),
    ("history", "#/application/diary", _history, None),
    ("correcting", "#/application/diary", _correcting, None),
    ("forgetting", "#/application/diary", _forgetting, _undone),
    ("forget-all", "#/application/diary", _forget_all, None),
    ("sharing", "#/sharing", _matrix, None),
    ("snapshots", "#/snapshots", _rows, None),
    ("restore", "#/snapshots", _restore, None),
    ("activity", "#/activity", _rows, None),
    ("keys", "#/keys", _rows, None),
    ("keys-making", "#/keys", _making, None),
    ("keys-made", "#/keys", _made, _revoke_made),
    ("keys-revoking", "#/keys", _revoking, None),
    ("sign-in", "#/", _sign_in, None),
]
"""A state's name, its address, what leads to it, and what undoes that."""


async def shoot(address: str, token: str) -> None:
    """Each state at each width in each scheme."""
    async with chromium() as browser:
        for width in WIDTHS:
            for scheme in SCHEMES:
                size = {"width": width, "height": 900 if width > 400 else 640}
                context, page = await person(browser, address, token, viewport=size, color_scheme=scheme)
                for name, place, prepare, undo in STATES:
                    await page.goto("about:blank")
                    await page.goto(f"{address}/memories{place}")
                    await prepare(page)
                    file = OUT / f"{name}-{width}-{scheme}.png"
                    await page.screenshot(path=file, animations="disabled", full_page="dialog" not in name)
                    if undo is not None:
                        await undo(page)
                await context.close()
    print(f"{len(list(OUT.glob('*.png')))} photographs in {OUT}")


if __name__ == "__main__":
    asyncio.run(main())
