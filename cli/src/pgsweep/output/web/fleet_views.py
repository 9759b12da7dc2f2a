"""What the page of a fleet shows: from what was seen to what the template fills in. No HTTP."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.base import text
from pgsweep.base.text import printable
from pgsweep.fleet.parts import total
from pgsweep.fleet.reading import Row
from pgsweep.fleet.summary import summary
from pgsweep.output.terminal import fleet as render, fleet_tables
from pgsweep.output.terminal.grid import Column
from pgsweep.output.top.fleet_state import ORDERS, FleetUi, shown
from pgsweep.output.web.html import sheet

if TYPE_CHECKING:
    from pgsweep.fleet.lookout import Seen
    from pgsweep.fleet.tables import TablesSeen
    from pgsweep.output.web.html import Sheet

# A page has at most so many of each, and says how many there are.
NODES = 250
TABLES = 100
PROBLEMS = 50
FLEETS_OWN = "as in the fleet"
BY = (FLEETS_OWN, *(order.name for order in ORDERS))
UNITS = {
    "READ": "MB/s",
    "DIRTY": "MB/s",
    "WAL": "MB/s",
    "XID": "age",
    "HORIZON": "age",
    "DAYS": "left",
}


@dataclass(frozen=True)
class Fleet:
    """The nodes, what follows for all of them, and their tables."""

    said: tuple[tuple[str, str], ...]
    problems: tuple[str, ...]
    more_problems: int
    sheet: Sheet
    shown: int
    number: int
    find: str
    by: str
    notes: tuple[str, ...]
    tables: Tables


@dataclass(frozen=True)
class Tables:
    """The tables of all nodes, and how old that is."""

    # None: they are being read for the first time, or it says in `trouble` why they are not known.
    sheet: Sheet | None = None
    total: str = ""
    shown: int = 0
    number: int = 0
    age: str = ""
    trouble: str = ""
    notes: tuple[str, ...] = ()


def key(name: str) -> str:
    """Return what stands for a node in an address. A name may have anything in it."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def href(row: Row) -> str | None:
    """Return the address of a node's own pages."""
    return None if row.node.unasked else f"/node/{key(row.node.name)}/"


def fleet(seen: Seen, tables: Tables, find: str, by: str, now: float) -> Fleet:
    """Return the page. `now` is by the monotonic clock."""
    found = summary(seen.rows)
    order = BY.index(by) if by in BY else 0
    rows = shown(seen.rows, FleetUi(filter=find, order=order))
    problems = [f"{name}: {what}" for name, what in found.problems]
    links = {"NODE": href}
    return Fleet(
        said=tuple((label, printable(value)) for label, value in render.sentences(found)),
        problems=tuple(printable(one) for one in problems[:PROBLEMS]),
        more_problems=max(0, len(problems) - PROBLEMS),
        sheet=sheet(_columns(rows, now), rows[:NODES], UNITS, links, head="NODE"),
        shown=min(len(rows), NODES),
        number=len(rows),
        find=find,
        by=BY[order],
        notes=(*seen.notes, *render.notes(seen.rows)),
        tables=tables,
    )


def _columns(rows: Sequence[Row], now: float) -> tuple[Column[Row], ...]:
    """Return the terminal's columns, of which a silent node has only the first, and its answer.

    Of the less important ones those are left out that no node has.
    """
    known = [
        column for column in render.columns() if not column.priority or _anywhere(column, rows)
    ]
    first = [column for column in known if column.title in ("NODE", "GROUP", "ROLE")]
    rest = [
        Column[Row](column.title, _if_answered(column), column.width, column.right)
        for column in known
        if column not in first
    ]
    return (*first, Column[Row]("ANSWER", lambda row: _answer(row, now), 20), *rest)


def _anywhere(column: Column[Row], rows: Sequence[Row]) -> bool:
    values = (column.cell(row) for row in rows if row.reading is not None)
    return any(str(value) not in ("", text.UNKNOWN) for value in values)


def _if_answered(column: Column[Row]) -> Callable[[Row], str | Text]:
    return lambda row: column.cell(row) if row.reading is not None else text.UNKNOWN


def _answer(row: Row, now: float) -> Text:
    if row.reading is None:
        return Text(render.trouble(row, now), style="red" if row.is_silent else "dim")
    took = text.took(timedelta(seconds=row.seconds or 0.0))
    return Text(f"in {took}, {max(0.0, now - (row.answered_at or now)):.0f} s ago")


def tables(seen: TablesSeen | None, age_s: float) -> Tables:
    """Return the tables that were read so many seconds ago."""
    if seen is None:
        return Tables()
    silent = tuple(f"{node.name}: {what}" for node, what in seen.silent)
    if seen.trouble:
        return Tables(trouble=seen.trouble)
    return Tables(
        sheet=sheet(fleet_tables.columns(), seen.tables[:TABLES]),
        total=total(seen.tables),
        shown=min(len(seen.tables), TABLES),
        number=len(seen.tables),
        age=f"{age_s:.0f} s",
        notes=(*seen.notes, *silent),
    )
