"""The filter language of the Mem0 dialect: what it takes, what it refuses, and what each form means."""

from __future__ import annotations

from typing import Any

import pytest

from shared.errors import BadValue
from shared.filter_grammar import DEEPEST, MOST_CONDITIONS, parse
from shared.filter_matching import matches
from shared.filter_values import LONGEST_LIST, LONGEST_TEXT
from shared.filters import Filter, Named, every

ID = "7d4e1f6a-0000-4000-8000-000000000001"
ROW = {
    "data": "Anna likes Straße tea",
    "user_id": "ana",
    "agent_id": "app:shop",
    "run_id": "r1",
    "created_at": "2026-03-05T12:00:00.000000+00:00",
    "updated_at": "2026-03-06T23:30:00-02:00",
    "expiration_date": "2026-12-31",
    "categories": ["food", "health"],
    "colour": "red",
    "rank": 1,
    "archived": True,
    "tags": ["alpha", 7],
}
AGENTS = {**ROW, "inner_agent": "bot"}


def found(raw: Any, row: dict[str, Any] = ROW) -> bool:
    return matches(parse(raw), row, ID)


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        ({"user_id": "ana"}, True),
        ({"user_id": "victim"}, False),
        ({"user_id": {"eq": "ana"}}, True),
        ({"user_id": {"ne": "ana"}}, False),
        ({"user_id": {"in": ["bob", "ana"]}}, True),
        ({"user_id": ["bob", "ana"]}, True),
        ({"user_id": {"in": []}}, False),
        ({"user_id": "*"}, True),
        ({"user_id": {"*": True}}, True),
        ({"agent_id": "*"}, False),
        ({"agent_id": {"ne": "bot"}}, True),
        ({"app_id": "shop"}, True),
        ({"app_id": {"in": ["shop", "home"]}}, True),
        ({"run_id": "r1"}, True),
        ({"run_id": "r"}, False),
        ({"created_at": {"gte": "2026-03-05", "lt": "2026-03-06"}}, True),
        ({"created_at": "2026-03-05"}, True),
        ({"created_at": {"eq": "2026-03-05T13:00:00+01:00"}}, True),
        ({"created_at": {"eq": "2026-03-05T12:00:00"}}, True),
        ({"created_at": {"lte": "2026-03-05"}}, True),
        ({"created_at": {"gt": "2026-03-05"}}, False),
        ({"created_at": {"gt": "2026-03-04"}}, True),
        ({"created_at": {"ne": "2026-03-05"}}, False),
        ({"created_at": {"lte": "9999-12-31"}}, True),
        ({"created_at": {"gt": "9999-12-31"}}, False),
        ({"timestamp": {"gte": 1_772_712_000, "lte": 1_772_712_000.0}}, True),
        ({"updated_at": {"gte": "2026-03-07T01:30:00Z"}}, True),
        ({"updated_at": {"gte": "2026-03-07T01:30:00.000001Z"}}, False),
        ({"expiration_date": {"lte": "2026-12-31"}}, True),
        ({"expiration_date": {"lt": "2026-12-31T23:00:00Z"}}, False),
        ({"categories": {"contains": "foo"}}, True),
        ({"categories": {"contains": "Food"}}, False),
        ({"categories": {"icontains": "Food"}}, True),
        ({"categories": {"in": ["travel", "health"]}}, True),
        ({"categories": "food"}, True),
        ({"categories": {"ne": "food"}}, False),
        ({"metadata": {"colour": "red"}}, True),
        ({"metadata": {"colour": "red", "rank": 2}}, False),
        ({"metadata": {"colour": {"ne": "red"}}}, False),
        ({"metadata": {"missing": {"ne": "red"}}}, True),
        ({"metadata": {"colour": {"contains": "ed"}}}, True),
        ({"metadata": {"contains": {"colour": "ed"}}}, True),
        ({"metadata": {"ne": {"colour": "red", "rank": 2}}}, True),
        ({"metadata": {"tags": {"contains": 7}}}, True),
        ({"metadata": {"tags": {"contains": "7"}}}, False),
        ({"metadata": {"colour": "*"}}, True),
        ({"metadata": {"missing": "*"}}, False),
        ({"metadata": {"user_id": "ana"}}, False),
        ({"keywords": {"contains": "likes"}}, True),
        ({"keywords": {"contains": "LIKES"}}, False),
        ({"keywords": {"icontains": "STRAßE"}}, True),
        ({"keywords": "tea"}, True),
        ({"memory_ids": [ID.upper(), "no-uuid"]}, True),
        ({"memory_ids": {"in": ["mem_01JF8ZS4Y0R0SPM13R5R6H32CJ"]}}, False),
        ({"AND": [{"user_id": "ana"}, {"categories": {"contains": "food"}}]}, True),
        ({"OR": [{"user_id": "bob"}, {"run_id": "r1"}]}, True),
        ({"NOT": {"run_id": "r1"}}, False),
        ({"NOT": [{"run_id": "r2"}, {"run_id": "r1"}]}, False),
        ({"NOT": [{"run_id": "r2"}, {"run_id": "r3"}]}, True),
        ({"OR": [{"user_id": "ana"}], "AND": [{"run_id": "r2"}]}, False),
        ({"user_id": "ana", "run_id": "r2"}, False),
        ({"userId": "ana", "runId": "r1", "createdAt": {"gte": "2026-01-01"}}, True),
    ],
)
def test_each_documented_form_means_what_the_contract_says(raw: Any, wanted: Any) -> None:
    assert found(raw) is wanted


