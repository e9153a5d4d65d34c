"""Every route that a service really has, read from its router, with usable and unusable values for its parts."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from aiohttp import web
from yarl import URL

from tests.services import Service

BODY = {"memory": "x", "text": "x", "query": "x", "content": "x", "source": "app:a", "reader": "app:b", "wait": True}
"""A body that every route with a body can read."""

_PARTS = {"app": "desk", "deployment": "live", "memory_id": str(uuid.uuid4())}


@dataclass(frozen=True)
class Route:
    """One method at one address."""

    method: str
    template: str
    answers_nobody: bool

    def url(self, **parts: str) -> URL:
        """The address with its parts filled in, percent-encoded by the caller."""
        known = defaultdict(lambda: str(uuid.uuid4()), {**_PARTS, **parts})
        return URL(self.template.format_map(known), encoded=True)

    def __str__(self) -> str:
        return f"{self.method} {self.template}"


def routes_of(app: web.Application) -> Iterator[Route]:
    """Those of the router, each once: a route with a trailing slash is the same route."""
    seen: set[tuple[str, str]] = set()
    for route in app.router.routes():
        resource = route.resource
        assert resource is not None
        template = resource.canonical.rstrip("/")
        if route.method != "HEAD" and (route.method, template) not in seen:
            seen.add((route.method, template))
            yield Route(route.method, template, getattr(route.handler, "answers_nobody", False))


def routes_of_all(services: Iterable[Service]) -> list[tuple[Service, Route]]:
    """Every route of every service, each with the service that has it."""
    return [(service, route) for service in services for route in routes_of(service.client.app)]
