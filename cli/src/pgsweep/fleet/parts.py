"""Tables that are spread over nodes: what all shards or partitions of each come to. Pure but for
`read`, which asks one node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgsweep.findings import sources
from pgsweep.fleet.summary import skew
from pgsweep.model import compute

if TYPE_CHECKING:
    from pgsweep.fleet.citus import Shard
    from pgsweep.fleet.node import Node
    from pgsweep.fleet.summary import Skew
    from pgsweep.model import Table
    from pgsweep.source.db import Session

# What is in these is nobody's table: catalogs, those of extensions as well, and TOAST tables.
SYSTEM_SCHEMAS = ("pg_catalog", "pg_toast", "information_schema", "columnar_internal")


@dataclass(frozen=True)
class Part:
    """A table with rows on one node, and the table that it is a part of."""

    node: str
    table: str
    name: str
    due: bool
    dead_tuples: int
    score: float
    pages: int


@dataclass(frozen=True)
class SpreadTable:
    """A table and what all its parts on all nodes come to."""

    table: str
    parts: int
    nodes: int
    due: int
    dead_tuples: int
    pages: int
    # the part that is the most urgent
    worst: Part
    # dead rows by node
    skew: Skew | None


def read(session: Session, node: Node, shards: Sequence[Shard], of_citus: set[str]) -> list[Part]:
    """Return the tables of a node as parts of larger ones.

    `of_citus` are Citus tables and shards of any node. Those that are not `shards` of this one do
    not count: a Citus table has no rows of its own, and a shard that was moved away is yet to be
    removed.
    """
    above = {
        row["relid"]: qualified(row["schemaname"], row["relname"])
        for row in session.dicts("fleet_parents")
    }
    logical = {
        qualified(shard.shard_schemaname, shard.shard_relname): qualified(
            shard.schemaname, shard.relname
        )
        for shard in shards
    }
    found = []
    for row in sources.tables(session).rows:
        name = qualified(row.schemaname or "", row.relname or "")
        if not _counts(row) or (name in of_citus and name not in logical):
            continue
        found.append(
            Part(
                node=node.name,
                table=logical.get(name) or above.get(row.relid) or name,
                name=name,
                due=bool(row.do_vacuum),
                dead_tuples=row.dead_tuples or 0,
                score=row.score or 0.0,
                pages=row.pages or 0,
            )
        )
    return found


def _counts(row: Table) -> bool:
    """Tell whether it is a table of users that has rows of its own."""
    return (
        row.schemaname not in SYSTEM_SCHEMAS
        and row.decision != "partitioned"
        and row.relname is not None
    )


def qualified(schemaname: str, relname: str) -> str:
    """Return a table's name as it is shown, without the schema public."""
    return relname if schemaname in ("", "public") else f"{schemaname}.{relname}"


def together(parts: Iterable[Part]) -> tuple[SpreadTable, ...]:
    """Return the tables, those with most due parts first."""
    by_table: dict[str, list[Part]] = {}
    for part in parts:
        by_table.setdefault(part.table, []).append(part)
    found = [_table(name, mine) for name, mine in by_table.items()]
    return tuple(sorted(found, key=lambda row: (-row.due, -row.dead_tuples, row.table)))


def _table(name: str, parts: Sequence[Part]) -> SpreadTable:
    dead: dict[str, int] = {}
    for part in parts:
        dead[part.node] = dead.get(part.node, 0) + part.dead_tuples
    return SpreadTable(
        table=name,
        parts=len(parts),
        nodes=len(dead),
        due=sum(part.due for part in parts),
        dead_tuples=sum(dead.values()),
        pages=sum(part.pages for part in parts),
        worst=max(parts, key=lambda part: (part.score, part.dead_tuples)),
        skew=skew([(count, node) for node, count in dead.items()]),
    )


def total(tables: Sequence[SpreadTable]) -> str:
    """Return how much there is in all."""
    due = sum(table.due for table in tables)
    parts = sum(table.parts for table in tables)
    return f"{compute.plural(len(tables), 'table')} in {compute.plural(parts, 'part')}, {due:,} due"
