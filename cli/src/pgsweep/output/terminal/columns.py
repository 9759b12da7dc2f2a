"""The columns of the tables of vacuums, runs and databases, for commands and `top` alike."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.base import text
from pgsweep.model import Database, Run, compute
from pgsweep.model.compute import Line
from pgsweep.output.terminal import worths
from pgsweep.output.terminal.grid import Column

if TYPE_CHECKING:
    from pgsweep.model import Progress, Server

BAR_WIDTH = 10
# Over a shorter time than this a rate is the noise of one or two pages.
RATE_NEEDS = timedelta(milliseconds=50)


def progress_columns(now: datetime, with_bar: bool = True) -> tuple[Column[Line], ...]:
    """Return the columns of running vacuums. `now` is the server's clock."""
    columns = [
        Column[Line]("PID", lambda line: str(line.row.pid), 7, right=True),
        Column[Line]("WHO", _who, 8),
        Column[Line]("WHAT", lambda line: text.what(line.row.command), 4, priority=10),
        Column[Line]("TABLE", _table, 20, flex=True, most=40, keep_end=True),
        Column[Line]("PHASE", _phase, 13, priority=2),
    ]
    if with_bar:
        columns.append(Column[Line]("PROGRESS", _bar, BAR_WIDTH, priority=1))
    columns += [
        Column[Line]("DONE", _done, 4, right=True),
        Column[Line]("ETA", _eta, 7, right=True),
        Column[Line]("READ", lambda line: text.rate(line.row.read_mb_per_s), 5, True, 5),
        Column[Line]("DIRTY", lambda line: text.rate(line.row.dirty_mb_per_s), 5, True, 6),
        Column[Line]("WAL", lambda line: text.rate(line.row.wal_mb_per_s), 5, True, 7),
        Column[Line]("COST", lambda line: text.count(line.row.cost), 5, True, 9),
        Column[Line]("COST/s", lambda line: text.count(line.row.cost_per_s), 6, True, 8),
        Column[Line]("ELAPSED", lambda line: _elapsed(line, now), 7, True, 3),
        Column[Line]("LIMITED BY", _limited_by, 14, priority=4),
    ]
    return tuple(columns)


def _who(line: Line) -> Text:
    started_by = line.row.started_by
    if line.is_worker:
        return Text("└ worker", style="dim")
    return Text(text.who(started_by), style=text.WHO_STYLE.get(started_by or "", ""))


def _table(line: Line) -> Text:
    return Text(compute.relation(line.row), style="dim" if line.is_worker else "bold")


def _phase(line: Line) -> Text:
    style = "bold red" if line.row.mode == "failsafe" else ""
    return Text(text.phase(line.row.phase, line.row.index_pass), style=style)


def _bar(line: Line) -> Text:
    if line.is_worker:
        return Text("")
    whole, phase = line.row.done_pct, line.row.phase_pct
    done, left = text.bar(phase if whole is None else whole, BAR_WIDTH)
    return Text.assemble((done, "green dim" if whole is None else "bold green"), (left, "dim"))


def _done(line: Line) -> Text:
    """Return how much of the whole is done.

    Where that is not known, it is how much of the phase is done, dimmed.
    """
    if line.row.done_pct is not None:
        return Text(text.percent(line.row.done_pct))
    return Text(text.percent(line.row.phase_pct), style="dim")


def _eta(line: Line) -> str:
    return "" if line.is_worker else text.duration(line.row.eta)


def _elapsed(line: Line, now: datetime) -> str:
    return text.duration(compute.elapsed(line.row, now))


def _limited_by(line: Line) -> Text:
    row = line.row
    if row.waiters:
        return Text(f"blocks {row.waiters}!", style="bold red")
    style = "yellow" if row.limited_by in ("lock", "I/O") else ""
    return Text(row.limited_by or text.UNKNOWN, style=style)


def run_columns() -> tuple[Column[Run], ...]:
    """Return the columns of finished vacuums."""
    return (
        Column[Run]("ENDED", lambda run: text.clock(run.ended_at), 8),
        Column[Run]("WHO", _run_who, 8),
        Column[Run]("WHAT", lambda run: text.what(run.command), 4, priority=2),
        Column[Run]("TABLE", compute.relation, 20, flex=True, most=40, keep_end=True),
        Column[Run]("OUTCOME", _outcome, 9),
        Column[Run]("TOOK", _took, 7, right=True),
        Column[Run]("REMOVED", lambda run: text.count(run.tuples_removed), 7, True, 1),
        Column[Run]("KEPT", _kept, 5, True, 3),
        Column[Run]("READ", lambda run: _run_rate(run, run.read_mb_per_s), 5, True, 4),
        Column[Run]("DIRTY", lambda run: _run_rate(run, run.dirty_mb_per_s), 5, True, 5),
        Column[Run]("WAL", lambda run: text.size(run.wal_bytes), 7, True, 6),
        Column[Run]("COST", lambda run: text.count(run.cost), 5, True, 2),
        Column[Run]("SLEPT", lambda run: text.percent(run.sleep_pct), 5, True, 8),
        Column[Run]("MEMORY", lambda run: text.size(run.memory_bytes), 7, True, 9),
        Column[Run]("BLOCKS/SCAN", worths.per_scan, 13, True, 10),
        Column[Run]("REASON", lambda run: run.reason or "", 16, priority=7, flex=True, most=60),
    )


