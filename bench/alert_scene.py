"""What bench/alerts watches: a primary under load, a standby, a serve on each, and Prometheus.

The rules are those that are shipped, with their times divided.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import lib

sys.path.insert(0, str(lib.TOP / "cli" / "tests"))
import prometheus

RULES = lib.TOP / "monitoring" / "prometheus"

SCRAPE_S = 1.0
LEAST_FOR_S = 5.0
LEAST_RANGE_S = 10.0
LEAST_WAIT_S = 3600
START_PATIENCE_S = 60

PRIMARY = {
    **lib.SWEEP,
    "sweep.mode": "act",
    "sweep.max_workers": "1",
    "sweep.min_interval": "2s",
    "autovacuum_naptime": "5s",
    "max_connections": "60",
    "max_worker_processes": "16",
    "max_prepared_transactions": "4",
    "shared_buffers": "128MB",
    "max_wal_size": "4GB",
    "wal_level": "logical",
    "wal_keep_size": "256MB",
    "synchronous_commit": "off",
    "archive_mode": "on",
    "archive_command": "true",
    "jit": "off",
}
STANDBY = {
    "sweep.mode": "act",
    "archive_mode": "off",
    "max_standby_streaming_delay": "1s",
    "wal_retrieve_retry_interval": "500ms",
}

CLOG_SEGMENT = 32 * 8192  # bytes
CLOG_SEGMENT_XIDS = 4 * CLOG_SEGMENT


# ---- the rules


def seconds(text: str) -> float:
    """Return what a time in a rule is in seconds."""
    return int(text[:-1]) * {"s": 1, "m": 60, "h": 3600}[text[-1]]


def faster(rules: str, speed: float) -> str:
    """Return the rules with their times divided by `speed`."""

    def ms(text: str, least_s: float) -> str:
        return f"{1000 * max(least_s, seconds(text) / speed):.0f}ms"

    rules = re.sub(r"(?<=for: )(\d+[smh])", lambda m: ms(m.group(1), LEAST_FOR_S), rules)
    rules = re.sub(r"(?<=\[)(\d+[smh])", lambda m: ms(m.group(1), LEAST_RANGE_S), rules)
    rules = re.sub(r"(?<=:)(\d+[smh])(?=\])", lambda m: ms(m.group(1), SCRAPE_S), rules)
    return re.sub(rf"> {LEAST_WAIT_S}\b", f"> {LEAST_WAIT_S / speed:.0f}", rules)


def names_in(rules: str) -> set[str]:
    return set(re.findall(r"- alert: (\w+)", rules))


# ---- what watches, and what is watched


class Serve:
    """A pgsweep serve on an address of its own, which can be ended and started again."""

    def __init__(self, server: lib.ThrowawayServer, instance: str) -> None:
        self.address = prometheus.free_address()
        self.instance = instance
        self._server = server
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        target = (*self._server.flags("postgres")[:4], "-U", "watcher", "-d", "postgres")
        with (Path(self._server.folder) / "serve.log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.program(), "serve", *target, "--listen", self.address, "--max-age", "0.5"],
                stdout=log,
                stderr=log,
            )

        def answers() -> bool:
            with contextlib.suppress(OSError):
                return "pgsweep_up" in prometheus.get(f"http://{self.address}/metrics")
            return False

        lib.wait_until(answers, f"pgsweep serve on {self.instance}", START_PATIENCE_S)

    @staticmethod
    @functools.cache
    def program() -> str:
        done = subprocess.run(
            [lib.TOP / "tools" / "venv", "serve"], stdout=subprocess.PIPE, text=True, check=True
        )
        return str(Path(done.stdout.strip(), "bin", "pgsweep"))

    def end(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None


class Load:
    """pgbench, as long as it is wanted. A restart of the server ends it."""

    def __init__(self, server: lib.ThrowawayServer, rate: int) -> None:
        self._server, self._rate = server, rate
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.stop()
        command = ["pgbench", *self._server.flags("postgres")[:-2], "-n", "-c", "2"]
        command += ["-R", str(self._rate), "-T", "7200", "postgres"]
        self._process = self._server.start(command, log="pgscene.log")

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None


@dataclass
class Scene:
    """Everything that a fault may touch."""

    primary: lib.ThrowawayServer
    standby: lib.ThrowawayServer
    serve: Serve
    standby_serve: Serve
    load: Load
    targets: Path
    has_standby: bool = True
    monitor: prometheus.Daemon = field(init=False)

    # -- Prometheus

    def watch(self, *serves: Serve) -> None:
        """Have Prometheus scrape these."""
        content = [{"targets": [s.address], "labels": {"server": s.instance}} for s in serves]
        new = self.targets.with_suffix(".new")
        new.write_text(json.dumps(content))
        new.rename(self.targets)

    def end_serves(self) -> None:
        self.serve.end()
        self.standby_serve.end()

    def renew_serve(self) -> None:
        """Have another serve in the place of the one that watches the primary.

        One looks at all tables when it starts, and then every five minutes.
        """
        old, new = self.serve, Serve(self.primary, "primary")
        self.serve = new
        new.start()
        self.watch(new, *([self.standby_serve] if self.has_standby else []))

        def is_scraped() -> bool:
            targets = self.monitor.api("targets")["activeTargets"]
            known = {t["labels"]["instance"]: t["health"] for t in targets}
            return known.get(new.address) == "up" and old.address not in known

        lib.wait_until(is_scraped, "Prometheus to scrape the new serve", START_PATIENCE_S)
        old.end()

    def firing(self) -> set[str]:
        """Return the alerts that fire now."""
        found = self.monitor.api("query", query='ALERTS{alertstate="firing"}')["result"]
        return {labelled(row["metric"]) for row in found}

    def fired_between(self, begin: float, end: float) -> set[str]:
        """Return the alerts that fired at any time in between."""
        step = str(max(1, int((end - begin) / 5000)))
        found = self.monitor.api(
            "query_range",
            query='ALERTS{alertstate="firing"}',
            start=str(begin),
            end=str(end),
            step=step,
        )["result"]
        return {labelled(row["metric"]) for row in found}

    # -- the primary

    def sql(self, statement: str) -> str:
        return self.primary.psql("postgres", statement)

    def set(self, **settings: str | None) -> None:
        """Change settings and reload. None resets one."""
        for name, value in settings.items():
            name = name.replace("__", ".")
            self.sql(
                f"ALTER SYSTEM RESET {name}"
                if value is None
                else f"ALTER SYSTEM SET {name} = '{value}'"
            )
        self.sql("SELECT pg_reload_conf()")

    def session(self) -> lib.Connection:
        return lib.connect(self.primary)

    def wait_for_server(self) -> None:
        """Wait until the server is back and the launcher has made a round."""

        def rounds() -> bool:
            with contextlib.suppress(lib.PgsweepError):
                asked = "SELECT rounds > 0 AND launcher_pid IS NOT NULL FROM sweep.status"
                return self.sql(asked).strip() == "t"
            return False

        lib.wait_until(rounds, "the server", START_PATIENCE_S)

    def start_server(self) -> None:
        self.primary.start_again()
        self.wait_for_server()
        self.load.start()

    def stop_server(self) -> None:
        self.load.stop()
        self.primary.stop()

    def restart_with(self, **settings: str | None) -> None:
        self.set(**settings)
        self.stop_server()
        self.start_server()

    def jump_to(self, xid: int) -> None:
        """Restart with that number for the next transaction, the first of a segment of pg_xact.

        The standby cannot follow, so that it is ended. The load is not started.
        """
        self.watch(self.serve)
        self.standby_serve.end()
        if self.has_standby:
            self.standby.stop()
            self.has_standby = False
        self.stop_server()
        data = self.primary.folder / "data"
        segment = data / "pg_xact" / f"{xid // CLOG_SEGMENT_XIDS:04X}"
        segment.write_bytes(bytes(CLOG_SEGMENT))
        owner = data.stat()
        if os.geteuid() == 0:
            os.chown(segment, owner.st_uid, owner.st_gid)
        segment.chmod(0o600)
        self.primary.run(["pg_resetwal", "-x", str(xid), "-D", str(data)])
        self.primary.start_again()


def labelled(metric: dict[str, str]) -> str:
    """Return an alert's name, with the kind of holder if it has one."""
    return metric["alertname"] + (f" ({metric['kind']})" if "kind" in metric else "")


