"""A person sees what is remembered of them, all of it, and nobody else's."""

from __future__ import annotations

import re

from playwright.async_api import expect

from tests.acceptance.conftest import Together
from tests.acceptance.page.conftest import Visit, complaints, learn, words
from tests.services import token


async def test_two_people_each_see_their_own_applications(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "diary", "Likes tea", "Reads on Mondays")
    await learn(together.runtime, "travel", "Window seat", timestamp="2026-03-03T10:00:00Z")
    await learn(together.runtime, "diary", "Bob likes coffee", uid="bob")

    ana, bob = await visit("ana"), await visit("bob")

    await expect(ana.locator(".lead")).to_have_text("2 applications remember 3 things about you.")
    names = ana.locator(".application .name")
    assert await names.all_inner_texts() == ["diary", "travel"]
    await expect(ana.locator(".application").nth(1)).to_contain_text("One memory")
    await expect(ana.locator(".application").nth(1)).to_contain_text("since 3 March 2026")
    await expect(bob.locator(".lead")).to_have_text("One application remembers one thing about you.")
    await bob.get_by_role("link", name="diary").click()
    await expect(bob.locator(".memory > .words")).to_have_text(["Bob likes coffee"])
    assert "Likes tea" not in await bob.content()


async def test_who_is_remembered_by_nobody_is_told_so(visit: Visit) -> None:
    page = await visit("carol")

    await expect(page.get_by_role("heading", name="Nothing is remembered of you")).to_be_visible()


async def test_memories_stand_newest_first_under_the_days_of_my_time_zone(together: Together, visit: Visit) -> None:
    # Late on the third in UTC is the fourth in Berlin, and still the third in New York.
    await learn(together.runtime, "diary", "Older", timestamp="2026-03-01T10:00:00Z")
    await learn(together.runtime, "diary", "Late", timestamp="2026-03-03T23:30:00Z")
    await learn(together.runtime, "diary", "Now", timestamp="2026-03-08T15:00:00Z")

    for zone, day, clock in (
        ("Europe/Berlin", "Wednesday 4 March 2026", "00:30"),
        ("America/New_York", "Tuesday 3 March 2026", "18:30"),
    ):
        page = await visit("ana", timezone_id=zone)
        await page.clock.set_fixed_time("2026-03-08T16:00:00Z")  # the same day in both
        await page.get_by_role("link", name="diary").click()
        await page.get_by_text("That is everything.").wait_for()
        assert await words(page) == ["Now", "Late", "Older"]
        days = [re.sub(",", "", day) for day in await page.locator(".day").all_inner_texts()]
        assert days[:2] == ["Today", day]
        await expect(page.locator(".memory", has_text="Late").locator("time").first).to_have_text(clock)


async def test_more_is_loaded_as_one_scrolls_and_nothing_twice(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "diary", *(f"Fact number {n}" for n in range(120)))
    page = await visit("ana", viewport={"width": 800, "height": 600})
    await page.get_by_role("link", name="diary").click()
    await page.locator(".memory").nth(49).wait_for()
    assert len(await words(page)) < 120

    while not await page.get_by_text("That is everything.").is_visible():
        await page.mouse.wheel(0, 4000)
        await page.wait_for_timeout(50)

    assert await words(page) == [f"Fact number {n}" for n in reversed(range(120))]


async def test_search_finds_as_i_type_in_one_application_and_in_all(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "diary", "Parks the car on level 2", "Likes tea")
    await learn(together.runtime, "travel", "Parking at the station is free")
    page = await visit("ana")

    await page.get_by_role("searchbox", name="Search everything").press_sequentially("par")
    await expect(page.locator(".results .faint").first).to_have_text("2 memories found")
    await expect(page.locator(".results")).to_contain_text("Remembered by travel")
    await page.get_by_role("searchbox").fill("")
    await expect(page.get_by_role("link", name="diary")).to_be_visible()
    await page.get_by_role("link", name="diary").click()
    # A part of a word finds what is on the page, before the word is whole.
    await page.get_by_role("searchbox").press_sequentially("leve")
    await expect(page.locator(".results .memory > .words")).to_have_text(["Parks the car on level 2"])
    await page.get_by_role("searchbox").fill("zebra")
    await expect(page.locator(".results .faint")).to_have_text("Nothing found for “zebra”.")


