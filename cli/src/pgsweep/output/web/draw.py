"""Draws the plots of a day, in a process of its own.

What draws is large, and could take the server down with it: Vega-Lite in a JavaScript engine.
`python -m pgsweep.output.web.draw` reads a day from stdin and writes the plots to stdout. Both are
pickles between two processes of the same command.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pgsweep.base import errors, extras
from pgsweep.output.report import live_model, live_plots, live_sums
from pgsweep.output.report.svg import Plot
from pgsweep.output.web import diary_plots
from pgsweep.output.web.diary_plots import Notes

if TYPE_CHECKING:
    from pgsweep.model import Day

PATIENCE_S = 30.0

Plots = dict[str, Plot]


def plots(day: Day, notes: Notes) -> tuple[Plots, str]:
    """Return the plots of a day by name, or why there are none."""
    try:
        extras.require_report("the timeline")
    except errors.UsageError as exc:
        return {}, exc.one_line()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pgsweep.output.web.draw"],
            input=pickle.dumps((day, notes)),
            # Nothing is imported from the folder that somebody happened to start us in.
            cwd="/",
            env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
            capture_output=True,
            timeout=PATIENCE_S,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return {}, f"the process that draws took longer than {PATIENCE_S:g} s"
    except (OSError, subprocess.CalledProcessError) as exc:
        return {}, (
            f"the process that draws failed: {exc}. A systemd unit with "
            "MemoryDenyWriteExecute=yes or little memory is one reason."
        )
    drawn: Plots = pickle.loads(done.stdout)
    return drawn, ""


def draw(day: Day, notes: Notes) -> Plots:
    """Return the plots of a day by name."""
    totals = live_model.build(day).totals
    if not totals:
        return {}
    drawn = {
        "timeline": live_plots.timeline(day, totals),
        "throughput": live_plots.throughput(day),
    }
    if any(total.cost for total in totals):
        drawn["cost"] = live_plots.top_tables(totals)
    begin, end = live_sums.span(day)
    shown = Notes(
        tuple(minute for minute in notes.minutes if begin <= minute.at <= end),
        tuple(at for at in notes.checkpoints if begin <= at <= end),
    )
    if shown.minutes:
        drawn["budget"] = diary_plots.budget(day, shown)
        if any(minute.waiting is not None for minute in shown.minutes):
            drawn["waiting"] = diary_plots.waiting(day, shown)
    return drawn


if __name__ == "__main__":
    found = draw(*pickle.load(sys.stdin.buffer))
    sys.stdout.buffer.write(pickle.dumps(found))
