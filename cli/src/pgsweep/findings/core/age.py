"""Findings about age: a vacuum that is forced, and the wraparound behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pgsweep.findings.core.finding import finding
from pgsweep.model import compute, core_rates as rates
from pgsweep.source.core import words

if TYPE_CHECKING:
    from pgsweep.findings.core.finding import Finding
    from pgsweep.findings.core.tables import Judged
    from pgsweep.model.core_facts import CoreFacts

# From this share of the freeze limit on, the age is mentioned.
AHEAD = 0.8


def wraparound(facts: CoreFacts, judged: Judged) -> Iterator[Finding]:
    """Return the finding that the oldest row or multixact is near its limit."""
    relation, options = judged.relation, judged.options
    age, limit = relation.xid_age or 0, options.freeze_max_age
    multi, multi_limit = relation.mxid_age or 0, options.multixact_freeze_max_age
    if multi / max(multi_limit, 1) > age / max(limit, 1) and multi > AHEAD * multi_limit:
        yield _age_finding(
            judged,
            multi / multi_limit,
            multi,
            f"oldest multixact is {multi:,} old, {100 * multi / multi_limit:.0f} % of "
            f"autovacuum_multixact_freeze_max_age ({multi_limit:,})",
        )
        return
    if age <= AHEAD * limit:
        return
    evidence = (
        f"oldest row is {compute.old(age)}, {100 * age / limit:.0f} % of "
        f"autovacuum_freeze_max_age ({limit:,})"
    )
    rate = facts.xid_rate
    if rate is not None and rate.per_s > 0:
        left = compute.STOP_AGE - age
        stop = rates.when(facts.server.now, left, rate.per_s)
        evidence += f". At {words.number(rate.per_s)} transactions/s ({rate.basis}) "
        if age <= limit:
            forced = rates.when(facts.server.now, limit - age, rate.per_s)
            evidence += f"a vacuum is forced on {words.date(forced, facts.server.now)}, and "
        evidence += f"the server would stop writing on {words.date(stop, facts.server.now)}"
    else:
        evidence += f". The server stops writing in {compute.STOP_AGE - age:,} transactions"
    yield _age_finding(judged, age / limit, age, evidence)


def _age_finding(judged: Judged, share: float, age: int, evidence: str) -> Finding:
    severity, verdict = 30, "a forced vacuum is near"
    if age >= compute.FAILSAFE_AGE:
        severity, verdict = 100, "in danger of wraparound"
    elif share >= 1.5:
        severity, verdict = 90, "forced vacuum does not get through"
    elif share > 1:
        severity, verdict = 70, "forced vacuum is due"
    return finding(
        judged,
        severity,
        verdict,
        "wraparound ahead",
        evidence,
        f"VACUUM (FREEZE, VERBOSE) {judged.relation.sql_name};",
        "reads the whole table, and writes every page that is not frozen, with its WAL. "
        "It removes nothing that the horizon's holder still needs",
    )
