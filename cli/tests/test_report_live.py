"""The report of a server's last day: sums, sentences, and on real servers."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import samples
from conftest import Pgsweep
from pgsweep.model import Day, Decision, Holder, LastHour, Run
from pgsweep.report import live_model, live_page, live_sums, markdown
from pgsweep.server import ThrowawayServer
from samples import NOW

HOLD = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; SELECT pg_sleep(600)"


def run(minutes: float, took: float = 60.0, **given: Any) -> Run:
    """Return a run that ended so many minutes ago and took so many seconds."""
    end = NOW - timedelta(minutes=minutes)
    base = {"started_at": end - timedelta(seconds=took), "ended_at": end, "relid": 1}
    return samples.run(**{**base, **given})


def holder(**given: Any) -> Holder:
    """Return a transaction that is open for two hours."""
    base = {"kind": "transaction", "name": "psql", "pid": 7, "datname": "bench"}
    more = {"usename": "me", "state": "idle in transaction", "since": NOW - timedelta(hours=2)}
    rest = {"xid_age": 1234, "catalog_xid_age": None, "active": None}
    return Holder(**{**base, **more, **rest, **given})


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
    }
    return Day(**{**base, **given})


def test_tables_by_cost() -> None:
    first, second = live_sums.by_table(day())
    assert (first.name, first.runs, first.cost) == ("bench.a", 2, 6420)
    assert first.cost_by == {"sweep": 3210, "autovacuum": 3210}
    assert second.name == "other oid 99"


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
    slot = holder(kind="replication slot", name="s<1>", pid=None, since=None, xid_age=None)
    found = day(
        holders=(
            holder(),
            holder(kind="standby feedback", name="s2"),
            holder(name="young", since=NOW - timedelta(seconds=1)),
            Holder(**{**vars(slot), "catalog_xid_age": 2_000_000, "active": False}),
        )
    )
    problems = live_model.build(found).problems
    assert problems[0].startswith('Transaction "psql" of process 7, 1,234 transactions old')
    assert problems[1].startswith('Replication slot "s<1>", 2,000,000 transactions old')
    assert "left 154 dead rows" in problems[2]
    assert len(problems) == 3
    page = live_page.html(found)
    assert "s&lt;1&gt;" in page
    assert "inactive, catalogs only" in page
    assert "s\\<1\\>" in markdown.live(live_model.build(found))


def test_decisions_that_explain() -> None:
    base: dict[str, Any] = dict.fromkeys(Decision.__dataclass_fields__)
    base |= {"datname": "bench", "relid": 1, "relname": "t", "last_at": NOW}
    rows = tuple(
        Decision(**{**base, "decision": decision, "reason": "because"})
        for decision in ("vacuumed", "locked", "below threshold")
    )
    found = live_model.build(day(decisions=rows)).decisions
    assert [row[1] for row in found.rows] == ["locked"]


def test_the_views(pgsweep: Pgsweep, stub: ThrowawayServer, tmp_path: Path) -> None:
    """As a member of pg_monitor, with an open transaction, a prepared one left out."""
    flags = list(stub.flags("stub"))
    flags[flags.index("-U") + 1] = "watcher"
    page = tmp_path / "live.html"
    found = pgsweep("report", "--live", *flags, "--output", str(page))
    assert found.code == 0, found.err
    assert page.read_text().count("<figure") == 3
    found = pgsweep("report", "--live", "--markdown", *flags[:-2], "stub")
    assert found.code == 0, found.err
    assert "| bench.events |" in found.out


def test_errors(pgsweep: Pgsweep, stub: ThrowawayServer) -> None:
    found = pgsweep("report", "--live", *stub.flags("bare"))
    assert found.code == 2
    assert 'extension "pg_sweep" is not installed' in found.err


def test_a_holder_is_seen(pgsweep: Pgsweep, stub: ThrowawayServer) -> None:
    holding = stub.start(
        ["psql", *stub.flags("postgres"), "-c", HOLD],
        "holder.log",
    )
    flags = list(stub.flags("stub"))
    flags[flags.index("-U") + 1] = "watcher"
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            found = pgsweep("report", "--live", "--markdown", *flags)
            if "| transaction | psql postgres pid" in found.out:
                break
        assert "| transaction | psql postgres pid" in found.out, found.out
    finally:
        holding.terminate()
        holding.wait()
