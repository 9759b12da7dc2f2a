"""Hours of the past."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class LastHour:
    """Totals over the runs of the last hour, or of the part of it that is known."""

    runs: int
    tuples_removed: int
    failed: int
    cancelled: int
    # Before this some runs are missing. None means that the whole hour is known.
    since: datetime | None = None


@dataclass(frozen=True)
class HourOfTable:
    """A row of sweep.history: a table's runs in an hour.

    A row without relid has the sums of the tables that were left out.
    """

    hour: datetime
    datid: int | None
    datname: str | None
    relid: int | None
    schemaname: str | None
    relname: str | None
    command: str
    started_by: str
    runs: int
    failed: int
    cancelled: int
    skipped: int
    blks_read: int
    blks_dirtied: int
    wal_bytes: int
    cost: int
    tuples_removed: int
    # in milliseconds
    run_time: float
    dead_not_removable: int | None
    last_ended_at: datetime | None


@dataclass(frozen=True)
class HourOfAll:
    """What all runs of an hour came to, from sweep.history."""

    hour: datetime
    runs: int
    blks_read: int
    blks_dirtied: int
    wal_bytes: int


@dataclass(frozen=True)
class HourOfOne:
    """How often somebody vacuumed a table in an hour, from sweep.history."""

    hour: datetime
    datid: int | None
    datname: str | None
    relid: int | None
    schemaname: str | None
    relname: str | None
    started_by: str
    runs: int


@dataclass(frozen=True)
class CountedHour:
    """An hour that is over, and what users did in it, from sweep.activity."""

    hour: datetime
    # It was counted from then on. None means from its beginning on.
    since: datetime | None
    inserted: int
    updated: int
    deleted: int
    xids: int | None


@dataclass(frozen=True)
class Span:
    """What the hours of a longer span came to. An hour that is in none of them is not known."""

    begin: datetime
    # None means now.
    until: datetime | None = None
    work: tuple[HourOfAll, ...] = ()
    tables: tuple[HourOfOne, ...] = ()
    counted: tuple[CountedHour, ...] = ()
