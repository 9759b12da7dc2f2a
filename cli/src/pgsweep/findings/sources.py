"""Asks the extension where it is, and core's views where it is not.

An answer that takes several questions is put together here, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Generic, TypeVar

from pgsweep.base import errors
from pgsweep.findings.bloat import horizon_note, of_index, of_table, worst_first
from pgsweep.findings.core.explain import explain, explain_worst
from pgsweep.findings.core.overview import overview
from pgsweep.findings.core.tables import judge
from pgsweep.findings.nagios import Watched
from pgsweep.model import (
    Day,
    DecisionFilter,
    Facts,
    RunFilter,
    Span,
    StatusReport,
)
from pgsweep.model.compute import full_hour, within
from pgsweep.model.core_options import boolean
from pgsweep.source.core import views as core_views
from pgsweep.source.core.blockers import blockers as core_blockers

if TYPE_CHECKING:
    from pgsweep.findings.core.overview import Overview
    from pgsweep.model import (
        Blocker,
        Cause,
        Database,
        Feature,
        HourOfTable,
        Progress,
        Status,
        Table,
        Waiting,
        Worth,
    )
    from pgsweep.model.bloat import Bloat
    from pgsweep.model.core_facts import CoreFacts
    from pgsweep.source.db import Session

T = TypeVar("T")

DAY_HOURS = 24.0
# Shared memory can remember more tables than a page can show.
DAY_DECISIONS = 1000
# Of so many tables a plot shows when they were vacuumed.
SPAN_TABLES = 16

HIDDEN = (
    'Role "{role}" is not in pg_monitor: others\' sessions are hidden, '
    "so that holders, locks and workers may be missing."
)
# The answers that need the extension, with a sentence for each.
NEEDED = {
    "tables": (
        "How many pages are frozen (before PostgreSQL 18), how many bytes could be given back to "
        "the system, and when pg_sweep vacuums which table, needs the extension.",
    ),
    "explain": (
        "That a vacuum keeps being cancelled, and by whom, needs the extension.",
        "What waits in other databases, in which order and for what, needs the extension.",
    ),
    "blockers": (
        "How many dead rows of which table the last vacuum had to leave behind needs the "
        "extension.",
    ),
    "top": (
        "What a vacuum costs, which runs there were, and what waits for what in which database "
        "needs the extension.",
    ),
    "status": (
        "What finished vacuums removed and cost, and when a running one will end, needs the "
        "extension.",
        "Which tables of other databases are due needs the extension.",
    ),
    "progress": (
        "What a running vacuum has cost, how far the whole of it is and when it will end needs the "
        "extension. LIMITED BY is what it waits for at this moment.",
    ),
    "doctor": ("What vacuums cost, and why a table is vacuumed or not, needs the extension.",),
    "check": (),
}


@dataclass(frozen=True)
class Answer(Generic[T]):
    """Rows, and what has to be said about where they come from."""

    rows: tuple[T, ...]
    notes: tuple[str, ...] = ()


def notes(command: str, session: Session, facts: CoreFacts | None = None) -> tuple[str, ...]:
    """Return what to say below an answer that comes from core's views."""
    dbname = session.server().dbname if facts is None else facts.server.dbname
    said = [f'Database "{dbname}" has no pg_sweep: this is what core\'s own views tell.']
    said += NEEDED[command]
    if facts is not None and not facts.sees_everything:
        said.append(HIDDEN.format(role=facts.server.role))
    return tuple(said)


def tables(session: Session) -> Answer[Table]:
    """Return the tables of this database."""
    if session.views().tables:
        return Answer(session.tables())
    facts = core_views.facts(session)
    return Answer(tuple(row.table for row in judge(facts)), notes("tables", session, facts))


def table(session: Session, relid: int) -> tuple[Table | None, tuple[Cause, ...]]:
    """Return a table of this database, and why it is not vacuumed. None means that it is gone."""
    views = session.views()
    if views.tables and views.explain:
        found = session.tables(relid)
        return (found[0], session.explain(relid)) if found else (None, ())
    facts = core_views.facts(session, relid)
    rows = [row.table for row in judge(facts) if row.table.relid == relid]
    return (rows[0], explain(facts)) if rows else (None, ())


def worth(session: Session, relid: int) -> Worth | None:
    """Return what garbage costs a table of this database, if that is followed."""
    found = session.worth(relid) if session.views().worth else ()
    return found[0] if found else None


