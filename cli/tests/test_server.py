"""The throwaway server leaves nothing behind, however its owner ends."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pgsweep.base import errors
from pgsweep_bench.servers.server import ThrowawayServer, default_pg_config

pytestmark = pytest.mark.server

OWNER = Path(__file__).parent / "throwaway.py"
PATIENCE_S = 30.0


@pytest.fixture
def parent() -> Iterator[Path]:
    """A folder that the server's user can enter too, short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="pgs", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def until(happened: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


def processes(folder: Path) -> list[str]:
    """Return the command lines of live processes that mention the folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            # The owner and its watchdog are given the folder by name as well.
            if str(folder) in line and "throwaway.py" not in line:
                found.append(line)
    return found


def start(parent: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(OWNER), str(parent)], stdout=subprocess.PIPE, text=True
    )


def nothing_is_left(parent: Path) -> None:
    until(lambda: not list(parent.iterdir()), "the folder to be removed")
    until(lambda: not processes(parent), "the processes to end")


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)],
)
def test_running_server_is_removed(parent: Path, number: signal.Signals, code: int) -> None:
    owner = start(parent)
    assert owner.stdout is not None
    assert owner.stdout.readline() == "ready\n"
    assert len(processes(parent)) >= 2
    owner.send_signal(number)
    assert owner.wait(timeout=PATIENCE_S) == code
    owner.stdout.close()
    nothing_is_left(parent)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_killed_while_the_server_is_made(parent: Path, number: signal.Signals) -> None:
    owner = start(parent)
    until(lambda: bool(list(parent.glob("*/data/PG_VERSION"))), "initdb to start")
    owner.send_signal(number)
    owner.wait(timeout=PATIENCE_S)
    assert owner.stdout is not None
    owner.stdout.close()
    nothing_is_left(parent)


def test_a_second_signal_does_not_stop_the_cleaning_up(parent: Path) -> None:
    owner = start(parent)
    assert owner.stdout is not None
    assert owner.stdout.readline() == "ready\n"
    for _ in range(5):
        owner.send_signal(signal.SIGINT)
        time.sleep(0.01)
    assert owner.wait(timeout=PATIENCE_S) == 130
    owner.stdout.close()
    nothing_is_left(parent)


def test_a_server_that_does_not_start(parent: Path) -> None:
    settings = {"shared_preload_libraries": "no_such_library"}
    with (
        pytest.raises(errors.ServerError) as failed,
        ThrowawayServer(default_pg_config(), settings, parent=parent),
    ):
        pass
    assert "no_such_library" in failed.value.one_line()
    nothing_is_left(parent)


def test_nothing_of_an_existing_server_is_used(
    parent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PGHOST", "PGPORT", "PGDATA", "PGUSER", "PGDATABASE", "PGSERVICE"):
        monkeypatch.setenv(name, "/nonexistent")
    with ThrowawayServer(default_pg_config(), {}, parent=parent) as server:
        shown = server.psql("postgres", "SELECT current_setting('listen_addresses') = ''")
        assert shown == "t\n"
        assert server.folder.stat().st_mode & 0o777 == 0o700
    nothing_is_left(parent)
