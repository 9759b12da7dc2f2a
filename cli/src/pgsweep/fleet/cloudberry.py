"""The provider `cloudberry`: the segments of Cloudberry or Greenplum, from the coordinator.

A segment takes sessions in utility mode only, and a mirror takes none. So mirrors are listed and
not asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pgsweep.base import errors
from pgsweep.fleet.address import is_port
from pgsweep.fleet.node import Found, Node, understood

if TYPE_CHECKING:
    from pgsweep.fleet.citus import Asked
    from pgsweep.source.db import Session

PROVIDER = "cloudberry"
UTILITY = "-c gp_role=utility"
COORDINATOR = -1
ROLES = {"p": "primary", "m": "mirror"}
MODES = {"s": "in sync", "n": "not in sync", "r": "resynchronizing", "c": "change logging"}


def fetch(session: Session, asked: Asked, group: str) -> Found:
    """Return the segments that the coordinator knows."""
    if not session.dicts("fleet_knows")[0]["segments"]:
        raise errors.UsageError(
            f"{session.host}:{session.port} is no coordinator of Cloudberry or Greenplum",
            "gp_segment_configuration has to be there.",
        )
    return parse(session.dicts("fleet_segments"), asked, group)


def parse(rows: Iterable[Mapping[str, Any]], asked: Asked, group: str) -> Found:
    """Return the nodes of rows of gp_segment_configuration. What is odd about one is said."""
    nodes, notes = understood(
        rows, lambda row: _node(row, asked, group), "A row of gp_segment_configuration"
    )
    if not nodes:
        raise errors.QueryError("gp_segment_configuration has no segments")
    swapped = [node.name for node in nodes if "not its preferred role" in node.state]
    if swapped:
        notes.append(
            "Segments are not in their preferred role after a failover: "
            f"{', '.join(swapped[:5])}{' and others' if len(swapped) > 5 else ''}. "
            "gprecoverseg -r brings them back."
        )
    return Found(tuple(nodes), tuple(notes))


def _node(row: Mapping[str, Any], asked: Asked, group: str) -> Node:
    dbid, content, port = row.get("dbid"), row.get("content"), row.get("port")
    host = row.get("address") or row.get("hostname")
    role = row.get("role")
    if isinstance(content, bool) or not isinstance(content, int) or content < COORDINATOR:
        raise ValueError(f"the content of segment {dbid} is no number of a segment")
    if not isinstance(role, str) or role not in ROLES:
        raise ValueError(f"the role of segment {dbid} is neither p nor m")
    if not isinstance(host, str) or not host:
        raise ValueError(f"segment {dbid} has no address")
    if not is_port(port):
        raise ValueError(f"the port of segment {dbid} is no port")
    mirror = ROLES[role] == "mirror"
    mode = MODES.get(str(row.get("mode")), "of an unknown mode")
    itself = content == COORDINATOR and not mirror
    state = []
    if row.get("status") != "u":
        state.append("down")
    if row.get("preferred_role") not in (None, role):
        state.append("not its preferred role")
    if mirror and mode != "in sync":
        state.append(mode)
    return Node(
        name=_name(content, mirror),
        group=group,
        role=_role(content, mirror),
        host=asked.host if itself else host,
        port=asked.port if itself else port,
        host_id=str(row.get("hostname") or host),
        provider=PROVIDER,
        service=asked.service,
        dbname=asked.dbname,
        user=asked.user,
        options=None if itself else UTILITY,
        state=", ".join(state),
        unasked=f"a mirror takes no sessions ({mode})" if mirror else "",
    )


def _name(content: int, mirror: bool) -> str:
    if content == COORDINATOR:
        return "standby" if mirror else "coordinator"
    return f"seg{content} mirror" if mirror else f"seg{content}"


def _role(content: int, mirror: bool) -> str:
    if content == COORDINATOR:
        return "standby" if mirror else "coordinator"
    return "mirror" if mirror else "segment"
