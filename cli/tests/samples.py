"""Made-up rows for tests that need no server."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta, timezone
from typing import Any, TypeVar

from pgsweep.model import (
    Blocker,
    Cause,
    Cluster,
    CoreStatus,
    Database,
    DatabaseAge,
    DeadTuples,
    Facts,
    Feature,
    IdRates,
    LastHour,
    Limit,
    Members,
    Progress,
    QueueWait,
    RecoveryConflict,
    Run,
    Server,
    SimulatedHour,
    SimulatedTable,
    SimulationSummary,
    Snapshot,
    Status,
    StatusReport,
    Step,
    Table,
    ToFreeze,
    Totals,
    TriedTable,
    Waiting,
    Worth,
)
from pgsweep.model.core_facts import CoreFacts, Holder, Lock, Relation, Vacuum
from pgsweep.output.prometheus.reading import Health, Reading

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
        "max_lock_time": 0.06,
        "naptime": 1000.0,
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
        "waits_for": None,
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
        "memory_bytes": 3_145_728,
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


def core_status(**given: Any) -> CoreStatus:
    """Return autovacuum with its default settings."""
    base: dict[str, Any] = {
        "daemon_on": True,
        "workers": 1,
        "max_workers": 3,
        "tables": 80,
        "due": 2,
        "cost_limit": 200,
        "cost_delay": 2.0,
        "read_mb_per_s": 390.6,
        "dirty_mb_per_s": 39.06,
    }
    return CoreStatus(**{**base, **given})


def limit(**given: Any) -> Limit:
    """Return a row of sweep.budget, of the limit that binds."""
    base: dict[str, Any] = {
        "name": "write_limit",
        "setting": "20",
        "unit": "MB/s",
        "configured": 20.0,
        "measured": 19.63,
        "allowed_mb_per_s": 20.0,
        "binding": True,
        "sensor": "ok",
    }
    return _build(Limit, {**base, **given})


def step(**given: Any) -> Step:
    """Return a row of sweep.governor."""
    base: dict[str, Any] = {
        "at": NOW,
        "vacuums": 1,
        "read_mb_per_s": 12.3,
        "dirty_mb_per_s": 19.6,
        "wal_mb_per_s": 4.0,
        "allowed_mb_per_s": 20.0,
        "binding": "write_limit",
        "decision": "back off",
        "reason": "2.1 users wait for I/O",
    }
    return _build(Step, {**base, **given})


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
        "slots_of_others": 0,
        "may_call": {"sweep.cancel(integer, interval, boolean)": True, "sweep.rearm()": False},
        "status": status(),
        "features": (Feature("statistics scan", enabled=True, detail=None),),
        "databases": snapshot().databases,
    }
    return Facts(**{**base, **given})


def table(**given: Any) -> Table:
    """Return a row of sweep.tables, of a table that is due for its dead rows."""
    base: dict[str, Any] = {
        "datname": "bench",
        "relid": 16401,
        "schemaname": "public",
        "relname": "pgbench_accounts",
        "lane": "user",
        "dead_tuples": 23_456,
        "vacuum_threshold": 20_050.0,
        "ins_since_vacuum": 1_000,
        "insert_threshold": 21_000.0,
        "mod_since_analyze": 24_456,
        "analyze_threshold": 10_050.0,
        "pages": 1_640,
        "all_visible_pages": 1_000,
        "xid_age": 1_000_000,
        "score": 1.17,
        "xid_score": 0.005,
        "vacuum_score": 1.17,
        "do_vacuum": True,
        "decision": "due",
        "reason": "dead tuples 23,456 above threshold 20,050",
        "last_run": NOW - timedelta(minutes=3),
    }
    return _build(Table, {**base, **given})


def waiting(**given: Any) -> Waiting:
    """Return a row of sweep.queue."""
    base: dict[str, Any] = {
        "position": 1,
        "state": "waiting",
        "datid": 5,
        "datname": "bench",
        "relid": 16401,
        "schemaname": "public",
        "relname": "pgbench_accounts",
        "lane": "user",
        "score": 1.17,
        "reason": "dead tuples 23,456 above threshold 20,050",
        "waiting_since": NOW - timedelta(seconds=5),
        "waiting_for": "worker slot: all 2 busy",
        "estimated_duration": timedelta(seconds=42),
        "estimated_mb": 12.5,
    }
    return _build(Waiting, {**base, **given})


def blocker(**given: Any) -> Blocker:
    """Return a row of sweep.blockers. Its session is that of somebody who went to lunch."""
    base: dict[str, Any] = {
        "kind": "idle in transaction",
        "pid": 4712,
        "datname": "bench",
        "usename": "alice",
        "name": "psql",
        "state": "idle in transaction",
        "xmin": 750,
        "age": 123_456,
        "since": NOW - timedelta(minutes=10),
        "query": "SELECT 1",
        "withholds": 'dead rows of all tables of database "bench"',
        "fix": "SELECT pg_terminate_backend(4712);",
        "risk": "the session's uncommitted work is rolled back",
    }
    return _build(Blocker, {**base, **given})


def cause(**given: Any) -> Cause:
    """Return a row of sweep.explain()."""
    base: dict[str, Any] = {
        "rank": 1,
        "relation": "public.orders",
        "verdict": "due, and not vacuumed",
        "cause": "locked by process 4711",
        "evidence": "AccessExclusiveLock for 5 min",
        "fix": "SELECT pg_cancel_backend(4711);",
        "risk": "its statement fails",
    }
    return _build(Cause, {**base, **given})


def relation(**given: Any) -> Relation:
    """Return a table of 100,000 rows that is far from due."""
    base: dict[str, Any] = {
        "relid": 16401,
        "schemaname": "public",
        "relname": "t",
        "sql_name": "public.t",
        "relkind": "r",
        "relpersistence": "p",
        "is_shared": False,
        "is_catalog": False,
        "pages": 1_000,
        "all_visible_pages": 500,
        "reltuples": 100_000.0,
        "xid_age": 1_000,
        "mxid_age": 1,
        "live_tuples": 100_000,
        "dead_tuples": 0,
        "ins_since_vacuum": 0,
        "mod_since_analyze": 0,
        "changed": 100_000,
        "last_vacuum": NOW - timedelta(minutes=10),
    }
    return _build(Relation, {**base, **given})


def holder(**given: Any) -> Holder:
    """Return a session that is idle in transaction."""
    base: dict[str, Any] = {
        "source": "backend",
        "pid": 4712,
        "datname": "bench",
        "usename": "alice",
        "name": "psql",
        "state": "idle in transaction",
        "backend_type": "client backend",
        "xmin": 750,
        "xid_age": 123_456,
        "since": NOW - timedelta(minutes=30),
        "query": "SELECT 1",
    }
    return _build(Holder, {**base, **given})


def lock(**given: Any) -> Lock:
    """Return a lock that a vacuum of the sample relation would wait for."""
    base: dict[str, Any] = {
        "relid": 16401,
        "pid": 4711,
        "mode": "AccessExclusiveLock",
        "usename": "bob",
        "state": "active",
        "since": NOW - timedelta(minutes=5),
        "query": "ALTER TABLE t ADD COLUMN x int",
    }
    return _build(Lock, {**base, **given})


def worker(**given: Any) -> Vacuum:
    """Return a worker of autovacuum that vacuums another table."""
    base: dict[str, Any] = {
        "pid": 5000,
        "datname": "bench",
        "relid": 99,
        "phase": "scanning heap",
        "is_worker": True,
        "since": NOW - timedelta(hours=3),
        "query": "autovacuum: VACUUM public.huge",
    }
    return _build(Vacuum, {**base, **given})


def database_age(**given: Any) -> DatabaseAge:
    """Return a database that is young."""
    base: dict[str, Any] = {
        "datid": 5,
        "datname": "bench",
        "xid_age": 1_000_000,
        "mxid_age": 100,
        "stats_reset": None,
    }
    return DatabaseAge(**{**base, **given})


def core_facts(*relations: Relation, **given: Any) -> CoreFacts:
    """Return what core's views say of a server at rest with default settings."""
    base: dict[str, Any] = {
        "server": server(),
        "version_num": 150020,
        "settings": dict(CORE_SETTINGS),
        "relations": relations,
        "databases": (database_age(),),
    }
    return CoreFacts(**{**base, **given})


