"""What was read from the server, frozen.

Field names are the columns of the views in schema sweep. They are also the keys of `--json`.
Times are in milliseconds unless the type says otherwise (datetime, timedelta). None is what the
view returns as NULL: the value is unknown, does not apply, or may not be seen by this role.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta


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
    # How many tables have waited longer than sweep.max_wait, and how old the horizon is in
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
    # Why vacuums are as rare as the core daemon's. None means that no standby loses queries to
    # them.
    standby_conflicts: str | None = None


@dataclass(frozen=True)
class Progress:
    """A row of sweep.progress: a running vacuum, or a parallel worker of one."""

    pid: int
    leader_pid: int | None
    datid: int | None
    datname: str | None
    relid: int | None
    schemaname: str | None
    relname: str | None
    command: str | None
    started_by: str | None
    mode: str | None
    phase: str | None
    phase_pct: float | None
    started_at: datetime | None
    blks_hit: int | None
    blks_read: int | None
    blks_dirtied: int | None
    wal_records: int | None
    wal_fpi: int | None
    wal_bytes: int | None
    cost: int | None
    cost_per_s: float | None
    read_mb_per_s: float | None
    dirty_mb_per_s: float | None
    wal_mb_per_s: float | None
    delay_time: float | None
    sleep_pct: float | None
    done_pct: float | None
    eta: timedelta | None
    eta_at: datetime | None
    eta_basis: str | None
    index_pass: int | None
    waiters: int | None
    limited_by: str | None
    cost_limit: int | None
    cost_delay: float | None
    pages: int | None
    parallel_workers: int | None


@dataclass(frozen=True)
class Run:
    """A row of sweep.runs: a finished vacuum."""

    run_id: int
    pid: int | None
    datid: int | None
    datname: str | None
    relid: int | None
    schemaname: str | None
    relname: str | None
    command: str | None
    started_by: str | None
    mode: str | None
    started_at: datetime | None
    ended_at: datetime | None
    blks_hit: int | None
    blks_read: int | None
    blks_dirtied: int | None
    wal_records: int | None
    wal_fpi: int | None
    wal_bytes: int | None
    cost: int | None
    cost_per_s: float | None
    read_mb_per_s: float | None
    dirty_mb_per_s: float | None
    wal_mb_per_s: float | None
    delay_time: float | None
    sleep_pct: float | None
    cost_limit: int | None
    cost_delay: float | None
    pages: int | None
    index_pass: int | None
    tuples_removed: int | None
    dead_not_removable: int | None
    memory_bytes: int | None
    outcome: str | None
    reason: str | None


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
class Decision:
    """A row of sweep.decisions: a table that looked due, and what was decided about it last."""

    datid: int | None
    datname: str | None
    relid: int | None
    schemaname: str | None
    relname: str | None
    decision: str | None
    reason: str | None
    first_at: datetime | None
    last_at: datetime | None
    times: int | None
    not_before: datetime | None
    dead_tuples: int | None
    ins_since_vacuum: int | None
    next_dead_tuples: int | None
    next_ins_since_vacuum: int | None
    # A transaction that the horizon has to pass. None means that it waits for none.
    waits_for: int | None
    # The mode observe: when it would have been vacuumed, and who did it instead after that.
    would_vacuum_at: datetime | None
    vacuumed_instead_at: datetime | None
    vacuumed_instead_by: str | None


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
class TriedTable:
    """A row of sweep.trial: what would have been done with a table, and what was.

    `blks_` are pages of `block_size` bytes. `earlier` is a mean over `followed` vacuums.
    """

    since: datetime
    until: datetime | None
    datid: int | None
    datname: str | None
    relid: int | None
    schemaname: str | None
    relname: str | None
    vacuums: int
    insert_vacuums: int
    first_at: datetime | None
    last_at: datetime | None
    blks_read_min: int
    blks_read_max: int
    blks_dirtied_min: int
    blks_dirtied_max: int
    blks_frozen: int
    waiting_since: datetime | None
    dead_tuples: int | None
    autovacuum_threshold: int | None
    ins_since_vacuum: int | None
    autovacuum_insert_threshold: int | None
    autovacuums: int
    autovacuum_blks_read: int
    autovacuum_blks_dirtied: int
    manual_vacuums: int
    followed: int
    earlier: timedelta | None
    blks_grown: int
    block_size: int


@dataclass(frozen=True)
class TableName:
    """A table of the database that was asked."""

    datname: str
    relid: int
    schemaname: str
    relname: str


@dataclass(frozen=True)
class TableSetting:
    """A row of sweep.table_settings, with the table's name.

    The name is None if the table was dropped.
    """

    datname: str
    relid: int
    schemaname: str | None
    relname: str | None
    name: str
    value: str
    set_by: str | None
    set_at: datetime | None


@dataclass(frozen=True)
class Table:
    """A row of sweep.tables, or the same from core's views of a server without the extension.

    Without the extension `truncatable_bytes` and `snoozed_until` are None, `frozen_pages` is None
    before 18, and `pages` is as old as the last vacuum or analyze.
    """

    datname: str
    relid: int
    schemaname: str | None
    relname: str | None
    lane: str | None
    live_tuples: int | None
    dead_tuples: int | None
    vacuum_threshold: float | None
    ins_since_vacuum: int | None
    # None means that vacuum for inserts is switched off.
    insert_threshold: float | None
    mod_since_analyze: int | None
    analyze_threshold: float | None
    pages: int | None
    frozen_pages: int | None
    all_visible_pages: int | None
    xid_age: int | None
    mxid_age: int | None
    # the ages at which the core daemon vacuums it in any case
    xid_limit: int | None
    mxid_limit: int | None
    score: float | None
    xid_score: float | None
    mxid_score: float | None
    vacuum_score: float | None
    vacuum_insert_score: float | None
    analyze_score: float | None
    do_vacuum: bool | None
    decision: str | None
    reason: str | None
    not_before: datetime | None
    blocked_by: list[int] | None
    truncatable_bytes: int | None
    snoozed_until: datetime | None
    last_run: datetime | None


@dataclass(frozen=True)
class Waiting:
    """A row of sweep.queue that waits: a table that is to be vacuumed, of any database."""

    position: int
    # Those that run are not read. They are in sweep.progress.
    state: str
    # None means a shared catalog, which is every database's.
    datid: int | None
    datname: str | None
    relid: int
    schemaname: str | None
    relname: str | None
    lane: str | None
    score: float | None
    reason: str | None
    waiting_since: datetime | None
    waiting_for: str | None
    not_before: datetime | None
    estimated_duration: timedelta | None
    estimated_mb: float | None
    # None means that nobody has asked for it.
    request_id: int | None
    requested_by: str | None
    requested_at: datetime | None
    aux: bool | None
    attempts: int | None


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
class Cause:
    """A row of sweep.explain(): why a table is not vacuumed, the worst first."""

    rank: int
    relation: str | None
    verdict: str | None
    cause: str | None
    evidence: str | None
    fix: str | None
    risk: str | None


@dataclass(frozen=True)
class Feature:
    """A row of sweep.features."""

    feature: str
    enabled: bool
    detail: str | None


@dataclass(frozen=True)
class LastHour:
    """Totals over the runs of the last hour, or of the part of it that is known."""

    runs: int
    tuples_removed: int
    failed: int
    cancelled: int
    # Before this some runs are missing. None means that the whole hour is known.
    since: datetime | None = None


@dataclass(frozen=True)
class HourOfTable:
    """A row of sweep.history: a table's runs in an hour.

    A row without relid has the sums of the tables that were left out.
    """

    hour: datetime
    datid: int | None
    datname: str | None
    relid: int | None
    schemaname: str | None
    relname: str | None
    command: str
    started_by: str
    runs: int
    failed: int
    cancelled: int
    skipped: int
    blks_read: int
    blks_dirtied: int
    wal_bytes: int
    cost: int
    tuples_removed: int
    # in milliseconds
    run_time: float
    dead_not_removable: int | None
    last_ended_at: datetime | None


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
class DeadTuples:
    """The dead rows of a table, or of all tables that are not named, together."""

    # None means the tables that are not named.
    schemaname: str | None
    relname: str | None
    dead_tuples: int
    vacuum_threshold: float | None
    # how many tables are over their threshold
    due: int


@dataclass(frozen=True)
class QueueWait:
    """A table in sweep.queue, and what it waits for."""

    datname: str | None
    schemaname: str | None
    relname: str | None
    lane: str | None
    score: float | None
    waiting_since: datetime | None
    waiting_for: str | None


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
    """How many transaction ids and multixacts are used in a second."""

    # None means that it is not known yet.
    xids_per_s: float | None
    mxids_per_s: float | None


@dataclass(frozen=True)
class CoreStatus:
    """How the core daemon is doing, where there is no extension. Tables are this database's."""

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