def bloat(session: Session) -> Answer[Bloat]:
    """Return the largest indexes and tables, those from which most could be given back first."""
    block = int(core_views.settings(session)["block_size"])
    rows = (
        *(of_index(index, block) for index in core_views.indexes(session)),
        *(of_table(heap, block, session.version_num) for heap in core_views.heaps(session)),
    )
    note = horizon_note(core_views.blockers(session), session.dbname, session.server().now)
    return Answer(tuple(worst_first(rows)), note)


def blockers(session: Session) -> Answer[Blocker]:
    """Return what holds the horizon back, the oldest first."""
    if session.views().blockers:
        return Answer(session.blockers())
    facts = core_views.facts(session, relid=0)
    rows = core_blockers(facts.holders, facts.server.dbname)
    return Answer(rows, notes("blockers", session, facts))


def progress(session: Session) -> Answer[Progress]:
    """Return the running vacuums of all databases, the oldest first."""
    if session.views().extension:
        session.require_extension()
        return Answer(session.progress())
    said = list(notes("progress", session))
    if not session.dicts("role")[0]["can_read_stats"]:
        said.append(HIDDEN.format(role=session.server().role))
    return Answer(core_views.progress(session), tuple(said))


def require_running(session: Session, row: Progress) -> None:
    """Raise unless that vacuum still runs. Its process may have gone on to another table."""
    now = next((found for found in session.progress() if found.pid == row.pid), None)
    if now is None:
        raise errors.UsageError(f"process {row.pid} is not running a vacuum any more")
    if not now.is_run_of(row):
        raise errors.UsageError(
            f"process {row.pid} has begun another vacuum meanwhile",
            "Look again with pgsweep progress.",
        )


def waiting(session: Session) -> tuple[Waiting, ...] | None:
    """Return the tables to be vacuumed next.

    None means that these SQL objects are too old to tell.
    """
    return session.queue() if session.views().queue else None


def databases(session: Session) -> tuple[Database, ...]:
    """Return all databases, those with tables due first."""
    return session.databases(waiting(session))


def causes(session: Session, table: str | None, seconds: float) -> Answer[Cause]:
    """Return why a table is not vacuumed, or the worst causes of all."""
    from_views = session.views().explain
    relid = None if table is None else session.find_relation(table).relid
    if from_views:
        return Answer(session.explain(relid))
    facts = core_views.facts(session, relid, seconds)
    found = explain_worst(facts) if relid is None else explain(facts)
    return Answer(found, notes("explain", session, facts))


def core_status(session: Session) -> tuple[Overview, tuple[str, ...]]:
    """Return how a server without the extension is doing."""
    facts = core_views.facts(session)
    return overview(facts), notes("status", session, facts)


def watched(session: Session) -> Watched:
    """Return what `check` looks at."""
    server, settings = session.server(), core_views.settings(session)
    views = session.views()
    status = None
    if views.extension:
        session.require_extension()
        status = session.status()
    tables_of: Sequence[Table]
    held: Sequence[Blocker]
    facts = None if views.tables and views.blockers else core_views.facts(session)
    if views.tables or facts is None:
        tables_of = session.tables()
    else:
        tables_of = [row.table for row in judge(facts)]
    if views.blockers or facts is None:
        held = session.blockers()
    else:
        held = core_blockers(facts.holders, server.dbname)
    if facts is not None and not facts.sees_everything:
        raise errors.PermissionDeniedError(
            f'role "{server.role}" does not see other sessions',
            f'Run GRANT pg_monitor TO "{server.role}" as superuser.',
        )
    return Watched(
        server=server,
        multixact_freeze_max_age=int(
            settings.get("autovacuum_multixact_freeze_max_age", 400_000_000)
        ),
        daemon_on=boolean(settings.get("autovacuum"), default=True),
        counts_on=boolean(settings.get("track_counts"), default=True),
        databases=core_views.databases(session),
        tables=tuple(tables_of),
        blockers=tuple(held),
        members=session.members(),
        status=status,
    )


def status_report(session: Session) -> StatusReport:
    """Return everything `status` shows."""
    status = session.status()
    queue = waiting(session)
    return StatusReport(
        status=status,
        last_hour=session.last_hour(status)[0],
        progress=session.progress(),
        databases=session.databases(queue),
        snoozed=session.snoozed(),
        queue=queue,
        blockers=session.blockers() if session.views().blockers else None,
        members=session.members(),
        server=session.server(),
    )


