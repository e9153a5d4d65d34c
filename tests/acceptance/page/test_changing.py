"""A person corrects and forgets what is remembered of them, and can think again."""

from __future__ import annotations

from playwright.async_api import expect

from tests.acceptance.conftest import Together
from tests.acceptance.page.conftest import Visit, learn, remembered, stop_the_clock, words
from tests.waiting import until


async def test_i_correct_in_place_and_see_who_and_when(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "diary", "Likes tea")
    page = await visit("ana")
    await page.get_by_role("link", name="diary").click()
    await page.get_by_role("button", name="Correct").click()
    area = page.get_by_label("What it should remember")
    await expect(area).to_be_focused()

    await area.fill("   ")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert").filter(has_text="Write what")).to_be_visible()
    await area.fill("x" * 2001)
    await expect(page.locator(".room")).to_have_text("One character too many")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator(".correcting .trouble")).to_have_text(
        "A correction is at most 2000 characters, not 2001."
    )
    await area.fill("Likes oolong tea")
    await area.press("Control+Enter")

    await expect(page.locator(".memory > .words")).to_have_text(["Likes oolong tea"])
    await expect(page.locator(".memory .facts").first).to_contain_text("Corrected by you, ")
    await expect(page.get_by_role("button", name="Correct")).to_be_focused()
    assert await remembered(together.runtime, "diary") == ["Likes oolong tea"]
    await page.get_by_role("button", name="History").click()
    await expect(page.locator(".history li")).to_have_count(2)
    await expect(page.locator(".history li").first.locator("del")).to_have_text("Likes tea")
    await expect(page.locator(".history li").last).to_contain_text("Learned")


async def test_escape_leaves_it_as_it_was(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "diary", "Likes tea")
    page = await visit("ana")
    await page.get_by_role("link", name="diary").click()
    await page.get_by_role("button", name="Correct").click()
    await page.keyboard.type(" not")
    await page.keyboard.press("Escape")

    await expect(page.locator(".memory > .words")).to_have_text(["Likes tea"])
    await expect(page.get_by_role("button", name="Correct")).to_be_focused()


async def test_i_forget_one_after_five_seconds_in_which_i_can_undo_it(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "diary", "Likes tea", "Reads on Mondays")
    page = await visit("ana")
    await page.get_by_role("link", name="diary").click()
    monday = page.locator(".memory").first
    await monday.wait_for()
    await stop_the_clock(page)
    await monday.get_by_role("button", name="Forget").click()
    await expect(monday.get_by_role("button", name="Undo")).to_be_focused()
    await page.clock.run_for(4999)
    await page.keyboard.press("Enter")
    await expect(monday.get_by_role("button", name="Forget")).to_be_focused()
    await page.clock.run_for(10_000)
    await expect(page.locator(".memory")).to_have_count(2)
    assert await remembered(together.runtime, "diary") == ["Reads on Mondays", "Likes tea"]

    await monday.get_by_role("button", name="Forget").click()
    await page.clock.run_for(4999)
    await expect(page.locator(".memory")).to_have_count(2)
    assert await remembered(together.runtime, "diary") == ["Reads on Mondays", "Likes tea"]
    await page.clock.run_for(1)
    await expect(page.locator(".memory")).to_have_count(1)

    assert await remembered(together.runtime, "diary") == ["Likes tea"]
    await expect(page.locator(".head .lead")).to_have_text("One memory")
    await expect(page.get_by_role("button", name="Correct")).to_be_focused()


async def test_going_elsewhere_on_the_page_neither_forgets_sooner_nor_never(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "diary", "Likes tea")
    page = await visit("ana")
    await page.get_by_role("link", name="diary").click()
    await page.locator(".memory").wait_for()
    await stop_the_clock(page)
    await page.get_by_role("button", name="Forget", exact=True).click()
    await page.get_by_role("link", name="All applications").click()
    await page.get_by_role("link", name="diary").wait_for()
    await page.clock.run_for(4999)
    assert await remembered(together.runtime, "diary") == ["Likes tea"]
    await page.get_by_role("link", name="diary").click()
    await expect(page.get_by_role("button", name="Undo")).to_be_visible()

    await page.clock.run_for(1)
    await expect(page.get_by_text("This application remembers nothing of you.")).to_be_visible()

    assert await remembered(together.runtime, "diary") == []


