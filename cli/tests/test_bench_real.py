"""`pgsweep bench` on real servers, as small as can be."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import Pgsweep, needs_extension
from pgsweep_bench import store
from pgsweep_bench.experiments import cost
from pgsweep_bench.servers.host import DATABASE
from pgsweep_bench.servers.server import ThrowawayServer

pytestmark = [pytest.mark.server, needs_extension]

PATIENCE_S = 120.0
TINY = ("--seconds", "1", "--scale", "0.02", "--repeats", "1")


class Bench:
    """A run of experiments in a process of its own."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pgsweep_bench", "run", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_for(self, text: str) -> None:
        """Read its output until a line has this text."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if text in line:
                return
        raise AssertionError(f"it ended without saying {text!r}")

    def folders(self) -> list[Path]:
        """Return the folders of its servers, which are arguments of their watchdogs."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                words = (path / "cmdline").read_bytes().decode().split("\0")
                parent = (path / "stat").read_text().rpartition(")")[2].split()[1]
            except OSError:
                continue  # it has just ended
            if words[1:2] and words[1].endswith("/watchdog.py") and int(parent) == self.process.pid:
                found.append(Path(words[2]))
        return found

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out, err


def processes_in(folder: Path) -> list[str]:
    """Return the processes whose working directory is in the folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            where = (path / "cwd").readlink()
        except OSError:
            continue
        if where.is_relative_to(folder):
            found.append(path.name)
    return found


def interrupt(bench: Bench, number: signal.Signals) -> str:
    """Send the signal and check that nothing is left.

    Return what it said after that.
    """
    folders = bench.folders()
    assert folders
    os.kill(bench.process.pid, number)
    code, _, err = bench.end()
    assert code == 128 + number
    assert "interrupted; servers and folders are removed" in err
    deadline = time.monotonic() + 10
    while any(folder.exists() or processes_in(folder) for folder in folders):
        assert time.monotonic() < deadline, folders
        time.sleep(0.05)
    return err


def test_interrupted_run_keeps_what_it_has_and_is_resumed(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    bench = Bench("insert", *TINY, "--output", str(path))
    bench.wait_for("2/2 insert sweep")
    bench.wait_for("sweep: loading the table")
    err = interrupt(bench, signal.SIGINT)
    assert f"go on with --resume {path}" in err
    kept = store.load(path)
    assert [variant.name for variant in kept.experiments[0].variants] == ["stock"]

    code, out, err = Bench("insert", "--repeats", "1", "--resume", str(path)).end()
    assert code == 0, err
    assert "1 of 2 pieces are there already" in err
    assert "insert: a table that rows are only inserted into" in out
    found = store.load(path)
    (insert,) = found.experiments
    stock, sweep = insert.variants
    assert stock == kept.experiments[0].variants[0]
    assert (insert.seconds, insert.scale) == (1, 0.02)
    assert sweep.settings["shared_preload_libraries"] == "pg_sweep"
    for variant in insert.variants:
        assert set(variant.samples) == {metric.name for metric in insert.metrics}
        (once,) = variant.raw["repeats"]
        assert once["pgbench"]["transactions"] > 0
        assert variant.samples["run_wal"][0] > 0
        assert once["freeze"]["pages_remain"] >= 350
        if variant.name == "stock":  # ours may have frozen nearly all while it was in memory
            # 57 rows fit on a page, and a transaction has ten.
            assert variant.samples["total_io"][0] > min(100, once["pgbench"]["transactions"] / 12)
        assert {series.name for series in variant.series} == {"waiting", "visible", "spent"}
    assert found.machine.cpus >= 1


def test_interrupted_before_anything_was_measured(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    # Several servers run at that moment.
    bench = Bench("catalog", "--smoke", "--output", str(path))
    bench.wait_for("sweep: starting")
    assert len(bench.folders()) >= 3
    interrupt(bench, signal.SIGTERM)
    assert not path.exists()
    assert list(tmp_path.iterdir()) == []


def dsn_of(server: ThrowawayServer) -> str:
    return f"host={server.folder} port={server.port} user=postgres dbname=postgres"


def test_existing_server(
    bench: Pgsweep, stub: ThrowawayServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "result.json"
    # With a higher limit there are fewer naps. How long the vacuums take is not checked.
    monkeypatch.setattr(cost, "LIMIT", 10 * cost.LIMIT)
    monkeypatch.setattr(cost, "RATE", 10 * cost.RATE)
    arguments = ("--dsn", dsn_of(stub), "--output", str(path))
    result = bench("run", "cost", "--seconds", "1", *arguments)
    assert result.code == 0, result.err
    (variant,) = store.load(path).experiments[0].variants
    # The stub has schema sweep, but not the library.
    assert variant.name == "stock"
    assert variant.samples["cost"][0] > 1000
    assert variant.settings["shared_buffers"] == stub.psql("postgres", SHARED_BUFFERS).strip()
    assert stub.psql("postgres", EXISTS).strip() == "f"

    stub.psql("postgres", f"CREATE DATABASE {DATABASE}")
    try:
        result = bench("run", "cost", *arguments[:2], "--output", str(tmp_path / "2.json"))
        assert result.code == 2
        assert f'database "{DATABASE}" exists on that server; hint: ' in result.err
        assert stub.psql("postgres", EXISTS).strip() == "t"
    finally:
        stub.psql("postgres", f"DROP DATABASE {DATABASE}")


SHARED_BUFFERS = "SELECT setting FROM pg_settings WHERE name = 'shared_buffers'"
EXISTS = f"SELECT EXISTS (SELECT FROM pg_database WHERE datname = '{DATABASE}')"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("speed",), 'there is no experiment "speed"'),
        (("insert", "--set", "x"), '--set "x" is not NAME=VALUE'),
        (("insert", "--dsn", "host=nowhere"), "needs servers that it can set up itself"),
        (("insert", "--pg-config", "/none"), 'could not run "/none"'),
        (("insert", "--output", __file__), "exists; hint: "),
        (("insert", "--resume", __file__), "is no JSON"),
        (("insert", "--output", "/none/result.json"), "cannot write into the folder"),
        (("cost", "--dsn", "host=/none"), "cannot connect: "),
    ],
)
def test_wrong_usage(
    bench: Pgsweep,
    arguments: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = bench("run", *arguments)
    assert result.code == 2
    assert result.err.splitlines()[-1].startswith("pgsweep_bench: error: ")
    assert message in result.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("sweep.mode=much", 'invalid value for parameter "sweep.mode": "much"'),
        ("work_mem=much", 'invalid value for parameter "work_mem": "much"'),
        ("sweep.min_intervals=3", 'there is no setting "sweep.min_intervals"'),
    ],
)
def test_wrong_setting(bench: Pgsweep, tmp_path: Path, setting: str, message: str) -> None:
    path = tmp_path / "result.json"
    result = bench("run", "insert", *TINY, "--set", setting, "--output", str(path))
    assert result.code == 2
    assert message in result.err
    assert not path.exists()
