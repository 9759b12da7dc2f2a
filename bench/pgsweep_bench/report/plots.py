"""The plots of an experiment: ours against the other server, and figures over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pgsweep.output.report.palette import variable
from pgsweep_bench.report.svg import NARROW_PX, draw, values_axis
from pgsweep_bench.report.words import SIGNS, capital

if TYPE_CHECKING:
    from pgsweep_bench.report.svg import Plot, Spec
    from pgsweep_bench.result import Series

# Beyond it a bar is cut off, and what it stands for is written beside it.
MOST_TIMES = 32.0
LEAST_TIMES = 2.0
# From or to zero is no number of times, but more than this.
ENDLESS_TIMES = 8.0
ROW_PX = 40
# More than the pixels of a plot are not to be seen.
MOST_POINTS = 320
TICKS = (1.25, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0)


@dataclass(frozen=True)
class Bar:
    """One figure relative to the other server's: `times` > 1 is better, whatever "better" is."""

    label: str
    # with its unit, for the tooltip
    values: str
    verdict: str
    # None: one of the two is zero, and `infinite` says on which side the bar ends
    times: float | None
    infinite: float = 0.0


def words(bar: Bar) -> str:
    """Return what is written at the end of a bar's line."""
    sign = SIGNS.get(bar.verdict, "?")
    if bar.times is None:
        return f"{sign} {bar.verdict} (one is 0)" if bar.infinite else f"{sign} both 0"
    factor = max(bar.times, 1 / bar.times)
    size = f"{factor:.2f}" if factor < 9.995 else f"{factor:,.0f}"
    if size == "1.00":
        return f"{sign} same"
    side = "better" if bar.times > 1 else "worse"
    if bar.verdict == "same":
        return f"{sign} same ({size}× {side})"
    return f"{sign} {size}× {side}"


def comparison(bars: Sequence[Bar], against: str, name: str) -> Plot:
    """Return the plot of an experiment's judged figures."""
    reached = [max(bar.times, 1 / bar.times) for bar in bars if bar.times]
    if any(bar.infinite for bar in bars):
        reached.append(ENDLESS_TIMES)
    limit = min(MOST_TIMES, max(LEAST_TIMES, 1.12 * max(reached, default=1.0)))
    description = "; ".join(f"{bar.label}: {words(bar)[2:]} ({bar.values})" for bar in bars)
    return draw(
        lambda width: _comparison_spec(bars, limit, width),
        f"pg_sweep against {against}",
        description,
        name,
    )


def _comparison_spec(bars: Sequence[Bar], limit: float, width: int) -> Spec:
    narrow = width <= NARROW_PX
    rows = []
    for number, bar in enumerate(bars):
        times = bar.times if bar.times is not None else limit**bar.infinite
        shown = min(limit, max(1 / limit, times))
        rows.append(
            {
                "row": number,
                "label": capital(bar.label),
                "words": words(bar),
                "verdict": bar.verdict,
                # so short that it would be no bar: still a line
                "times": shown if abs(math.log(shown)) > 0.01 else 1.01,
                "about": f"{bar.label}: {words(bar)}: {bar.values}",
            }
        )
    ticks = [tick for tick in TICKS if tick <= limit]
    if narrow or limit > LEAST_TIMES:
        ticks = [tick for tick in ticks if tick >= 2.0 or limit <= LEAST_TIMES][: 6 - 2 * narrow]
    colour = {
        "field": "verdict",
        "type": "nominal",
        "scale": {
            "domain": ["better", "worse", "same", "unknown"],
            "range": [variable(each) for each in ("better", "worse", "same", "same")],
        },
        "legend": None,
    }
    y: Spec = {"field": "row", "type": "ordinal", "axis": None}
    return {
        "height": {"step": ROW_PX},
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "bar", "height": 10, "yOffset": 10, "cornerRadius": 2},
                "encoding": {
                    "x": _times_axis(ticks, limit),
                    "x2": {"datum": 1},
                    "y": y,
                    "color": colour,
                    "description": {"field": "about"},
                },
            },
            {
                "mark": {"type": "tick", "orient": "vertical", "size": 20, "thickness": 1}
                | {"yOffset": 10, "color": variable("muted"), "aria": False},
                "encoding": {"x": {"datum": 1}, "y": y},
            },
            _label(y, width if narrow else width - 150),
            *(_words_beside(y, colour) if narrow else [_words_right(y, colour)]),
        ],
    }


