"""Pure reasoning: order, names, ages, problems."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

import samples
from pgsweep.model import LastHour, compute
from pgsweep.output.terminal import reports


@pytest.mark.parametrize(
    ("version", "expected"),
    [("0.1.0", (0, 1, 0)), ("1.10", (1, 10)), ("2.0.0-dev3", (2, 0, 0)), ("", ())],
)
def test_version_tuple(version: str, expected: tuple[int, ...]) -> None:
    assert compute.version_tuple(version) == expected


def test_versions_compare_by_number() -> None:
    assert compute.version_tuple("0.9.0") < compute.version_tuple("0.10.0")


def test_workers_follow_their_leader() -> None:
    lines = compute.with_workers(samples.snapshot().progress)
    assert [(line.row.pid, line.is_worker) for line in lines] == [
        (100, False),
        (200, False),
        (300, True),
        (400, False),
    ]


def test_a_worker_without_leader_stands_alone() -> None:
    lines = compute.with_workers([samples.progress(pid=7, leader_pid=6)])
    assert [(line.row.pid, line.is_worker) for line in lines] == [(7, False)]


def test_workers_are_not_counted() -> None:
    assert compute.started_by_counts(samples.snapshot().progress) == {
        "sweep": 1,
        "manual": 1,
        "autovacuum_wraparound": 1,
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "bench.pgbench_accounts"),
        ({"schemaname": "sales"}, "bench.sales.pgbench_accounts"),
        ({"schemaname": None, "relname": None}, "bench oid 16401"),
        ({"datname": None}, "pgbench_accounts"),
        ({"datname": None, "relname": None, "relid": None}, "-"),
    ],
)
def test_relation(given: dict[str, str | None], expected: str) -> None:
    assert compute.relation(samples.progress(**given)) == expected


def test_elapsed_uses_the_end_of_a_run() -> None:
    assert compute.elapsed(samples.run(), samples.NOW) == timedelta(seconds=7, milliseconds=250)
    assert compute.elapsed(samples.progress(), samples.NOW) == timedelta(seconds=12)
    assert compute.elapsed(samples.progress(started_at=None), samples.NOW) is None


def test_all_is_well() -> None:
    assert compute.problems(samples.report()) == ()


def test_what_is_left_before_the_wraparound() -> None:
    report = samples.report(databases=(samples.database(xid_age=2_000_000_000),))
    (said,) = compute.problems(report)
    assert said.endswith(": after 144,483,648 more transactions the server takes no writes")
    (said,) = compute.problems(samples.report(databases=(samples.database(xid_age=1_000_000_000),)))
    assert said.endswith("% of autovacuum_freeze_max_age")


def test_problems_of_the_mode() -> None:
    status = samples.status(effective_mode="off", reason="circuit breaker", launcher_pid=None)
    assert compute.problems(samples.report(status=status)) == (
        "mode is off although act is set: circuit breaker",
    )


def test_vacuums_that_are_ended_again_and_again() -> None:
    once = samples.waiting(waiting_for="lock: cancelled 1 time in a row, tried again at 12:00")
    often = samples.waiting(waiting_for="lock: cancelled 3 times in a row, tried again at 12:00")
    assert compute.problems(samples.report(queue=(once,))) == ()
    (found,) = compute.problems(samples.report(queue=(once, often)))
    assert "vacuums of bench.pgbench_accounts were ended 3 times in a row" in found


def test_background_workers_are_short() -> None:
    status = samples.status(reason="2 of 8 background workers are left")
    assert compute.problems(samples.report(status=status)) == (status.reason,)


def test_problems_of_the_launcher() -> None:
    report = samples.report(status=samples.status(launcher_pid=None))
    assert compute.problems(report) == ("launcher is not running: see pgsweep doctor",)
    stale = samples.status(last_round_at=samples.NOW - timedelta(seconds=61))
    assert compute.problems(samples.report(status=stale)) == (
        "launcher has not looked at the tables for a minute",
    )


def test_a_standby_needs_no_launcher() -> None:
    report = samples.report(
        server=samples.server(in_recovery=True),
        status=samples.status(effective_mode="off", launcher_pid=None, last_round_at=None),
    )
    assert compute.problems(report) == ()
    crashed = samples.status(effective_mode="off", reason="crashes", recent_crashes=3)
    assert compute.problems(replace(report, status=crashed)) == (
        "mode is off although act is set: crashes",
    )


def test_off_needs_no_launcher() -> None:
    status = samples.status(mode="off", effective_mode="off", launcher_pid=None)
    assert compute.problems(samples.report(status=status)) == ()


def test_who_waits_for_a_vacuum_that_does_not_give_way() -> None:
    forced = samples.progress(pid=7, started_by="autovacuum_wraparound", waiters=2)
    manual = samples.progress(pid=8, started_by="manual", command="VACUUM FULL", waiters=1)
    assert compute.problems(samples.report(progress=(forced, manual))) == (
        "2 sessions wait for the anti-wraparound vacuum of bench.pgbench_accounts, process 7: "
        "see pgsweep explain",
        "1 session waits for the VACUUM FULL of bench.pgbench_accounts, process 8: "
        "see pgsweep explain",
    )
    soon = [samples.progress(started_by=who, waiters=3) for who in ("sweep", "autovacuum")]
    assert compute.problems(samples.report(progress=tuple(soon))) == ()


def test_everything_at_once_is_named_worst_first() -> None:
    report = samples.report(
        server=samples.server(autovacuum=False),
        status=samples.status(runs_save_error="No space left on device", decisions_dropped=3),
        last_hour=LastHour(runs=9, tuples_removed=0, failed=1, cancelled=0),
        databases=(samples.database(xid_age=310_000_000),),
    )
    found = compute.problems(report)
    assert found[0] == 'database "bench" is at 155 % of autovacuum_freeze_max_age'
    assert [problem.split()[0] for problem in found[1:]] == [
        "autovacuum",
        "runs",
        "1",
        "pg_sweep's",
    ]


def test_due_is_one_number() -> None:
    queue = (
        samples.waiting(),
        samples.waiting(relid=16402),
        # a shared catalog, which belongs to no database
        samples.waiting(datid=None, datname=None, relid=1260),
        # Somebody asked for it. It is not due.
        samples.waiting(relid=16403, score=None, requested_by="alice"),
        # No vacuum of it is due. It is for the cleaner.
        samples.waiting(relid=16404, score=0.01, reason="sparse garbage: dead tuples 120 > 50"),
    )
    databases = (
        samples.database(due=7),
        samples.database(datid=6, datname="shop", due=3),
        samples.database(datid=7, datname="core", ours=False, due=5),
    )
    status = samples.status(due=9)
    counted = compute.with_due(databases, queue, 6)
    assert compute.due(status, queue) == 3
    assert [(row.datname, row.due) for row in counted] == [
        ("bench", 2),
        ("shop", 1),
        ("core", None),
    ]
    shared = samples.database(datid=0, datname="(shared)")
    counted = compute.with_due((*databases, shared), queue, 6)
    assert [(row.datname, row.due) for row in counted] == [
        *(("bench", 2), ("(shared)", 1), ("core", None), ("shop", 0))
    ]
    # Without a queue, or with one that is cut off, only the server's own counts remain.
    assert compute.with_due(databases, None, 6) == databases
    assert compute.due(status, None) == 9
    long = (samples.waiting(),) * compute.QUEUE_LIMIT
    assert compute.due(samples.status(due=2345), long) == 2345


def test_overdue_tables_are_a_problem() -> None:
    late = samples.waiting(
        score=4.04, reason="dead tuples 81000 > 20050", waiting_for="lock: not free 3 times"
    )
    worse = samples.waiting(relname="orders", score=9.0, reason="dead tuples 90,000 > 10000")
    assert compute.problems(samples.report(queue=(late,))) == (
        "bench.pgbench_accounts (4.0) is over 3 times its threshold: lock: not free 3 times",
    )
    assert compute.problems(samples.report(queue=(late, worse)))[0].startswith(
        "2 tables are over 3 times their threshold, worst bench.orders (9.0): worker slot"
    )


@pytest.mark.parametrize(
    "given",
    [
        {"score": 2.9},
        {"score": None, "reason": "requested by alice"},
        {"reason": "dead tuples 210 > 70"},
        {"waiting_for": "minimum interval until 12:00"},
        {"waiting_for": "snoozed until 12:00"},
        {"waiting_for": "hold until 12:00"},
        {"waiting_for": "checkpoint: vacuumed just before it"},
    ],
)
def test_what_is_small_or_waits_on_purpose_is_not_overdue(given: dict[str, Any]) -> None:
    row = samples.waiting(**{"score": 9.0, "reason": "dead tuples 81000 > 9000", **given})
    assert compute.overdue((row,)) == ()


def test_an_old_holder_is_a_problem() -> None:
    young, old = samples.blocker(), samples.blocker(pid=7, age=5)
    old = replace(old, since=samples.NOW - timedelta(hours=3))
    assert compute.problems(samples.report(blockers=(young,))) == ()
    assert compute.problems(samples.report(blockers=(young, old))) == (
        "horizon held by a session idle in transaction, process 7 for 3 h: see pgsweep blockers",
    )


HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("oldest", "forgotten", "begun", "known"),
    [
        (None, False, None, None),
        # Nothing ran, and it has looked for five minutes.
        (None, False, 5, 5),
        (3, False, 5, 5),
        (3, False, 600, None),
        (90, True, 600, None),
        # What ended before that is not kept any more.
        (12, True, 600, 12),
        (12, True, None, 12),
    ],
)
def test_how_much_of_the_hour_is_known(
    oldest: int | None, forgotten: bool, begun: int | None, known: int | None
) -> None:
    def ago(minutes: int | None) -> datetime | None:
        return None if minutes is None else samples.NOW - timedelta(minutes=minutes)

    since = compute.known_since(ago(oldest), forgotten, ago(begun))
    assert compute.within(since, samples.NOW, HOUR) == ago(known)


def test_a_span_is_said() -> None:
    since = samples.NOW - timedelta(minutes=12, seconds=50)
    assert compute.last(since, samples.NOW, "hour") == "last 12 min"
    assert compute.last(None, samples.NOW, "hour") == "last hour"
    assert compute.span_text(samples.NOW - timedelta(hours=5), samples.NOW) == "5 h"
    hour = LastHour(runs=1, tuples_removed=0, failed=1, cancelled=0, since=since)
    lines = [line.plain for line in reports.status_lines(samples.report(last_hour=hour), 80)]
    assert lines[5].startswith("last hour  1 run in the 12 min known, ")
    assert lines[-1].startswith("problems   1 run failed in the last 12 min")


def test_words() -> None:
    assert [compute.old(age) for age in (None, 1, 1234)] == [
        "0 transactions old",
        "1 transaction old",
        "1,234 transactions old",
    ]
    parts = ("due by age", "", "the limit is near", "pg_sweep is off", "3 rows")
    assert compute.sentences(*parts) == "due by age. The limit is near. pg_sweep is off. 3 rows"
    assert compute.sentences("", "alone") == "alone"
    assert compute.sentences() == ""
