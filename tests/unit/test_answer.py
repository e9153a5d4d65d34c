"""What is read of an LLM's answer: what can be remembered, and nothing else."""

from __future__ import annotations

import json

import pytest

from runtime_svc.engine.answer import MOST_FACTS, Answer, Fact, read_answer
from runtime_svc.ports import LearnFailed

GOOD = '{"memory": [{"id": "0", "text": "Likes tea", "attributed_to": "user"}]}'
TEA = [Fact("Likes tea", "user")]


@pytest.mark.field("B89")
@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"Here is what I found:\n{GOOD}\nI hope that this helps {{a lot}}.",
        f"{GOOD} trailing",
        f"As a schema {{x}} says: {GOOD}",
        f"<think>maybe {{}} or {{'memory': []}}</think>{GOOD}",
        f"\n\n  {GOOD}\n",
        [{"type": "text", "text": GOOD[:20]}, {"type": "text", "text": GOOD[20:]}],
        '{"memory": ["Likes tea"]}'.replace('"Likes tea"', '{"text": "  Likes \\n tea ", "attributed_to": "user"}'),
    ],
)
def test_facts_are_read_whatever_stands_around_them(answer: object) -> None:
    assert read_answer(answer) == Answer(TEA, None)


@pytest.mark.field("B89")
@pytest.mark.parametrize(
    "answer",
    [
        "no json at all",
        "",
        "   \n",
        None,
        42,
        '{"memory": null}',
        '{"memory": "Likes tea"}',
        '{"memory": {"text": "Likes tea"}}',
        '[{"text": "Likes tea"}]',
        '{"facts": ["Likes tea"]}',
        '{"tool_calls": [{"function": {"name": "remember", "arguments": "{\\"memory\\": []}"}}]}',
        GOOD[:-3],
        GOOD[:-1],
        '{"memory": [',
        "[" * 100_000,
        '{"memory": ' + "[" * 100_000,
        '{"memory": [' + "9" * 5_000 + "]}",
        "x" * 5_000_000,
    ],
)
def test_an_answer_that_cannot_be_read_fails_for_good(answer: object) -> None:
    with pytest.raises(LearnFailed) as failed:
        read_answer(answer)

    assert not failed.value.may_pass
    assert "tea" not in failed.value.sentence


def test_nothing_to_remember_is_an_answer() -> None:
    assert read_answer('{"memory": []}') == Answer([], None)


def test_facts_that_cannot_be_kept_are_left_out_with_a_sentence() -> None:
    items: list[object] = [
        {"text": "Likes tea", "attributed_to": "user"},
        {"text": ""},
        {"text": " \u200b "},
        {"text": "x" * 100_000},
        {"text": "a\0b"},
        {"text": "\ud800"},
        {"text": None},
        {"text": 5},
        {"nothing": "here"},
        17,
        None,
        ["Likes tea"],
    ]

    answer = read_answer(json.dumps({"memory": items}))

    assert answer.facts == TEA
    assert answer.left_out is not None
    assert "5 empty, longer than 8000 characters" in answer.left_out
    assert "6 not a fact" in answer.left_out


def test_an_instruction_to_delete_or_change_is_not_carried_out_and_is_not_a_fact() -> None:
    items = [
        {"id": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "event": "DELETE", "text": "Likes tea"},
        {"id": "0", "event": "UPDATE", "text": "Likes coffee"},
        {"id": "1", "event": {"$ne": 1}, "text": "Likes mate"},
        {"id": "2", "event": "ADD", "text": "Likes tea", "attributed_to": "user"},
    ]

    answer = read_answer(json.dumps({"memory": items}))

    assert answer == Answer(TEA, "Left out of the LLM's answer: 3 asking to change or delete.")


@pytest.mark.timeout(60)
def test_ten_thousand_facts_are_capped_quickly() -> None:
    text = json.dumps({"memory": [{"text": f"Fact {n}"} for n in range(10_000)]})

    answer = read_answer(text)

    assert len(answer.facts) == MOST_FACTS
    assert (
        answer.left_out
        == f"Left out of the LLM's answer: {10_000 - MOST_FACTS} over the {MOST_FACTS} kept of one answer."
    )


def test_a_repeated_fact_is_one_fact() -> None:
    assert read_answer('{"memory": ["Likes tea", "Likes  tea", {"text": "Likes tea"}]}').facts == [
        Fact("Likes tea", None)
    ]


@pytest.mark.field("B92")
@pytest.mark.parametrize("given", ["assistant", "user"])
def test_a_fact_carries_whom_it_is_from(given: str) -> None:
    assert read_answer(GOOD.replace('"user"', f'"{given}"')).facts == [Fact("Likes tea", given)]


@pytest.mark.parametrize("given", ['{"$ne": 1}', "[]", '"root"', "null", "7"])
def test_an_attribution_is_user_or_assistant_or_none(given: str) -> None:
    assert read_answer(GOOD.replace('"user"', given)).facts == [Fact("Likes tea", None)]


@pytest.mark.timeout(60)
def test_many_braces_cost_no_time() -> None:
    with pytest.raises(LearnFailed):
        read_answer('{"memory":' * 300_000)
