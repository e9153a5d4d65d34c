"""What this dialect calls a project: a bound key's application, or `default`; and what its owner set for it."""

from __future__ import annotations

from typing import Any

from shared.client_records import ClientRecords
from shared.scope import PREFIX, Everything, Scope
from shared.tokens import Caller, person_of, reach_of

ORGANIZATION = "runtime-memory"
KIND = "project"


def project_of(caller: Caller) -> str:
    """The caller's project. Raises NotAllowed."""
    reach = reach_of(caller)
    return reach.application.removeprefix(PREFIX) if isinstance(reach, Scope) else "default"


async def settings_of(records: ClientRecords, caller: Caller) -> dict[str, Any]:
    """What the caller's project says."""
    found = await records.get(Everything(person_of(caller)), KIND, project_of(caller))
    return {} if found is None else dict(found.body)
