"""A trial as a page: what pg_sweep would have done in mode observe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pgsweep.base import text
from pgsweep.findings import trial
from pgsweep.output.report import page
from pgsweep.output.report.live_model import MOST_ROWS, Column, Table
from pgsweep.output.terminal import trials
from pgsweep.output.terminal.grid import titled

if TYPE_CHECKING:
    from pgsweep.model import Server, TriedTable
    from pgsweep.output.terminal.grid import Column as GridColumn


def html(rows: Sequence[TriedTable], server: Server, mode: str | None) -> str:
    """Return the page."""
    return page.render(
        "trial.html.j2",
        title="What pg_sweep would have done",
        lead=_lead(rows, server, mode),
        **_contents(rows, server, mode),
    )


def _lead(rows: Sequence[TriedTable], server: Server, mode: str | None) -> str:
    where = f"{server.host}:{server.port}" if server.host else f"port {server.port}"
    line = f"PostgreSQL {server.version.split()[0]}, {where}"
    if rows:
        since, until = rows[0].since.astimezone(), rows[0].until or server.now
        line += f", observed from {since:%Y-%m-%d %H:%M} to {until.astimezone():%Y-%m-%d %H:%M %Z}"
    return text.printable(f"{line}; sweep.mode is now {mode}")


def _contents(rows: Sequence[TriedTable], server: Server, mode: str | None) -> dict[str, Any]:
    if not rows:
        return {"headline": trials.none(mode), "sentences": (), "tables": ()}
    found = trial.summary(rows, server.now)
    tables = [_table("Tables", trial.HOW, trials.COLUMNS, trial.told(rows))]
    if found.untouched:
        said = "pg_sweep would have vacuumed these, and nobody has."
        tables.insert(0, _table("Not vacuumed", said, trials.UNTOUCHED, found.untouched))
    return {"headline": found.headline, "sentences": found.sentences, "tables": tables}


def _table(
    title: str, said: str, columns: Iterable[GridColumn[TriedTable]], rows: Sequence[TriedTable]
) -> Table:
    known = tuple(columns)
    if len(rows) > MOST_ROWS:
        said += f" The first {MOST_ROWS} of {len(rows):,} are shown."
    return Table(
        title,
        said,
        tuple(Column(titled(column.title), column.right) for column in known),
        tuple(tuple(_cell(column, row) for column in known) for row in rows[:MOST_ROWS]),
    )


def _cell(column: GridColumn[TriedTable], row: TriedTable) -> str:
    shown = text.printable(str(column.cell(row)))
    # A figure and its unit stay together.
    return shown.replace(" ", "\N{NO-BREAK SPACE}") if column.right else shown
