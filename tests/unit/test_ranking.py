"""Ranking is pure: hand-made numbers in, an order and scores between 0 and 1 out."""

import math
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.candidates import Candidate, Candidates
from shared.periods import Period
from shared.ranking import bm25, rank
from shared.records import Memory


def memory(key, created_at="2026-01-01T00:00:00.000000+00:00"):
    return Memory(key, {"data": key, "created_at": created_at})


def candidate(key, cosine, terms=(), length=10, neighbours=(), **payload):
    return Candidate(memory(key, **payload), cosine, terms, length, neighbours)


def among(*found, frequencies=(), size=100, mean_length=10.0):
    return Candidates(found, size, frequencies, mean_length)


def order(ranked):
    return [one.memory.id for one in ranked]


def test_bm25_is_what_the_formula_gives_by_hand():
    # idf = ln(1 + (100 - 4 + .5) / (4 + .5)) = ln 22.444…; tf part = 2 * 2.2 / (2 + 1.2 * (1 - .4 + .4 * 20 / 10))
    by_hand = math.log(1 + 96.5 / 4.5) * 2 * 2.2 / (2 + 1.2 * 1.4)

    assert bm25([2], 20, frequencies=[4], size=100, mean_length=10.0) == pytest.approx(by_hand)
    assert by_hand == pytest.approx(3.7196, abs=1e-3)


def test_bm25_sums_over_words_and_an_absent_word_gives_nothing():
    one = bm25([1, 0], 10, frequencies=[1, 50], size=100, mean_length=10.0)
    both = bm25([1, 1], 10, frequencies=[1, 50], size=100, mean_length=10.0)

    assert one == bm25([1], 10, frequencies=[1], size=100, mean_length=10.0)
    assert both > one > 0


def test_bm25_of_statistics_that_lag_behind_is_never_negative():
    assert bm25([1], 10, frequencies=[7], size=3, mean_length=0.0) >= 0
    assert bm25([1], 0, frequencies=[0], size=0, mean_length=0.0) >= 0


def test_a_score_is_meaning_lifted_by_words():
    (one,) = rank(among(candidate("a", 0.6, [1]), frequencies=[1]), limit=10)
    words = math.log(1 + 99.5 / 1.5) * 2.2 / 2.2

    assert one.parts["semantic"] == pytest.approx(0.6)
    assert one.parts["keyword"] == pytest.approx(1 - math.exp(-words / 8))
    assert one.score == pytest.approx(1 - 0.4 * (1 - one.parts["keyword"]), abs=1e-6)


def test_a_score_does_not_depend_on_the_other_candidates():
    alone = rank(among(candidate("a", 0.4, [1]), frequencies=[3]), limit=1)
    beside = rank(among(candidate("a", 0.4, [1]), candidate("b", 0.9, [5]), frequencies=[3]), limit=2)

    assert alone[0].score == next(one.score for one in beside if one.memory.id == "a")


@pytest.mark.field("S14")
def test_a_rare_exact_word_beats_a_closer_meaning():
    ranked = rank(
        among(candidate("near", 0.45, [0]), candidate("exact", 0.1, [1]), frequencies=[1], size=2000), limit=1
    )

    assert order(ranked) == ["exact"]


def test_a_paraphrase_without_a_common_word_is_found_by_meaning():
    assert order(rank(among(candidate("a", 0.1), candidate("b", 0.5)), limit=1)) == ["b"]


def test_a_query_without_a_vector_is_ranked_by_words_alone():
    (one,) = rank(among(candidate("a", None, [1]), frequencies=[1]), limit=1)

    assert one.score == pytest.approx(one.parts["keyword"], abs=1e-6)
    assert one.score > 0


def test_a_word_and_its_stem_count_once():
    together = among(candidate("a", 0.0, [1, 1]), candidate("b", 0.0, [0, 1]), frequencies=[1, 2])
    ranked = {one.memory.id: one.score for one in rank(together, limit=2, groups=[0, 0])}
    apart = {one.memory.id: one.score for one in rank(together, limit=2)}

    assert ranked["a"] == ranked["b"]
    assert apart["a"] > apart["b"]


def test_ties_are_newest_first_then_by_id():
    same = [
        candidate("b", 0.5),
        candidate("a", 0.5),
        candidate("c", 0.5 + 1e-12, created_at="2025-01-01T00:00:00.000000+00:00"),
        candidate("d", 0.5, created_at="2026-06-01T00:00:00.000000+00:00"),
        candidate("e", 0.5, created_at=None),
    ]

    assert order(rank(among(*same), limit=9)) == ["d", "a", "b", "c", "e"]


