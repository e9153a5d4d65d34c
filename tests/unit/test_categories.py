"""Categories without an LLM, with the real embedder: sorted by what the descriptions say."""

import pytest

from runtime_svc.engine.embedder import MiniLM
from shared.categories import DEFAULT, MISC, Catalogue, catalogue, categories_of


@pytest.fixture
async def minilm():
    model = await MiniLM.open()
    yield model
    await model.close()


async def told(minilm, words, described=DEFAULT):
    known = await catalogue(minilm, described)
    [vector, _] = await minilm.embed([words, ""])
    return categories_of(vector, known)


@pytest.mark.parametrize(
    ("words", "category"),
    [
        ("User is vegetarian and avoids gluten", "food"),
        ("Works as a nurse at the county hospital", "professional_details"),
        ("Is allergic to penicillin", "health"),
        ("Favourite band is Radiohead", "music"),
        ("Has two daughters, Mia and Lena", "family"),
        ("Is flying to Japan in April", "travel"),
    ],
)
async def test_a_memory_is_sorted_by_its_meaning(minilm, words, category):
    assert category in await told(minilm, words)


async def test_custom_categories_are_told_by_their_descriptions(minilm):
    described = {"billing": "invoices, payments and refunds", "shipping": "delivery, parcels and tracking", "vip": ""}

    assert await told(minilm, "The card was charged twice in June", described) == ["billing"]
    assert await told(minilm, "The parcel is stuck at customs", described) == ["shipping"]


async def test_what_is_near_nothing_is_misc(minilm):
    assert await told(minilm, "Water boils at 100 degrees", {"billing": "invoices, payments and refunds"}) == [MISC]
    assert categories_of((await minilm.embed(["tea"]))[0], Catalogue(())) == [MISC]


async def test_at_most_two_categories_are_told_and_never_one_twice(minilm):
    for words in ("Went to a jazz concert with his wife", "", "Bakes bread", "?"):
        categories = await told(minilm, words)

        assert 1 <= len(categories) <= 2
        assert len(set(categories)) == len(categories)


@pytest.mark.parametrize("name", ["", "_", "\ud800", "x" * 5000, "餐", "a,b;c"])
async def test_any_name_and_description_can_be_a_category(minilm, name):
    assert len(await told(minilm, "tea", {name: "," * 5000 + name, "food": ""})) >= 1
