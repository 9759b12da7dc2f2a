"""What follows from core's progress views, and how often they are asked. All of it is pure."""

from __future__ import annotations

from dataclasses import replace

import pytest

import samples
from pgsweep.findings.core import daemon
from pgsweep.findings.core.tables import judge
from pgsweep.findings.watcher import Slow
from pgsweep.model.core_facts import LastRun, RunningVacuum
from pgsweep.source.core import running

VACUUM = RunningVacuum(
    pid=100,
    leader_pid=None,
    datid=5,
    datname="bench",
    relid=16401,
    schemaname="public",
    relname="t",
    command="VACUUM",
    backend_type="autovacuum worker",
    phase="scanning heap",
    done=25,
    total=200,
    pages=200,
    index_pass=0,
    started_at=samples.NOW,
    wait_event_type="Timeout",
    wait_event="VacuumDelay",
    query="autovacuum: VACUUM public.t",
    parallel_workers=0,
    waiters=2,
    waits_for=None,
)


def test_progress() -> None:
    (row,) = running.progress([VACUUM])
    assert (row.pid, row.relname, row.started_by) == (100, "t", "autovacuum")
    assert (row.phase_pct, row.done_pct, row.limited_by) == (12.5, None, "cost limit")
    assert (row.waiters, row.cost, row.eta) == (2, None, None)


@pytest.mark.parametrize(
    ("backend_type", "query", "who"),
    [
        (
            "autovacuum worker",
            "autovacuum: VACUUM t (to prevent wraparound)",
            "autovacuum_wraparound",
        ),
        ("client backend", "VACUUM t -- (to prevent wraparound)", "manual"),
        ("sweep worker", None, "sweep"),
        ("parallel worker", None, "manual"),
        (None, None, None),
    ],
)
def test_who_started_it(backend_type: str | None, query: str | None, who: str | None) -> None:
    assert running.started_by(replace(VACUUM, backend_type=backend_type, query=query)) == who


@pytest.mark.parametrize(
    ("wait_event_type", "wait_event", "limit"),
    [
        ("Timeout", "VacuumDelay", "cost limit"),
        ("Lock", "relation", "lock"),
        ("IO", "DataFileRead", "I/O"),
        (None, None, "nothing"),
        ("LWLock", "WALWrite", "WALWrite"),
    ],
)
def test_what_it_waits_for(wait_event_type: str | None, wait_event: str | None, limit: str) -> None:
    row = replace(VACUUM, wait_event_type=wait_event_type, wait_event=wait_event)
    assert running.limited_by(row) == limit
    assert running.limited_by(replace(row, backend_type=None)) is None


@pytest.mark.parametrize(("done", "total", "pct"), [(None, 5, None), (1, 0, None), (9, 5, 100.0)])
def test_the_share_of_the_phase(done: int | None, total: int | None, pct: float | None) -> None:
    assert running.phase_pct(replace(VACUUM, done=done, total=total)) == pct


def test_last_runs_have_numbers_of_their_own() -> None:
    rows = [
        LastRun(relid, "public", "t", command, who, samples.NOW, 3)
        for relid in (7, 8)
        for command in ("VACUUM", "ANALYZE")
        for who in ("manual", "autovacuum")
    ]
    runs = running.runs(rows, 5, "bench")
    assert len({run.run_id for run in runs}) == 8
    assert (runs[0].datname, runs[0].reason, runs[0].outcome) == ("bench", "3 so far", "done")


def test_the_daemon() -> None:
    due = samples.relation(relid=1, relname="due", dead_tuples=90_000)
    busy = samples.relation(relid=2, relname="busy", dead_tuples=90_000)
    facts = samples.core_facts(
        *(due, busy, samples.relation(relid=3)),
        vacuums=(samples.worker(relid=2),),
        settings={
            **samples.CORE_SETTINGS,
            "autovacuum_vacuum_cost_limit": "-1",
            "vacuum_cost_limit": "200",
            "autovacuum_vacuum_cost_delay": "2",
            "vacuum_cost_page_miss": "2",
            "vacuum_cost_page_dirty": "20",
        },
    )
    judged = judge(facts)
    status = daemon.status(facts, judged)
    assert (status.workers, status.max_workers, status.tables, status.due) == (1, 3, 3, 1)
    assert (status.cost_limit, status.cost_delay) == (200, 2.0)
    assert status.read_mb_per_s == pytest.approx(390.625)
    assert status.dirty_mb_per_s == pytest.approx(39.0625)
    # What is being vacuumed does not wait.
    (waiting,) = daemon.waiting(judged, 5)
    assert (waiting.relname, waiting.position, waiting.waiting_for) == ("due", 1, "autovacuum")
    (database,) = daemon.databases(facts, judged, 5)
    assert (database.due, database.workers, database.relations) == (1, 1, 3)
    (elsewhere,) = daemon.databases(facts, judged, 6)
    assert (elsewhere.due, elsewhere.dead_tuples) == (None, None)


def test_no_delay_is_no_limit() -> None:
    settings = {"vacuum_cost_page_miss": "2"}
    assert daemon.mb_per_s(settings, daemon.READ_COST, 200, 0) is None
    assert daemon.mb_per_s(settings, daemon.DIRTY_COST, 200, 2) is None


def test_what_is_dear_is_read_less_often() -> None:
    now = 0.0
    slow: Slow[int] = Slow(5.0, clock=lambda: now)
    reads = 0

    def read() -> int:
        nonlocal now, reads
        reads, now = reads + 1, now + 1.0
        return reads

    assert slow.get(read) == 1
    # It took a second, so that it is not read again within twenty.
    now = 19.0
    assert slow.get(read) == 1
    now = 20.0
    assert slow.get(read) == 2
    quick: Slow[int] = Slow(5.0, clock=lambda: now)
    assert quick.get(lambda: 1) == 1
    now += 4.9
    assert quick.get(lambda: 2) == 1
    now += 0.2
    assert quick.get(lambda: 2) == 2
