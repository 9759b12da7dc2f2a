"""A table's history in `top`: what was decided, its last runs, and its sums by the hour."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.base import paragraph, text
from pgsweep.model import HourOfTable, Run
from pgsweep.output.terminal import columns, grid
from pgsweep.output.terminal.grid import Column

if TYPE_CHECKING:
    from pgsweep.model import Decision, TableHistory, TableKey


def title(key: TableKey) -> str:
    """Return the title over a table's history."""
    return f"history of {text.printable(key.title)}"


def lines(history: TableHistory | None, width: int) -> list[Text]:
    """Return all that is known. Whoever shows it scrolls."""
    if history is None:
        return [Text("reading ...", style="dim")]
    out = [decision(row, history.now, width) for row in history.decisions]
    if not history.runs and not history.hours:
        out.append(Text("no vacuum or analyze of it is known", style="dim"))
    if history.runs:
        known = run_columns(history.now)
        if history.core:
            known = columns.core_run_columns(history.now)
        layout = grid.fit(known, width)
        out += [grid.header(layout), *(grid.row(layout, run) for run in history.runs)]
    if history.hours:
        hours = grid.fit(hour_columns(), width)
        out += [Text(), grid.header(hours), *(grid.row(hours, row) for row in history.hours)]
    return [*out, *paragraph.notes(history.notes, width)]


def decision(row: Decision, now: datetime, width: int) -> Text:
    """Return what was decided last, and when the table is looked at again."""
    parts = [f"{row.decision} {text.ago(row.last_at, now)}", row.reason or ""]
    if row.not_before is not None and row.not_before > now:
        parts.append(f"again in {text.duration(row.not_before - now)}")
    line = text.printable(" · ".join(filter(None, parts)))
    return Text(text.cut(line, width), style="bold", no_wrap=True)


def run_columns(now: datetime) -> tuple[Column[Run], ...]:
    """Return the columns of one table's runs."""
    kept = [column for column in columns.run_columns() if column.title not in ("ENDED", "TABLE")]
    return (Column[Run]("ENDED", lambda run: text.ago(run.ended_at, now), 10, right=True), *kept)


def hour_columns() -> tuple[Column[HourOfTable], ...]:
    """Return the columns of one table's sums by the hour."""
    return (
        Column[HourOfTable]("HOUR", lambda row: _hour(row.hour), 11),
        Column[HourOfTable]("WHO", _who, 8),
        Column[HourOfTable]("WHAT", lambda row: text.what(row.command), 4),
        Column[HourOfTable]("RUNS", lambda row: text.count(row.runs), 5, right=True),
        Column[HourOfTable]("FAILED", lambda row: text.count(row.failed), 6, True, 6),
        Column[HourOfTable]("CANCELLED", lambda row: text.count(row.cancelled), 9, True, 7),
        Column[HourOfTable]("TOOK", lambda row: text.milliseconds(row.run_time), 9, True, 3),
        Column[HourOfTable]("REMOVED", lambda row: text.count(row.tuples_removed), 7, True, 1),
        Column[HourOfTable]("KEPT", lambda row: text.count(row.dead_not_removable), 5, True, 2),
        Column[HourOfTable]("READ", lambda row: text.count(row.blks_read), 6, True, 5),
        Column[HourOfTable]("DIRTIED", lambda row: text.count(row.blks_dirtied), 7, True, 5),
        Column[HourOfTable]("WAL", lambda row: text.size(row.wal_bytes), 7, True, 8),
        Column[HourOfTable]("COST", lambda row: text.count(row.cost), 5, True, 4),
    )


def _hour(value: datetime) -> str:
    return value.astimezone().strftime("%m-%d %H:%M")


def _who(row: HourOfTable) -> Text:
    return Text(text.who(row.started_by), style=text.WHO_STYLE.get(row.started_by, ""))
