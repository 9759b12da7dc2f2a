"""Seed 004 on a server that exists: how many rows a second vacuums reclaim at which limit.

The tables of `pgsweep bench limit` are filled once, in a scratch database; each run gets a
copy of it by CREATE DATABASE … STRATEGY FILE_COPY. That makes the runs alike, needs no more
than CREATEDB, and leaves no page of the copy in shared buffers, clean or dirty. Limit and
delay are those of our own session's VACUUM: no setting of the server is changed.

One vacuum has the whole limit. The core daemon would divide it among its workers.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from pgsweep.bench import pagecache, vacuumlog
from pgsweep.bench.experiments import limit as bench_limit
from pgsweep.bench.progress import Reporter
from pgsweep.bench.session import Session
from pgsweep.errors import PermissionDeniedError, QueryError, UsageError
from pgsweep.interrupts import Interrupts
from pgsweep.tune import machine
from pgsweep.tune.model import Point

# application_name
NAME = "pgsweep tune"
FILLED, COPY = "pgsweep_tune", "pgsweep_tune_run"
# At scale 200 the tables are as large as the seed's.
ROWS_PER_TABLE = 50_000
LEAST_ROWS_PER_TABLE = 1000
# Heap and two indexes, before and after the update; and as much again for the copy.
BYTES_PER_ROW = 200
# For the progress bar only.
FILL_ROWS_PER_S, COPY_S = 100_000, 1.0
# Autovacuum workers look into new databases: they leave when asked to, or soon.
PATIENCE_S = 20.0
# Longer runs than this need no repeats.
LONG_RUN_S = 60.0
# VACUUM (VERBOSE) counts, and CREATE DATABASE … STRATEGY.
LEAST_VERSION = 150000
STORAGE = "WITH (autovacuum_enabled = false)"


@dataclass(frozen=True)
class Plan:
    """How an experiment is done."""

    limits: tuple[int, ...]
    delay_ms: float
    scale: float = 1.0
    repeats: int = 3

    @property
    def pieces(self) -> int:
        """How many steps it has: filling, each run, and those that verify."""
        return 1 + len(self.limits) * self.repeats + self.repeats

    @property
    def rows_per_table(self) -> int:
        """How many rows a table has; a fifth of them is dead."""
        return max(LEAST_ROWS_PER_TABLE, round(ROWS_PER_TABLE * self.scale))

    @property
    def fill_seconds(self) -> float:
        """About how long filling takes."""
        return 1 + bench_limit.TABLES * self.rows_per_table / FILL_ROWS_PER_S

    def to_verify(self, limit: int) -> int:
        """Return how often the recommended limit is run: once when that takes long."""
        return self.repeats if self.seconds(limit) <= LONG_RUN_S else 1

    def seconds(self, limit: int) -> float:
        """About how long a run takes at a limit."""
        dead = bench_limit.TABLES * self.rows_per_table / 5
        rate = bench_limit.EXPECTED_ROWS_PER_UNIT * limit * bench_limit.DELAY_MS / self.delay_ms
        return COPY_S + dead / rate

    def order(self) -> list[int]:
        """Return the limits in the order they are measured.

        Interleaved, each round in the opposite direction: what gets slower or faster with
        time touches all limits alike.
        """
        return [
            limit
            for number in range(self.repeats)
            for limit in (self.limits if number % 2 == 0 else reversed(self.limits))
        ]


@dataclass
class Costs:
    """The cost model of the server."""

    hit: float = 1
    miss: float = 2
    dirty: float = 20


@dataclass
class Scratch:
    """The scratch databases: made, measured in, and dropped, whatever happens."""

    parameters: Callable[[str | None], dict[str, Any]]
    interrupts: Interrupts
    reporter: Reporter
    notes: list[str] = field(default_factory=list)
    # why a database could not be dropped: no reason to lose what was measured
    left: list[QueryError] = field(default_factory=list)
    _controller: Session | None = None
    _made: bool = False
    _block_mb: float = 8192 / machine.MB
    _costs: Costs = field(default_factory=Costs)
    _data: Path | None = None
    _disk: machine.Disk | None = None
    _may_checkpoint: bool = False

    # -- life --------------------------------------------------------------

    def __enter__(self) -> Scratch:
        self._controller = self._connect()
        self._require_rights()
        for name in (FILLED, COPY):
            if self._exists(name):
                raise UsageError(
                    f'database "{name}" exists on that server',
                    f"If nobody needs it and no pgsweep tune is running, DROP DATABASE {name}.",
                )
        self._read_facts()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Drop the databases; a second call does nothing."""
        self.interrupts.ignore()
        if self._made:
            self._made = False
            for name in (COPY, FILLED):
                self._drop_or_tell(name)
        if self._controller is not None:
            self._controller.close()

    def _drop_or_tell(self, name: str) -> None:
        try:
            if name == COPY:
                self._again()
            self._drop(name)
        except QueryError as exc:
            self.left.append(
                QueryError(
                    f'database "{name}" could not be dropped: {exc.message}',
                    f"Run DROP DATABASE IF EXISTS {name} when nobody is connected to it.",
                )
            )

    def _connect(self, dbname: str | None = None) -> Session:
        """Return a session that nobody's defaults end in the middle of the experiment."""
        session = Session(self.parameters(dbname))
        if session.version_num < LEAST_VERSION:
            session.close()
            raise UsageError(
                "the experiment needs PostgreSQL 15 or newer",
                "Older servers do not tell a client what its VACUUM did.",
            )
        for name in ("statement_timeout", "lock_timeout", "idle_session_timeout"):
            session.run(f"SET {name} = 0")
        # Only in our own database nobody else can have put anything.
        session.run(f"SET search_path = {'public' if dbname else 'pg_catalog'}")
        return session

    @property
    def _session(self) -> Session:
        assert self._controller is not None
        return self._controller

    def _again(self) -> None:
        """Connect anew, and end the old session: it may be in the middle of CREATE DATABASE.

        Left alone it would go on, and be done after we have looked for what to drop.
        """
        pid = self._session.pid
        self._session.close()
        self._controller = self._connect()
        deadline = time.monotonic() + PATIENCE_S
        end = (
            "SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity "
            "WHERE pid = %s AND application_name = %s"
        )
        while self._session.rows(end, pid, NAME) and time.monotonic() < deadline:
            time.sleep(0.05)

    def _exists(self, name: str) -> bool:
        query = "SELECT 1 FROM pg_catalog.pg_database WHERE datname = %s"
        return bool(self._session.value(query, name))

    def _drop(self, name: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while self._exists(name):
            # FORCE ends our own interrupted vacuum. It may not end the core daemon's worker,
            # which DROP without it asks to leave.
            if self._tried(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)") is None:
                return
            failure = self._tried(f"DROP DATABASE IF EXISTS {name}")
            if failure is not None and time.monotonic() > deadline:
                raise failure
            time.sleep(0.2)

    def _tried(self, statement: str) -> QueryError | None:
        try:
            self._session.run(statement)
        except QueryError as exc:
            return exc
        return None

    # -- what the server is --------------------------------------------------

    def _require_rights(self) -> None:
        row = self._session.rows(
            "SELECT pg_catalog.pg_is_in_recovery() AS standby, rolsuper OR rolcreatedb AS may, "
            "rolname, pg_catalog.current_setting('sweep.steer_manual', true) AS steered "
            "FROM pg_catalog.pg_roles WHERE rolname = current_user"
        )[0]
        if row["standby"]:
            raise UsageError(
                "a standby cannot be measured: nothing is vacuumed there",
                "Connect to the primary, or to a server like it.",
            )
        if not row["may"]:
            raise PermissionDeniedError(
                f'role "{row["rolname"]}" may not create a scratch database',
                f'Run ALTER ROLE "{row["rolname"]}" CREATEDB as superuser, or use --from-history.',
            )
        if row["steered"] == "on":
            raise UsageError(
                "sweep.steer_manual is on: pg_sweep would slow the experiment's own vacuums",
                "Set it to off for the time of the experiment.",
            )

    def _read_facts(self) -> None:
        one = self._session.value
        self._block_mb = int(one("SELECT current_setting('block_size')")) / machine.MB
        self._costs = Costs(
            *(
                float(one("SELECT current_setting(%s)", f"vacuum_cost_page_{name}"))
                for name in ("hit", "miss", "dirty")
            )
        )
        self._may_checkpoint = bool(
            one(
                "SELECT rolsuper OR EXISTS (SELECT FROM pg_catalog.pg_roles AS r "
                "WHERE r.rolname = 'pg_checkpoint' "
                "AND pg_catalog.pg_has_role(current_user, r.oid, 'USAGE')) "
                "FROM pg_catalog.pg_roles WHERE rolname = current_user"
            )
        )
        local = machine.is_backend(self._session.pid, str(one("SELECT current_database()")))
        why = "" if local else "the server is not on this machine"
        if local:
            try:
                self._data = Path(str(one("SELECT current_setting('data_directory')")))
            except QueryError:
                why = "the server does not tell this role its data_directory (pg_read_all_settings)"
        self._disk = machine.Disk(self._data, why=why)
        if self._disk.why:
            self.notes.append(f"device: not measured, because {self._disk.why}")

    def _require_space(self, plan: Plan) -> None:
        needed = 2 * bench_limit.TABLES * plan.rows_per_table * BYTES_PER_ROW
        free: int | None = None
        if self._data is not None:
            with suppress(OSError):
                free = shutil.disk_usage(self._data).free
        if free is not None and needed > free / 2:
            raise UsageError(
                f"the scratch tables take about {needed / machine.MB:,.0f} MB, and "
                f"{free / machine.MB:,.0f} MB are free",
                "Use a smaller --scale.",
            )

    # -- filling and copying -------------------------------------------------

    def fill(self, plan: Plan) -> None:
        """Make the tables of which every run gets a copy."""
        self._require_space(plan)
        # Also when this is interrupted: whether it was created is then not known.
        self._made = True
        self._session.run(f"CREATE DATABASE {FILLED} TEMPLATE template0")
        self._session.run(f"REVOKE CONNECT ON DATABASE {FILLED} FROM PUBLIC")
        with self._connect(FILLED) as session:
            self.reporter.stage(f"{plan.rows_per_table:,} rows each")
            bench_limit.fill(session, plan.rows_per_table, STORAGE, self.reporter.tick)

    @contextmanager
    def _copy(self) -> Iterator[Session]:
        """Yield a session in a fresh copy, whose pages are as cold as can be."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._session.run(f"CREATE DATABASE {COPY} TEMPLATE {FILLED} STRATEGY FILE_COPY")
                break
            except QueryError as exc:
                # A worker of somebody's is looking into it.
                if "accessed by other users" not in exc.message or time.monotonic() > deadline:
                    raise
            time.sleep(0.2)
        self._session.run(f"REVOKE CONNECT ON DATABASE {COPY} FROM PUBLIC")
        self._chill()
        with self._connect(COPY) as session:
            yield session
        # After a failure or an interrupt close() does it.
        self._drop(COPY)

    def _chill(self) -> None:
        """Have the system forget the copy's files, where it lets us."""
        query = "SELECT oid::text FROM pg_catalog.pg_database WHERE datname = %s"
        try:
            if self._data is None:
                raise PermissionError(0, "its files are out of reach")
            folder = self._data / "base" / str(self._session.value(query, COPY))
            if not pagecache.can_forget():
                raise PermissionError(0, "this system cannot be told to forget files")
            if pagecache.forget(folder) == 0:
                raise PermissionError(0, "its files are out of reach")
        except OSError as exc:
            self._note_once(
                "cache: cold in shared buffers, but the system's cache was warm, because "
                f"{(exc.strerror or 'it failed').lower()}: reads reached no disk"
            )

    def _note_once(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    # -- one run ---------------------------------------------------------------

    def run(self, limit: int, plan: Plan) -> Point:
        """Vacuum all tables of a fresh copy at a limit, one after the other."""
        with self._copy() as session:
            with suppress(QueryError):
                # What VACUUM says is read; only superusers may choose in which language.
                session.run("SET lc_messages = 'C'")
            session.run(f"SET vacuum_cost_delay = '{plan.delay_ms}ms'")
            session.run(f"SET vacuum_cost_limit = {limit}")
            local = machine.is_backend(session.pid, COPY)
            cpu = machine.Cpu(session.pid) if local else None
            disk = self._disk or machine.Disk(None)
            before, cpu_before = disk.counters(), cpu.seconds() if cpu else None
            began = time.monotonic()
            lines = [self.vacuum(session, name) for name in bench_limit.names()]
            seconds = time.monotonic() - began
            cpu_after = cpu.seconds() if cpu else None
            if before is not None:
                self._write_out()
            after = disk.counters()
        self._say_cpu(cpu)
        measured = _of_lines(lines, limit, plan, seconds, self._costs, self._block_mb)
        if cpu_before is not None and cpu_after is not None:
            measured["cpu_percent"] = 100 * (cpu_after - cpu_before) / seconds
        if before is not None and after is not None:
            written = (after.written_bytes - before.written_bytes) / machine.MB
            measured["device_write_mb_per_s"] = written / seconds
            measured["device_percent"] = (after.busy_ms - before.busy_ms) / 10 / seconds
        return Point(limit=limit, **measured)

    def vacuum(self, session: Session, name: str) -> vacuumlog.VacuumLine:
        """Vacuum one table and return what it says about that."""
        session.notices.clear()
        # PARALLEL 0: the core daemon's vacuums never are.
        session.run(f"VACUUM (VERBOSE, PARALLEL 0) {name}")
        self.reporter.tick()
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
                "See pgsweep blockers; try again when it is gone.",
            )
        return lines[0]

    def _write_out(self) -> None:
        """Have what the vacuums left in memory written: it is their load on the device, too."""
        if self._may_checkpoint:
            self._session.run("CHECKPOINT")
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
                "CPU: as VACUUM (VERBOSE) tells it, in hundredths of a second; "
                "/proc of the server is not to be seen from here"
            )


def _of_lines(
    lines: list[vacuumlog.VacuumLine],
    limit: int,
    plan: Plan,
    seconds: float,
    costs: Costs,
    block_mb: float,
) -> dict[str, Any]:
    """Return what the vacuums' own words add up to."""
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
