"""Metrics of `serve` itself: whether and how it could read. All of it is pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client.metrics_core import Metric

from pgsweep import __version__
from pgsweep.output.prometheus.family import counter, counters, gauge, gauges

if TYPE_CHECKING:
    from pgsweep.output.prometheus.reading import Health


def health(state: Health) -> Iterator[Metric]:
    """Return what `serve` knows of itself. This needs no server."""
    yield from gauge("pgsweep_up", "1 if the server answered when it was asked last.", state.up)
    yield from gauges(
        "pgsweep_build_info",
        "1, with the version of the command.",
        ("version",),
        [((__version__,), 1)],
    )
    yield from counter("pgsweep_scrapes_total", "Scrapes that were answered.", state.scrapes)
    yield from counter(
        "pgsweep_scrape_timeouts_total",
        "Scrapes that were answered without the server, which took too long.",
        state.timeouts,
    )
    yield from counter(
        "pgsweep_readings_total",
        "How often the server was asked. Scrapes at the same time share one reading.",
        state.readings,
    )
    yield from counter(
        "pgsweep_reading_failures_total",
        "How often the server could not be asked.",
        state.failures,
    )
    yield from gauge(
        "pgsweep_reading_duration_seconds",
        "How long the last reading took.",
        state.last_took_s,
    )
    yield from gauge(
        "pgsweep_reading_timestamp_seconds",
        "When the last reading ended.",
        state.last_ended_at,
    )
    yield from gauges(
        "pgsweep_part_up",
        "1 if this part of the last reading could be read.",
        ("part",),
        [((part,), good) for part, good in state.parts.items()],
    )
    yield from counters(
        "pgsweep_part_failures_total",
        "How often a part could not be read although the server answered.",
        ("part",),
        [((part,), count) for part, count in state.part_failures.items()],
    )
