"""What a screen, a page or a command shows together, and what is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgsweep.model.history import HourOfTable, LastHour, Span
    from pgsweep.model.server import (
        Blocker,
        CoreStatus,
        Database,
        DatabaseAge,
        Feature,
        Limit,
        Members,
        Server,
        Status,
        Step,
    )
    from pgsweep.model.tables import Decision, TableKey, Waiting
    from pgsweep.model.vacuums import Progress, Run


@dataclass(frozen=True)
class Snapshot:
    """Everything `top` shows, read at one moment."""

    server: Server
    # None means that this database has no extension. Then `core` is there.
    status: Status | None
    progress: tuple[Progress, ...] = ()
    runs: tuple[Run, ...] = ()
    databases: tuple[Database, ...] = ()
    # None means that this version of the extension has no sweep.queue.
    queue: tuple[Waiting, ...] | None = None
    # What holds the horizon back. None means that it is not known.
    blockers: tuple[Blocker, ...] | None = None
    # The limits of what vacuums may use, and the governor's last step.
    limits: tuple[Limit, ...] = ()
    step: Step | None = None
    core: CoreStatus | None = None


@dataclass(frozen=True)
class TableHistory:
    """What became of one table: its last runs, its sums by the hour, and what was decided."""

    key: TableKey
    now: datetime
    runs: tuple[Run, ...] = ()
    hours: tuple[HourOfTable, ...] = ()
    decisions: tuple[Decision, ...] = ()
    # Whether core's views told it, and what has to be said about that.
    core: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class StatusReport:
    """Everything `status` shows."""

    server: Server
    status: Status
    last_hour: LastHour
    progress: tuple[Progress, ...] = ()
    databases: tuple[Database, ...] = ()
    # tables that somebody asked to be left alone for a while
    snoozed: int = 0
    # None means that this version of the extension has no such view.
    queue: tuple[Waiting, ...] | None = None
    blockers: tuple[Blocker, ...] | None = None
    # None means that it cannot be told.
    members: Members | None = None


@dataclass(frozen=True)
class Day:
    """Everything `report --live` shows: what ended in the last `hours`, and what is there now."""

    server: Server
    status: Status
    last_hour: LastHour
    # in bytes
    block_size: int
    hours: float
    runs: tuple[Run, ...] = ()
    progress: tuple[Progress, ...] = ()
    databases: tuple[Database, ...] = ()
    decisions: tuple[Decision, ...] = ()
    queue: tuple[Waiting, ...] | None = None
    blockers: tuple[Blocker, ...] | None = None
    # Before this some of what ended is missing. None means that the whole day is known.
    since: datetime | None = None
    # The same for single runs, which the plots over time show.
    runs_since: datetime | None = None
    # Where some single runs are missing, these are the sums of all runs, from the beginning of an
    # hour on.
    history: tuple[HourOfTable, ...] = ()
    history_since: datetime | None = None
    # With `report --since`, the history is of this span, one row for each table.
    span: Span | None = None


@dataclass(frozen=True)
class Facts:
    """What `doctor` could find out, whether or not the extension works here."""

    server: Server
    settings: dict[str, str]
    available_version: str | None
    installed_version: str | None
    is_superuser: bool
    in_pg_monitor: bool
    can_read_settings: bool
    # Background workers that are not pg_sweep's. None means that this role may not see them.
    slots_of_others: int | None
    may_call: dict[str, bool] = field(default_factory=dict)
    status: Status | None = None
    status_error: str | None = None
    status_hint: str | None = None
    features: tuple[Feature, ...] = ()
    databases: tuple[Database, ...] = ()
    # What holds the horizon back, the oldest first. None means that it could not be read.
    blockers: tuple[Blocker, ...] | None = ()
    # What the kernel reads ahead on the device of the data directory in kB, and the device. None
    # means that it is not known.
    read_ahead: tuple[float, str] | None = None
    # None means that it cannot be told.
    members: Members | None = None
    # Every database and its age, from pg_database.
    core_databases: tuple[DatabaseAge, ...] = ()


@dataclass(frozen=True)
class TuneFacts:
    """Whether `tune --apply` can change the server's settings."""

    role: str
    # None means that the server is older than 17.
    allow_alter_system: str | None
    may_reload: bool
    may_read_files: bool
    # What shows that Patroni is there. It is empty if Patroni is absent, as far as this role can
    # see.
    patroni: tuple[str, ...] = ()
    # None means that it may not be read.
    system_identifier: str | None = None


@dataclass(frozen=True)
class RunFilter:
    """Which runs are asked for. None does not filter.

    `since` is text as interval takes it.
    """

    limit: int | None = 20
    schemaname: str | None = None
    relname: str | None = None
    # or the name as it is shown, with its database or without
    shown: str | None = None
    datname: str | None = None
    started_by: str | None = None
    outcome: str | None = None
    since: str | None = None
    datid: int | None = None
    relid: int | None = None


@dataclass(frozen=True)
class DecisionFilter:
    """Which decisions are asked for. None does not filter."""

    limit: int | None = 20
    datname: str | None = None
    schemaname: str | None = None
    relname: str | None = None
    # or the name as it is shown, with its database or without
    shown: str | None = None
    decision: str | None = None
    datid: int | None = None
    relid: int | None = None


@dataclass(frozen=True)
class CallFilter:
    """Which calls are asked for. None does not filter."""

    limit: int | None = 20
    usename: str | None = None
    schemaname: str | None = None
    relname: str | None = None
    # or the name as it is shown, with its database or without
    shown: str | None = None
