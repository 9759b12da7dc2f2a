"""A throwaway PostgreSQL server in a private folder, which never outlives its owner.

It listens on a Unix socket in that folder only. Environment variables of an existing server
(PGHOST, PGDATA ...) reach nothing that is started here. Called by root, all of it runs as an
ordinary user, because the server refuses root.
"""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from pgsweep.base.errors import ServerError
from pgsweep.base.interrupts import Interrupts
from pgsweep.source.connection import Target
from pgsweep_bench.servers import watchdog

SUPERUSER = "postgres"
START_TIMEOUT_S = 60
# The last two are for a server that was built with the sanitizers.
ENVIRONMENT = ("PATH", "TZ", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS")
# sockaddr_un has room for 107 characters. ".s.PGSQL.65535" needs 15 of them.
MAX_SOCKET_FOLDER = 90


def pg_config_value(pg_config: str, what: str) -> str:
    """Return what pg_config says, for example of `--bindir`."""
    try:
        done = subprocess.run([pg_config, what], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as exc:
        raise ServerError(
            f'could not run "{pg_config}"',
            "Install PostgreSQL with its server headers, or name a pg_config by --pg-config.",
        ) from exc
    return done.stdout.strip()


def extension_is_installed(pg_config: str) -> bool:
    """Tell whether pg_sweep is installed in the PostgreSQL that pg_config names."""
    control = Path(pg_config_value(pg_config, "--sharedir"), "extension", "pg_sweep.control")
    library = Path(pg_config_value(pg_config, "--pkglibdir"), "pg_sweep.so")
    return control.exists() and library.exists()


def ordinary_user() -> pwd.struct_passwd | None:
    """Return the user to run the server as, or None for the present user."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name)
    raise ServerError("there is no ordinary user to run a server as", "Call this as such a user.")


def free_port() -> int:
    """Return a TCP port that nobody listens on. Here it only names the socket."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ThrowawayServer:
    """A server for the length of a `with` block."""

    def __init__(
        self,
        pg_config: str,
        settings: Mapping[str, str],
        interrupts: Interrupts | None = None,
        keep: bool = False,
        parent: Path | None = None,
    ) -> None:
        self._parent = parent
        self.pg_config = pg_config
        self.settings = dict(settings)
        self.keep = keep
        self.port = free_port()
        self.folder = Path()
        self._interrupts = interrupts or Interrupts()
        self._user = ordinary_user()
        self._bindir = Path(pg_config_value(pg_config, "--bindir"))
        self._processes: list[subprocess.Popen[bytes]] = []
        self._postmaster: subprocess.Popen[bytes] | None = None
        self._watchdog: subprocess.Popen[str] | None = None

    # -- life --------------------------------------------------------------

    def __enter__(self) -> ThrowawayServer:
        try:
            self._create_folder()
            self._initdb()
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop everything and remove the folder. A second call does nothing."""
        self._interrupts.ignore()
        watchdog.stop(process.pid for process in self._processes if process.poll() is None)
        for process in self._processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1)
        self._processes.clear()
        if self.folder != Path() and not self.keep:
            watchdog.remove(self.folder)
        if self._watchdog is not None:
            self._tell(watchdog.GOODBYE)
            with suppress(OSError):
                assert self._watchdog.stdin is not None
                self._watchdog.stdin.close()
            self._watchdog.wait(timeout=10)
            self._watchdog = None

    def _create_folder(self) -> None:
        parent = str(self._parent or tempfile.gettempdir())
        # The server's user cannot enter a private temporary folder of root's.
        too_long = len(parent) > MAX_SOCKET_FOLDER - len("/pgsweep-12345678")
        if self._parent is None and (too_long or self._user is not None):
            parent = "/tmp"
        with self._interrupts.held():
            self.folder = Path(tempfile.mkdtemp(prefix="pgsweep-", dir=parent))
            if self._user is not None:
                os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
            self._watchdog = subprocess.Popen(
                [sys.executable, watchdog.__file__, str(self.folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
                cwd="/",
            )
            if self.keep:
                self._tell(watchdog.KEEP)

    def _initdb(self) -> None:
        data = self.folder / "data"
        self.run(
            [
                *("initdb", "--pgdata", str(data), "--username", SUPERUSER, "--auth", "trust"),
                *("--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions"),
            ],
        )
        self._write(data / "pg_hba.conf", "local all all trust\nlocal replication all trust\n")
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.folder),
            "unix_socket_permissions": "0700",
            "port": str(self.port),
            "fsync": "off",
            **self.settings,
        }
        lines = [f"{name} = '{value}'\n" for name, value in settings.items()]
        self._write(data / "postgresql.auto.conf", "".join(lines))

    def _start(self) -> None:
        data = str(self.folder / "data")
        self._postmaster = self.start(["postgres", "-D", data], log="server.log")
        deadline = time.monotonic() + START_TIMEOUT_S
        ready = ["pg_isready", "-q", "-h", str(self.folder), "-p", str(self.port)]
        while True:
            self.check()
            if self.start(ready, log="start.log", wait=True).returncode == 0:
                return
            if time.monotonic() > deadline:
                raise ServerError("server did not start", self._log_hint())
            time.sleep(0.1)

    def restart(self) -> None:
        """Stop the server in order and start it again. Its sessions end."""
        self.stop()
        self.start_again()

    def stop(self) -> None:
        """Stop the server in order. Its folder stays."""
        self.check()
        assert self._postmaster is not None
        before = self._postmaster
        self.run(["pg_ctl", "stop", "-D", str(self.folder / "data"), "-m", "fast", "-w"])
        before.wait()
        with self._interrupts.held():
            self._processes.remove(before)
            self._tell(f"-{before.pid}")

    def start_again(self) -> None:
        """Start the server that was stopped."""
        self._start()

    def check(self) -> None:
        """Raise if the server has ended."""
        if self._postmaster is None or self._postmaster.poll() is not None:
            raise ServerError("throwaway server ended unexpectedly", self._log_hint())

    def _log_hint(self) -> str:
        with suppress(OSError):
            lines = self.log().splitlines()
            telling = [line for line in lines if "FATAL" in line or "PANIC" in line]
            if telling and "contains errors" in telling[-1]:
                # The lines before that name the parameter.
                telling = [line for line in lines if "parameter" in line] or telling
            for line in (telling or lines)[-1:]:
                return f"Its log says: {line}"
        return "Its log is empty."

    def log(self) -> str:
        """Return the server's log."""
        return (self.folder / "server.log").read_text(errors="replace")

    # -- use ---------------------------------------------------------------

    def target(self, dbname: str) -> Target:
        """Return where to connect. It is complete, so nothing is left to the environment."""
        return Target(
            dbname=f"dbname={dbname} passfile={self.folder}/none sslmode=disable "
            "gssencmode=disable",
            host=str(self.folder),
            port=str(self.port),
            user=SUPERUSER,
            never_ask=True,
        )

    def psql(self, dbname: str, sql: str) -> str:
        """Run SQL as superuser and return what it prints."""
        options = ("-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1")
        return self.run(["psql", *options, *self.flags(dbname), "-c", sql])

    def flags(self, dbname: str) -> tuple[str, ...]:
        """Return the connection flags for a client program."""
        return ("-h", str(self.folder), "-p", str(self.port), "-U", SUPERUSER, "-d", dbname)

    def write(self, name: str, text: str) -> str:
        """Write a file into the folder and return its path."""
        return self._write(self.folder / name, text)

    def run(self, command: Sequence[str]) -> str:
        """Run one of the server's programs to its end. Raise if it fails."""
        name = f"{command[0]}.log"
        self._write(self.folder / name, "")
        process = self.start(command, log=name, wait=True)
        said = (self.folder / name).read_text(errors="replace")
        if process.returncode != 0:
            last = said.strip().splitlines()[-1:] or [shlex.join(command)]
            raise ServerError(f"{command[0]} failed: {last[0]}")
        return said

    def start(
        self, command: Sequence[str], log: str, wait: bool = False
    ) -> subprocess.Popen[bytes]:
        """Start one of the server's programs. It ends with the server."""
        program = str(self._bindir / command[0])
        with self._interrupts.held(), self._open_log(log) as out:
            try:
                process = subprocess.Popen(
                    [program, *command[1:]],
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    cwd=self.folder,
                    env=self._environment(),
                    start_new_session=True,
                    **self._as_user(),
                )
            except OSError as exc:
                raise ServerError(
                    f'could not run "{program}": {exc.strerror}',
                    "Install the server and client packages of this PostgreSQL.",
                ) from exc
            self._processes.append(process)
            self._tell(str(process.pid))
        if wait:
            process.wait()
            with self._interrupts.held():
                self._processes.remove(process)
                self._tell(f"-{process.pid}")
        return process

    def _open_log(self, name: str) -> IO[bytes]:
        return (self.folder / name).open("ab")

    def _environment(self) -> dict[str, str]:
        kept = {key: os.environ[key] for key in ENVIRONMENT if key in os.environ}
        return {**kept, "LC_ALL": "C", "HOME": str(self.folder)}

    def _as_user(self) -> dict[str, Any]:
        if self._user is None:
            return {}
        return {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}

    def _write(self, path: Path, text: str) -> str:
        path.write_text(text)
        if self._user is not None:
            os.chown(path, self._user.pw_uid, self._user.pw_gid)
        return str(path)

    def _tell(self, word: str) -> None:
        if self._watchdog is not None and self._watchdog.stdin is not None:
            with suppress(OSError):
                self._watchdog.stdin.write(word + "\n")
                self._watchdog.stdin.flush()


def default_pg_config() -> str:
    """Return the pg_config to use when none is named."""
    return os.environ.get("PG_CONFIG") or shutil.which("pg_config") or "pg_config"
