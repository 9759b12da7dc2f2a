"""Which rows of a snapshot the panels of `top` show, and in which order. All of it is pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from pgsweep.model import Database, Progress, Run, Waiting, compute
from pgsweep.output.top.state import Panel

if TYPE_CHECKING:
    from pgsweep.model import Snapshot
    from pgsweep.output.top.state import UiState

T = TypeVar("T", Progress, Run, Database, Waiting)


@dataclass(frozen=True)
class Order:
    """By what rows are sorted: the greatest first, or by name. Unknown values come last."""

    name: str
    value: Callable[[Any], float | str | None]


def _table(row: Progress | Run | Waiting) -> str:
    return compute.relation(row).casefold()


def _took(row: Run) -> float | None:
    if row.started_at is None or row.ended_at is None:
        return None
    return (row.ended_at - row.started_at).total_seconds()


def _waited(row: Waiting) -> float | None:
    return None if row.waiting_since is None else -row.waiting_since.timestamp()


# The first order of a panel is the one in which the server returns the rows. It has no name here.
ORDERS: dict[Panel, tuple[Order, ...]] = {
    Panel.PROGRESS: (
        Order("done", lambda row: row.phase_pct if row.done_pct is None else row.done_pct),
        Order("cost per second", lambda row: row.cost_per_s),
        Order("cost", lambda row: row.cost),
        Order("table", _table),
    ),
    Panel.RUNS: (
        Order("time taken", _took),
        Order("rows removed", lambda row: row.tuples_removed),
        Order("rows kept", lambda row: row.dead_not_removable),
        Order("cost", lambda row: row.cost),
        Order("table", _table),
    ),
    Panel.DATABASES: (
        Order("age", lambda row: row.xid_age),
        Order("dead rows", lambda row: row.dead_tuples),
        Order("name", lambda row: row.datname.casefold()),
    ),
    Panel.QUEUE: (
        Order("score", lambda row: row.score),
        Order("time waited", _waited),
        Order("size", lambda row: row.estimated_mb),
        Order("table", _table),
    ),
}


def name(panel: Panel, ui: UiState) -> str:
    """Return the name of a panel's order. It is empty for the server's own."""
    index = ui.order.get(panel, 0)
    return ORDERS[panel][index - 1].name if index else ""


def shown(snapshot: Snapshot | None, ui: UiState) -> Snapshot | None:
    """Return the snapshot with the rows that the panels show, in their order."""
    if snapshot is None or not (ui.filter or any(ui.order.values())):
        return snapshot
    queue = snapshot.queue
    return replace(
        snapshot,
        progress=_rows(Panel.PROGRESS, snapshot.progress, ui),
        runs=_rows(Panel.RUNS, snapshot.runs, ui),
        databases=_rows(Panel.DATABASES, snapshot.databases, ui),
        queue=None if queue is None else _rows(Panel.QUEUE, queue, ui),
    )


def _rows(panel: Panel, rows: Sequence[T], ui: UiState) -> tuple[T, ...]:
    wanted = ui.filter.casefold()
    kept = [row for row in rows if wanted in _named(row)]
    if panel is Panel.DATABASES and not kept:
        # It is a table that is looked for.
        kept = list(rows)
    index = ui.order.get(panel, 0)
    if index:
        value = ORDERS[panel][index - 1].value
        kept.sort(key=lambda row: rank(value(row)))
    return tuple(kept)


def _named(row: Progress | Run | Database | Waiting) -> str:
    return (row.datname if isinstance(row, Database) else compute.relation(row)).casefold()


def rank(value: float | str | None) -> tuple[bool, float, str]:
    """Return a key by which the greatest number, or the first name, comes first."""
    if isinstance(value, str):
        return False, 0.0, value
    return value is None, -(value or 0.0), ""
