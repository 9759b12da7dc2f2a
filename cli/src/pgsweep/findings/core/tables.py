"""The columns of sweep.tables, concluded from core's views. All of it is pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pgsweep.base import text
from pgsweep.model import Table, compute
from pgsweep.model.core_options import boolean, options_of, scores, thresholds

if TYPE_CHECKING:
    from pgsweep.model.core_facts import CoreFacts, Relation
    from pgsweep.model.core_options import Options, Scores, Thresholds

# The metadata schemas of known engines. sweep.aux_schemas has the same by default.
AUX_SCHEMAS = (
    "columnar",
    "columnar_internal",
    "_timescaledb_catalog",
    "pg_aoseg",
    "cron",
    "partman",
)
# These hold rows, and so they can be vacuumed.
HEAPS = ("r", "m", "t")


@dataclass(frozen=True)
class Judged:
    """A relation with everything that follows for it."""

    relation: Relation
    options: Options
    limits: Thresholds
    scores: Scores
    # It is due by its counters, or would be if autovacuum were not switched off for it.
    due_by_rows: bool
    due_by_age: bool
    table: Table


def statistics_missing(relation: Relation) -> bool:
    """Tell whether the statistics know nothing about a table that has pages."""
    return (
        relation.relkind in HEAPS
        and relation.pages > 0
        and relation.live_tuples == 0
        and relation.dead_tuples == 0
        and relation.mod_since_analyze == 0
        and relation.changed == 0
        and relation.last_vacuum is None
        and relation.last_analyze is None
    )


def lane_of(relation: Relation) -> str:
    """Return the lane in which pg_sweep would vacuum the table."""
    large_objects = relation.is_catalog and relation.relname == "pg_largeobject"
    if relation.is_catalog and not large_objects:
        return "catalog"
    if large_objects or relation.relkind == "t" or relation.schemaname in AUX_SCHEMAS:
        return "aux"
    return "user"


def judge(facts: CoreFacts) -> tuple[Judged, ...]:
    """Return every relation with thresholds, scores and decision, in the order given."""
    blocked: dict[int, list[int]] = {}
    vacuuming = {
        vacuum.relid: vacuum.pid
        for vacuum in facts.vacuums
        if vacuum.relid is not None and vacuum.datname == facts.server.dbname
    }
    pids = {vacuum.pid for vacuum in facts.vacuums if vacuum.relid is not None}
    locked: set[int] = set()
    for lock in facts.locks:
        if lock.pid in pids:
            continue
        locked.add(lock.relid)
        if lock.pid is not None and lock.pid not in blocked.setdefault(lock.relid, []):
            blocked[lock.relid].append(lock.pid)
    return tuple(
        _judge(
            facts,
            relation,
            blocked.get(relation.relid) or None,
            relation.relid in locked,
            vacuuming.get(relation.relid),
        )
        for relation in facts.relations
    )


def _judge(
    facts: CoreFacts,
    relation: Relation,
    blocked_by: list[int] | None,
    locked: bool,
    vacuuming: int | None,
) -> Judged:
    options = options_of(relation, facts.settings)
    limits = thresholds(relation, options)
    points = scores(relation, options, limits, facts.settings)
    heap = relation.relkind in HEAPS and relation.relpersistence != "t"
    by_rows = heap and (
        relation.dead_tuples > limits.vacuum
        or (limits.insert is not None and relation.ins_since_vacuum > limits.insert)
    )
    by_age = heap and (
        (relation.xid_age or 0) > options.freeze_max_age
        or (relation.mxid_age or 0) > options.multixact_freeze_max_age
    )
    enabled = options.enabled is not False and boolean(facts.settings.get("autovacuum"), True)
    do_vacuum = by_age or (
        by_rows and enabled and boolean(facts.settings.get("track_counts"), True)
    )
    table = Table(
        datname=facts.server.dbname,
        relid=relation.relid,
        schemaname=relation.schemaname,
        relname=relation.relname,
        lane=lane_of(relation),
        live_tuples=relation.live_tuples,
        dead_tuples=relation.dead_tuples,
        vacuum_threshold=limits.vacuum,
        ins_since_vacuum=relation.ins_since_vacuum,
        insert_threshold=limits.insert,
        mod_since_analyze=relation.mod_since_analyze,
        analyze_threshold=None if relation.relkind == "t" else limits.analyze,
        pages=relation.pages,
        frozen_pages=relation.frozen_pages,
        all_visible_pages=relation.all_visible_pages,
        xid_age=relation.xid_age,
        mxid_age=relation.mxid_age,
        xid_limit=options.freeze_max_age,
        mxid_limit=options.multixact_freeze_max_age,
        freeze_at=None,
        freeze_time=None,
        score=points.total,
        xid_score=points.xid,
        mxid_score=points.mxid,
        vacuum_score=points.vacuum,
        vacuum_insert_score=points.insert,
        analyze_score=points.analyze,
        do_vacuum=do_vacuum,
        decision=None,
        reason=None,
        not_before=None,
        blocked_by=blocked_by,
        truncatable_bytes=None,
        snoozed_until=None,
        last_run=relation.last_vacuum,
    )
    judged = Judged(relation, options, limits, points, by_rows, by_age, table)
    decision, reason = _decide(facts, judged, locked, vacuuming)
    return replace(judged, table=replace(table, decision=decision, reason=reason))


def _decide(
    facts: CoreFacts, judged: Judged, locked: bool, vacuuming: int | None
) -> tuple[str, str]:
    """Return what becomes of the table, and why, in a few words each."""
    relation = judged.relation
    why = reason_of(judged)
    if relation.relkind == "p":
        return "partitioned", "holds no rows: its partitions are vacuumed"
    if relation.relpersistence == "t":
        return "temporary", "only its own session can vacuum it"
    if vacuuming is not None:
        return "running", f"being vacuumed by process {vacuuming}"
    if not judged.due_by_age:
        if switch := switched_off(facts, judged):
            return "disabled", f"{switch}, {why}"
        if statistics_missing(relation):
            return "unknown", "the statistics know nothing about it"
        if not judged.due_by_rows:
            return "below threshold", why
    if locked:
        pids = ", ".join(str(pid) for pid in judged.table.blocked_by or ())
        return (
            "locked",
            f"{why}, locked by {f'process {pids}' if pids else 'a prepared transaction'}",
        )
    return "due", why


def switched_off(facts: CoreFacts, judged: Judged) -> str | None:
    """Return what keeps autovacuum from vacuuming the table for its rows, or None."""
    if not boolean(facts.settings.get("track_counts"), True):
        return "track_counts is off"
    if not boolean(facts.settings.get("autovacuum"), True):
        return "autovacuum is off"
    if judged.options.enabled is False:
        if judged.options.inherited:
            return "autovacuum_enabled is off for its main table"
        return "autovacuum_enabled is off for this table"
    return None


def reason_of(judged: Judged) -> str:
    """Return the counter that is farthest along, with its threshold."""
    relation, options, limits = judged.relation, judged.options, judged.limits
    if (relation.xid_age or 0) > options.freeze_max_age:
        return (
            f"age {relation.xid_age:,} above autovacuum_freeze_max_age {options.freeze_max_age:,}"
        )
    if (relation.mxid_age or 0) > options.multixact_freeze_max_age:
        return (
            f"multixact age {relation.mxid_age:,} above autovacuum_multixact_freeze_max_age "
            f"{options.multixact_freeze_max_age:,}"
        )
    dead, inserted = relation.dead_tuples, relation.ins_since_vacuum
    insert = limits.insert
    # What is due comes first, then what is nearer to being due.
    inserts = insert is not None and inserted / max(insert, 1.0) > dead / max(limits.vacuum, 1.0)
    if insert is not None and inserts and dead <= limits.vacuum:
        return _counter("inserted tuples", inserted, insert)
    return _counter("dead tuples", dead, limits.vacuum)


def _counter(what: str, have: int, limit: float) -> str:
    if have > limit:
        return f"{what} {have:,} above threshold {limit:,.0f}"
    return f"{what} {have:,} of threshold {limit:,.0f}"


SORTS: dict[str, Callable[[Table], float]] = {
    "score": lambda table: -(table.score or 0.0),
    "dead": lambda table: -(table.dead_tuples or 0),
    "inserted": lambda table: -(table.ins_since_vacuum or 0),
    "age": lambda table: -(table.xid_age or 0) / max(table.xid_limit or 1, 1),
    "freeze": lambda table: (
        math.inf if table.freeze_time is None else table.freeze_time.timestamp()
    ),
    "size": lambda table: -(table.pages or 0),
    "name": lambda _table: 0.0,
}


def frozen_soon(tables: Sequence[Table], now: datetime) -> str:
    """Return what pg_sweep freezes within FREEZE_DAYS. Empty: nothing, or nothing is known."""
    until = now + timedelta(days=compute.FREEZE_DAYS)
    due = [row for row in tables if row.freeze_time is not None and row.freeze_time < until]
    if not due:
        return ""
    pages = sum(max((row.pages or 0) - (row.frozen_pages or 0), 0) for row in due)
    tables_due = compute.plural(len(due), "table")
    return f"within {compute.FREEZE_DAYS} days {tables_due} to freeze, {text.count(pages)} pages"


def pick(
    tables: Sequence[Table], sort: str, due: bool = False, limit: int | None = None
) -> tuple[Table, ...]:
    """Return the tables that are asked for, in the order that is asked for."""
    names = sorted(
        (table for table in tables if table.do_vacuum or not due),
        key=lambda table: (table.datname, table.schemaname or "", table.relname or ""),
    )
    return tuple(sorted(names, key=SORTS[sort])[:limit])
