"""The report of a server's last day, as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgsweep.output.report import charts, live_model, live_plots, page

if TYPE_CHECKING:
    from pgsweep.model import Day


def plots(day: Day, today: live_model.Today) -> dict[str, object]:
    """Return the charts of a day by name."""
    if not today.totals:
        return {}
    found: dict[str, object] = {
        "timeline": live_plots.timeline(day, today.totals),
        "throughput": live_plots.throughput(day),
    }
    if any(total.cost for total in today.totals):
        found["cost"] = live_plots.top_tables(today.totals)
    return found


def html(day: Day) -> str:
    """Return the page."""
    today = live_model.build(day)
    return page.render(
        "live.html.j2",
        title=today.title,
        lead=today.lead,
        today=today,
        plots=plots(day, today),
        drawn=charts.drawn(),
        script=charts.script(),
    )
