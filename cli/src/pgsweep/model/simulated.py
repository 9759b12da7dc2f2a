"""What a simulation says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class SimulatedHour:
    """A row of sweep.simulate(): a recorded hour with other settings, and as it was."""

    hour: datetime
    span: timedelta
    vacuums: int
    insert_vacuums: int
    blks_read: int
    blks_dirtied: int
    # milliseconds, of all workers
    run_time: float
    dead_tuples: int
    max_dead_tuples: int
    waiting: int
    recorded_vacuums: int
    recorded_blks_read: int
    recorded_blks_dirtied: int
    recorded_dead_tuples: int


@dataclass(frozen=True)
class SimulatedTable:
    """A row of sweep.simulate_tables(): a table with other settings, and as it was."""

    datid: int | None
    datname: str | None
    relid: int
    schemaname: str | None
    relname: str | None
    vacuums: int
    insert_vacuums: int
    blks_read: int
    blks_dirtied: int
    run_time: float
    dead_tuples: int
    max_dead_tuples: int
    recorded_vacuums: int
    recorded_blks_read: int
    recorded_blks_dirtied: int
    recorded_dead_tuples: int
    learned_vacuums: int
    estimated: bool


@dataclass(frozen=True)
class SimulationSummary:
    """The row of sweep.simulate_summary(): what a simulation goes by."""

    recorded_from: datetime
    recorded_until: datetime
    hours: int
    missing_hours: int
    tables: int
    unlearned_tables: int
    changes_left_out_pct: float
    xid_age: int
    xids_per_hour: float | None
    freeze_max_age: int
    freeze_max_age_at: datetime | None
    wraparound_at: datetime | None
    tables_to_freeze: int | None
    pages_to_freeze: int | None
    mode: str
    block_size: int
