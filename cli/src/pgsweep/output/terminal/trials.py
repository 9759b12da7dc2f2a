"""What `pgsweep trial` prints for people."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.base import text
from pgsweep.findings import trial
from pgsweep.model import compute
from pgsweep.output.terminal import grid
from pgsweep.output.terminal.grid import Column

if TYPE_CHECKING:
    from pgsweep.model import TriedTable

OTHERS = "(all other tables)"
MOST_WIDTH = 110


def name(row: TriedTable) -> str:
    """Return the table's name. One row has all tables that found no room."""
    return compute.relation(row) if row.relid is not None else OTHERS


def _cost(row: TriedTable) -> str:
    return trial.between(trial.cost(row)) if row.vacuums else ""


def _autovacuum_cost(row: TriedTable) -> str:
    return text.size(trial.autovacuum_cost(row)) if row.autovacuums else ""


def _earlier(row: TriedTable) -> str:
    return trial.words(row.earlier) if row.earlier is not None else ""


def _grew(row: TriedTable) -> str:
    return text.size(row.blks_grown * row.block_size) if row.followed else ""


COLUMNS: tuple[Column[TriedTable], ...] = (
    Column("TABLE", name, 20, flex=True, most=40, keep_end=True),
    Column("VACUUMS", lambda row: f"{row.vacuums:,}", 7, True),
    Column("COST", _cost, 16, True, 2),
    Column("AUTOVACUUM", lambda row: f"{row.autovacuums:,}", 10, True),
    Column("COST", _autovacuum_cost, 7, True, 2),
    Column("EARLIER", _earlier, 10, True, 1),
    Column("GREW", _grew, 7, True, 3),
)
UNTOUCHED: tuple[Column[TriedTable], ...] = (
    Column("NOT VACUUMED", name, 20, flex=True, most=40, keep_end=True),
    Column("SINCE", lambda row: text.clock(row.waiting_since), 8, priority=1),
    Column("WHY", trial.why_untouched, 18, flex=True, most=70),
)


def none(mode: str | None) -> str:
    """Return what is said when there is nothing to tell."""
    if mode == "observe":
        return "So far pg_sweep would not have vacuumed anything, nor has autovacuum."
    return "There was no trial since the server was started: it runs while sweep.mode is observe."


def lines(rows: Sequence[TriedTable], now: datetime, limit: int, width: int) -> list[Text]:
    """Return a trial: the summary, the tables, and those that autovacuum left alone."""
    found = trial.summary(rows, now)
    shown = [Text(line, style="bold") for line in _wrapped(found.headline, width)]
    for sentence in found.sentences:
        shown += [Text(line) for line in _wrapped(sentence, width)]
    shown.append(Text())
    shown += _table(COLUMNS, trial.told(rows), limit, width)
    if found.untouched:
        shown.append(Text())
        shown += _table(UNTOUCHED, found.untouched, limit, width)
    shown.append(Text())
    return [*shown, *(Text(line, style="dim") for line in _wrapped(trial.HOW, width))]


def _wrapped(sentence: str, width: int) -> list[str]:
    return textwrap.wrap(sentence, max(min(width, MOST_WIDTH), 20))


def _table(
    columns: Sequence[Column[TriedTable]], rows: Sequence[TriedTable], limit: int, width: int
) -> list[Text]:
    layout = grid.fit(columns, width)
    shown = [grid.header(layout), *(grid.row(layout, row) for row in rows[:limit])]
    if len(rows) > limit:
        shown.append(Text(f"{limit} of {trial.many(len(rows), 'table')} shown", style="dim"))
    return shown
