"""What `fleet --tables` prints for people. All of it is pure."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from pgsweep.base import text
from pgsweep.fleet.parts import SpreadTable, total
from pgsweep.output.terminal import grid
from pgsweep.output.terminal.grid import Column


def columns() -> tuple[Column[SpreadTable], ...]:
    """Return the columns of tables that are spread over nodes."""
    return (
        Column[SpreadTable]("TABLE", lambda row: row.table, 16, flex=True, most=40, keep_end=True),
        Column[SpreadTable]("PARTS", lambda row: text.count(row.parts), 5, right=True),
        Column[SpreadTable]("NODES", lambda row: text.count(row.nodes), 5, True, 2),
        Column[SpreadTable]("DUE", _parts_due, 5, right=True),
        Column[SpreadTable]("DEAD", lambda row: text.count(row.dead_tuples), 6, right=True),
        Column[SpreadTable]("PAGES", lambda row: text.count(row.pages), 6, True, 3),
        Column[SpreadTable]("SKEW", _table_skew, 5, right=True),
        Column[SpreadTable]("WORST", lambda row: row.worst.name, 12, flex=True, most=40),
        Column[SpreadTable]("ON", lambda row: row.worst.node, 12, flex=True, most=30),
    )


def _parts_due(row: SpreadTable) -> Text:
    return Text(text.count(row.due), style="bold yellow" if row.due else "")


def _table_skew(row: SpreadTable) -> str:
    times = row.skew.times if row.skew else None
    return text.UNKNOWN if times is None else f"{min(times, 999):.1f}"


def lines(rows: Sequence[SpreadTable], limit: int, width: int) -> list[Text]:
    """Return tables, one line each, and how much there is in all."""
    if not rows:
        return [Text("there are no tables")]
    layout = grid.fit(columns(), width)
    shown = rows[:limit]
    left = f", {len(shown):,} shown" if len(shown) < len(rows) else ""
    end = Text(f"{total(rows)}{left}", style="dim")
    return [grid.header(layout), *(grid.row(layout, row) for row in shown), end]
