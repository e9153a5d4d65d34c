"""The record of who reached a person's memories in another's name."""

from datetime import UTC, datetime, timedelta

from shared.access import Access, AccessRecord
from shared.scope import Everything

AT = datetime(2026, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)


def reached(actor: str, minute: int, application: str | None = "app:notes") -> Access:
    return Access(
        actor=actor,
        verb="list",
        door="mem0",
        application=application,
        memories=7,
        at=AT + timedelta(minutes=minute),
    )


async def test_accesses_are_the_persons_own_and_newest_first(access: AccessRecord) -> None:
    ana = Everything("ana")
    noted = [reached("zoe", 1), reached("zoe", 0, None), reached("max", 2)]
    for one in noted:
        await access.note(ana, one)
    await access.note(Everything("ben"), reached("zoe", 9))

    assert list(await access.accesses(ana, limit=10)) == [noted[2], noted[0], noted[1]]
    assert list(await access.accesses(ana, limit=1, offset=1)) == [noted[0]]
    assert list(await access.accesses(Everything("nobody"), limit=10)) == []


async def test_accesses_at_one_moment_are_in_the_order_in_which_they_came(access: AccessRecord) -> None:
    for actor in ("a", "b", "c"):
        await access.note(Everything("ana"), reached(actor, 0))

    assert [one.actor for one in await access.accesses(Everything("ana"), limit=10)] == ["c", "b", "a"]