def test_the_threshold_holds_for_the_score_and_is_inclusive():
    candidates = among(candidate("a", 0.8), candidate("b", 0.4))

    assert order(rank(candidates, limit=9, threshold=0.4)) == ["a", "b"]
    assert order(rank(candidates, limit=9, threshold=0.41)) == ["a"]
    assert order(rank(candidates, limit=9, threshold=0.0)) == ["a", "b"]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_of_nothing_gives_nothing(limit):
    assert rank(among(candidate("a", 0.8)), limit=limit) == []


def test_a_turn_beside_a_good_one_is_lifted_and_never_above_one():
    turns = [
        candidate("said", 0.8, neighbours=["answer"]),
        candidate("answer", 0.2, neighbours=["said", "elsewhere"]),
        candidate("alone", 0.3),
    ]
    ranked = rank(among(*turns), limit=3)
    answer = ranked[1]

    assert order(ranked) == ["said", "answer", "alone"]
    assert answer.parts["neighbour"] == pytest.approx(0.4 * 0.8 * (1 - 0.2))
    assert answer.score == pytest.approx(0.2 + answer.parts["neighbour"], abs=1e-6)


def test_a_turn_two_away_lifts_less():
    turns = [
        candidate("good", 0.8, neighbours=["near"]),
        candidate("near", 0.1, neighbours=["good", "far"]),
        candidate("far", 0.1, neighbours=["near"]),
    ]
    by_id = {one.memory.id: one for one in rank(among(*turns), limit=3)}

    assert by_id["near"].parts["neighbour"] == pytest.approx(0.4 * 0.8 * 0.9)
    assert by_id["far"].parts["neighbour"] == pytest.approx((0.4 * 0.1 + 0.3 * 0.8) * 0.9)


def test_a_turn_that_asks_counts_less_and_lifts_its_answer_more():
    asks = Candidate(Memory("asks", {"data": "Where do you work?"}), 0.5, (), 3, ["answer"])
    answer = Candidate(Memory("answer", {"data": "At the harbour."}), 0.45, (), 3, ["asks"])
    by_id = {one.memory.id: one for one in rank(among(asks, answer), limit=2)}

    assert by_id["asks"].score < by_id["answer"].score
    assert by_id["answer"].parts["neighbour"] == pytest.approx(0.4 * 0.5 * 0.9 * 1.4 * 0.55)


def test_a_question_that_is_no_turn_of_a_run_loses_nothing():
    (one,) = rank(among(Candidate(Memory("a", {"data": "Why not?"}), 0.5, (), 1)), limit=1)

    assert one.score == 0.5


def test_what_was_learned_in_the_named_period_is_preferred():
    then = candidate("then", 0.5, created_at="2023-06-15T08:00:00.000000+00:00")
    later = candidate("later", 0.55, created_at="2024-06-15T08:00:00.000000+00:00")
    june = Period(date(2023, 6, 1), date(2023, 6, 30))

    assert order(rank(among(then, later), limit=2)) == ["later", "then"]
    assert order(rank(among(then, later), limit=2, period=june)) == ["then", "later"]


def told(key, words, cosine, year, terms=()):
    return Candidate(
        Memory(key, {"data": words, "created_at": f"{year}-01-01T00:00:00.000000+00:00"}), cosine, terms, 5
    )


@pytest.mark.field("B94")
def test_of_two_memories_in_nearly_the_same_words_the_newer_comes_first():
    ranked = rank(
        among(told("old", "User works at A", 0.52, 2024), told("new", "User works at B", 0.47, 2026)), limit=2
    )

    assert order(ranked) == ["new", "old"]
    assert ranked[0].parts["newer"] == pytest.approx(0.05)


def test_a_newer_memory_with_another_number_does_not_pass_the_one_that_was_asked_for():
    ranked = rank(
        among(
            told("asked", "Order AB-1 was shipped", 0.5, 2024, [1, 1]),
            told("other", "Order AB-2 was shipped", 0.49, 2026, [0, 1]),
            frequencies=[1, 2],
        ),
        limit=2,
    )

    assert order(ranked) == ["asked", "other"]


def test_a_newer_memory_in_other_words_is_not_lifted():
    ranked = rank(
        among(told("near", "User is vegetarian", 0.5, 2024), told("far", "User owns a red bicycle", 0.45, 2026)),
        limit=2,
    )

    assert order(ranked) == ["near", "far"]


def test_opposite_meaning_scores_nothing_rather_than_less():
    assert rank(among(candidate("a", -0.7)), limit=1)[0].score == 0


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 9), st.integers(0, 40)), max_size=20),
    st.integers(0, 50),
    st.floats(0, 30),
)
def test_a_score_is_always_between_0_and_1(found, frequency, mean_length):
    candidates = among(
        *(
            candidate(f"{i:02}", cosine, [term], length, [f"{i + 1:02}"])
            for i, (cosine, term, length) in enumerate(found)
        ),
        frequencies=[frequency],
        size=len(found),
        mean_length=mean_length,
    )
    ranked = rank(candidates, limit=99)

    assert all(0 <= one.score <= 1 for one in ranked)
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)
