"""Sums over a day of vacuums. Rows go in, numbers come out, and nothing else happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pgsweep.model import Progress, Run, compute
from pgsweep.output.report import live_span

if TYPE_CHECKING:
    from pgsweep.model import Day, HourOfOne, HourOfTable

MB = 1024 * 1024
# This span is shown even if all vacuums ran within seconds.
LEAST_SPAN = timedelta(minutes=1)
# This stands for the tables for which sweep.history has no room.
REST = "other tables"
STARTERS = ("sweep", "autovacuum", "autovacuum_wraparound", "manual")
KINDS = ("read", "dirtied", "wal")

Work = Run | Progress


@dataclass
class TableTotal:
    """What all vacuums of one table cost together."""

    name: str
    runs: int = 0
    cost: int = 0
    seconds: float = 0.0
    # MB by what was moved (KINDS)
    mb: dict[str, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))
    cost_by: Counter[str] = field(default_factory=Counter)
    runs_by: Counter[str] = field(default_factory=Counter)
    # None means that no run of it told.
    removed: int | None = None
    # What its last vacuum had to leave behind. The next one finds the same rows again.
    kept: int | None = None


@dataclass(frozen=True)
class Bar:
    """One or several runs of a table by the same starter, too close together to be told apart."""

    table: str
    started_by: str
    begin: datetime
    end: datetime
    runs: int


def whole(day: Day) -> tuple[Work, ...]:
    """Return finished and running vacuums.

    Parallel workers are left out because their leaders contain them.
    """
    return (*day.runs, *compute.running(day.progress))


def span(day: Day) -> tuple[datetime, datetime]:
    """Return the stretch of time that the plots show: the day, or less if nothing ran before."""
    now = day.server.now
    if day.span is not None:
        end = live_span.end(day, day.span)
        return min(live_span.begin(day, day.span), end - LEAST_SPAN), end
    first = min((row.started_at for row in whole(day) if row.started_at), default=now)
    begin = max(now - timedelta(hours=day.hours), first)
    return min(begin, now - LEAST_SPAN), now


def ended(row: Work, now: datetime) -> datetime:
    """Return when a vacuum ended. A running one ends now."""
    end = row.ended_at if isinstance(row, Run) else None
    return end or now


def megabytes(row: Work | HourOfTable, block_size: int) -> dict[str, float]:
    """Return what a vacuum moved, by KINDS, in MB."""
    return {
        "read": (row.blks_read or 0) * block_size / MB,
        "dirtied": (row.blks_dirtied or 0) * block_size / MB,
        "wal": (row.wal_bytes or 0) / MB,
    }


def starter(row: Work | HourOfTable | HourOfOne) -> str:
    """Return who started it. An unknown starter counts as manual."""
    return row.started_by if row.started_by in STARTERS else "manual"


def add_hour(totals: dict[str, TableTotal], row: HourOfTable, block_size: int) -> None:
    """Add what a table's runs of an hour came to. They come latest first."""
    name = compute.relation(row) if row.relid else REST
    total = totals.setdefault(name, TableTotal(name))
    total.runs += row.runs
    total.runs_by[starter(row)] += row.runs
    total.cost += row.cost
    total.cost_by[starter(row)] += row.cost
    total.seconds += row.run_time / 1000
    for kind, mb in megabytes(row, block_size).items():
        total.mb[kind] += mb
    total.removed = (total.removed or 0) + row.tuples_removed
    if total.kept is None and row.command != "ANALYZE":
        total.kept = row.dead_not_removable


def by_table(day: Day) -> list[TableTotal]:
    """Return what each table's vacuums cost, the most expensive first."""
    totals: dict[str, TableTotal] = {}
    for hour in day.history:
        add_hour(totals, hour, day.block_size)
    for row in compute.running(day.progress) if day.history else whole(day):
        name = compute.relation(row)
        total = totals.setdefault(name, TableTotal(name))
        total.runs += 1
        total.runs_by[starter(row)] += 1
        total.cost += row.cost or 0
        total.cost_by[starter(row)] += row.cost or 0
        if row.started_at:
            took = ended(row, day.server.now) - row.started_at
            total.seconds += max(0.0, took.total_seconds())
        for kind, mb in megabytes(row, day.block_size).items():
            total.mb[kind] += mb
        if isinstance(row, Run):
            if row.tuples_removed is not None:
                total.removed = (total.removed or 0) + row.tuples_removed
            # runs come latest first
            if total.kept is None and row.command != "ANALYZE":
                total.kept = row.dead_not_removable
    return sorted(totals.values(), key=lambda total: (-total.cost, total.name))


