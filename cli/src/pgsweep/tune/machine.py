"""What /proc tells about the server's process and disk, if it runs on this machine.

Everything here may be missing. A reader that cannot tell returns None, and says why in `why`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

PROC = Path("/proc")
SECTOR = 512
MB = 2**20


@dataclass(frozen=True)
class DiskCounters:
    """A device's counters in /proc/diskstats."""

    read_bytes: int
    written_bytes: int
    # milliseconds with at least one request in flight
    busy_ms: int


def parse_diskstats(text: str, major: int, minor: int) -> tuple[str, DiskCounters] | None:
    """Return the name and counters of a device, or None if it has no line."""
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 13 and words[:2] == [str(major), str(minor)]:
            sectors_read, sectors_written, busy = int(words[5]), int(words[9]), int(words[12])
            return words[2], DiskCounters(sectors_read * SECTOR, sectors_written * SECTOR, busy)
    return None


def parse_schedstat(text: str) -> float | None:
    """Return the seconds a process has been on a processor, from /proc/PID/schedstat."""
    words = text.split()
    return int(words[0]) / 1e9 if words and words[0].isdigit() else None


def parse_stat(text: str, ticks: int) -> float | None:
    """Return the same from /proc/PID/stat, in ticks."""
    # The name, which is in parentheses, may have spaces.
    words = text.rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / ticks if len(words) > 12 else None


def is_backend(pid: int, dbname: str) -> bool:
    """Whether this process here is a server process of that database.

    A server elsewhere, or in a container, may have a process of the same number.
    """
    try:
        title = (PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return False
    return title.startswith(b"postgres") and dbname.encode() in title


@dataclass
class Cpu:
    """The processor time of one process."""

    pid: int
    # "schedstat" or "stat", None if neither can be read
    source: str | None = None

    def __post_init__(self) -> None:
        for source in ("schedstat", "stat"):
            self.source = source
            if self.seconds() is not None:
                return
        self.source = None

    def seconds(self) -> float | None:
        """Return how long it has been on a processor, or None if that cannot be known."""
        if self.source is None:
            return None
        try:
            text = (PROC / str(self.pid) / self.source).read_text()
        except OSError:
            return None
        if self.source == "schedstat":
            return parse_schedstat(text)
        return parse_stat(text, os.sysconf("SC_CLK_TCK"))


@dataclass
class Disk:
    """The device on which a folder is."""

    folder: Path | None
    name: str = ""
    why: str = ""
    _number: tuple[int, int] = field(default=(0, 0), init=False)

    def __post_init__(self) -> None:
        if self.folder is None:
            self.why = self.why or "the server is not on this machine"
            return
        try:
            device = self.folder.stat().st_dev
        except OSError as exc:
            self.why = f'"{self.folder}" cannot be looked at: {exc.strerror}'
            return
        self._number = (os.major(device), os.minor(device))
        if self.counters() is None:
            self.why = self.why or f'the file system of "{self.folder}" has no disk of its own'

    def counters(self) -> DiskCounters | None:
        """Return what the device has done so far, or None if that cannot be known."""
        if self.folder is None or self.why:
            return None
        try:
            text = (PROC / "diskstats").read_text()
        except OSError as exc:
            self.why = f'"{PROC / "diskstats"}" cannot be read: {exc.strerror}'
            return None
        found = parse_diskstats(text, *self._number)
        if found is None:
            return None
        self.name, counters = found
        return counters
