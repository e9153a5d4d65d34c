"""`/metrics`, as Prometheus reads them: numbers only, and the route's template, never an address or anything said."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from shared.errors import ServiceError

Measure = Callable[[], Awaitable[float]]

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The numbers of one application. Labels have few values: a client cannot make new ones."""

    def __init__(self) -> None:
        # Not the library's global registry: several applications may live in one process, as in the tests.
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "runtime_memory_requests",
            "Requests by method, route and status.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "runtime_memory_request_seconds",
            "Time to answer, by method and route.",
            ["method", "route"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._noted: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self._gauges: list[tuple[Gauge, Measure]] = []

    def watch(self, name: str, what: str, measure: Measure) -> None:
        """Ask for a number at each reading; one that cannot be had then is left out of it."""
        self._gauges.append((Gauge(f"runtime_memory_{name}", what, registry=self.registry), measure))

    def count(self, name: str, what: str, so_far: Callable[[], int]) -> None:
        """Ask for a number that only grows at each reading."""
        self.registry.register(_Counted(f"runtime_memory_{name}", what, so_far))

    def note(self, method: str, route: str | None, status: int, seconds: float) -> None:
        """One request that ended."""
        labels = (method if method in _METHODS else "other", route or "unmatched", status)
        if (noted := self._noted.get(labels)) is None:
            noted = self._requests.labels(*labels), self._seconds.labels(*labels[:2])
            self._noted[labels] = noted
        requests, took = noted
        requests.inc()
        took.observe(seconds)

    async def text(self) -> bytes:
        """All of them."""
        for gauge, measure in self._gauges:
            try:
                gauge.set(await measure())
            except ServiceError:
                gauge.set(float("nan"))
        return generate_latest(self.registry)


class _Counted(Collector):
    def __init__(self, name: str, what: str, so_far: Callable[[], int]) -> None:
        self._name = name
        self._what = what
        self._so_far = so_far

    def collect(self) -> Iterator[CounterMetricFamily]:
        """The number as it is now."""
        yield CounterMetricFamily(self._name, self._what, value=self._so_far())


METRICS = web.AppKey("metrics", Metrics)


async def metrics(request: web.Request) -> web.Response:
    """The numbers of this process."""
    return web.Response(body=await request.app[METRICS].text(), headers={"Content-Type": CONTENT_TYPE_LATEST})
