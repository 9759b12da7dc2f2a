"""Pure reasoning: order, names, ages, problems."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

import samples
from pgsweep import compute
from pgsweep.model import LastHour


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


def test_problems_of_the_mode() -> None:
    status = samples.status(effective_mode="off", reason="circuit breaker", launcher_pid=None)
    assert compute.problems(samples.report(status=status)) == (
        "mode is off although act is set: circuit breaker",
    )


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
