"""Metrics of tables in need: what is due, for how long, and where dead rows are.

All of it is pure. However many tables there are, the series are those of the worst ones and one
for all others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from prometheus_client.metrics_core import Metric

from pgsweep.model.compute import FREEZE_DAYS
from pgsweep.output.prometheus.family import REST, gauge, gauges, moment, most, seconds_since
from pgsweep.output.prometheus.vacuums import TABLE

if TYPE_CHECKING:
    from pgsweep.model import Database, DeadTuples, QueueWait
    from pgsweep.output.prometheus.family import Sample
    from pgsweep.output.prometheus.reading import Reading

# What a table in the queue waits for begins with one of these.
WAITS = {
    "next round": "next round",
    "worker slot": "worker slot",
    "cleaner": "cleaner",
    "minimum interval": "minimum interval",
    "lock": "lock",
    "failed": "failed",
    "horizon": "horizon",
    "snoozed": "snoozed",
    "hold": "hold",
    "checkpoint": "checkpoint",
    "standby": "standby",
    "database": "database",
    "sweep.mode": "mode",
}


def tables(reading: Reading, limit: int) -> Iterator[Metric]:
    """Return what is due, by the queue where there is one, and dead rows by table."""
    if reading.status is not None:
        yield from gauge(
            "pgsweep_tables_due",
            "Tables of all databases that are over a threshold.",
            reading.status.due,
        )
        yield from gauge(
            "pgsweep_tables_overdue",
            "Tables that have waited for longer than five minutes.",
            reading.status.overdue,
        )
    if reading.databases is not None:
        yield from _by_database(reading.databases, limit)
    if reading.waits is not None:
        yield from _queue(reading.waits, reading.cluster.now, limit)
    if reading.to_freeze is not None:
        datname = (reading.cluster.dbname,)
        yield from gauges(
            "pgsweep_tables_to_freeze",
            f"Tables of the database that is asked that are frozen within {FREEZE_DAYS} days.",
            ("datname",),
            [(datname, reading.to_freeze.tables)],
        )
        yield from gauges(
            "pgsweep_pages_to_freeze",
            "Pages of these tables that are not frozen yet.",
            ("datname",),
            [(datname, reading.to_freeze.pages)],
        )
    if reading.dead_tuples is not None:
        yield from _dead(reading, reading.dead_tuples)


def wait_of(row: QueueWait) -> str:
    """Return what a table waits for, in a few words, without names and times."""
    said = row.waiting_for or ""
    return next((word for begin, word in WAITS.items() if said.startswith(begin)), "other")


def _by_database(databases: Sequence[Database], limit: int) -> Iterator[Metric]:
    def need(row: Database) -> tuple[int, int]:
        return (row.due or 0, row.dead_tuples or 0)

    shown, others = most(databases, need, limit)

    def samples(column: str) -> list[Sample]:
        found: list[Sample] = [((row.datname,), getattr(row, column)) for row in shown]
        if others:
            found.append(((REST,), sum(getattr(row, column) or 0 for row in others)))
        return found

    yield from gauges(
        "pgsweep_database_tables_due",
        "Tables of a database that are over a threshold. Without a name: the other databases.",
        ("datname",),
        samples("due"),
    )
    yield from gauges(
        "pgsweep_database_dead_tuples",
        "Dead rows of all tables of a database. Without a name: the other databases.",
        ("datname",),
        samples("dead_tuples"),
    )


def _queue(waits: Sequence[QueueWait], now: datetime, limit: int) -> Iterator[Metric]:
    count = Counter(map(wait_of, waits))
    longest: dict[str, float] = {}
    for row in waits:
        waited = seconds_since(row.waiting_since, now)
        if waited is not None:
            longest[wait_of(row)] = max(waited, longest.get(wait_of(row), 0.0))
    words = (*WAITS.values(), "other")
    yield from gauges(
        "pgsweep_queue_tables",
        "Tables in sweep.queue, of which it has the 1000 most urgent, by what they wait for.",
        ("waiting_for",),
        [((word,), count[word]) for word in words],
    )
    yield from gauges(
        "pgsweep_queue_oldest_wait_seconds",
        "How long the table has waited that has waited longest, by what it waits for.",
        ("waiting_for",),
        [((word,), longest.get(word, 0.0)) for word in words],
    )
    shown, _ = most(waits, lambda row: row.score or 0.0, limit)
    labels = (*TABLE, "lane")

    def named(row: QueueWait) -> tuple[str | None, ...]:
        return (row.datname, row.schemaname, row.relname, row.lane)

    yield from gauges(
        "pgsweep_table_score",
        "How urgent a table in the queue is: what there is, divided by what is allowed.",
        labels,
        [(named(row), row.score) for row in shown if row.relname],
    )
    yield from gauges(
        "pgsweep_table_waiting_seconds",
        "How long a table in the queue has been over its threshold, or was asked for.",
        labels,
        [(named(row), seconds_since(row.waiting_since, now)) for row in shown if row.relname],
    )


def _dead(reading: Reading, rows: Sequence[DeadTuples]) -> Iterator[Metric]:
    datname = reading.cluster.dbname

    def named(row: DeadTuples) -> tuple[str | None, ...]:
        return (datname, row.schemaname, row.relname)

    yield from gauges(
        "pgsweep_table_dead_tuples",
        "Dead rows of the tables of the database that is asked. Without a name: its other tables.",
        TABLE,
        [(named(row), row.dead_tuples) for row in rows],
    )
    yield from gauges(
        "pgsweep_table_vacuum_threshold_tuples",
        "How many dead rows autovacuum allows the table, by its own parameters and the settings.",
        TABLE,
        [(named(row), row.vacuum_threshold) for row in rows if row.relname],
    )
    yield from gauges(
        "pgsweep_tables_over_threshold",
        "Tables of the database that is asked with more dead rows than their threshold allows.",
        ("datname",),
        [((datname,), sum(row.due for row in rows))],
    )
    yield from gauge(
        "pgsweep_tables_read_timestamp_seconds",
        "When all tables of the database that is asked were looked at last.",
        moment(reading.dead_tuples_at),
    )