def day(session: Session) -> Day:
    """Return everything `report --live` shows."""
    status = session.status()
    last_hour, known = session.last_hour(status)
    queue = waiting(session)
    now = session.server().now
    runs_since = within(known, now, timedelta(hours=DAY_HOURS))
    since, history_since = runs_since, None
    history: tuple[HourOfTable, ...] = ()
    if runs_since is not None and session.views().totals:
        history_since, since = session.day_totals()
        history = session.history()
    return Day(
        status=status,
        last_hour=last_hour,
        block_size=int(session.setting("block_size")),
        hours=DAY_HOURS,
        runs=session.runs(RunFilter(limit=None, since=f"{DAY_HOURS} hours")),
        progress=session.progress(),
        databases=session.databases(queue),
        decisions=session.decisions(DecisionFilter(limit=DAY_DECISIONS)),
        queue=queue,
        blockers=session.blockers() if session.views().blockers else None,
        since=since,
        runs_since=runs_since,
        history=history,
        history_since=history_since,
        # This is read last, so that "now" is never before what the views say.
        server=session.server(),
    )


def span(session: Session, since: datetime, until: datetime | None = None) -> Day:
    """Return everything `report --live --since` shows. It is counted by the hour.

    If the span ended in the past, nothing is said of what runs now.
    """
    found = day(session)
    begin = full_hour(since)
    length = found.server.now - begin
    history = session.history_by_table(begin, until)
    work, counted = session.history_by_hour(begin, until), session.counted_hours(begin, until)
    hours = [*(row.hour for row in work), *(row.hour for row in counted)]
    first = min(hours, default=until or found.server.now)
    _, known = session.last_hour(found.status)
    runs = session.runs(RunFilter(limit=None, since=f"{length.total_seconds():.0f} seconds"))
    return replace(
        found,
        hours=length / timedelta(hours=1),
        runs=tuple(run for run in runs if until is None or (run.ended_at or until) < until),
        progress=found.progress if until is None else (),
        since=first if first > begin else None,
        runs_since=within(known, found.server.now, length),
        history=history,
        history_since=max(first, begin),
        span=Span(
            begin=begin,
            until=until,
            work=work,
            tables=session.history_of_tables(begin, until, _dearest(history)),
            counted=counted,
        ),
    )


def _dearest(history: Sequence[HourOfTable]) -> list[tuple[int, int]]:
    """Return the tables (datid, relid) whose vacuums cost most. A shared catalog's datid is 0."""
    costs: Counter[tuple[int, int]] = Counter()
    for row in history:
        if row.relid is not None:
            costs[row.datid or 0, row.relid] += row.cost
    return [table for table, _ in costs.most_common(SPAN_TABLES)]


def facts(session: Session) -> Facts:
    """Return what `doctor` needs.

    This works without the extension and without the library.
    """
    settings = {row["name"]: row["setting"] for row in session.dicts("settings")}
    extension = session.dicts("extension")[0]
    role = session.dicts("role")[0]
    others = session.dicts("worker_slots")[0]["others"] if role["can_read_stats"] else None
    may_call = {row["signature"]: bool(row["allowed"]) for row in session.dicts("may_call")}
    status: Status | None = None
    features: tuple[Feature, ...] = ()
    found: tuple[Database, ...] = ()
    read_ahead: tuple[float, str] | None = None
    problem: errors.DatabaseError | None = None
    try:
        session.require_installed()
        status = session.status()
        features = session.features()
        found = databases(session)
        read_ahead = session.read_ahead()
    except errors.ConnectionLostError:
        raise
    except errors.DatabaseError as exc:
        problem = exc
    held: tuple[Blocker, ...] | None = None
    try:
        held = session.blockers() if session.views().blockers else core_views.blockers(session)
    except errors.ConnectionLostError:
        raise
    except errors.DatabaseError as exc:
        problem = problem or exc
    return Facts(
        server=session.server(),
        settings=settings,
        available_version=extension["available_version"],
        installed_version=extension["installed_version"],
        is_superuser=bool(role["is_superuser"]),
        in_pg_monitor=bool(role["in_pg_monitor"]),
        can_read_settings=bool(role["can_read_settings"]),
        slots_of_others=others,
        may_call=may_call,
        status=status,
        status_error=problem.message if problem else None,
        status_hint=problem.hint if problem else None,
        features=features,
        databases=found,
        blockers=held,
        core_databases=core_views.databases(session),
        read_ahead=read_ahead,
        members=session.members(),
    )
