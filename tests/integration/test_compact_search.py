"""A large scope is looked through in its index: what is found is what reading every row finds."""

from __future__ import annotations

import random
import uuid
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import asyncpg
import numpy as np
import pytest
from pgvector.asyncpg import register_vector

from shared.candidates import Candidates
from shared.db.collection import Collection
from shared.db.pool import Database
from shared.db.preparing import prepare
from shared.filter_grammar import parse
from shared.records import Add, By, Door, Vector
from shared.scope import Everything, Reach, Scope
from shared.stores.pg import search
from shared.stores.pg.store import PostgresStore
from tests.conformance.build import YESTERDAY, memory

DIMENSIONS = 96
TABLE = Collection("agent_memories")
ANA, ANA_TRAVEL = Scope("ana", "app:notes"), Scope("ana", "app:travel")
BY = By("ana", Door.APPS)
WORDS = [f"w{n}q" for n in range(200)]


@pytest.fixture
async def store(database: str) -> AsyncIterator[PostgresStore]:
    await prepare(database, TABLE, DIMENSIONS, with_ddl=True)
    opened = Database(database)
    await opened.open()
    yield PostgresStore(opened, TABLE)
    await opened.close()


@pytest.fixture
def chance() -> random.Random:
    return random.Random(7)


def vector(chance: random.Random) -> Vector:
    drawn = np.array([chance.gauss(0, 1) for _ in range(DIMENSIONS)], dtype=np.float32)
    return np.asarray(drawn / np.linalg.norm(drawn), dtype=np.float32)


def text(chance: random.Random, most: int = 12) -> str:
    return " ".join(WORDS[min(int(chance.expovariate(0.03)), 199)] for _ in range(chance.randint(1, most)))


def drawn(chance: random.Random, number: int) -> Add:
    """A memory as they come: in a run or not, expired or not, long, or of no direction."""
    words = " ".join(WORDS[number % 60 :]) if number % 97 == 0 else text(chance)
    made = memory(
        f"{words} n{number}q",
        minute=number % 50,
        run_id=f"run{number % 40}" if number % 3 else None,
        expiration_date=YESTERDAY if number % 31 == 0 else None,
        metadata={"colour": "red" if number % 5 else "pale blue"},
    )
    given = np.zeros(DIMENSIONS, dtype=np.float32) if number % 101 == 0 else vector(chance)
    return Add(made.id, made.payload, given)


async def keep(store: PostgresStore, database: str, scope: Scope, adds: list[Add]) -> None:
    """Learned; one in fifty then waits for its vector."""
    await store.commit(scope, adds, BY)
    connection = await asyncpg.connect(database)
    waiting = [one.id for one in adds[::50]]
    await connection.execute("UPDATE agent_memories SET vector = NULL WHERE id = ANY($1::uuid[])", waiting)
    await connection.close()


async def both(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, reach: Reach, *, show_expired: bool = False, **sought: object
) -> tuple[Candidates, Candidates]:
    """As looked through, and as read row by row."""
    answers = []
    for few in (-1, 1_000_000):
        monkeypatch.setattr(search, "FEW", few)
        answers.append(await store.candidates(reach, show_expired=show_expired, **sought))  # type: ignore[arg-type]
    return answers[0], answers[1]


def told(answer: Candidates) -> dict[str, tuple[object, ...]]:
    return {
        one.memory.id: (tuple(one.terms), one.length, tuple(one.neighbours), one.cosine and round(one.cosine, 5))
        for one in answer.found
    }


@pytest.mark.parametrize("show_expired", [False, True])
@pytest.mark.parametrize("reach", [ANA, Everything("ana")], ids=["a scope", "a person"])
async def test_words_find_the_same_as_reading_every_row(
    store: PostgresStore,
    database: str,
    chance: random.Random,
    monkeypatch: pytest.MonkeyPatch,
    reach: Reach,
    show_expired: bool,  # noqa: FBT001 (a parameter of the test)
) -> None:
    await keep(store, database, ANA, [drawn(chance, n) for n in range(700)])
    await keep(store, database, ANA_TRAVEL, [drawn(chance, n) for n in range(100)])
    await keep(store, database, Scope("ben", "app:notes"), [drawn(chance, n) for n in range(50)])

    for most in (1, 3, 8, 40):
        wanted = [*text(chance, most).split(), WORDS[chance.randrange(200)], "", "nowhere"]
        looked, read = await both(
            store, monkeypatch, reach, vector=None, lexemes=wanted, limit=60, show_expired=show_expired
        )
        assert told(looked) == told(read)
        assert (looked.size, list(looked.frequencies)) == (read.size, list(read.frequencies))
        assert looked.mean_length == pytest.approx(read.mean_length)


