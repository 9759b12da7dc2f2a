"""Made-up rows for tests that need no server."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta, timezone
from typing import Any, TypeVar

from pgsweep.model import (
    Database,
    Facts,
    Feature,
    LastHour,
    Progress,
    Run,
    Server,
    Snapshot,
    Status,
    StatusReport,
)

T = TypeVar("T")

NOW = datetime(2026, 9, 22, 12, 0, 0, tzinfo=timezone.utc)


def _build(kind: type[T], given: dict[str, Any]) -> T:
    """Return a row whose columns are NULL unless they are given."""
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]
    return kind(**{**{field.name: None for field in fields}, **given})


def server(**given: Any) -> Server:
    """Return a primary."""
    base: dict[str, Any] = {
        "version": "15.20 (Debian 15.20-0+deb12u1)",
        "in_recovery": False,
        "started_at": NOW - timedelta(days=3, hours=4),
        "now": NOW,
        "dbname": "bench",
        "role": "postgres",
        "freeze_max_age": 200_000_000,
        "autovacuum": True,
        "host": "db1.example.com",
        "port": 5432,
    }
    return Server(**{**base, **given})


def status(**given: Any) -> Status:
    """Return the status of an installation that is well."""
    base: dict[str, Any] = {
        "sql_version": "0.1.0",
        "library_version": "0.1.0",
        "mode": "act",
        "effective_mode": "act",
        "launcher_pid": 4711,
        "launcher_started_at": NOW - timedelta(days=3),
        "workers": 1,
        "max_workers": 2,
        "last_round_at": NOW - timedelta(seconds=1),
        "last_round_time": 1.25,
        "relations": 812,
        "due": 4,
        "worker_start_failures": 0,
        "runs": 532,
        "runs_saved_at": NOW - timedelta(seconds=3),
        "decisions_used": 12,
        "decisions_size": 4096,
        "decisions_dropped": 0,
        "databases_dropped": 0,
        "recent_crashes": 0,
    }
    return _build(Status, {**base, **given})


def progress(**given: Any) -> Progress:
    """Return a vacuum of pgbench_accounts by pg_sweep, half done."""
    base: dict[str, Any] = {
        "pid": 100,
        "datid": 5,
        "datname": "bench",
        "relid": 16401,
        "schemaname": "public",
        "relname": "pgbench_accounts",
        "command": "VACUUM",
        "started_by": "sweep",
        "mode": "normal",
        "phase": "scanning heap",
        "started_at": NOW - timedelta(seconds=12),
        "blks_hit": 123_456,
        "blks_read": 23_456,
        "blks_dirtied": 3_456,
        "cost": 212_345,
        "cost_per_s": 18_321.5,
        "read_mb_per_s": 12.34,
        "dirty_mb_per_s": 8.3,
        "wal_mb_per_s": 4.02,
        "sleep_pct": 45.2,
        "done_pct": 57.1,
        "eta": timedelta(seconds=9),
        "eta_basis": "last run",
        "waiters": 0,
        "limited_by": "cost limit 200",
        "parallel_workers": 0,
    }
    return _build(Progress, {**base, **given})


def run(**given: Any) -> Run:
    """Return a finished vacuum."""
    base: dict[str, Any] = {
        "run_id": 1,
        "datname": "bench",
        "relid": 16401,
        "schemaname": "public",
        "relname": "pgbench_accounts",
        "command": "VACUUM",
        "started_by": "sweep",
        "started_at": NOW - timedelta(seconds=20),
        "ended_at": NOW - timedelta(seconds=12, milliseconds=750),
        "blks_hit": 1000,
        "blks_read": 100,
        "blks_dirtied": 10,
        "wal_bytes": 123_456,
        "cost": 3210,
        "read_mb_per_s": 1.1,
        "tuples_removed": 20_100,
        "dead_not_removable": 77,
        "outcome": "done",
        "reason": "dead tuples 20,100 above threshold 20,050",
    }
    return _build(Run, {**base, **given})


def database(**given: Any) -> Database:
    """Return a database in scope."""
    base: dict[str, Any] = {
        "datid": 5,
        "datname": "bench",
        "ours": True,
        "relations": 412,
        "due": 2,
        "dead_tuples": 123_456,
        "xid_age": 12_345_678,
        "mxid_age": 1,
        "workers": 1,
        "last_visit": NOW - timedelta(seconds=4),
    }
    return _build(Database, {**base, **given})


def snapshot(**given: Any) -> Snapshot:
    """Return one running vacuum of each kind, with workers, runs and databases."""
    base: dict[str, Any] = {
        "server": server(),
        "status": status(),
        "progress": (
            progress(pid=300, leader_pid=200, started_by="manual", relname="sessions"),
            progress(pid=100),
            progress(pid=200, started_by="manual", relname="sessions", parallel_workers=1),
            progress(pid=400, started_by="autovacuum_wraparound", relname=None, done_pct=None),
        ),
        "runs": tuple(run(run_id=100 - i, started_by="autovacuum") for i in range(30)),
        "databases": (database(), database(datid=6, datname="shop", due=0)),
    }
    return Snapshot(**{**base, **given})


def report(**given: Any) -> StatusReport:
    """Return what `status` shows of an installation that is well."""
    base: dict[str, Any] = {
        "server": server(),
        "status": status(),
        "last_hour": LastHour(runs=121, tuples_removed=1_234_567, failed=0, cancelled=2),
        "progress": snapshot().progress,
        "databases": snapshot().databases,
    }
    return StatusReport(**{**base, **given})


def facts(**given: Any) -> Facts:
    """Return what `doctor` finds on an installation that is well."""
    base: dict[str, Any] = {
        "server": server(),
        "settings": {
            "autovacuum": "on",
            "track_counts": "on",
            "track_activities": "on",
            "max_worker_processes": "8",
            "shared_preload_libraries": "pg_stat_statements, pg_sweep",
            "log_autovacuum_min_duration": "600000",
            "sweep.max_workers": "2",
        },
        "available_version": "0.1.0",
        "installed_version": "0.1.0",
        "is_superuser": False,
        "in_pg_monitor": True,
        "can_read_settings": True,
        "worker_slots_used": 2,
        "may_call": {"sweep.cancel(integer)": True, "sweep.rearm()": False},
        "status": status(),
        "features": (Feature("statistics scan", enabled=True, detail=None),),
        "databases": snapshot().databases,
    }
    return Facts(**{**base, **given})
