"""Why a table is not being vacuumed, from core's views alone: causes, the worst first; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pgsweep import compute
from pgsweep.core import rates
from pgsweep.core.blockers import affects, blockers, described, literal
from pgsweep.core.facts import CoreFacts, Lock, Vacuum
from pgsweep.core.tables import HEAPS, Judged, judge, reason_of, statistics_missing, switched_off
from pgsweep.model import Blocker, Cause

WORST = 10
# The age at which the server refuses new transaction ids.
STOP_AGE = 2**31 - 3_000_000
# Where the failsafe strikes by default.
FAILSAFE_AGE = 1_600_000_000
# From this share of the freeze limit on the age is worth a word.
AHEAD = 0.8
# A holder as old as this matters even before a vacuum has met it.
OLD_HOLDER = timedelta(minutes=5)
OLD_HOLDER_XIDS = 100_000
QUERY_ROOM = 60
# A table of fewer pages can wait until somebody counts its rows.
LARGE_PAGES = 1_000
# Causes less grave than this are no news in the list of the worst.
NEWS = 20

VACUUM_RISK = "reads and writes the table at the speed of vacuum_cost_delay; blocks no queries"
NOT_HEAPS = {
    "v": ("view", "a view holds no rows"),
    "f": ("foreign table", "its rows are on another server"),
    "S": ("sequence", "a sequence is one row and never grows"),
    "p": ("partitioned table", "it holds no rows itself"),
}


@dataclass(frozen=True)
class Finding:
    """A cause and how grave it is."""

    severity: int
    score: float
    relation: str
    verdict: str
    cause: str
    evidence: str
    fix: str
    risk: str
    # What several tables have in common is told once, for the worst of them.
    shared: str = ""
    toast: bool = False


def explain(facts: CoreFacts) -> tuple[Cause, ...]:
    """Return every cause for the relations that were read, for one table and its TOAST table.

    Of the TOAST table only what is worth a word beside its main table.
    """
    alone = len(facts.relations) == 1
    return _ranked([row for row in _findings(facts) if alone or not row.toast or row.severity > 10])


def explain_worst(facts: CoreFacts, limit: int = WORST) -> tuple[Cause, ...]:
    """Return the worst causes in this database; a cause of many tables once."""
    kept: list[Finding] = []
    others: dict[str, int] = {}
    named: set[str] = set()
    for finding in _sorted(_findings(facts)):
        # That it waits its turn is no news of a table with a graver cause.
        waits = finding.severity == NEWS and finding.relation in named
        if finding.severity < NEWS or waits:
            continue
        named.add(finding.relation)
        if finding.shared and finding.shared in others:
            others[finding.shared] += 1
            continue
        if finding.shared:
            others[finding.shared] = 0
        kept.append(finding)
    merged = [
        replace(finding, evidence=f"{finding.evidence}; {_more(others[finding.shared])}")
        if others.get(finding.shared)
        else finding
        for finding in kept
    ]
    return _ranked(merged)[:limit]


def _more(count: int) -> str:
    return "and 1 more table" if count == 1 else f"and {count:,} more tables"


def _sorted(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda row: (-row.severity, -row.score, row.relation))


def _ranked(findings: Sequence[Finding]) -> tuple[Cause, ...]:
    return tuple(
        Cause(
            rank=rank,
            relation=row.relation,
            verdict=row.verdict,
            cause=row.cause,
            evidence=row.evidence,
            fix=row.fix,
            risk=row.risk,
        )
        for rank, row in enumerate(_sorted(findings), start=1)
    )


def _findings(facts: CoreFacts) -> list[Finding]:
    dbname = facts.server.dbname
    holding = blockers(facts.holders, dbname)
    # Tables are many, and of few kinds.
    mine = {
        (shared, catalog): [row for row in holding if affects(row, dbname, shared, catalog)]
        for shared in (False, True)
        for catalog in (False, True)
    }
    found: list[Finding] = []
    for judged in judge(facts):
        kind = (judged.relation.is_shared, judged.relation.is_catalog)
        found.extend(_of_table(facts, judged, mine[kind]))
    return found


def _of_table(facts: CoreFacts, judged: Judged, holding: Sequence[Blocker]) -> Iterator[Finding]:
    relation = judged.relation
    if relation.relkind not in HEAPS:
        yield _no_heap(judged)
        return
    if relation.relpersistence == "t":
        yield _temporary(judged)
        return
    # What needs a vacuum, whether or not anything will come of it.
    wanted = judged.due_by_rows or judged.due_by_age
    horizon = list(_horizon(facts, judged, holding))
    yield from _wraparound(facts, judged)
    yield from horizon
    if facts.server.in_recovery:
        yield _standby(judged)
        return
    if running := _running_on(facts, judged):
        yield _being_vacuumed(judged, running)
        return
    off = None if judged.due_by_age else switched_off(facts, judged)
    if off is not None:
        yield _off(judged, off)
    if not wanted and statistics_missing(relation):
        yield _unknown(facts, judged)
    if not wanted and off is None and not statistics_missing(relation):
        yield _below(facts, judged)
    if wanted and off is None:
        obstacles = [*_locks(facts, judged), *_busy(facts, judged)]
        yield from obstacles
        if not obstacles and not any(row.severity >= 60 for row in horizon):
            yield _next(facts, judged)


def _finding(
    judged: Judged,
    severity: int,
    verdict: str,
    cause: str,
    evidence: str,
    fix: str,
    risk: str,
    shared: str = "",
) -> Finding:
    relation = judged.relation
    name = f"{relation.schemaname}.{relation.relname}"
    if relation.relkind == "t" and relation.main_relname:
        name = f"{name} (TOAST of {relation.main_schemaname}.{relation.main_relname})"
    score = judged.table.score or 0.0
    toast = relation.relkind == "t"
    return Finding(severity, score, name, verdict, cause, evidence, fix, risk, shared, toast)


# -- what cannot be vacuumed ------------------------------------------------


def _no_heap(judged: Judged) -> Finding:
    relation = judged.relation
    kind, why = NOT_HEAPS.get(relation.relkind, ("relation", "it holds no rows of its own"))
    if relation.relkind == "p":
        return _finding(
            judged,
            6,
            "never vacuumed",
            "partitioned table",
            f"{why}: its partitions are vacuumed one by one, and the core daemon never analyzes it",
            f"ANALYZE {relation.sql_name};",
            "reads a sample of every partition",
        )
    fix = "-- vacuum it on its own server" if relation.relkind == "f" else ""
    return _finding(judged, 6, "never vacuumed", kind, why, fix, "none")


def _temporary(judged: Judged) -> Finding:
    relation = judged.relation
    age = f"; its oldest row is {relation.xid_age:,} transactions old" if relation.xid_age else ""
    return _finding(
        judged,
        6,
        "never vacuumed by autovacuum",
        "temporary table",
        f"it is in the memory of the session that made it, and only that can vacuum it{age}",
        f"VACUUM {relation.sql_name}; -- in its own session",
        "none",
    )


def _standby(judged: Judged) -> Finding:
    return _finding(
        judged,
        66,
        "never vacuumed here",
        "standby",
        "this server is in recovery: it replays what is vacuumed on the primary",
        "-- ask the primary",
        "none",
        shared="standby",
    )


# -- age --------------------------------------------------------------------


def _wraparound(facts: CoreFacts, judged: Judged) -> Iterator[Finding]:
    relation, options = judged.relation, judged.options
    age, limit = relation.xid_age or 0, options.freeze_max_age
    multi, multi_limit = relation.mxid_age or 0, options.multixact_freeze_max_age
    if multi / max(multi_limit, 1) > age / max(limit, 1) and multi > AHEAD * multi_limit:
        yield _age_finding(
            judged,
            multi / multi_limit,
            multi,
            f"oldest multixact is {multi:,} old, {100 * multi / multi_limit:.0f} % of "
            f"autovacuum_multixact_freeze_max_age ({multi_limit:,})",
        )
        return
    if age <= AHEAD * limit:
        return
    evidence = (
        f"oldest row is {age:,} transactions old, {100 * age / limit:.0f} % of "
        f"autovacuum_freeze_max_age ({limit:,})"
    )
    rate = facts.xid_rate
    if rate is not None and rate.per_s > 0:
        left = STOP_AGE - age
        stop = rates.when(facts.server.now, left, rate.per_s)
        evidence += f"; at {_number(rate.per_s)} transactions/s ({rate.basis}) "
        if age <= limit:
            forced = rates.when(facts.server.now, limit - age, rate.per_s)
            evidence += f"a vacuum is forced on {_date(forced, facts.server.now)}, and "
        evidence += f"the server would stop writing on {_date(stop, facts.server.now)}"
    else:
        evidence += f"; the server stops writing in {STOP_AGE - age:,} transactions"
    yield _age_finding(judged, age / limit, age, evidence)


def _age_finding(judged: Judged, share: float, age: int, evidence: str) -> Finding:
    severity, verdict = 30, "a forced vacuum is near"
    if age >= FAILSAFE_AGE:
        severity, verdict = 100, "in danger of wraparound"
    elif share >= 1.5:
        severity, verdict = 90, "forced vacuum does not get through"
    elif share > 1:
        severity, verdict = 70, "forced vacuum is due"
    return _finding(
        judged,
        severity,
        verdict,
        "wraparound ahead",
        evidence,
        f"VACUUM (FREEZE, VERBOSE) {judged.relation.sql_name};",
        "reads the whole table and writes every page that is not frozen, with its WAL; "
        "removes nothing that the horizon's holder still needs",
    )


# -- the horizon ------------------------------------------------------------


def _horizon(facts: CoreFacts, judged: Judged, mine: Sequence[Blocker]) -> Iterator[Finding]:
    """Return the holder of this table's horizon that does harm; `mine` are those that affect it."""
    if not mine:
        return
    relation, now = judged.relation, facts.server.now
    oldest = mine[0].age or 0
    level = [blocker for blocker in mine if (blocker.age or 0) * 2 > oldest]
    blocker = next((row for row in level if _met(facts, judged, row)), mine[0])
    met = _met(facts, judged, blocker)
    long = blocker.since is not None and now - blocker.since >= OLD_HOLDER
    old = long or (blocker.age or 0) >= OLD_HOLDER_XIDS
    if judged.due_by_age and oldest * 2 > (relation.xid_age or 0):
        severity, verdict = 85, "vacuumed, but it cannot be frozen"
    elif met and judged.due_by_rows:
        severity, verdict = 60, "vacuumed, but its dead rows cannot be removed"
    elif judged.due_by_rows and old:
        severity, verdict = 57, "a vacuum could not remove what died lately"
    elif met and old:
        severity, verdict = 15, "vacuumed, and some dead rows stayed"
    else:
        return
    evidence = _holder_evidence(facts, judged, blocker, met)
    if len(level) > 1:
        others = compute.plural(len(level) - 1, "other")
        evidence += f"; {others} nearly as old: pgsweep blockers"
    yield _finding(
        judged,
        severity,
        verdict,
        f"horizon held by {described(blocker, facts.server.dbname)}",
        evidence,
        blocker.fix or "",
        blocker.risk or "",
        shared=f"horizon {blocker.kind} {blocker.pid} {blocker.name}",
    )


