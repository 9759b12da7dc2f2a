"""Where an experiment runs: on a throwaway server, or on one that exists (--dsn)."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pgsweep.base.errors import ServerError, UsageError
from pgsweep.base.interrupts import Interrupts
from pgsweep.source.connection import with_dbname, written_parameters
from pgsweep.tune.lab.session import LabSession
from pgsweep_bench.servers import serverlog
from pgsweep_bench.servers.server import SUPERUSER, pg_config_value

if TYPE_CHECKING:
    from pgsweep_bench.servers.server import ThrowawayServer

DATABASE = "pgsweep_bench"

# Every throwaway server of an experiment has these. The scenario's settings override them.
BASE_SETTINGS = {
    **serverlog.SETTINGS,
    "log_autovacuum_min_duration": "0",
    "restart_after_crash": "off",
    "max_worker_processes": "16",
}


class Host(Protocol):
    """A server with the scratch database, as the laboratory needs it."""

    @property
    def throwaway(self) -> ThrowawayServer:
        """The throwaway server. For an existing server this raises."""

    def parameters(self, dbname: str) -> dict[str, Any]:
        """Return libpq parameters for a database."""

    def write(self, name: str, text: str) -> str:
        """Write a file for a client program and return its path."""

    def start(self, command: Sequence[str], log: str) -> subprocess.Popen[bytes]:
        """Start one of PostgreSQL's client programs. Its output goes to log."""

    def run(self, command: Sequence[str]) -> str:
        """Run one of them to its end. Raise if it fails."""

    def read(self, log: str) -> str:
        """Return what was written to log so far."""

    def flags(self, dbname: str) -> tuple[str, ...]:
        """Return a client program's connection flags, the database last."""

    def check(self) -> None:
        """Raise if the server has ended."""

    def messages(self) -> list[tuple[float, str]]:
        """Return the server's log as pairs of seconds since the epoch and message."""


class ThrowawayHost:
    """A throwaway server of this program's own."""

    def __init__(self, server: ThrowawayServer) -> None:
        self.throwaway = server

    def parameters(self, dbname: str) -> dict[str, Any]:
        server = self.throwaway
        return {
            "host": str(server.folder),
            "port": server.port,
            "user": SUPERUSER,
            "dbname": dbname,
            "passfile": str(server.folder / "none"),
            "sslmode": "disable",
            "gssencmode": "disable",
            "options": "",
        }

    def write(self, name: str, text: str) -> str:
        return self.throwaway.write(name, text)

    def start(self, command: Sequence[str], log: str) -> subprocess.Popen[bytes]:
        self.throwaway.write(log, "")
        return self.throwaway.start(command, log)

    def run(self, command: Sequence[str]) -> str:
        return self.throwaway.run(command)

    def read(self, log: str) -> str:
        return (self.throwaway.folder / log).read_text(errors="replace")

    def flags(self, dbname: str) -> tuple[str, ...]:
        return (*self.throwaway.flags(dbname)[:-2], dbname)

    def check(self) -> None:
        self.throwaway.check()

    def messages(self) -> list[tuple[float, str]]:
        return [
            (entry["at"].timestamp(), str(entry.get("message", "")))
            for entry in serverlog.read(self.throwaway.folder)
        ]


def _reap(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class ExistingHost:
    """A server that exists. A scratch database is created there, and dropped at the end."""

    def __init__(self, dsn: str, pg_config: str, interrupts: Interrupts | None = None) -> None:
        if "=" in dsn or "://" in dsn:
            written_parameters(dsn)
        self._dsn = dsn
        self._interrupts = interrupts or Interrupts()
        self._bindir = Path(pg_config_value(pg_config, "--bindir"))
        self._folder = Path()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._created = False

    def __enter__(self) -> ExistingHost:
        with self._maintenance() as session:
            if not session.value(
                "SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user"
            ):
                raise UsageError(
                    "an experiment on an existing server needs a superuser",
                    "Name one in --dsn, or leave --dsn out to use a throwaway server.",
                )
            if session.value("SELECT 1 FROM pg_catalog.pg_database WHERE datname = %s", DATABASE):
                raise UsageError(
                    f'database "{DATABASE}" exists on that server',
                    f"If nobody needs it, drop it: DROP DATABASE {DATABASE}.",
                )
            self._folder = Path(tempfile.mkdtemp(prefix="pgsweep-"))
            try:
                # This is set first because an interrupt leaves open whether the database was
                # created.
                self._created = True
                session.run(f"CREATE DATABASE {DATABASE} TEMPLATE template0")
            except BaseException:
                self.close()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the clients, drop the database and remove the files. A second call does nothing."""
        self._interrupts.ignore()
        for process in self._processes:
            if process.poll() is None:
                process.terminate()
        for process in self._processes:
            _reap(process)
        self._processes.clear()
        if self._folder != Path():
            shutil.rmtree(self._folder, ignore_errors=True)
        if self._created:
            self._created = False
            with self._maintenance() as session:
                session.run(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")

    def _maintenance(self) -> LabSession:
        return LabSession({"conninfo": self._dsn, "application_name": "pgsweep bench"})

    @property
    def throwaway(self) -> ThrowawayServer:
        raise ServerError(
            "this experiment needs a server that it can set up itself", "Leave --dsn out."
        )

    def parameters(self, dbname: str) -> dict[str, Any]:
        return {
            "conninfo": self._dsn,
            "dbname": dbname,
            "application_name": "pgsweep bench",
        }

    def write(self, name: str, text: str) -> str:
        path = self._folder / name
        path.write_text(text)
        return str(path)

    def start(self, command: Sequence[str], log: str) -> subprocess.Popen[bytes]:
        program = str(self._bindir / command[0])
        try:
            with self._interrupts.held(), (self._folder / log).open("wb") as out:
                process = subprocess.Popen(
                    [program, *command[1:]],
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, "LC_ALL": "C"},
                    start_new_session=True,
                )
                self._processes.append(process)
        except OSError as exc:
            raise ServerError(
                f'could not run "{program}": {exc.strerror}',
                "Install PostgreSQL's client programs.",
            ) from exc
        return process

    def run(self, command: Sequence[str]) -> str:
        process = self.start(command, "run.log")
        process.wait()
        said = self.read("run.log")
        if process.returncode != 0:
            last = said.strip().splitlines()[-1:] or ["it said nothing"]
            raise ServerError(f"{command[0]} failed: {last[0]}")
        return said

    def read(self, log: str) -> str:
        return (self._folder / log).read_text(errors="replace")

    def flags(self, dbname: str) -> tuple[str, ...]:
        # A program's database argument may be a whole connection string.
        return (with_dbname(self._dsn, dbname),)

    def check(self) -> None:
        """Do nothing, because the next query would notice."""

    def messages(self) -> list[tuple[float, str]]:
        raise ServerError("the log of an existing server cannot be read here", "Leave --dsn out.")
