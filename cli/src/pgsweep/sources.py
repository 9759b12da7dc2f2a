"""Asks the extension where it is, and core's views where it is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pgsweep import errors
from pgsweep.core.blockers import blockers as core_blockers
from pgsweep.core.explain import explain, explain_worst
from pgsweep.core.facts import CoreFacts
from pgsweep.core.options import boolean
from pgsweep.core.overview import Overview, overview
from pgsweep.core.tables import judge
from pgsweep.db import Session
from pgsweep.model import Blocker, Cause, Table
from pgsweep.nagios import Watched

T = TypeVar("T")

# Which answers need the extension, a sentence each.
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
    "status": (
        "What finished vacuums removed and cost, and when a running one will end, needs the "
        "extension.",
        "Which tables of other databases are due needs the extension.",
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
        said.append(
            f'Role "{facts.server.role}" is not in pg_monitor: others\' sessions are hidden, '
            "so that holders, locks and workers may be missing."
        )
    return tuple(said)


def tables(session: Session) -> Answer[Table]:
    """Return the tables of this database."""
    if session.views().tables:
        return Answer(session.tables())
    facts = session.core_facts()
    return Answer(tuple(row.table for row in judge(facts)), notes("tables", session, facts))


def blockers(session: Session) -> Answer[Blocker]:
    """Return what holds the horizon back, the oldest first."""
    if session.views().blockers:
        return Answer(session.blockers())
    facts = session.core_facts(relid=0)
    rows = core_blockers(facts.holders, facts.server.dbname)
    return Answer(rows, notes("blockers", session, facts))


def causes(session: Session, table: str | None, seconds: float) -> Answer[Cause]:
    """Return why a table is not vacuumed, or the worst causes of all."""
    from_views = session.views().explain
    relid = None if table is None else session.find_relation(table)
    if from_views:
        return Answer(session.explain(relid))
    facts = session.core_facts(relid, seconds)
    found = explain_worst(facts) if relid is None else explain(facts)
    return Answer(found, notes("explain", session, facts))


def core_status(session: Session) -> tuple[Overview, tuple[str, ...]]:
    """Return how a server without the extension is doing."""
    facts = session.core_facts()
    return overview(facts), notes("status", session, facts)


def watched(session: Session) -> Watched:
    """Return what `check` looks at."""
    server, settings = session.server(), session.core_settings()
    views = session.views()
    status = None
    if views.extension:
        session.require_extension()
        status = session.status()
    tables_of: Sequence[Table]
    held: Sequence[Blocker]
    facts = None if views.tables and views.blockers else session.core_facts()
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
        databases=session.core_databases(),
        tables=tuple(tables_of),
        blockers=tuple(held),
        status=status,
    )
