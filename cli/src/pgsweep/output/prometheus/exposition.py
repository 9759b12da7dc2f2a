"""A reading as Prometheus takes it. All of it is pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from pgsweep.output.prometheus.budget import budget
from pgsweep.output.prometheus.health import health
from pgsweep.output.prometheus.horizon import horizon, wraparound
from pgsweep.output.prometheus.runs import runs
from pgsweep.output.prometheus.server import server
from pgsweep.output.prometheus.tables import tables
from pgsweep.output.prometheus.vacuums import vacuums

if TYPE_CHECKING:
    from pgsweep.output.prometheus.reading import Health, Reading


# What is exposed beside the metrics of a server or a fleet.
More = Callable[[], Iterable[Metric]]


def families(reading: Reading | None, state: Health, limit: int) -> Iterator[Metric]:
    """Return all metrics. Of tables, databases and vacuums there are `limit` series each."""
    yield from health(state)
    if reading is None:
        return
    yield from server(reading)
    yield from vacuums(reading, limit)
    yield from tables(reading, limit)
    yield from runs(reading)
    yield from horizon(reading)
    yield from wraparound(reading, limit)
    yield from budget(reading)


def page(found: Iterable[Metric], accept: str) -> tuple[bytes, str]:
    """Return the page and its content type, in the format that the scraper prefers."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Found(list(found)))
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


class _Found(Collector):
    """Hands over metrics that were made before."""

    def __init__(self, found: list[Metric]) -> None:
        self._found = found

    def collect(self) -> list[Metric]:
        return self._found
