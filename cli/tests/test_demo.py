"""The demo on the real extension."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import needs_extension
from pgsweep import model

pytestmark = [pytest.mark.server, needs_extension]

PATIENCE_S = 60.0


# It runs as the command does, but on smaller tables. What these tests check needs no size.
SMALL = """
from pgsweep_bench import workload
from pgsweep_bench.__main__ import main
workload.SCALE = 1
workload.PREPARE = workload.PREPARE.replace("00000)", "0000)")
workload.PREPARE_CORE = workload.PREPARE_CORE.replace("150000)", "15000)")
main()
"""


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SMALL, "demo", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)


def folder_of(process: subprocess.Popen[str]) -> Path:
    """Wait until the demo says how to reach its server, and return the folder."""
    assert process.stderr is not None
    deadline = time.monotonic() + 2 * PATIENCE_S  # it fills its tables first
    for line in process.stderr:
        assert time.monotonic() < deadline
        if " -h " in line:
            return Path(line.split(" -h ")[1].split()[0])
    raise AssertionError("the demo ended before its server was ready")


def test_demo_prints_runs() -> None:
    # A machine with other things to do may need longer.
    for seconds in (5, 20, 60):
        process = start("--seconds", str(seconds), "--json")
        out, said = process.communicate(timeout=seconds + 2 * PATIENCE_S)
        if process.returncode == 0:
            break
    assert process.returncode == 0, said
    runs = json.loads(out)
    assert any(run["started_by"] == "sweep" and run["outcome"] == "done" for run in runs)
    fields = [field.name for field in dataclasses.fields(model.Run)]
    assert all(list(run) == fields for run in runs)
    folder = Path(said.split(" -h ")[1].split()[0])
    assert not folder.exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_demo_is_removed_when_interrupted(number: signal.Signals, code: int) -> None:
    process = start("--json")
    folder = folder_of(process)
    assert folder.exists()
    os.kill(process.pid, number)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == code
    assert not folder.exists()
