"""Whatever comes, on every route of both services and on both stores: a JSON answer, and never a fault of ours."""

from __future__ import annotations

import json
from itertools import product
from zlib import crc32

import pytest

from tests.contract.routes import BODY, Route, routes_of_all
from tests.services import Service, bearer

TEXTS = [
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "'; DROP TABLE x; --",
    "*",
    "%",
    "../..",
    "👩‍👩‍👧",
    "\u202egnp",
    "x" * 20_000,
    "{}",
    "null",
    "NaN",
]
VALUES = [
    *TEXTS,
    None,
    True,
    0,
    -1,
    1.5,
    2**70,
    -(2**70),
    [],
    {},
    [[]],
    [None],
    ["\0"],
    {"\0": 1},
    {"a": {"b": [{"c": "\ud800"}]}},
]
NAMES = [
    *BODY,
    "text",
    "messages",
    "metadata",
    "filters",
    "limit",
    "top_k",
    "threshold",
    "page",
    "page_size",
    "run_id",
    "user_id",
    "agent_id",
    "app_id",
    "memory_id",
    "memories",
    "expiration_date",
    "timestamp",
    "name",
    "application",
    "categories",
    "data",
    "schema",
    "max_tokens",
    "infer",
    "wait",
]
QUERY = [
    "limit",
    "offset",
    "cursor",
    "count",
    "agent_id",
    "user_id",
    "source",
    "reader",
    "app_id",
    "run_id",
    "page",
    "page_size",
    "show_expired",
    "filters",
]
RAW = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"x"',
    b"5",
    b"\xff\xfe",
    b"\x00",
    b'{"a":1,"a":2}',
    b"[" * 10_000,
    b'{"memory": NaN}',
    b'{"query": 1e999}',
]

NEEDS_A_PROVIDER = "/api/v1/llm/gateway/chat/completions", "/api/v1/llm/gateway/models"
"""503 where no LLM provider is configured, as here."""


async def check_answered(service: Service, route: Route, what: object, **request) -> None:
    headers = {**bearer("ana"), "Content-Type": "application/json"}
    async with service.client.request(route.method, route.url(), headers=headers, **request) as response:
        raw = await response.read()
        unavailable = response.status == 503 and route.template in NEEDS_A_PROVIDER
        assert response.status < 500 or unavailable, (str(route), what, response.status, raw[:300])
        assert response.status not in range(300, 400), (str(route), what)
        if response.status >= 400 and not route.template.startswith("/mcp/"):  # JSON-RPC has its own shape
            assert isinstance(json.loads(raw)["detail"], str), (str(route), what)


def with_body(services: list[Service]) -> list[tuple[Service, Route]]:
    return [(service, route) for service, route in routes_of_all(services) if route.method in ("POST", "PUT", "PATCH")]


def _sampled(route: Route, name: str, value: object, *, one_in: int) -> bool:
    """Some of all combinations, always the same ones: each value meets each name on some routes."""
    return crc32(f"{route} {name} {value!r:.40}".encode(errors="replace")) % one_in == 0


async def test_a_body_that_cannot_be_read_is_a_clear_refusal(services: list[Service]) -> None:
    for (service, route), raw in product(with_body(services), RAW):
        await check_answered(service, route, raw, data=raw)


@pytest.mark.timeout(300)
async def test_no_value_of_a_body_is_a_fault(services: list[Service]) -> None:
    for service, route in with_body(services):
        for name, value in product(NAMES, VALUES):
            if _sampled(route, name, value, one_in=40):
                await check_answered(service, route, (name, value), data=json.dumps({**BODY, name: value}).encode())


async def test_no_query_is_a_fault(services: list[Service]) -> None:
    texts = [text for text in TEXTS if text != "\ud800" and len(text) < 5000] + [
        "1e9",
        "-1",
        "1.5",
        "٣",
        "99999999999999999999",
    ]
    for (service, route), name, text in product(routes_of_all(services), QUERY, texts):
        if route.method in ("GET", "DELETE") and _sampled(route, name, text, one_in=8):
            await check_answered(service, route, (name, text), params={name: text}, json={})
