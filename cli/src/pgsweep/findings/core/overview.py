"""What `status` says of a server without the extension. All of it is pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgsweep.findings.core.tables import HEAPS, judge
from pgsweep.model import compute
from pgsweep.model.compute import described
from pgsweep.model.core_options import boolean
from pgsweep.source.core.blockers import Ahead, blockers

if TYPE_CHECKING:
    from pgsweep.model import Blocker, DatabaseAge, Server, Table
    from pgsweep.model.core_facts import CoreFacts


@dataclass(frozen=True)
class Overview:
    """Everything `status` shows without the extension."""

    server: Server
    daemon_on: bool
    workers: int
    max_workers: int
    # the number of running vacuums, autovacuum's included
    vacuums: int
    # the number of tables of this database
    tables: int
    due: int
    # the most urgent table
    worst: Table | None
    oldest: DatabaseAge | None
    blocker: Blocker | None
    problems: tuple[str, ...] = ()


def overview(facts: CoreFacts) -> Overview:
    """Return how autovacuum is doing."""
    tables = [row.table for row in judge(facts) if row.relation.relkind in HEAPS]
    due = [table for table in tables if table.do_vacuum]
    late = [table for table in tables if compute.times_over(table) > compute.OVERDUE_TIMES]
    late.sort(key=compute.times_over, reverse=True)
    held = blockers(facts.holders, facts.server.dbname)
    holder = compute.worst_holder(held, facts.server.now)
    workers = sum(1 for vacuum in facts.vacuums if vacuum.is_worker)
    most = int(facts.settings.get("autovacuum_max_workers", 3))
    oldest = max(facts.databases, key=lambda row: row.xid_age, default=None)
    return Overview(
        server=facts.server,
        daemon_on=boolean(facts.settings.get("autovacuum"), True),
        workers=workers,
        max_workers=most,
        vacuums=sum(1 for vacuum in facts.vacuums if vacuum.relid is not None),
        tables=len(tables),
        due=len(due),
        worst=max(due, key=lambda table: table.score or 0.0, default=None),
        oldest=oldest,
        blocker=holder,
        problems=_problems(facts, oldest, holder, late, workers >= most and bool(due)),
    )


def _problems(
    facts: CoreFacts,
    oldest: DatabaseAge | None,
    blocker: Blocker | None,
    late: Sequence[Table],
    busy: bool,
) -> tuple[str, ...]:
    found: list[str] = []
    limit = facts.server.freeze_max_age
    if oldest is not None and compute.xid_pct(oldest.xid_age, limit) >= compute.XID_WARN_PCT:
        pct = compute.xid_pct(oldest.xid_age, limit)
        found.append(
            f'database "{oldest.datname}" is at {pct:.0f} % of autovacuum_freeze_max_age'
            + compute.ids_left(oldest.xid_age)
        )
    found.extend(compute.members_problem(facts.members))
    if not boolean(facts.settings.get("track_counts"), True):
        found.append("track_counts is off: nobody can know which table needs a vacuum")
    if not boolean(facts.settings.get("autovacuum"), True):
        found.append("autovacuum is off: tables are vacuumed for their age only")
    if late:
        found.append(compute.overdue_text(len(late), late[0], compute.times_over(late[0])))
    if blocker is not None and compute.is_old(blocker, facts.server.now):
        found.append(
            f"horizon held by {described(blocker, facts.server.dbname)}: see pgsweep blockers"
        )
    behind = {
        lock.pid: Ahead(lock.behind, lock.behind_query)
        for lock in facts.waits
        if lock.behind is not None
    }
    for ahead in sorted(set(behind.values()), key=lambda each: each.pid):
        if not ahead.gives_way:
            waiting = compute.sessions_wait(list(behind.values()).count(ahead))
            found.append(f"{waiting} for {ahead.said}: see pgsweep explain")
    if busy:
        found.append("all autovacuum workers are busy while tables are due: see pgsweep explain")
    return tuple(found)
