"""When building an index or a table anew is worth what it costs, and what is left of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pgsweep.agent.act import DROP, REINDEX, REPACK, Act
from pgsweep.agent.needs import COPIES
from pgsweep.base import text
from pgsweep.findings.bloat import REPACK_VERSION, of_index, of_table

if TYPE_CHECKING:
    from pgsweep.model.bloat import HeapFacts, IndexFacts

DAY_S = 86_400.0
# What a rebuild saves within so many days has to exceed what it costs. A byte that is held for a
# day is worth one that is read or written once.
PAYS_BACK_DAYS = 30
# What it saves must not be back sooner than that, and no index is rebuilt twice within it.
LASTS_S = 7 * DAY_S
# From so much more than its content on, and from so many bytes that would be given back.
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
    """The last time that the agent built a relation anew."""

    # seconds of the agent's clock
    ended: float
    # Bytes: the estimate before it, and its size after it. None where that is not known.
    estimate: int | None = None
    size: int | None = None


@dataclass(frozen=True)
class Use:
    """What is known of how a relation is used and grows."""

    # blocks that scans read from outside shared buffers, in a second
    reads_per_s: float = 0.0
    # (seconds of the agent's clock, bytes), the oldest first
    sizes: tuple[tuple[float, int], ...] = ()
    rebuilt: Rebuilt | None = None
    # tries since then that came to nothing, and when the last of them ended
    failures: int = 0
    failed: float = 0.0


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
class Place:
    """A database at a look."""

    datname: str
    now: float
    block: int
    room: Room
    uses: Mapping[int, Use] = field(default_factory=dict)


UNUSED = Use()
LEAST_ROOM = 1 << 30


def may_reindex(version_num: int) -> bool:
    """Tell whether REINDEX CONCURRENTLY can be trusted.

    14.0 to 14.3 leave entries out of the index (PostgreSQL's release notes for 14.4).
    """
    return not 140000 <= version_num < 140004


def content_of(estimate: int | None, use: Use) -> tuple[int | None, int | None]:
    """Return the content and what it is at most, in bytes, by what the last rebuild taught."""
    if estimate is None:
        return None, None
    last = use.rebuilt
    if last is not None and last.estimate and last.size:
        sure = estimate * last.size / last.estimate
        return round(sure), round(sure)
    return estimate, round(estimate * UNSURE)


def refresh_days(use: Use, content: int, wasted: int) -> float | None:
    """Return after how many days what a rebuild saves would be back. None: nobody knows.

    It goes by what the index has grown since the last rebuild.
    """
    last = use.rebuilt
    if last is None:
        return None
    since = [point for point in use.sizes if point[0] >= last.ended]
    if not since or since[-1][0] <= last.ended:
        return None
    grown = since[-1][1] - (last.size or content)
    if grown <= 0:
        return float("inf")
    return wasted / (grown / (since[-1][0] - last.ended)) / DAY_S


def acts(found: Iterable[IndexFacts], where: Place) -> Iterator[Act]:
    """Yield the indexes whose rebuild is worth it, each with its evidence."""
    for index in found:
        if index.method not in METHODS or not index.is_valid or index.built_by is not None:
            continue
        if index.is_catalog or index.is_exclusion or index.schemaname in COPIES:
            continue
        size = index.pages * where.block
        estimate = of_index(index, where.block).content
        # It reads the table.
        gain = _gain(index.relid, size, estimate, Work(index.table_pages * where.block), where)
        if gain is not None:
            yield _act(REINDEX, gain, where, index, f"REINDEX INDEX CONCURRENTLY {index.sql_name}")


def rewrites(found: Iterable[HeapFacts], where: Place) -> Iterator[Act]:
    """Yield the tables whose rewrite by REPACK (CONCURRENTLY) is worth it, from 19 on."""
    for table in found:
        if table.is_catalog or not table.is_keyed or table.schemaname in COPIES:
            continue
        of = of_table(table, where.block, REPACK_VERSION)
        # It reads the table and builds all its indexes.
        work = Work(of.size, table.index_pages * where.block)
        gain = _gain(table.relid, of.size, of.content, work, where)
        if gain is not None:
            yield _act(REPACK, gain, where, table, f"REPACK (CONCURRENTLY) {table.sql_name}")


@dataclass(frozen=True)
class Work:
    """What building a relation anew takes beside its content, in bytes."""

    reads: int
    writes: int = 0


@dataclass(frozen=True)
class _Gain:
    """What building a relation anew gains and takes, in bytes."""

    size: int
    content: int
    cost: int
    saves: int
    grown: str


def _gain(relid: int, size: int, estimate: int | None, work: Work, where: Place) -> _Gain | None:
    """Return what building a relation anew gains, if that is worth it and there is room."""
    use = where.uses.get(relid, UNUSED)
    content, at_most = content_of(estimate, use)
    if content is None or at_most is None or not _has_rested(use, where.now):
        return None
    wasted = size - at_most
    if wasted < LEAST_BYTES or size <= BLOATED * at_most:
        return None
    days = refresh_days(use, content, wasted)
    if days is not None and days * DAY_S < LASTS_S:
        return None
    # What is written is written to WAL as well.
    written = content + work.writes
    cost = work.reads + 2 * written
    reads = use.reads_per_s * DAY_S * where.block * wasted / size
    saves = round((wasted + reads) * PAYS_BACK_DAYS)
    if saves <= cost or not _fits(written, where.room):
        return None
    return _Gain(size, content, cost, saves, _growth(use, size))


def _act(kind: str, gain: _Gain, where: Place, of: IndexFacts | HeapFacts, statement: str) -> Act:
    return Act(
        kind=kind,
        datname=where.datname,
        relid=of.relid,
        table_relid=of.table_relid,
        name=f"{of.schemaname}.{of.relname}",
        statement=statement,
        reason=f"{text.size(gain.size)} for about {text.size(gain.content)} of content{gain.grown}",
        urgency=min(9.0, gain.saves / max(gain.cost, 1) / PAYS_BACK_DAYS),
        size=gain.size,
        content=gain.content,
        cost=gain.cost,
        saves=gain.saves,
    )


def _has_rested(use: Use, now: float) -> bool:
    """Tell whether it may be tried. Each try that comes to nothing makes the next one rarer."""
    last = use.rebuilt
    if last is not None and now - last.ended < LASTS_S:
        return False
    rest = min(LASTS_S, ATTEMPTS_REST_S * 2.0 ** min(use.failures - 1, 10))
    return use.failures == 0 or now - use.failed >= rest


def _growth(use: Use, size: int) -> str:
    """Return since when it has grown, as far as that was watched."""
    if len(use.sizes) < 2:
        return ""
    since, first = use.sizes[0]
    if size <= first:
        return ""
    return f", {text.size(first)} {(use.sizes[-1][0] - since) / DAY_S:.1f} days before"


def _fits(written: int, room: Room) -> bool:
    if room.disk is not None:
        return written * ROOM < room.disk
    return written * ROOM < max(LEAST_ROOM, room.databases / 100)


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