@pytest.mark.parametrize("raw", [None, {}])
def test_no_filter_is_no_condition(raw: Any) -> None:
    assert parse(raw) is None

    assert matches(None, ROW, ID)


@pytest.mark.parametrize(
    "raw",
    [
        [],
        "{'user_id': 'alice'}",
        7,
        {"AND": []},
        {"OR": []},
        {"NOT": []},
        {"AND": {"user_id": "a"}},
        {"AND": [{}]},
        {"NOT": {}},
        {"NOT": "x"},
        {"AND": ["user_id"]},
        {"made_up_key": "x"},
        {"and": [{"user_id": "a"}]},
        {"user_id": None},
        {"user_id": 5},
        {"user_id": True},
        {"user_id": ""},
        {"user_id": {}},
        {"user_id": {"in": "a" * (LONGEST_TEXT + 1)}},
        {"user_id": {"in": {"a": 1}}},
        {"user_id": {"in": [None]}},
        {"user_id": {"gt": "a"}},
        {"user_id": {"nin": ["a"]}},
        {"user_id": {"!=": "a"}},
        {"user_id": ["a"] * (LONGEST_LIST + 1)},
        {"app_id": "app:shop"},
        {"created_at": {">=": "2026-01-01"}},
        {"created_at": {"contains": "2026"}},
        {"created_at": "yesterday"},
        {"created_at": "2026-02-30"},
        {"created_at": True},
        {"created_at": float("nan")},
        {"created_at": 10**30},
        {"created_at": {"gte": None}},
        {"metadata": "x"},
        {"metadata": {}},
        {"metadata": {"a": {}}},
        {"metadata": {"a": {"in": [1]}}},
        {"metadata": {"a": {"gt": 1}}},
        {"metadata": {"gt": {"a": 1}}},
        {"metadata": {"a": {"nested": "x"}}},
        {"metadata": {"a": None}},
        {"metadata": {"a": [1]}},
        {"metadata": {"a": 2**54}},
        {"metadata": {"a": float("inf")}},
        {"metadata": {"": "x"}},
        {"keywords": {"eq": "tea"}},
        {"keywords": {"contains": ""}},
        {"memory_ids": {"ne": ID}},
        {"memory_ids": {"in": 5}},
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(raw: Any) -> None:
    with pytest.raises(BadValue) as refused:
        parse(raw)

    assert refused.value.sentence.endswith(".")


@pytest.mark.field("B77")
@pytest.mark.field("B79")
@pytest.mark.parametrize("hostile", ["a\x00b", "a\ud800b", "\udfff"])
@pytest.mark.parametrize(
    "shape",
    [
        lambda text: {"user_id": text},
        lambda text: {"user_id": {"in": [text]}},
        lambda text: {"metadata": {text: 1}},
        lambda text: {"metadata": {"a": text}},
        lambda text: {"keywords": {"icontains": text}},
        lambda text: {"memory_ids": [text]},
        lambda text: {"created_at": text},
    ],
)
def test_a_nul_or_a_lone_surrogate_is_refused_wherever_it_stands(hostile: str, shape: Any) -> None:
    with pytest.raises(BadValue) as refused:
        parse(shape(hostile))

    assert hostile not in refused.value.sentence


def test_a_refusal_never_quotes_what_was_compared() -> None:
    for raw in (
        {"created_at": "my secret"},
        {"secret": 1},
        {"user_id": {"secret": 1}},
        {"metadata": {"a": ["secret"]}},
    ):
        with pytest.raises(BadValue) as refused:
            parse(raw)

        assert "secret" not in refused.value.sentence


def test_depth_and_size_are_bounded() -> None:
    deep: Any = {"run_id": "r1"}
    for _ in range(DEEPEST - 1):
        deep = {"NOT": deep}
    assert parse(deep) is not None
    for too_much in (
        {"NOT": deep},
        {"OR": [{"run_id": "r1"}] * (MOST_CONDITIONS + 1)},
        {"created_at": {"in": ["2026-01-01"] * (MOST_CONDITIONS + 1)}},
        {"metadata": {f"k{i}": 1 for i in range(MOST_CONDITIONS + 1)}},
    ):
        with pytest.raises(BadValue):
            parse(too_much)


def test_nesting_past_the_limit_is_refused_without_being_followed() -> None:
    deep: Any = {"run_id": "r1"}
    for _ in range(100_000):
        deep = {"NOT": deep}

    with pytest.raises(BadValue):
        parse(deep)


def test_a_user_and_an_agent_together_are_nobody_and_either_is_both() -> None:
    both = [{"user_id": "ana"}, {"agent_id": "bot"}]

    assert [found({"AND": both}, row) for row in (ROW, AGENTS)] == [False, False]
    assert [found({"OR": both}, row) for row in (ROW, AGENTS)] == [True, True]
    assert [found({"user_id": "*"}, row) for row in (ROW, AGENTS)] == [True, False]
    assert [found({"agent_id": "*"}, row) for row in (ROW, AGENTS)] == [False, True]
    assert [found({"app_id": "shop"}, row) for row in (ROW, AGENTS)] == [True, True]


@pytest.mark.field("B28")
@pytest.mark.field("S5")
def test_not_equal_holds_for_what_lacks_the_key() -> None:
    rows = {"red": {"colour": "red"}, "blue": {"colour": "blue"}, "none": {}}
    for raw in ({"metadata": {"colour": {"ne": "red"}}}, {"NOT": {"metadata": {"colour": "red"}}}):
        assert [name for name, row in rows.items() if found(raw, row)] == ["blue", "none"]


@pytest.mark.field("B31")
@pytest.mark.field("S4")
def test_values_of_another_type_are_never_equal() -> None:
    assert found({"metadata": {"rank": 1}})
    assert found({"metadata": {"rank": 1.0}})
    assert not found({"metadata": {"rank": "1"}})
    assert not found({"metadata": {"rank": True}})
    assert found({"metadata": {"archived": True}})
    assert not found({"metadata": {"archived": 1}})
    assert not found({"metadata": {"archived": {"ne": True}}})
    assert found({"metadata": {"archived": {"ne": False}}})


@pytest.mark.field("B22")
def test_two_conditions_on_one_key_both_hold() -> None:
    spring = {"AND": [{"created_at": {"gt": "2026-01-01"}}, {"created_at": {"lt": "2026-02-01"}}]}

    assert not found(spring)
    assert found({"AND": [{"created_at": {"gt": "2026-01-01"}}, {"created_at": {"lt": "2026-04-01"}}]})


@pytest.mark.field("B32")
def test_an_or_of_one_condition_is_that_condition() -> None:
    assert found({"user_id": "ana", "OR": [{"metadata": {"colour": "red"}}]})


@pytest.mark.field("S3")
def test_logic_nests_inside_or_and_not() -> None:
    assert found({"OR": [{"AND": [{"run_id": "r1"}, {"metadata": {"rank": 1}}]}, {"run_id": "r9"}]})
    assert not found({"NOT": {"AND": [{"run_id": "r1"}, {"OR": [{"metadata": {"rank": 1}}]}]}})


def test_the_entities_asked_for_are_named_and_those_excluded_are_not() -> None:
    where = parse(
        {
            "OR": [{"userId": "victim"}, {"user_id": {"in": ["ana", "bob"]}}],
            "NOT": [{"agent_id": "bot"}, {"NOT": {"run_id": "r1"}}, {"app_id": {"ne": "shop"}}],
            "AND": [{"user_id": {"ne": "eve"}}, {"agent_id": "*"}, {"agent_id": {"*": 1}}],
        }
    )

    assert isinstance(where, Filter)
    assert where.values_of("user_id") == {"victim", "ana", "bob"}
    assert where.named - {Named("user_id", one) for one in ("victim", "ana", "bob")} == {
        Named("run_id", "r1"),
        Named("app_id", "shop"),
        Named("agent_id", "*"),
    }


def test_filters_together_narrow_and_name_all_entities() -> None:
    mine, sessions = parse({"user_id": "ana"}), parse({"run_id": "r2"})

    assert every(None, None) is None
    assert every(None, mine) is mine
    together = every(mine, sessions)
    assert together is not None
    assert not matches(together, ROW, ID)
    assert together.values_of("user_id") == {"ana"}
    assert together.values_of("run_id") == {"r2"}
