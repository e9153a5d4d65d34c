"""A snapshot that is being taken in, or that a killed process left half taken in, is forgotten with everything else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from shared.errors import Conflict
from shared.maintaining import sweep_expired
from shared.scope import Everything
from shared.snapshots.entries import Kept, Kind
from shared.snapshots.sealing import Part, Parts
from shared.stores.local import state_rows as local_rows
from shared.stores.local.directory import DATABASE
from shared.stores.local.maintenance import LocalMaintenance
from shared.stores.local.states import LocalStates
from shared.stores.local.store import LocalStore
from shared.stores.pg import state_rows as pg_rows
from shared.stores.pg.maintenance import PostgresMaintenance
from shared.stores.pg.states import PostgresStates
from shared.stores.ports import MemoryStore
from shared.stores.states import Sealed, StateStore
from tests.conformance.build import ANA, BY, DIMENSIONS

PERSON, OTHER = Everything("ana"), Everything("ben")
A, B = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"


def part(memory_id: str) -> Part:
    parts = Parts()
    parts.take([Kept(Kind.USER, memory_id, {"data": "zanzibar " * 50, "agent_id": "app:notes"}, None, [])])
    [made] = parts.rest()
    return made


async def begun(states: StateStore, person: Everything, memory_id: str, *, ago: str = "0") -> None:
    """What a process that is killed in the middle of an upload leaves."""
    if isinstance(states, PostgresStates):
        async with states._database.transaction(person.person) as connection:
            key = await pg_rows.begin(connection, person)
            await pg_rows.add_parts(connection, person, key, 0, [part(memory_id)])
            await connection.execute(
                "UPDATE runtime_memory.states SET begun_at = now() - $2::text::interval WHERE key = $1", key, ago
            )
    else:
        assert isinstance(states, LocalStates)
        local_key = await states._database.write(lambda connection: local_rows.begin(connection, person))
        await states._database.write(
            lambda connection: local_rows.add_parts(connection, person, local_key, 0, [part(memory_id)])
        )
        if ago != "0":
            await states._database.write(
                lambda connection: connection.execute("UPDATE states SET begun_at = '2020' WHERE key = ?", (local_key,))
            )


async def kept(states: StateStore) -> list[int]:
    """How many parts and ids of memories stand in snapshots of anybody, finished or not."""
    if isinstance(states, PostgresStates):
        async with states._database.connection("*") as connection:
            return [
                await connection.fetchval(f"SELECT count(*) FROM runtime_memory.{table}")  # noqa: S608 (constants)
                for table in ("state_parts", "state_memories")
            ]
    assert isinstance(states, LocalStates)
    return await states._database.read(
        lambda connection: [
            connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608 (constants)
            for table in ("state_parts", "state_memories")
        ]
    )


@pytest.mark.parametrize("snapshots", [True, False])
async def test_erasing_everything_erases_what_was_half_taken_in(states: StateStore, *, snapshots: bool) -> None:
    await begun(states, PERSON, A)
    await begun(states, OTHER, B)
    erased = await states.erase(PERSON, BY, allowances=True, snapshots=snapshots)

    assert erased.snapshots == 0
    assert await kept(states) == [1, 1], "the other person's is theirs"


@pytest.mark.parametrize("more", [True, False])
async def test_an_upload_that_goes_on_after_everything_was_erased_is_refused(states: StateStore, *, more: bool) -> None:
    async def upload() -> AsyncIterator[Part | Sealed]:
        yield part(A)
        await states.erase(PERSON, BY, allowances=True, snapshots=True)
        if more:
            yield part(B)
        yield Sealed(None, "2026-01-01T00:00:00.000000+00:00", "0" * 64, {}, 1)

    with pytest.raises(Conflict):
        await states.take_in(PERSON, upload())

    assert await kept(states) == [0, 0]
    assert await states.states(PERSON) == []


async def test_what_nobody_finished_is_swept_after_a_day(store: MemoryStore, states: StateStore) -> None:
    await begun(states, PERSON, A, ago="25 hours")
    await begun(states, OTHER, B)
    if isinstance(store, LocalStore):
        await sweep_expired(LocalMaintenance(store.database, dimensions=DIMENSIONS), grace_days=30)
    else:
        await sweep_expired(PostgresMaintenance(store._database, store._collection), grace_days=30)  # type: ignore[attr-defined]  # the other engine's

    assert await kept(states) == [1, 1]


async def test_a_local_store_lets_go_at_the_start_of_what_a_killed_process_half_took_in(tmp_path: Path) -> None:
    store = await LocalStore.open(tmp_path, dimensions=DIMENSIONS)
    await begun(store.states, PERSON, A)
    content = part(A).content
    killed = tmp_path.parent / f"{tmp_path.name}-killed"
    killed.mkdir()
    for name in (DATABASE, f"{DATABASE}-wal", "store.json"):
        (killed / name).write_bytes((tmp_path / name).read_bytes())
    await store.close()
    assert content in b"".join(path.read_bytes() for path in killed.iterdir())

    again = await LocalStore.open(killed, dimensions=DIMENSIONS)
    assert content not in b"".join(path.read_bytes() for path in killed.iterdir())
    assert await again.count(ANA) == 0
    await again.close()
