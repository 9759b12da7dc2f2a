"""The report of one or several results, as a page."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from pgsweep.output.report import page, palette
from pgsweep_bench.report import day_plot, plots as drawing
from pgsweep_bench.report.model import result_label
from pgsweep_bench.report.words import JUDGEMENTS, SIGNS, capital, number, when, with_unit

if TYPE_CHECKING:
    from pgsweep_bench.report.model import Report, Row, Section, Tally
    from pgsweep_bench.report.svg import Plot
    from pgsweep_bench.result import Series

BETTER = {"lower": "less is better", "higher": "more is better", "info": "for information"}
# This many of the better figures stand beside the worse ones at least. More are folded away.
SHOWN_BETTER = 8
# This many series stand beside the comparison. More are folded away.
SHOWN_SERIES = 2


@dataclass(frozen=True)
class Drawn:
    """The plots of a section: those that are shown, and those that are folded away."""

    first: tuple[Plot, ...]
    rest: tuple[Plot, ...]


def html(report: Report) -> str:
    """Return the page."""
    return page.render(
        "bench.html.j2",
        title="Vacuum with and without pg_sweep",
        lead=" · ".join(result_label(result) for result in report.results),
        report=report,
        drawn={section.anchor: plots(section) for section in report.sections},
        worse=report.differences("worse"),
        better_ones=report.differences("better"),
        same_count=sum(count for _, count in report.same),
        any_judged=any(tally.judged for tally in report.tallies),
        several_versions=len({section.version for section in report.sections}) > 1,
        shares={tally.kind: share(tally) for tally in report.tallies},
        shown_better=max(SHOWN_BETTER, len(report.differences("worse"))),
        better=BETTER,
        result_label=result_label,
        signs=SIGNS,
        judgements=JUDGEMENTS,
        capital=capital,
        number=number,
        when=when,
        package="pgsweep_bench.report",
    )


def share(tally: Tally) -> Markup:
    """Return a bar of how many figures are worse, the same and better."""
    parts, x = [], 0.0
    for judgement in ("worse", "same", "better"):
        width = 100 * tally.counts[judgement] / tally.judged if tally.judged else 0
        if width:
            colour = palette.variable(judgement)
            fill = f'x="{x:.2f}" width="{width:.2f}" height="10" fill="{colour}"'
            opacity = ' opacity="0.35"' if judgement == "same" else ""
            parts.append(f"<rect {fill}{opacity}/>")
        x += width
    bars = "".join(parts)
    return Markup(
        f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" focusable="false">{bars}</svg>'
    )


def plots(section: Section) -> Drawn:
    """Return all plots of a section."""
    bars = [bar for row in section.rows if (bar := _bar(row)) is not None]
    name = section.anchor
    first = [drawing.comparison(bars, section.against, f"{name}-against")] if bars else []
    if (day := day_plot.plot(section, f"{name}-together")) is not None:
        return Drawn((*first, day), tuple(_over_time(section, day_plot.PANELS)))
    over_time = _over_time(section)
    first += over_time[:SHOWN_SERIES]
    return Drawn(tuple(first), tuple(over_time[SHOWN_SERIES:]))


def _bar(row: Row) -> drawing.Bar | None:
    compared = row.comparison
    if row.judgement not in ("better", "worse", "same") or compared is None:
        return None
    assert compared.ours is not None
    assert compared.other is not None
    ours, other = compared.ours.median, compared.other.median
    values = f"{with_unit(ours, row.metric)} against {with_unit(other, row.metric)}"
    less_is_better = row.metric.better == "lower"
    if ours > 0 and other > 0:
        times = other / ours if less_is_better else ours / other
        return drawing.Bar(row.metric.label, values, row.judgement, times)
    infinite = 0.0
    if ours != other:
        infinite = 1.0 if (ours < other) == less_is_better else -1.0
    return drawing.Bar(row.metric.label, values, row.judgement, None, infinite)


def _over_time(section: Section, but: Container[str] = ()) -> list[Plot]:
    """Return a plot for each figure that was followed over time, on all servers."""
    colours = palette.variants(tuple(variant.name for variant in section.variants))
    lines: dict[str, list[tuple[str, str, Series]]] = {}
    for variant, colour in zip(section.variants, colours, strict=True):
        for series in variant.series:
            if series.points and series.name not in but:
                lines.setdefault(series.name, []).append((variant.label, colour, series))
    drawn = []
    for name, found in lines.items():
        first = found[0][2]
        title = f"{first.label}, {first.unit}" if first.unit else first.label
        ends = "; ".join(
            f"{label}: from {series.points[0][1]:g} to {series.points[-1][1]:g}, "
            f"at most {max(value for _, value in series.points):g}"
            for label, _, series in found
        )
        drawn.append(
            drawing.over_time(
                found, f"{capital(title)}, over time", ends, f"{section.anchor}-{_plain(name)}"
            )
        )
    return drawn


def _plain(name: str) -> str:
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in name)