@dataclass(frozen=True)
class Snapshot:
    """Everything `top` shows, read at one moment."""

    server: Server
    # None means that this database has no extension. Then `core` is there.
    status: Status | None
    progress: tuple[Progress, ...] = ()
    runs: tuple[Run, ...] = ()
    databases: tuple[Database, ...] = ()
    # None means that this version of the extension has no sweep.queue.
    queue: tuple[Waiting, ...] | None = None
    # What holds the horizon back. None means that it is not known.
    blockers: tuple[Blocker, ...] | None = None
    # The limits of what vacuums may use, and the governor's last step.
    limits: tuple[Limit, ...] = ()
    step: Step | None = None
    core: CoreStatus | None = None


@dataclass(frozen=True)
class TableKey:
    """A table of any database. `datid` is None for a catalog that all databases share."""

    datid: int | None
    relid: int
    title: str


@dataclass(frozen=True)
class TableHistory:
    """What became of one table: its last runs, its sums by the hour, and what was decided."""

    key: TableKey
    now: datetime
    runs: tuple[Run, ...] = ()
    hours: tuple[HourOfTable, ...] = ()
    decisions: tuple[Decision, ...] = ()
    # Whether core's views told it, and what has to be said about that.
    core: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class StatusReport:
    """Everything `status` shows."""

    server: Server
    status: Status
    last_hour: LastHour
    progress: tuple[Progress, ...] = ()
    databases: tuple[Database, ...] = ()
    # tables that somebody asked to be left alone for a while
    snoozed: int = 0
    # None means that this version of the extension has no such view.
    queue: tuple[Waiting, ...] | None = None
    blockers: tuple[Blocker, ...] | None = None


