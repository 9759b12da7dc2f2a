"""What `top` shows, read again and again. What is dear to read is read less often."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from pgsweep.findings import sources
from pgsweep.findings.core import daemon
from pgsweep.findings.core.tables import judge
from pgsweep.model import (
    DecisionFilter,
    RunFilter,
    Snapshot,
    TableHistory,
)
from pgsweep.source.core import views as core_views
from pgsweep.source.core.blockers import blockers as core_blockers

if TYPE_CHECKING:
    from pgsweep.model import (
        Blocker,
        CoreStatus,
        Database,
        Run,
        TableKey,
        Waiting,
    )
    from pgsweep.source.db import Session

T = TypeVar("T")

RUNS = 200
RUNS_OF_TABLE = 100
BLOCKERS_S = 0.9
CORE_S = 5.0
# A reading may take this share of the time at most.
SHARE = 0.05


class Slow(Generic[T]):
    """Something that is read at most every so many seconds, and less often if it takes long."""

    def __init__(self, least_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._least_s = least_s
        self._clock = clock
        self._read: tuple[T, float] | None = None

    def get(self, read: Callable[[], T]) -> T:
        """Return what was read before, or read it."""
        begun = self._clock()
        if self._read is not None and begun < self._read[1]:
            return self._read[0]
        found = read()
        took = self._clock() - begun
        self._read = found, begun + max(self._least_s, took / SHARE)
        return found


@dataclass(frozen=True)
class _Core:
    """What core's views tell of a database."""

    status: CoreStatus
    databases: tuple[Database, ...]
    queue: tuple[Waiting, ...]
    blockers: tuple[Blocker, ...] | None
    runs: tuple[Run, ...]


class Watcher:
    """Asks the extension where it is, and core's views where it is not."""

    def __init__(self) -> None:
        self._blockers: Slow[tuple[Blocker, ...] | None] = Slow(BLOCKERS_S)
        self._core: Slow[_Core] = Slow(CORE_S)

    def snapshot(self, session: Session) -> Snapshot:
        """Return everything `top` shows."""
        return self._extension(session) if session.views().extension else self._of_core(session)

    def _extension(self, session: Session) -> Snapshot:
        queue = sources.waiting(session)
        known = session.views().budget
        steps = session.governor(1) if known else ()
        return Snapshot(
            status=session.status(),
            progress=session.progress(),
            runs=session.runs(RunFilter(limit=RUNS)),
            databases=session.databases(queue),
            queue=queue,
            blockers=self._blockers.get(
                lambda: session.blockers() if session.views().blockers else None
            ),
            limits=session.budget() if known else (),
            step=steps[0] if steps else None,
            # This is read last, so that "now" is never before what the views say.
            server=session.server(),
        )

    def _of_core(self, session: Session) -> Snapshot:
        core = self._core.get(lambda: _read_core(session))
        return Snapshot(
            status=None,
            core=core.status,
            progress=core_views.progress(session),
            runs=core.runs,
            databases=core.databases,
            queue=core.queue,
            blockers=core.blockers,
            server=session.server(),
        )

    def history(self, session: Session, key: TableKey) -> TableHistory:
        """Return what became of a table."""
        if session.views().extension:
            return TableHistory(
                key=key,
                runs=session.runs(RunFilter(limit=RUNS_OF_TABLE, datid=key.datid, relid=key.relid)),
                hours=session.history(key.datid, key.relid),
                decisions=session.decisions(
                    DecisionFilter(limit=1, datid=key.datid, relid=key.relid)
                ),
                now=session.server().now,
            )
        here = key.datid in (None, session.datid())
        runs = core_views.last_runs(session, RUNS_OF_TABLE, key.relid) if here else ()
        said = list(sources.notes("top", session))
        if not here:
            said.append("Core's views tell when a table was vacuumed in its own database only.")
        return TableHistory(
            key=key, runs=runs, core=True, notes=tuple(said), now=session.server().now
        )


def _read_core(session: Session) -> _Core:
    facts = core_views.facts(session)
    judged = judge(facts)
    datid = session.datid()
    return _Core(
        status=daemon.status(facts, judged),
        databases=daemon.databases(facts, judged, datid),
        queue=daemon.waiting(judged, datid),
        # Of sessions that are hidden nothing is known, which is not that nobody holds it.
        blockers=core_blockers(facts.holders, facts.server.dbname)
        if facts.sees_everything
        else None,
        runs=core_views.last_runs(session, RUNS),
    )
