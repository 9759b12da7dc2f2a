"""What the measurements share: a server, its processes' figures, and the verdict.

Each measurement is an executable of its own beside this file. All of them take
--pg-config, --json and --keep. A run of none of them touches an existing server. The
servers run as an ordinary user, in a private folder that is removed at the end, after
Ctrl-C and after kill -9 as well (see pgsweep_bench.servers.server, which is used here).

A measurement needs the Python environment of the command. tools/venv makes it when it is not
there.
"""

# ruff: noqa: ANN401 (what a query returns is anything)

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent


def _use_environment() -> None:
    """Start again inside the command's Python environment, unless this is it."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        if os.environ.get("PG_SWEEP_BENCH_VENV"):
            raise
    else:
        sys.path.insert(0, str(TOP / "cli" / "src"))
        return
    made = subprocess.run(
        [str(TOP / "tools" / "venv")], stdout=subprocess.PIPE, text=True, check=False
    )
    if made.returncode != 0:
        sys.exit(2)
    python = Path(made.stdout.strip(), "bin", "python")
    os.environ["PG_SWEEP_BENCH_VENV"] = str(python)
    os.execv(python, [str(python), *sys.argv])


_use_environment()

import psycopg  # noqa: E402

from pgsweep.base.errors import PgsweepError  # noqa: E402
from pgsweep.base.interrupts import Interrupted, Interrupts  # noqa: E402
from pgsweep_bench.servers.server import (  # noqa: E402
    SUPERUSER,
    ThrowawayServer,
    default_pg_config,
    extension_is_installed,
    pg_config_value,
)
from pgsweep_bench.servers.standby import Standby  # noqa: E402, F401

Connection = psycopg.Connection[Any]

# There is no autovacuum, checkpoint or background work but what a measurement asks for.
QUIET = {
    "max_connections": "100",
    "max_worker_processes": "16",
    "shared_buffers": "256MB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "1h",
    "jit": "off",
    "restart_after_crash": "off",
}
SWEEP = {"shared_preload_libraries": "pg_sweep"}

START_TIMEOUT_S = 60


class MeasurementError(Exception):
    """Something other than a figure is wrong, so that no figure can be given."""


# ---- the program


def arguments(text: str) -> argparse.ArgumentParser:
    """Return a parser with what every measurement takes. `text` is its docstring."""
    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pg-config", default=default_pg_config(), metavar="FILE")
    parser.add_argument("--json", metavar="FILE", help="write all raw numbers there")
    parser.add_argument("--keep", action="store_true", help="leave the servers' folders")
    return parser


def run(
    parser: argparse.ArgumentParser, measure: Callable[[argparse.Namespace, Report], None]
) -> None:
    """Measure, print the verdict, and exit: 0 passed, 1 failed, 2 not measured."""
    options = parser.parse_args()
    if not extension_is_installed(options.pg_config):
        sys.exit(
            f"{parser.prog}: pg_sweep is not installed in the PostgreSQL of "
            f"{options.pg_config}: run make install PG_CONFIG={options.pg_config}"
        )
    report = Report(parser.prog, options)
    try:
        measure(options, report)
    except Interrupted as exc:
        sys.stderr.write(f"{parser.prog}: interrupted\n")
        sys.exit(exc.exit_code)
    except (MeasurementError, PgsweepError, psycopg.Error) as exc:
        sys.stderr.write(f"{parser.prog}: error: {exc}\n")
        hint = getattr(exc, "hint", None)
        if hint:
            sys.stderr.write(f"{parser.prog}: hint: {hint}\n")
        sys.exit(2)
    sys.exit(report.end())


def note(text: str) -> None:
    """Say what is being done. This is not part of the result."""
    sys.stderr.write(f"[{time.strftime('%H:%M:%S')}] {text}\n")
    sys.stderr.flush()


def say(text: str = "") -> None:
    """Print a line of the result."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def library_digest(pg_config: str) -> str:
    """Return which build of the library is installed."""
    library = Path(pg_config_value(pg_config, "--pkglibdir"), "pg_sweep.so")
    return hashlib.sha256(library.read_bytes()).hexdigest()[:12]


