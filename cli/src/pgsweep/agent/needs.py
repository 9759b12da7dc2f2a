"""Which tables need a VACUUM or an ANALYZE that autovacuum does not give them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pgsweep.agent import freezing
from pgsweep.agent.act import ANALYZE, DROP, FREEZE, REINDEX, VACUUM, Act
from pgsweep.findings.core.tables import HEAPS, reason_of
from pgsweep.model.core_options import PG_STATISTIC, boolean

if TYPE_CHECKING:
    from pgsweep.findings.core.tables import Judged
    from pgsweep.model.core_facts import CoreFacts

# Autovacuum has so long to come before a table that is due counts as late.
LATE_S = 300.0
# A table is due from so many dead rows on, however large it is.
CAP_ROWS = 10_000_000
# A growing table is vacuumed by its unfrozen part from this size on.
GROWING_BYTES = 256 * 1024 * 1024
# A table whose rows have not changed for so long is static.
QUIET_S = 3600.0
# After a vacuum that took t seconds the next one of that table may begin REST * t later.
REST, LEAST_REST_S, MOST_REST_S = 20, 300.0, 86_400.0
# After so many failures in a row a table is vacuumed without its indexes.
FAILURES = 2
# The scale factor and threshold by which the partitions' changes make their parent due.
ANALYZE_SCALE, ANALYZE_BASE = 0.1, 50
# Where pg_repack and pg_squeeze keep the copies that they make.
COPIES = ("repack", "squeeze")
SKIP_INDEXES = "INDEX_CLEANUP OFF"


@dataclass(frozen=True)
class Known:
    """What is remembered of a table. Times are seconds of the agent's clock."""

    # since when autovacuum could have come, and when it was there last, by the server's clock
    due_since: float | None = None
    visited: float | None = None
    # Rows ever changed, and since when it is so many.
    changed: int | None = None
    changed_at: float | None = None
    # `changed` when it was frozen, and when it was analyzed
    frozen_at: int | None = None
    analyzed_at: int | None = None
    # the last act of ours: when it ended, how long it took, and how often it failed in a row
    ended: float | None = None
    took_s: float = 0.0
    failures: int = 0


@dataclass(frozen=True)
class Right:
    """What the role may do to a relation."""

    relid: int
    # as its owner, to drop what a REINDEX left
    owned: bool
    # by ownership, pg_maintain or MAINTAIN
    maintained: bool

    def allows(self, kind: str) -> bool:
        """Tell whether it allows an act. A rebuild may leave something to drop behind."""
        return self.owned if kind in (REINDEX, DROP) else self.maintained


@dataclass(frozen=True)
class Parent:
    """A partitioned table, with what happened to all its partitions."""

    relid: int
    sql_name: str
    rows: float
    # rows ever changed
    changed: int
    is_analyzed: bool


NOTHING = Known()


@dataclass(frozen=True)
class Moment:
    """What holds for all tables of a database at a look."""

    now: float
    known: Mapping[int, Known]
    # how old the oldest id is that somebody still needs
    horizon: int
    # a standby that may cancel queries for what is truncated
    has_standby: bool
    block: int = 8192


def acts(facts: CoreFacts, found: Iterable[Judged], moment: Moment) -> Iterator[Act]:
    """Yield what each table of the database needs."""
    for judged in found:
        relation = judged.relation
        known = moment.known.get(relation.relid, NOTHING)
        if not _is_ours(judged) or not _has_rested(known, moment.now):
            continue
        act = _freeze(facts, judged, known, moment) or _vacuum(facts, judged, known, moment)
        if act is None and relation.relkind in ("r", "m"):
            act = _analyze(facts, judged, known, moment)
        if act is not None:
            yield act


def is_due(judged: Judged) -> bool:
    """Tell whether autovacuum should be on its way to the table."""
    return judged.relation.relkind in HEAPS and (judged.due_by_rows or judged.due_by_age)


def horizon(facts: CoreFacts) -> int:
    """Return how old the oldest id is that somebody needs, which no vacuum can freeze.

    An old temporary table is only old itself.
    """
    ages = (holder.xid_age or 0 for holder in facts.holders if holder.source != "temporary")
    return max(ages, default=0)


