"""Seed 004 on a server that exists: how many rows a second vacuums reclaim at which limit.

The tables of `pgsweep bench limit` are filled once, in a scratch database. Each run gets a copy
of it by CREATE DATABASE … STRATEGY FILE_COPY. That makes the runs alike, needs no more than
CREATEDB, and leaves no page of the copy in shared buffers, clean or dirty. Limit and delay are
set for our own session's VACUUM only. No setting of the server is changed.

One vacuum has the whole limit. Autovacuum would divide it among its workers.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pgsweep.base.errors import QueryError, UsageError
from pgsweep.tune import facts, machine
from pgsweep.tune.lab import deadrows, pagecache, vacuumlog
from pgsweep.tune.model import Point
from pgsweep.tune.scratch import COPY

if TYPE_CHECKING:
    from pgsweep.tune.lab.progress import Reporter
    from pgsweep.tune.lab.session import LabSession
    from pgsweep.tune.plan import Plan
    from pgsweep.tune.scratch import Scratch

# A row takes this much in the heap and two indexes, with what the update adds. The copy takes as
# much again.
BYTES_PER_ROW = 200
STORAGE = "WITH (autovacuum_enabled = false)"


@dataclass
class Experiment:
    """Vacuums at chosen limits, each in a fresh copy of the same database."""

    scratch: Scratch
    server: facts.Facts
    reporter: Reporter
    # What could not be measured, and why.
    notes: list[str] = field(default_factory=list)

    @classmethod
    def on(cls, scratch: Scratch, reporter: Reporter) -> Experiment:
        """Return one on the server of the scratch databases, if it can be measured."""
        facts.require_possible(scratch.session)
        server = facts.read(scratch.session)
        unseen = [f"device: not measured, because {server.disk.why}"] if server.disk.why else []
        return cls(scratch, server, reporter, unseen)

    def _note_once(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    # -- filling and copying -------------------------------------------------

    def fill(self, plan: Plan) -> None:
        """Make the tables of which every run gets a copy."""
        self._require_space(plan)
        with self.scratch.make() as session:
            self.reporter.stage(f"{plan.rows_per_table:,} rows each")
            deadrows.fill(session, plan.rows_per_table, STORAGE, self.reporter.tick)

    def _require_space(self, plan: Plan) -> None:
        needed = 2 * deadrows.TABLES * plan.rows_per_table * BYTES_PER_ROW
        free: int | None = None
        if self.server.data is not None:
            with suppress(OSError):
                free = shutil.disk_usage(self.server.data).free
        if free is not None and needed > free / 2:
            raise UsageError(
                f"the scratch tables take about {needed / machine.MB:,.0f} MB, and "
                f"{free / machine.MB:,.0f} MB are free",
                "Use a smaller --scale.",
            )

    @contextmanager
    def _copy(self) -> Iterator[LabSession]:
        """Yield a session in a fresh copy, whose pages are as cold as can be."""
        with self.scratch.copied() as oid:
            self._chill(oid)
            with self.scratch.connect(COPY) as session:
                yield session

    def _chill(self, oid: str) -> None:
        """Have the system forget the copy's files, where it lets us."""
        try:
            if self.server.data is None:
                raise PermissionError(0, "its files are out of reach")
            if not pagecache.can_forget():
                raise PermissionError(0, "this system cannot be told to forget files")
            if pagecache.forget(self.server.data / "base" / oid) == 0:
                raise PermissionError(0, "its files are out of reach")
        except OSError as exc:
            self._note_once(
                "cache: cold in shared buffers, but the system's cache was warm, because "
                f"{(exc.strerror or 'it failed').lower()}: reads reached no disk"
            )

    # -- one run -------------------------------------------------------------

    def run(self, limit: int, plan: Plan) -> Point:
        """Vacuum all tables of a fresh copy at a limit, one after the other."""
        with self._copy() as session:
            with suppress(QueryError):
                # VACUUM's messages are parsed. Only superusers may choose their language.
                session.run("SET lc_messages = 'C'")
            session.run(f"SET vacuum_cost_delay = '{plan.delay_ms}ms'")
            session.run(f"SET vacuum_cost_limit = {limit}")
            local = machine.is_backend(session.pid, COPY)
            cpu = machine.Cpu(session.pid) if local else None
            disk = self.server.disk
            before, cpu_before = disk.counters(), cpu.seconds() if cpu else None
            began = time.monotonic()
            lines = [vacuum(session, name, self.reporter) for name in deadrows.names()]
            seconds = time.monotonic() - began
            cpu_after = cpu.seconds() if cpu else None
            if before is not None:
                self._write_out()
            after = disk.counters()
        self._say_cpu(cpu)
        measured = _of_lines(lines, limit, plan, seconds, self.server)
        if cpu_before is not None and cpu_after is not None:
            measured["cpu_percent"] = 100 * (cpu_after - cpu_before) / seconds
        if before is not None and after is not None:
            written = (after.written_bytes - before.written_bytes) / machine.MB
            measured["device_write_mb_per_s"] = written / seconds
            measured["device_percent"] = (after.busy_ms - before.busy_ms) / 10 / seconds
        return Point(limit=limit, **measured)

    def _write_out(self) -> None:
        """Have what the vacuums left in memory written.

        That is their load on the device, too.
        """
        if self.server.may_checkpoint:
            self.scratch.session.run("CHECKPOINT")
        else:
            self._note_once(
                "device: without what the vacuums left to the next checkpoint, "
                "because this role may not CHECKPOINT (pg_checkpoint)"
            )

    def _say_cpu(self, cpu: machine.Cpu | None) -> None:
        if cpu is not None and cpu.source is not None:
            self._note_once(f"CPU: of the vacuuming process, from /proc/PID/{cpu.source}")
        else:
            self._note_once(
                "CPU: as VACUUM (VERBOSE) tells it, in hundredths of a second, "
                "because /proc of the server is not to be seen from here"
            )


