"""Metrics of running vacuums and analyzes. All of it is pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from prometheus_client.metrics_core import Metric

from pgsweep.output.prometheus.family import MB, REST, gauges, scaled, seconds_since

if TYPE_CHECKING:
    from pgsweep.model import Progress
    from pgsweep.output.prometheus.family import Value
    from pgsweep.output.prometheus.reading import Reading

STARTERS = ("autovacuum", "autovacuum_wraparound", "manual", "sweep")
TABLE = ("datname", "schemaname", "relname")
RUN = (*TABLE, "command", "started_by")


def vacuums(reading: Reading, limit: int) -> Iterator[Metric]:
    """Return how many there are, and what the longest `limit` of them do."""
    if reading.progress is None:
        return
    # What a parallel worker does is part of what its leader does.
    leaders = [row for row in reading.progress if row.leader_pid is None]
    count = Counter(row.started_by for row in leaders)
    yield from gauges(
        "pgsweep_vacuums",
        "Running vacuums and analyzes of the whole cluster, by who started them.",
        ("started_by",),
        [((starter,), count[starter]) for starter in STARTERS],
    )
    shown = _longest(leaders, limit)
    now = reading.cluster.now
    for name, text, value in _figures(now):
        yield from gauges(name, text, RUN, [(run_labels(row), value(row)) for row in shown])
    yield from gauges(
        "pgsweep_vacuum_phase",
        "1 for the phase that the running vacuum is in.",
        (*RUN, "phase"),
        [((*run_labels(row), row.phase), 1) for row in shown if row.phase],
    )
    yield from gauges(
        "pgsweep_vacuum_limited_by",
        "1 for what holds the running vacuum back.",
        (*RUN, "limited_by"),
        [((*run_labels(row), limited_by(row)), 1) for row in shown if row.limited_by],
    )


def table_name(row: Progress) -> str:
    """Return the name of a vacuum's table, or its number where the name is not known."""
    return row.relname or (str(row.relid) if row.relid else REST)


def run_labels(row: Progress) -> tuple[str | None, ...]:
    """Return the labels of a running vacuum: the table, what is done, and who started it."""
    return (row.datname, row.schemaname, table_name(row), row.command, row.started_by)


def limited_by(row: Progress) -> str:
    """Return the limit without its figure, which changes several times in a second."""
    return re.sub(r"[\s\d.]+$", "", row.limited_by or "")


def _longest(rows: Sequence[Progress], limit: int) -> list[Progress]:
    return sorted(rows, key=lambda row: (row.started_at is None, row.started_at, row.pid))[:limit]


def _figures(now: datetime) -> list[tuple[str, str, Callable[[Progress], Value]]]:
    return [
        (
            "pgsweep_vacuum_running_seconds",
            "How long the vacuum has run.",
            lambda row: seconds_since(row.started_at, now),
        ),
        (
            "pgsweep_vacuum_done_ratio",
            "The share of the whole vacuum that is done.",
            lambda row: scaled(row.done_pct, 0.01),
        ),
        (
            "pgsweep_vacuum_phase_done_ratio",
            "The share of the vacuum's phase that is done.",
            lambda row: scaled(row.phase_pct, 0.01),
        ),
        (
            "pgsweep_vacuum_eta_seconds",
            "How long the vacuum will still take.",
            lambda row: row.eta.total_seconds() if row.eta is not None else None,
        ),
        (
            "pgsweep_vacuum_read_bytes_per_second",
            "How fast the vacuum reads pages, over the last seconds.",
            lambda row: scaled(row.read_mb_per_s, MB),
        ),
        (
            "pgsweep_vacuum_dirty_bytes_per_second",
            "How fast the vacuum dirties pages, over the last seconds.",
            lambda row: scaled(row.dirty_mb_per_s, MB),
        ),
        (
            "pgsweep_vacuum_wal_bytes_per_second",
            "How fast the vacuum writes WAL, over the last seconds.",
            lambda row: scaled(row.wal_mb_per_s, MB),
        ),
        (
            "pgsweep_vacuum_waiters",
            "Sessions that wait for a lock on the vacuum's table.",
            lambda row: row.waiters,
        ),
    ]