def _met(facts: CoreFacts, judged: Judged, blocker: Blocker) -> bool:
    """Tell whether it was there already when the table was vacuumed, and dead rows stayed."""
    relation = judged.relation
    since = blocker.since or _estimated_since(facts, blocker)
    return (
        relation.last_vacuum is not None
        and since is not None
        and since <= relation.last_vacuum
        and relation.dead_tuples > 0
    )


def _estimated_since(facts: CoreFacts, blocker: Blocker) -> datetime | None:
    """Return since when a slot or a standby has held back, going by its age."""
    rate = facts.xid_rate
    if rate is None or rate.per_s <= 0 or not blocker.age:
        return None
    return facts.server.now - min(timedelta(seconds=blocker.age / rate.per_s), rates.FARTHEST)


def _holder_evidence(facts: CoreFacts, judged: Judged, blocker: Blocker, met: bool) -> str:
    parts = [f"{blocker.age or 0:,} transactions old"]
    if blocker.since is not None:
        parts.append(f"for {_span(facts.server.now - blocker.since)}")
    if blocker.usename:
        parts.append(f'by "{blocker.usename}"')
    if blocker.state:
        parts.append(blocker.state)
    if met and judged.relation.last_vacuum is not None:
        ago = _span(facts.server.now - judged.relation.last_vacuum)
        parts.append(f"{judged.relation.dead_tuples:,} dead rows after the vacuum {ago} ago")
    elif judged.relation.dead_tuples:
        parts.append(f"{judged.relation.dead_tuples:,} dead rows here")
    if blocker.query:
        parts.append(f"query: {_query(blocker.query)}")
    return ", ".join(parts)