async def test_leaving_the_page_sends_what_i_meant(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "diary", "Likes tea")
    page = await visit("ana")
    await page.get_by_role("link", name="diary").click()
    await page.locator(".memory").wait_for()
    await stop_the_clock(page)  # what is sent is sent because one left
    await page.get_by_role("button", name="Forget", exact=True).click()

    await page.goto("about:blank")

    async def forgotten() -> bool:
        return await remembered(together.runtime, "diary") == []

    await until(forgotten)


async def test_i_forget_all_with_the_count_typed_back_and_am_told_when_it_grew(
    together: Together, visit: Visit
) -> None:
    await learn(together.runtime, "diary", "Likes tea", "Reads on Mondays")
    await learn(together.runtime, "travel", "Window seat")
    page = await visit("ana")
    await page.get_by_role("link", name="diary").click()
    await page.get_by_role("button", name="Forget everything…").click()
    dialog = page.get_by_role("dialog", name="Forget everything that diary remembers?")
    act = dialog.get_by_role("button", name="Forget everything")
    await expect(act).to_be_disabled()
    await dialog.get_by_label("Type 2 to confirm").fill("3")
    await expect(act).to_be_disabled()
    await dialog.get_by_label("Type 2 to confirm").fill("2")

    await learn(together.runtime, "diary", "Came meanwhile")
    await act.click()
    await expect(dialog.get_by_role("alert")).to_contain_text("It now remembers 3.")
    assert len(await remembered(together.runtime, "diary")) == 3
    await expect(act).to_be_disabled()
    await dialog.get_by_label("Type 3 to confirm").fill("3")
    await act.click()

    await expect(page.get_by_text("3 memories were forgotten.")).to_be_visible()
    await expect(page.locator(".application .name")).to_have_text(["travel"])
    assert await remembered(together.runtime, "diary") == []
    await page.get_by_role("link", name="Activity").click()
    await expect(page.locator(".rows li").first).to_contain_text("3 memories of diary")
    await expect(page.locator(".rows li").first).to_contain_text("by you")


async def test_one_forgotten_elsewhere_is_said_and_nothing_is_made_up(together: Together, visit: Visit) -> None:
    [tea] = await learn(together.runtime, "diary", "Likes tea")
    page = await visit("ana")
    await page.get_by_role("link", name="diary").click()
    await page.get_by_role("button", name="Correct").click()
    await together.platform.delete(f"/api/runtimes/v1/memories/{tea}", uid="ana")
    await page.keyboard.type(" a lot")
    await page.get_by_role("button", name="Save").click()

    await expect(page.get_by_role("alert").filter(has_text="Nothing is remembered by that id.")).to_be_visible()
    assert await words(page) == []


async def test_what_i_do_with_a_search_result_is_done_in_the_list_beneath_it(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "diary", "Likes tea", "Reads on Mondays", "Tea at five")
    page = await visit("ana")
    await page.get_by_role("link", name="diary").click()
    await page.get_by_role("searchbox").fill("tea")
    results = page.locator(".results .memory")
    await expect(results).to_have_count(2)
    await results.filter(has_text="Likes").get_by_role("button", name="Correct").click()
    await page.get_by_label("What it should remember").fill("Likes green tea")
    await page.get_by_role("button", name="Save").click()
    await expect(results.filter(has_text="Likes green tea")).to_be_visible()
    await results.filter(has_text="five").get_by_role("button", name="Forget").click()
    await expect(results).to_have_count(1)

    await page.get_by_role("searchbox").fill("")

    await expect(page.locator(".days .memory > .words")).to_have_text(["Reads on Mondays", "Likes green tea"])
    assert await remembered(together.runtime, "diary") == ["Reads on Mondays", "Likes green tea"]


async def test_a_question_says_that_the_service_is_away_and_closes_with_its_view(
    together: Together, visit: Visit
) -> None:
    await learn(together.runtime, "diary", "Likes tea")
    page = await visit("ana")
    await page.get_by_role("link", name="diary").click()
    await page.get_by_text("That is everything.").wait_for()
    await page.get_by_role("button", name="Forget everything…").click()
    await page.get_by_role("dialog").wait_for()
    await page.go_back()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.get_by_role("link", name="diary").click()
    await page.get_by_text("That is everything.").wait_for()
    port = await together.stop_platform()

    await page.get_by_role("button", name="Forget everything…").click()
    await expect(page.locator(".notice")).to_contain_text("The service was not reached")
    await together.start_platform(port)
    assert await remembered(together.runtime, "diary") == ["Likes tea"]
