"""Why a table is not vacuumed, over all its parts on all nodes: equal causes come once.

Pure but for `read`, which asks one node.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pgsweep.base import errors
from pgsweep.findings.core.explain import explain
from pgsweep.fleet.parts import qualified
from pgsweep.model import Cause, TableName
from pgsweep.source.core import views as core_views

if TYPE_CHECKING:
    from pgsweep.fleet.citus import Shard
    from pgsweep.model.core_facts import CoreFacts
    from pgsweep.source.db import Session


@dataclass(frozen=True)
class PartCause:
    """A cause of one part on one node."""

    node: str
    part: str
    cause: Cause


@dataclass(frozen=True)
class Fix:
    """A statement and the node where it must run."""

    node: str
    fix: str


@dataclass(frozen=True)
class CauseGroup:
    """A cause that parts have in common, worded for the worst of them."""

    verdict: str
    cause: str
    evidence: str
    evidence_of: PartCause
    risk: str
    # node and part
    parts: tuple[tuple[str, str], ...]
    # each statement once for each node
    fixes: tuple[Fix, ...]

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the nodes, in their order."""
        return tuple(dict.fromkeys(node for node, _ in self.parts))


@dataclass(frozen=True)
class NodeCauses:
    """What one node says: how many parts it has, and their causes."""

    parts: int
    causes: tuple[PartCause, ...]


def read(session: Session, name: str, table: str, shards: Sequence[Shard]) -> NodeCauses:
    """Return the causes on one node, of its shards or of the table and its partitions there."""
    relations = _relations(session, table, shards)
    if session.views().explain:
        found = _of_extension(session, relations)
    else:
        found = _of_core(session, relations)
    labels = {row.relid: qualified(row.schemaname, row.relname) for row in relations}
    return NodeCauses(
        len(relations), tuple(PartCause(name, labels[relid], cause) for relid, cause in found)
    )


def _relations(session: Session, table: str, shards: Sequence[Shard]) -> tuple[TableName, ...]:
    if shards:
        wanted = {
            "schemas": [shard.shard_schemaname for shard in shards],
            "names": [shard.shard_relname for shard in shards],
        }
        return session.rows("fleet_relids", TableName, wanted)
    found = session.find_relation(table)
    leaves = session.rows("fleet_leaves", TableName, {"relid": found.relid})
    return leaves or (found,)


def _of_extension(session: Session, relations: Sequence[TableName]) -> list[tuple[int, Cause]]:
    rows = session.dicts("fleet_explain", {"relids": [row.relid for row in relations]})
    return [(row.pop("relid"), Cause(**row)) for row in rows]


def _of_core(session: Session, relations: Sequence[TableName]) -> list[tuple[int, Cause]]:
    facts = core_views.facts(session)
    return [(row.relid, cause) for row in relations for cause in explain(_only(facts, row))]


def _only(facts: CoreFacts, table: TableName) -> CoreFacts:
    """Return the facts about one table and its TOAST table."""
    key = (table.schemaname, table.relname)
    kept = tuple(
        row
        for row in facts.relations
        if row.relid == table.relid or (row.main_schemaname, row.main_relname) == key
    )
    return replace(facts, relations=kept)


def require_any(found: Sequence[NodeCauses], table: str) -> None:
    """Raise if no node has the table."""
    if not any(one.parts for one in found):
        raise errors.UsageError(
            f'no node has a table "{table}"',
            "Name another database with -d. Write SCHEMA.TABLE, with quotes as in SQL.",
        )


def grouped(causes: Sequence[PartCause]) -> tuple[CauseGroup, ...]:
    """Return causes that are equal but for names and process numbers, the worst first."""
    groups: dict[tuple[str, str], list[PartCause]] = {}
    for one in causes:
        key = (_generic(one.cause.verdict, one.part), _generic(one.cause.cause, one.part))
        groups.setdefault(key, []).append(one)
    # The rank says how grave a cause is among those of its part.
    return tuple(
        sorted(
            (_group(mine) for mine in groups.values()),
            key=lambda row: (row.evidence_of.cause.rank, -len(row.parts), row.cause),
        )
    )


def _group(causes: Sequence[PartCause]) -> CauseGroup:
    worst = min(causes, key=lambda one: one.cause.rank)
    fixes = dict.fromkeys(Fix(one.node, one.cause.fix) for one in causes if one.cause.fix)
    return CauseGroup(
        verdict=worst.cause.verdict or "",
        cause=worst.cause.cause or "",
        evidence=worst.cause.evidence or "",
        evidence_of=worst,
        risk=worst.cause.risk or "",
        parts=tuple(dict.fromkeys((one.node, one.part) for one in causes)),
        fixes=tuple(fixes),
    )


def _generic(text: str | None, part: str) -> str:
    """Return a text without the part's name and without numbers, which differ everywhere."""
    return re.sub(r"\d[\d,]*", "N", (text or "").replace(part, "TABLE"))