# -- switched off, not known ------------------------------------------------


def _off(judged: Judged, off: str) -> Finding:
    relation = judged.relation
    due = judged.due_by_rows
    evidence = reason_of(judged)
    verdict = "due, and not vacuumed" if due else "not due, and would not be vacuumed"
    if off == "track_counts is off":
        return _finding(
            judged,
            65,
            "not known to be due",
            off,
            "nobody counts dead rows; only age still brings a vacuum",
            "ALTER SYSTEM SET track_counts = on; SELECT pg_reload_conf();",
            "counting begins at the present numbers: VACUUM ANALYZE once what changed meanwhile",
            shared=off,
        )
    if off == "autovacuum is off":
        return _finding(
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
    return _finding(
        judged,
        50 if due else 15,
        verdict,
        off,
        f"{evidence}; storage parameter {option}",
        f"ALTER TABLE {owner} RESET ({option});",
        "somebody switched it off for a reason, perhaps a job that vacuums it by hand; "
        "a vacuum starts soon",
    )


def _unknown(facts: CoreFacts, judged: Judged) -> Finding:
    relation = judged.relation
    evidence = f"{compute.plural(relation.pages, 'page')} and not one row counted"
    if facts.stats_reset is not None:
        ago = _span(facts.server.now - facts.stats_reset)
        evidence += f"; the statistics of this database were reset {ago} ago"
    else:
        evidence += "; statistics are lost in a crash, a promotion and pg_upgrade"
    return _finding(
        judged,
        45 if relation.pages >= LARGE_PAGES else 12,
        "not known to be due",
        "statistics are missing or were reset",
        evidence,
        f"VACUUM (ANALYZE) {relation.sql_name};",
        VACUUM_RISK,
        shared="statistics",
    )


# -- below the threshold ----------------------------------------------------


def _below(facts: CoreFacts, judged: Judged) -> Finding:
    relation, limits = judged.relation, judged.limits
    parts = [_distance("dead rows", relation.dead_tuples, limits.vacuum)]
    if limits.insert is not None:
        parts.append(_distance("inserted rows", relation.ins_since_vacuum, limits.insert))
    else:
        parts.append("vacuum for inserts is switched off")
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
        parts.append(f"due by {what} on {_date(date, facts.server.now)} at the present rate")
    return _finding(
        judged,
        10,
        "not due",
        "below threshold",
        "; ".join(parts),
        f"VACUUM {relation.sql_name};",
        VACUUM_RISK,
    )


def _distance(what: str, have: int, limit: float) -> str:
    share = 100 * have / max(limit, 1)
    return f"{what} {have:,}, {share:.0f} % of the threshold {limit:,.0f}"


# -- due, and what is in the way --------------------------------------------


def _running_on(facts: CoreFacts, judged: Judged) -> Vacuum | None:
    for vacuum in facts.vacuums:
        if vacuum.relid == judged.relation.relid and (
            vacuum.datname == facts.server.dbname or judged.relation.is_shared
        ):
            return vacuum
    return None


def _being_vacuumed(judged: Judged, vacuum: Vacuum) -> Finding:
    since = f" since {vacuum.since.astimezone():%Y-%m-%d %H:%M:%S}" if vacuum.since else ""
    return _finding(
        judged,
        5,
        "being vacuumed",
        f"process {vacuum.pid} is at it",
        f"{vacuum.phase or 'starting'}{since}; {reason_of(judged)}",
        "",
        "",
    )


def _locks(facts: CoreFacts, judged: Judged) -> Iterator[Finding]:
    pids = {vacuum.pid for vacuum in facts.vacuums if vacuum.relid is not None}
    seen: set[tuple[int | None, str | None]] = set()
    for lock in facts.locks:
        if lock.relid != judged.relation.relid or lock.pid in pids:
            continue
        if (lock.pid, lock.gid) in seen:
            continue
        seen.add((lock.pid, lock.gid))
        yield _locked(facts, judged, lock)


def _locked(facts: CoreFacts, judged: Judged, lock: Lock) -> Finding:
    since = f" for {_span(facts.server.now - lock.since)}" if lock.since else ""
    who = f' by "{lock.usename}"' if lock.usename else ""
    app = f" ({lock.application_name})" if lock.application_name else ""
    if lock.pid is None:
        citus = (lock.gid or "").startswith("citus_")
        return _finding(
            judged,
            58,
            "due, and not vacuumed",
            f'locked by prepared transaction "{lock.gid}"',
            f"{lock.mode}{since}; {reason_of(judged)}",
            "SELECT recover_prepared_transactions();"
            if citus
            else f"ROLLBACK PREPARED {literal(lock.gid or '')}; -- or COMMIT PREPARED",
            "Citus decides by its own records whether it was committed"
            if citus
            else "its changes are lost for good; ask its transaction manager first",
        )
    idle = (lock.state or "").startswith("idle in transaction")
    call = "pg_terminate_backend" if idle else "pg_cancel_backend"
    query = f"; query: {_query(lock.query)}" if lock.query else ""
    return _finding(
        judged,
        58,
        "due, and not vacuumed",
        f"locked by process {lock.pid}",
        f"{lock.mode}{since}{who}{app}{f', {lock.state}' if lock.state else ''}{query}",
        f"SELECT {call}({lock.pid});",
        "the session's uncommitted work is rolled back and its client loses the connection"
        if idle
        else "its statement fails and its transaction is rolled back",
    )


def _busy(facts: CoreFacts, judged: Judged) -> Iterator[Finding]:
    workers = [vacuum for vacuum in facts.vacuums if vacuum.is_worker]
    most = int(facts.settings.get("autovacuum_max_workers", 3))
    if len(workers) < most:
        return
    texts = [
        f"{worker.pid} in {worker.datname}: {_doing(worker)}"
        + (f" for {_span(facts.server.now - worker.since)}" if worker.since else "")
        for worker in workers
    ]
    restart = "" if facts.version_num >= 180000 else "; needs a restart"
    yield _finding(
        judged,
        55,
        "due, and not vacuumed",
        f"all {most} autovacuum workers are busy",
        f"{'; '.join(texts)}; {reason_of(judged)}",
        "ALTER SYSTEM SET autovacuum_vacuum_cost_limit = 2000; SELECT pg_reload_conf(); "
        f"-- or raise autovacuum_max_workers{restart}",
        "vacuums read and write faster and leave less I/O to queries; more workers without a "
        "higher limit only share the same one",
        shared="workers busy",
    )


def _doing(worker: Vacuum) -> str:
    if worker.query is None:
        return "not to be seen"
    return _query(worker.query) or "starting"


def _next(facts: CoreFacts, judged: Judged) -> Finding:
    naptime = facts.settings.get("autovacuum_naptime", "60")
    last = judged.relation.last_vacuum
    before = f"; last vacuum {_span(facts.server.now - last)} ago" if last else ""
    return _finding(
        judged,
        20,
        "due",
        "waiting for the next autovacuum worker in this database",
        f"{reason_of(judged)}; one comes every {naptime} s, if databases are few and "
        f"it finds nothing more urgent{before}",
        f"VACUUM {judged.relation.sql_name};",
        VACUUM_RISK,
    )


# -- words ------------------------------------------------------------------


def _query(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= QUERY_ROOM else line[: QUERY_ROOM - 1] + "…"


def _span(value: timedelta) -> str:
    seconds = max(0.0, value.total_seconds())
    for limit, unit, divisor in ((120, "s", 1), (7200, "min", 60), (172_800, "h", 3600)):
        if seconds < limit:
            return f"{seconds / divisor:.0f} {unit}"
    return f"{seconds / 86400:,.0f} d"


def _date(value: datetime | None, now: datetime) -> str:
    if value is None:
        return "a day in centuries"
    left = value - now
    shown = value.astimezone()
    text = f"{shown:%Y-%m-%d %H:%M}" if left < timedelta(days=2) else f"{shown:%Y-%m-%d}"
    return f"{text} (in {_span(left)})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