def core_run_columns(now: datetime) -> tuple[Column[Run], ...]:
    """Return the columns of the last runs of tables, of which core's views tell little."""
    return (
        Column[Run]("ENDED", lambda run: text.ago(run.ended_at, now), 10, right=True),
        Column[Run]("WHO", _run_who, 8),
        Column[Run]("WHAT", lambda run: text.what(run.command), 4),
        Column[Run]("TABLE", compute.relation, 20, flex=True, most=60, keep_end=True),
        Column[Run]("TIMES", lambda run: run.reason or "", 16, priority=1),
    )


def _run_who(run: Run) -> Text:
    return Text(text.who(run.started_by), style=text.WHO_STYLE.get(run.started_by or "", ""))


def _outcome(run: Run) -> Text:
    return Text(run.outcome or text.UNKNOWN, style=text.OUTCOME_STYLE.get(run.outcome or "", ""))


def _took(run: Run) -> str:
    if run.started_at is None or run.ended_at is None:
        return text.UNKNOWN
    return text.took(run.ended_at - run.started_at)


def _run_rate(run: Run, mb_per_s: float | None) -> str:
    if run.started_at is None or run.ended_at is None:
        return text.UNKNOWN
    too_short = run.ended_at - run.started_at < RATE_NEEDS
    return text.UNKNOWN if too_short else text.rate(mb_per_s)


def _kept(run: Run) -> Text:
    style = "yellow" if run.dead_not_removable else ""
    return Text(text.count(run.dead_not_removable), style=style)


# What core's views do not know of a database.
OF_THE_EXTENSION = ("OURS", "LAST VISIT", "WHY")


def core_database_columns(server: Server) -> tuple[Column[Database], ...]:
    """Return the columns of databases, without those that only pg_sweep can fill."""
    return tuple(
        column for column in database_columns(server) if column.title not in OF_THE_EXTENSION
    )


def database_columns(server: Server) -> tuple[Column[Database], ...]:
    """Return the columns of databases."""
    return (
        Column[Database]("DATABASE", lambda db: db.datname, 12, flex=True, most=24),
        Column[Database]("OURS", _ours, 4),
        Column[Database]("RELATIONS", lambda db: text.count(db.relations), 9, True, 3),
        Column[Database]("DUE", _due, 5, right=True),
        Column[Database]("DEAD", lambda db: text.count(db.dead_tuples), 6, right=True),
        Column[Database]("XID AGE", lambda db: text.count(db.xid_age), 7, True, 2),
        Column[Database]("XID %", lambda db: _forced(db, server), 6, True, 1),
        Column[Database]("WORKERS", lambda db: text.count(db.workers), 7, True, 5),
        Column[Database]("LAST VISIT", lambda db: _visit(db, server), 11, right=True),
        Column[Database]("WHY", lambda db: db.reason or "", 14, priority=4, flex=True, most=60),
    )


def _ours(db: Database) -> Text:
    if db.ours is None:
        return Text(text.UNKNOWN, style="dim")
    return Text("yes", style="green") if db.ours else Text("no", style="dim")


def _due(db: Database) -> Text:
    return Text(text.count(db.due), style="bold yellow" if db.due else "")


def _forced(db: Database, server: Server) -> Text:
    if db.xid_age is None:
        return Text(text.UNKNOWN)
    pct = compute.xid_pct(db.xid_age, server.freeze_max_age)
    style = "bold red" if pct >= compute.XID_WARN_PCT else "yellow" if pct >= 100 else ""
    return Text(f"{pct:.0f}%", style=style)


def _visit(db: Database, server: Server) -> str:
    return text.ago(db.last_visit, server.now)


def progress_details(row: Progress, now: datetime) -> tuple[str, str]:
    """Return two lines with everything for which the table of running vacuums had no room."""
    first = [text.printable(compute.relation(row))]
    if row.phase_pct is not None:
        first.append(f"{text.phase(row.phase, row.index_pass)} {text.percent(row.phase_pct)}")
    if row.waiters:
        first.append(f"{compute.plural(row.waiters, 'session')} waiting for it")
    if row.eta is not None and row.eta_basis:
        first.append(f"ETA by {row.eta_basis}")
    if row.limited_by:
        first.append(f"limited by {row.limited_by}")
    if row.waits_for:
        first.append(f"waits for {row.waits_for}")
    if row.mode and row.mode != "normal":
        first.append(row.mode)
    if row.parallel_workers:
        first.append(compute.plural(row.parallel_workers, "parallel worker"))
    first.append(f"running for {text.duration(compute.elapsed(row, now))}")
    if row.cost is None and row.blks_hit is None:
        # Core's views tell nothing of it.
        return " · ".join(filter(None, first)), ""
    second = [cost_line(row)]
    if row.sleep_pct is not None:
        second.append(f"asleep {text.percent(row.sleep_pct)}")
    second.append(
        f"hit {text.count(row.blks_hit)} read {text.count(row.blks_read)} "
        f"dirtied {text.count(row.blks_dirtied)}"
    )
    return " · ".join(filter(None, first)), " · ".join(second)


def cost_line(row: Progress) -> str:
    """Return what a running vacuum costs, so far and now."""
    return (
        f"cost {text.count(row.cost)} at {text.count(row.cost_per_s)}/s · "
        f"read {text.rate(row.read_mb_per_s)} dirty {text.rate(row.dirty_mb_per_s)} "
        f"WAL {text.rate(row.wal_mb_per_s)} MB/s"
    )


def run_details(run: Run) -> str:
    """Return the line about the selected finished vacuum."""
    parts = [
        text.printable(compute.relation(run)),
        f"hit {text.count(run.blks_hit)} read {text.count(run.blks_read)} "
        f"dirtied {text.count(run.blks_dirtied)}",
        f"WAL {text.size(run.wal_bytes)}",
        text.printable(run.reason or ""),
    ]
    return " · ".join(filter(None, parts))