def _times_axis(ticks: Sequence[float], limit: float) -> Spec:
    return {
        "field": "times",
        "type": "quantitative",
        "scale": {"type": "log", "base": 2, "domain": [1 / limit, limit], "nice": False},
        "axis": {
            "title": "← times worse · times better →",
            "values": [1 / tick for tick in reversed(ticks)] + [1] + list(ticks),
            "labelExpr": "datum.value > 0.999 && datum.value < 1.001 ? 'same' : "
            "format(datum.value > 1 ? datum.value : 1 / datum.value, '.3~g') + '×'",
            "labelFlush": True,
        },
    }


def _text(field: str, align: str, **mark: Any) -> Spec:  # noqa: ANN401
    base = {"type": "text", "align": align, "baseline": "middle", "aria": False}
    return {"mark": {**base, **mark}, "encoding": {"text": {"field": field}}}


def _label(y: Spec, limit: int) -> Spec:
    """Return the names of the figures, each above its bar."""
    layer = _text("label", "left", dy=-8, limit=limit)
    layer["encoding"] |= {"x": {"value": 0}, "y": y}
    return layer


def _words_right(y: Spec, colour: Spec) -> Spec:
    """Return the verdicts at the end of the lines."""
    layer = _text("words", "right", dy=-8, fontWeight=600)
    layer["encoding"] |= {"x": {"value": "width"}, "y": y, "color": colour}
    return layer


def _words_beside(y: Spec, colour: Spec) -> list[Spec]:
    """Return the verdicts beside the middle, where the bar is not."""
    layers = []
    for align, side, dx in (("right", "datum.times >= 1", -7), ("left", "datum.times < 1", 7)):
        layer = _text("words", align, dy=10, dx=dx, fontSize=12, fontWeight=600)
        layer["transform"] = [{"filter": side}]
        layer["encoding"] |= {"x": {"datum": 1}, "y": y, "color": colour}
        layers.append(layer)
    return layers


def thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return at most MOST_POINTS of a line's points: of each stretch its least and its most."""
    if len(points) <= MOST_POINTS:
        return list(points)
    stretches = MOST_POINTS // 2
    kept: list[tuple[float, float]] = []
    for number in range(stretches):
        begin = number * len(points) // stretches
        stretch = points[begin : (number + 1) * len(points) // stretches]
        ends = {min(stretch, key=lambda p: p[1]), max(stretch, key=lambda p: p[1])}
        kept.extend(sorted(ends))
    return kept


def over_time(
    lines: Sequence[tuple[str, str, Series]], title: str, description: str, name: str
) -> Plot:
    """Return the plot of one figure over time: (server's label, colour, series) each."""
    labels = list(dict.fromkeys(label for label, _, _ in lines))
    colours = [next(c for each, c, _ in lines if each == label) for label in labels]
    values = [
        {"s": round(seconds, 2), "v": value, "server": label, "line": number}
        for number, (label, _, series) in enumerate(lines)
        for seconds, value in thinned(series.points)
    ]

    largest = max(abs(value) for _, _, series in lines for _, value in series.points)

    def plan(width: int) -> Spec:
        narrow = width <= NARROW_PX
        return {
            "height": 190 if narrow else 240,
            "data": {"values": values},
            "mark": {"type": "line", "interpolate": "linear", "aria": False},
            "encoding": {
                "x": {
                    "field": "s",
                    "type": "quantitative",
                    "axis": {
                        "title": "seconds",
                        "grid": False,
                        "tickCount": 5 if narrow else 10,
                        "format": ",~f",
                    },
                    "scale": {"nice": False},
                },
                "y": {
                    "field": "v",
                    "type": "quantitative",
                    "axis": {
                        "title": None,
                        "domain": False,
                        "ticks": False,
                        "tickCount": 5,
                        "minExtent": 34,
                        **values_axis(largest),
                    },
                },
                "color": {
                    "field": "server",
                    "type": "nominal",
                    "scale": {"domain": labels, "range": colours},
                    "legend": {
                        "symbolType": "stroke",
                        "symbolStrokeWidth": 3,
                        "direction": "vertical" if narrow else "horizontal",
                    },
                },
                "detail": {"field": "line"},
            },
        }

    return draw(plan, title, description, name)
