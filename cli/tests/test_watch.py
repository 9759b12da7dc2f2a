"""--watch: pages again and again, over lost connections, until Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from pgsweep_bench.servers.server import ThrowawayServer

pytestmark = pytest.mark.server

PATIENCE_S = 30.0
WATCHING = (
    "status",
    "progress",
    "runs",
    "status --databases",
    "tables",
    "queue",
    "queue --decisions",
    "runs --audit",
    "trial",
    "status --budget",
)


@dataclass
class Running:
    """A command that runs, and what it has printed."""

    process: subprocess.Popen[bytes]
    descriptor: int
    out: bytes = b""
    codes: list[int] = field(default_factory=list)

    def until(self, happened: Callable[[bytes], bool]) -> None:
        """Read until it has happened."""
        deadline = time.monotonic() + PATIENCE_S
        while not happened(self.out):
            assert time.monotonic() < deadline, self.out
            ready, _, _ = select.select([self.descriptor], [], [], 0.2)
            if ready:
                self.out += os.read(self.descriptor, 65536)

    def interrupt(self) -> int:
        """Press Ctrl-C, and return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_S)


@contextmanager
def running(*arguments: str, terminal: bool = False) -> Iterator[Running]:
    """Run the command with its output on a pipe, or on a terminal."""
    if terminal:
        ours, theirs = pty.openpty()
    else:
        ours, theirs = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "pgsweep", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "10"},
    )
    os.close(theirs)
    try:
        yield Running(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.parametrize("command", ["queue", "status"])
def test_pages_follow_each_other(flags: tuple[str, ...], command: str) -> None:
    with running(command, "--watch", "0.5", *flags) as it:
        it.until(lambda out: out.count(b"every 0.5 s, Ctrl-C ends") >= 2)
        # That of status, which has something to say of the stub, and of the others.
        assert it.interrupt() == (1 if command == "status" else 0)
    assert b"Traceback" not in it.out


def test_documents_follow_each_other(flags: tuple[str, ...]) -> None:
    with running("progress", "--json", "--watch", "0.5", *flags) as it:
        it.until(lambda out: out.count(b"\n]\n") >= 2)
        it.interrupt()
    first, end = json.JSONDecoder().raw_decode(it.out.decode())
    second, _ = json.JSONDecoder().raw_decode(it.out.decode()[end:].lstrip())
    assert len(first) == len(second) == 6


def test_a_terminal_is_drawn_anew(flags: tuple[str, ...]) -> None:
    with running("runs", "-n", "50", "--watch", "0.5", *flags, terminal=True) as it:
        it.until(lambda out: out.count(b"\x1b[J") >= 2)
        it.interrupt()
    first = it.out.split(b"\x1b[J")[0]
    assert first.startswith(b"\x1b[H")
    # What does not fit is left out, so that nothing scrolls.
    assert first.count(b"\n") < 24
    assert b"ENDED" in first


def test_a_lost_connection_is_made_again(stub: ThrowawayServer, flags: tuple[str, ...]) -> None:
    kill = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pgsweep'"
    )
    with running("status", "--databases", "--watch", "0.5", *flags) as it:
        it.until(lambda out: b"DATABASE" in out)
        stub.psql("postgres", kill)
        it.until(lambda out: b"no data, trying again" in out)
        it.until(lambda out: b"DATABASE" in out.split(b"no data, trying again")[-1])
        assert it.interrupt() == 0


def test_what_fails_at_once_is_an_error(flags: tuple[str, ...]) -> None:
    with running("queue", "--watch", "1", *flags[:-1], "nowhere") as it:
        assert it.process.wait(PATIENCE_S) == 2
        it.until(lambda out: b"pgsweep: error: " in out)


@pytest.mark.parametrize("command", [*WATCHING, "blockers"])
def test_who_watches(command: str) -> None:
    from typer.main import get_group

    from pgsweep.cli import application

    name = command.split()[0]
    params = get_group(application(name)).commands[name].params
    (option,) = (option for option in params if "--watch" in option.opts)
    assert re.search("every so many seconds", str(getattr(option, "help", "")))
