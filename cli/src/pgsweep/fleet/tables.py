"""One look at the tables of all nodes of a fleet, with all their parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgsweep.fleet import parts, spread, view
from pgsweep.fleet.node import STANDBYS

if TYPE_CHECKING:
    from pgsweep.fleet.node import Node
    from pgsweep.fleet.parts import SpreadTable
    from pgsweep.fleet.providers import Fleet
    from pgsweep.fleet.seats import Seats
    from pgsweep.source.db import Session


@dataclass(frozen=True)
class TablesSeen:
    """The tables, those with most due parts first, and the nodes that did not tell theirs."""

    tables: tuple[SpreadTable, ...]
    # how many nodes were asked, and those that have not answered, each with the reason
    asked: int
    silent: tuple[tuple[Node, str], ...]
    notes: tuple[str, ...] = ()

    @property
    def trouble(self) -> str:
        """Return why there is nothing at all. It is empty if somebody has answered."""
        return no_answer(self.silent) if len(self.silent) == self.asked else ""


def look(seats: Seats, fleet: Fleet, deadline_s: float) -> TablesSeen:
    """Return the tables of all nodes."""
    where = spread.spread(seats, fleet, None, deadline_s)
    of_citus = {
        name
        for shards in where.clusters.values()
        for shard in shards
        for name in (
            parts.qualified(shard.schemaname, shard.relname),
            parts.qualified(shard.shard_schemaname, shard.part_relname),
            parts.qualified(shard.shard_schemaname, shard.shard_relname),
        )
    }
    asked = [node for node in fleet.nodes if has_tables(node)]

    def read(session: Session, node: Node) -> list[parts.Part]:
        return parts.read(session, node, where.on(node), of_citus if node.citus else set())

    answers = seats.ask(asked, read, deadline_s)
    return TablesSeen(
        tables=parts.together(part for answer in answers for part in answer.value or ()),
        asked=len(asked),
        silent=tuple(
            (node, view.trouble_of(answer))
            for node, answer in zip(asked, answers, strict=True)
            if answer.value is None
        ),
        notes=where.notes,
    )


def no_answer(silent: Sequence[tuple[Node, str]]) -> str:
    """Return what to say when there is no answer. Without silent nodes nobody was asked."""
    if silent:
        node, why = silent[0]
        return f"no node has answered: {node.name}: {why}"
    return "no node can be asked: tables are asked of primaries, and none is known here"


def has_tables(node: Node) -> bool:
    """Tell whether a node is asked for tables. A standby has the same ones as its primary."""
    return not node.unasked and (node.provider == "file" or node.role not in STANDBYS)
