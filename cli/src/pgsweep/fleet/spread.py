"""Where the parts of a table are: the shards of a Citus table, or the table itself on each node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pgsweep.base import errors
from pgsweep.fleet import citus
from pgsweep.fleet.node import STANDBYS

if TYPE_CHECKING:
    from pgsweep.fleet.citus import Shard
    from pgsweep.fleet.node import Node
    from pgsweep.fleet.providers import Fleet
    from pgsweep.fleet.seats import Seats
    from pgsweep.source.db import Session


@dataclass(frozen=True)
class Spread:
    """The shards of each Citus cluster of a fleet, by its name. Others have none."""

    clusters: dict[str, tuple[Shard, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def on(self, node: Node) -> tuple[Shard, ...]:
        """Return the shards that a node has."""
        shards = self.clusters.get(node.citus or "", ())
        return tuple(shard for shard in shards if shard.groupid == node.group_id)

    def tables(self, node: Node) -> tuple[str, ...]:
        """Return the Citus tables that the shards belong to. Each node with metadata has them."""
        shards = self.clusters.get(node.citus or "", ())
        return tuple(dict.fromkeys(shard.table for shard in shards))

    def is_distributed(self, node: Node) -> bool:
        """Tell whether the table that was asked for is a Citus table on this node's cluster."""
        return bool(self.clusters.get(node.citus or ""))


def spread(seats: Seats, fleet: Fleet, table: str | None, deadline_s: float) -> Spread:
    """Return where the shards of a table, or of all tables, are. Any node with metadata does."""
    clusters: dict[str, tuple[Shard, ...]] = {}
    notes: list[str] = []
    names = dict.fromkeys(node.citus for node in fleet.nodes if node.citus)

    def ask(session: Session, _: Node) -> tuple[Shard, ...]:
        if table is None:
            return citus.shards(session)
        try:
            return citus.shards(session, session.find_relation(table).relid)
        except errors.UsageError:
            # It may be a table of one node only, say a shard by its own name.
            return ()

    for name in filter(None, names):
        candidates = _candidates(fleet.everyone, name)
        answered = False
        for node in candidates:
            (answer,) = seats.ask([node], ask, deadline_s)
            answered = answered or answer.value is not None
            if answer.value:
                clusters[name] = answer.value
                break
        if not answered:
            notes.append(f'No node of "{name}" says where the shards are.')
    return Spread(clusters, tuple(notes))


def _candidates(everyone: Sequence[Node], name: str) -> list[Node]:
    """Return the nodes of a cluster that can have metadata, the coordinator first, at most three.

    Each that is silent costs a deadline.
    """
    found = [
        node
        for node in everyone
        if node.citus == name and not node.unasked and node.role not in STANDBYS
    ]
    return sorted(found, key=lambda node: node.group_id or 0)[:3]
