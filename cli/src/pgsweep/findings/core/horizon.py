"""The finding that somebody holds the horizon of a table, so that a vacuum is in vain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pgsweep.findings.core.finding import finding
from pgsweep.model import compute, core_rates as rates
from pgsweep.model.compute import described
from pgsweep.source.core import words

if TYPE_CHECKING:
    from pgsweep.findings.core.finding import Finding
    from pgsweep.findings.core.tables import Judged
    from pgsweep.model import Blocker
    from pgsweep.model.core_facts import CoreFacts

# A holder as old as this matters even if no vacuum has met it yet.
OLD_HOLDER = timedelta(minutes=5)
OLD_HOLDER_XIDS = 100_000


def held(facts: CoreFacts, judged: Judged, mine: Sequence[Blocker]) -> Iterator[Finding]:
    """Return the holder of this table's horizon that does harm.

    `mine` are the holders that affect the table.
    """
    if not mine:
        return
    relation, now = judged.relation, facts.server.now
    oldest = mine[0].age or 0
    level = [blocker for blocker in mine if (blocker.age or 0) * 2 > oldest]
    blocker = next((row for row in level if _met(facts, judged, row)), mine[0])
    met = _met(facts, judged, blocker)
    long = blocker.since is not None and now - blocker.since >= OLD_HOLDER
    old = long or (blocker.age or 0) >= OLD_HOLDER_XIDS
    if judged.due_by_age and oldest * 2 > (relation.xid_age or 0):
        severity, verdict = 85, "vacuumed, but it cannot be frozen"
    elif met and judged.due_by_rows:
        severity, verdict = 60, "vacuumed, but its dead rows cannot be removed"
    elif judged.due_by_rows and old:
        severity, verdict = 57, "a vacuum could not remove what died lately"
    elif met and old:
        severity, verdict = 15, "vacuumed, and some dead rows stayed"
    else:
        return
    evidence = _holder_evidence(facts, judged, blocker, met)
    if len(level) > 1:
        others = compute.plural(len(level) - 1, "other")
        is_so = "is" if len(level) == 2 else "are"
        evidence += f". {others} {is_so} nearly as old, see pgsweep blockers"
    yield finding(
        judged,
        severity,
        verdict,
        f"horizon held by {described(blocker, facts.server.dbname)}",
        evidence,
        blocker.fix or "",
        blocker.risk or "",
        shared=f"horizon {blocker.kind} {blocker.pid} {blocker.name}",
    )


def _met(facts: CoreFacts, judged: Judged, blocker: Blocker) -> bool:
    """Tell whether it was there already when the table was vacuumed, and dead rows stayed."""
    relation = judged.relation
    since = blocker.since or _estimated_since(facts, blocker)
    return (
        relation.last_vacuum is not None
        and since is not None
        and since <= relation.last_vacuum
        and relation.dead_tuples > 0
    )


def _estimated_since(facts: CoreFacts, blocker: Blocker) -> datetime | None:
    """Return since when a slot or a standby has held back, as its age suggests."""
    rate = facts.xid_rate
    if rate is None or rate.per_s <= 0 or not blocker.age:
        return None
    return facts.server.now - min(timedelta(seconds=blocker.age / rate.per_s), rates.FARTHEST)


def _holder_evidence(facts: CoreFacts, judged: Judged, blocker: Blocker, met: bool) -> str:
    parts = [compute.old(blocker.age)]
    if blocker.since is not None:
        parts.append(f"for {words.span(facts.server.now - blocker.since)}")
    if blocker.usename:
        parts.append(f'by "{blocker.usename}"')
    if blocker.state:
        parts.append(blocker.state)
    if met and judged.relation.last_vacuum is not None:
        ago = words.span(facts.server.now - judged.relation.last_vacuum)
        parts.append(f"{judged.relation.dead_tuples:,} dead rows after the vacuum {ago} ago")
    elif judged.relation.dead_tuples:
        parts.append(f"{judged.relation.dead_tuples:,} dead rows here")
    if blocker.query:
        parts.append(f"query: {words.query(blocker.query)}")
    return ", ".join(parts)