@dataclass(frozen=True)
class Day:
    """Everything `report --live` shows: what ended in the last `hours`, and what is there now."""

    server: Server
    status: Status
    last_hour: LastHour
    # in bytes
    block_size: int
    hours: float
    runs: tuple[Run, ...] = ()
    progress: tuple[Progress, ...] = ()
    databases: tuple[Database, ...] = ()
    decisions: tuple[Decision, ...] = ()
    queue: tuple[Waiting, ...] | None = None
    blockers: tuple[Blocker, ...] | None = None
    # Before this some of what ended is missing. None means that the whole day is known.
    since: datetime | None = None
    # The same for single runs, which the plots over time show.
    runs_since: datetime | None = None
    # Where some single runs are missing, these are the sums of all runs, from the beginning of an
    # hour on.
    history: tuple[HourOfTable, ...] = ()
    history_since: datetime | None = None


@dataclass(frozen=True)
class RunFilter:
    """Which runs are asked for. None does not filter.

    `since` is text as interval takes it.
    """

    limit: int | None = 20
    schemaname: str | None = None
    relname: str | None = None
    datname: str | None = None
    started_by: str | None = None
    outcome: str | None = None
    since: str | None = None
    datid: int | None = None
    relid: int | None = None


@dataclass(frozen=True)
class DecisionFilter:
    """Which decisions are asked for. None does not filter."""

    limit: int | None = 20
    datname: str | None = None
    schemaname: str | None = None
    relname: str | None = None
    decision: str | None = None
    datid: int | None = None
    relid: int | None = None


@dataclass(frozen=True)
class CallFilter:
    """Which calls are asked for. None does not filter."""

    limit: int | None = 20
    usename: str | None = None
    schemaname: str | None = None
    relname: str | None = None


@dataclass(frozen=True)
class Facts:
    """What `doctor` could find out, whether or not the extension works here."""

    server: Server
    settings: dict[str, str]
    available_version: str | None
    installed_version: str | None
    is_superuser: bool
    in_pg_monitor: bool
    can_read_settings: bool
    # Background workers that are not pg_sweep's. None means that this role may not see them.
    slots_of_others: int | None
    may_call: dict[str, bool] = field(default_factory=dict)
    status: Status | None = None
    status_error: str | None = None
    status_hint: str | None = None
    features: tuple[Feature, ...] = ()
    databases: tuple[Database, ...] = ()
    # What holds the horizon back, the oldest first. None means that it could not be read.
    blockers: tuple[Blocker, ...] | None = ()
    # Every database and its age, from pg_database.
    core_databases: tuple[DatabaseAge, ...] = ()


@dataclass(frozen=True)
class TuneFacts:
    """Whether `tune --apply` can change the server's settings."""

    role: str
    # None means that the server is older than 17.
    allow_alter_system: str | None
    may_reload: bool
    may_read_files: bool
    # What shows that Patroni is there. It is empty if Patroni is absent, as far as this role can
    # see.
    patroni: tuple[str, ...] = ()
    # None means that it may not be read.
    system_identifier: str | None = None
