"""Why a table is not being vacuumed, from core's views alone.

It returns causes, the worst first. All of it is pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pgsweep.findings.core import age, horizon, not_due, obstacles
from pgsweep.findings.core.tables import HEAPS, judge, statistics_missing, switched_off
from pgsweep.model import Cause, compute
from pgsweep.source.core.blockers import affects, blockers

if TYPE_CHECKING:
    from pgsweep.findings.core.finding import Finding
    from pgsweep.findings.core.tables import Judged
    from pgsweep.model import Blocker
    from pgsweep.model.core_facts import CoreFacts

WORST = 10
# Causes less grave than this are not listed among the worst.
NEWS = 20


def explain(facts: CoreFacts) -> tuple[Cause, ...]:
    """Return every cause for the relations that were read, for one table and its TOAST table.

    For the TOAST table it returns only what deserves mention beside its main table.
    """
    alone = len(facts.relations) == 1
    return _ranked([row for row in _findings(facts) if alone or not row.toast or row.severity > 10])


def explain_worst(facts: CoreFacts, limit: int = WORST) -> tuple[Cause, ...]:
    """Return the worst causes in this database. A cause of many tables comes once."""
    kept: list[Finding] = []
    others: dict[str, int] = {}
    named: set[str] = set()
    for finding in _sorted(_findings(facts)):
        # If a table has a graver cause, it does not matter that it waits its turn.
        waits = finding.severity == NEWS and finding.relation in named
        if finding.severity < NEWS or waits:
            continue
        named.add(finding.relation)
        if finding.shared and finding.shared in others:
            others[finding.shared] += 1
            continue
        if finding.shared:
            others[finding.shared] = 0
        kept.append(finding)
    merged = [
        replace(finding, evidence=f"{finding.evidence}. {_more(others[finding.shared])}")
        if others.get(finding.shared)
        else finding
        for finding in kept
    ]
    return _ranked(merged)[:limit]


def _more(count: int) -> str:
    has = "has" if count == 1 else "have"
    return f"{compute.plural(count, 'more table')} {has} the same cause"


def _sorted(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda row: (-row.severity, -row.score, row.relation))


def _ranked(findings: Sequence[Finding]) -> tuple[Cause, ...]:
    return tuple(
        Cause(
            rank=rank,
            relation=row.relation,
            verdict=row.verdict,
            cause=row.cause,
            evidence=row.evidence,
            fix=row.fix,
            risk=row.risk,
        )
        for rank, row in enumerate(_sorted(findings), start=1)
    )


def _findings(facts: CoreFacts) -> list[Finding]:
    dbname = facts.server.dbname
    holding = blockers(facts.holders, dbname)
    # There are many tables, but only a few kinds of them.
    mine = {
        (shared, catalog): [row for row in holding if affects(row, dbname, shared, catalog)]
        for shared in (False, True)
        for catalog in (False, True)
    }
    found: list[Finding] = []
    for judged in judge(facts):
        kind = (judged.relation.is_shared, judged.relation.is_catalog)
        found.extend(_of_table(facts, judged, mine[kind]))
    return found


def _of_table(facts: CoreFacts, judged: Judged, holding: Sequence[Blocker]) -> Iterator[Finding]:
    relation = judged.relation
    if relation.relkind not in HEAPS:
        yield not_due.no_heap(judged)
        return
    if relation.relpersistence == "t":
        yield not_due.temporary(judged)
        return
    # whether it needs a vacuum, even if that would achieve nothing
    wanted = judged.due_by_rows or judged.due_by_age
    held = list(horizon.held(facts, judged, holding))
    running = obstacles.running_on(facts, judged)
    for finding in age.wraparound(facts, judged):
        # The vacuum that would be proposed runs already.
        yield replace(finding, fix="", risk="") if running else finding
    yield from held
    yield from obstacles.behind(facts, judged)
    if facts.server.in_recovery:
        yield not_due.standby(judged)
        return
    if running:
        yield obstacles.being_vacuumed(judged, running)
        return
    off = None if judged.due_by_age else switched_off(facts, judged)
    if off is not None:
        yield not_due.off(judged, off)
    if not wanted and statistics_missing(relation):
        yield not_due.unknown(facts, judged)
    if not wanted and off is None and not statistics_missing(relation):
        yield not_due.below(facts, judged)
    if wanted and off is None:
        in_the_way = [*obstacles.locks(facts, judged), *obstacles.busy(facts, judged)]
        yield from in_the_way
        if not in_the_way and not any(row.severity >= 60 for row in held):
            yield obstacles.waiting(facts, judged)
