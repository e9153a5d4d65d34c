"""The typed keys of what the edge keeps on an application and on a request."""

from __future__ import annotations

from collections.abc import Mapping

from aiohttp import web

from shared.tokens import Caller

CALLER: web.RequestKey[Caller] = web.RequestKey("caller", Caller)  # type: ignore[arg-type]  # a union is no class
"""Who is calling, set by `shared.http.auth` on every request but those of the open paths."""

CREDENTIAL: web.RequestKey[Mapping[str, str]] = web.RequestKey("credential", Mapping)
"""The headers that ask the platform in the caller's own name; empty for the machine and for nobody. Never logged."""
