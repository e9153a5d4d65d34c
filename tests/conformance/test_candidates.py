"""Search: exactly the best by meaning and by keyword of what may be seen, with the statistics that ranking needs."""

import random

import numpy as np
import pytest

from shared.candidates import Candidates
from shared.records import Delete, Patch
from shared.scope import Everything, Reach
from shared.stores.pg import search
from shared.stores.ports import MemoryStore
from shared.words import lexemes
from tests.conformance.build import (
    ANA,
    ANA_TRAVEL,
    BEN,
    BY,
    YESTERDAY,
    any_direction,
    direction,
    keep,
    memory,
)


@pytest.fixture(params=[search.FEW, -1], ids=["as it is", "looked through"], autouse=True)
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In PostgreSQL, small scopes are searched as they are, and once more as large ones are."""
    monkeypatch.setattr(search, "FEW", request.param)


def words_found(answer: Candidates) -> set[str]:
    return {candidate.memory.words for candidate in answer.found}


async def test_nothing_is_found_in_an_empty_scope(store: MemoryStore) -> None:
    answer = await store.candidates(ANA, vector=direction(1), lexemes=["tea", "rain"])

    assert list(answer.found) == []
    assert (answer.size, list(answer.frequencies)) == (0, [0, 0])


@pytest.mark.field("B1")
@pytest.mark.field("B35")
async def test_nobody_is_crowded_out_by_others(store: MemoryStore) -> None:
    await keep(store, ANA, *(memory(f"near {n}", vector=direction(1, 0.001 * n)) for n in range(300)))
    await keep(store, BEN, *(memory(f"far {n}", vector=direction(-1, 0.1 * n)) for n in range(5)))
    answer = await store.candidates(BEN, vector=direction(1), lexemes=[], limit=5)

    assert words_found(answer) == {f"far {n}" for n in range(5)}
    assert answer.size == 5


@pytest.mark.field("B37")
async def test_expired_ones_crowd_nobody_out(store: MemoryStore) -> None:
    await keep(store, ANA, *(memory(f"stale {n}", expiration_date=YESTERDAY) for n in range(61)))
    await keep(store, ANA, memory("live one", vector=direction(0, 1)), memory("live two", vector=direction(-1)))
    answer = await store.candidates(ANA, vector=direction(1), lexemes=["stale"], limit=2)

    assert words_found(answer) == {"live one", "live two"}
    assert (answer.size, list(answer.frequencies)) == (2, [0])
    shown = await store.candidates(ANA, vector=direction(1), lexemes=["stale"], limit=2, show_expired=True)
    assert shown.size == 63
    assert list(shown.frequencies) == [61]


async def test_the_nearest_are_found_exactly(store: MemoryStore) -> None:
    seed = random.Random(1)
    vectors = {f"m{n}": any_direction(seed) for n in range(250)}
    await keep(store, ANA, *(memory(words, vector=vector) for words, vector in vectors.items()))
    for _ in range(10):
        query = any_direction(seed)
        best = sorted(vectors, key=lambda words: -float(np.dot(vectors[words], query)))[:20]
        answer = await store.candidates(ANA, vector=query, lexemes=[], limit=20)

        assert words_found(answer) == set(best)
        for candidate in answer.found:
            assert candidate.cosine == pytest.approx(float(np.dot(vectors[candidate.memory.words], query)), abs=1e-5)


async def test_a_word_alone_finds_what_is_far_in_meaning(store: MemoryStore) -> None:
    await keep(store, ANA, *(memory(f"near {n}", vector=direction(1)) for n in range(30)))
    await keep(store, ANA, memory("order AB-1234", vector=direction(-1)))
    answer = await store.candidates(ANA, vector=direction(1), lexemes=lexemes("AB-1234"), limit=5)

    assert "order AB-1234" in words_found(answer)
    assert len(answer.found) == 6


async def test_without_a_vector_only_words_count(store: MemoryStore) -> None:
    await keep(store, ANA, memory("green tea"), memory("black coffee"))
    answer = await store.candidates(ANA, vector=None, lexemes=["tea"])

    assert words_found(answer) == {"green tea"}
    assert answer.found[0].cosine is None
    assert list((await store.candidates(ANA, vector=None, lexemes=[])).found) == []


async def test_statistics_are_of_what_was_looked_at(store: MemoryStore) -> None:
    texts = {"tea": "tea tea tea cup", "rain": "rain tea", "sun": "sun"}
    await keep(store, ANA, *(memory(w, payload={"text_lemmatized": text}) for w, text in texts.items()))
    await keep(store, ANA, memory("over", expiration_date=YESTERDAY, payload={"text_lemmatized": "tea sun"}))
    await keep(store, BEN, memory("other", payload={"text_lemmatized": "tea sun sun"}))
    answer = await store.candidates(ANA, vector=direction(1), lexemes=["tea", "sun", "snow"])
    by_words = {candidate.memory.words: candidate for candidate in answer.found}

    assert answer.size == 3
    assert list(answer.frequencies) == [2, 1, 0]
    assert answer.mean_length == pytest.approx((2 + 2 + 1) / 3)
    assert {words: (list(c.terms), c.length) for words, c in by_words.items()} == {
        "tea": ([3, 0, 0], 2),
        "rain": ([1, 0, 0], 2),
        "sun": ([0, 1, 0], 1),
    }


async def test_lexemes_of_our_own_words_count_the_same_on_both_engines(store: MemoryStore) -> None:
    texts = [
        "Ana's flights to São Paulo, twice: flights!",
        "東京に住んでいます",
        "über Straße 12.5 kg",
        "user@example.com v1.2",
    ]
    await keep(store, ANA, *(memory(text) for text in texts))
    for text in texts:
        wanted = sorted(set(lexemes(text)))
        answer = await store.candidates(ANA, vector=None, lexemes=wanted)
        (found,) = [candidate for candidate in answer.found if candidate.memory.words == text]

        assert list(found.terms) == [lexemes(text).count(lexeme) for lexeme in wanted]
        assert found.length == len(wanted)
        assert all(frequency >= 1 for frequency in answer.frequencies)


async def test_words_without_a_lexeme_have_no_length(store: MemoryStore) -> None:
    await keep(store, ANA, memory("?!", payload={"text_lemmatized": ""}), memory("tea"))
    answer = await store.candidates(ANA, vector=direction(1), lexemes=["tea"])

    assert {c.memory.words: c.length for c in answer.found} == {"?!": 0, "tea": 1}
    assert answer.mean_length == pytest.approx(0.5)


async def test_the_best_by_keyword_are_bounded_by_the_limit(store: MemoryStore) -> None:
    await keep(store, ANA, *(memory(f"tea number {n}") for n in range(40)))
    await keep(store, ANA, memory("rare tea zanzibar"))
    answer = await store.candidates(ANA, vector=None, lexemes=["tea", "zanzibar"], limit=7)

    assert len(answer.found) == 7
    assert "rare tea zanzibar" in words_found(answer)
    assert list(answer.frequencies) == [41, 1]


async def test_a_rare_word_weighs_more_than_a_common_one(store: MemoryStore) -> None:
    await keep(store, ANA, *(memory(f"m{n}", payload={"text_lemmatized": "common word"}) for n in range(30)))
    await keep(store, ANA, memory("rare", payload={"text_lemmatized": "unusual word"}))
    answer = await store.candidates(ANA, vector=None, lexemes=["common", "unusual"], limit=1)

    assert words_found(answer) == {"rare"}


async def test_everything_is_searched_as_one(store: MemoryStore) -> None:
    await keep(store, ANA, *(memory(f"note {n}", vector=direction(1, 0.1 * n)) for n in range(5)))
    await keep(store, ANA_TRAVEL, *(memory(f"trip {n}", vector=direction(1, 0.1 * n + 0.05)) for n in range(5)))
    await keep(store, BEN, memory("note other"))
    answer = await store.candidates(Everything("ana"), vector=direction(1), lexemes=["note"], limit=3)

    assert words_found(answer) >= {"note 0", "trip 0", "note 1"}
    assert answer.size == 10
    assert list(answer.frequencies) == [5]
    assert all(candidate.memory.person == "ana" for candidate in answer.found)


async def test_neighbours_are_what_was_learned_before_and_after_in_the_same_run(store: MemoryStore) -> None:
    ids = await keep(store, ANA, *(memory(f"turn {n}", minute=n, run_id="r1") for n in range(4)))
    await keep(store, ANA, memory("elsewhere", minute=1, run_id="r2"), memory("no run", minute=2))
    await keep(store, ANA, memory("over", minute=1, run_id="r1", expiration_date=YESTERDAY))
    answer = await store.candidates(ANA, vector=direction(1), lexemes=[])
    near = {candidate.memory.words: list(candidate.neighbours) for candidate in answer.found}

    assert near == {
        "turn 0": [ids[1]],
        "turn 1": [ids[0], ids[2]],
        "turn 2": [ids[1], ids[3]],
        "turn 3": [ids[2]],
        "elsewhere": [],
        "no run": [],
    }


async def test_what_a_write_changes_is_seen_by_the_next_search(store: MemoryStore) -> None:
    async def now(*wanted: str) -> set[str]:
        return words_found(await store.candidates(ANA, vector=None, lexemes=wanted))

    first, second = await keep(store, ANA, memory("green tea"), memory("black tea"))
    assert await now("tea") == {"green tea", "black tea"}
    await keep(store, ANA, memory("white tea"))
    assert await now("tea") == {"green tea", "black tea", "white tea"}
    await store.correct(ANA, first, Patch(words="green wine", lexemes="green wine"), BY)
    assert await now("tea") == {"black tea", "white tea"}
    assert await now("wine") == {"green wine"}
    await store.commit(ANA, [Delete(second)], BY)
    assert await now("tea") == {"white tea"}
    await store.correct(ANA, first, Patch(payload={"expiration_date": YESTERDAY}), BY)
    assert await now("wine") == set()


@pytest.mark.parametrize(
    "lexeme", ["", " ", "'", "a'b", "a & b", "!x", "(", ":*", "\\", "%", "*", "x" * 3000, "🧠", "\u202e"]
)
async def test_any_lexeme_is_only_text(store: MemoryStore, lexeme: str) -> None:
    await keep(store, ANA, memory("green tea"))
    answer = await store.candidates(ANA, vector=None, lexemes=[lexeme, "tea"])

    assert words_found(answer) == {"green tea"}
    assert list(answer.frequencies) == [0, 1]


async def test_a_lexeme_asked_twice_is_counted_twice(store: MemoryStore) -> None:
    await keep(store, ANA, memory("green tea"), memory("rain"))
    answer = await store.candidates(ANA, vector=None, lexemes=["tea", "rain", "tea"])

    assert list(answer.frequencies) == [1, 1, 1]
    assert {c.memory.words: list(c.terms) for c in answer.found} == {"green tea": [1, 0, 1], "rain": [0, 1, 0]}


@pytest.mark.parametrize("reach", [ANA, Everything("ana")], ids=str)
async def test_a_limit_of_zero_finds_nothing(store: MemoryStore, reach: Reach) -> None:
    await keep(store, ANA, memory("green tea"))
    answer = await store.candidates(reach, vector=direction(1), lexemes=["tea"], limit=0)

    assert list(answer.found) == []
