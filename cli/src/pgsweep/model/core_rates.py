"""How fast things grow, and when they will be there. All of it is pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from pgsweep.model.core_facts import XidRate

if TYPE_CHECKING:
    from pgsweep.model.core_facts import CoreFacts, Relation

# Over a shorter time a difference says nothing, because the clock of a checkpoint has whole
# seconds.
LEAST_SECONDS = 10.0
FARTHEST = timedelta(days=36_500)


def when(now: datetime, missing: float, per_s: float | None) -> datetime | None:
    """Return when it will have grown by so much. None means never, or not in a century."""
    if per_s is None or per_s <= 0:
        return None
    seconds = max(missing, 0.0) / per_s
    if seconds > FARTHEST.total_seconds():
        return None
    return now + timedelta(seconds=seconds)


def xid_rate(
    before: tuple[datetime, int] | None, after: tuple[datetime, int], basis: str, least_s: float
) -> XidRate | None:
    """Return transactions per second between two readings of the next transaction id."""
    if before is None:
        return None
    seconds = (after[0] - before[0]).total_seconds()
    used = after[1] - before[1]
    if seconds < least_s or used < 0:
        return None
    return XidRate(used / seconds, basis.format(seconds=seconds))


def since_checkpoint(checkpoint: Mapping[str, Any], now: Mapping[str, Any]) -> XidRate | None:
    """Return how fast transaction ids were used, from rows of core_checkpoint and core_next_xid."""
    basis = "since the checkpoint {seconds:.0f} s ago"
    return xid_rate(reading(checkpoint), reading(now), basis, LEAST_SECONDS)


def reading(row: Mapping[str, Any]) -> tuple[datetime, int]:
    """Return when the next transaction id was which, from a row of either."""
    # The control file has the epoch apart from the 32 bits that follow it.
    epoch, _, xid = row["next_xid"].rpartition(":")
    return row["at"], int(epoch or 0) * 2**32 + int(xid)


def dead_per_s(facts: CoreFacts, relation: Relation) -> float | None:
    """Return how fast rows die.

    The rate is measured if possible, and else the mean since the last vacuum.
    """
    return _per_s(facts, relation, "dead_tuples")


def inserted_per_s(facts: CoreFacts, relation: Relation) -> float | None:
    """Return how fast rows are inserted.

    The rate is measured if possible, and else the mean since the last vacuum.
    """
    return _per_s(facts, relation, "ins_since_vacuum")


def _per_s(facts: CoreFacts, relation: Relation, counter: str) -> float | None:
    now, have = facts.server.now, int(getattr(relation, counter))
    before = facts.earlier.get(relation.relid)
    if before is not None and facts.earlier_at is not None:
        seconds = (now - facts.earlier_at).total_seconds()
        grown = have - int(getattr(before, counter))
        return grown / seconds if seconds > 0 and grown >= 0 else None
    since = relation.last_vacuum or facts.stats_reset
    if since is None:
        return None
    seconds = (now - since).total_seconds()
    return have / seconds if seconds >= LEAST_SECONDS else None
