"""What was read from a server at one moment, frozen, and how the reading itself went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgsweep.model import (
        Blocker,
        Cluster,
        Database,
        DatabaseAge,
        DeadTuples,
        Feature,
        IdRates,
        Limit,
        Members,
        Progress,
        QueueWait,
        RecoveryConflict,
        Status,
        Step,
        ToFreeze,
        Totals,
    )


@dataclass(frozen=True)
class Reading:
    """Everything that was read. None is what could not be read, or what this server lacks."""

    cluster: Cluster
    # whether this database has the extension
    extension: bool = False
    ages: tuple[DatabaseAge, ...] | None = None
    blockers: tuple[Blocker, ...] | None = None
    progress: tuple[Progress, ...] | None = None
    conflicts: tuple[RecoveryConflict, ...] | None = None
    dead_tuples: tuple[DeadTuples, ...] | None = None
    dead_tuples_at: datetime | None = None
    id_rates: IdRates | None = None
    members: Members | None = None
    # These need the extension.
    status: Status | None = None
    totals: tuple[Totals, ...] | None = None
    waits: tuple[QueueWait, ...] | None = None
    to_freeze: ToFreeze | None = None
    databases: tuple[Database, ...] | None = None
    limits: tuple[Limit, ...] | None = None
    step: Step | None = None
    features: tuple[Feature, ...] | None = None


@dataclass(frozen=True)
class Outcome:
    """How reading went: what was read, or why nothing was."""

    # None means that the server could not be asked.
    reading: Reading | None = None
    error: str | None = None
    took_s: float | None = None
    # Each part that was asked for: None, or why it could not be read.
    parts: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Health:
    """What `serve` knows of itself. Counters begin with its start. Times are in seconds."""

    up: bool = False
    readings: int = 0
    failures: int = 0
    part_failures: Mapping[str, int] = field(default_factory=dict)
    parts: Mapping[str, bool] = field(default_factory=dict)
    last_took_s: float | None = None
    # seconds since the epoch
    last_ended_at: float | None = None
    scrapes: int = 0
    timeouts: int = 0
