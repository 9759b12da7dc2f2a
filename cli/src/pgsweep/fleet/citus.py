"""The provider `citus`: the nodes of a Citus cluster, from any node that has its metadata.

What Citus knows is what its nodes call each other. The node that was asked is known by a better
address: the one that led to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pgsweep.base import errors
from pgsweep.fleet.address import is_port
from pgsweep.fleet.node import Found, Node, understood
from pgsweep.source.core.blockers import identifier

if TYPE_CHECKING:
    from pgsweep.source.db import Session

PROVIDER = "citus"
# A global pid is so many times the node's number, plus the pid there.
GPID_BASE = 10_000_000_000
_GPID = re.compile(r"\bgpid=(\d{1,18})\b")
COORDINATOR_GROUP = 0


@dataclass(frozen=True)
class Asked:
    """The node that was asked, as it was reached."""

    host: str | None
    port: int | None
    service: str | None = None
    dbname: str | None = None
    user: str | None = None


@dataclass(frozen=True)
class Shard:
    """A placement of a shard, the table it is a part of, and the group of nodes it is on."""

    schemaname: str
    relname: str
    # the Citus table of the shard itself, which may be a partition of that table
    part_relname: str
    shard_schemaname: str
    shard_relname: str
    groupid: int

    @property
    def written(self) -> str:
        """Return the shard's name as SQL and our commands take it."""
        return f"{identifier(self.shard_schemaname)}.{identifier(self.shard_relname)}"

    @property
    def table(self) -> str:
        """Return the name of the Citus table of the shard itself, in the same way."""
        return f"{identifier(self.shard_schemaname)}.{identifier(self.part_relname)}"


@dataclass(frozen=True)
class Origin:
    """The session that a session on another node works for."""

    gpid: int
    node: str
    pid: int
    usename: str | None = None
    application_name: str | None = None
    state: str | None = None
    query: str | None = None


def fetch(session: Session, asked: Asked, group: str) -> Found:
    """Return the nodes that a node knows."""
    if not session.dicts("fleet_knows")[0]["citus"]:
        raise errors.UsageError(
            f'database "{session.dbname}" of {session.host}:{session.port} has no Citus',
            "Name the database that is distributed with -d, on any node with metadata.",
        )
    own = session.dicts("fleet_citus_local")
    groupid = own[0].get("groupid") if own else None
    return parse(session.dicts("fleet_citus"), groupid, asked, group)


def parse(
    rows: Iterable[Mapping[str, Any]], own_groupid: object, asked: Asked, group: str
) -> Found:
    """Return the nodes of rows of pg_dist_node. What is odd about one is said."""
    nodes, notes = understood(
        rows, lambda row: _node(row, own_groupid, asked, group), "A row of pg_dist_node"
    )
    if own_groupid == COORDINATOR_GROUP and not any(node.group_id == 0 for node in nodes):
        # A coordinator without shards need not be among the nodes.
        nodes.insert(0, _coordinator(asked, group))
    if not nodes:
        raise errors.QueryError(
            "this node knows no other nodes of Citus",
            "Ask the coordinator, or give the node metadata (start_metadata_sync_to_node).",
        )
    return Found(tuple(nodes), tuple(notes))


def _node(row: Mapping[str, Any], own_groupid: object, asked: Asked, group: str) -> Node:
    node_id, group_id = row.get("nodeid"), row.get("groupid")
    name, port = row.get("nodename"), row.get("nodeport")
    if not _is_number(node_id) or not _is_number(group_id):
        raise ValueError("nodeid or groupid is no number")
    if not isinstance(name, str) or not name:
        raise ValueError(f"node {node_id} has no name")
    if not is_port(port):
        raise ValueError(f"the port of node {node_id} is no port")
    secondary = row.get("noderole") == "secondary"
    role = "coordinator" if group_id == COORDINATOR_GROUP else "worker"
    first = role == "coordinator" and not secondary
    state = []
    if row.get("isactive") is False:
        state.append("inactive")
    if role == "worker" and row.get("shouldhaveshards") is False:
        state.append("gets no shards")
    itself = group_id == own_groupid and not secondary
    return Node(
        name=role if first else f"{name}:{port}",
        group=group,
        role="standby" if secondary else role,
        host=asked.host if itself else name,
        port=asked.port if itself else port,
        host_id=name,
        provider=PROVIDER,
        service=asked.service,
        dbname=asked.dbname,
        user=asked.user,
        state=", ".join(state),
        citus=group,
        node_id=node_id,
        group_id=group_id,
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _coordinator(asked: Asked, group: str) -> Node:
    return Node(
        name="coordinator",
        group=group,
        role="coordinator",
        host=asked.host,
        port=asked.port,
        host_id=asked.host or "",
        provider=PROVIDER,
        service=asked.service,
        dbname=asked.dbname,
        user=asked.user,
        citus=group,
        # Citus counts a coordinator that is not among the nodes as node 0.
        node_id=0,
        group_id=COORDINATOR_GROUP,
    )


# -- shards ----------------------------------------------------------------------


def shards(session: Session, relid: int | None = None) -> tuple[Shard, ...]:
    """Return the shards of all tables, or of one. A table that is not distributed has none."""
    if not session.dicts("fleet_knows")[0]["citus"]:
        return ()
    return parse_shards(session.dicts("fleet_shards", {"relid": relid}))


def parse_shards(rows: Iterable[Mapping[str, Any]]) -> tuple[Shard, ...]:
    """Return the shards of rows. One without a name belongs to a table that was just dropped."""
    return tuple(
        Shard(
            schemaname=row["schemaname"],
            relname=row["relname"],
            part_relname=row["part_relname"],
            shard_schemaname=row["shard_schemaname"],
            shard_relname=last_name(row["shard_sql_name"]),
            groupid=row["groupid"],
        )
        for row in rows
        if row["shard_sql_name"]
    )


def last_name(written: str) -> str:
    """Return the last part of a name as SQL has it, without its quotes.

    shard_name() quotes names, and leaves out a schema that is in the search path.
    """
    parts = re.findall(r'"((?:[^"]|"")*)"|([^".]+)', written)
    quoted, plain = parts[-1] if parts else ("", written)
    return plain or quoted.replace('""', '"')


# -- global pids -------------------------------------------------------------------


def gpid_of(name: str | None) -> int | None:
    """Return the global pid in the name of a session that Citus has opened for another one."""
    match = _GPID.search(name or "")
    return int(match[1]) if match else None


def origin(nodes: Sequence[Node], gpid: int) -> tuple[Node | None, int]:
    """Return the node and the process that a global pid means. None means an unknown node."""
    node_id, pid = divmod(gpid, GPID_BASE)
    return next((node for node in nodes if node.node_id == node_id), None), pid
