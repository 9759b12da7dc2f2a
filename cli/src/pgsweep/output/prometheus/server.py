"""Metrics of the server and of pg_sweep in it: versions, mode, launcher, archiver, standbys.

All of it is pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client.metrics_core import Metric

from pgsweep.output.prometheus.family import (
    counter,
    counters,
    gauge,
    gauges,
    moment,
    scaled,
    states,
)

if TYPE_CHECKING:
    from pgsweep.model import Cluster, Status
    from pgsweep.output.prometheus.reading import Reading

MODES = ("off", "observe", "act")


def server(reading: Reading) -> Iterator[Metric]:
    """Return what kind of server this is, and how pg_sweep is doing there."""
    cluster, status = reading.cluster, reading.status
    yield from gauges(
        "pgsweep_server_info",
        "1, with the versions of the server and of the extension's library and SQL objects.",
        ("server_version", "library_version", "sql_version"),
        [
            (
                (
                    cluster.version.split()[0],
                    status.library_version if status else None,
                    status.sql_version if status else None,
                ),
                1,
            )
        ],
    )
    yield from gauge(
        "pgsweep_extension", "1 if the database that is asked has the extension.", reading.extension
    )
    yield from gauge(
        "pgsweep_sees_everything",
        "1 if the role sees what all sessions do, as members of pg_monitor do.",
        cluster.sees_everything,
    )
    yield from gauge(
        "pgsweep_server_start_timestamp_seconds",
        "When the server was started.",
        moment(cluster.started_at),
    )
    yield from gauge("pgsweep_server_in_recovery", "1 on a standby.", cluster.in_recovery)
    yield from gauge(
        "pgsweep_autovacuum_enabled",
        "1 if autovacuum is on, which is the safety net.",
        cluster.autovacuum,
    )
    yield from counter(
        "pgsweep_xids_total", "Transaction ids that were ever used.", cluster.next_xid
    )
    yield from _archiver(cluster)
    if reading.conflicts is not None:
        yield from counters(
            "pgsweep_recovery_conflicts_total",
            "Queries that were cancelled on this standby, by what they were in the way of.",
            ("conflict",),
            [((row.conflict,), row.cancelled) for row in reading.conflicts],
        )
    if status is not None:
        yield from _mode(status)
        yield from _launcher(status)
        yield from _memory(status)
    if reading.features is not None:
        yield from gauges(
            "pgsweep_feature_enabled",
            "Whether a part that reads private structures of the server is on.",
            ("feature",),
            [((row.feature,), row.enabled) for row in reading.features],
        )


def _archiver(cluster: Cluster) -> Iterator[Metric]:
    if not cluster.archiving:
        return
    failed, archived = cluster.last_failed_time, cluster.last_archived_time
    yield from counter(
        "pgsweep_archiver_archived_total", "WAL files archived.", cluster.archived_count
    )
    yield from counter(
        "pgsweep_archiver_failed_total", "Attempts to archive that failed.", cluster.failed_count
    )
    yield from gauge(
        "pgsweep_archiver_failing",
        "1 while the last attempt to archive failed.",
        failed is not None and (archived is None or failed > archived),
    )
    yield from gauge(
        "pgsweep_archiver_last_archived_timestamp_seconds",
        "When a WAL file was archived last.",
        moment(archived),
    )


def _mode(status: Status) -> Iterator[Metric]:
    yield from states(
        "pgsweep_mode", "1 for the mode in effect.", "mode", MODES, status.effective_mode
    )
    yield from gauge(
        "pgsweep_mode_as_set",
        "0 if the mode in effect is another than sweep.mode says.",
        status.effective_mode == status.mode,
    )
    yield from gauge(
        "pgsweep_recent_crashes",
        "How many of the last five server starts ended with a crash of a process of pg_sweep.",
        status.recent_crashes,
    )
    yield from gauge(
        "pgsweep_hold_end_timestamp_seconds",
        "When the hold by sweep.hold() ends, or 0 if there is none.",
        moment(status.held_until) or 0.0,
    )
    yield from gauge(
        "pgsweep_standby_conflicts",
        "1 if vacuums are spaced out because a standby loses queries to them.",
        status.standby_conflicts is not None,
    )
    yield from gauge(
        "pgsweep_late_tables",
        "Growing tables whose vacuums come too late for pages in the cache.",
        status.late_tables,
    )
    yield from counter(
        "pgsweep_late_pages_total",
        "New pages that had left the cache before they were vacuumed.",
        status.late_pages,
    )


def _launcher(status: Status) -> Iterator[Metric]:
    yield from gauge(
        "pgsweep_launcher_up", "1 if the launcher runs.", status.launcher_pid is not None
    )
    yield from counter("pgsweep_rounds_total", "Rounds of the scout.", status.rounds)
    yield from gauge(
        "pgsweep_last_round_timestamp_seconds",
        "When the last round of the scout was.",
        moment(status.last_round_at),
    )
    yield from gauge(
        "pgsweep_last_round_duration_seconds",
        "How long the last round of the scout took.",
        scaled(status.last_round_time, 0.001),
    )
    yield from gauge(
        "pgsweep_naptime_seconds",
        "The time between two rounds as it is now.",
        scaled(status.naptime, 0.001),
    )
    yield from gauge(
        "pgsweep_relations", "Relations of all databases that the scout sees.", status.relations
    )
    yield from gauge("pgsweep_workers", "Workers now.", status.workers)
    yield from gauge("pgsweep_max_workers", "Workers at most.", status.max_workers)
    yield from counter(
        "pgsweep_worker_starts_total", "Workers that were started.", status.worker_starts
    )
    yield from counter(
        "pgsweep_worker_start_failures_total",
        "Workers that could not be started.",
        status.worker_start_failures,
    )
    yield from counter("pgsweep_visits_total", "Visits of workers.", status.visits)
    yield from counter(
        "pgsweep_visits_cpu_seconds_total",
        "Processor time of all visits, without the vacuums.",
        scaled(status.visits_cpu_time, 0.001),
    )


def _memory(status: Status) -> Iterator[Metric]:
    yield from gauge("pgsweep_runs_kept", "Runs in sweep.runs.", status.runs)
    yield from gauge(
        "pgsweep_runs_saved_timestamp_seconds",
        "When runs were saved to the file last.",
        moment(status.runs_saved_at),
    )
    yield from gauge(
        "pgsweep_runs_save_failing",
        "1 if runs cannot be saved to the file.",
        status.runs_save_error is not None,
    )
    yield from gauge(
        "pgsweep_decisions", "Tables whose decision is remembered.", status.decisions_used
    )
    yield from gauge("pgsweep_max_decisions", "Tables there is room for.", status.decisions_size)
    yield from counter(
        "pgsweep_decisions_dropped_total",
        "Decisions for which there was no room.",
        status.decisions_dropped,
    )
    yield from gauge(
        "pgsweep_databases_dropped",
        "Databases for which there was no room.",
        status.databases_dropped,
    )
