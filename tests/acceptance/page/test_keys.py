"""A person makes the keys that programs present in their name, sees each one once, and revokes them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from playwright.async_api import Locator, Page, Route, expect

from tests.acceptance.conftest import Together
from tests.acceptance.page.conftest import Visit, complaints, learn, stop_the_clock
from tests.services import token

KEYS = "/api/runtimes/v1/api-keys"
NAMES = ".rows .name"


async def keys_of(together: Together, uid: str = "ana") -> list[dict[str, Any]]:
    """What the platform says of somebody's keys."""
    status, said = await together.platform.get(KEYS, uid=uid)
    assert status == 200, said
    return said["keys"]


async def make(together: Together, uid: str = "ana", **said: Any) -> dict[str, Any]:
    """A key made beside the page."""
    status, view = await together.platform.post(KEYS, uid=uid, json={"name": "laptop", "application": "diary", **said})
    assert status == 201, view
    return view


async def at_keys(visit: Visit, **context: Any) -> Page:
    """Ana, at the view of her keys."""
    page = await visit("ana", **context)
    await page.get_by_role("link", name="Keys").click()
    await expect(page.get_by_role("heading", name="API keys", level=1)).to_be_focused()
    return page


async def asking(page: Page) -> Locator:
    """The question for a new key."""
    await page.get_by_role("button", name="Make a key…").click()
    await expect(page.get_by_label("What it is for")).to_be_focused()
    return page.get_by_role("dialog")


