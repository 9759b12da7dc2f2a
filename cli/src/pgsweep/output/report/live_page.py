"""The report of a server's last day, as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgsweep.output.report import live_model, live_plots, page

if TYPE_CHECKING:
    from pgsweep.model import Day


def html(day: Day) -> str:
    """Return the page."""
    today = live_model.build(day)
    plots = {}
    if today.totals:
        plots["timeline"] = live_plots.timeline(day, today.totals)
        plots["throughput"] = live_plots.throughput(day)
    if any(total.cost for total in today.totals):
        plots["cost"] = live_plots.top_tables(today.totals)
    return page.render("live.html.j2", title=today.title, lead=today.lead, today=today, plots=plots)
