"""When rebuilding an index is worth what it costs, and which leftovers of one are dropped. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pgsweep.agent.act import DROP, REINDEX, Act
from pgsweep.agent.needs import COPIES
from pgsweep.base import text
from pgsweep.findings.bloat import of_index

if TYPE_CHECKING:
    from pgsweep.model.bloat import IndexFacts

DAY_S = 86_400.0
# What a rebuild saves within so many days has to exceed what it costs. A byte that is held for a
# day is worth one that is read or written once.
PAYS_BACK_DAYS = 30
# What it saves must not be back sooner than that, and no index is rebuilt twice within it.
LASTS_S = 7 * DAY_S
# From half as large again as its content on, and from so many bytes that would be given back.
BLOATED = 1.3
LEAST_BYTES = 1024 * 1024
# The estimate's error at the 95th percentile (bench/bloat), where the index's own is not known.
UNSURE = 1.4
# Somebody else's leftover is left alone for so long, because its REINDEX may go on.
FOREIGN_S = 600.0
# While it is built, an index takes its own size once more, and its sort about as much again.
ROOM = 2.2
ATTEMPTS_REST_S = 3600.0
METHODS = ("btree", "gin", "gist", "hash", "spgist")


@dataclass(frozen=True)
class Rebuilt:
    """The last time that the agent rebuilt an index, or tried to."""

    # seconds of the agent's clock
    ended: float
    done: bool
    # Bytes: the estimate before it, and its size after it. None where it was not done.
    estimate: int | None = None
    size: int | None = None


@dataclass(frozen=True)
class Use:
    """What is known of how an index is used and grows."""

    # blocks that scans read from outside shared buffers, in a second
    reads_per_s: float = 0.0
    # (seconds of the agent's clock, bytes), the oldest first
    sizes: tuple[tuple[float, int], ...] = ()
    rebuilt: Rebuilt | None = None


@dataclass(frozen=True)
class Room:
    """What the server has left for a rebuild. Bytes. None: not known."""

    disk: int | None
    # all databases, which a rebuild may take a hundredth of where the disk is not known
    databases: int


@dataclass(frozen=True)
class Leftover:
    """An invalid index that REINDEX CONCURRENTLY has left behind."""

    relid: int
    table_relid: int
    schemaname: str
    relname: str
    sql_name: str
    # Somebody has a lock on it or its table, as who is building it has.
    held: bool


@dataclass(frozen=True)
class Indexes:
    """The indexes of a database at a look."""

    datname: str
    now: float
    block: int
    room: Room
    uses: Mapping[int, Use] = field(default_factory=dict)


UNUSED = Use()
LEAST_ROOM = 1 << 30


def content_of(index: IndexFacts, use: Use, block: int) -> tuple[int | None, int | None]:
    """Return the estimated content, and what it is at most, both in bytes."""
    estimate = of_index(index, block).content
    if estimate is None:
        return None, None
    last = use.rebuilt
    if last is not None and last.done and last.estimate and last.size:
        sure = estimate * last.size / last.estimate
        return round(sure), round(sure)
    return estimate, round(estimate * UNSURE)


def refresh_days(use: Use, content: int, wasted: int) -> float | None:
    """Return after how many days what a rebuild saves would be back. None: nobody knows.

    It goes by what the index has grown since the last rebuild.
    """
    last = use.rebuilt
    if last is None or not last.done:
        return None
    since = [point for point in use.sizes if point[0] >= last.ended]
    if not since or since[-1][0] <= last.ended:
        return None
    grown = since[-1][1] - (last.size or content)
    if grown <= 0:
        return float("inf")
    return wasted / (grown / (since[-1][0] - last.ended)) / DAY_S


def acts(found: Iterable[IndexFacts], where: Indexes) -> Iterator[Act]:
    """Yield the rebuilds that are worth it, each with its evidence."""
    for index in found:
        act = _rebuild(index, where)
        if act is not None:
            yield act


def _rebuild(index: IndexFacts, where: Indexes) -> Act | None:
    if index.method not in METHODS or not index.is_valid or index.built_by is not None:
        return None
    if index.is_catalog or index.is_exclusion or index.schemaname in COPIES:
        return None
    use = where.uses.get(index.relid, UNUSED)
    if not _has_rested(use, where.now):
        return None
    content, at_most = content_of(index, use, where.block)
    if content is None or at_most is None:
        return None
    size = index.pages * where.block
    wasted = size - at_most
    if wasted < LEAST_BYTES or size <= BLOATED * at_most:
        return None
    days = refresh_days(use, content, wasted)
    if days is not None and days * DAY_S < LASTS_S:
        return None
    # It reads the table, and writes the index and the same in WAL.
    cost = index.table_pages * where.block + 2 * content
    reads = use.reads_per_s * DAY_S * where.block * wasted / size
    saves = round((wasted + reads) * PAYS_BACK_DAYS)
    if saves <= cost or not _fits(content, where.room):
        return None
    return Act(
        kind=REINDEX,
        datname=where.datname,
        relid=index.relid,
        table_relid=index.table_relid,
        name=f"{index.schemaname}.{index.relname}",
        statement=f"REINDEX INDEX CONCURRENTLY {index.sql_name}",
        reason=f"{text.size(size)} for about {text.size(content)} of content" + _growth(use, size),
        urgency=min(9.0, saves / max(cost, 1) / PAYS_BACK_DAYS),
        size=size,
        content=content,
        cost=cost,
        saves=saves,
    )


def _has_rested(use: Use, now: float) -> bool:
    last = use.rebuilt
    return last is None or now - last.ended >= (LASTS_S if last.done else ATTEMPTS_REST_S)


def _growth(use: Use, size: int) -> str:
    """Return since when it has grown, as far as that was watched."""
    if len(use.sizes) < 2:
        return ""
    since, first = use.sizes[0]
    if size <= first:
        return ""
    return f", {text.size(first)} {(use.sizes[-1][0] - since) / DAY_S:.1f} days before"


def _fits(content: int, room: Room) -> bool:
    if room.disk is not None:
        return content * ROOM < room.disk
    return content * ROOM < max(LEAST_ROOM, room.databases / 100)


def drops(
    found: Iterable[Leftover],
    datname: str,
    own_tables: frozenset[int],
    first_seen: Mapping[int, float],
    now: float,
) -> Iterator[Act]:
    """Yield the leftovers to drop: ours at once, others' when nobody has worked on them for long.

    `own_tables` are those of which a rebuild of ours did not come to its end.
    """
    for left in found:
        ours = left.table_relid in own_tables
        seen = first_seen.get(left.relid, now)
        if not left.held and (ours or now - seen >= FOREIGN_S):
            yield drop(left, datname)


def drop(left: Leftover, datname: str) -> Act:
    """Return the act that drops a leftover."""
    return Act(
        kind=DROP,
        datname=datname,
        relid=left.relid,
        table_relid=left.table_relid,
        name=f"{left.schemaname}.{left.relname}",
        statement=f"DROP INDEX CONCURRENTLY {left.sql_name}",
        reason="invalid, left by a REINDEX CONCURRENTLY that did not end",
        urgency=50,
    )
