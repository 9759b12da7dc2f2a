"""From finished vacuums to what a limit would do. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pgsweep.base.errors import UsageError
from pgsweep.model.compute import plural
from pgsweep.tune.fit import Throttled
from pgsweep.tune.model import Measured, Point

if TYPE_CHECKING:
    from pgsweep.model import Run

LEAST_RUNS = 10
LEAST_ROWS = 10_000
MB = 2**20
# A vacuum of pages that are in memory and already dirty costs next to nothing.
MOSTLY_HITS = 0.9


def usable(runs: Sequence[Run]) -> list[Run]:
    """Return the vacuums that removed rows and know what they cost."""
    return [
        run
        for run in runs
        if run.outcome == "done"
        and run.command == "VACUUM"
        and run.tuples_removed
        and run.cost
        and run.started_at is not None
        and run.ended_at is not None
    ]


def measured(
    runs: Sequence[Run], limits: Sequence[int], delay_ms: float, block_size: int
) -> Measured:
    """Return what the past says about these limits.

    It refuses to when the past has too little.
    """
    used = usable(runs)
    rows = sum(run.tuples_removed or 0 for run in used)
    if len(used) < LEAST_RUNS or rows < LEAST_ROWS:
        raise UsageError(
            f"sweep.runs has too little to go by: {plural(len(used), 'vacuum')} that removed "
            f"{plural(rows, 'row')}. It takes {LEAST_RUNS} and {LEAST_ROWS:,}",
            "Wait for more vacuums, or use --experiment. A manual VACUUM tells nobody but "
            "its client how many rows it removed.",
        )
    cost = sum(run.cost or 0 for run in used)
    curve = _curve(used, rows, delay_ms)
    read = sum(run.blks_read or 0 for run in used) * block_size / MB / rows
    dirtied = sum(run.blks_dirtied or 0 for run in used) * block_size / MB / rows
    wal = sum(run.wal_bytes or 0 for run in used) / MB / rows
    points = tuple(
        Point(
            limit=limit,
            rows_per_s=rate,
            read_mb_per_s=read * rate,
            write_mb_per_s=dirtied * rate,
            wal_mb_per_s=wal * rate,
        )
        for limit in limits
        for rate in (curve.rate(limit),)
    )
    each = sorted((run.cost or 0) / (run.tuples_removed or 1) for run in used)
    tenth, half, most = _spread(each)
    return Measured(
        how="history",
        delay_ms=delay_ms,
        points=points,
        cost_per_row=cost / rows,
        notes=(
            f"reckoned from {plural(len(used), 'vacuum')} in sweep.runs that removed "
            f"{rows:,} rows. Nothing was run",
            f"a dead row cost {cost / rows:.1f} credits (by vacuum: median {half:.1f}, "
            f"nine of ten within {tenth:.1f} and {most:.1f})",
            *_warm(used),
            "sweep.runs knows neither CPU nor device: --experiment measures them",
        ),
    )


def _warm(used: Sequence[Run]) -> tuple[str, ...]:
    """Return a warning if these vacuums found nearly all in memory, because others may not."""
    hits = sum(run.blks_hit or 0 for run in used)
    reads = sum(run.blks_read or 0 for run in used)
    part = hits / (hits + reads) if hits + reads else 0.0
    if part < MOSTLY_HITS:
        return ()
    return (
        f"{100 * part:.0f}% of their pages were in shared buffers. Where that is not so, a dead "
        "row costs far more, and this limit is too small. --experiment measures cold tables",
    )


def _spread(ordered: Sequence[float]) -> tuple[float, float, float]:
    """Return where the middle nine tenths begin, the median, and where they end."""
    cut = statistics.quantiles(ordered, n=20, method="inclusive")
    return cut[0], statistics.median(ordered), cut[-1]


def _curve(used: Sequence[Run], rows: int, delay_ms: float) -> Throttled:
    """Return time per row.

    The naps follow from the credits. The work is the rest of the vacuums' time.
    """
    cost = sum(run.cost or 0 for run in used)
    work = sum(_seconds(run) - _asleep(run) for run in used)
    return Throttled(work / rows, cost / rows * delay_ms / 1000 * _stretch(used))


def _should(run: Run) -> float:
    """Return how long a vacuum's naps should have been in all, in seconds."""
    if not run.cost_limit or not run.cost_delay:
        return 0.0
    return (run.cost or 0) * run.cost_delay / run.cost_limit / 1000


def _asleep(run: Run) -> float:
    """Return which share of all its time it napped.

    Before 18 that is sampled ten times a second, so that of a short vacuum nothing may have been
    seen.
    """
    return min(_seconds(run), max((run.delay_time or 0.0) / 1000, _should(run)))


def _stretch(used: Sequence[Run]) -> float:
    """Return how much longer naps took than limit and delay say.

    Timers are never early.
    """
    known = [run for run in used if run.delay_time and _should(run)]
    should = sum(_should(run) for run in known)
    slept = sum(run.delay_time or 0.0 for run in known) / 1000
    # If naps add up to less than that, or to much more, that limit was not in force all the time.
    return slept / should if should and 0.8 <= slept / should <= 1.5 else 1.0


def _seconds(run: Run) -> float:
    assert run.started_at is not None
    assert run.ended_at is not None
    return (run.ended_at - run.started_at).total_seconds()
