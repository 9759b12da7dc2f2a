"""Asks one node what the view of the fleet shows.

Without the extension each part is asked by itself, so that one that a server does not have leaves
the others alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pgsweep import compute, core_views, errors
from pgsweep.core.blockers import blockers as core_blockers
from pgsweep.core.facts import Holder
from pgsweep.db import Session
from pgsweep.fleet.citus import Origin, gpid_of, origin
from pgsweep.fleet.node import Node
from pgsweep.fleet.reading import NodeReading
from pgsweep.model import Blocker, DatabaseAge, Server, Status

T = TypeVar("T")


class _Parts:
    """Reads parts of which each may be missing."""

    def __init__(self) -> None:
        self.missing: list[str] = []

    def read(self, what: str, ask: Callable[[], T]) -> T | None:
        """Return a part. None means that this server does not have it, or does not show it."""
        try:
            return ask()
        except (errors.ConnectionLostError, errors.CannotConnectError):
            raise
        except errors.DatabaseError as exc:
            self.missing.append(f"{what}: {exc.said or exc.message}")
            return None


def read(session: Session) -> NodeReading:
    """Return what a node says. It asks the extension where it is, and core's views where not.

    Many nodes are asked at the same time. So it is done by as few questions as can be.
    """
    row = session.dicts("fleet_server")[0]
    version = row.pop("extension")
    oldest = DatabaseAge(
        **{name: row.pop(name) for name in ("datid", "datname", "xid_age", "mxid_age")},
        stats_reset=None,
    )
    server = Server(**row, host=session.host, port=session.port)
    if version is None:
        return _of_core(session, server, oldest)
    return _of_extension(session, server, oldest, version)


def _said(session: Session) -> list[list[dict[str, Any]]]:
    """Return the row of the status, what each vacuum does, and the rates of ids."""
    try:
        return session.several("fleet_status", "fleet_running", "xid_rate")
    except (errors.VersionMismatchError, errors.PermissionDeniedError):
        # What is under the views may be another in each version, and be closed to a role that may
        # read the views.
        return session.several("status", "fleet_running_view", "xid_rate")


def _of_extension(
    session: Session, server: Server, oldest: DatabaseAge, version: str
) -> NodeReading:
    ((first,), each, (rate,)) = _said(session)
    status = Status.of({**first, "sql_version": version})
    session.check_versions(status.sql_version, status.library_version)
    # The workers that help a vacuum are in what it does.
    vacuums = [row for row in each if row["leader_pid"] is None]

    def together(name: str) -> float:
        return sum(row[name] or 0.0 for row in vacuums)

    # Nothing is held back where nothing runs, and nobody holds a horizon of age 0. So a server at
    # rest is asked little.
    limits = session.budget() if vacuums and session.views().budget else ()
    held = status.horizon_age != 0 and session.views().blockers
    return NodeReading(
        server=server,
        status=status,
        due=status.due,
        vacuums=len(vacuums),
        read_mb_per_s=together("read_mb_per_s"),
        dirty_mb_per_s=together("dirty_mb_per_s"),
        wal_mb_per_s=together("wal_mb_per_s"),
        oldest=oldest,
        xids_per_s=rate["xids_per_s"],
        blocker=_oldest(session.blockers()) if held else None,
        conflicts=_conflicts(session, server),
        binding=next((limit.name for limit in limits if limit.binding), None),
    )


@dataclass(frozen=True)
class _Counts:
    """What there is on a server without the extension. None is what it does not show."""

    can_read_stats: bool
    # whether a vacuum may run, and whether somebody may hold the horizon
    vacuums: bool
    holders: bool
    due: int | None
    xids_per_s: float | None


def _counts(session: Session, parts: _Parts) -> _Counts:
    """Ask all at once, and where that fails each by itself."""
    try:
        (there,), (now,), (checkpoint,), (due,) = session.several(
            "fleet_core", "core_next_xid", "core_checkpoint", "fleet_due"
        )
    except (errors.ConnectionLostError, errors.CannotConnectError):
        raise
    except errors.DatabaseError:
        there = session.dicts("fleet_core")[0]
        rate = parts.read("xid rate", lambda: core_views.xid_rate(session))
        due = parts.read("due tables", lambda: session.dicts("fleet_due")[0]) or {"due": None}
    else:
        rate = core_views.xid_rate_between(checkpoint, now)
    return _Counts(**there, **due, xids_per_s=None if rate is None else rate.per_s)


def _of_core(session: Session, server: Server, oldest: DatabaseAge) -> NodeReading:
    parts = _Parts()
    counts = _counts(session, parts)
    running = (
        parts.read("running vacuums", lambda: core_views.progress(session))
        if counts.vacuums
        else ()
    )
    if not counts.can_read_stats:
        parts.missing.append(
            f'sessions of others, because role "{server.role}" is not in pg_monitor'
        )
    return NodeReading(
        server=server,
        due=counts.due,
        vacuums=None if running is None else len(compute.running(running)),
        oldest=oldest,
        xids_per_s=counts.xids_per_s,
        blocker=parts.read(
            "horizon",
            lambda: _oldest(core_blockers(session.rows("core_holders", Holder), server.dbname)),
        )
        if counts.holders
        else None,
        conflicts=parts.read("standby conflicts", lambda: _conflicts(session, server)),
        missing=tuple(parts.missing),
    )


def _oldest(blockers: Iterable[Blocker]) -> Blocker | None:
    return max(blockers, key=lambda row: row.age or 0, default=None)


def _conflicts(session: Session, server: Server) -> int | None:
    """Return how many queries were cancelled on a standby."""
    if not server.in_recovery:
        return None
    return sum(row.cancelled or 0 for row in session.recovery_conflicts())


# -- who is behind it --------------------------------------------------------------


def wanted_origin(
    nodes: Iterable[Node], reading: NodeReading | None
) -> tuple[Node | None, Origin] | None:
    """Return the node and process for which the holder of a horizon works, if it does."""
    gpid = gpid_of(reading.blocker.name) if reading and reading.blocker else None
    if gpid is None:
        return None
    node, pid = origin(tuple(nodes), gpid)
    return node, Origin(gpid, node.name if node else f"node {gpid // 10**10}", pid)


def fill_origin(session: Session, found: Origin) -> Origin:
    """Return the origin with what its own node knows of the session."""
    rows = session.dicts("fleet_origin", {"pid": found.pid})
    return replace(found, **rows[0]) if rows else found
