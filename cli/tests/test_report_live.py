"""The report of a server's last day: sums, sentences, and on real servers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import samples
from conftest import Pgsweep, needs_extension
from pgsweep.model import (
    CountedHour,
    Day,
    Decision,
    HourOfAll,
    HourOfOne,
    HourOfTable,
    LastHour,
    Run,
    Span,
    compute,
)
from pgsweep.output.report import live_model, live_page, live_span, live_sums, markdown
from pgsweep_bench.servers.server import ThrowawayServer, default_pg_config
from samples import NOW


def run(minutes: float, took: float = 60.0, **given: Any) -> Run:
    """Return a run that ended so many minutes ago and took so many seconds."""
    end = NOW - timedelta(minutes=minutes)
    base = {"started_at": end - timedelta(seconds=took), "ended_at": end, "relid": 1}
    return samples.run(**{**base, **given})


def day(**given: Any) -> Day:
    """Return a day with three runs of two tables, one in a database whose names are not known."""
    base: dict[str, Any] = {
        "server": samples.server(),
        "status": samples.status(),
        "last_hour": LastHour(0, 0, 0, 0),
        "block_size": 8192,
        "hours": 24.0,
        "runs": (
            run(10, relname="a", blks_read=1280, blks_dirtied=128, wal_bytes=1 << 20),
            run(200, relname="a", started_by="autovacuum", dead_not_removable=5),
            run(300, datname="other", relid=99, schemaname=None, relname=None, cost=9),
        ),
        "databases": (samples.database(),),
        "blockers": (),
    }
    return Day(**{**base, **given})


def test_tables_by_cost() -> None:
    first, second = live_sums.by_table(day())
    assert (first.name, first.runs, first.cost) == ("bench.a", 2, 6420)
    assert first.cost_by == {"sweep": 3210, "autovacuum": 3210}
    assert second.name == "other oid 99"


def hour(ago: int, relid: int | None = 1, **given: Any) -> HourOfTable:
    """Return what the runs of a table, so many hours ago, came to."""
    base: dict[str, Any] = {
        "hour": NOW - timedelta(hours=ago),
        "datid": relid,
        "datname": "bench" if relid else None,
        "relid": relid,
        "schemaname": "pg_catalog" if relid else None,
        "relname": "pg_attribute" if relid else None,
        "command": "VACUUM",
        "started_by": "sweep",
        "runs": 7200,
        "failed": 0,
        "cancelled": 2,
        "skipped": 0,
        "blks_read": 1280,
        "blks_dirtied": 128,
        "wal_bytes": 1 << 20,
        "cost": 100_000,
        "tuples_removed": 5,
        "run_time": 60_000.0,
        "dead_not_removable": ago,
        "last_ended_at": NOW - timedelta(hours=ago),
    }
    return HourOfTable(**{**base, **given})


def test_runs_that_are_forgotten_count() -> None:
    hours = (
        hour(1),
        hour(2),
        hour(2, command="ANALYZE", started_by="autovacuum", runs=3, cost=10, cancelled=0),
        hour(3, relid=None, runs=50, cost=7, cancelled=0),
    )
    since = NOW - timedelta(hours=24, minutes=20)
    busy = day(history=hours, history_since=since, runs_since=NOW - timedelta(minutes=2))
    first, rest = live_sums.by_table(busy)
    assert (first.name, first.runs, first.cost) == ("bench.pg_catalog.pg_attribute", 14403, 200_010)
    assert (first.seconds, first.removed, first.kept) == (180.0, 15, 1)
    assert (rest.name, rest.runs) == (live_sums.REST, 50)
    today = live_model.build(busy)
    assert today.title == "Vacuums of the last day"
    assert today.text.startswith(
        "14,450 vacuums and 3 analyzes of 1 table and others: "
        "14,450 by pg_sweep, 3 by autovacuum; 40 MB read"
    )
    assert (
        f"counted by the hour, from {since.astimezone():%Y-%m-%d %H:%M} on; 4 cancelled."
        in today.text
    )
    assert today.single_runs.startswith("Single runs are all known since ")
    assert live_model.build(day()).single_runs == ""


def test_rates_add_up_to_what_was_moved() -> None:
    found = live_sums.rates(day(), 100)
    begin, end = live_sums.span(day())
    step = (end - begin).total_seconds() / 100
    read = sum(sums["read"] for _, _, sums in found) * step
    assert read == pytest.approx((1280 + 100 + 100) * 8192 / live_sums.MB, rel=1e-6)


def test_runs_that_cannot_be_told_apart_are_one_bar() -> None:
    close = tuple(run(i, took=1, relname="a") for i in range(1, 101))
    bars = live_sums.timeline(day(runs=close), ["bench.a"], timedelta(minutes=2))
    assert [bar.runs for bar in bars] == [100]
    bars = live_sums.timeline(day(runs=close), ["bench.a"], timedelta(seconds=1))
    assert len(bars) == 100


def test_a_day_without_runs() -> None:
    empty = day(runs=())
    today = live_model.build(empty)
    assert today.text == "No vacuum ran in the last day, and none is running."
    assert today.problems == ()
    page = live_page.html(empty)
    assert "<figure" not in page
    assert "Nothing holds the xmin horizon back" in page
    assert "pg_sweep has found no table that looked due" in page


def test_running_vacuums_count_once() -> None:
    rows = samples.snapshot().progress
    today = live_model.build(day(runs=(), progress=rows))
    assert "3 of them are running now" in today.text
    assert live_page.html(day(runs=(), progress=rows)).count("<figure") == 3


def test_old_holders_need_attention() -> None:
    old = samples.blocker(since=NOW - timedelta(hours=2), age=1234)
    slot = samples.blocker(
        kind="logical slot", name="s<1>", pid=None, since=None, state="inactive", age=90_000
    )
    found = day(blockers=(old, slot))
    problems = live_model.build(found).problems
    assert problems[0] == (
        "Horizon held by a session idle in transaction, process 4712 for 2 h: see pgsweep blockers"
    )
    assert "left 154 dead rows" in problems[1]
    assert problems[1].endswith("process 4712, 1,234 transactions old")
    assert len(problems) == 2
    page = live_page.html(found)
    assert "s&lt;1&gt;" in page
    assert "s\\<1\\>" in markdown.live(live_model.build(found))
    # A holder that was there only for a moment is not mentioned.
    young = samples.blocker(since=NOW - timedelta(seconds=5), age=3)
    today = live_model.build(day(blockers=(young,)))
    assert (today.problems, today.horizon.rows) == ((), ())
    assert "for longer than a minute" in today.horizon.text
    # The page has nobody's query in it.
    assert "SELECT 1" not in page


def decision(name: str, **given: Any) -> Decision:
    base: dict[str, Any] = dict.fromkeys(Decision.__dataclass_fields__)
    base |= {"datname": "bench", "relid": 1, "relname": "t", "last_at": NOW}
    return Decision(**{**base, "decision": name, "reason": "because", **given})


def test_decisions_that_explain() -> None:
    rows = tuple(decision(name) for name in ("vacuumed", "locked", "below threshold", "analyzed"))
    found = live_model.build(day(decisions=rows)).decisions
    assert [row[1] for row in found.rows] == ["locked"]


def test_a_decision_of_before_says_nothing() -> None:
    """Somebody vacuumed the table since, or that was longer ago than the page looks back."""
    rows = (
        decision("locked", last_at=NOW - timedelta(minutes=30)),
        decision("cancelled", relid=2, last_at=NOW - timedelta(hours=30)),
        decision("failed", relid=3, last_at=NOW - timedelta(minutes=30)),
    )
    found = live_model.build(day(decisions=rows, runs=(run(10, relid=1),))).decisions
    assert [row[1] for row in found.rows] == ["failed"]


def test_an_old_reason_is_not_in_todays_mode() -> None:
    row = decision("would vacuum", reason="sweep.mode is act")
    today = live_model.build(day(decisions=(row,)))
    assert today.decisions.rows[0][2] == "sweep.mode was observe"
    assert "sweep.mode is now act" in today.lead


def test_rows_that_stay_are_counted_once() -> None:
    runs = tuple(run(i, relname="a", dead_not_removable=100) for i in range(1, 11))
    (total,) = live_sums.by_table(day(runs=runs))
    assert (total.runs, total.removed, total.kept) == (10, 201_000, 100)
    # The last vacuum could remove all of them.
    (total,) = live_sums.by_table(day(runs=(run(0, relname="a", dead_not_removable=0), *runs)))
    assert total.kept == 0


def test_rows_that_say_nothing_are_left_out() -> None:
    idle = {"cost": 0, "tuples_removed": 0, "dead_not_removable": 0}
    runs = (run(1, relname="busy"), *(run(2, relname=f"idle{i}", **idle) for i in range(3)))
    unknown = samples.database(datname="template0", relations=0, due=None, xid_age=5)
    today = live_model.build(day(runs=runs, databases=(samples.database(), unknown)))
    assert [row[0] for row in today.tables.rows] == ["bench.busy"]
    assert "Left out: 3 tables whose vacuums cost nothing." in today.tables.text
    assert [row[0] for row in today.databases.rows] == ["bench"]
    assert "Nothing is known of template0." in today.databases.text
    assert "none of them" not in today.text
    assert "none failed" not in today.text


def test_less_than_a_day_is_called_so() -> None:
    today = live_model.build(day(since=NOW - timedelta(hours=5, minutes=30)))
    assert today.title == "Vacuums of the last 5 h"
    assert live_model.build(day()).title == "Vacuums of the last day"
    empty = live_model.build(day(runs=(), since=NOW - timedelta(minutes=90)))
    assert empty.text == "No vacuum ran in the last 90 min, and none is running."


# -- a longer span -----------------------------------------------------------


LATER = NOW + timedelta(minutes=20)


def full(ago: int) -> datetime:
    """Return the beginning of an hour, so many hours ago. The present one is 0."""
    return compute.full_hour(LATER) - timedelta(hours=ago)


def span(hours: int, known: Iterable[int], **given: Any) -> Day:
    """Return a span with as many runs in each known hour, of which the present one is not over."""
    present = sorted(known, reverse=True)
    begin = full(hours)
    first = full(present[0]) if present else LATER
    base: dict[str, Any] = {
        "server": samples.server(now=LATER),
        "hours": (LATER - begin) / timedelta(hours=1),
        "history": (hour(1, datid=1, relname="a", runs=len(present) * 10, cancelled=0),),
        "history_since": max(first, begin),
        "since": first if first > begin else None,
        "span": Span(
            begin=begin,
            work=tuple(HourOfAll(full(ago), 10, 1280, 128, 1 << 20) for ago in present),
            tables=tuple(
                HourOfOne(full(ago), 1, "bench", 1, "pg_catalog", "a", "sweep", 10)
                for ago in present
            ),
            counted=tuple(CountedHour(full(ago), None, 5, 3, 2, 7) for ago in present if ago),
        ),
    }
    return day(**{**base, **given})


def test_a_span_by_the_hour() -> None:
    found = span(10, range(11))
    assert found.span is not None
    stretches = live_span.stretches(found, found.span)
    assert [one.begin for one in stretches] == [full(ago) for ago in range(10, -1, -1)]
    assert {one.runs for one in stretches} == {10}
    assert stretches[0].known == timedelta(hours=1)
    assert stretches[-1].end == LATER
    assert live_span.gaps(found, found.span) == []
    today = live_model.build(found)
    assert today.title == "Vacuums of the last 10 h"
    assert today.single_runs.startswith("By the hour. pgsweep runs ")
    assert today.times is not None
    assert today.times.title == "By the hour"
    first = full(10).astimezone()
    assert today.times.rows[0] == (
        *(f"{first:%Y-%m-%d %H:%M}", "10", "10 MB", "1.0 MB", "1.0 MB"),
        *("5", "3", "2", "7"),
    )
    # What users do is not counted before the hour is over.
    assert today.times.rows[-1][5:] == ("", "", "", "")


def test_a_span_by_the_day() -> None:
    found = span(24 * 7, range(24 * 7 + 1))
    assert found.span is not None
    stretches = live_span.stretches(found, found.span)
    assert 8 <= len(stretches) <= 9
    assert sum(one.runs for one in stretches) == (24 * 7 + 1) * 10
    assert all(one.begin.astimezone().hour == 0 for one in stretches[1:])
    assert all(one.known <= one.end - one.begin for one in stretches)
    assert live_model.build(found).title == "Vacuums of the last 7 days"
    assert sum(bar.runs for bar in live_sums.timeline(found, ["bench.pg_catalog.a"], timedelta(0)))
    page = live_page.html(found)
    assert page.count("<figure") == 3
    assert "By the day" in page


def test_hours_that_are_not_known_are_not_hours_without_work() -> None:
    found = span(48, [*range(10), *range(20, 30)])
    assert found.span is not None
    assert live_span.gaps(found, found.span) == [(full(19), full(9))]
    today = live_model.build(found)
    assert today.title == "Vacuums of the last 29 h"
    assert "Nothing is known of the time before" in today.single_runs
    assert today.single_runs.count(" to ") == 1
    assert today.times is not None
    assert sum(row[1] == "not known" for row in today.times.rows) == 10
    text = markdown.live(today)
    assert "| not known |" in text
    assert "the server was down or sweep.mode was off" in text
    assert "not known: " in live_page.html(found)
    # Rates are of what is known.
    rates = live_sums.rates(found, 120)
    assert len(rates) == 20
    assert {round(sums["wal"] * 3600, 3) for _, _, sums in rates[:-1]} == {1.0}


def test_a_span_of_which_nothing_is_known() -> None:
    found = span(48, [], runs=(), history=())
    today = live_model.build(found)
    assert today.text == "Nothing is known of this time."
    assert "<figure" not in live_page.html(found)
    assert "Nothing is known of the time before" in markdown.live(today)


def test_a_day_of_the_past() -> None:
    found = span(34, range(10, 35))
    assert found.span is not None
    past = replace(found, span=replace(found.span, until=full(10)))
    assert past.span is not None
    assert live_span.end(past, past.span) == full(10)
    assert len(live_span.stretches(past, past.span)) == 24
    assert live_span.gaps(past, past.span) == []
    today = live_model.build(past)
    assert today.title == f"Vacuums on {full(34).astimezone():%Y-%m-%d}"
    assert live_sums.span(past) == (full(34), full(10))


@pytest.mark.parametrize(
    ("since", "said"),
    [
        ("yesterday-ish", "neither a date nor a span of time"),
        ("", "neither a date nor a span of time"),
        ("2999-01-01", "is not in the past"),
        ("-2 days", "is not in the past"),
        ("0", "is not in the past"),
        ("2026-13-01", "neither a date nor a span of time"),
    ],
)
def test_a_time_that_is_none(
    pgsweep: Pgsweep, stub: ThrowawayServer, since: str, said: str
) -> None:
    found = pgsweep("report", "--markdown", f"--since={since}", *stub.flags("stub"))
    assert found.code == 2
    assert said in found.err
    assert "--since '7 days'" in found.err


@pytest.mark.server
@needs_extension
def test_a_real_span(pgsweep: Pgsweep) -> None:
    with ThrowawayServer(default_pg_config(), {"shared_preload_libraries": "pg_sweep"}) as server:
        server.psql("postgres", "CREATE EXTENSION pg_sweep")
        server.psql("postgres", "CREATE TABLE mine AS SELECT generate_series(1, 1000) AS i")
        server.psql("postgres", "VACUUM mine")
        for since in ("2 h", "7 days", "2020-01-01", "2020-01-01 12:00+02"):
            flags = server.flags("postgres")
            found = pgsweep("report", "--markdown", "--since", since, *flags)
            assert found.code == 0, found.err
            assert "By the hour" in found.out
            assert "| postgres.mine |" in found.out


def test_the_views(pgsweep: Pgsweep, stub: ThrowawayServer, tmp_path: Path) -> None:
    """A member of pg_monitor gets the report."""
    flags = list(stub.flags("stub"))
    flags[flags.index("-U") + 1] = "watcher"
    page = tmp_path / "live.html"
    found = pgsweep("report", *flags, "--output", str(page))
    assert found.code == 0, found.err
    assert page.read_text().count("<figure") == 3
    found = pgsweep("report", "--markdown", *flags[:-2], "stub")
    assert found.code == 0, found.err
    assert "| bench.events |" in found.out
    assert "| idle in transaction | psql alice pid 4712 | bench |" in found.out


def test_errors(pgsweep: Pgsweep, stub: ThrowawayServer) -> None:
    found = pgsweep("report", *stub.flags("bare"))
    assert found.code == 2
    assert 'extension "pg_sweep" is not installed' in found.err
