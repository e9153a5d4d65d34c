"""A runtime on the local store serves the page itself: no platform stands beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, expect

from tests.acceptance.browser import person
from tests.acceptance.page.conftest import complaints, learn, remembered
from tests.services import Service, start_runtime, token


@pytest.fixture
async def alone(settings_environment: pytest.MonkeyPatch, tmp_path) -> AsyncIterator[Service]:
    settings_environment.setenv("AGENT_RUNTIMES_MEM0_BACKEND", "faiss")
    settings_environment.setenv("AGENT_RUNTIMES_MEM0_DIR", str(tmp_path / "local"))
    service = await start_runtime(None)
    yield service
    await service.client.close()


async def test_i_find_by_meaning_correct_and_forget(alone: Service, browser: Browser) -> None:
    await learn(alone, "diary", "I am vegetarian and avoid gluten", "Meetings are on Tuesdays")
    _, page = await person(browser, str(alone.client.make_url("/")), token("ana"))
    complained = complaints(page)
    await expect(page.get_by_role("navigation").get_by_role("link")).to_have_text(["Memories", "Activity", "Keys"])
    await page.get_by_role("link", name="diary").click()
    await page.locator(".memory").nth(1).wait_for()

    await page.get_by_role("searchbox").fill("what may I cook for dinner")
    await expect(page.locator(".results .memory > .words").first).to_have_text("I am vegetarian and avoid gluten")
    await page.get_by_role("searchbox").fill("")
    await page.locator(".days .memory").last.get_by_role("button", name="Correct").click()
    await page.get_by_label("What it should remember").fill("I am vegan")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator(".days .memory > .words").last).to_have_text("I am vegan")
    await page.locator(".days .memory").last.get_by_role("button", name="History").click()
    await expect(page.locator(".history li")).to_have_count(2)
    await page.locator(".days .memory").first.get_by_role("button", name="Forget").click()
    await expect(page.locator(".days .memory")).to_have_count(1)

    assert await remembered(alone, "diary") == ["I am vegan"]
    await page.get_by_role("link", name="Activity").click()
    await expect(page.locator(".rows li")).to_contain_text("One memory of diary")
    assert complained == []


async def test_i_make_and_revoke_a_key_without_a_platform(alone: Service, browser: Browser) -> None:
    _, page = await person(browser, str(alone.client.make_url("/")), token("ana"))
    await page.get_by_role("link", name="Keys").click()
    await page.get_by_role("button", name="Make a key…").click()
    await page.get_by_label("What it is for").fill("laptop")
    await page.get_by_label("Application", exact=True).fill("diary")
    await page.keyboard.press("Enter")
    headers = {"X-API-Key": await page.locator(".secret").inner_text()}

    assert (await alone.get("/api/v1/apps/memories/diary", uid=None, headers=headers))[0] == 200
    await page.get_by_role("button", name="Revoke…").click()
    await page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    await expect(page.get_by_text("You have no API keys.")).to_be_visible()
    assert (await alone.get("/api/v1/apps/memories/diary", uid=None, headers=headers))[0] == 401


async def test_on_their_own_machine_the_owner_need_not_sign_in(
    settings_environment: pytest.MonkeyPatch, tmp_path, browser: Browser
) -> None:
    settings_environment.setenv("AGENT_RUNTIMES_MEM0_BACKEND", "faiss")
    settings_environment.setenv("AGENT_RUNTIMES_MEM0_DIR", str(tmp_path / "local"))
    settings_environment.setenv("RUNTIME_TRUST_LOOPBACK", "1")
    service = await start_runtime(None)
    try:
        await learn(service, "diary", "Likes tea", uid="owner-1")
        page = await browser.new_page()
        await page.goto(str(service.client.make_url("/memories")))
        await page.get_by_role("link", name="diary").click()

        await expect(page.locator(".memory > .words")).to_have_text(["Likes tea"])
        # Keys are a signed-in person's.
        await page.get_by_role("link", name="Keys").click()
        await expect(page.get_by_role("alert")).to_contain_text("by a person who is signed in")
        await page.context.close()
    finally:
        await service.client.close()
