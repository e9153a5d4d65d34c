"""PostgreSQL's faults in our words. Its own text may hold a memory, so it is only the cause."""

from __future__ import annotations

import traceback
from pathlib import Path

import asyncpg
import structlog

from shared.errors import OurFault, ServiceError, Unavailable
from shared.logs import fault

DOWN = "What is remembered cannot be reached right now. Try again in a moment."
FAULTS = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)

# What PostgreSQL refuses for what it was asked: it would refuse the same again. A privilege that the role lacks and a
# row that row security refuses are of the first. Not among them: a unique or foreign key, which two at once may meet.
_REFUSALS = (
    asyncpg.SyntaxOrAccessError,
    asyncpg.DataError,
    asyncpg.CardinalityViolationError,
    asyncpg.NotNullViolationError,
    asyncpg.CheckViolationError,
    asyncpg.WithCheckOptionViolationError,
    asyncpg.ProgramLimitExceededError,
    asyncpg.PLPGSQLError,
)
_STORES = Path(__file__).parent.parent / "stores"

log = structlog.get_logger()


def in_our_words(error: BaseException) -> ServiceError:
    """What a caller is told of a driver's fault. Our own is noted here, whoever is told: class and place."""
    if not _is_refusal(error):
        return Unavailable(DOWN)
    log.error("store.refused", where=_where(error), **fault(error))
    return OurFault()


def _is_refusal(error: BaseException) -> bool:
    # The driver's own DataError, of a value that does not fit its parameter, is known by its two bases only.
    return isinstance(error, _REFUSALS) or (isinstance(error, asyncpg.InterfaceError) and isinstance(error, ValueError))


def _where(error: BaseException) -> str:
    """The innermost line of a store, where the statement stands."""
    places = [(Path(frame.f_code.co_filename), line) for frame, line in traceback.walk_tb(error.__traceback__)]
    ours = [f"{path.name}:{line}" for path, line in places if path.is_relative_to(_STORES)]
    return ours[-1] if ours else "unknown"