async def test_i_make_a_key_with_the_keyboard_and_it_reaches_one_application(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "diary", "Likes tea")
    page = await at_keys(visit)
    complained = complaints(page)
    await expect(page.get_by_text("You have no API keys.")).to_be_visible()
    await page.get_by_role("button", name="Make a key…").focus()
    await page.keyboard.press("Enter")
    await page.keyboard.type("laptop")
    await page.keyboard.press("Tab")
    await expect(page.get_by_label("One application")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.type("diary")
    await expect(page.locator("datalist option")).to_have_attribute("value", "diary")
    await page.keyboard.press("Enter")

    await expect(page.get_by_role("heading", name="Your new key")).to_be_focused()
    key = await page.locator(".secret").inner_text()
    await expect(page.locator(NAMES)).to_have_text(["laptop"])
    facts = page.locator(".rows .facts")
    await expect(facts).to_contain_text("never used")
    await expect(facts).to_contain_text("for \u2068diary\u2069")
    [kept] = await keys_of(together)
    assert (kept["name"], kept["application"], kept["expires_at"]) == ("laptop", "app:diary", None)
    await expect(facts.locator("code")).to_have_text(f"{kept['prefix']}…")
    headers = {"Authorization": f"Token {key}"}
    assert (await together.runtime.get("/api/v1/apps/memories/diary", uid=None, headers=headers))[0] == 200
    assert (await together.runtime.get("/api/v1/apps/memories/travel", uid=None, headers=headers))[0] == 403
    await page.reload()
    await expect(facts).to_contain_text("last used ")
    assert complained == []


async def test_a_new_key_is_copied_and_stands_nowhere_once_it_is_kept(together: Together, visit: Visit) -> None:
    page = await at_keys(visit, permissions=["clipboard-read", "clipboard-write"])
    said: list[str] = []
    page.on("request", lambda request: said.append(f"{request.url} {request.post_data}"))
    page.on("console", lambda line: said.append(line.text))
    dialog = await asking(page)
    await page.get_by_label("What it is for").fill("Editor")
    await page.get_by_label("All your applications").check()
    await expect(page.get_by_label("Application", exact=True)).to_be_hidden()
    await dialog.get_by_role("button", name="Make the key").click()
    key = await page.locator(".secret").inner_text()

    await page.get_by_role("button", name="Copy").click()
    await expect(page.get_by_text("Copied.")).to_be_visible()
    assert await page.evaluate("navigator.clipboard.readText()") == key
    await page.get_by_role("button", name="I have kept it").click()
    await expect(page.locator(".secret")).to_have_count(0)
    await expect(page.get_by_role("button", name="Make a key…")).to_be_focused()
    await expect(page.locator(".rows .facts")).to_contain_text("for all your applications")
    holds = "document.cookie + JSON.stringify([{...localStorage, ...sessionStorage}, history.state, location.href])"
    assert key not in await page.evaluate(holds)
    assert key not in await page.content()
    assert not any(key in line for line in said)
    assert [one["all_applications"] for one in await keys_of(together)] == [True]


@pytest.mark.parametrize("leave", ["another view", "another page and back", "signing out"])
async def test_a_new_key_is_gone_with_the_view(together: Together, visit: Visit, leave: str) -> None:
    page = await at_keys(visit)
    await asking(page)
    await page.get_by_label("What it is for").fill("Editor")
    await page.get_by_label("All your applications").check()
    await page.keyboard.press("Enter")
    await page.locator(".secret").wait_for()

    if leave == "another view":
        await page.get_by_role("link", name="Activity").click()
        await page.go_back()
    elif leave == "signing out":
        await page.get_by_role("button", name="Sign out").click()
        await page.get_by_label("Your token").wait_for()
    else:
        await page.goto("about:blank")
        await page.go_back()

    if leave != "signing out":
        await expect(page.locator(NAMES)).to_have_text(["Editor"])
    await expect(page.locator(".secret")).to_have_count(0)


async def test_without_a_clipboard_the_key_is_selected(together: Together, visit: Visit) -> None:
    page = await at_keys(visit)
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    await asking(page)
    await page.get_by_label("What it is for").fill("Editor")
    await page.get_by_label("All your applications").check()
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Copy").click()

    await expect(page.get_by_text("The key is selected")).to_be_visible()
    assert await page.evaluate("getSelection().toString()") == await page.locator(".secret").inner_text()


async def test_a_key_ends_with_its_last_day_where_i_am(together: Together, visit: Visit) -> None:
    page = await at_keys(visit)
    await stop_the_clock(page)
    day = (datetime.now(ZoneInfo("Europe/Berlin")) + timedelta(days=40)).date()
    await asking(page)
    await page.get_by_label("What it is for").fill("Editor")
    await page.get_by_label("Application", exact=True).fill("app:diary")
    await page.get_by_label("Last day").fill("2020-01-01")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert").filter(has_text="The last day is past.")).to_be_visible()
    await expect(page.get_by_label("Last day")).to_be_focused()
    await page.get_by_label("Last day").fill(day.isoformat())
    await page.keyboard.press("Enter")

    await expect(page.locator(".rows .facts")).to_contain_text(f"ends {day.day} {day:%B} {day.year} at 23:59")
    [kept] = await keys_of(together)
    ends = datetime(day.year, day.month, day.day, 23, 59, 59, tzinfo=ZoneInfo("Europe/Berlin"))
    assert datetime.fromisoformat(kept["expires_at"]) == ends
    assert kept["application"] == "app:diary"

    await page.clock.set_fixed_time(ends.astimezone(UTC) + timedelta(seconds=1))
    await page.get_by_role("link", name="Activity").click()
    await page.get_by_role("link", name="Keys").click()
    await expect(page.locator(".rows .mark")).to_have_text(f"Ended {day.day} {day:%B} {day.year} at 23:59")


async def test_what_is_missing_is_asked_for_and_what_the_service_refuses_is_said(
    together: Together, visit: Visit
) -> None:
    page = await at_keys(visit)
    dialog = await asking(page)
    alert = dialog.get_by_role("alert")
    await page.keyboard.press("Enter")
    await expect(alert).to_have_text("Say what the key is for.")
    await page.get_by_label("What it is for").fill("k" * 201)
    await page.keyboard.press("Enter")
    await expect(alert).to_have_text("Name the application.")
    await expect(page.get_by_label("Application", exact=True)).to_be_focused()
    await page.get_by_label("Application", exact=True).fill("diary")
    await page.get_by_label("Last day").focus()
    await page.keyboard.type("3")  # and nothing more of the date
    await page.keyboard.press("Enter")
    await expect(alert).to_have_text("Complete the last day, or leave it empty.")
    await page.get_by_label("Last day").fill("")
    await page.keyboard.press("Enter")

    await expect(alert).to_have_text("name says what the key is for, in at most 200 characters.")
    assert await keys_of(together) == []
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_role("button", name="Make a key…")).to_be_focused()


