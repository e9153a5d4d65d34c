"""The right memory comes first, on both engines, with the real embedder and among many others."""

import random
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import numpy as np
import pytest

from runtime_svc.engine.embedder import MiniLM
from runtime_svc.recalling import Query, best, vector_of
from shared.context import block
from shared.db.collection import Collection
from shared.db.pool import Database
from shared.db.preparing import prepare
from shared.payloads import Details, new_payload
from shared.records import Add, By, Door
from shared.scope import Scope
from shared.stores.local.store import LocalStore
from shared.stores.pg.store import PostgresStore

ANA = Scope("ana", "app:notes")
BY = By("ana", Door.APPS)
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
COLLECTION = Collection("agent_memories")


@pytest.fixture(params=["local", "postgres"])
def opening(request):
    """What an engine needs is asked for outside of any event loop."""
    return request.getfixturevalue("tmp_path" if request.param == "local" else "database")


@pytest.fixture
async def store(opening):
    if not isinstance(opening, str):
        store = await LocalStore.open(opening / "store", dimensions=384)
        yield store
        await store.close()
        return
    await prepare(opening, COLLECTION, 384, with_ddl=True)
    database = Database(opening)
    await database.open()
    yield PostgresStore(database, COLLECTION)
    await database.close()


@pytest.fixture
async def minilm():
    model = await MiniLM.open()
    yield model
    await model.close()


async def remember(store, minilm, *words, learned_at=NOW, run_id=None):
    vectors = await minilm.embed([*words, ""])
    details = (Details(learned_at=learned_at + timedelta(seconds=i), run_id=run_id) for i in range(len(words)))
    adds = [
        Add(str(uuid4()), new_payload(text, detail, now=NOW), vector)
        for text, detail, vector in zip(words, details, vectors, strict=False)
    ]
    await store.commit(ANA, adds, BY)


async def fill(store, count):
    """Memories about all sorts of things, near nothing in particular."""
    dice = random.Random(7)
    numbers = np.random.default_rng(7)
    stems = [
        "order",
        "number",
        "ship",
        "tea",
        "walk",
        "paint",
        "house",
        "train",
        "code",
        "friend",
        "river",
        "AB",
        "1234",
    ]
    adds = []
    for n in range(count):
        words = f"Note {n}: {' '.join(dice.choices(stems, k=8))} {dice.randrange(10**6)}"
        vector = numbers.normal(size=384).astype(np.float32)
        adds.append(
            Add(str(uuid4()), new_payload(words, Details(learned_at=NOW), now=NOW), vector / np.linalg.norm(vector))
        )
    await store.commit(ANA, adds, BY)


async def found(store, minilm, text, **more):
    query = Query(text, **more)
    return await best(store, ANA, query, await vector_of(minilm, query))


async def first(store, minilm, text):
    return (await found(store, minilm, text))[0].memory.words


@pytest.mark.field("S14")
async def test_a_code_in_one_of_two_thousand_memories_comes_first(store, minilm):
    await fill(store, 2000)
    await remember(store, minilm, "Her order number is AB-1234/7", "The invoice is ORD_99812", "The guide is Nsimba")

    assert await first(store, minilm, "What happened to AB-1234/7?") == "Her order number is AB-1234/7"
    assert await first(store, minilm, "ord_99812") == "The invoice is ORD_99812"
    assert await first(store, minilm, "99812") == "The invoice is ORD_99812"
    assert await first(store, minilm, "who was Nsimba") == "The guide is Nsimba"


