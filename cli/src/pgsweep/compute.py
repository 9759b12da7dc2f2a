"""Pure reasoning over what was read: nothing here talks to a server or a terminal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pgsweep.model import (
    Blocker,
    Database,
    Decision,
    Progress,
    Run,
    StatusReport,
    Step,
    Table,
    Waiting,
)

# Autovacuum is forced at 100 %. Core starts at the setting itself, so a database
# that is well beyond it has a vacuum that does not get through.
XID_WARN_PCT = 150.0
STALE_ROUND = timedelta(seconds=60)
# A holder of the horizon that is worth a warning.
LONG_HOLDER = timedelta(hours=1)
LONG_HOLDER_XIDS = 10_000_000


def version_tuple(version: str) -> tuple[int, ...]:
    """Return "0.1.0" as (0, 1, 0); what is no number ends it."""
    return tuple(int(part) for part in re.findall(r"\d+", version.split("-")[0]))


@dataclass(frozen=True)
class Line:
    """A row of the table of running vacuums: a vacuum, or a worker of the one above it."""

    row: Progress
    is_worker: bool


def with_workers(rows: Iterable[Progress]) -> tuple[Line, ...]:
    """Order running vacuums by start, each followed by its parallel workers.

    A leader's row already contains its workers' counters, so nothing is ever summed.
    A worker whose leader cannot be seen stands alone.
    """
    rows = tuple(rows)
    leaders = [row for row in rows if row.leader_pid is None]
    leader_pids = {row.pid for row in leaders}
    workers: dict[int, list[Progress]] = {}
    lines: list[Line] = []
    for row in rows:
        if row.leader_pid in leader_pids and row.leader_pid is not None:
            workers.setdefault(row.leader_pid, []).append(row)
        elif row.leader_pid is not None:
            leaders.append(row)
    for leader in leaders:
        lines.append(Line(leader, is_worker=False))
        lines.extend(
            Line(worker, is_worker=True)
            for worker in sorted(workers.get(leader.pid, []), key=lambda row: row.pid)
        )
    return tuple(lines)


def running(rows: Iterable[Progress]) -> tuple[Progress, ...]:
    """Return the vacuums without the parallel workers that help them."""
    return tuple(line.row for line in with_workers(rows) if not line.is_worker)


def started_by_counts(rows: Iterable[Progress]) -> dict[str, int]:
    """Return how many vacuums run by who started them, most first."""
    return dict(Counter(row.started_by or "unknown" for row in running(rows)).most_common())


def relation(row: Progress | Run | Decision | Table | Waiting, with_database: bool = True) -> str:
    """Return db.schema.table; a table whose name is not known here is shown by its oid."""
    if row.relname is None:
        # A vacuum that has not come to its first table yet has no relid either.
        name = f"oid {row.relid}" if row.relid else "-"
    elif row.schemaname in (None, "public"):
        # "public" says nothing and costs seven columns.
        name = row.relname
    else:
        name = f"{row.schemaname}.{row.relname}"
    if with_database and row.datname:
        return f"{row.datname}.{name}" if row.relname else f"{row.datname} {name}"
    return name


def elapsed(row: Progress | Run, now: datetime) -> timedelta | None:
    """Return how long the vacuum has been running, or ran."""
    if row.started_at is None:
        return None
    end = row.ended_at if isinstance(row, Run) and row.ended_at is not None else now
    return max(timedelta(0), end - row.started_at)


def oldest_database(databases: Sequence[Database]) -> Database | None:
    """Return the database that is closest to a forced vacuum."""
    known = [database for database in databases if database.xid_age is not None]
    return max(known, key=lambda database: database.xid_age or 0, default=None)


def xid_pct(age: int, freeze_max_age: int) -> float:
    """Return an age as a percentage of autovacuum_freeze_max_age."""
    return 100.0 * age / freeze_max_age if freeze_max_age > 0 else 0.0


def problems(report: StatusReport) -> tuple[str, ...]:
    """Return what needs attention, the worst first; empty when all is well."""
    server, status = report.server, report.status
    found: list[str] = []
    oldest = oldest_database(report.databases)
    if oldest is not None and oldest.xid_age is not None:
        pct = xid_pct(oldest.xid_age, server.freeze_max_age)
        if pct >= XID_WARN_PCT:
            found.append(
                f'database "{oldest.datname}" is at {pct:.0f} % of autovacuum_freeze_max_age'
            )
    expected = server.in_recovery and not status.recent_crashes
    if status.effective_mode != status.mode and not expected:
        why = f": {status.reason}" if status.reason else ""
        found.append(f"mode is {status.effective_mode} although {status.mode} is set{why}")
    wanted = status.mode != "off" and not server.in_recovery
    if wanted and status.effective_mode == status.mode:
        if status.launcher_pid is None:
            found.append("launcher is not running: see pgsweep doctor")
        elif _round_is_stale(report):
            found.append("launcher has not looked at the tables for a minute")
    if not server.autovacuum:
        found.append("autovacuum is off: the safety net against wraparound is missing")
    if status.runs_save_error:
        found.append(f"runs cannot be saved: {status.runs_save_error}")
    if report.last_hour.failed:
        found.append(
            f"{plural(report.last_hour.failed, 'run')} failed in the last hour: "
            "see pgsweep runs --outcome failed"
        )
    if status.decisions_dropped or status.databases_dropped:
        found.append("pg_sweep's shared memory was too small for all tables: see pgsweep doctor")
    return tuple(found)


def _round_is_stale(report: StatusReport) -> bool:
    last = report.status.last_round_at or report.status.launcher_started_at
    return last is not None and report.server.now - last > STALE_ROUND


def held_since(blocker: Blocker) -> datetime | None:
    """Return since when it has held back, where that is known.

    Of a standby only the start of its connection is, and that says nothing.
    """
    return None if blocker.kind == "standby feedback" else blocker.since


def is_old(blocker: Blocker, now: datetime) -> bool:
    """Tell whether a holder of the horizon is a problem, and not just somebody's long query."""
    since = held_since(blocker)
    long = since is not None and now - since >= LONG_HOLDER
    return long or (blocker.age or 0) >= LONG_HOLDER_XIDS


@dataclass(frozen=True)
class Stretch:
    """Steps of the governor that follow each other with the same decision, limit and cause."""

    first: Step
    last: Step


def stretches(steps: Sequence[Step]) -> tuple[Stretch, ...]:
    """Put steps together, the latest first, as they were given.

    Reasons end with figures that differ from step to step; those are not compared.
    """

    def alike(step: Step) -> tuple[str, str | None, str]:
        return step.decision, step.binding, (step.reason or "").rpartition(": ")[0] or ""

    found: list[Stretch] = []
    for step in steps:
        if found and alike(found[-1].first) == alike(step):
            found[-1] = Stretch(first=step, last=found[-1].last)
        else:
            found.append(Stretch(first=step, last=step))
    return tuple(found)


def plural(count: int, noun: str) -> str:
    """Return "1 run" or "2 runs", thousands grouped."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
