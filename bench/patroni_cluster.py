"""A Patroni cluster on this machine: etcd with one member, and some members of Patroni.

It needs the programs etcd, patroni and patronictl, on Debian the packages etcd-server, patroni and
python3-etcd.
Everything listens on 127.0.0.1 only, and lies in one private folder.
"""

# ruff: noqa: ANN401 (an answer of Patroni is anything)

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lib
import psycopg

from pgsweep.base.errors import PgsweepError
from pgsweep.fleet import http
from pgsweep_bench.servers import watchdog
from pgsweep_bench.servers.server import SUPERUSER, ThrowawayServer, free_port

if TYPE_CHECKING:
    from pgsweep.base.interrupts import Interrupts

SCOPE = "batman"
HOST = "127.0.0.1"
# The shortest that Patroni allows. A leader that has died is replaced when the ttl is over.
PACE = {"ttl": 20, "loop_wait": 1, "retry_timeout": 3}
REST_TIMEOUT_S = 5.0
START_S = 90


@dataclass
class Member:
    """A member of Patroni, and its process while there is one."""

    name: str
    port: int
    rest: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Return where its REST API is."""
        return f"http://{HOST}:{self.rest}"


class PatroniCluster(ThrowawayServer):
    """A cluster for the length of a `with` block. `settings` are of its dynamic configuration."""

    def __init__(
        self,
        options: argparse.Namespace,
        settings: Mapping[str, str],
        interrupts: Interrupts | None = None,
        members: int = 3,
    ) -> None:
        super().__init__(options.pg_config, settings, interrupts, keep=options.keep)
        self._programs = {name: lib.program(name) for name in ("etcd", "patroni", "patronictl")}
        self._etcd = free_port()
        self.members = [Member(f"m{i}", free_port(), free_port()) for i in range(1, members + 1)]

    # -- life

    def _initdb(self) -> None:
        self._made("data")
        self._made("etcd")
        for member in self.members:
            self._write(self.folder / f"{member.name}.yml", json.dumps(self._configuration(member)))

    def _configuration(self, member: Member) -> dict[str, Any]:
        """Return the file of a member. JSON is YAML, too."""
        return {
            "scope": SCOPE,
            "name": member.name,
            "etcd3": {"hosts": f"{HOST}:{self._etcd}"},
            "restapi": {
                "listen": f"{HOST}:{member.rest}",
                "connect_address": f"{HOST}:{member.rest}",
            },
            "log": {"dir": str(self._made(f"patroni-{member.name}"))},
            "bootstrap": {
                "dcs": {
                    **PACE,
                    "postgresql": {"use_pg_rewind": True, "parameters": dict(self.settings)},
                },
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums", "no-sync"],
            },
            "postgresql": {
                "listen": f"{HOST}:{member.port}",
                "connect_address": f"{HOST}:{member.port}",
                "data_dir": str(self.data(member)),
                "bin_dir": str(self._bindir),
                "pgpass": str(self.folder / f"{member.name}.pgpass"),
                "authentication": {
                    "superuser": {"username": SUPERUSER},
                    "replication": {"username": "replicator"},
                    "rewind": {"username": "rewinder"},
                },
                "parameters": {"unix_socket_directories": str(self.folder)},
                "pg_hba": [
                    "local all all trust",
                    f"host all all {HOST}/32 trust",
                    f"host replication all {HOST}/32 trust",
                ],
            },
        }

    def _made(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir()
        if self._user is not None:
            os.chown(folder, self._user.pw_uid, self._user.pw_gid)
        return folder

    def _start(self) -> None:
        client, peer = f"http://{HOST}:{self._etcd}", f"http://{HOST}:{free_port()}"
        self.start(
            [
                self._programs["etcd"],
                *("--name", "etcd", "--data-dir", str(self.folder / "etcd")),
                *("--listen-client-urls", client, "--advertise-client-urls", client),
                *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer),
                *("--initial-cluster", f"etcd={peer}"),
            ],
            log="etcd.log",
        )
        # The first one makes the cluster, and the others are copies of it.
        for member in self.members:
            self.revive(member)
            self.wait_for(lambda: self.leader() is not None, "a leader")
        self.settled()

    def revive(self, member: Member) -> None:
        """Start Patroni of a member, which starts its server."""
        member.process = self.start(
            [self._programs["patroni"], str(self.folder / f"{member.name}.yml")],
            log=f"{member.name}.log",
        )

    def close(self) -> None:
        """Stop everything. A server does not end with its Patroni."""
        try:
            left = [pid for member in self.members if (pid := self.postmaster(member))]
        except OSError:
            left = []
        # Without a word to the others: nobody is to be promoted now.
        for member in self.members:
            if member.process is not None and member.process.poll() is None:
                member.process.send_signal(signal.SIGKILL)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGQUIT)
        watchdog.stop(left)
        super().close()

    # -- what is there

    def data(self, member: Member) -> Path:
        """Return a member's data directory."""
        return self.folder / "data" / member.name

    def postmaster(self, member: Member) -> int | None:
        """Return the process of a member's server. None means that there is none."""
        try:
            pid = int((self.data(member) / "postmaster.pid").read_text().split()[0])
        except (FileNotFoundError, IndexError, ValueError):
            return None
        return pid if watchdog.is_alive(pid) else None

    def cluster(self) -> list[dict[str, Any]]:
        """Return the members as Patroni's REST API names them. It is empty if nobody answers."""
        for member in self.members:
            if member.process is None or member.process.poll() is not None:
                continue
            with contextlib.suppress(PgsweepError):
                found = http.ask(member.url, "/cluster", http.Credentials(), REST_TIMEOUT_S)
                return list(found["members"])
        return []

    def member(self, name: str) -> Member:
        """Return the member of this name."""
        return next(member for member in self.members if member.name == name)

    def leader(self) -> Member | None:
        """Return the leader, if it runs. Before Patroni 4 its role is called master, too."""
        for row in self.cluster():
            if row["role"] in ("leader", "master", "primary") and row["state"] == "running":
                return self.member(row["name"])
        return None

    def settled(self) -> None:
        """Wait until one member leads and all others stream from it."""
        self.wait_for(self.is_settled, "all members")

    def is_settled(self) -> bool:
        """Tell whether one member leads and all others stream from it."""
        leader = self.leader()
        rows = [row for row in self.cluster() if row["state"] in ("running", "streaming")]
        if leader is None or len(rows) != len(self.members):
            return False
        try:
            with self.connect(leader, "postgres") as session:
                sql = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
                return bool(lib.value(session, sql) == len(rows) - 1)
        except psycopg.Error:
            return False

    def wait_for(self, condition: Any, what: str, seconds: float = START_S) -> None:
        """Poll, and say at the end what Patroni knows."""

        def held() -> Any:
            for member in self.members:
                if member.process is not None and member.process.poll() is not None:
                    said = (self.folder / f"{member.name}.log").read_text(errors="replace")
                    last = said.strip().splitlines()[-1:] or ["it said nothing"]
                    raise lib.MeasurementError(f"Patroni of {member.name} has ended: {last[0]}")
            return condition()

        try:
            lib.wait_until(held, what, seconds, 0.2)
        except lib.MeasurementError as exc:
            raise lib.MeasurementError(f"{exc}: {self.cluster()}, see {self.folder}") from exc

    # -- use

    def connect(self, member: Member, dbname: str) -> lib.Connection:
        """Open a session on a member that commits each statement."""
        return psycopg.connect(
            **self.place([member], dbname), autocommit=True, prepare_threshold=None
        )

    def follow(self, dbname: str) -> lib.Connection:
        """Open a session on whoever takes writes, as a client of the cluster does."""
        return psycopg.connect(
            **self.place(self.members, dbname),
            target_session_attrs="read-write",
            autocommit=True,
            prepare_threshold=None,
        )

    def place(self, members: list[Member], dbname: str) -> dict[str, Any]:
        """Return what libpq needs."""
        return {
            "host": ",".join(HOST for _ in members),
            "port": ",".join(str(member.port) for member in members),
            "user": SUPERUSER,
            "dbname": dbname,
            "connect_timeout": 3,
        }

    def ctl(self, *words: str) -> str:
        """Run patronictl, and return what it prints."""
        log = "patronictl.log"
        self._write(self.folder / log, "")
        file = str(self.folder / f"{self.members[0].name}.yml")
        done = self.start([self._programs["patronictl"], "-c", file, *words], log, wait=True)
        said = (self.folder / log).read_text(errors="replace")
        if done.returncode != 0:
            raise lib.MeasurementError(f"patronictl {words[0]} failed: {said.strip()}")
        return said

    def switch_over(self, to: Member) -> None:
        """Have another member lead."""
        self.ctl("switchover", SCOPE, "--candidate", to.name, "--force")

    def kill(self, member: Member) -> None:
        """Kill a member's Patroni and its server (kill -9). The others find out by the ttl."""
        assert member.process is not None
        postmaster = self.postmaster(member)
        member.process.kill()
        member.process.wait()
        with self._interrupts.held():
            self._processes.remove(member.process)
            self._tell(f"-{member.process.pid}")
        member.process = None
        if postmaster is None:
            raise lib.MeasurementError(f"{member.name} has no server to kill")
        os.kill(postmaster, signal.SIGKILL)
        # Its processes end when they notice. A new server needs their shared memory gone.
        deadline = time.monotonic() + START_S
        while watchdog.is_alive(postmaster) and time.monotonic() < deadline:
            time.sleep(0.05)
