"""How many tables have more dead rows than makes them due, on a server without the extension. Pure.

It counts what fleet_due.sql counts. The source is relation_needs_vacanalyze() in PostgreSQL's
autovacuum.c.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any

from pgsweep.model.core_options import boolean, number_of, parse

# One row more than this, and they were not all read.
MOST_ROWS = 500
SETTINGS = ("autovacuum_vacuum_threshold", "autovacuum_vacuum_scale_factor")
# It is there from 18 on.
LARGEST = "autovacuum_vacuum_max_threshold"


def settings_of(version_num: int) -> tuple[str, ...]:
    """Return the settings by which a server of this version decides (180000)."""
    return (*SETTINGS, LARGEST) if version_num >= 180000 else SETTINGS


def due(rows: Iterable[Mapping[str, Any]], shown: Iterable[Mapping[str, str]]) -> int:
    """Return how many of the rows of fleet_dead.sql are due, by the rows of SHOW."""
    server = {name: float(value) for row in shown for name, value in row.items()}
    found = tuple(rows)
    # A TOAST table without options of its own goes by its main table's.
    of_toast = {row["reltoastrelid"]: row["reloptions"] for row in found}
    return sum(
        row["dead_tuples"]
        > _threshold(row["reltuples"], parse(row["reloptions"] or of_toast.get(row["oid"])), server)
        for row in found
    )


def _threshold(reltuples: float, own: Mapping[str, str], server: Mapping[str, float]) -> float:
    if not boolean(own.get("autovacuum_enabled"), default=True):
        return inf

    def number(name: str) -> float | None:
        value = number_of(own.get(name))
        return server.get(name) if value is None else value

    threshold, scale_factor = (number(name) or 0.0 for name in SETTINGS)
    # A table that was never vacuumed counts as empty.
    found = threshold + scale_factor * max(reltuples, 0.0)
    largest = number(LARGEST)
    return found if largest is None or largest < 0 else min(found, largest)
