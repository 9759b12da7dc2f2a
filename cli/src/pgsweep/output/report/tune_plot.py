"""The plot of `tune --svg`: rows/s against the limit, as one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgsweep.output.report import palette
from pgsweep.output.report.palette import variable
from pgsweep.output.report.svg import draw, values_axis

if TYPE_CHECKING:
    from pgsweep.output.report.svg import Spec
    from pgsweep.tune.answer import Answer

CURVE_POINTS = 60


def svg(answer: Answer) -> str:
    """Return a picture that needs nothing beside it.

    It is light or dark as its reader's system is.
    """
    advice = answer.advice
    plot = draw(
        lambda _width: _spec(answer),
        "Dead rows reclaimed per second, by cost limit",
        f"{len(answer.measured.points)} limits, R² of a line {advice.line.r_squared:.4f}; "
        f"recommended: {advice.limit}",
        "tune",
    )
    head, _, rest = str(plot.wide).partition(">")
    page = f'<rect width="100%" height="100%" fill="{variable("page")}"/>'
    return f"{head}><style>{palette.style()}</style>{page}{rest}"


def _spec(answer: Answer) -> Spec:
    points, curve = answer.measured.points, answer.advice.curve
    chosen = answer.verdict.point if answer.verdict else answer.advice.expected
    most = max(*(point.limit for point in points), chosen.limit)
    kind = "reckoned" if answer.measured.how == "history" else "measured"
    names = [f"{kind} at a limit", "curve", "wanted", "recommended"]
    colours = [variable(name) for name in ("stock", "muted", "worse", "sweep")]
    found = [_row(names[0], point.limit, point.rows_per_s) for point in points]
    found += [
        _row("curve", most * step / CURVE_POINTS, curve.rate(most * step / CURVE_POINTS))
        for step in range(1, CURVE_POINTS + 1)
    ]
    found += [_row("wanted", x, answer.targets.reclaim_rate) for x in (0, most)]
    found.append(_row("recommended", chosen.limit, chosen.rows_per_s))
    largest = max(row["y"] for row in found)
    encoding: Spec = {
        "x": {
            "field": "x",
            "type": "quantitative",
            "axis": {"title": "cost limit", "grid": False, "format": ",~f", "tickCount": 8},
            "scale": {"nice": False},
        },
        "y": {
            "field": "y",
            "type": "quantitative",
            "axis": {"title": "dead rows/s", "domain": False, **values_axis(largest)},
        },
        "color": {
            "field": "what",
            "type": "nominal",
            "scale": {"domain": names, "range": colours},
            "legend": {"columnPadding": 28},
        },
    }
    description = {"description": {"field": "about"}}
    return {
        "height": 300,
        "data": {"values": found},
        "encoding": encoding,
        "layer": [
            {
                "transform": [{"filter": {"field": "what", "oneOf": ["curve", "wanted"]}}],
                "mark": {"type": "line", "aria": False},
            },
            {
                "transform": [{"filter": {"field": "what", "equal": names[0]}}],
                "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
                "encoding": description,
            },
            {
                "transform": [{"filter": {"field": "what", "equal": "recommended"}}],
                "mark": {"type": "point", "filled": True, "shape": "diamond", "size": 160}
                | {"opacity": 1},
                "encoding": description,
            },
        ],
    }


def _row(what: str, x: float, y: float) -> dict[str, Any]:
    about = f"{what}: limit {x:g}, {y:,.0f} rows/s"
    return {"what": what, "x": round(x, 3), "y": round(y, 1), "about": about}
