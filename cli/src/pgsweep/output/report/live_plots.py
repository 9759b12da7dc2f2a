"""The plots of a server's last day."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pgsweep.base import text
from pgsweep.output.report import live_span, live_sums
from pgsweep.output.report.live_sums import STARTERS
from pgsweep.output.report.palette import variable
from pgsweep.output.report.svg import NARROW_PX, draw, values_axis

if TYPE_CHECKING:
    from pgsweep.model import Day
    from pgsweep.output.report.live_sums import TableTotal
    from pgsweep.output.report.svg import Plot, Spec

MOST_TABLES = 16
TALL_PX = 42
BINS_WIDE, BINS_NARROW = 120, 48
WHO = {
    "sweep": "pg_sweep",
    "autovacuum": "autovacuum",
    "autovacuum_wraparound": "anti-wraparound",
    "manual": "manual",
}
KINDS = {"read": "read", "dirtied": "dirtied", "wal": "WAL"}
# As wide as this, a bar of 24 hours at MOST_TABLES bars can be seen, and the page stays small
# enough to load.
SHORTEST_PX = 1.6


def milliseconds(when: datetime) -> int:
    """Return the local time in the form that a plot takes.

    It is given as if it were UTC's, so that no zone is applied.
    """
    local = when.astimezone()
    shift = local.utcoffset() or timedelta(0)
    return round((local.timestamp() + shift.total_seconds()) * 1000)


def time_axis(day: Day, narrow: bool) -> Spec:
    """Return how the hours of the day that is shown are written."""
    begin, end = live_sums.span(day)
    long = end - begin > timedelta(hours=3)
    seconds = end - begin < timedelta(minutes=10)
    days = end - begin > 1.5 * live_span.HOUR * 24
    return {
        "type": "temporal",
        "scale": {"type": "utc", "domain": [milliseconds(begin), milliseconds(end)]},
        "axis": {
            "title": None,
            "format": "%H:%M:%S" if seconds else "%d %b" if days else "%H:%M",
            "tickCount": (4 if seconds or days else 5) if narrow else (12 if long else 8),
            "grid": True,
            "labelFlush": False,
            "labelBound": True,
            "labelOverlap": True,
        },
    }


def _unknown(day: Day, narrow: bool) -> list[Spec]:
    """Return the grey stretches of which nothing is known. They are not stretches without work."""
    gaps = live_span.gaps(day, day.span) if day.span is not None else []
    if not gaps:
        return []
    values = [
        {
            "from": milliseconds(begin),
            "to": milliseconds(end),
            "about": f"not known: {text.short(begin)} to {text.short(end)}",
        }
        for begin, end in gaps
    ]
    return [
        {
            "data": {"values": values},
            "mark": {"type": "rect", "color": variable("muted"), "opacity": 0.25},
            "encoding": {
                "x": {"field": "from", **time_axis(day, narrow)},
                "x2": {"field": "to"},
                "description": {"field": "about"},
            },
        }
    ]


def _when(day: Day, at: datetime) -> str:
    """Return the local time of day, with the date where the plot shows several."""
    return text.clock(at) if day.span is None else text.short(at)


def _starter_colour(present: Sequence[str], narrow: bool) -> Spec:
    known = [each for each in STARTERS if each in present]
    return {
        "field": "who",
        "type": "nominal",
        "scale": {
            "domain": [WHO[each] for each in known],
            "range": [variable(each) for each in known],
        },
        "legend": {"columns": 2 if narrow else 4},
    }


def _names(rows: Sequence[tuple[str, str]], y: Spec, width: int) -> list[Spec]:
    """Return the lines of text above the bars: a name at the left, its sum at the right."""
    values = [{"table": name, "note": note} for name, note in rows]
    layers = []
    for field, align, x, limit in (
        ("table", "left", 0, width - 90),
        ("note", "right", width - 2, 88),
    ):
        layers.append(
            {
                "data": {"values": values},
                "mark": {
                    "type": "text",
                    "align": align,
                    "baseline": "middle",
                    "dy": -8,
                    "limit": limit,
                    "aria": False,
                    **({} if field == "table" else {"color": variable("muted"), "fontSize": 12}),
                },
                "encoding": {"x": {"value": x}, "y": y, "text": {"field": field}},
            }
        )
    return layers


def timeline(day: Day, totals: Sequence[TableTotal]) -> Plot:
    """Return when which table was vacuumed, and by whom."""
    shown = [total for total in totals if total.runs][:MOST_TABLES]
    names = [total.name for total in shown]
    begin, end = live_sums.span(day)

    def plan(width: int) -> Spec:
        closest = (end - begin) * (SHORTEST_PX / width)
        bars = live_sums.timeline(day, names, closest)
        values = [
            {
                "table": text.printable(bar.table),
                "who": WHO[bar.started_by],
                "from": milliseconds(bar.begin),
                "to": milliseconds(max(bar.end, bar.begin + closest)),
                "about": f"{text.printable(bar.table)}, {WHO[bar.started_by]}, "
                f"{_when(day, bar.begin)} to {_when(day, bar.end)}"
                + (f", {bar.runs} runs" if bar.runs > 1 else ""),
            }
            for bar in bars
        ]
        y: Spec = {
            "field": "table",
            "type": "ordinal",
            "axis": None,
            "scale": {"domain": [text.printable(name) for name in names]},
        }
        present = [bar.started_by for bar in bars]
        notes = [
            (text.printable(t.name), f"{t.runs:,} run{'' if t.runs == 1 else 's'}") for t in shown
        ]
        return {
            "height": {"step": TALL_PX},
            "layer": [
                *_unknown(day, width <= NARROW_PX),
                {
                    "data": {"values": values},
                    "mark": {"type": "bar", "height": 10, "yOffset": 9, "cornerRadius": 1},
                    "encoding": {
                        "x": {"field": "from", **time_axis(day, width <= NARROW_PX)},
                        "x2": {"field": "to"},
                        "y": y,
                        "color": _starter_colour(present, width <= NARROW_PX),
                        "description": {"field": "about"},
                    },
                },
                *_names(notes, y, width),
            ],
        }

    description = "; ".join(
        f"{text.printable(total.name)}: {total.runs} runs by "
        + ", ".join(f"{WHO[who]} {number}" for who, number in total.runs_by.most_common())
        for total in shown
    )
    return draw(plan, "Vacuums over time, by table", description, "timeline")


def throughput(day: Day) -> Plot:
    """Return MB/s that vacuums read, dirtied and logged over time."""

    def plan(width: int) -> Spec:
        narrow = width <= NARROW_PX
        values = []
        for begin, end, sums in live_sums.rates(day, BINS_NARROW if narrow else BINS_WIDE):
            below = 0.0
            for kind, label in KINDS.items():
                if sums[kind] > 0:
                    values.append(
                        {
                            "from": milliseconds(begin),
                            "to": milliseconds(end),
                            "kind": label,
                            "low": round(below, 4),
                            "high": round(below + sums[kind], 4),
                            "about": f"{_when(day, begin)}: {label} {sums[kind]:.2f} MB/s",
                        }
                    )
                    below += sums[kind]
        bars: Spec = {
            "data": {"values": values},
            "mark": {"type": "bar", "binSpacing": 0},
            "encoding": {
                "x": {"field": "from", **time_axis(day, narrow)},
                "x2": {"field": "to"},
                "y": {
                    "field": "low",
                    "type": "quantitative",
                    "axis": {
                        "title": None,
                        "domain": False,
                        "ticks": False,
                        "tickCount": 5,
                        "minExtent": 30,
                    },
                },
                "y2": {"field": "high"},
                "color": {
                    "field": "kind",
                    "type": "nominal",
                    "scale": {
                        "domain": list(KINDS.values()),
                        "range": [variable(kind) for kind in KINDS],
                    },
                },
                "description": {"field": "about"},
            },
        }
        return {
            "height": 180 if narrow else 220,
            "layer": [*_unknown(day, narrow), bars],
        }

    rates = live_sums.rates(day, BINS_WIDE)
    sums = [sum(moved.values()) for _, _, moved in rates] or [0.0]
    stretch = max((end - begin for begin, end, _ in rates), default=live_span.HOUR)
    description = (
        f"on average {sum(sums) / len(sums):.2f} MB/s, at most {max(sums):.2f} MB/s "
        f"in one {text.took(stretch)} stretch"
    )
    return draw(plan, "MB/s read, dirtied and logged by vacuums", description, "throughput")


def top_tables(totals: Sequence[TableTotal]) -> Plot:
    """Return the most expensive tables, by who vacuumed them."""
    shown = [total for total in totals if total.cost > 0][:MOST_TABLES]
    values = [
        {
            "table": text.printable(total.name),
            "who": WHO[who],
            "order": STARTERS.index(who),
            "cost": cost,
            "about": f"{text.printable(total.name)}: cost {cost:,} by {WHO[who]}",
        }
        for total in shown
        for who, cost in total.cost_by.items()
        if cost
    ]
    present = [who for total in shown for who, cost in total.cost_by.items() if cost]
    names = [text.printable(total.name) for total in shown]
    notes = [(text.printable(total.name), text.count(total.cost)) for total in shown]

    def plan(width: int) -> Spec:
        narrow = width <= NARROW_PX
        y: Spec = {"field": "table", "type": "ordinal", "axis": None, "scale": {"domain": names}}
        return {
            "height": {"step": TALL_PX},
            "layer": [
                {
                    "data": {"values": values},
                    "mark": {"type": "bar", "height": 10, "yOffset": 9},
                    "encoding": {
                        "x": {
                            "field": "cost",
                            "type": "quantitative",
                            "stack": "zero",
                            "axis": {
                                "title": "cost units",
                                "tickCount": 4 if narrow else 8,
                                "labelFlush": True,
                                **values_axis(max(total.cost for total in shown)),
                            },
                        },
                        "y": y,
                        "order": {"field": "order"},
                        "color": _starter_colour(present, narrow),
                        "description": {"field": "about"},
                    },
                },
                *_names(notes, y, width),
            ],
        }

    description = "; ".join(f"{text.printable(t.name)}: {t.cost:,}" for t in shown)
    return draw(plan, "Most expensive tables", description, "cost")
