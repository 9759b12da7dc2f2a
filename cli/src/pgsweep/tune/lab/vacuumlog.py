"""What VACUUM says about itself, in the server's log or to its client. Pure.

The same text is written for autovacuum's vacuums and for pg_sweep's, and by
VACUUM (VERBOSE), so figures taken from it compare like with like.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_HEAD = re.compile(
    r"(?P<how>automatic (?:aggressive )?(?:vacuum|analyze)(?: to prevent wraparound)? of table|"
    r"automatic aggressive vacuum to prevent wraparound of table|finished vacuuming|"
    r"finished analyzing table) "
    r'"(?P<db>[^"]*?)\.(?P<schema>[^".]*)\.(?P<rel>[^"]*)"'
)
_PAGES = re.compile(
    r"pages: (\d+) removed, (\d+) remain(?:, (\d+) scanned)?(?:.*?, (\d+) eagerly scanned)?"
)
_TUPLES = re.compile(
    r"tuples: (\d+) removed, (\d+) remain(?:, (\d+) are dead but not yet removable)?"
)
_BUFFERS = re.compile(r"buffer usage: (\d+) hits, (\d+) (?:misses|reads), (\d+) dirtied")
_WAL = re.compile(r"WAL usage: (\d+) records, (\d+) full page images, (\d+) bytes")
_CPU = re.compile(r"CPU: user: ([\d.]+) s, system: ([\d.]+) s")
_ELAPSED = re.compile(r"elapsed: ([\d.]+) s")
_INDEX_SCANS = re.compile(r"index scans: (\d+)")
_REASON = re.compile(r"^sweep: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class VacuumLine:
    """One vacuum or analyze of one table as it reported itself. Counts are pages or rows."""

    datname: str
    schemaname: str
    relname: str
    analyze: bool
    aggressive: bool
    # "autovacuum", "sweep" (a line of its own says why) or "manual"
    started_by: str
    reason: str = ""
    # when it was written, in seconds since the epoch, or 0 if not known
    at: float = 0.0
    pages_removed: int = 0
    pages_remain: int = 0
    pages_scanned: int = 0
    tuples_removed: int = 0
    tuples_remain: int = 0
    dead_not_removable: int = 0
    index_scans: int = 0
    blks_hit: int = 0
    blks_read: int = 0
    blks_dirtied: int = 0
    wal_records: int = 0
    wal_fpi: int = 0
    wal_bytes: int = 0
    elapsed_s: float = 0.0
    cpu_s: float = 0.0

    def cost(self, hit: float = 1, miss: float = 2, dirty: float = 20) -> float:
        """Return the cost by the cost model's three settings (defaults: the server's since 14)."""
        return self.blks_hit * hit + self.blks_read * miss + self.blks_dirtied * dirty


def parse(text: str, at: float = 0.0) -> VacuumLine | None:
    """Return what a message tells about one vacuum, or None if it is another message."""
    head = _HEAD.search(text)
    if head is None:
        return None
    pages = _ints(_PAGES, text, 4)
    tuples = _ints(_TUPLES, text, 3)
    buffers = _ints(_BUFFERS, text, 3)
    wal = _ints(_WAL, text, 3)
    elapsed = _ELAPSED.search(text)
    cpu = _CPU.search(text)
    reason = _REASON.search(text)
    how = head["how"]
    manual = how.startswith("finished")
    return VacuumLine(
        datname=head["db"],
        schemaname=head["schema"],
        relname=head["rel"],
        analyze="analyz" in how,
        aggressive="aggressive" in how,
        started_by="manual" if manual else "sweep" if reason else "autovacuum",
        reason=reason[1] if reason else "",
        at=at,
        pages_removed=pages[0],
        pages_remain=pages[1],
        pages_scanned=pages[2],
        tuples_removed=tuples[0],
        tuples_remain=tuples[1],
        dead_not_removable=tuples[2],
        index_scans=_ints(_INDEX_SCANS, text, 1)[0],
        blks_hit=buffers[0],
        blks_read=buffers[1],
        blks_dirtied=buffers[2],
        wal_records=wal[0],
        wal_fpi=wal[1],
        wal_bytes=wal[2],
        elapsed_s=float(elapsed[1]) if elapsed else 0.0,
        cpu_s=float(cpu[1]) + float(cpu[2]) if cpu else 0.0,
    )


def _ints(pattern: re.Pattern[str], text: str, number: int) -> list[int]:
    found = pattern.search(text)
    return [int(group or 0) for group in found.groups()] if found else [0] * number


def total(lines: Iterable[VacuumLine]) -> dict[str, float]:
    """Return how many there are and the sums of their counters, by name."""
    lines = list(lines)
    names = (
        "pages_scanned",
        "tuples_removed",
        "blks_hit",
        "blks_read",
        "blks_dirtied",
        "wal_records",
        "wal_fpi",
        "wal_bytes",
        "elapsed_s",
        "cpu_s",
    )
    return {"vacuums": len(lines)} | {
        name: float(sum(getattr(line, name) for line in lines)) for name in names
    }