CORE_SETTINGS = {
    "autovacuum": "on",
    "track_counts": "on",
    "autovacuum_vacuum_threshold": "50",
    "autovacuum_vacuum_scale_factor": "0.2",
    "autovacuum_vacuum_insert_threshold": "1000",
    "autovacuum_vacuum_insert_scale_factor": "0.2",
    "autovacuum_analyze_threshold": "50",
    "autovacuum_analyze_scale_factor": "0.1",
    "autovacuum_freeze_max_age": "200000000",
    "autovacuum_multixact_freeze_max_age": "400000000",
    "autovacuum_max_workers": "3",
    "autovacuum_naptime": "60",
    "vacuum_failsafe_age": "1600000000",
    "vacuum_multixact_failsafe_age": "1600000000",
}


def cluster(**given: Any) -> Cluster:
    """Return a primary whose archiver works."""
    base: dict[str, Any] = {
        "version": "15.20 (Debian 15.20-0+deb12u1)",
        "in_recovery": False,
        "started_at": NOW - timedelta(days=3),
        "now": NOW,
        "dbname": "bench",
        "block_size": 8192,
        "autovacuum": True,
        "freeze_max_age": 200_000_000,
        "multixact_freeze_max_age": 400_000_000,
        "next_xid": 5_000_000_000,
        "sees_everything": True,
        "archiving": True,
        "archived_count": 12,
        "failed_count": 1,
        "last_archived_time": NOW - timedelta(minutes=1),
        "last_failed_time": NOW - timedelta(hours=1),
    }
    return Cluster(**{**base, **given})


