"""Tables, and what was decided about them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class TableName:
    """A table of the database that was asked."""

    datname: str
    relid: int
    schemaname: str
    relname: str


@dataclass(frozen=True)
class TableKey:
    """A table of any database. `datid` is None for a catalog that all databases share."""

    datid: int | None
    relid: int
    title: str


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
    # the ages at which autovacuum vacuums it in any case
    xid_limit: int | None
    mxid_limit: int | None
    # the age at which pg_sweep freezes it; None without the extension
    freeze_at: int | None
    # when it comes to that age at the measured rate; None where that is not known
    freeze_time: datetime | None
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
    # Rows are inserted all the time. Its vacuums come too late since then, or None.
    growing: bool | None = None
    late_since: datetime | None = None
    # Pages that had left the cache before they were vacuumed.
    late_pages: int | None = None


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
class Worth:
    """A row of sweep.worth: what garbage costs a table's index scans, and what a vacuum brought.

    `lost_` are blocks since the last vacuum, `vacuum_blks` those that the next one costs.
    """

    datname: str
    relid: int
    schemaname: str | None
    relname: str | None
    index_scans: int | None
    blks_per_scan_clean: float | None
    reads_per_scan_clean: float | None
    blks_per_scan: float | None
    reads_per_scan: float | None
    lost_blks: int | None
    lost_reads: int | None
    vacuum_blks: int | None
    last_vacuum: datetime | None
    breaks_even_at: datetime | None
    blks_per_scan_before: float | None
    blks_per_scan_after: float | None
    saved_blks_per_hour: float | None
    saved_reads_per_hour: float | None
    not_hot_pct: float | None
    advice: str | None
    basis: str | None


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
class ToFreeze:
    """What pg_sweep freezes in a database within `compute.FREEZE_DAYS`."""

    tables: int
    pages: int


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