@dataclass(frozen=True)
class Figure:
    """One thing that was asked for."""

    name: str
    measured: str
    asked: str
    passed: bool | None  # None: for information only


class Report:
    """Collects figures, tables and raw numbers, and prints them at the end."""

    def __init__(self, title: str, options: argparse.Namespace) -> None:
        self.title = title
        self.figures: list[Figure] = []
        self.raw: dict[str, Any] = {}
        self._options = options
        self._digest = library_digest(options.pg_config)
        self._started = datetime.now(timezone.utc)

    def figure(self, name: str, measured: str, asked: str = "", passed: bool | None = None) -> None:
        """Add a line to the verdict."""
        self.figures.append(Figure(name, measured, asked, passed))

    def end(self) -> int:
        """Print the verdict and write the raw numbers.

        Return the exit code.
        """
        version = pg_config_value(self._options.pg_config, "--version")
        load = " ".join(f"{value:.1f}" for value in os.getloadavg())
        digest = library_digest(self._options.pg_config)
        say()
        say(f"{self.title}: {version}, library {self._digest}, {os.cpu_count()} CPUs, load {load}")
        table(
            ("what", "measured", "asked", ""),
            [
                (
                    figure.name,
                    figure.measured,
                    figure.asked,
                    {True: "PASS", False: "FAIL", None: ""}[figure.passed],
                )
                for figure in self.figures
            ],
        )
        failed = sum(figure.passed is False for figure in self.figures)
        if digest != self._digest:
            say(f"Another library was installed meanwhile ({digest}): measure again.")
            failed += 1
        if self._options.json:
            self._write(version)
        say(f"{self.title}: {'FAIL' if failed else 'PASS'}")
        return 1 if failed else 0

    def _write(self, version: str) -> None:
        Path(self._options.json).write_text(
            json.dumps(
                {
                    "measurement": self.title,
                    "options": {
                        key: value
                        for key, value in vars(self._options).items()
                        if key not in ("json", "pg_config", "keep")
                    },
                    "server": version,
                    "library": self._digest,
                    "machine": {"cpus": os.cpu_count(), "kernel": platform.release()},
                    "started_at": self._started.isoformat(timespec="seconds"),
                    "ended_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
                    "figures": [vars(figure) for figure in self.figures],
                    "raw": self.raw,
                },
                indent=1,
                default=str,
            )
            + "\n"
        )


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows in columns. A column of numbers is set flush right."""
    lines = [[str(value) for value in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(heads), *lines]) for i in range(len(heads))]
    numeric = [
        bool(lines) and all(line[i][:1] in "+-−0123456789" or not line[i] for line in lines)
        for i in range(len(heads))
    ]

    def show(line: Sequence[str]) -> str:
        cells = (
            value.rjust(width) if right else value.ljust(width)
            for value, width, right in zip(line, widths, numeric, strict=True)
        )
        return "  ".join(cells).rstrip()

    say(show(heads))
    say("  ".join("-" * width for width in widths))
    for line in lines:
        say(show(line))


def paragraph(text: str) -> None:
    """Print a remark below a table."""
    say(textwrap.fill(" ".join(text.split()), 96))


# ---- numbers


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, min(len(ordered), math.ceil(share * len(ordered))) - 1)]


def summary(values: Sequence[float], digits: int = 0) -> str:
    """Return median, 95th percentile and maximum in one short text."""
    if not values:
        return "none"
    parts = (statistics.median(values), quantile(values, 0.95), max(values))
    return " / ".join(f"{part:.{digits}f}" for part in parts)


def percent(share: float, digits: int = 2) -> str:
    """Return a signed percentage."""
    return f"{100 * share:+.{digits}f} %"


# ---- processes


@contextlib.contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Endless loops beside the block."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


# ---- servers


@contextlib.contextmanager
def server(
    options: argparse.Namespace, *settings: Mapping[str, str], parent: Path | None = None
) -> Iterator[ThrowawayServer]:
    """Start a server that ends with the block, below `parent`. Later settings win."""
    merged: dict[str, str] = {}
    for part in settings:
        merged.update(part)
    with (
        Interrupts().installed() as interrupts,
        ThrowawayServer(
            options.pg_config, merged, interrupts, keep=options.keep, parent=parent
        ) as started,
    ):
        yield started


def stop(on: ThrowawayServer) -> None:
    """Shut the server down in order. Its folder stays."""
    on.run(["pg_ctl", "stop", "-D", str(on.folder / "data"), "-m", "fast", "-w"])


def restart(
    on: ThrowawayServer, settings: Mapping[str, str], between: Callable[[], object] = lambda: None
) -> None:
    """Start the server again with other settings. `between` is called while it is down."""
    for name, value in settings.items():
        on.psql("postgres", f"ALTER SYSTEM SET {name} = '{value}'")
    stop(on)
    between()
    on.start(["postgres", "-D", str(on.folder / "data")], log="server.log")
    ready = ["pg_isready", "-q", "-h", str(on.folder), "-p", str(on.port)]
    deadline = time.monotonic() + START_TIMEOUT_S
    while on.start(ready, log="start.log", wait=True).returncode != 0:
        if time.monotonic() > deadline:
            raise MeasurementError("server did not start again")
        time.sleep(0.1)


def connect(on: ThrowawayServer, dbname: str = "postgres", **more: Any) -> Connection:
    """Open a session that commits each statement."""
    return psycopg.connect(
        host=str(on.folder),
        port=on.port,
        user=SUPERUSER,
        dbname=dbname,
        autocommit=True,
        prepare_threshold=None,
        **more,
    )


def value(session: Connection, sql: str, *args: Any) -> Any:
    """Return the only column of the only row."""
    row = session.execute(sql, args or None).fetchone()
    return row[0] if row else None


def rows(session: Connection, sql: str, *args: Any) -> list[dict[str, Any]]:
    """Return all rows, by column name."""
    with session.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        return cursor.execute(sql, args or None).fetchall()


def wait_until(
    condition: Callable[[], Any], what: str, seconds: float, interval: float = 0.1
) -> Any:
    """Poll until the condition holds.

    Return what it said.
    """
    deadline = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise MeasurementError(f"waited {seconds:.0f} s in vain for {what}")
        time.sleep(interval)


def wait_for_features(session: Connection) -> None:
    """Wait for the launcher and see that nothing is switched off."""
    wait_until(
        lambda: value(session, "SELECT launcher_pid IS NOT NULL AND rounds > 0 FROM sweep.status"),
        "the first round of the launcher",
        30,
    )
    off = rows(session, "SELECT feature, detail FROM sweep.features WHERE NOT enabled")
    if off:
        raise MeasurementError(f"switched off: {off}")


def warm_catalogs(session: Connection) -> None:
    """Read all catalogs of this database, with their indexes, into the cache."""
    session.execute(
        """DO $$
        DECLARE r record;
        BEGIN
            FOR r IN SELECT c.oid::regclass AS name FROM pg_class c
                     WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind = 'r'
            LOOP
                EXECUTE format('SELECT count(*) FROM %s', r.name);
            END LOOP;
        END $$"""
    )
    # An index is read whole by the statistics function that asks for its pages.
    with contextlib.suppress(psycopg.Error):
        session.execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm")
        session.execute(
            """SELECT pg_prewarm(c.oid) FROM pg_class c
            WHERE c.relnamespace IN ('pg_catalog'::regnamespace, 'pg_toast'::regnamespace)
              AND pg_relation_filenode(c.oid) IS NOT NULL"""
        )


# ---- processes

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """Return what processor time a process has used, finer than the tick where that is told."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except (OSError, IndexError, ValueError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def children_cpu_seconds(pid: int) -> float:
    """Return the processor time of the children that a process has waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / _TICKS_PER_S


def children(pid: int) -> list[int]:
    """Return the processes that this one has started and that still run."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def anonymous_kb(pid: int) -> int:
    """Return a process's own memory in kB, without what it shares."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1])
    raise MeasurementError("this kernel does not tell RssAnon")


def program(name: str) -> str:
    """Return the path of a program of the system, or say that it is missing."""
    path = shutil.which(name)
    if path is None:
        raise MeasurementError(f"{name} is not installed")
    return path
