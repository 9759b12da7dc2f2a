"""Seed 004: how many dead rows a second do vacuums reclaim at which cost limit?

There are six tables. A fifth of the rows of each is updated, and an index on the column that
changes keeps every update from being HOT. Then, with a cold cache, all six are vacuumed at once.
As in the seed, time is taken from the vacuums' own lines in the server's log. Unlike there, the
tables grow with the limit, so that every limit is measured for equally long.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from pgsweep.tune.fit import fit
from pgsweep.tune.lab import deadrows, pagecache
from pgsweep.tune.lab.session import LabSession
from pgsweep_bench.lab import Lab, Measured, Options, VacuumLine
from pgsweep_bench.scenario import OFF

LIMITS = (200, 85, 50, 35)
PATIENCE_S = 300.0
BLOCK_MB = 8192 / 2**20


@dataclass(frozen=True)
class Reclaim:
    """What the vacuums of all tables came to at one limit. MB are MiB, as in the seed."""

    limit: int
    rows: int
    # the time from the first vacuum's begin to the last one's end
    seconds: float
    rows_per_s: float
    read_mb_per_s: float
    write_mb_per_s: float
    # the vacuuming processes' processor time, in percent of one processor
    cpu_percent: float
    # cost per second, as a share of what limit and delay allow when nothing else takes time
    budget_percent: float
    # how many of the tables were vacuumed at the same time, on average
    at_once: float
    by_sweep: int


def reclaim(limit: int, lines: Sequence[VacuumLine]) -> Reclaim:
    """Return what vacuums that ran at this limit came to together."""
    begin = min(line.at - line.elapsed_s for line in lines)
    seconds = max(max(line.at for line in lines) - begin, 0.001)
    rows = sum(line.tuples_removed for line in lines)
    cost_per_s = sum(line.cost() for line in lines) / seconds
    return Reclaim(
        limit=limit,
        rows=rows,
        seconds=round(seconds, 3),
        rows_per_s=rows / seconds,
        read_mb_per_s=sum(line.blks_read for line in lines) * BLOCK_MB / seconds,
        write_mb_per_s=sum(line.blks_dirtied for line in lines) * BLOCK_MB / seconds,
        cpu_percent=100 * sum(line.cpu_s for line in lines) / seconds,
        budget_percent=100 * cost_per_s * deadrows.DELAY_MS / 1000 / limit,
        at_once=sum(line.elapsed_s for line in lines) / seconds,
        by_sweep=sum(line.started_by == "sweep" for line in lines),
    )


def rows_per_table(limit: int, options: Options) -> int:
    """Return how many rows a table needs so that all are vacuumed in about options.seconds."""
    dead = deadrows.EXPECTED_ROWS_PER_UNIT * limit * options.seconds / deadrows.TABLES
    return options.scaled(5 * dead, least=5000)


def measure(lab: Lab, options: Options) -> Measured:
    """Measure all limits on one server."""
    measured = Measured()
    if lab.variant.name == OFF:
        measured.notes.append("With autovacuum off nothing is reclaimed: there is no rate.")
        return measured
    if not pagecache.can_forget():
        measured.notes.append("This system cannot be told to forget cached files: reads were warm.")
    found = [_measure_limit(lab, limit, options) for limit in LIMITS]
    for one in found:
        measured.add(f"rows_per_s_{one.limit}", one.rows_per_s)
        measured.add(f"read_mb_per_s_{one.limit}", one.read_mb_per_s)
        measured.add(f"write_mb_per_s_{one.limit}", one.write_mb_per_s)
        measured.add(f"cpu_percent_{one.limit}", one.cpu_percent)
        measured.add(f"budget_percent_{one.limit}", one.budget_percent)
    measured.add("over_limit_percent", max(0.0, *(one.budget_percent - 100 for one in found)))
    line = fit([(one.limit, one.rows_per_s) for one in found])
    measured.add("rows_per_s_per_unit", line.slope)
    measured.raw = {"limits": [asdict(one) for one in found], "fit": asdict(line)}
    _say_who(lab, found, measured)
    return measured


def _measure_limit(lab: Lab, limit: int, options: Options) -> Reclaim:
    lab.stage(f"limit {limit}: filling {deadrows.TABLES} tables")
    with lab.connect() as session:
        _set(session, limit, lab.library, running=False)
        deadrows.fill(session, rows_per_table(limit, options))
        session.run("CHECKPOINT")
    lab.server.restart()
    if pagecache.can_forget():
        pagecache.forget(lab.server.folder / "data" / "base")
    began = time.time()
    with lab.connect() as session:
        _set(session, limit, lab.library, running=True)
    lab.stage(f"limit {limit}: vacuuming")
    lab.wait_for(
        lambda: len(_vacuums(lab, began)) == deadrows.TABLES,
        f"{deadrows.TABLES} tables to be vacuumed",
        PATIENCE_S,
    )
    return reclaim(limit, list(_vacuums(lab, began).values()))


def _set(session: LabSession, limit: int, library: bool, running: bool) -> None:
    session.run(f"ALTER SYSTEM SET autovacuum_vacuum_cost_limit = {limit}")
    session.run(f"ALTER SYSTEM SET autovacuum = {'on' if running else 'off'}")
    if library:
        session.run(f"ALTER SYSTEM SET sweep.mode = {'act' if running else 'off'}")
    session.run("SELECT pg_catalog.pg_reload_conf()")


def _vacuums(lab: Lab, since: float) -> dict[str, VacuumLine]:
    """Return the vacuums that removed our dead rows, by table."""
    return {
        line.relname: line
        for line in lab.vacuums(since=since)
        if line.relname.startswith("table") and line.tuples_removed > 0
    }


def _say_who(lab: Lab, found: Sequence[Reclaim], measured: Measured) -> None:
    by_sweep = sum(one.by_sweep for one in found)
    total = deadrows.TABLES * len(found)
    if lab.library and by_sweep < total:
        measured.notes.append(
            f"{total - by_sweep} of {total} tables were vacuumed by autovacuum, which was "
            "first there. Its workers divide the cost limit among themselves. pg_sweep's take "
            "what those leave of it."
        )
