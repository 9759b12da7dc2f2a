"""Findings about a table that no vacuum will come to: it cannot, it may not, or it need not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgsweep.findings.core.finding import VACUUM_RISK, finding
from pgsweep.findings.core.tables import reason_of
from pgsweep.model import compute, core_rates as rates
from pgsweep.source.core import words

if TYPE_CHECKING:
    from pgsweep.findings.core.finding import Finding
    from pgsweep.findings.core.tables import Judged
    from pgsweep.model.core_facts import CoreFacts

# A table of fewer pages than this can wait until somebody counts its rows.
LARGE_PAGES = 1_000
NOT_HEAPS = {
    "v": ("view", "a view holds no rows"),
    "f": ("foreign table", "its rows are on another server"),
    "S": ("sequence", "a sequence is one row and never grows"),
    "p": ("partitioned table", "it holds no rows itself"),
}


def no_heap(judged: Judged) -> Finding:
    """Return the finding for what VACUUM leaves out."""
    relation = judged.relation
    kind, why = NOT_HEAPS.get(relation.relkind, ("relation", "it holds no rows of its own"))
    if relation.relkind == "p":
        return finding(
            judged,
            6,
            "never vacuumed",
            "partitioned table",
            f"{why}. Its partitions are vacuumed one by one. Autovacuum never analyzes it",
            f"ANALYZE {relation.sql_name};",
            "reads a sample of every partition",
        )
    fix = "-- vacuum it on its own server" if relation.relkind == "f" else ""
    return finding(judged, 6, "never vacuumed", kind, why, fix, "none")


def temporary(judged: Judged) -> Finding:
    """Return the finding for a temporary table."""
    relation = judged.relation
    age = f"its oldest row is {compute.old(relation.xid_age)}" if relation.xid_age else ""
    return finding(
        judged,
        6,
        "never vacuumed by autovacuum",
        "temporary table",
        compute.sentences(
            "it is in the memory of the session that made it, and only that can vacuum it", age
        ),
        f"VACUUM {relation.sql_name}; -- in its own session",
        "none",
    )


def standby(judged: Judged) -> Finding:
    """Return the finding for a server in recovery."""
    return finding(
        judged,
        66,
        "never vacuumed here",
        "standby",
        "this server is in recovery. It replays what is vacuumed on the primary",
        "-- ask the primary",
        "none",
        shared="standby",
    )


def off(judged: Judged, off: str) -> Finding:
    """Return the finding that vacuums are switched off, for this table or for all."""
    relation = judged.relation
    due = judged.due_by_rows
    evidence = reason_of(judged)
    verdict = "due, and not vacuumed" if due else "not due, and would not be vacuumed"
    if off == "track_counts is off":
        return finding(
            judged,
            65,
            "not known to be due",
            off,
            "nobody counts dead rows. Only age still brings a vacuum",
            "ALTER SYSTEM SET track_counts = on; SELECT pg_reload_conf();",
            "counting begins at the present numbers. VACUUM ANALYZE what has changed meanwhile",
            shared=off,
        )
    if off == "autovacuum is off":
        return finding(
            judged,
            64 if due else 25,
            verdict,
            off,
            evidence,
            "ALTER SYSTEM SET autovacuum = on; SELECT pg_reload_conf();",
            "all tables that became due meanwhile are vacuumed one after the other, "
            "within autovacuum's cost limit",
            shared=off,
        )
    owner = relation.main_sql_name if relation.relkind == "t" else relation.sql_name
    option = "autovacuum_enabled"
    if relation.relkind == "t" and not judged.options.inherited:
        option = f"toast.{option}"
    return finding(
        judged,
        50 if due else 15,
        verdict,
        off,
        compute.sentences(evidence, f"the storage parameter is {option}"),
        f"ALTER TABLE {owner} RESET ({option});",
        "somebody switched it off for a reason, perhaps for a job that vacuums it. "
        "A vacuum starts soon",
    )


def unknown(facts: CoreFacts, judged: Judged) -> Finding:
    """Return the finding that nobody knows the rows."""
    relation = judged.relation
    evidence = f"{compute.plural(relation.pages, 'page')} and not one row counted"
    if facts.stats_reset is not None:
        ago = words.span(facts.server.now - facts.stats_reset)
        evidence += f". The statistics of this database were reset {ago} ago"
    else:
        evidence += ". Statistics are lost in a crash, a promotion and pg_upgrade"
    return finding(
        judged,
        45 if relation.pages >= LARGE_PAGES else 12,
        "not known to be due",
        "statistics are missing or were reset",
        evidence,
        f"VACUUM (ANALYZE) {relation.sql_name};",
        VACUUM_RISK,
        shared="statistics",
    )


def below(facts: CoreFacts, judged: Judged) -> Finding:
    """Return the finding that a table is below its thresholds, and when it will reach them."""
    relation, limits = judged.relation, judged.limits
    parts = [_distance("dead rows", relation.dead_tuples, limits.vacuum)]
    if limits.insert is not None:
        parts.append(_distance("inserted rows", relation.ins_since_vacuum, limits.insert))
    else:
        parts.append("the vacuum for inserts is switched off")
    dates = [
        (rates.when(facts.server.now, limit - have, rate), what)
        for what, have, limit, rate in (
            ("dead rows", relation.dead_tuples, limits.vacuum, rates.dead_per_s(facts, relation)),
            (
                "inserted rows",
                relation.ins_since_vacuum,
                limits.insert,
                rates.inserted_per_s(facts, relation),
            ),
        )
        if limit is not None and rate is not None and rate > 0
    ]
    known = [(date, what) for date, what in dates if date is not None]
    if known:
        date, what = min(known)
        parts.append(
            f"it is due by {what} on {words.date(date, facts.server.now)} at the present rate"
        )
    # A vacuum of a quiet table would find nothing to do.
    quiet = relation.dead_tuples == 0 and relation.ins_since_vacuum == 0
    return finding(
        judged,
        10,
        "not due",
        "below threshold",
        compute.sentences(*parts),
        "" if quiet else f"VACUUM {relation.sql_name};",
        "" if quiet else VACUUM_RISK,
    )


def _distance(what: str, have: int, limit: float) -> str:
    share = 100 * have / max(limit, 1)
    return f"{what} {have:,}, {share:.0f} % of the threshold {limit:,.0f}"