@pytest.mark.parametrize("reach", [ANA, Everything("ana")], ids=["a scope", "a person"])
async def test_meaning_finds_the_nearest_and_tells_the_same_of_them(
    store: PostgresStore, database: str, chance: random.Random, monkeypatch: pytest.MonkeyPatch, reach: Reach
) -> None:
    await keep(store, database, ANA, [drawn(chance, n) for n in range(1_200)])
    await keep(store, database, ANA_TRAVEL, [drawn(chance, n) for n in range(100)])

    for _ in range(10):
        query = vector(chance)
        looked, read = await both(store, monkeypatch, reach, vector=query, lexemes=text(chance).split(), limit=10)
        assert told(looked) == told(read)
        assert looked.size == read.size


@pytest.mark.parametrize("reach", [ANA, Everything("ana")], ids=["a scope", "a person"])
@pytest.mark.parametrize(
    "raw",
    [
        {"metadata": {"colour": "red"}},
        {"NOT": [{"metadata": {"colour": {"contains": "blue"}}}]},
        {"OR": [{"run_id": "run7"}, {"created_at": {"gte": "2026-01-01T00:40:00Z"}}]},
        {"metadata": {"colour": "green"}},
    ],
    ids=["many", "all but few", "a run or a time", "none"],
)
async def test_with_a_filter_the_same_is_found(
    store: PostgresStore,
    database: str,
    chance: random.Random,
    monkeypatch: pytest.MonkeyPatch,
    raw: dict[str, Any],
    reach: Reach,
) -> None:
    await keep(store, database, ANA, [drawn(chance, n) for n in range(500)])
    await keep(store, database, ANA_TRAVEL, [drawn(chance, n) for n in range(100)])
    where = parse(raw)

    for query in (vector(chance), None):
        looked, read = await both(
            store, monkeypatch, reach, vector=query, lexemes=text(chance).split(), limit=30, where=where
        )
        assert told(looked) == told(read)
        assert (looked.size, list(looked.frequencies)) == (read.size, list(read.frequencies))
        assert (read.size == 0) == (raw == {"metadata": {"colour": "green"}})


async def test_every_memory_of_fewer_than_are_compared_in_full_is_found_exactly(
    store: PostgresStore, database: str, chance: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(store, database, ANA, [drawn(chance, n) for n in range(380)])

    looked, read = await both(store, monkeypatch, ANA, vector=vector(chance), lexemes=[], limit=100)

    assert told(looked) == told(read)


async def test_of_equally_near_ones_the_newest_are_found(
    store: PostgresStore, chance: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = vector(chance)
    await store.commit(ANA, [memory(f"m{n}q", minute=n, vector=same) for n in range(59)], BY)
    await store.commit(ANA, [memory(f"old{n}q", minute=-n, vector=same) for n in range(1, 600)], BY)

    looked, read = await both(store, monkeypatch, ANA, vector=same * 3, lexemes=[], limit=20)

    assert {one.memory.words for one in looked.found} == {f"m{n}q" for n in range(39, 59)}
    assert told(looked) == told(read)


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e18])
async def test_a_vector_of_any_length_is_as_near_as_its_direction(
    store: PostgresStore, chance: random.Random, monkeypatch: pytest.MonkeyPatch, scale: float
) -> None:
    query = vector(chance)
    vectors = [vector(chance) * np.float32(scale) for _ in range(600)]
    await store.commit(ANA, [memory(f"m{n}q", vector=one) for n, one in enumerate(vectors)], BY)

    looked, _ = await both(store, monkeypatch, ANA, vector=query, lexemes=[], limit=10)

    best = sorted(range(600), key=lambda n: -float(np.dot(vectors[n].astype(np.float64), query)))[:10]
    assert {one.memory.words for one in looked.found} == {f"m{n}q" for n in best}


