"""Findings about a table that is due: who is at it, and what is in the way."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pgsweep.findings.core.finding import VACUUM_RISK, finding
from pgsweep.findings.core.tables import reason_of
from pgsweep.model import compute
from pgsweep.source.core import words
from pgsweep.source.core.blockers import Ahead, literal

if TYPE_CHECKING:
    from pgsweep.findings.core.finding import Finding
    from pgsweep.findings.core.tables import Judged
    from pgsweep.model.core_facts import CoreFacts, Lock, Vacuum

# Above this a cost limit is no longer what makes vacuums slow.
FAST_LIMIT = 2000


def running_on(facts: CoreFacts, judged: Judged) -> Vacuum | None:
    """Return the vacuum that runs on the table."""
    for vacuum in facts.vacuums:
        if vacuum.relid == judged.relation.relid and (
            vacuum.datname == facts.server.dbname or judged.relation.is_shared
        ):
            return vacuum
    return None


def being_vacuumed(judged: Judged, vacuum: Vacuum) -> Finding:
    """Return the finding that a vacuum runs."""
    since = f" since {vacuum.since.astimezone():%Y-%m-%d %H:%M:%S}" if vacuum.since else ""
    return finding(
        judged,
        5,
        "being vacuumed",
        f"process {vacuum.pid} is at it",
        compute.sentences(f"{vacuum.phase or 'starting'}{since}", reason_of(judged)),
        "",
        "",
    )


def behind(facts: CoreFacts, judged: Judged) -> Iterator[Finding]:
    """Return the finding that users wait for the table because of a vacuum, of it or another."""
    relid = judged.relation.relid
    waits = [lock for lock in facts.waits if lock.relid == relid and lock.behind is not None]
    if not waits:
        return
    # Who waits without a time is somebody whose session this role may not see.
    first = min(waits, key=lambda lock: lock.since or facts.server.now)
    assert first.behind is not None
    ahead = Ahead(first.behind, first.behind_query)
    since = f" for {words.span(facts.server.now - first.since)}" if first.since else ""
    query = f", query: {words.query(first.query)}" if first.query else ""
    yield finding(
        judged,
        90,
        "being vacuumed" if first.behind_relid == relid else "its users wait for a vacuum",
        f"{compute.sessions_wait(len({lock.pid for lock in waits}))} for the table "
        f"because of {ahead.said}",
        f"the first is process {first.pid}{since}{query}",
        ahead.fix,
        ahead.risk,
        shared=f"behind {ahead.pid}",
    )


def locks(facts: CoreFacts, judged: Judged) -> Iterator[Finding]:
    """Return a finding for each session or prepared transaction that locks the table."""
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
    since = f" for {words.span(facts.server.now - lock.since)}" if lock.since else ""
    who = f' by "{lock.usename}"' if lock.usename else ""
    app = f" ({lock.application_name})" if lock.application_name else ""
    if lock.pid is None:
        citus = (lock.gid or "").startswith("citus_")
        return finding(
            judged,
            58,
            "due, and not vacuumed",
            f'locked by prepared transaction "{lock.gid}"',
            compute.sentences(f"{lock.mode}{since}", reason_of(judged)),
            "SELECT recover_prepared_transactions();"
            if citus
            else f"ROLLBACK PREPARED {literal(lock.gid or '')}; -- or COMMIT PREPARED",
            "Citus decides by its own records whether it was committed"
            if citus
            else "its changes are lost for good. Ask its transaction manager first",
        )
    idle = (lock.state or "").startswith("idle in transaction")
    call = "pg_terminate_backend" if idle else "pg_cancel_backend"
    query = f", query: {words.query(lock.query)}" if lock.query else ""
    ahead = Ahead(lock.behind, lock.behind_query) if lock.behind is not None else None
    return finding(
        judged,
        58,
        "due, and not vacuumed",
        f"locked by process {lock.pid}",
        f"{lock.mode}{since}{who}{app}{f', {lock.state}' if lock.state else ''}{query}",
        ahead.fix if ahead else f"SELECT {call}({lock.pid});",
        ahead.waited_for
        if ahead
        else "the session's uncommitted work is rolled back and its client loses the connection"
        if idle
        else "its statement fails and its transaction is rolled back",
    )


def busy(facts: CoreFacts, judged: Judged) -> Iterator[Finding]:
    """Return the finding that all workers are busy."""
    workers = [vacuum for vacuum in facts.vacuums if vacuum.is_worker]
    most = int(facts.settings.get("autovacuum_max_workers", 3))
    if len(workers) < most:
        return
    texts = [
        f"{worker.pid} in {worker.datname}: {_doing(worker)}"
        + (f" for {words.span(facts.server.now - worker.since)}" if worker.since else "")
        for worker in workers
    ]
    fix, risk = _more_speed(facts)
    yield finding(
        judged,
        55,
        "due, and not vacuumed",
        f"all {most} autovacuum workers are busy",
        compute.sentences(", ".join(texts), reason_of(judged)),
        fix,
        risk,
        shared="workers busy",
    )


def _more_speed(facts: CoreFacts) -> tuple[str, str]:
    """Return what makes busy workers faster. What they have already is not proposed."""
    workers = int(facts.settings.get("autovacuum_max_workers", 3)) + 3
    more = f"ALTER SYSTEM SET autovacuum_max_workers = {workers};"
    # From 18 on there are slots for more workers, so that no restart is needed.
    free = facts.version_num >= 180000
    reload = " SELECT pg_reload_conf();" if free else " -- and restart the server"
    if _cost_limit(facts) < FAST_LIMIT:
        return (
            f"ALTER SYSTEM SET autovacuum_vacuum_cost_limit = {FAST_LIMIT}; "
            "SELECT pg_reload_conf(); -- or raise autovacuum_max_workers"
            + ("" if free else ", which needs a restart"),
            "vacuums read and write faster, and leave less I/O to queries. More workers without a "
            "higher limit only share the same one",
        )
    return (
        more + reload,
        "the cost limit is high already, or there are no naps. More workers read and write at the "
        "same time, and leave less I/O to queries",
    )


def _cost_limit(facts: CoreFacts) -> float:
    """Return the cost limit in force for autovacuum. Without naps there is none."""

    def value(name: str, default: float) -> float:
        own = float(facts.settings.get(f"autovacuum_{name}", -1))
        return own if own >= 0 else float(facts.settings.get(name, default))

    delay = value("vacuum_cost_delay", 2.0)
    own = float(facts.settings.get("autovacuum_vacuum_cost_limit", -1))
    limit = own if own > 0 else float(facts.settings.get("vacuum_cost_limit", 200))
    return limit if delay > 0 else math.inf


def _doing(worker: Vacuum) -> str:
    if worker.query is None:
        return "not to be seen"
    return words.query(worker.query) or "starting"


def waiting(facts: CoreFacts, judged: Judged) -> Finding:
    """Return the finding that nothing is in the way."""
    naptime = facts.settings.get("autovacuum_naptime", "60")
    last = judged.relation.last_vacuum
    before = f"the last vacuum was {words.span(facts.server.now - last)} ago" if last else ""
    return finding(
        judged,
        20,
        "due",
        "waiting for the next autovacuum worker in this database",
        compute.sentences(
            reason_of(judged),
            f"one comes every {naptime} s, if databases are few and it finds nothing more urgent",
            before,
        ),
        f"VACUUM {judged.relation.sql_name};",
        VACUUM_RISK,
    )