@contextlib.contextmanager
def watched(options: argparse.Namespace) -> Iterator[Scene]:
    """Start everything."""
    with contextlib.ExitStack() as stack:
        primary = stack.enter_context(lib.server(options, PRIMARY, {"restart_after_crash": "on"}))
        primary.psql("postgres", "CREATE EXTENSION pg_sweep")
        primary.psql("postgres", "CREATE ROLE watcher LOGIN IN ROLE pg_monitor")
        primary.run(["pgbench", *primary.flags("postgres")[:-2], "-i", "-q", "postgres"])
        standby = stack.enter_context(lib.Standby(options, None, primary, STANDBY))
        folder = Path(primary.folder)
        scene = Scene(
            primary,
            standby,
            Serve(primary, "primary"),
            Serve(standby, "standby"),
            Load(primary, options.rate),
            folder / "targets.json",
        )
        stack.callback(scene.end_serves)
        scene.serve.start()
        scene.standby_serve.start()
        for name in ("recording.yml", "alerts.yml"):
            (folder / name).write_text(faster((RULES / name).read_text(), options.speed))
        prometheus.promtool("check", "rules", "recording.yml", "alerts.yml", cwd=folder)
        scene.watch(scene.serve, scene.standby_serve)
        scene.monitor = stack.enter_context(monitor(folder))
        scene.load.start()
        yield scene


def monitor(folder: Path) -> prometheus.Daemon:
    """Return a Prometheus with the rules in that folder, on the targets in it."""
    (folder / "prometheus.yml").write_text(
        json.dumps(
            {
                "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                "rule_files": ["recording.yml", "alerts.yml"],
                "scrape_configs": [
                    {
                        "job_name": "pgsweep",
                        "file_sd_configs": [{"files": ["targets.json"], "refresh_interval": "1s"}],
                    }
                ],
            }
        )
    )
    address = prometheus.free_address()
    arguments = [
        prometheus.program("prometheus"),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'prometheus'}",
        f"--web.listen-address={address}",
    ]
    return prometheus.Daemon(arguments, address, "/-/ready", folder / "prometheus.log")
