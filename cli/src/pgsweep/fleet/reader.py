"""Asks one node what the view of the fleet shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pgsweep import errors
from pgsweep.fleet.citus import Origin, gpid_of, origin
from pgsweep.fleet.reading import NodeReading, cancelled, oldest_of
from pgsweep.model import DatabaseAge, Server, Status

if TYPE_CHECKING:
    from pgsweep.db import Session
    from pgsweep.fleet.node import Node


def read(session: Session) -> NodeReading:
    """Return what a node says. It asks the extension where it is, and core's views where not.

    Many nodes are asked at the same time. So it is done by as few questions as can be.
    """
    (shown,), (switch,), (limit,), databases, extensions = session.several(
        "show_server_version",
        "show_autovacuum",
        "show_autovacuum_freeze_max_age",
        "fleet_server",
        "fleet_extensions",
    )
    row = max(databases, key=lambda one: one["xid_age"])
    oldest = DatabaseAge(
        **{name: row.pop(name) for name in ("datid", "datname", "xid_age", "mxid_age")},
        stats_reset=None,
    )
    server = Server(
        **row,
        version=shown["server_version"],
        autovacuum=switch["autovacuum"] == "on",
        freeze_max_age=int(limit["autovacuum_freeze_max_age"]),
        host=session.host,
        port=session.port,
    )
    version = next((one["extversion"] for one in extensions if one["extname"] == "pg_sweep"), None)
    if version is None:
        # Most fleets have it everywhere, and need not load this.
        from pgsweep.fleet import core_reader

        return core_reader.read(session, server, oldest)
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
        blocker=oldest_of(session.blockers()) if held else None,
        conflicts=cancelled(session.recovery_conflicts()) if server.in_recovery else None,
        binding=next((limit.name for limit in limits if limit.binding), None),
    )


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