async def test_a_paraphrase_without_a_common_word_is_found_by_meaning(store, minilm):
    await fill(store, 200)
    await remember(store, minilm, "User is vegetarian and avoids gluten", "User drives an old car to the harbour")

    assert await first(store, minilm, "dietary preferences") == "User is vegetarian and avoids gluten"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("kde bydlí babička", "Babička bydlí v Olomouci"),
        ("kavu", "Ráno pije kávu bez cukru"),
        ("Welche Äpfel mag sie?", "Sie isst gerne saure Äpfel"),
        ("apfel", "Sie isst gerne saure Äpfel"),
        ("東京タワー", "昨日東京タワーに行きました"),
        ("猫", "私は猫が好きです"),
        ("القهوة", "أحب القهوة في الصباح"),
        ("собаку", "У него две собаки"),
    ],
)
async def test_a_memory_of_any_language_is_found_by_its_own_words(store, minilm, query, words):
    await fill(store, 50)
    await remember(
        store,
        minilm,
        "Babička bydlí v Olomouci",
        "Ráno pije kávu bez cukru",
        "Sie isst gerne saure Äpfel",
        "昨日東京タワーに行きました",
        "私は猫が好きです",
        "أحب القهوة في الصباح",
        "У него две собаки",
    )

    assert await first(store, minilm, query) == words


@pytest.mark.field("B79")
@pytest.mark.parametrize(
    "query",
    ["the", "to be or not to be", "'", "a:* | !b", "\\", "%_", "<->", "😀", "?!", "水", "x" * 8000, "ok " * 2000],
)
async def test_any_query_is_answered_sanely(store, minilm, query):
    await remember(store, minilm, "Likes tea", "Likes coffee")
    ranked = await found(store, minilm, query)

    assert len(ranked) == 2
    assert all(0 <= one.score <= 1 for one in ranked)


async def test_scores_mean_the_same_in_every_query(store, minilm):
    await fill(store, 100)
    await remember(store, minilm, "User is vegetarian and avoids gluten")
    same = await found(store, minilm, "User is vegetarian and avoids gluten")
    near = await found(store, minilm, "dietary preferences")
    nothing = await found(store, minilm, "quantum chromodynamics lattice")

    assert same[0].score > 0.95
    assert 0.95 > near[0].score > 0.2
    assert nothing[0].score < near[0].score
    assert await found(store, minilm, "dietary preferences", threshold=near[0].score + 0.001) == []


@pytest.mark.field("B94")
async def test_of_what_was_true_then_and_now_the_newer_comes_first_and_both_are_dated(store, minilm):
    await remember(store, minilm, "User works at Globex", learned_at=datetime(2024, 5, 1, 8, tzinfo=UTC))
    await remember(store, minilm, "User works at Initech", learned_at=datetime(2026, 5, 1, 8, tzinfo=UTC))
    await remember(store, minilm, "User plays the cello")
    ranked = await found(store, minilm, "where do I work?", limit=2)

    assert block([one.memory for one in ranked]).splitlines()[1:] == [
        "- User works at Initech (remembered: May 1, 2026 at 8:00 AM UTC)",
        "- User works at Globex (remembered: May 1, 2024 at 8:00 AM UTC)",
    ]


async def test_a_named_month_prefers_what_was_learned_then(store, minilm):
    await remember(store, minilm, "Went hiking with Tom", learned_at=datetime(2025, 3, 9, tzinfo=UTC))
    await remember(store, minilm, "Went hiking with Eva", learned_at=datetime(2025, 8, 9, tzinfo=UTC))

    assert await first(store, minilm, "Who was hiking with me in March 2025?") == "Went hiking with Tom"
    assert await first(store, minilm, "Who was hiking with me in August 2025?") == "Went hiking with Eva"


async def test_the_answer_beside_a_question_is_found_with_it(store, minilm):
    await fill(store, 100)
    await remember(
        store,
        minilm,
        "Ben: Hi there.",
        "Ben: Which city did you choose for the wedding?",
        "Ana: Lisbon, because of the light.",
        "Ben: Nice.",
        run_id="chat-1",
    )
    words = [one.memory.words for one in await found(store, minilm, "city of the wedding", limit=2)]

    assert words == ["Ben: Which city did you choose for the wedding?", "Ana: Lisbon, because of the light."]
