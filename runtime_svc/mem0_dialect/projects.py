"""What this dialect calls a project: a bound key's application, or `default`; and what its owner set for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.client_records import ClientRecords
from shared.scope import PREFIX, Everything, Scope
from shared.tokens import Caller, person_of, reach_of

ORGANIZATION = "runtime-memory"
_KIND = "project"


def project_of(caller: Caller) -> str:
    """The caller's project. Raises NotAllowed."""
    reach = reach_of(caller)
    return reach.application.removeprefix(PREFIX) if isinstance(reach, Scope) else "default"


async def settings_of(records: ClientRecords, caller: Caller) -> dict[str, Any]:
    """What the caller's project says."""
    found = await records.get(Everything(person_of(caller)), _KIND, _kept_as(caller))
    return {} if found is None else dict(found.body)


async def keep_settings(records: ClientRecords, caller: Caller, settings: Mapping[str, Any]) -> None:
    """What the caller's project says from here on. Raises Conflict."""
    await records.put(Everything(person_of(caller)), _KIND, _kept_as(caller), settings)


def _kept_as(caller: Caller) -> str:
    """The settings' id. An application may be called `default` too: its key keeps it apart from no application."""
    reach = reach_of(caller)
    return reach.application if isinstance(reach, Scope) else "default"
