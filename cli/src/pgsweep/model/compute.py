"""Pure reasoning over what was read: nothing here talks to a server or a terminal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from pgsweep import model

if TYPE_CHECKING:
    from pgsweep.model import (
        Blocker,
        Call,
        Database,
        DatabaseAge,
        Decision,
        HourOfOne,
        HourOfTable,
        LastHour,
        Members,
        Progress,
        Run,
        Server,
        SimulatedTable,
        Status,
        StatusReport,
        Step,
        Table,
        TableName,
        TableSetting,
        TriedTable,
        Waiting,
        Worth,
    )

    # what a table's name can be told of
    Named = (
        Progress
        | Run
        | Decision
        | Call
        | Table
        | Waiting
        | HourOfOne
        | HourOfTable
        | TableName
        | TableSetting
        | TriedTable
        | SimulatedTable
        | Worth
    )

# Autovacuum is forced at 100 %. Core starts at the setting itself, so a database
# that is well beyond it has a vacuum that does not get through.
XID_WARN_PCT = 150.0
# From here on autovacuum freezes tables at a lower age.
MEMBERS_WARN_PCT = 50.0
STALE_ROUND = timedelta(seconds=60)
# The age at which the server refuses new transaction ids.
STOP_AGE = 2**31 - 3_000_000
# vacuum_failsafe_age by default
FAILSAFE_AGE = 1_600_000_000
# A holder of the horizon that is worth a warning.
LONG_HOLDER = timedelta(hours=1)
LONG_HOLDER_XIDS = 10_000_000


def version_tuple(version: str) -> tuple[int, ...]:
    """Return "0.1.0" as (0, 1, 0). The first part that is no number ends it."""
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


def relation(row: Named, with_database: bool = True) -> str:
    """Return db.schema.table. A table whose name is not known here is shown by its oid."""
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
    end = row.ended_at if isinstance(row, model.Run) and row.ended_at is not None else now
    return max(timedelta(0), end - row.started_at)


def oldest_database(databases: Sequence[Database]) -> Database | None:
    """Return the database that is closest to a forced vacuum."""
    known = [database for database in databases if database.xid_age is not None]
    return max(known, key=lambda database: database.xid_age or 0, default=None)


def xid_pct(age: int, freeze_max_age: int) -> float:
    """Return an age as a percentage of autovacuum_freeze_max_age."""
    return 100.0 * age / freeze_max_age if freeze_max_age > 0 else 0.0


# Within so many days it is said what will be frozen.
FREEZE_DAYS = 7
# sweep.queue has no more rows than this. If the queue is longer, only the server's own counts are
# whole.
QUEUE_LIMIT = 1000
# the "database" of the catalogs that all share
SHARED = 0


def is_due(row: Waiting) -> bool:
    """Return whether a vacuum of the table is due.

    A table that is there only because somebody asked for it has no score. One with sparse garbage
    is for the cleaner: its reason begins with that.
    """
    return row.score is not None and not (row.reason or "").startswith("sparse garbage:")


def due(status: Status | None, queue: Sequence[Waiting] | None) -> int:
    """Return how many tables are due in all databases together, of what waits in the queue."""
    if status is not None and (queue is None or len(queue) >= QUEUE_LIMIT):
        return status.due or 0
    return sum(is_due(row) for row in queue or ())


def with_due(
    databases: Sequence[Database], queue: Sequence[Waiting] | None, here: int
) -> tuple[Database, ...]:
    """Return databases with the number of their tables in the queue, those with most first.

    A shared catalog is every database's. It counts in the row of shared catalogs. Where there is
    none, it counts in the database that was asked, `here`, so that the sum is what is due.
    """
    if queue is None or len(queue) >= QUEUE_LIMIT:
        return tuple(databases)
    shared = SHARED if any(row.datid == SHARED for row in databases) else here
    counts = Counter(row.datid or shared for row in queue if is_due(row))
    counted = [
        replace(row, due=counts[row.datid] if row.ours or counts[row.datid] else None)
        for row in databases
    ]
    return tuple(
        sorted(counted, key=lambda row: (-(row.due or 0), -(row.dead_tuples or 0), row.datname))
    )


# A table is overdue beyond this many times its threshold, if it has at least this many such rows.
OVERDUE_TIMES = 3.0
OVERDUE_ROWS = 10_000
# These are decisions and reasons by which pg_sweep or somebody means to leave a table alone for a
# while.
_LEFT_ALONE = ("vacuumed", "waits for checkpoint", "snoozed", "held")
_LEFT_IN_QUEUE = ("minimum interval", "checkpoint", "snoozed", "hold")


def left_alone(table: Table, now: datetime) -> bool:
    """Tell whether a table waits because it was told to: min_interval, a snooze, a hold."""
    until = table.snoozed_until or table.not_before
    if table.decision not in _LEFT_ALONE:
        return False
    return table.decision == "held" or (until is not None and until > now)


def times_over(table: Table, least_rows: int = OVERDUE_ROWS) -> float:
    """Return by how much the table is over its threshold. Small tables do not count."""

    def part(have: int | None, allowed: float | None) -> float:
        if have is None or allowed is None or have < least_rows:
            return 0.0
        return have / max(allowed, 1.0)

    return max(
        part(table.dead_tuples, table.vacuum_threshold),
        part(table.ins_since_vacuum, table.insert_threshold),
    )


def overdue(queue: Iterable[Waiting]) -> tuple[Waiting, ...]:
    """Return the waiting tables that are far over their threshold, the worst first.

    How many rows that are is the first number of the reason.
    """

    def late(row: Waiting) -> bool:
        rows = re.search(r"\d+", (row.reason or "").replace(",", ""))
        many = rows is not None and int(rows.group()) >= OVERDUE_ROWS
        meant = (row.waiting_for or "").startswith(_LEFT_IN_QUEUE)
        return many and not meant and (row.score or 0.0) > OVERDUE_TIMES

    return tuple(sorted(filter(late, queue), key=lambda row: -(row.score or 0.0)))


def overdue_text(count: int, worst: Table | Waiting, times: float, why: str = "") -> str:
    """Return a sentence: this many tables are overdue, and this one is the worst."""
    name = f"{relation(worst)} ({times:.1f})"
    if count == 1:
        return f"{name} is over {OVERDUE_TIMES:g} times its threshold{why}"
    return f"{count:,} tables are over {OVERDUE_TIMES:g} times their threshold, worst {name}{why}"


def known_since(
    oldest: datetime | None, forgotten: bool, begun: datetime | None
) -> datetime | None:
    """Return from when on all runs are known. None means from the beginning.

    `oldest` is the end of the oldest run that is kept. `forgotten` tells whether there were
    others before it. `begun` is when the server's present life began to record.
    """
    if forgotten or begun is None:
        return oldest
    return begun if oldest is None else min(oldest, begun)


def within(known: datetime | None, now: datetime, span: timedelta) -> datetime | None:
    """Return since when, of the last hour or day, runs are known. None means all of it."""
    return known if known is not None and known > now - span else None


def span_text(since: datetime, now: datetime) -> str:
    """Return "12 min", a span that is not shown as longer than it is."""
    seconds = max(0.0, (now - since).total_seconds())
    for limit, unit, divisor in ((120, "s", 1), (7200, "min", 60)):
        if seconds < limit:
            return f"{seconds // divisor:.0f} {unit}"
    return f"{seconds // 3600:.0f} h"


def full_hour(at: datetime) -> datetime:
    """Return when the server's hour began in which that is."""
    return datetime.fromtimestamp(at.timestamp() // 3600 * 3600, timezone.utc)


def last(since: datetime | None, now: datetime, whole: str) -> str:
    """Return "last hour", or "last 12 min" if no more is known."""
    return f"last {whole if since is None else span_text(since, now)}"


def worst_holder(blockers: Sequence[Blocker], now: datetime) -> Blocker | None:
    """Return the holder of the horizon that matters most: an old one, else the oldest."""
    if not blockers:
        return None
    old = [blocker for blocker in blockers if is_old(blocker, now)]
    return (old or list(blockers))[0]


def sessions_wait(number: int) -> str:
    """Return "1 session waits" or "2 sessions wait"."""
    return "1 session waits" if number == 1 else f"{number:,} sessions wait"


def behind_vacuums(progress: Iterable[Progress]) -> Iterator[str]:
    """Return who waits for a vacuum that does not give way. All others end within a second."""
    for row in progress:
        kept = row.started_by in ("manual", "autovacuum_wraparound")
        if row.waiters and kept and row.leader_pid is None:
            kind = "anti-wraparound vacuum" if row.started_by != "manual" else row.command
            yield (
                f"{sessions_wait(row.waiters)} for the {kind} of {relation(row)}, "
                f"process {row.pid}: see pgsweep explain"
            )


def ended_again_and_again(queue: Iterable[Waiting]) -> Iterator[str]:
    """Name the tables whose vacuums are ended each time by whoever wants their locks."""
    for row in queue:
        times = re.match(r"lock: cancelled (\d+) times", row.waiting_for or "")
        if times is not None:
            yield (
                f"vacuums of {relation(row)} were ended {times[1]} times in a row by who wants "
                "its lock, and their work is lost: see pgsweep explain"
            )


def problems(report: StatusReport) -> tuple[str, ...]:
    """Return what needs attention, the worst first. It is empty when all is well."""
    found = server_problems(
        report.server,
        report.status,
        oldest_database(report.databases),
        worst_holder(report.blockers or (), report.server.now),
        overdue(report.queue or ()),
        report.last_hour,
        report.progress,
    )
    return (
        *members_problem(report.members),
        *found,
        *ended_again_and_again(report.queue or ()),
    )


def ids_left(age: int) -> str:
    """Return how many transaction ids are left, where that is in danger."""
    if age < FAILSAFE_AGE:
        return ""
    return f": after {max(STOP_AGE - age, 0):,} more transactions the server takes no writes"


def members_problem(members: Members | None) -> tuple[str, ...]:
    """Return what is bad about the number of multixacts' members, if anything is."""
    if members is None or members.pct < MEMBERS_WARN_PCT:
        return ()
    return (f"{members.pct:.0f} % of the room for members of multixacts is used",)


def server_problems(
    server: Server,
    status: Status,
    oldest: Database | DatabaseAge | None,
    holder: Blocker | None,
    waiting: Sequence[Waiting] = (),
    last_hour: LastHour | None = None,
    progress: Sequence[Progress] = (),
) -> tuple[str, ...]:
    """Return the same by parts, of which those that were not read are left out.

    `waiting` are the tables that are overdue.
    """
    found: list[str] = []
    if oldest is not None and oldest.xid_age is not None:
        pct = xid_pct(oldest.xid_age, server.freeze_max_age)
        if pct >= XID_WARN_PCT:
            found.append(
                f'database "{oldest.datname}" is at {pct:.0f} % of autovacuum_freeze_max_age'
                + ids_left(oldest.xid_age)
            )
    expected = server.in_recovery and not status.recent_crashes
    if status.effective_mode != status.mode and not expected:
        why = f": {status.reason}" if status.reason else ""
        found.append(f"mode is {status.effective_mode} although {status.mode} is set{why}")
    wanted = status.mode != "off" and not server.in_recovery
    if wanted and status.effective_mode == status.mode:
        if status.launcher_pid is None:
            found.append("launcher is not running: see pgsweep doctor")
        elif _round_is_stale(server, status):
            minutes = stale_after(status) / STALE_ROUND
            late = "a minute" if minutes <= 1 else f"{minutes:.0f} minutes"
            found.append(f"launcher has not looked at the tables for {late}")
        elif status.reason:
            found.append(status.reason)
    if waiting:
        worst = waiting[0]
        why = f": {worst.waiting_for}" if worst.waiting_for else ""
        found.append(overdue_text(len(waiting), worst, worst.score or 0.0, why))
    found.extend(behind_vacuums(progress))
    if holder is not None and is_old(holder, server.now):
        found.append(
            f"horizon held by {described(holder, server.dbname)}{held_for(holder, server.now)}: "
            "see pgsweep blockers"
        )
    if not server.autovacuum:
        found.append("autovacuum is off: the safety net against wraparound is missing")
    if status.runs_save_error:
        found.append(f"runs cannot be saved: {status.runs_save_error}")
    if last_hour is not None and last_hour.failed:
        found.append(
            f"{plural(last_hour.failed, 'run')} failed in the "
            f"{last(last_hour.since, server.now, 'hour')}: "
            "see pgsweep runs --outcome failed"
        )
    if status.decisions_dropped or status.databases_dropped:
        found.append("pg_sweep's shared memory was too small for all tables: see pgsweep doctor")
    return tuple(found)


def stale_after(status: Status) -> timedelta:
    """Return after how long a round is overdue: a minute, or two naptimes if that is longer."""
    return max(STALE_ROUND, 2 * timedelta(milliseconds=status.naptime or 0.0))


def _round_is_stale(server: Server, status: Status) -> bool:
    last = status.last_round_at or status.launcher_started_at
    return last is not None and server.now - last > stale_after(status)


def held_since(blocker: Blocker) -> datetime | None:
    """Return since when it has held back, where that is known.

    Of a standby only the start of its connection is known, and that says nothing.
    """
    return None if blocker.kind == "standby feedback" else blocker.since


def held_for(blocker: Blocker, now: datetime) -> str:
    """Return " for 12 min", or nothing where that is not known."""
    since = held_since(blocker)
    if since is None:
        return ""
    minutes = max(0.0, (now - since).total_seconds()) / 60
    return f" for {minutes:.0f} min" if minutes < 120 else f" for {minutes / 60:.0f} h"


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

    Reasons end with figures that differ from step to step. Those figures are not compared.
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


def sentences(*parts: str) -> str:
    """Put parts of a text together, one sentence each, without those that are empty.

    A sentence begins with a capital letter, but for the first, and for names such as pg_sweep.
    """

    def begun(part: str) -> str:
        return part[0].upper() + part[1:] if part.split()[0].isalpha() else part

    given = [part for part in parts if part]
    return ". ".join([*given[:1], *map(begun, given[1:])])


def old(age: int | None) -> str:
    """Return "1 transaction old" or "2 transactions old"."""
    return f"{plural(age or 0, 'transaction')} old"


def plural(count: int, noun: str) -> str:
    """Return "1 run" or "2 runs". Thousands are grouped."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def described(blocker: Blocker, dbname: str) -> str:
    """Return "a transaction of process 4711 in database x" and the like."""
    name = f' "{blocker.name}"' if blocker.name else ""
    pid = f" of process {blocker.pid}" if blocker.pid else ""
    elsewhere = (
        f' in database "{blocker.datname}"'
        if blocker.datname not in (None, dbname) and blocker.kind != "logical slot"
        else ""
    )
    if blocker.kind in ("prepared transaction", "physical slot", "logical slot"):
        return f"{blocker.kind}{name}{elsewhere}"
    if blocker.kind == "temporary table":
        return f"temporary table {blocker.name}{pid}"
    if blocker.kind == "standby feedback":
        return f"feedback of standby{name}"
    words = {
        "idle in transaction": "a session idle in transaction, process",
        "create index": "CREATE INDEX, process",
        "vacuum": "ANALYZE or a rewriting VACUUM, process",
    }
    if blocker.kind == "other":
        return f"process {blocker.pid}{elsewhere}" if blocker.pid else f"{blocker.name}"
    if blocker.kind in words:
        return f"{words[blocker.kind]} {blocker.pid}{elsewhere}"
    return f"an open transaction{pid}{elsewhere}"
