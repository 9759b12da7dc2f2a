"""What core's catalogs, statistics and activity say, frozen, before anything is concluded."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgsweep.model import DatabaseAge, Members, Server


@dataclass(frozen=True)
class XidRate:
    """How fast transaction ids are used, and how that was found."""

    per_s: float
    basis: str


@dataclass(frozen=True)
class Relation:
    """A relation: pg_class, its statistics, and for a TOAST table its main table."""

    relid: int
    schemaname: str
    relname: str
    # schema.table, quoted as a statement needs it
    sql_name: str
    relkind: str
    relpersistence: str
    is_shared: bool
    is_catalog: bool
    reloptions: list[str] | None
    main_schemaname: str | None
    main_relname: str | None
    main_sql_name: str | None
    main_reloptions: list[str] | None
    pages: int
    all_visible_pages: int
    # None means a server before 18, which does not count them.
    frozen_pages: int | None
    reltuples: float
    xid_age: int | None
    mxid_age: int | None
    live_tuples: int
    dead_tuples: int
    ins_since_vacuum: int
    mod_since_analyze: int
    # Rows ever inserted, updated or deleted since the statistics began.
    changed: int
    last_vacuum: datetime | None
    last_analyze: datetime | None


@dataclass(frozen=True)
class Holder:
    """Something with an xmin: a session, a prepared transaction, a slot, a standby."""

    # "backend", "prepared", "slot", "standby", "setting" or "temporary"
    source: str
    pid: int | None
    datname: str | None
    usename: str | None
    # the name of an application, prepared transaction, slot or standby
    name: str | None
    state: str | None
    backend_type: str | None
    # What a backend is at: "vacuum", "analyze", "rewrite" or "create index".
    doing: str | None
    slot_type: str | None
    active: bool | None
    xmin: int | None
    xid_age: int | None
    # Its own transaction id. None means that it only reads.
    xid: int | None
    catalog_xid_age: int | None
    since: datetime | None
    query: str | None
    # The process of the vacuum that it waits for, itself or behind others.
    behind: int | None = None
    behind_query: str | None = None


@dataclass(frozen=True)
class Lock:
    """A lock on a table of this database: one that a vacuum would have to wait for, or a wait."""

    relid: int
    # None means that a prepared transaction holds it.
    pid: int | None
    mode: str
    gid: str | None
    usename: str | None
    application_name: str | None
    backend_type: str | None
    state: str | None
    since: datetime | None
    query: str | None
    granted: bool = True
    # The process of the vacuum that it waits for, itself or behind others, and that one's table.
    behind: int | None = None
    behind_relid: int | None = None
    behind_query: str | None = None


@dataclass(frozen=True)
class Vacuum:
    """A running vacuum, or a worker of autovacuum that does anything."""

    pid: int
    datname: str | None
    # None means that it does something else than vacuum, or nothing yet.
    relid: int | None
    phase: str | None
    is_worker: bool
    since: datetime | None
    query: str | None


@dataclass(frozen=True)
class RunningVacuum:
    """A vacuum or analyze in core's progress views, or a parallel worker of one."""

    pid: int
    # None means that it is no parallel worker.
    leader_pid: int | None
    datid: int
    datname: str | None
    relid: int | None
    # None for the tables of other databases.
    schemaname: str | None
    relname: str | None
    command: str
    # None means that this role may not see it, nor what follows from the session.
    backend_type: str | None
    phase: str | None
    # How much of the phase is done, in blocks or indexes.
    done: int | None
    total: int | None
    pages: int | None
    index_pass: int | None
    started_at: datetime | None
    wait_event_type: str | None
    wait_event: str | None
    query: str | None
    parallel_workers: int
    waiters: int
    waits_for: str | None


@dataclass(frozen=True)
class LastRun:
    """When a table was vacuumed or analyzed last, by hand or by autovacuum."""

    relid: int
    schemaname: str
    relname: str
    command: str
    started_by: str
    ended_at: datetime
    # how often since the statistics began
    times: int


@dataclass(frozen=True)
class CoreFacts:
    """Everything that was read, at one moment."""

    server: Server
    version_num: int
    # in the settings' own units
    settings: dict[str, str]
    relations: tuple[Relation, ...] = ()
    holders: tuple[Holder, ...] = ()
    # Those that are held, and those that are waited for.
    locks: tuple[Lock, ...] = ()
    waits: tuple[Lock, ...] = ()
    vacuums: tuple[Vacuum, ...] = ()
    databases: tuple[DatabaseAge, ...] = ()
    xid_rate: XidRate | None = None
    # None means that it cannot be told.
    members: Members | None = None
    # These are the same relations some seconds earlier, if that was asked for.
    earlier: dict[int, Relation] = field(default_factory=dict)
    earlier_at: datetime | None = None
    sees_everything: bool = True

    @property
    def stats_reset(self) -> datetime | None:
        """Return when the statistics of this database began anew."""
        for database in self.databases:
            if database.datname == self.server.dbname:
                return database.stats_reset
        return None
