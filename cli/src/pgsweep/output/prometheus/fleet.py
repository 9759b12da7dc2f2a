"""Metrics of a fleet: of each node what `pgsweep fleet` knows, with its name. All of it is pure.

A metric that one server has as well has the same name here, and the labels `node` and `group`. Of a
node there is a fixed number of series, and a silent one has `pgsweep_up` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from prometheus_client.metrics_core import Metric

from pgsweep import __version__
from pgsweep.fleet.summary import node_problems
from pgsweep.model import compute
from pgsweep.model.core_rates import when
from pgsweep.output.prometheus.family import MB, counter, counters, gauge, gauges, moment, scaled
from pgsweep.output.prometheus.server import MODES

if TYPE_CHECKING:
    from pgsweep.fleet.lookout import Seen
    from pgsweep.fleet.node import Node
    from pgsweep.fleet.reading import NodeReading, Row
    from pgsweep.model import Status
    from pgsweep.output.prometheus.family import Value

OF_NODE = ("node", "group")
# No fleet makes more series than those of so many nodes.
NODES = 1_000


def fleet(
    seen: Seen, scrapes: int, now: float, at: float, stale_after_s: float
) -> Iterator[Metric]:
    """Return all metrics of a fleet.

    `now` is by the monotonic clock, `at` by that of the wall. Older answers are those of silent
    nodes.
    """
    yield from _itself(seen, scrapes, now, at)
    rows = seen.rows[:NODES]
    answered = [row for row in rows if _is_up(row, now, stale_after_s)]
    yield from gauges(
        "pgsweep_up",
        "1 if the server answered when it was asked last.",
        OF_NODE,
        # Nothing is known of one that is asked for the first time.
        [(_of(row.node), row in answered) for row in rows if row.reading or row.is_silent],
    )
    yield from _servers(answered)
    yield from _pg_sweep(answered)
    yield from _ages(answered)
    yield from _nodes(answered)


def _is_up(row: Row, now: float, stale_after_s: float) -> bool:
    if row.reading is None or row.answered_at is None:
        return False
    return now - row.answered_at <= stale_after_s


def _of(node: Node) -> tuple[str, str]:
    return node.name, node.group


def _each(
    name: str,
    text: str,
    rows: Sequence[Row],
    value: Callable[[NodeReading], Value],
    label: str = "",
    of: str = "",
) -> Iterator[Metric]:
    """Return a gauge of each node, with a label more that has the same value everywhere."""
    labels = (*OF_NODE, label) if label else OF_NODE
    more = (of,) if label else ()
    samples = [
        ((*_of(row.node), *more), value(row.reading)) for row in rows if row.reading is not None
    ]
    return gauges(name, text, labels, samples)


def _itself(seen: Seen, scrapes: int, now: float, at: float) -> Iterator[Metric]:
    yield from gauges(
        "pgsweep_build_info",
        "1, with the version of the command.",
        ("version",),
        [((__version__,), 1)],
    )
    yield from counter("pgsweep_scrapes_total", "Scrapes that were answered.", scrapes)
    yield from counter(
        "pgsweep_readings_total", "How often the nodes were asked.", seen.looks + seen.failures
    )
    yield from counter(
        "pgsweep_reading_failures_total", "How often nobody could be asked.", seen.failures
    )
    yield from gauge(
        "pgsweep_reading_duration_seconds", "How long the last reading took.", seen.took_s
    )
    ended = None if seen.ended_at is None else at - (now - seen.ended_at)
    yield from gauge("pgsweep_reading_timestamp_seconds", "When the last reading ended.", ended)
    if seen.fleet is not None:
        yield from gauge(
            "pgsweep_fleet_nodes", "Nodes of the fleet that are shown.", len(seen.fleet.nodes)
        )
        yield from gauge(
            "pgsweep_fleet_complete",
            "0 if somebody who knows nodes has not said who is there.",
            not seen.fleet.incomplete,
        )


def _servers(rows: Sequence[Row]) -> Iterator[Metric]:
    yield from gauges(
        "pgsweep_server_info",
        "1, with the versions of the server and of the extension's library and SQL objects.",
        (*OF_NODE, "server_version", "library_version", "sql_version"),
        [
            (
                (
                    *_of(row.node),
                    row.reading.server.version.split()[0],
                    row.reading.status.library_version if row.reading.status else None,
                    row.reading.status.sql_version if row.reading.status else None,
                ),
                1,
            )
            for row in rows
            if row.reading is not None
        ],
    )
    yield from _each(
        "pgsweep_extension",
        "1 if the database that is asked has the extension.",
        rows,
        lambda reading: reading.status is not None,
    )
    yield from _each(
        "pgsweep_server_start_timestamp_seconds",
        "When the server was started.",
        rows,
        lambda reading: moment(reading.server.started_at),
    )
    yield from _each(
        "pgsweep_server_in_recovery",
        "1 on a standby.",
        rows,
        lambda reading: reading.server.in_recovery,
    )
    yield from _each(
        "pgsweep_autovacuum_enabled",
        "1 if autovacuum is on, which is the safety net.",
        rows,
        lambda reading: reading.server.autovacuum,
    )


def _pg_sweep(rows: Sequence[Row]) -> Iterator[Metric]:
    """Return what only pg_sweep knows, where it is."""

    def of(
        name: str,
        text: str,
        value: Callable[[Status], Value],
        make: Callable[..., Iterator[Metric]],
    ) -> Iterator[Metric]:
        samples = [
            (_of(row.node), value(row.reading.status))
            for row in rows
            if row.reading is not None and row.reading.status is not None
        ]
        return make(name, text, OF_NODE, samples)

    yield from gauges(
        "pgsweep_mode",
        "1 for the mode in effect.",
        (*OF_NODE, "mode"),
        [
            ((*_of(row.node), mode), row.reading.mode == mode)
            for row in rows
            if row.reading is not None and row.reading.status is not None
            for mode in MODES
        ],
    )
    yield from of(
        "pgsweep_mode_as_set",
        "0 if the mode in effect is another than sweep.mode says.",
        lambda status: status.effective_mode == status.mode,
        gauges,
    )
    yield from of(
        "pgsweep_hold_end_timestamp_seconds",
        "When the hold by sweep.hold() ends, or 0 if there is none.",
        lambda status: moment(status.held_until) or 0.0,
        gauges,
    )
    yield from of(
        "pgsweep_last_round_timestamp_seconds",
        "When the last round of the scout was.",
        lambda status: moment(status.last_round_at),
        gauges,
    )
    yield from of(
        "pgsweep_naptime_seconds",
        "The time between two rounds as it is now.",
        lambda status: scaled(status.naptime, 0.001),
        gauges,
    )
    yield from of(
        "pgsweep_tables_overdue",
        "Tables that have waited for longer than five minutes.",
        lambda status: status.overdue,
        gauges,
    )
    yield from of(
        "pgsweep_runs_save_failing",
        "1 if runs cannot be saved to the file.",
        lambda status: status.runs_save_error is not None,
        gauges,
    )
    yield from of(
        "pgsweep_databases_dropped",
        "Databases for which there was no room.",
        lambda status: status.databases_dropped,
        gauges,
    )
    yield from of(
        "pgsweep_decisions_dropped_total",
        "Decisions for which there was no room.",
        lambda status: status.decisions_dropped,
        counters,
    )


def _ages(rows: Sequence[Row]) -> Iterator[Metric]:
    yield from _each(
        "pgsweep_freeze_max_age",
        "The age at which a vacuum is forced: autovacuum_freeze_max_age and its like.",
        rows,
        lambda reading: reading.server.freeze_max_age,
        "ids",
        "xid",
    )
    yield from gauges(
        "pgsweep_database_xid_age",
        "Age of the oldest transaction id of a database. Without a name: of the other databases.",
        (*OF_NODE, "datname"),
        [
            ((*_of(row.node), row.reading.oldest.datname), row.reading.oldest.xid_age)
            for row in rows
            if row.reading is not None and row.reading.oldest is not None
        ],
    )
    yield from _each(
        "pgsweep_wraparound_left_ids",
        "Transaction ids and multixacts that are left until the server refuses to write.",
        rows,
        _left,
        "ids",
        "xid",
    )
    yield from _each(
        "pgsweep_ids_used_per_second",
        "Transaction ids and multixacts used in a second, over the last hour.",
        rows,
        lambda reading: reading.xids_per_s,
        "ids",
        "xid",
    )
    yield from _each(
        "pgsweep_wraparound_timestamp_seconds",
        "When the server would refuse to write at that rate, if nothing is frozen until then.",
        rows,
        lambda reading: _end(reading),
        "ids",
        "xid",
    )


def _left(reading: NodeReading) -> int | None:
    return None if reading.xid_age is None else compute.STOP_AGE - reading.xid_age


def _end(reading: NodeReading) -> float | None:
    left = _left(reading)
    return None if left is None else moment(when(reading.server.now, left, reading.xids_per_s))


def _nodes(rows: Sequence[Row]) -> Iterator[Metric]:
    """Return what is known of each node as a whole."""
    yield from _each(
        "pgsweep_node_tables_due",
        "Tables that are due: of all databases, or of the one that was asked.",
        rows,
        lambda reading: reading.due,
    )
    yield from _each(
        "pgsweep_node_vacuums", "Running vacuums and analyzes.", rows, lambda r: r.vacuums
    )
    yield from gauges(
        "pgsweep_node_vacuum_bytes_per_second",
        "What all running vacuums do together: pages read, pages dirtied, WAL.",
        (*OF_NODE, "kind"),
        [
            ((*_of(row.node), kind), scaled(value, MB))
            for row in rows
            if row.reading is not None
            for kind, value in (
                ("read", row.reading.read_mb_per_s),
                ("dirtied", row.reading.dirty_mb_per_s),
                ("wal", row.reading.wal_mb_per_s),
            )
        ],
    )
    yield from _each(
        "pgsweep_node_horizon_age_xids",
        "Transactions that have begun since the oldest holder of the horizon, or 0.",
        rows,
        lambda reading: reading.horizon_age,
    )
    yield from _each(
        "pgsweep_node_horizon_seconds",
        "For how long the oldest holder of the horizon has held it, or 0.",
        rows,
        lambda reading: reading.held_for.total_seconds() if reading.held_for else 0.0,
    )
    yield from gauges(
        "pgsweep_node_answer_seconds",
        "How long the node took to answer.",
        OF_NODE,
        [(_of(row.node), row.seconds) for row in rows],
    )
    yield from gauges(
        "pgsweep_node_lag_bytes",
        "How far a standby is behind, as Patroni says.",
        OF_NODE,
        [(_of(row.node), row.node.lag_bytes) for row in rows],
    )
    yield from counters(
        "pgsweep_node_recovery_conflicts_total",
        "Queries that were cancelled on a standby.",
        OF_NODE,
        [(_of(row.node), row.reading.conflicts) for row in rows if row.reading is not None],
    )
    yield from gauges(
        "pgsweep_node_problems",
        "How many things pgsweep fleet says need attention on the node.",
        OF_NODE,
        [(_of(row.node), len(node_problems(row)) + bool(row.node.state)) for row in rows],
    )
