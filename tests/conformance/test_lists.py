"""Lists: newest first, whole, without repeats, and never what is expired or out of reach."""

import random
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from shared.errors import BadValue
from shared.records import Memory
from shared.scope import Everything, Reach, Scope
from shared.stores.ports import MemoryStore
from tests.conformance.build import ANA, ANA_TRAVEL, BEN, BY, YESTERDAY, keep, keep_many, memory, words_of


async def walk(store: MemoryStore, reach: Reach, limit: int) -> list[Memory]:
    found: list[Memory] = []
    after = None
    while True:
        page = await store.page(reach, limit=limit, after=after)
        found += page.memories
        if page.next is None:
            return found
        after = page.next


async def test_an_empty_scope_lists_nothing(store: MemoryStore) -> None:
    page = await store.page(ANA, limit=10)

    assert (list(page.memories), page.total, page.next) == ([], 0, None)


async def test_a_list_is_newest_first(store: MemoryStore) -> None:
    await keep(store, ANA, *(memory(f"m{n}", minute=n) for n in (2, 0, 3, 1)))

    assert words_of((await store.page(ANA, limit=10)).memories) == ["m3", "m2", "m1", "m0"]


async def test_the_newest_is_the_latest_moment_whatever_its_offset(store: MemoryStore) -> None:
    times = {
        "third": "2026-03-01T12:00:00+00:00",
        "first": "2026-03-01T10:30:00-05:00",
        "fourth": "2026-03-01T13:30:00+02:00",
        "second": "2026-03-01T12:00:00.5Z",
    }
    await keep(store, ANA, *(memory(words, payload={"created_at": time}) for words, time in times.items()))

    assert words_of((await store.page(ANA, limit=10)).memories) == ["first", "second", "third", "fourth"]


@pytest.mark.parametrize("unreadable", [None, "", "yesterday", "2026-13-45T00:00:00Z", 5, "9" * 300])
async def test_an_unreadable_time_sorts_last_and_is_reached(store: MemoryStore, unreadable: object) -> None:
    await keep(store, ANA, memory("odd", payload={"created_at": unreadable}), memory("old", minute=0))
    found = await walk(store, ANA, 1)

    assert words_of(found) == ["old", "odd"]
    assert found[1].payload["created_at"] == unreadable


async def test_equal_times_are_ordered_by_id(store: MemoryStore) -> None:
    ids = await keep(store, ANA, *(memory(f"m{n}", minute=7) for n in range(20)))

    assert [m.id for m in (await store.page(ANA, limit=50)).memories] == sorted(ids)


@pytest.mark.field("B41")
async def test_a_walk_reaches_all_once_while_one_is_added(store: MemoryStore) -> None:
    ids = await keep_many(store, ANA, 47)
    found: list[str] = []
    after = None
    while True:
        page = await store.page(ANA, limit=20, after=after)
        found += [m.id for m in page.memories]
        await keep(store, ANA, memory(f"added at {len(found)}", minute=1000 + len(found)))
        if page.next is None:
            break
        after = page.next

    assert found == ids[::-1]
    assert (await store.page(ANA, limit=1)).total == 50


@pytest.mark.parametrize("limit", [1, 2, 5, 7, 100])
async def test_a_walk_over_equal_times_neither_repeats_nor_skips(store: MemoryStore, limit: int) -> None:
    ids = await keep(store, ANA, *(memory(f"m{n}", minute=n % 3) for n in range(23)))
    found = [m.id for m in await walk(store, ANA, limit)]

    assert len(found) == 23
    assert set(found) == set(ids)


async def test_a_walk_survives_forgetting_the_place_it_stopped_at(store: MemoryStore) -> None:
    ids = await keep_many(store, ANA, 6)
    first = await store.page(ANA, limit=3)
    await store.forget(ANA, first.memories[-1].id, BY)
    rest = await store.page(ANA, limit=10, after=first.next)

    assert [m.id for m in rest.memories] == ids[2::-1]


@pytest.mark.field("B43")
async def test_all_of_many_are_reached_by_offset(store: MemoryStore) -> None:
    await keep_many(store, ANA, 1137)
    page = await store.page(ANA, limit=5000)
    tail = await store.page(ANA, limit=5000, offset=1000)

    assert len(page.memories) == page.total == tail.total == 1137
    assert [m.id for m in tail.memories] == [m.id for m in page.memories][1000:]


async def test_the_last_page_has_no_next(store: MemoryStore) -> None:
    await keep_many(store, ANA, 4)

    assert (await store.page(ANA, limit=4)).next is None
    assert (await store.page(ANA, limit=3)).next is not None
    assert (await store.page(ANA, limit=3, offset=1)).next is None
    assert (await store.page(ANA, limit=3, offset=4)).next is None


async def test_a_total_is_not_what_is_shown(store: MemoryStore) -> None:
    await keep_many(store, ANA, 9)
    page = await store.page(ANA, limit=2, offset=3)

    assert (len(page.memories), page.total) == (2, 9)
    assert (await store.page(ANA, limit=0)).total == 9
    assert (await store.page(ANA, limit=5, offset=100)).total == 9
    assert await store.count(ANA) == 9


@pytest.mark.parametrize("after", ["", "abc", "\x00", "WyIyMDI2IiwiYWJjIl0", "A" * 1000])
async def test_a_bad_place_is_a_bad_value(store: MemoryStore, after: str) -> None:
    with pytest.raises(BadValue):
        await store.page(ANA, limit=5, after=after)


