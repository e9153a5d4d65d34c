"""The period that a question names: a day, a month, a year, a span before today."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.periods import Period, named

TODAY = date(2026, 11, 30)


def between(first, last, *, yearly=False):
    return Period(date.fromisoformat(first), date.fromisoformat(last), yearly)


@pytest.mark.parametrize(
    ("question", "period"),
    [
        ("What did Ana do on 8 May 2023?", between("2023-05-08", "2023-05-08")),
        ("What happened on May 8th, 2023?", between("2023-05-08", "2023-05-08")),
        ("on the 8th of May 2023", between("2023-05-08", "2023-05-08")),
        ("2023-05-08", between("2023-05-08", "2023-05-08")),
        ("am 8. 5. 2023", between("2023-05-08", "2023-05-08")),
        ("in February 2024", between("2024-02-01", "2024-02-29")),
        ("in 2024-02", between("2024-02-01", "2024-02-29")),
        ("Which books in July?", between("2000-07-01", "2000-07-31", yearly=True)),
        ("Was war im März 2025?", between("2025-03-01", "2025-03-31")),
        ("Co bylo v listopadu 2025?", between("2025-11-01", "2025-11-30")),
        ("plans for 2022", between("2022-01-01", "2022-12-31")),
        ("What did I say yesterday?", between("2026-11-29", "2026-11-29")),
        ("what did I ask today", between("2026-11-30", "2026-11-30")),
        ("two trips 3 days ago", between("2026-11-27", "2026-11-27")),
        ("this week", between("2026-11-23", "2026-11-30")),
    ],
)
def test_a_named_period_is_read(question, period):
    assert named(question, TODAY) == period


@pytest.mark.parametrize(
    "question",
    [
        "",
        "what may she like",
        "May I ask",
        "march on",
        "room 1234",
        "32.13.20231",
        "second thoughts",
        "\ud800",
        "9999 years ago",
        "im aprıl or ſeptember",
        "im aprıl, may be",
    ],
)
def test_a_question_that_names_no_period_has_none(question):
    assert named(question, TODAY) is None


def test_a_day_that_is_none_leaves_the_year():
    assert named("on 31 February 2023 or so", TODAY) == between("2023-01-01", "2023-12-31")


def test_nearness_falls_over_ten_days():
    june = between("2023-06-01", "2023-06-30")

    assert june.nearness(date(2023, 6, 15)) == june.nearness(date(2023, 6, 30)) == 1
    assert june.nearness(date(2023, 7, 5)) == pytest.approx(0.5)
    assert june.nearness(date(2023, 8, 1)) == june.nearness(date(2022, 6, 15)) == 0


def test_a_month_without_a_year_is_near_in_any_year_and_across_new_year():
    december = between("2000-12-01", "2000-12-31", yearly=True)

    assert december.nearness(date(1999, 12, 24)) == december.nearness(date(2026, 12, 1)) == 1
    assert december.nearness(date(2026, 1, 5)) == pytest.approx(0.5)
    assert december.nearness(date(1, 1, 1)) <= 1
    assert december.nearness(date(9999, 12, 31)) == 1


@given(st.text(), st.dates(), st.dates())
def test_any_question_is_safe(text, today, day):
    period = named(text, today)

    assert period is None or 0 <= period.nearness(day) <= 1


@given(
    st.sampled_from(["{} days ago", "{} years ago", "{}-02-30", "30 February {}", "9.9.{}", "last year", "{}"]),
    st.integers(0, 9999),
    st.dates(),
)
def test_any_number_in_a_question_is_safe(text, number, today):
    period = named(text.format(number), today)

    assert period is None or period.first <= period.last
