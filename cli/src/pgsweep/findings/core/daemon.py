"""What `top` shows of autovacuum, concluded from core's views. All of it is pure."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pgsweep.findings.core.tables import HEAPS
from pgsweep.model import CoreStatus, Database, Waiting
from pgsweep.model.core_options import boolean

if TYPE_CHECKING:
    from pgsweep.findings.core.tables import Judged
    from pgsweep.model import Table
    from pgsweep.model.core_facts import CoreFacts

_DATABASE: dict[str, Any] = dict.fromkeys(field.name for field in dataclasses.fields(Database))
_WAITING: dict[str, Any] = dict.fromkeys(field.name for field in dataclasses.fields(Waiting))
# Which of these a vacuum spends for a page is told by these settings.
READ_COST = "vacuum_cost_page_miss"
DIRTY_COST = "vacuum_cost_page_dirty"


def status(facts: CoreFacts, judged: Sequence[Judged]) -> CoreStatus:
    """Return how autovacuum is doing."""
    settings = facts.settings
    limit = _first_set(settings, "autovacuum_vacuum_cost_limit", "vacuum_cost_limit")
    delay = _first_set(settings, "autovacuum_vacuum_cost_delay", "vacuum_cost_delay")
    return CoreStatus(
        daemon_on=boolean(settings.get("autovacuum"), True),
        workers=sum(1 for vacuum in facts.vacuums if vacuum.is_worker),
        max_workers=int(settings.get("autovacuum_max_workers", 3)),
        tables=sum(1 for row in judged if row.relation.relkind in HEAPS),
        due=len(_due(judged)),
        cost_limit=int(limit),
        cost_delay=delay,
        read_mb_per_s=mb_per_s(settings, READ_COST, limit, delay),
        dirty_mb_per_s=mb_per_s(settings, DIRTY_COST, limit, delay),
    )


def _first_set(settings: dict[str, str], *names: str) -> float:
    """Return the first of these settings that is not -1, which refers to the next."""
    return next((float(settings[name]) for name in names if float(settings.get(name, -1)) >= 0), 0)


def mb_per_s(settings: dict[str, str], cost: str, limit: float, delay_ms: float) -> float | None:
    """Return how many MB/s a cost limit allows of pages that cost so much. None: any number."""
    each = float(settings.get(cost, 0))
    if delay_ms <= 0 or limit <= 0 or each <= 0:
        return None
    pages_per_s = limit / each * 1000.0 / delay_ms
    return pages_per_s * int(settings.get("block_size", 8192)) / 1048576


def databases(facts: CoreFacts, judged: Sequence[Judged], datid: int) -> tuple[Database, ...]:
    """Return all databases, the oldest first. Only of the one asked is known what is due in it."""
    workers = Counter(vacuum.datname for vacuum in facts.vacuums if vacuum.is_worker)
    found = []
    for row in facts.databases:
        known: dict[str, Any] = {
            "datid": row.datid,
            "datname": row.datname,
            "xid_age": row.xid_age,
            "mxid_age": row.mxid_age,
            "workers": workers[row.datname],
        }
        if row.datid == datid:
            known |= {
                "relations": len(judged),
                "due": len(_due(judged)),
                "dead_tuples": sum(each.relation.dead_tuples for each in judged),
            }
        found.append(Database(**{**_DATABASE, **known}))
    return tuple(sorted(found, key=lambda row: row.datid != datid))


def _due(judged: Sequence[Judged]) -> list[Table]:
    """Return the tables that wait for a vacuum. One that is being vacuumed does not wait."""
    return [row.table for row in judged if row.table.do_vacuum and row.table.decision != "running"]


def waiting(judged: Sequence[Judged], datid: int) -> tuple[Waiting, ...]:
    """Return the tables of this database that are due, the most urgent first."""
    due = sorted(_due(judged), key=lambda table: -(table.score or 0.0))
    return tuple(
        Waiting(
            **{
                **_WAITING,
                "position": place,
                "state": "waiting",
                "datid": datid,
                "datname": table.datname,
                "relid": table.relid,
                "schemaname": table.schemaname,
                "relname": table.relname,
                "lane": table.lane,
                "score": table.score,
                "reason": table.reason,
                "waiting_for": "lock" if table.decision == "locked" else "autovacuum",
            }
        )
        for place, table in enumerate(due, start=1)
    )
