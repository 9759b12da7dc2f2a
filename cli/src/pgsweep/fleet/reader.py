"""Asks one node what the view of the fleet shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pgsweep.base import errors
from pgsweep.fleet import about
from pgsweep.fleet.citus import Origin, gpid_of, origin
from pgsweep.fleet.reading import NodeReading, cancelled, oldest_of
from pgsweep.model import Blocker, Limit, Status

if TYPE_CHECKING:
    from pgsweep.fleet.node import Node
    from pgsweep.source.db import Session, Views

RATES = ("read_mb_per_s", "dirty_mb_per_s", "wal_mb_per_s")


def read(session: Session) -> NodeReading:
    """Return what a node says. It asks the extension where it is, and core's views where not.

    Many nodes are asked at the same time. So it is done by as few questions as can be.
    """
    version = session.extension_version()
    if version is None:
        # Most fleets have it everywhere, and need not load this.
        from pgsweep.fleet import core_reader

        return core_reader.read(session)
    return _of_extension(session, version)


def _said(session: Session) -> tuple[dict[str, Any], dict[str, Any], Views | None]:
    """Return the row of the status, what the server says of itself, and which views there are.

    None for the views means that it has all that this version has.
    """
    try:
        (status,), (node,) = session.several("fleet_status", "fleet_node")
        return status, node, None
    except (errors.VersionMismatchError, errors.PermissionDeniedError):
        # What is under the views may be another in each version, and be closed to a role that may
        # read the views.
        *own, (status,), each, (rate,) = session.several(
            *about.QUERIES, "status", "fleet_running", "xid_rate"
        )
        # The workers that help a vacuum are in what it does.
        vacuums = [row for row in each if row["leader_pid"] is None]
        sums = {name: sum(row[name] or 0.0 for row in vacuums) for name in RATES}
        node = {**about.row(own), **sums, "vacuums": len(vacuums), **rate}
        return status, node, session.views()


def _more(session: Session, budget: bool, blockers: bool) -> tuple[list[Limit], list[Blocker]]:
    """Return the limits and what holds the horizon, as far as they are wanted, by one question."""
    names = [name for name, wanted in (("budget", budget), ("blockers", blockers)) if wanted]
    found = dict(zip(names, session.several(*names), strict=True)) if names else {}
    return (
        [Limit(**row) for row in found.get("budget", ())],
        [Blocker(**row) for row in found.get("blockers", ())],
    )


def _of_extension(session: Session, version: str) -> NodeReading:
    first, node, views = _said(session)
    status = Status.of({**first, "sql_version": version})
    session.check_versions(status.sql_version, status.library_version)
    server = about.server(session, node)
    # Nothing is held back where nothing runs, and nobody holds a horizon of age 0. So a server at
    # rest is asked little.
    limits, blockers = _more(
        session,
        budget=node["vacuums"] > 0 and (views is None or views.budget),
        blockers=status.horizon_age != 0 and (views is None or views.blockers),
    )
    return NodeReading(
        server=server,
        status=status,
        due=status.due,
        vacuums=node["vacuums"],
        **{name: node[name] for name in RATES},
        oldest=about.oldest(node),
        xids_per_s=node["xids_per_s"],
        blocker=oldest_of(blockers),
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