def queue_wait(**given: Any) -> QueueWait:
    """Return a table that waits for a worker."""
    base: dict[str, Any] = {
        "datname": "bench",
        "schemaname": "public",
        "relname": "pgbench_accounts",
        "lane": "user",
        "score": 1.5,
        "waiting_since": NOW - timedelta(seconds=30),
        "waiting_for": "worker slot: all 2 busy with public.a, public.b",
    }
    return _build(QueueWait, {**base, **given})


def dead_tuples(**given: Any) -> DeadTuples:
    """Return the dead rows of a table that is due."""
    base: dict[str, Any] = {
        "schemaname": "public",
        "relname": "pgbench_accounts",
        "dead_tuples": 23_456,
        "vacuum_threshold": 20_050.0,
        "due": 1,
    }
    return DeadTuples(**{**base, **given})


def totals(**given: Any) -> Totals:
    """Return what pg_sweep's vacuums came to."""
    base: dict[str, Any] = {
        "started_by": "sweep",
        "since": NOW - timedelta(days=40),
        "vacuums": 1_000,
        "analyzes": 20,
        "failed": 1,
        "cancelled": 2,
        "skipped": 3,
        "blks_hit": 10_000,
        "blks_read": 2_000,
        "blks_dirtied": 300,
        "wal_records": 4_000,
        "wal_fpi": 50,
        "wal_bytes": 6_000_000,
        "cost": 70_000,
        "tuples_removed": 800_000,
        "run_time": 9_500.0,
        "delay_time": 1_500.0,
    }
    return Totals(**{**base, **given})


def budget_limit(**given: Any) -> Limit:
    """Return the limit of dirtied pages, which binds."""
    base: dict[str, Any] = {
        "name": "write_limit",
        "setting": "30",
        "unit": "MB/s",
        "configured": 30.0,
        "measured": 29.5,
        "allowed_mb_per_s": 30.0,
        "binding": True,
        "sensor": "ok",
    }
    return _build(Limit, {**base, **given})


