"""Removes a throwaway server whose owner died without doing it (kill -9).

It is a process of its own that reads from stdin the pids of what the owner starts. When stdin
ends without a good-bye, it stops them and removes the folder. It uses only the standard library,
so that it starts at once.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path

GOODBYE = "goodbye"
KEEP = "keep"
# To PostgreSQL these mean a fast shutdown, then one without a checkpoint, then none at all.
# pgbench, psql and initdb end at the first.
STEPS = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 2.0))
POLL_S = 0.05


def is_alive(pid: int) -> bool:
    """Tell whether a process runs. One that has ended but was not waited for does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] != "Z"


def stop(pids: Iterable[int]) -> None:
    """Stop processes, the latest started first, each with its process group."""
    for pid in reversed(list(pids)):
        for number, patience_s in STEPS:
            if not is_alive(pid):
                break
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if number == signal.SIGKILL:
                    os.killpg(pid, number)
                else:
                    os.kill(pid, number)
            deadline = time.monotonic() + patience_s
            while is_alive(pid) and time.monotonic() < deadline:
                time.sleep(POLL_S)


def remove(folder: Path) -> None:
    """Remove the folder, also while a dying process still writes into it."""
    for _ in range(20):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(POLL_S)


def main() -> None:
    """Watch over the folder named by the first argument."""
    folder = Path(sys.argv[1])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    pids: list[int] = []
    keep = False
    for line in sys.stdin:
        word = line.strip()
        if word == GOODBYE:
            return
        if word == KEEP:
            keep = True
        elif word.startswith("-"):
            with contextlib.suppress(ValueError):
                pids.remove(int(word[1:]))
        else:
            pids.append(int(word))
    stop(pids)
    if not keep:
        remove(folder)


if __name__ == "__main__":
    main()