def vacuum(session: LabSession, name: str, reporter: Reporter) -> vacuumlog.VacuumLine:
    """Vacuum one table and return what VACUUM says about it."""
    session.notices.clear()
    # Autovacuum's vacuums are never parallel.
    session.run(f"VACUUM (VERBOSE, PARALLEL 0) {name}")
    reporter.tick()
    found = [vacuumlog.parse(notice) for notice in session.notices]
    lines = [line for line in found if line is not None and line.relname == name]
    if not lines:
        raise QueryError(
            f'VACUUM of "{name}" did not say what it did',
            "Its messages must be English: have a superuser run ALTER ROLE … SET "
            "lc_messages = 'C' for this role.",
        )
    if lines[0].tuples_removed == 0:
        raise QueryError(
            "the experiment's vacuums could not remove any row: something holds the horizon",
            "See pgsweep blockers. Try again when it is gone.",
        )
    return lines[0]


def _of_lines(
    lines: list[vacuumlog.VacuumLine],
    limit: int,
    plan: Plan,
    seconds: float,
    server: facts.Facts,
) -> dict[str, Any]:
    """Return what the vacuums' own words add up to."""
    costs, block_mb = server.costs, server.block_mb
    rows = sum(line.tuples_removed for line in lines)
    spent = sum(line.cost(costs.hit, costs.miss, costs.dirty) for line in lines)
    return {
        "rows": rows,
        "seconds": round(seconds, 3),
        "rows_per_s": rows / seconds,
        "cpu_percent": 100 * sum(line.cpu_s for line in lines) / seconds,
        "read_mb_per_s": sum(line.blks_read for line in lines) * block_mb / seconds,
        "write_mb_per_s": sum(line.blks_dirtied for line in lines) * block_mb / seconds,
        "wal_mb_per_s": sum(line.wal_bytes for line in lines) / machine.MB / seconds,
        "budget_percent": 100 * spent * plan.delay_ms / 1000 / seconds / limit,
    }