def after_look(judged: Judged, known: Known, now: float) -> Known:
    """Return what is known of a table after a look at it."""
    relation = judged.relation
    if known.changed != relation.changed:
        known = replace(known, changed=relation.changed, changed_at=now)
    vacuum = is_due(judged)
    last = relation.last_vacuum if vacuum else relation.last_analyze
    visited = None if last is None else last.timestamp()
    if not vacuum and not wants_analyze(judged):
        return replace(known, due_since=None, visited=visited)
    # A busy table is due again soon after each vacuum. That is no reason to be called late.
    if known.due_since is None or known.visited != visited or judged.table.decision == "running":
        return replace(known, due_since=now, visited=visited)
    return known


def is_quiet(known: Known, now: float) -> bool:
    """Tell whether no row of the table has changed for long."""
    return known.changed_at is not None and now - known.changed_at >= QUIET_S


def rest_s(known: Known) -> float:
    """Return how long the table is left alone after the last act."""
    rest = max(LEAST_REST_S, REST * known.took_s)
    return min(MOST_REST_S, rest * 2.0 ** min(known.failures, 10))


def _is_late(facts: CoreFacts, known: Known, moment: Moment) -> bool:
    """Tell whether autovacuum has had its time. Where it is off nobody waits for it."""
    if known.due_since is None:
        return False
    if not boolean(facts.settings.get("autovacuum"), default=True):
        return True
    return moment.now - known.due_since >= LATE_S


def _has_rested(known: Known, now: float) -> bool:
    return known.ended is None or now - known.ended >= rest_s(known)


def _is_ours(judged: Judged) -> bool:
    """Tell whether it may be worked on now."""
    relation, table = judged.relation, judged.table
    return (
        relation.relkind in HEAPS
        and relation.relpersistence != "t"
        and relation.schemaname not in COPIES
        and table.decision not in ("running", "locked")
        # Who switched autovacuum off for a table wants it left alone, but for its age.
        and (judged.options.enabled is not False or judged.due_by_age)
    )


def _freeze(facts: CoreFacts, judged: Judged, known: Known, moment: Moment) -> Act | None:
    relation, options = judged.relation, judged.options
    static = is_quiet(known, moment.now)
    early = static and known.frozen_at != known.changed
    at = freezing.share(relation.relid, early)
    ages = (
        ("age", relation.xid_age, options.freeze_max_age, moment.horizon),
        ("multixact age", relation.mxid_age, options.multixact_freeze_max_age, 0),
    )
    for what, age, limit, least in ages:
        if age is None or not freezing.is_due(age, limit, least, at):
            continue
        settings: tuple[tuple[str, str], ...] = ()
        if not static:
            settings = (
                ("vacuum_freeze_table_age", "0"),
                ("vacuum_multixact_freeze_table_age", "0"),
                ("vacuum_freeze_min_age", str(freezing.min_age(limit))),
                (
                    "vacuum_multixact_freeze_min_age",
                    str(freezing.min_age(options.multixact_freeze_max_age)),
                ),
            )
        return _vacuum_act(
            facts,
            judged,
            known,
            moment,
            FREEZE,
            f"{what} {age:,} of {limit:,}, {'static' if static else 'frozen ahead'}",
            100 * age / limit if age > limit else min(9.0, 9 * age / limit),
            settings,
            ("FREEZE",) if static else (),
        )
    return None


def _vacuum(facts: CoreFacts, judged: Judged, known: Known, moment: Moment) -> Act | None:
    relation = judged.relation
    late = _is_late(facts, known, moment)
    reason = ""
    freeze: tuple[str, ...] = ()
    if relation.dead_tuples > min(CAP_ROWS, judged.limits.vacuum) and (
        late or relation.dead_tuples > CAP_ROWS
    ):
        reason = f"dead tuples {relation.dead_tuples:,}"
        if relation.dead_tuples <= judged.limits.vacuum:
            reason += f", threshold {judged.limits.vacuum:,.0f}"
    elif late and is_due(judged):
        reason = reason_of(judged)
    elif (grown := _grown(judged, moment.block)) is not None:
        reason, freeze = grown, ("FREEZE",)
    if not reason:
        return None
    if known.due_since is not None and moment.now - known.due_since >= LATE_S:
        reason += f", late for {(moment.now - known.due_since) / 60:.0f} min"
    catalog = 20 if relation.is_catalog else 0
    urgency = 20 + catalog + min(19.0, judged.scores.total)
    return _vacuum_act(facts, judged, known, moment, VACUUM, reason, urgency, (), freeze)


