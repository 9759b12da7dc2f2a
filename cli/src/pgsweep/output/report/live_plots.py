"""The charts of a server's last day, or of a longer span."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from pgsweep.base import text
from pgsweep.output.report import live_span, live_sums
from pgsweep.output.report.charts import Bar, Chart, Grid, Series, Span, Timeline, shares
from pgsweep.output.report.live_sums import STARTERS

if TYPE_CHECKING:
    from pgsweep.model import Day
    from pgsweep.output.report.charts import Shares
    from pgsweep.output.report.live_sums import TableTotal

MOST_TABLES = 16
BINS = 120
WHO = {
    "sweep": "pg_sweep",
    "autovacuum": "autovacuum",
    "autovacuum_wraparound": "anti-wraparound",
    "manual": "manual",
}
KINDS = {"read": "read", "dirtied": "dirtied", "wal": "WAL"}
# Of the time that is shown, gaps of less than this part are closed.
CLOSEST = 1 / 480


def shown(day: Day) -> Span:
    """Return the stretch of time that the charts show."""
    return Span(*live_sums.span(day))


def unknown(day: Day) -> tuple[Span, ...]:
    """Return the stretches of which nothing is known. They are not stretches without work."""
    gaps = live_span.gaps(day, day.span) if day.span is not None else []
    return tuple(
        Span(begin, end, f"not known: {text.short(begin)} to {text.short(end)}")
        for begin, end in gaps
    )


def _when(day: Day, at: datetime) -> str:
    """Return the local time of day, with the date where the chart shows several."""
    return text.clock(at) if day.span is None else text.short(at)


def _legend(present: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((WHO[each], each) for each in STARTERS if each in present)


def timeline(day: Day, totals: Sequence[TableTotal]) -> Timeline:
    """Return when which table was vacuumed, and by whom."""
    chosen = [total for total in totals if total.runs][:MOST_TABLES]
    numbers = {total.name: number for number, total in enumerate(chosen)}
    span = shown(day)
    bars = live_sums.timeline(day, list(numbers), (span.end - span.begin) * CLOSEST)
    made = []
    for bar in bars:
        name = text.printable(bar.table)
        many = f", {bar.runs} runs" if bar.runs > 1 else ""
        about = (
            f"{name}, {WHO[bar.started_by]}, {_when(day, bar.begin)} to {_when(day, bar.end)}{many}"
        )
        made.append(Bar(numbers[bar.table], Span(bar.begin, bar.end, about), bar.started_by))
    by = [
        ", ".join(f"{WHO[who]} {number:,}" for who, number in total.runs_by.most_common())
        for total in chosen
    ]
    return Timeline(
        name="timeline",
        title="Vacuums over time, by table",
        description="; ".join(
            f"{text.printable(total.name)}: {who}" for total, who in zip(chosen, by, strict=True)
        ),
        shown=span,
        rows=tuple(
            (text.printable(t.name), f"{t.runs:,} run{'' if t.runs == 1 else 's'}") for t in chosen
        ),
        bars=tuple(made),
        legend=_legend([bar.started_by for bar in bars]),
        table=Grid(
            ("table", "runs", "by"),
            tuple(
                (text.printable(total.name), f"{total.runs:,}", who)
                for total, who in zip(chosen, by, strict=True)
            ),
        ),
        unknown=unknown(day),
    )


def throughput(day: Day) -> Chart:
    """Return MB/s that vacuums read, dirtied and logged over time."""
    rates = live_sums.rates(day, BINS)
    times: list[datetime] = []
    sums: list[dict[str, float] | None] = []
    for begin, end, moved in rates:
        # The value of a stretch holds to its end, and what follows is not known.
        if times and times[-1] == begin:
            times.pop()
            sums.pop()
        times += [begin, end]
        sums += [moved, None]
    totals = [sum(moved.values()) for _, _, moved in rates] or [0.0]
    stretch = max((end - begin for begin, end, _ in rates), default=live_span.HOUR)
    return Chart(
        name="throughput",
        title="MB/s read, dirtied and logged by vacuums",
        description=f"on average {sum(totals) / len(totals):.2f} MB/s, at most {max(totals):.2f} "
        f"MB/s in one {text.took(stretch)} stretch",
        shown=shown(day),
        times=tuple(times),
        series=tuple(
            Series(
                label,
                kind,
                tuple(None if moved is None else round(moved[kind], 4) for moved in sums),
            )
            for kind, label in KINDS.items()
        ),
        unit="MB/s",
        stacked=True,
        unknown=unknown(day),
    )


def top_tables(totals: Sequence[TableTotal]) -> Shares:
    """Return the most expensive tables, by who vacuumed them."""
    chosen = [total for total in totals if total.cost > 0][:MOST_TABLES]
    present = [who for total in chosen for who, cost in total.cost_by.items() if cost]
    return shares(
        "cost",
        "Most expensive tables, in cost units",
        [
            (
                text.printable(total.name),
                text.count(total.cost),
                [
                    (who, total.cost_by[who], f"cost {total.cost_by[who]:,} by {WHO[who]}")
                    for who in STARTERS
                    if total.cost_by[who]
                ],
            )
            for total in chosen
        ],
        _legend(present),
    )
