"""Keyword statistics of a scope: whatever was added in whichever batches, each lexeme is found where it stands."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from shared.stores.local.postings import Postings

TEXTS = st.lists(st.lists(st.sampled_from(["tea", "rain", "ø", "x1", "noun"]), max_size=8), max_size=7)


@given(batches=st.lists(TEXTS, max_size=9))
def test_a_lexeme_is_found_at_every_position_that_has_it_however_texts_came(batches):
    postings = Postings()
    for batch in batches:
        postings.extend(batch)
    texts = [text for batch in batches for text in batch]

    assert postings.lengths.tolist() == [len(set(text)) for text in texts]
    for term in ("tea", "rain", "ø", "x1", "noun", "never"):
        positions, times = postings.hits(term)
        found = dict(zip(positions.tolist(), times.tolist(), strict=True))
        assert found == {at: Counter(text)[term] for at, text in enumerate(texts) if term in text}
        assert positions.tolist() == sorted(positions.tolist())


def test_asking_for_a_lexeme_that_stands_nowhere_takes_no_memory():
    postings = Postings()
    postings.extend([["tea"]])
    before = postings.bytes
    for number in range(100):
        postings.hits(f"unknown{number}")

    assert postings.bytes == before


def test_a_thousand_single_writes_leave_a_few_runs():
    postings = Postings()
    for number in range(1000):
        postings.extend([["tea", f"n{number}"]])

    assert len(postings._runs) <= 12
    assert len(postings.hits("tea")[0]) == 1000
