"""What `check` concludes, and the line it prints."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

import samples
from pgsweep.base import errors
from pgsweep.findings import nagios
from pgsweep.findings.nagios import Outcome, State, Watched
from pgsweep.model import Members, Table

GIVEN = nagios.rules((), (), 3.0, 10_000)


def watched(**given: Any) -> Watched:
    base: dict[str, Any] = {
        "server": samples.server(),
        "multixact_freeze_max_age": 400_000_000,
        "daemon_on": True,
        "counts_on": True,
        "databases": (samples.database_age(),),
        "tables": (samples.table(),),
        "status": samples.status(),
    }
    return Watched(**{**base, **given})


def outcome(**given: Any) -> Outcome:
    return nagios.check(watched(**given), GIVEN)


def test_all_well() -> None:
    found = outcome()
    assert found.state is State.OK
    assert nagios.line(found) == (
        "PGSWEEP OK - oldest xid 0 % of autovacuum_freeze_max_age in bench, no horizon held, "
        "0 tables over 3 times their threshold, scout looked 1 s ago"
        " | xid=0.5%;150;300 mxid=0%;150;300 wraparound=0.05%;60;75 holder=0s;3600;21600"
        " holder_xids=0;10000000;50000000 overdue=0;1;20 failing=0;1;20 round=1s;60;300"
        " crashes=0;1;3"
    )


def test_without_the_extension() -> None:
    found = outcome(status=None)
    assert found.state is State.OK
    assert [figure.name for figure in found.figures] == [
        *("xid", "mxid", "wraparound", "holder", "holder_xids", "overdue")
    ]


def _aged(xid_age: int, mxid_age: int = 0) -> dict[str, Any]:
    return {"databases": (samples.database_age(xid_age=xid_age, mxid_age=mxid_age),)}


def _status(**given: Any) -> dict[str, Any]:
    return {"status": samples.status(**given)}


def waiting_table(decision: str, late: bool = False) -> Table:
    until = samples.NOW + timedelta(seconds=-1 if late else 30)
    return samples.table(dead_tuples=80_000, decision=decision, not_before=until)


@pytest.mark.parametrize(
    ("given", "state", "text"),
    [
        (_aged(299_999_999), State.OK, ""),
        (_aged(300_000_000), State.WARNING, "oldest xid 150 % of autovacuum_freeze_max_age"),
        (_aged(600_000_000), State.CRITICAL, "oldest xid 300 %"),
        (_aged(0, 600_000_000), State.WARNING, "oldest multixact 150 % of its freeze limit"),
        (_aged(1_700_000_000), State.CRITICAL, "79 % of the way to wraparound"),
        (
            {"blockers": (samples.blocker(since=samples.NOW - timedelta(hours=2)),)},
            State.WARNING,
            "horizon held for 2 h by a session idle in transaction, process 4712",
        ),
        (
            {"blockers": (samples.blocker(since=samples.NOW - timedelta(hours=7)),)},
            State.CRITICAL,
            "horizon held for 7 h",
        ),
        # A standby that has been connected for a week is well.
        (
            {
                "blockers": (
                    samples.blocker(kind="standby feedback", since=samples.NOW - timedelta(days=7)),
                )
            },
            State.OK,
            "no horizon held",
        ),
        (
            {"blockers": (samples.blocker(since=None, age=60_000_000),)},
            State.CRITICAL,
            "horizon 60,000,000 transactions old",
        ),
        (
            {"tables": (samples.table(dead_tuples=80_000),)},
            State.WARNING,
            "1 table over 3 times their threshold, worst bench.pgbench_accounts (4.0)",
        ),
        (
            {"tables": (samples.table(ins_since_vacuum=99_000),)},
            State.WARNING,
            "worst bench.pgbench_accounts (4.7)",
        ),
        # One was vacuumed a moment ago and waits for sweep.min_interval. The other was told to
        # wait.
        ({"tables": (waiting_table("vacuumed"),)}, State.OK, "0 tables over"),
        ({"tables": (waiting_table("waits for checkpoint"),)}, State.OK, "0 tables over"),
        ({"tables": (waiting_table("snoozed"),)}, State.OK, "0 tables over"),
        ({"tables": (waiting_table("held back"),)}, State.WARNING, "1 table over"),
        ({"tables": (waiting_table("vacuumed", late=True),)}, State.WARNING, "1 table over"),
        # A small table never alarms anybody.
        ({"tables": (samples.table(dead_tuples=9_999, vacuum_threshold=50.0),)}, State.OK, ""),
        (_status(last_round_at=samples.NOW - timedelta(seconds=90)), State.WARNING, "90 s ago"),
        (_status(last_round_at=samples.NOW - timedelta(minutes=9)), State.CRITICAL, "9 min ago"),
        # It looks as often as it was told to.
        (
            _status(last_round_at=samples.NOW - timedelta(minutes=9), naptime=300_000.0),
            State.OK,
            "9 min ago",
        ),
        (
            _status(mode="off", effective_mode="off", last_round_at=samples.NOW - timedelta(1)),
            State.OK,
            "",
        ),
        (_status(recent_crashes=1), State.WARNING, "1 recent crash of sweep processes"),
        (
            _status(effective_mode="off", reason="circuit breaker", recent_crashes=3),
            State.CRITICAL,
            "Mode is off although act is set (circuit breaker)",
        ),
        (_status(launcher_pid=None), State.CRITICAL, "launcher is not running"),
        # What status calls a problem is not OK here.
        (
            _status(runs_save_error="No space left on device"),
            State.WARNING,
            "runs cannot be saved: No space left on device",
        ),
        (_status(decisions_dropped=1), State.WARNING, "memory was too small for all tables"),
        (_status(databases_dropped=1), State.WARNING, "memory was too small for all tables"),
        (
            _status(reason="2 of 8 background workers are left"),
            State.WARNING,
            "2 of 8 background workers are left",
        ),
        (
            {"tables": (samples.table(decision="failed"),)},
            State.WARNING,
            "the vacuums of 1 table fail, bench.pgbench_accounts first",
        ),
        ({"daemon_on": False}, State.WARNING, "autovacuum is off"),
        ({"daemon_on": False, "status": None}, State.CRITICAL, "autovacuum is off"),
        ({"counts_on": False}, State.CRITICAL, "track_counts is off"),
        (
            {
                **_status(effective_mode="observe", reason="standby", launcher_pid=None),
                "server": samples.server(in_recovery=True),
            },
            State.OK,
            "",
        ),
    ],
)
def test_states(given: dict[str, Any], state: State, text: str) -> None:
    found = outcome(**given)
    assert found.state is state, found.text
    assert text in found.text


def test_members_of_multixacts() -> None:
    assert outcome(members=Members(2**30, 2**32 - 1)).state is State.OK
    found = outcome(members=Members(5 * 2**29, 2**32 - 1))
    assert (found.state, found.text) == (State.WARNING, "members of multixacts 62 % used")
    assert outcome(members=Members(13 * 2**28, None)).state is State.CRITICAL


def test_the_worst_comes_first() -> None:
    found = outcome(
        **_aged(300_000_000), blockers=(samples.blocker(since=samples.NOW - timedelta(hours=7)),)
    )
    assert found.state is State.CRITICAL
    assert found.text.startswith("horizon held for 7 h")
    assert ". Oldest xid 150 %" in found.text


def test_options_move_the_thresholds() -> None:
    given = nagios.rules(["xid=50,holder=5min"], ["holder-xids=off", "overdue=2"], 3.0, 10_000)
    assert (given.warning["xid"], given.warning["holder"]) == (50, 300)
    assert given.critical["holder_xids"] is None
    assert given.critical["overdue"] == 2
    assert given.critical["xid"] == 300
    late = tuple(samples.table(dead_tuples=80_000) for _ in range(2))
    assert nagios.check(watched(tables=late), given).state is State.CRITICAL
    assert nagios.check(watched(tables=late), replace(given, times=5.0)).state is State.OK


def test_off_switches_a_figure_off() -> None:
    given = nagios.rules(["xid=off"], ["xid=off"], 3.0, 10_000)
    found = nagios.check(watched(**_aged(900_000_000)), given)
    assert found.state is State.OK
    assert " | xid=450%;; " in nagios.line(found)


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("xid", "is no threshold"),
        ("age=5", "is no threshold"),
        ("xid=much", "is no value"),
        ("holder=5%", "is no unit"),
        ("xid=5min", "is no unit"),
    ],
)
def test_wrong_thresholds(option: str, problem: str) -> None:
    with pytest.raises(errors.UsageError, match=problem) as caught:
        nagios.rules([option], (), 3.0, 10_000)
    assert caught.value.hint


def test_a_hostile_name_cannot_end_the_text() -> None:
    table = samples.table(relname="a|b\nc", dead_tuples=80_000)
    line = nagios.line(outcome(tables=(table,)))
    assert line.count("|") == 1
    assert "\n" not in line


def test_unknown() -> None:
    assert nagios.line(nagios.unknown("no server")) == "PGSWEEP UNKNOWN - no server"
