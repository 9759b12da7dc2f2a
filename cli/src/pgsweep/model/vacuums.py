"""Vacuums that run and that have run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


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
    waits_for: str | None

    def is_run_of(self, other: Progress) -> bool:
        """Return whether both are the same vacuum. Its process goes on to others."""
        if (self.pid, self.started_at) != (other.pid, other.started_at):
            return False
        # A process says that it vacuums before it says what.
        return other.relid is None or (self.datid, self.relid) == (other.datid, other.relid)


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
    # of index scans of the table, for its last vacuum only
    blks_per_scan_before: float | None
    blks_per_scan_after: float | None
