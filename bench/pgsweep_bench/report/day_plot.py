"""The plot of the experiment day: dead rows, size and users' waits, one above the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pgsweep.output.report import palette
from pgsweep.output.report.palette import variable
from pgsweep_bench.report.svg import NARROW_PX, draw, values_axis

if TYPE_CHECKING:
    from pgsweep_bench.report.model import Section
    from pgsweep_bench.report.svg import Plot, Spec
    from pgsweep_bench.result import Series, Variant

NAME = "day"
HOURS = 24
# the panels, from above, by the series that they show
PANELS = {
    "dead": "dead rows of users' tables",
    "size": "size with indexes and catalogs, MB",
    "p99_most": "users' 99th percentile by hour, ms",
}
# What the numbers of each panel take: panels are not fitted to what their axes leave.
NUMBERS_PX = 44
# Beyond it the smaller values of a panel are not to be seen without a logarithm.
MOST_TIMES = 20.0
# A statement that takes a second would be a line too thin for its colour.
LEAST_HOURS = 0.12


@dataclass(frozen=True)
class Line:
    """One server's line in a panel."""

    server: str
    colour: str
    series: Series


def plot(section: Section, name: str) -> Plot | None:
    """Return the plot of a day, or None if the section is of something else."""
    if section.experiment.name != NAME:
        return None
    colours = palette.variants(tuple(variant.name for variant in section.variants))
    lines = {
        panel: [
            Line(variant.label, colour, series)
            for variant, colour in zip(section.variants, colours, strict=True)
            for series in variant.series
            if series.name == panel and series.points
        ]
        for panel in PANELS
    }
    if not all(lines.values()):
        return None
    hour_s = section.experiment.seconds / HOURS
    jobs = _jobs(section.variants)
    description = "; ".join(
        f"{PANELS[panel]}: "
        + ", ".join(
            f"{line.server} at most {max(value for _, value in line.series.points):,.4g}, "
            f"at the end {line.series.points[-1][1]:,.4g}"
            for line in each
        )
        for panel, each in lines.items()
    )
    return draw(
        lambda width: _spec(lines, jobs, hour_s, width),
        _title(jobs),
        description,
        name,
    )


def _title(jobs: Sequence[dict[str, Any]]) -> str:
    title = "A day: dead rows, size and what users wait who make no temporary tables"
    return f"{title} (grey: {', '.join(job['label'] for job in jobs)})" if jobs else title


def _jobs(found: Sequence[Variant]) -> list[dict[str, Any]]:
    """Return what was done once in the day: from when on, and until when on the slower server."""
    ends: dict[str, dict[str, Any]] = {}
    for variant in found:
        for repeat in variant.raw.get("repeats", ())[:1]:
            for job in repeat.get("jobs", ()):
                known = ends.setdefault(job["label"], dict(job))
                known["end"] = max(known["end"], job["end"], known["begin"] + LEAST_HOURS)
    return list(ends.values())


def _spec(
    lines: dict[str, list[Line]], jobs: list[dict[str, Any]], hour_s: float, width: int
) -> Spec:
    narrow = width <= NARROW_PX
    last = list(lines)[-1]
    return {
        "spacing": 14,
        "vconcat": [
            _panel(name, each, jobs, hour_s, width - NUMBERS_PX, narrow, name == last)
            for name, each in lines.items()
        ],
        "resolve": {"legend": {"color": "shared"}},
    }


def _panel(
    name: str,
    lines: Sequence[Line],
    jobs: list[dict[str, Any]],
    hour_s: float,
    width: int,
    narrow: bool,
    last: bool,
) -> Spec:
    values = [
        {"h": round(seconds / hour_s, 3), "v": value, "server": line.server}
        for line in lines
        for seconds, value in line.series.points
    ]
    heights = [value for line in lines for _, value in line.series.points]
    top, bottom = max(heights), min(heights)
    steep = name.startswith("p99") and bottom > 0 and top > MOST_TIMES * bottom
    x: Spec = {
        "field": "h",
        "type": "quantitative",
        "scale": {"domain": [0, HOURS], "nice": False},
        "axis": {
            "title": "hour of the day" if last else None,
            "grid": False,
            "labels": last,
            "ticks": last,
            "values": list(range(0, HOURS + 1, 6 if narrow else 2)),
        },
    }
    y: Spec = {
        "field": "v",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False} if steep else {"zero": name != "size"},
        "axis": {
            "title": None,
            "domain": False,
            "ticks": False,
            **({"values": _ticks(bottom, top)} if steep else {"tickCount": 4}),
            "minExtent": NUMBERS_PX,
            "maxExtent": NUMBERS_PX,
            **values_axis(top),
        },
    }
    return {
        "width": width,
        "height": 110 if narrow else 140,
        "title": {
            "text": PANELS[name],
            "anchor": "start",
            "frame": "group",
            "offset": 6,
            "fontSize": 12,
            "fontWeight": "normal",
            "color": variable("muted"),
        },
        "layer": [
            *_marks(jobs, name == next(iter(PANELS)), narrow),
            {
                "data": {"values": values},
                "mark": {"type": "line", "interpolate": "linear", "aria": False},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": {
                        "field": "server",
                        "type": "nominal",
                        "scale": {
                            "domain": [line.server for line in lines],
                            "range": [line.colour for line in lines],
                        },
                        "legend": {
                            "symbolType": "stroke",
                            "symbolStrokeWidth": 3,
                            "direction": "vertical" if narrow else "horizontal",
                        },
                    },
                },
            },
        ],
    }


def _ticks(bottom: float, top: float) -> list[float]:
    """Return the round numbers of a logarithmic axis: 1, 2, 5, 10, 20 ..."""
    decades = range(math.floor(math.log10(bottom)), math.ceil(math.log10(top)) + 1)
    found = [step * 10.0**decade for decade in decades for step in (1, 2, 5)]
    return [tick for tick in found if bottom <= tick <= top]


def _marks(jobs: list[dict[str, Any]], first: bool, narrow: bool) -> list[Spec]:
    """Return the bands of what is done once in the day, in the first panel with their names."""
    if not jobs:
        return []
    scale = {"domain": [0, HOURS], "nice": False}
    data = {"values": jobs}
    band: Spec = {
        "data": data,
        "mark": {"type": "rect", "opacity": 0.22, "color": variable("muted")},
        "encoding": {
            "x": {"field": "begin", "type": "quantitative", "scale": scale},
            "x2": {"field": "end"},
            "description": {"field": "label"},
        },
    }
    if not first or narrow:
        return [band]
    names: Spec = {
        "data": data,
        "mark": {"type": "text", "align": "left", "baseline": "bottom", "dy": -4, "fontSize": 11}
        | {"color": variable("muted"), "aria": False},
        "encoding": {
            "x": {"field": "begin", "type": "quantitative", "scale": scale},
            "y": {"value": 0},
            "text": {"field": "label"},
        },
    }
    return [band, names]