def timeline(day: Day, tables: Iterable[str], closest: timedelta) -> list[Bar]:
    """Return when the tables were vacuumed. Gaps of less than `closest` are closed."""
    wanted = set(tables)
    if day.span is not None:
        return _span_timeline(day, wanted)
    begin, now = span(day)
    rows = [row for row in whole(day) if row.started_at and compute.relation(row) in wanted]
    open_bars: dict[tuple[str, str], Bar] = {}
    bars: list[Bar] = []
    for row in sorted(rows, key=lambda row: row.started_at or begin):
        assert row.started_at is not None
        start, end = max(row.started_at, begin), ended(row, now)
        key = (compute.relation(row), starter(row))
        last = open_bars.get(key)
        if last is not None and start - last.end <= closest:
            open_bars[key] = Bar(*key, last.begin, max(end, last.end), last.runs + 1)
            continue
        if last is not None:
            bars.append(last)
        open_bars[key] = Bar(*key, start, end, 1)
    return sorted([*bars, *open_bars.values()], key=lambda bar: (bar.table, bar.begin))


def _span_timeline(day: Day, wanted: set[str]) -> list[Bar]:
    """Return in which hours, or on which days, the tables were vacuumed."""
    assert day.span is not None
    runs: Counter[tuple[str, str, int]] = Counter()
    stretches = live_span.stretches(day, day.span)
    for row in day.span.tables:
        name = compute.relation(row)
        if name in wanted:
            for number, one in enumerate(stretches):
                if one.begin <= row.hour < one.end:
                    runs[name, starter(row), number] += row.runs
    bars = [
        Bar(name, who, stretches[number].begin, stretches[number].end, number_of)
        for (name, who, number), number_of in runs.items()
    ]
    return sorted(bars, key=lambda bar: (bar.table, bar.begin))


def rates(day: Day, bins: int) -> list[tuple[datetime, datetime, dict[str, float]]]:
    """Return MB/s in equal stretches of time, a vacuum's bytes spread evenly over its time.

    Of a longer span it returns the hours or days of which something is known.
    """
    if day.span is not None:
        return [
            (one.begin, one.end, one.mb_per_s())
            for one in live_span.stretches(day, day.span)
            if one.known
        ]
    begin, now = span(day)
    step = (now - begin) / bins
    sums = [dict.fromkeys(KINDS, 0.0) for _ in range(bins)]
    for row in whole(day):
        if not row.started_at:
            continue
        end = ended(row, now)
        took = max((end - row.started_at).total_seconds(), 1e-3)
        moved = megabytes(row, day.block_size)
        first = max(0, int((row.started_at - begin) / step))
        last = min(bins - 1, int((end - begin) / step))
        for number in range(first, last + 1):
            left = max(row.started_at, begin + number * step)
            right = min(end, begin + (number + 1) * step)
            share = (right - left).total_seconds() / took if end > row.started_at else 1.0
            for kind, mb in moved.items():
                sums[number][kind] += mb * max(0.0, min(1.0, share))
    seconds = step.total_seconds()
    return [
        (begin + i * step, begin + (i + 1) * step, {k: sums[i][k] / seconds for k in KINDS})
        for i in range(bins)
    ]


def outcomes(day: Day) -> Counter[str]:
    """Return how many finished runs were failed, cancelled or skipped."""
    if not day.history:
        return Counter(run.outcome or "unknown" for run in day.runs)
    return Counter(
        failed=sum(hour.failed for hour in day.history),
        cancelled=sum(hour.cancelled for hour in day.history),
        skipped=sum(hour.skipped for hour in day.history),
    )


def commands(day: Day) -> tuple[int, int]:
    """Return how many vacuums and how many analyzes there were, running ones included."""
    counts: Counter[bool] = Counter()
    for hour in day.history:
        counts[hour.command == "ANALYZE"] += hour.runs
    for row in compute.running(day.progress) if day.history else whole(day):
        counts[row.command == "ANALYZE"] += 1
    return counts[False], counts[True]
