"""What garbage costs and what vacuums brought, for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.base import text
from pgsweep.model import Worth, compute
from pgsweep.output.terminal import grid
from pgsweep.output.terminal.grid import Column

if TYPE_CHECKING:
    from pgsweep.model import Run

NONE = (
    "No table's index scans are followed yet. A table is followed after a look at all tables, "
    "once its indexes were scanned and its rows were changed."
)


def _even(row: Worth, now: datetime) -> str:
    if row.breaks_even_at is None:
        return text.UNKNOWN
    if row.breaks_even_at <= now:
        return "now"
    return text.duration(row.breaks_even_at - now)


def _lost(row: Worth) -> Text:
    lost, cost = row.lost_reads or 0, row.vacuum_blks
    beyond = cost is not None and lost > 0 and lost >= cost
    return Text(text.count(row.lost_reads), style="bold yellow" if beyond else "")


def table_columns(now: datetime, name: Callable[[Worth], str]) -> tuple[Column[Worth], ...]:
    """Return the columns of what garbage costs."""
    return (
        Column[Worth]("TABLE", name, 20, flex=True, most=40, keep_end=True),
        Column[Worth]("SCANS", lambda row: text.count(row.index_scans), 5, True, 2),
        Column[Worth]("CLEAN", lambda row: _per_scan(row.blks_per_scan_clean), 5, True),
        Column[Worth]("NOW", lambda row: _per_scan(row.blks_per_scan), 5, True),
        Column[Worth]("LOST", lambda row: text.count(row.lost_blks), 5, True, 4),
        Column[Worth]("READS LOST", _lost, 10, True),
        Column[Worth]("VACUUM", lambda row: text.count(row.vacuum_blks), 6, True),
        Column[Worth]("EVEN IN", lambda row: _even(row, now), 7, True, 3),
        Column[Worth]("NOT HOT", lambda row: text.percent(row.not_hot_pct), 7, True, 5),
        Column[Worth]("SAVED/h", lambda row: text.count(row.saved_blks_per_hour), 7, True, 6),
        Column[Worth]("ADVICE", lambda row: row.advice or "", 15, False, 1, True, 33),
        Column[Worth]("BASIS", lambda row: row.basis or "", 20, False, 7, True, 80),
    )


def _per_scan(value: float | None) -> str:
    """Return blocks per scan in at most five characters."""
    if value is None:
        return text.UNKNOWN
    return f"{value:.1f}" if value < 999.95 else text.count(value)


def lines(
    rows: Sequence[Worth], number: int, now: datetime, width: int, with_database: bool = False
) -> list[Text]:
    """Return tables, one line each, and how many are followed."""
    if not rows:
        return [Text(NONE)]

    def name(row: Worth) -> str:
        return compute.relation(row, with_database)

    layout = grid.fit(table_columns(now, name), width)
    total = f"{len(rows):,} of {compute.plural(number, 'table')} shown. Figures are blocks"
    return [
        grid.header(layout),
        *(grid.row(layout, row) for row in rows),
        Text(f"{total}. CLEAN and NOW: of an index scan", style="dim"),
    ]


def sentence(row: Worth) -> str:
    """Return what garbage has cost, and what a vacuum would, or why that is not known."""
    if row.lost_reads is None:
        return f"Not known: {row.basis}."
    said = f"Since the last vacuum index scans lost {row.lost_reads:,} blocks"
    if row.lost_blks is not None and row.lost_blks > row.lost_reads:
        said += f" (and {row.lost_blks - row.lost_reads:,} more that were in shared buffers)"
    if row.vacuum_blks is not None:
        said += f", a vacuum costs {row.vacuum_blks:,}"
    return f"{said}."


def facts(row: Worth, now: datetime) -> tuple[tuple[str, str], ...]:
    """Return the figures about a table that are known, each with its label."""
    found = (
        ("Index scans since the last vacuum", _whole(row.index_scans)),
        ("Blocks a scan, clean", _figure(row.blks_per_scan_clean)),
        ("Blocks a scan, now", _figure(row.blks_per_scan)),
        ("Of these read, clean", _figure(row.reads_per_scan_clean)),
        ("Of these read, now", _figure(row.reads_per_scan)),
        ("A vacuum is worth it in", None if row.breaks_even_at is None else _even(row, now)),
        ("Before and after the last vacuum", per_scan(row) or None),
        ("It saves per hour", _whole(row.saved_blks_per_hour, " blocks")),
        ("Changed rows other than HOT", _whole(row.not_hot_pct, " %")),
        ("Advice", row.advice),
        ("Basis", row.basis),
    )
    return tuple((label, value) for label, value in found if value is not None)


def _whole(value: float | None, unit: str = "") -> str | None:
    return None if value is None else f"{value:,.0f}{unit}"


def _figure(value: float | None) -> str | None:
    return None if value is None else f"{value:,.1f}"


def per_scan(row: Run | Worth) -> str:
    """Return blocks per scan before and after a vacuum, as far as both are known."""
    before, after = row.blks_per_scan_before, row.blks_per_scan_after
    if before is None and after is None:
        return ""
    return f"{_per_scan(before)} → {_per_scan(after)}"
