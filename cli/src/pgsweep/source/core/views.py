"""What core's own views say. Where the extension is missing there is nothing else to ask.

What follows from it is in pgsweep.findings.core.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pgsweep.base import errors
from pgsweep.model import DatabaseAge, core_rates as rates
from pgsweep.model.bloat import SMALL_PAGES, ColumnFacts, HeapFacts, IndexFacts
from pgsweep.model.core_facts import (
    CoreFacts,
    Holder,
    LastRun,
    Lock,
    Relation,
    RunningVacuum,
    Vacuum,
)
from pgsweep.source.core import running
from pgsweep.source.core.blockers import blockers as core_blockers

if TYPE_CHECKING:
    from pgsweep.model import Blocker, Progress, Run
    from pgsweep.model.core_facts import XidRate
    from pgsweep.source.db import Session


def facts(
    session: Session, relid: int | None = None, seconds: float = 0.0, near: bool = False
) -> CoreFacts:
    """Return what core's views say of all tables, or of one and its TOAST table.

    With `seconds` the counters are read twice, that far apart. With `near` only tables are
    returned that could be due.
    """
    which = {"relid": relid, "near": near}
    earlier: dict[int, Relation] = {}
    earlier_at: datetime | None = None
    first_xid = session.dicts("core_next_xid")[0]
    if seconds > 0:
        earlier_at = session.server().now
        rows = session.rows("core_relations", Relation, which)
        earlier = {row.relid: row for row in rows}
        time.sleep(seconds)
    relations = session.rows("core_relations", Relation, which)
    holders = session.rows("core_holders", Holder)
    locks = session.rows("core_locks", Lock, which)
    return CoreFacts(
        version_num=session.version_num,
        settings=settings(session),
        relations=relations,
        holders=holders,
        locks=tuple(lock for lock in locks if lock.granted),
        waits=tuple(lock for lock in locks if not lock.granted),
        vacuums=session.rows("core_vacuums", Vacuum),
        databases=databases(session),
        xid_rate=_measured_xid_rate(session, first_xid) if seconds > 0 else xid_rate(session),
        members=session.members(),
        earlier=earlier,
        earlier_at=earlier_at,
        sees_everything=bool(session.dicts("role")[0]["can_read_stats"]),
        # This is read last, so that "now" is never before what the views say.
        server=session.server(),
    )


def blockers(session: Session) -> tuple[Blocker, ...]:
    """Return what holds the horizon back, the oldest first."""
    return core_blockers(session.rows("core_holders", Holder), session.dbname)


def indexes(session: Session) -> Iterator[IndexFacts]:
    """Return the largest indexes of this database and what ANALYZE knows of their columns."""
    for row in session.dicts("core_indexes", {"small": SMALL_PAGES}):
        yield IndexFacts(columns=_columns(row.pop("columns")), **row)


def heaps(session: Session) -> Iterator[HeapFacts]:
    """Return the largest tables of this database and what ANALYZE knows of their columns."""
    for row in session.dicts("core_heaps", {"small": SMALL_PAGES}):
        yield HeapFacts(columns=_columns(row.pop("columns")), **row)


def _columns(found: list[dict[str, Any]] | None) -> tuple[ColumnFacts, ...]:
    return tuple(ColumnFacts(**{**(row.pop("statistics") or {}), **row}) for row in found or ())


def progress(session: Session) -> tuple[Progress, ...]:
    """Return the running vacuums of all databases, the oldest first."""
    return running.progress(session.rows("core_running", RunningVacuum))


def last_runs(session: Session, limit: int, relid: int | None = None) -> tuple[Run, ...]:
    """Return when tables of this database, or one of them, were vacuumed, the latest first."""
    rows = session.rows("core_runs", LastRun, {"relid": relid, "limit": limit})
    return running.runs(rows, session.datid(), session.dbname)


def databases(session: Session) -> tuple[DatabaseAge, ...]:
    """Return all databases and their ages, the oldest first."""
    return session.rows("core_databases", DatabaseAge)


def settings(session: Session) -> dict[str, str]:
    """Return autovacuum's settings, in their own units."""
    return {row["name"]: row["setting"] for row in session.dicts("core_settings")}


def xid_rate(session: Session) -> XidRate | None:
    """Return how fast transaction ids have been used since the last checkpoint."""
    now = session.dicts("core_next_xid")[0]
    try:
        checkpoint = session.dicts("core_checkpoint")[0]
    except errors.ConnectionLostError:
        raise
    except errors.DatabaseError:
        # Some clouds do not let the control file be read.
        return None
    return rates.since_checkpoint(checkpoint, now)


def _measured_xid_rate(session: Session, first: Mapping[str, Any]) -> XidRate | None:
    """Return how fast they have been used since the first reading."""
    now = session.dicts("core_next_xid")[0]
    before, after = rates.reading(first), rates.reading(now)
    return rates.xid_rate(before, after, "measured for {seconds:.0f} s", 0.1)
