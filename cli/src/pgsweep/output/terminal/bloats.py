"""Indexes and tables that are larger than they have to be, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.base import text
from pgsweep.output.terminal import grid
from pgsweep.output.terminal.grid import Column

if TYPE_CHECKING:
    from pgsweep.model.bloat import Bloat

MUCH = 0.5  # of its size


def _name(row: Bloat) -> str:
    return f"{row.schemaname}.{row.relname}"


def _wasted(row: Bloat) -> Text:
    much = row.wasted is not None and row.wasted > MUCH * row.size
    return Text(text.size(row.wasted), style="bold yellow" if much else "")


def _share(row: Bloat) -> str:
    known = row.wasted is not None and row.size > 0
    return text.percent(100 * (row.wasted or 0) / row.size if known else None)


COLUMNS = (
    Column["Bloat"]("NAME", _name, 20, flex=True, most=60, keep_end=True),
    Column["Bloat"]("TABLE", lambda row: row.table_relname, 12, False, 3, True, 40),
    Column["Bloat"]("KIND", lambda row: row.kind, 6),
    Column["Bloat"]("SIZE", lambda row: text.size(row.size), 7, True),
    Column["Bloat"]("CONTENT", lambda row: text.size(row.content), 7, True, 1),
    Column["Bloat"]("WASTED", _wasted, 7, True),
    Column["Bloat"]("%", _share, 4, True, 2),
)


def lines(rows: Sequence[Bloat], found: Sequence[Bloat], width: int) -> list[Text]:
    """Return the rows, one line each, what they come to, and how the first is mended."""
    layout = grid.fit(COLUMNS, width)
    wasted = sum(row.wasted or 0 for row in found)
    size = sum(row.size for row in found)
    unknown = [row for row in found if row.content is None]
    said = [
        f"{len(rows):,} of the {len(found):,} largest indexes and tables shown. "
        f"About {text.size(wasted)} of {text.size(size)} could be given back."
    ]
    if unknown:
        said.append(f"Of {len(unknown):,} it is not known: {unknown[0].basis}.")
    mended = [row for row in rows if row.wasted and row.fix][:1]
    return [
        grid.header(layout),
        *(grid.row(layout, row) for row in rows),
        *(Text(line, style="dim") for line in said),
        *(Text(line) for row in mended for line in ("", f"The first: {row.fix}", row.risk)),
    ]
