"""A person shares between applications, keeps copies, and sees who looked."""

from __future__ import annotations

import json

from playwright.async_api import expect

from tests.acceptance.conftest import Together
from tests.acceptance.page.conftest import Visit, learn, remembered
from tests.services import token

SHARES = "/api/runtimes/v1/memory-shares"


async def test_i_allow_and_stop_with_the_keyboard_and_the_runtime_follows(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "travel", "Window seat, never the last row")
    await learn(together.runtime, "desk", "Parks on level 2")
    page = await visit("ana")
    await page.get_by_role("link", name="Sharing").click()
    box = page.get_by_role("checkbox", name="desk may use what travel remembers of you.")
    await expect(page.get_by_role("checkbox")).to_have_count(2)
    await expect(box).not_to_be_checked()

    async def found() -> list[str]:
        path = "/api/v1/apps/memories/desk/search"
        _, said = await together.runtime.post(path, json={"query": "which seat"}, uid="ana")
        return [m["memory"] for m in said["memories"] if m.get("remembered_by") == "app:travel"]

    await box.focus()
    await page.keyboard.press("Space")
    await expect(page.locator(".sentences")).to_contain_text("desk may use what travel remembers of you.")
    await expect(box).to_be_focused()
    assert await found() == ["Window seat, never the last row"]
    assert (await together.platform.get(SHARES, uid="bob"))[1]["shares"] == []
    await page.keyboard.press("Space")
    await expect(page.get_by_text("Nothing is shared.")).to_be_visible()

    assert await found() == []
    await page.reload()
    await expect(box).not_to_be_checked()


async def test_an_application_that_remembers_nothing_yet_may_be_allowed(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "travel", "Window seat")
    page = await visit("ana")
    await page.get_by_role("link", name="Sharing").click()
    await page.get_by_text("Add an application that remembers nothing yet").click()
    await page.get_by_label("Application", exact=True).fill("desk")
    await page.keyboard.press("Enter")
    await page.get_by_role("checkbox", name="desk may use what travel remembers of you.").check()

    await expect(page.locator(".sentences")).to_contain_text("desk may use what travel")
    [share] = (await together.platform.get(SHARES, uid="ana"))[1]["shares"]
    assert (share["source"], share["reader"]) == ("app:travel", "app:desk")


async def test_i_save_see_what_restoring_changes_restore_take_home_and_delete(together: Together, visit: Visit) -> None:
    tea, monday = await learn(together.runtime, "diary", "Likes tea", "Reads on Mondays")
    page = await visit("ana")
    await page.get_by_role("link", name="Snapshots").click()
    await expect(page.get_by_text("There is no snapshot yet.")).to_be_visible()
    await page.get_by_role("button", name="Save a snapshot").click()
    await expect(page.locator(".rows li")).to_contain_text("2 memories")
    await together.platform.delete(f"/api/runtimes/v1/memories/{tea}", uid="ana")
    path = f"/api/runtimes/v1/memories/{monday}"
    await together.platform.patch(path, json={"memory": "Reads on Fridays"}, uid="ana")
    await learn(together.runtime, "diary", "Learned since")

    await page.get_by_role("button", name="Restore…").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.locator(".change.plus")).to_have_text("One memory comes backLikes tea diary")
    await expect(dialog.locator(".change.minus")).to_contain_text("Learned since")
    await expect(dialog.locator(".change.equal")).to_contain_text("Reads on Mondays")
    await page.keyboard.press("Escape")
    assert await remembered(together.runtime, "diary") == ["Learned since", "Reads on Fridays"]
    await page.get_by_role("button", name="Restore…").click()
    await dialog.get_by_role("button", name="Restore").click()
    await expect(page.get_by_text("Restored.")).to_be_visible()
    assert await remembered(together.runtime, "diary") == ["Reads on Mondays", "Likes tea"]
    await page.get_by_role("button", name="Restore…").click()
    await expect(dialog.get_by_text("Nothing changes.")).to_be_visible()
    await dialog.get_by_role("button", name="Cancel").click()

    async with page.expect_download() as downloading:
        await page.get_by_role("button", name="Download", exact=True).click()
    download = await downloading.value
    assert download.suggested_filename.startswith("memory-")
    assert "Likes tea" in json.dumps(json.loads((await download.path()).read_text("utf-8")))
    await page.get_by_role("button", name="Delete…").click()
    await dialog.get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("There is no snapshot yet.")).to_be_visible()
    await expect(page.get_by_role("heading", name="Snapshots", level=1)).to_be_focused()
    assert await remembered(together.runtime, "diary") == ["Reads on Mondays", "Likes tea"]
    async with page.expect_file_chooser() as choosing:
        await page.get_by_role("button", name="Take in a downloaded one…").click()
    await (await choosing.value).set_files(await download.path())
    await expect(page.locator(".rows li")).to_contain_text("2 memories")


async def test_what_i_forgot_stays_forgotten_when_i_say_so(together: Together, visit: Visit) -> None:
    tea, _ = await learn(together.runtime, "diary", "Likes tea", "Reads on Mondays")
    page = await visit("ana")
    await page.get_by_role("link", name="Snapshots").click()
    await page.get_by_role("button", name="Save a snapshot").click()
    await page.locator(".rows li").wait_for()
    await together.platform.delete(f"/api/runtimes/v1/memories/{tea}", uid="ana")
    await page.get_by_role("button", name="Restore…").click()
    await page.get_by_label("Leave forgotten what I forgot since then").check()
    await page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    await expect(page.get_by_text("Restored.")).to_be_visible()

    assert await remembered(together.runtime, "diary") == ["Reads on Mondays"]
    await page.get_by_role("link", name="Activity").click()
    await expect(page.locator(".rows li", has_text="of diary")).to_contain_text(
        "One snapshot still holds something of it."
    )


async def test_i_see_who_looked_in_my_name(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "diary", "Likes tea")
    page = await visit("ana")
    await page.get_by_role("link", name="Activity").click()
    await expect(page.get_by_text("Nobody else looked.")).to_be_visible()
    admin = {"Authorization": f"Bearer {token('root', roles=['platform_admin'])}"}
    path = "/api/runtimes/v1/memories"
    status, _ = await together.platform.get(path, params={"user_id": "ana"}, uid=None, headers=admin)
    assert status == 200

    await page.reload()

    await expect(page.locator(".rows li")).to_contain_text("root")
    await expect(page.locator(".rows li")).to_contain_text("listed")
