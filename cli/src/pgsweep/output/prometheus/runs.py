"""Metrics of what finished runs came to, as the ledger counts it. All of it is pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from prometheus_client.metrics_core import Metric

from pgsweep.model import Totals
from pgsweep.output.prometheus.family import Value, counters, gauge, moment

if TYPE_CHECKING:
    from pgsweep.output.prometheus.reading import Reading

Figure = tuple[str, str, Callable[[Totals], Value]]


def not_less(before: Sequence[Totals] | None, now: Sequence[Totals]) -> tuple[Totals, ...]:
    """Return sums that have not gone down, unless they began anew.

    A crash takes back the last seconds of the ledger. To Prometheus a counter that goes down has
    begun at zero, so that all it had would count again. It stands still here until it is passed.
    """
    known = {row.started_by: row for row in before or ()}

    def kept(row: Totals) -> Totals:
        old = known.get(row.started_by)
        if old is None or old.since != row.since:
            return row
        sums = [field.name for field in fields(row) if field.name not in ("started_by", "since")]
        return replace(row, **{name: max(getattr(old, name), getattr(row, name)) for name in sums})

    return tuple(map(kept, now))


def runs(reading: Reading) -> Iterator[Metric]:
    """Return the sums of all runs since they began. They survive restarts of the server."""
    if not reading.totals:
        return
    totals = reading.totals
    yield from counters(
        "pgsweep_runs_total",
        "Vacuums and analyzes that ended, however they did.",
        ("started_by", "command"),
        [
            ((row.started_by, command), count)
            for row in totals
            for command, count in (("vacuum", row.vacuums), ("analyze", row.analyzes))
        ],
    )
    yield from counters(
        "pgsweep_runs_unfinished_total",
        "Vacuums and analyzes that did not do all: failed, cancelled, or skipped for a lock.",
        ("started_by", "outcome"),
        [
            ((row.started_by, outcome), getattr(row, outcome))
            for row in totals
            for outcome in ("failed", "cancelled", "skipped")
        ],
    )
    for name, text, value in _figures(reading.cluster.block_size):
        samples = [((row.started_by,), value(row)) for row in totals]
        yield from counters(name, text, ("started_by",), samples)
    yield from gauge(
        "pgsweep_runs_since_timestamp_seconds",
        "When the sums of runs began.",
        max((moment(row.since) or 0.0 for row in totals), default=None),
    )


def _figures(block_size: int) -> list[Figure]:
    return [
        (
            "pgsweep_run_seconds_total",
            "How long vacuums and analyzes took.",
            lambda row: row.run_time / 1000,
        ),
        (
            "pgsweep_run_delay_seconds_total",
            "How long of it they slept for the cost limit or the budget.",
            lambda row: row.delay_time / 1000,
        ),
        (
            "pgsweep_run_hit_bytes_total",
            "Pages that vacuums and analyzes found in shared buffers.",
            lambda row: row.blks_hit * block_size,
        ),
        (
            "pgsweep_run_read_bytes_total",
            "Pages that they read.",
            lambda row: row.blks_read * block_size,
        ),
        (
            "pgsweep_run_dirtied_bytes_total",
            "Pages that they dirtied.",
            lambda row: row.blks_dirtied * block_size,
        ),
        ("pgsweep_run_wal_bytes_total", "WAL that they wrote.", lambda row: row.wal_bytes),
        (
            "pgsweep_run_wal_full_page_images_total",
            "Full-page images in it.",
            lambda row: row.wal_fpi,
        ),
        (
            "pgsweep_run_cost_total",
            "Cost units, as vacuum_cost_page_hit and the like count them.",
            lambda row: row.cost,
        ),
        (
            "pgsweep_run_tuples_removed_total",
            "Dead rows that they removed, as far as they told.",
            lambda row: row.tuples_removed,
        ),
    ]
