"""The page works for everybody: axe finds nothing, the keyboard reaches everything, nothing overflows, in every state."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import Page, expect

from tests.acceptance.conftest import Together
from tests.acceptance.page.conftest import Visit, complaints, learn, remembered
from tests.acceptance.typescript import installed

pytestmark = pytest.mark.timeout(300)

_RUN = """async () => {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const { violations, passes } = await axe.run(document, { runOnly: { type: "tag", values: tags } });
  const told = violations.map((one) => [one.id, ...one.nodes.map((node) => node.html + " " + node.failureSummary)]);
  return { told, passes: passes.length };
}"""


async def violations(page: Page) -> list[str]:
    """What axe-core finds wrong with what a page shows now."""
    axe = (await asyncio.to_thread(installed, "page")) / "node_modules" / "axe-core" / "axe.min.js"
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(axe.read_text("utf-8"))
    await page.wait_for_timeout(250)  # a notice that is still rising is half transparent
    found = await page.evaluate(_RUN)
    assert found["passes"] > 10
    return found["told"]


@pytest.fixture
async def filled(together: Together) -> Together:
    """Somebody of whom there is something in every view."""
    ids = await learn(together.runtime, "diary", "Likes tea", "Reads on Mondays")
    await learn(together.runtime, "diary", "The gate code is 4471", expiration_date="2026-01-15")
    await learn(together.runtime, "travel", "Window seat")
    await learn(together.runtime, "an-application-with-a-name-that-is-longer-than-a-small-screen-is-wide", "One thing")
    await together.platform.post("/api/memory/state", uid="ana")
    for name in ("laptop", "a-key-with-a-name-that-is-longer-than-a-small-screen-is-wide"):
        key = {"name": name, "application": "diary", "expires_at": "2126-11-30T12:00:00Z"}
        await together.platform.post("/api/runtimes/v1/api-keys", json=key, uid="ana")
    await together.platform.patch(f"/api/runtimes/v1/memories/{ids[0]}", json={"memory": "Likes oolong"}, uid="ana")
    await together.platform.delete(f"/api/runtimes/v1/memories/{ids[1]}", uid="ana")
    for reader in ("app:diary", "app:desk"):
        share = {"source": "app:travel", "reader": reader}
        await together.platform.put("/api/runtimes/v1/memory-shares", json=share, uid="ana")
    return together


async def _application(page: Page) -> None:
    await page.get_by_text("That is everything.").wait_for()
    await page.locator(".shared summary").click()
    await page.locator(".shared .memory").wait_for()
    await page.locator(".memory", has_text="oolong").get_by_role("button", name="History").click()
    await page.locator(".history li").first.wait_for()


async def _waiting_and_correcting(page: Page) -> None:
    await page.get_by_text("That is everything.").wait_for()
    await page.locator(".days .memory").last.get_by_role("button", name="Correct").click()
    await page.locator(".days .memory").first.get_by_role("button", name="Forget").click()


async def _forget_all(page: Page) -> None:
    await page.get_by_role("button", name="Forget everything…").click()
    await page.get_by_role("dialog").wait_for()


async def _searching(page: Page) -> None:
    await page.get_by_role("searchbox").fill("oolong")
    await page.locator(".results .memory").wait_for()


async def _restoring(page: Page) -> None:
    await page.get_by_role("button", name="Restore…").click()
    await page.locator(".change.plus").wait_for()


async def _rows(page: Page) -> None:
    await page.locator(".rows li").first.wait_for()


async def _sharing(page: Page) -> None:
    await page.locator(".matrix").wait_for()
    await page.locator(".adding summary").click()
    await page.get_by_role("checkbox").first.click()
    await page.locator(".notice").wait_for()


async def _making_a_key(page: Page) -> None:
    await page.get_by_role("button", name="Make a key…").click()
    await page.get_by_label("What it is for").fill("robot")
    await page.locator("datalist option").first.wait_for(state="attached")


async def _new_key(page: Page) -> None:
    await _making_a_key(page)
    await page.get_by_label("All your applications").check()
    await page.keyboard.press("Enter")
    await page.locator(".secret").wait_for()
    await page.locator(".rows li", has_text="laptop").wait_for()
    await page.get_by_role("button", name="Copy").click()


async def _revoking(page: Page) -> None:
    await page.get_by_role("button", name="Revoke…").first.click()
    await page.get_by_role("dialog").wait_for()


async def _signed_out(page: Page) -> None:
    await page.get_by_role("button", name="Sign out").click()
    await page.locator(".notice-line").wait_for()


async def _home(page: Page) -> None:
    await page.locator(".application").first.wait_for()


VIEWS: dict[str, tuple[str, Callable[[Page], Awaitable[None]]]] = {
    "home": ("#/", _home),
    "search": ("#/", _searching),
    "application": ("#/application/diary", _application),
    "correcting and forgetting": ("#/application/diary", _waiting_and_correcting),
    "forgetting all": ("#/application/travel", _forget_all),
    "sharing": ("#/sharing", _sharing),
    "snapshots": ("#/snapshots", _rows),
    "restoring": ("#/snapshots", _restoring),
    "activity": ("#/activity", _rows),
    "keys": ("#/keys", _rows),
    "making a key": ("#/keys", _making_a_key),
    "a new key": ("#/keys", _new_key),
    "revoking a key": ("#/keys", _revoking),
    "signed out": ("#/", _signed_out),
}


@pytest.mark.parametrize(("width", "scheme"), [(320, "light"), (320, "dark"), (1920, "light"), (1920, "dark")])
async def test_axe_finds_nothing_and_nothing_overflows_in_any_view(
    filled: Together, visit: Visit, width: int, scheme: str
) -> None:
    page = await visit("ana", viewport={"width": width, "height": 900}, color_scheme=scheme)
    complained = complaints(page)
    address = page.url.partition("#")[0]
    wrong = {}
    for name, (place, prepare) in VIEWS.items():
        await page.goto("about:blank")
        await page.goto(f"{address}{place}")
        await prepare(page)
        if found := await violations(page):
            wrong[name] = found
        if not await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"):
            wrong[f"{name} overflows"] = []

    assert wrong == {}
    assert complained == []


async def test_everything_is_done_without_a_mouse(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "diary", "Likes tea")
    page = await visit("ana")
    await page.reload()
    await page.locator(".application").wait_for()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("main")).to_be_focused()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("searchbox")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="diary", level=1)).to_be_focused()
    assert await page.title() == "diary – Memory"

    await page.locator(".memory").wait_for()
    for _ in range(3):  # past "Forget everything…" and the search to "Correct"
        await page.keyboard.press("Tab")
    await expect(page.get_by_role("button", name="Correct")).to_be_focused()
    await page.keyboard.press("Enter")
    await page.keyboard.type(", oolong")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.locator(".memory > .words")).to_have_text(["Likes tea, oolong"])

    assert await remembered(together.runtime, "diary") == ["Likes tea, oolong"]


async def test_a_dialog_keeps_the_focus_and_gives_it_back(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "diary", "Likes tea")
    page = await visit("ana")
    await page.get_by_role("link", name="diary").click()
    opener = page.get_by_role("button", name="Forget everything…")
    await opener.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Type 1 to confirm")).to_be_focused()
    await page.keyboard.press("Escape")

    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(opener).to_be_focused()
    assert await remembered(together.runtime, "diary") == ["Likes tea"]
