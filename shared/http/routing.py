"""Routes as a table, each served with and without a trailing slash: never a redirect."""

from __future__ import annotations

from collections.abc import Iterable

from aiohttp import web


def add_routes(app: web.Application, routes: Iterable[web.RouteDef]) -> None:
    """Register each route in both forms."""
    for route in routes:
        bare = route.path.rstrip("/")
        for path in (bare, f"{bare}/"):
            app.router.add_route(route.method, path, route.handler)
