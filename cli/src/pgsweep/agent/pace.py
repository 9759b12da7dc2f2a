"""How a session's own cost limit keeps a VACUUM within MB/s. Pure."""

from __future__ import annotations

DELAY_MS = 5.0
PAGE_HIT, PAGE = 1, 10
# vacuum_cost_limit's own bounds
LEAST, MOST = 1, 10_000
# A page that was found in memory is a tenth of one that is read or dirtied, as it is in
# PostgreSQL's own defaults for reading.
PAGES_PER_MB = 128
# How far the limit is corrected by what was really used.
FACTORS = 0.5, 3.0


def settings(mb_per_s: float, factor: float = 1.0) -> tuple[tuple[str, str], ...]:
    """Return the settings under which a VACUUM reads and dirties so much together at most.

    `factor` makes up for the time that the work itself takes, see `corrected`.
    """
    per_s = mb_per_s * PAGES_PER_MB * PAGE * factor
    limit = round(per_s * DELAY_MS / 1000)
    return (
        ("vacuum_cost_page_hit", str(PAGE_HIT)),
        ("vacuum_cost_page_miss", str(PAGE)),
        ("vacuum_cost_page_dirty", str(PAGE)),
        ("vacuum_cost_delay", f"{DELAY_MS:g}ms"),
        ("vacuum_cost_limit", str(max(LEAST, min(MOST, limit)))),
    )


def corrected(factor: float, mb_per_s: float, pages: int, seconds: float) -> float:
    """Return the next factor, after a VACUUM has read and dirtied so many pages meanwhile.

    One that hardly read anything says nothing.
    """
    if seconds < 2 or pages < PAGES_PER_MB * mb_per_s:
        return factor
    found = pages / PAGES_PER_MB / seconds
    return max(FACTORS[0], min(FACTORS[1], factor * mb_per_s / found))
