"""The typed keys of what the edge keeps on an application and on a request."""

from __future__ import annotations

from collections.abc import Mapping

from aiohttp import web

from shared.access import AccessRecord
from shared.api_keys import ApiKeys
from shared.client_records import ClientRecords
from shared.stores.maintenance import Maintenance
from shared.stores.ports import MemoryStore
from shared.tokens import Caller

CALLER: web.RequestKey[Caller] = web.RequestKey("caller", Caller)  # type: ignore[arg-type]  # a union is no class
"""Who is calling, set by `shared.http.auth` on every request but those of the open paths."""

CREDENTIAL: web.RequestKey[Mapping[str, str]] = web.RequestKey("credential", Mapping)
"""The headers that ask the platform in the caller's own name; empty for the machine and for nobody. Never logged."""

STORE: web.AppKey[MemoryStore] = web.AppKey("store", MemoryStore)
"""The memories, on whichever engine."""

ACCESS: web.AppKey[AccessRecord] = web.AppKey("access", AccessRecord)
"""The record of who reached a person's memories in another's name."""

API_KEYS: web.AppKey[ApiKeys] = web.AppKey("api_keys", ApiKeys)
"""What programs present in their owner's name."""

MAINTENANCE: web.AppKey[Maintenance] = web.AppKey("maintenance", Maintenance)
"""What the service does of its own accord."""
CLIENT_RECORDS: web.AppKey[ClientRecords] = web.AppKey("client_records", ClientRecords)
"""What programs keep beside the memories."""

REACHED: web.RequestKey[tuple[int, str | None]] = web.RequestKey("reached", tuple)
"""How many memories a request reached, and of which application's key (None: across applications)."""

RECORDED: web.RequestKey[bool] = web.RequestKey("recorded", bool)
"""Set once a request's access stands in the record."""


def reached(request: web.Request, memories: int, application: str | None) -> None:
    """Say what a request reached: it stands in the access record when the caller acts for another person."""
    request[REACHED] = (memories, application)
