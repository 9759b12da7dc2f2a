"""Servers, their databases and what they may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Server:
    """The server that was asked, and as whom."""

    version: str
    in_recovery: bool
    started_at: datetime
    now: datetime
    dbname: str
    role: str
    freeze_max_age: int
    autovacuum: bool
    host: str = ""
    port: int = 0


@dataclass(frozen=True)
class Status:
    """The row of sweep.status."""

    sql_version: str | None
    library_version: str | None
    server_version_built: int | None
    mode: str | None
    effective_mode: str | None
    reason: str | None
    launcher_pid: int | None
    launcher_started_at: datetime | None
    workers: int | None
    max_workers: int | None
    rounds: int | None
    last_round_at: datetime | None
    last_round_time: float | None
    max_round_time: float | None
    relations: int | None
    due: int | None
    worker_starts: int | None
    worker_start_failures: int | None
    runs: int | None
    runs_saved_at: datetime | None
    runs_save_error: str | None
    decisions_used: int | None
    decisions_size: int | None
    decisions_dropped: int | None
    databases_dropped: int | None
    recent_crashes: int | None
    # Both are in milliseconds: the longest time that a round locked statistics, and the scout's
    # own naptime.
    last_lock_time: float | None = None
    max_lock_time: float | None = None
    naptime: float | None = None
    # How many tables have waited longer than five minutes, and how old the horizon is in
    # transactions.
    overdue: int | None = None
    horizon_age: int | None = None
    # None means that there is no hold.
    held_until: datetime | None = None
    # Every vacuum that ended after this is in sweep.runs. None means that no run ever had to make
    # room.
    runs_complete_since: datetime | None = None
    # How often workers visited, how many of these visits looked at all tables, and how much
    # processor time they took, in milliseconds.
    visits: int | None = None
    surveys: int | None = None
    visits_cpu_time: float | None = None
    # Why vacuums are as rare as autovacuum's. None means that no standby loses queries to
    # them.
    standby_conflicts: str | None = None
    # Growing tables whose vacuums come too late now. Pages that had left the cache before they
    # were vacuumed, of all tables since the server's start.
    late_tables: int | None = None
    late_pages: int | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Status:
        """Return it from the columns of any version. What one lacks is None."""
        return cls(**{field.name: row.get(field.name) for field in fields(cls)})


@dataclass(frozen=True)
class Current:
    """A setting as it is on the server."""

    name: str
    # as SHOW prints it
    shown: str
    # default, configuration file, command line …
    source: str
    # Its value in postgresql.auto.conf. None means that it is not there.
    auto: str | None = None
    # whether the value in the file could be used
    applied: bool = True


@dataclass(frozen=True)
class Database:
    """A row of sweep.databases."""

    datid: int
    datname: str
    ours: bool | None
    reason: str | None
    relations: int | None
    due: int | None
    dead_tuples: int | None
    xid_age: int | None
    mxid_age: int | None
    workers: int | None
    last_visit: datetime | None
    next_visit: datetime | None


@dataclass(frozen=True)
class DatabaseAge:
    """A database and the age of its oldest row, from pg_database."""

    datid: int
    datname: str
    xid_age: int
    mxid_age: int
    stats_reset: datetime | None


@dataclass(frozen=True)
class Feature:
    """A row of sweep.features."""

    feature: str
    # None means that it was not checked yet.
    enabled: bool | None
    detail: str | None


@dataclass(frozen=True)
class Call:
    """A row of sweep.audit: a call of a function that acts, and who made it."""

    called_at: datetime
    datid: int | None
    datname: str | None
    pid: int
    usename: str | None
    role: str | None
    application_name: str | None
    command: str
    relid: int | None
    schemaname: str | None
    relname: str | None
    vacuum_pid: int | None
    detail: str | None


@dataclass(frozen=True)
class Limit:
    """A row of sweep.budget: one limit of what vacuums may use."""

    name: str
    setting: str | None
    unit: str | None
    configured: float | None
    measured: float | None
    # what this limit leaves
    allowed_mb_per_s: float | None
    binding: bool
    # ok, absent, broken or not used
    sensor: str
    detail: str | None


@dataclass(frozen=True)
class Step:
    """A row of sweep.governor: what was measured, allowed, and why."""

    at: datetime
    vacuums: int
    read_mb_per_s: float | None
    dirty_mb_per_s: float | None
    wal_mb_per_s: float | None
    cpu_pct: float | None
    users_waiting: float | None
    allowed_mb_per_s: float | None
    floor_mb_per_s: float | None
    binding: str | None
    decision: str
    reason: str | None


@dataclass(frozen=True)
class Blocker:
    """A row of sweep.blockers, or the same from core's views: what holds the horizon back."""

    kind: str
    pid: int | None
    datname: str | None
    usename: str | None
    # prepared transaction, slot or application
    name: str | None
    state: str | None
    xmin: int | None
    # in transactions
    age: int | None
    since: datetime | None
    query: str | None
    withholds: str | None
    fix: str | None
    risk: str | None


@dataclass(frozen=True)
class Cluster:
    """What core's views say of the whole cluster."""

    version: str
    in_recovery: bool
    started_at: datetime
    now: datetime
    # the database that was asked
    dbname: str
    # in bytes
    block_size: int
    autovacuum: bool
    freeze_max_age: int
    multixact_freeze_max_age: int
    # the next transaction id, with its epoch
    next_xid: int
    # whether the role sees what others do
    sees_everything: bool
    archiving: bool
    archived_count: int
    failed_count: int
    last_archived_time: datetime | None
    last_failed_time: datetime | None


@dataclass(frozen=True)
class RecoveryConflict:
    """How many queries were cancelled on a standby because of one kind of conflict."""

    conflict: str
    # None means that the statistics have no database.
    cancelled: int | None


@dataclass(frozen=True)
class Totals:
    """What all runs came to that one starter began, from sweep.totals."""

    started_by: str
    since: datetime | None
    vacuums: int
    analyzes: int
    failed: int
    cancelled: int
    skipped: int
    blks_hit: int
    blks_read: int
    blks_dirtied: int
    wal_records: int
    wal_fpi: int
    wal_bytes: int
    cost: int
    tuples_removed: int
    # both in milliseconds
    run_time: float
    delay_time: float


@dataclass(frozen=True)
class IdRates:
    """How many transaction ids, multixacts and members of those are used in a second."""

    # None means that it is not known yet.
    xids_per_s: float | None
    mxids_per_s: float | None
    members_per_s: float | None = None


@dataclass(frozen=True)
class Members:
    """How many members of multixacts are kept, and at how many the server stops writing."""

    used: int
    # None means that it does not stop, from 19 on.
    stop_at: int | None

    @property
    def pct(self) -> float:
        """Return how much of the room for them is used, in percent. From 19 on it is of 2^32."""
        return 100.0 * self.used / 2**32


@dataclass(frozen=True)
class CoreStatus:
    """How autovacuum is doing, where there is no extension. Tables are this database's."""

    daemon_on: bool
    workers: int
    max_workers: int
    tables: int
    due: int
    # A vacuum sleeps so long (ms) whenever it has spent so much. 0 means that it never sleeps.
    cost_limit: int
    cost_delay: float
    # What that comes to if all pages are read, or all are dirtied. None means no limit.
    read_mb_per_s: float | None
    dirty_mb_per_s: float | None