def governor_step(**given: Any) -> Step:
    """Return a step of the governor."""
    base: dict[str, Any] = {
        "at": NOW,
        "vacuums": 1,
        "read_mb_per_s": 1.0,
        "dirty_mb_per_s": 2.0,
        "wal_mb_per_s": 3.0,
        "cpu_pct": 50.0,
        "users_waiting": 0.5,
        "allowed_mb_per_s": 40.0,
        "floor_mb_per_s": 4.0,
        "decision": "steady",
    }
    return _build(Step, {**base, **given})


LIMITS = (
    budget_limit(),
    budget_limit(name="read_limit", binding=False, allowed_mb_per_s=None),
    budget_limit(name="io_latency_limit", unit="ms", configured=20.0, measured=5.0, binding=False),
    budget_limit(
        name="device_utilization", unit="%", configured=80.0, measured=20.0, binding=False
    ),
    budget_limit(
        name="cpu_limit", unit="% of a core", configured=50.0, measured=20.0, binding=False
    ),
    budget_limit(
        name="adaptive", unit="users waiting", configured=1.0, measured=0.5, binding=False
    ),
    budget_limit(name="slots", unit="MB left", configured=10.0, measured=20.0, sensor="broken"),
    budget_limit(name="floor", measured=None, binding=False, sensor="not used"),
)


def reading(**given: Any) -> Reading:
    """Return everything that can be read, of a server with the extension."""
    base: dict[str, Any] = {
        "cluster": cluster(),
        "extension": True,
        "ages": (
            DatabaseAge(5, "bench", 1_000_000, 10, None),
            DatabaseAge(6, "shop", 2_000_000, 5, None),
        ),
        "blockers": (blocker(),),
        "progress": (*snapshot().progress, progress(pid=500, relname="x", phase_pct=10.0)),
        "conflicts": (RecoveryConflict("snapshot", 3), RecoveryConflict("lock", 0)),
        "dead_tuples": (
            dead_tuples(),
            DeadTuples(None, None, dead_tuples=77, vacuum_threshold=None, due=0),
        ),
        "dead_tuples_at": NOW,
        "to_freeze": ToFreeze(tables=2, pages=1_900),
        "id_rates": IdRates(100.0, 1.0),
        "members": Members(1_000, 2**32 - 1),
        "status": status(
            horizon_age=123_456,
            overdue=1,
            rounds=99,
            visits=7,
            visits_cpu_time=12.5,
            worker_starts=3,
            late_tables=0,
            late_pages=0,
        ),
        "totals": (totals(), totals(started_by="autovacuum")),
        "waits": (queue_wait(),),
        "databases": snapshot().databases,
        "limits": LIMITS,
        "step": governor_step(),
        "features": (Feature("scout", True, None), Feature("worker", False, None)),
    }
    return Reading(**{**base, **given})


def health(**given: Any) -> Health:
    """Return what `serve` knows of itself after some readings."""
    base: dict[str, Any] = {
        "up": True,
        "readings": 3,
        "parts": {"status": True},
        "part_failures": {"status": 0},
        "last_took_s": 0.01,
        "last_ended_at": NOW.timestamp(),
        "scrapes": 4,
    }
    return Health(**{**base, **given})


def tried_table(**given: Any) -> TriedTable:
    """Return a table that would have been vacuumed ten times, and was twice."""
    base: dict[str, Any] = {
        "since": NOW - timedelta(hours=3),
        "until": None,
        "datid": 5,
        "datname": "shop",
        "relid": 16384,
        "schemaname": "public",
        "relname": "orders",
        "vacuums": 10,
        "insert_vacuums": 0,
        "first_at": NOW,
        "last_at": NOW,
        "blks_read_min": 0,
        "blks_read_max": 128,
        "blks_dirtied_min": 128,
        "blks_dirtied_max": 128,
        "blks_frozen": 0,
        "waiting_since": None,
        "dead_tuples": 900,
        "autovacuum_threshold": 20_000,
        "ins_since_vacuum": 0,
        "autovacuum_insert_threshold": 1000,
        "autovacuums": 2,
        "autovacuum_blks_read": 1280,
        "autovacuum_blks_dirtied": 0,
        "manual_vacuums": 0,
        "followed": 2,
        "earlier": timedelta(hours=3, minutes=20),
        "blks_grown": 256,
        "block_size": 8192,
    }
    return TriedTable(**base | given)