@pytest.mark.parametrize(
    ("at", "yesterday", "today"),
    [
        (datetime(2026, 3, 4, 12, tzinfo=UTC), "2026-03-03", "2026-03-04"),
        (datetime(2027, 1, 1, 0, 0, 0, tzinfo=UTC), "2026-12-31", "2027-01-01"),
        (datetime(2028, 2, 29, 23, 59, 59, 999999, tzinfo=UTC), "2028-02-28", "2028-02-29"),
        (datetime(2028, 3, 1, 0, 0, 0, tzinfo=UTC), "2028-02-29", "2028-03-01"),
    ],
)
async def test_what_is_expired_is_hidden_unless_asked_for(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch, at: datetime, yesterday: str, today: str
) -> None:
    monkeypatch.setattr("shared.times.now", lambda: at)
    await keep(
        store,
        ANA,
        memory("over", expiration_date=yesterday, minute=3),
        memory("today", expiration_date=today, minute=2),
        memory("never", minute=1),
    )

    assert words_of((await store.page(ANA, limit=10)).memories) == ["today", "never"]
    assert (await store.page(ANA, limit=1)).total == await store.count(ANA) == 2
    assert words_of((await store.page(ANA, limit=10, show_expired=True)).memories) == ["over", "today", "never"]
    assert await store.count(ANA, show_expired=True) == 3


@pytest.mark.field("B37")
async def test_expired_ones_do_not_fill_the_page(store: MemoryStore) -> None:
    await keep(store, ANA, memory("live one", minute=0), memory("live two", minute=1))
    await keep(store, ANA, *(memory(f"over {n}", minute=10 + n, expiration_date=YESTERDAY) for n in range(61)))

    assert words_of((await store.page(ANA, limit=2)).memories) == ["live two", "live one"]


async def test_an_unreadable_expiration_never_expires(store: MemoryStore) -> None:
    await keep(store, ANA, memory("kept", payload={"expiration_date": "some day"}))

    assert await store.count(ANA) == 1


async def test_everything_lists_all_applications_of_one_person(store: MemoryStore) -> None:
    await keep(store, ANA, memory("note", minute=1))
    await keep(store, ANA_TRAVEL, memory("trip", minute=2))
    await keep(store, BEN, memory("other", minute=3))

    assert words_of(await walk(store, Everything("ana"), 1)) == ["trip", "note"]
    assert await store.count(Everything("ana")) == 2


async def test_applications_say_how_much_since_when_until_when(store: MemoryStore) -> None:
    await keep(store, ANA_TRAVEL, memory("trip", minute=5))
    await keep(store, ANA, memory("a", minute=1), memory("b", minute=3), memory("c", payload={"created_at": "?"}))
    await keep(store, ANA, memory("over", minute=9, expiration_date=YESTERDAY))
    await keep(store, BEN, memory("other"))
    notes, travel = await store.applications(Everything("ana"))

    assert (notes.application, notes.total) == ("app:notes", 3)
    assert notes.first_at == "2026-01-01T00:01:00.000000+00:00"
    assert notes.last_at == "2026-01-01T00:03:00.000000+00:00"
    assert (travel.application, travel.total) == ("app:travel", 1)


async def test_one_is_got_by_id_expired_or_not(store: MemoryStore) -> None:
    (kept,) = await keep(store, ANA, memory("over", expiration_date=YESTERDAY))
    found = await store.get(ANA, kept)

    assert found is not None
    assert (found.id, found.words, found.person, found.application) == (kept, "over", "ana", "app:notes")
    assert await store.get(ANA, kept.upper()) == found
    assert await store.get(Everything("ana"), kept) == found


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "abc",
        "3f0c1c5e",
        "{3f0c1c5e-8d44-4a57-9a8e-0d5f6f6c2a11}",
        "a" * 5000,
        "\x00" * 36,
        "\ud800" * 36,
        "%2F",
        "*",
    ],
)
async def test_a_malformed_id_is_unknown(store: MemoryStore, wrong: str) -> None:
    assert await store.get(ANA, wrong) is None
    assert await store.history(ANA, wrong) is None


async def test_a_payload_comes_back_as_it_was_given(store: MemoryStore) -> None:
    metadata = {
        "text": "é ñ 漢字 🧠 \u202eabc ' \" \\ % _ ; DROP TABLE memories",
        "nested": {"list": [1, -2.5, True, None, {"deep": []}], "empty": {}},
        "number": 12345678901234567,
        "": "no name",
        "data_": "close",
    }
    (kept,) = await keep(store, ANA, memory("words ✓", metadata=metadata))
    found = await store.get(ANA, kept)

    assert found is not None
    assert dict(found.metadata) == metadata


async def test_a_random_history_of_lists_agrees_with_a_plain_model(store: MemoryStore) -> None:
    seed = random.Random(4)
    model: dict[str, tuple[int, Scope]] = {}
    for _ in range(12):
        scope = seed.choice([ANA, ANA_TRAVEL, BEN])
        adds = [memory(str(uuid4()), minute=(minute := seed.randrange(30))) for _ in range(seed.randrange(1, 6))]
        for add, kept in zip(adds, await keep(store, scope, *adds), strict=True):
            model[kept] = (int(add.payload["created_at"][14:16]), scope)
        assert minute < 30
    for reach in (ANA, ANA_TRAVEL, BEN, Everything("ana"), Everything("nobody")):
        mine = [
            (-minute, kept)
            for kept, (minute, scope) in model.items()
            if scope == reach or (isinstance(reach, Everything) and scope.person == reach.person)
        ]

        assert [m.id for m in await walk(store, reach, 3)] == [kept for _, kept in sorted(mine)]