async def test_expired_corrected_and_shared_ones_are_marked(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "diary", "The gate code is 4471", expiration_date="2026-01-15")
    [tea] = await learn(together.runtime, "diary", "Likes tea")
    await learn(together.runtime, "travel", "Window seat")
    await together.platform.patch(f"/api/runtimes/v1/memories/{tea}", json={"memory": "Likes oolong"}, uid="ana")
    share = {"source": "app:travel", "reader": "app:diary"}
    await together.platform.put("/api/runtimes/v1/memory-shares", json=share, uid="ana")

    page = await visit("ana")
    await page.get_by_role("link", name="diary").click()

    await expect(page.locator(".head .lead")).to_have_text("One memory")
    await expect(page.locator(".memory", has_text="gate")).to_contain_text("Expired 15 January 2026")
    await expect(page.locator(".memory", has_text="oolong")).to_contain_text("Corrected by you, ")
    await page.get_by_text("diary may also use what travel remembers of you").click()
    await expect(page.locator(".shared .memory")).to_contain_text("Window seat")
    await expect(page.locator(".shared .memory")).to_contain_text("Remembered by travel")


async def test_the_words_of_a_memory_never_become_html(together: Together, visit: Visit) -> None:
    hostile = [
        "<img src=x onerror=\"document.title='broken'\">",
        "<script>document.title='broken'</script>",
        "'\"><svg onload=alert(1)>",
        "javascript:alert(1)",
        "\u202egnp.exe \u05e9\u05dc\u05d5\u05dd 🍵" + "x" * 400,
    ]
    await learn(together.runtime, "diary", *hostile)
    await learn(together.runtime, "<b>app<img>", "Strange name")
    page = await visit("ana", viewport={"width": 320, "height": 640})
    complained = complaints(page)
    await expect(page.locator(".application .name").first).to_have_text("<b>app<img>")
    await page.get_by_role("link", name="diary").click()
    await page.get_by_text("That is everything.").wait_for()

    assert await words(page) == list(reversed(hostile))
    assert await page.locator("main img, main script, main svg").count() == 0
    assert "broken" not in await page.title()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert complained == []


async def test_the_token_stands_in_no_address_and_no_script_reads_it(together: Together, visit: Visit) -> None:
    page = await visit("ana")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.reload()
    await page.locator(".frame").wait_for()

    signature = token("ana").rpartition(".")[0]
    assert not any(signature in url for url in [*asked, page.url])
    seen = await page.evaluate("document.cookie + JSON.stringify({...localStorage, ...sessionStorage})")
    assert signature not in seen
    assert signature not in await page.content()
    [kept] = await page.context.cookies()
    assert (kept["httpOnly"], kept["sameSite"]) == (True, "Strict")


async def test_signing_out_and_a_session_that_ends_lead_to_signing_in(together: Together, visit: Visit) -> None:
    page = await visit("ana")
    await page.context.clear_cookies()
    await page.get_by_role("link", name="Sharing").click()
    await expect(page.locator(".notice-line")).to_have_text("Your session has ended. Sign in again.")

    await page.get_by_label("Your token").fill(token("ana", secret="x" * 40))
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("alert")).to_have_text("This token is not valid.")
    await page.get_by_label("Your token").fill(token("ana"))
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("heading", name="Sharing", level=1)).to_be_focused()
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.locator(".notice-line")).to_have_text("You are signed out.")
    assert await page.context.cookies() == []
    await page.reload()
    await expect(page.get_by_role("button", name="Sign in")).to_be_visible()


async def test_a_service_that_is_away_is_said_and_tried_again(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "diary", "Likes tea")
    page = await visit("ana")
    await page.get_by_role("link", name="diary").wait_for()
    port = await together.stop_platform()
    await page.get_by_role("link", name="diary").click()
    await expect(page.get_by_role("alert").filter(has_text="The service was not reached")).to_be_visible()

    await together.start_platform(port)
    await page.get_by_role("button", name="Try again").click()

    await expect(page.locator(".memory > .words")).to_have_text(["Likes tea"])


async def test_it_speaks_german_when_the_browser_does_or_when_it_is_chosen(together: Together, visit: Visit) -> None:
    await learn(together.runtime, "diary", "Likes tea", timestamp="2026-03-03T10:00:00Z")
    german = await visit("ana", locale="de-AT")
    await expect(german.locator(".lead")).to_have_text("Eine Anwendung merkt sich eine Sache über Sie.")
    await expect(german.locator("html")).to_have_attribute("lang", "de")
    await expect(german.locator(".application")).to_contain_text("seit 3. März 2026")

    page = await visit("ana")
    await page.get_by_label("Language").select_option("de")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Was man sich über Sie merkt")
    await page.reload()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Was man sich über Sie merkt")
