"""Families of metrics, from rows. What is None makes no sample. All of it is pure.

Values are in base units: seconds, bytes, and ratios from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric

T = TypeVar("T")
Value = float | int | bool | None
Sample = tuple[Sequence[str | None], Value]

MB = 1_048_576
# An empty label is what Prometheus takes for no label. No table and no database has this name.
REST = ""


def gauge(name: str, text: str, value: Value) -> Iterator[Metric]:
    """Return a gauge without labels, or nothing."""
    return gauges(name, text, (), [((), value)])


def gauges(
    name: str, text: str, labels: Sequence[str], samples: Iterable[Sample]
) -> Iterator[Metric]:
    """Return a gauge with its samples, or nothing if it has none."""
    return _filled(GaugeMetricFamily(name, text, labels=labels), samples)


def counter(name: str, text: str, value: Value) -> Iterator[Metric]:
    """Return a counter without labels, or nothing. Its name ends in _total."""
    return counters(name, text, (), [((), value)])


def counters(
    name: str, text: str, labels: Sequence[str], samples: Iterable[Sample]
) -> Iterator[Metric]:
    """Return a counter with its samples, or nothing if it has none. Its name ends in _total."""
    return _filled(CounterMetricFamily(name, text, labels=labels), samples)


def states(
    name: str, text: str, label: str, known: Iterable[str], current: str | None
) -> Iterator[Metric]:
    """Return a gauge with a sample for each known state: 1 for the current one, else 0."""
    if current is None:
        return iter(())
    names = dict.fromkeys((*known, current))
    return gauges(name, text, (label,), [((state,), state == current) for state in names])


def _filled(
    family: GaugeMetricFamily | CounterMetricFamily, samples: Iterable[Sample]
) -> Iterator[Metric]:
    seen: set[tuple[str, ...]] = set()
    for labels, value in samples:
        named = tuple(label or REST for label in labels)
        # A second sample with the same labels would make the whole page invalid.
        if value is None or named in seen:
            continue
        seen.add(named)
        family.add_metric(named, float(value))
    if family.samples:
        yield family


def scaled(value: float | None, factor: float) -> float | None:
    """Return a value in another unit."""
    return None if value is None else value * factor


def moment(value: datetime | None) -> float | None:
    """Return a time in seconds since the epoch."""
    return None if value is None else value.timestamp()


def seconds_since(begin: datetime | None, now: datetime) -> float | None:
    """Return how long something has lasted, in seconds."""
    return None if begin is None else max(0.0, (now - begin).total_seconds())


def most(rows: Iterable[T], key: Callable[[T], Any], limit: int) -> tuple[list[T], list[T]]:
    """Return the rows with the largest keys, so many at most, and the others."""
    ordered = sorted(rows, key=key, reverse=True)
    return ordered[:limit], ordered[limit:]
