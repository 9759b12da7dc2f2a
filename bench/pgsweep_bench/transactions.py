"""What pgbench's log of each transaction (-l, with a rate) says of how long users wait."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Done:
    """One transaction by pgbench's log."""

    kind: str
    # seconds since the epoch when it ended
    at: float
    # since it should have begun
    ms: float


def parse_log(lines: Iterable[str], kinds: Sequence[str]) -> Iterator[Done]:
    """Yield the transactions of a pgbench's log, without those that failed or were skipped."""
    for line in lines:
        # client, transaction, µs, script, second, µs, with a rate the lag as well
        words = line.split()
        if len(words) >= 6 and words[2].isdigit():
            at = int(words[4]) + int(words[5]) / 1e6
            yield Done(kinds[int(words[3])], at, int(words[2]) / 1000)


def read_logs(folder: Path, name: str, kinds: Sequence[str]) -> list[Done]:
    """Return what all threads of a pgbench logged with `--log-prefix=name`."""
    found: list[Done] = []
    for path in sorted(folder.glob(f"{name}.[0-9]*")):
        found += parse_log(path.read_text().splitlines(), kinds)
    return found


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the least value that so many percent of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]