def simulated_hour(**given: Any) -> SimulatedHour:
    """Return an hour with ten vacuums, where eight were recorded."""
    base: dict[str, Any] = {
        "hour": NOW,
        "span": timedelta(hours=1),
        "vacuums": 10,
        "insert_vacuums": 1,
        "blks_read": 1000,
        "blks_dirtied": 280,
        "run_time": 2000.0,
        "dead_tuples": 500,
        "max_dead_tuples": 900,
        "waiting": 1,
        "recorded_vacuums": 8,
        "recorded_blks_read": 900,
        "recorded_blks_dirtied": 124,
        "recorded_dead_tuples": 400,
    }
    return SimulatedHour(**base | given)


def simulated_table(**given: Any) -> SimulatedTable:
    """Return a table with ten vacuums, where eight were recorded."""
    base: dict[str, Any] = {
        "datid": 5,
        "datname": "shop",
        "relid": 16384,
        "schemaname": "public",
        "relname": "orders",
        "vacuums": 10,
        "insert_vacuums": 1,
        "blks_read": 1000,
        "blks_dirtied": 280,
        "run_time": 2000.0,
        "dead_tuples": 500,
        "max_dead_tuples": 900,
        "recorded_vacuums": 8,
        "recorded_blks_read": 900,
        "recorded_blks_dirtied": 124,
        "recorded_dead_tuples": 400,
        "learned_vacuums": 8,
        "estimated": False,
    }
    return SimulatedTable(**base | given)


def simulation_summary(**given: Any) -> SimulationSummary:
    """Return a week without a gap, in mode act."""
    base: dict[str, Any] = {
        "recorded_from": NOW - timedelta(days=7),
        "recorded_until": NOW,
        "hours": 168,
        "missing_hours": 0,
        "tables": 12,
        "unlearned_tables": 0,
        "changes_left_out_pct": 0.0,
        "xid_age": 50_000_000,
        "xids_per_hour": 1_000_000.0,
        "freeze_max_age": 200_000_000,
        "freeze_max_age_at": NOW + timedelta(hours=150),
        "wraparound_at": NOW + timedelta(days=87),
        "tables_to_freeze": 3,
        "pages_to_freeze": 12800,
        "mode": "act",
        "block_size": 8192,
    }
    return SimulationSummary(**base | given)


def worth(**given: Any) -> Worth:
    """Return a table whose index scans have lost more than a vacuum costs."""
    base: dict[str, Any] = {
        "datname": "bench",
        "relid": 16401,
        "schemaname": "public",
        "relname": "orders",
        "index_scans": 120_000,
        "blks_per_scan_clean": 4.2,
        "reads_per_scan_clean": 0.6,
        "blks_per_scan": 9.8,
        "reads_per_scan": 2.4,
        "lost_blks": 41_000,
        "lost_reads": 9_623,
        "vacuum_blks": 9_565,
        "last_vacuum": NOW - timedelta(hours=2),
        "breaks_even_at": NOW - timedelta(minutes=1),
        "blks_per_scan_before": 9.6,
        "blks_per_scan_after": 4.2,
        "saved_blks_per_hour": 324_000.0,
        "saved_reads_per_hour": 81_000.0,
        "not_hot_pct": 92.4,
        "advice": "vacuum earlier: scale factor 0.05",
        "basis": "table and indexes. Cost of the last 3 vacuums, the latest counts half",
    }
    return _build(Worth, {**base, **given})
