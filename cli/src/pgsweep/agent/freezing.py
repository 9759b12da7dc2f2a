"""When a table is frozen ahead of autovacuum. Pure.

These are the rules of the extension's freeze lane (src/policy/freeze.c). The cases of
test/unit/freeze_cases.tsv are computed by both.
"""

from __future__ import annotations

import math

# Shares of the age at which autovacuum vacuums the table in any case.
EARLY_FROM, EARLY_SPAN = 0.10, 0.60
LATE_FROM, LATE_SPAN = 0.53, 0.21
# A vacuum must make the table younger by that much.
LEAST_GAIN = 0.05
MIN_AGE = 0.02
# Multiples of it are spread evenly, however many there are.
GOLDEN_RATIO = 0.61803398874989485


def share(relid: int, early: bool) -> float:
    """Return the age at which a table is frozen, as a share of its limit.

    It differs from table to table, so that what a restore made equally old is not frozen all at
    once. `early`: its rows do not change, and were not frozen yet.
    """
    place = math.modf(relid * GOLDEN_RATIO)[0]
    return EARLY_FROM + EARLY_SPAN * place if early else LATE_FROM + LATE_SPAN * place


def is_due(age: int, limit: int, least: int, at: float) -> bool:
    """Tell whether it is frozen now. `least` is the age that a vacuum can bring it down to."""
    return age > at * limit and age - least > LEAST_GAIN * limit


def min_age(limit: int) -> int:
    """Return the age from which on rows of a table that changes are frozen."""
    return int(MIN_AGE * limit)
