"""A finding: a cause why a table is not being vacuumed, and how grave it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgsweep.findings.core.tables import Judged

VACUUM_RISK = "reads and writes the table at the speed of vacuum_cost_delay. It blocks no queries"


@dataclass(frozen=True)
class Finding:
    """A cause and how grave it is."""

    severity: int
    score: float
    relation: str
    verdict: str
    cause: str
    evidence: str
    fix: str
    risk: str
    # A cause that several tables have in common is told once, for the worst of them.
    shared: str = ""
    toast: bool = False


def finding(
    judged: Judged,
    severity: int,
    verdict: str,
    cause: str,
    evidence: str,
    fix: str,
    risk: str,
    shared: str = "",
) -> Finding:
    """Return a finding about a table."""
    relation = judged.relation
    name = f"{relation.schemaname}.{relation.relname}"
    if relation.relkind == "t" and relation.main_relname:
        name = f"{name} (TOAST of {relation.main_schemaname}.{relation.main_relname})"
    score = judged.table.score or 0.0
    toast = relation.relkind == "t"
    return Finding(severity, score, name, verdict, cause, evidence, fix, risk, shared, toast)