async def test_i_revoke_one_after_being_asked_and_it_ends_at_once(together: Together, visit: Visit) -> None:
    laptop, phone = await make(together), await make(together, name="phone")
    await make(together, uid="bob", name="bob's")
    headers = {"X-API-Key": laptop["key"]}
    page = await at_keys(visit)
    await expect(page.locator(NAMES)).to_have_text(["phone", "laptop"])
    await page.locator(".rows li", has_text="laptop").get_by_role("button", name="Revoke…").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text(laptop["prefix"])
    await dialog.get_by_role("button", name="Cancel").click()
    assert (await together.runtime.get("/api/v1/apps/memories/diary", uid=None, headers=headers))[0] == 200

    await page.locator(".rows li", has_text="laptop").get_by_role("button", name="Revoke…").click()
    await dialog.get_by_role("button", name="Revoke").click()
    await expect(page.get_by_text("The key was revoked.")).to_be_visible()
    await expect(page.locator(NAMES)).to_have_text(["phone"])
    await expect(page.get_by_role("heading", name="API keys", level=1)).to_be_focused()
    assert (await together.runtime.get("/api/v1/apps/memories/diary", uid=None, headers=headers))[0] == 401

    # One that was revoked somewhere else meanwhile.
    await page.get_by_role("button", name="Revoke…").click()
    await together.platform.delete(f"{KEYS}/{phone['id']}", uid="ana")
    await dialog.get_by_role("button", name="Revoke").click()
    await expect(dialog.get_by_role("alert")).to_have_text("There is no key by that id.")
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(page.get_by_text("You have no API keys.")).to_be_visible()
    assert len(await keys_of(together, "bob")) == 1


async def test_names_in_any_writing_stay_text_and_turn_nothing_around_them(together: Together, visit: Visit) -> None:
    names = ["<img src=x onerror=alert(1)>", "\u202eabc מפתח 🗝️👩🏽‍🚀", "k" * 200]
    for name in names:
        await make(together, name=name, application="\u202edemo🍵")
    page = await at_keys(visit, viewport={"width": 320, "height": 640})
    complained = complaints(page)

    await expect(page.locator(NAMES)).to_have_text(names[::-1])
    await page.get_by_role("button", name="Revoke…").nth(1).click()
    await expect(page.get_by_role("dialog").get_by_role("heading")).to_have_text(f"Revoke \u2068{names[1]}\u2069?")
    assert await page.locator("main img").count() == 0
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert complained == []


async def test_while_the_keys_come_that_is_said(together: Together, visit: Visit) -> None:
    await make(together)
    page = await visit("ana")
    gate = asyncio.Event()

    async def held(route: Route) -> None:
        await gate.wait()
        await route.continue_()

    await page.route(f"**{KEYS}", held)
    await page.get_by_role("link", name="Keys").click()
    block = page.locator(".block")
    await expect(block).to_have_attribute("aria-busy", "true")
    await expect(block).to_have_text("Loading…")
    gate.set()

    await expect(page.locator(NAMES)).to_have_text(["laptop"])
    await expect(block).not_to_have_attribute("aria-busy", "true")


async def test_a_service_that_is_away_loses_nothing_that_was_typed(together: Together, visit: Visit) -> None:
    page = await at_keys(visit)
    dialog = await asking(page)
    await page.get_by_label("What it is for").fill("Editor")
    await page.get_by_label("All your applications").check()
    port = await together.stop_platform()
    await page.keyboard.press("Enter")
    await expect(dialog.get_by_role("alert")).to_contain_text("The service was not reached")
    await expect(page.locator("main").get_by_role("alert", include_hidden=True)).to_contain_text("was not reached")

    await together.start_platform(port)
    await dialog.get_by_role("button", name="Make the key").click()
    await expect(page.locator(".secret")).to_be_visible()
    await expect(page.locator(NAMES)).to_have_text(["Editor"])


@pytest.mark.parametrize("what", ["make", "revoke"])
async def test_a_session_that_ends_in_between_leads_to_signing_in(together: Together, visit: Visit, what: str) -> None:
    await make(together)
    page = await at_keys(visit)
    await page.locator(NAMES).wait_for()
    if what == "make":
        await asking(page)
        await page.get_by_label("What it is for").fill("Editor")
        await page.get_by_label("All your applications").check()
    else:
        await page.get_by_role("button", name="Revoke…").click()
    await page.context.clear_cookies()
    await page.get_by_role("dialog").get_by_role("button").last.click()

    await expect(page.locator(".notice-line")).to_have_text("Your session has ended. Sign in again.")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.get_by_label("Your token").fill(token("ana"))
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.locator(NAMES)).to_have_text(["laptop"])