def _grown(judged: Judged, block: int) -> str | None:
    """Return why a growing table is vacuumed by its unfrozen part, as PostgreSQL 18 does."""
    relation, insert = judged.relation, judged.limits.insert
    if insert is None or relation.pages * block < GROWING_BYTES or relation.reltuples <= 0:
        return None
    done = relation.all_visible_pages if relation.frozen_pages is None else relation.frozen_pages
    part = 1 - min(done, relation.pages) / relation.pages
    options = judged.options
    least = (options.insert_threshold or 0) + options.insert_scale_factor * part * max(
        relation.reltuples, 0
    )
    if relation.ins_since_vacuum <= least or relation.dead_tuples > relation.ins_since_vacuum / 20:
        return None
    return f"inserted tuples {relation.ins_since_vacuum:,} above {least:,.0f} of its unfrozen part"


def _vacuum_act(
    facts: CoreFacts,
    judged: Judged,
    known: Known,
    moment: Moment,
    kind: str,
    reason: str,
    urgency: float,
    settings: tuple[tuple[str, str], ...],
    more: tuple[str, ...] = (),
) -> Act:
    relation = judged.relation
    options = ["VERBOSE", "SKIP_LOCKED", *more, "PARALLEL 0"]
    if facts.version_num >= 140000 and relation.relkind != "t":
        options.append("PROCESS_TOAST FALSE")
    if moment.has_standby:
        options.append("TRUNCATE FALSE")
    if known.failures >= FAILURES:
        options.append(SKIP_INDEXES)
    size = relation.pages * moment.block
    return Act(
        kind=kind,
        datname=facts.server.dbname,
        relid=relation.relid,
        table_relid=relation.relid,
        name=f"{relation.schemaname}.{relation.relname}",
        statement=f"VACUUM ({', '.join(options)}) {relation.sql_name}",
        reason=reason,
        urgency=urgency,
        settings=settings,
        size=size,
        cost=(relation.pages - min(relation.pages, relation.all_visible_pages)) * moment.block,
    )


def _analyze(facts: CoreFacts, judged: Judged, known: Known, moment: Moment) -> Act | None:
    """Return the ANALYZE of a table that autovacuum would analyze and does not."""
    relation = judged.relation
    if not _is_late(facts, known, moment) or not wants_analyze(judged):
        return None
    reason = (
        "no statistics" if _has_none(judged) else f"{relation.mod_since_analyze:,} rows changed"
    )
    return _analyze_act(
        facts,
        relation.relid,
        f"{relation.schemaname}.{relation.relname}",
        relation.sql_name,
        reason,
    )


def wants_analyze(judged: Judged) -> bool:
    """Tell whether autovacuum should be on its way to analyze the table."""
    relation = judged.relation
    return (
        relation.relkind in ("r", "m")
        and relation.relid != PG_STATISTIC
        and (relation.mod_since_analyze > judged.limits.analyze or _has_none(judged))
    )


def _has_none(judged: Judged) -> bool:
    """Tell whether a table has rows and was never vacuumed or analyzed. 13 does not tell."""
    relation = judged.relation
    return relation.reltuples < 0 and (relation.live_tuples > 0 or relation.pages > 0)


def _analyze_act(facts: CoreFacts, relid: int, name: str, sql_name: str, reason: str) -> Act:
    return Act(
        kind=ANALYZE,
        datname=facts.server.dbname,
        relid=relid,
        table_relid=relid,
        name=name,
        statement=f"ANALYZE (SKIP_LOCKED) {sql_name}",
        reason=reason,
        urgency=15,
    )


def parent_after_look(parent: Parent, known: Known) -> Known:
    """Return what is known of a partitioned table. If it has statistics, these count as of now."""
    analyzed = known.analyzed_at
    if analyzed is None and parent.is_analyzed:
        analyzed = parent.changed
    return replace(known, changed=parent.changed, analyzed_at=analyzed)


def parents(facts: CoreFacts, found: Iterable[Parent], moment: Moment) -> Iterator[Act]:
    """Yield the ANALYZE of partitioned tables, which autovacuum never does."""
    for parent in found:
        known = moment.known.get(parent.relid, NOTHING)
        if not _has_rested(known, moment.now):
            continue
        since = parent.changed - (known.analyzed_at or 0)
        if not parent.is_analyzed:
            reason = "partitioned, no statistics"
        elif known.analyzed_at is not None and since > ANALYZE_BASE + ANALYZE_SCALE * parent.rows:
            reason = f"partitioned, {since:,} rows changed"
        else:
            continue
        if parent.rows > 0:
            yield _analyze_act(facts, parent.relid, parent.sql_name, parent.sql_name, reason)
