"""The laboratory: what the experiments do with a server, in one place.

An experiment gets a Lab for each server (variant). The scratch database exists and is empty. The
variant's settings are in force. With the library, its extension is created in the scratch
database.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Protocol

from pgsweep.base.errors import ServerError
from pgsweep.tune.lab import vacuumlog
from pgsweep.tune.lab.session import LabSession
from pgsweep.tune.lab.vacuumlog import VacuumLine
from pgsweep_bench.result import Series
from pgsweep_bench.sampler import Probe, Sampler
from pgsweep_bench.scenario import VariantSpec
from pgsweep_bench.servers import pgbench as pgb
from pgsweep_bench.servers.host import DATABASE, Host
from pgsweep_bench.servers.server import ThrowawayServer

__all__ = [
    "Lab",
    "LabSession",
    "Measured",
    "Options",
    "Probe",
    "Sampler",
    "Series",
    "Turns",
    "VacuumLine",
]

POLL_S = 0.1
PATIENCE_S = 600.0


@dataclass(frozen=True)
class Options:
    """How long and how large. All variants of an experiment have the same."""

    # the time under load, for each variant and repeat
    seconds: float
    # Scale 1 is the scenario's size, which is made for two cores. Sizes of tables follow the
    # scale, rates do not.
    scale: float = 1.0

    def scaled(self, size: float, least: float = 1) -> int:
        """Return a size times the scale, at least `least`."""
        return max(round(least), round(size * self.scale))


@dataclass
class Measured:
    """What was found in one variant in one repeat. The experiment fills it in."""

    # The key is Metric.name. A figure that could not be had is left out.
    samples: dict[str, list[float]] = field(default_factory=dict)
    series: list[Series] = field(default_factory=list)
    # These are sentences that a reader of the report must know.
    notes: list[str] = field(default_factory=list)
    # anything JSON can hold
    raw: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, *values: float) -> None:
        """Add samples of a metric."""
        self.samples.setdefault(name, []).extend(float(value) for value in values)


# measure() of an interleaved scenario returns this. See pgsweep_bench.experiments.
Turns = Generator[None, None, Measured]


class Reporter(Protocol):
    """Shows how far it is. See pgsweep.tune.lab.progress."""

    def stage(self, text: str) -> None:
        """Say what is being done now in this piece."""

    def tick(self) -> None:
        """Called several times a second while something is waited for."""


class Lab:
    """One server under experiment."""

    dbname = DATABASE

    def __init__(
        self, host: Host, variant: VariantSpec, reporter: Reporter, library: bool | None = None
    ) -> None:
        self.host = host
        self.variant = variant
        # Whether pg_sweep is loaded. On an existing server the variant cannot choose that.
        self.library = variant.library if library is None else library
        self._reporter = reporter
        self._closing = ExitStack()
        self.began_at = time.time()

    @property
    def server(self) -> ThrowawayServer:
        """The throwaway server: its folder, restarts and files.

        On an existing server this raises.
        """
        return self.host.throwaway

    @property
    def major(self) -> int:
        """15, 16 and so on"""
        return self.session.version_num // 10000

    def close(self) -> None:
        """End the laboratory's own sessions."""
        self._closing.close()

    # -- sessions ----------------------------------------------------------

    def connect(self, dbname: str | None = None) -> LabSession:
        """Open a session, by default in the scratch database. The caller closes it."""
        return LabSession(self.host.parameters(dbname or self.dbname))

    @property
    def session(self) -> LabSession:
        """The laboratory's own session in the scratch database. It is opened when first used."""
        if not hasattr(self, "_session"):
            self._session = self.connect()
            self._closing.callback(self._session.close)
        return self._session

    def restart(self) -> None:
        """Restart the throwaway server. The own session is opened anew when it is used next."""
        if hasattr(self, "_session"):
            self._session.close()
            del self._session
        self.server.restart()

    def run(self, sql: str, *args: object) -> None:
        """Run a statement in the own session, or several if there are no arguments."""
        self.session.run(sql, *args)

    def value(self, sql: str, *args: object) -> Any:  # noqa: ANN401
        """Return the only value of a query in the own session."""
        return self.session.value(sql, *args)

    def rows(self, sql: str, *args: object) -> list[dict[str, Any]]:
        """Return all rows of a query in the own session."""
        return self.session.rows(sql, *args)

    # -- client programs ---------------------------------------------------

    def pgbench_init(self, scale: int, *extra: str) -> None:
        """Fill pgbench's tables, without its VACUUM (`-I dtGp`).

        `extra` are further arguments.
        """
        command = ["pgbench", "-i", "-q", "-I", "dtGp", "-s", str(scale), *extra]
        self.host.run([*command, *self.host.flags(self.dbname)])

    def pgbench(
        self,
        name: str,
        script: str | Sequence[str] = (),
        *,
        builtin: str | None = None,
        clients: int = 1,
        rate: float | None = None,
        seconds: float | None = None,
        transactions: int | None = None,
        protocol: str = "simple",
        weights: Sequence[int] = (),
        extra: Sequence[str] = (),
        dbname: str | None = None,
    ) -> pgb.Pgbench:
        """Start a pgbench. Its name is unique among those that run at the same time.

        `script` is the text of one or several scripts, and `weights` how often each of these is
        run. `rate` is how many transactions a second all clients do together (-R). Without seconds
        and transactions it runs until stop(). Its seed is fixed.
        """
        texts = [script] if isinstance(script, str) else list(script)
        paths = [self.host.write(f"{name}-{number}.sql", text) for number, text in enumerate(texts)]
        if weights:
            paths = [f"{path}@{weight}" for path, weight in zip(paths, weights, strict=True)]
        arguments = pgb.arguments(
            paths, builtin, clients, rate, seconds, transactions, protocol, extra
        )
        log = f"{name}.log"
        process = self.host.start(
            ["pgbench", *arguments, *self.host.flags(dbname or self.dbname)], log
        )
        running = pgb.Pgbench(process, lambda: self.host.read(log), self.wait_for)
        self._closing.callback(running.stop)
        return running

    # -- time --------------------------------------------------------------

    def stage(self, text: str) -> None:
        """Say what is being done: a few words."""
        self._reporter.stage(f"{self.variant.name}: {text}")

    def sleep(self, seconds: float) -> None:
        """Let the load run. Raise when the server ends meanwhile."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.host.check()
            self._reporter.tick()
            time.sleep(min(POLL_S, left))

    def wait_for(
        self, condition: Callable[[], bool], what: str, seconds: float = PATIENCE_S
    ) -> None:
        """Poll until the condition holds. Raise after so many seconds."""
        if not self.wait_while(lambda: not condition(), seconds):
            raise ServerError(f"waited {seconds:.0f} s in vain for {what}")

    def wait_while(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Poll while the condition holds, at most so many seconds.

        Return whether it ended.
        """
        deadline = time.monotonic() + seconds
        while condition():
            if time.monotonic() > deadline:
                return False
            self.host.check()
            self._reporter.tick()
            time.sleep(POLL_S)
        return True

    def settle(self, seconds: float = 60) -> bool:
        """Wait until no vacuum runs, at most so many seconds.

        Return whether none runs.
        """
        sql = "SELECT EXISTS (SELECT FROM pg_catalog.pg_stat_progress_vacuum)"
        return self.wait_while(lambda: bool(self.value(sql)), seconds)

    # -- figures -----------------------------------------------------------

    def sampling(self, *probes: Probe, every_s: float = 1.0) -> Sampler:
        """Return a sampler for a `with` block. It has its own session in the scratch database."""
        return Sampler(self.connect, probes, every_s)

    def vacuums(
        self, relname: str | None = None, *, since: float = 0.0, analyze: bool = False
    ) -> list[VacuumLine]:
        """Return the automatic vacuums in the scratch database by the server's log.

        Both autovacuum's and pg_sweep's are there, because both write core's line. `since`
        is in seconds since the epoch (time.time()). `analyze` asks for the ANALYZEs instead. This
        does not work on an existing server.
        """
        found = (vacuumlog.parse(text, at) for at, text in self.host.messages())
        return [
            line
            for line in found
            if line is not None
            and line.datname == self.dbname
            and line.started_by != "manual"
            and line.analyze == analyze
            and line.at >= since
            and relname in (None, line.relname)
        ]

    def vacuum(
        self, table: str, options: str = "", session: LabSession | None = None
    ) -> VacuumLine | None:
        """Run VACUUM (VERBOSE, options) of a table by hand.

        Return what it said of the table.
        """
        session = session or self.session
        session.notices.clear()
        session.run(f"VACUUM (VERBOSE{', ' if options else ''}{options}) {table}")
        found = [vacuumlog.parse(text) for text in session.notices]
        relname = table.rpartition(".")[2].strip('"')
        return next((line for line in found if line and line.relname == relname), None)

    def pages(self, relation: str, session: LabSession | None = None) -> int:
        """Return the pages of a table or index (main fork)."""
        sql = (
            "SELECT pg_relation_size(%s::regclass) / "
            "pg_catalog.current_setting('block_size')::bigint"
        )
        return int((session or self.session).value(sql, relation))

    def wal(self) -> dict[str, float]:
        """Return pg_stat_wal's records, full-page images and bytes so far, of all processes."""
        self.run("SELECT pg_catalog.pg_stat_force_next_flush()")
        row = self.rows("SELECT wal_records, wal_fpi, wal_bytes FROM pg_catalog.pg_stat_wal")[0]
        return {name: float(value) for name, value in row.items()}

    def wal_position(self) -> int:
        """Return the WAL written so far, in bytes."""
        return int(
            self.value("SELECT pg_catalog.pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')")
        )

    def sweep_runs(self, relname: str | None = None) -> list[dict[str, Any]]:
        """Return the rows of sweep.runs of the scratch database, the oldest first.

        Without the library there are none.
        """
        if not self.library:
            return []
        sql = "SELECT * FROM sweep.runs WHERE datname = %s"
        rows = self.rows(f"{sql} ORDER BY run_id", self.dbname)
        return [row for row in rows if relname in (None, row["relname"])]