async def test_of_a_query_without_direction_nothing_is_near(
    store: PostgresStore, database: str, chance: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(store, database, ANA, [drawn(chance, n) for n in range(450)])

    looked, read = await both(
        store, monkeypatch, ANA, vector=np.zeros(DIMENSIONS, dtype=np.float32), lexemes=[], limit=30
    )

    assert told(looked) == told(read)


async def test_a_word_with_the_number_of_another_finds_nothing_of_it(
    store: PostgresStore, chance: random.Random, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = await asyncpg.connect(database)
    alike = await connection.fetchval(
        "SELECT array_agg(w) FROM (SELECT 'w' || n || 'q' AS w FROM generate_series(1, 150000) AS n) AS words"
        " GROUP BY runtime_memory.term(w) HAVING count(*) > 1 LIMIT 1"
    )
    await connection.close()
    one, other = alike[:2]
    await store.commit(ANA, [memory(words, vector=vector(chance)) for words in (one, f"{other} zanzibar")], BY)

    looked, read = await both(store, monkeypatch, ANA, vector=None, lexemes=[one])

    assert told(looked) == told(read)
    assert [found.memory.words for found in looked.found] == [one]


@pytest.mark.parametrize("dimensions", [1, 384, 3072, 3073, 9216, 9217, 16_000])
async def test_no_write_fails_for_an_index_whatever_the_width_and_the_words(database: str, dimensions: int) -> None:
    table = Collection("odd_memories")
    await prepare(database, table, dimensions, with_ddl=True)
    connection = await asyncpg.connect(database)
    await register_vector(connection)
    chance = random.Random(3)
    for person, words in (
        ("ana", 120),
        ("ana", 121),
        ("a" * 150, 120),
        ("".join(chance.choice("abcdefgh") for _ in range(255)), 120),
        ("".join(chr(chance.randrange(0x20000, 0x2A000)) for _ in range(300)), 5_000),
    ):
        await connection.execute(
            "INSERT INTO odd_memories VALUES ($1, $2, jsonb_build_object('user_id', $3::text, 'agent_id', $3::text,"
            " 'run_id', $3::text, 'data', $4::text, 'created_at', '2026-01-01T00:00:00.123456+00:00'))",
            uuid.uuid4(),
            np.array([chance.gauss(0, 1) for _ in range(dimensions)], dtype=np.float32),
            person,
            " ".join(f"word{chance.randrange(10**6)}" for _ in range(words)),
        )
    rows = await connection.fetch("SELECT short IS NULL AS s, terms IS NULL AS t FROM odd_memories ORDER BY length")
    await connection.close()
    assert len(rows) == 5
    assert {row["s"] for row in rows} == ({True} if dimensions > 9216 else {True, False})
    assert {row["t"] for row in rows} == {True, False}


async def test_neighbours_are_of_one_run_of_one_person(
    store: PostgresStore, chance: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = [memory(f"turn{n}q", minute=n, run_id="r", vector=vector(chance)) for n in range(6)]
    await store.commit(ANA, turns, BY)
    await store.commit(Scope("ben", "app:notes"), [memory("bens", minute=2, run_id="r", vector=vector(chance))], BY)
    await store.commit(ANA_TRAVEL, [memory("travels", minute=2, run_id="r", vector=vector(chance))], BY)

    looked, _ = await both(store, monkeypatch, ANA, vector=vector(chance), lexemes=[])
    beside = {one.memory.id: set(one.neighbours) for one in looked.found}

    for one, following in pairwise(turns):
        assert following.id in beside[one.id]
        assert one.id in beside[following.id]
    assert all(len(near) <= 2 for near in beside.values())


async def test_a_write_is_derived_from_whatever_the_search_path_of_its_client(database: str) -> None:
    await prepare(database, TABLE, 3, with_ddl=True)
    connection = await asyncpg.connect(database)
    await connection.execute("SET search_path = pg_catalog")
    await connection.execute(
        "INSERT INTO public.agent_memories (id, vector, payload) VALUES (gen_random_uuid(), '[1,-2,0]'::public.vector,"
        ' \'{"data": "green tea", "user_id": "ana", "agent_id": "app:a"}\')'
    )
    row = await connection.fetchrow("SELECT short::text, length, terms::text FROM public.agent_memories")
    await connection.close()

    assert tuple(row)[:2] == ("100100101", 2)
    assert row["terms"].count(":1") == 2
