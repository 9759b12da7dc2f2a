"""Which indexes and tables are larger than they have to be, and what gives the space back. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pgsweep.base import text
from pgsweep.findings.content import index_pages, table_pages
from pgsweep.model.bloat import Bloat
from pgsweep.model.compute import described, held_for, is_old

if TYPE_CHECKING:
    from datetime import datetime

    from pgsweep.model import Blocker
    from pgsweep.model.bloat import HeapFacts, IndexFacts

REPACK_VERSION = 190000
TABLE = "table"
# What REINDEX CONCURRENTLY leaves behind when it fails.
LEFTOVERS = ("_ccnew", "_ccold")


def _is_leftover(relname: str) -> bool:
    return relname.rstrip("0123456789").endswith(LEFTOVERS)


def _index_fix(index: IndexFacts, content: int | None) -> tuple[str, str]:
    """Return the statement that gives the space back, and its risk."""
    if index.built_by is not None:
        return "", f"process {index.built_by} is building it"
    if not index.is_valid and _is_leftover(index.relname):
        return (
            f"DROP INDEX CONCURRENTLY {index.sql_name};",
            "A REINDEX CONCURRENTLY that failed left it. No query uses it, but writes maintain it.",
        )
    if index.is_catalog or index.is_exclusion:
        what = "a system catalog" if index.is_catalog else "an exclusion constraint"
        return (
            f"REINDEX INDEX {index.sql_name};",
            f"An index of {what} cannot be rebuilt CONCURRENTLY: its table is locked meanwhile.",
        )
    takes = "" if content is None else f", and writes {text.size(content)} and as much WAL"
    risk = f"Reads the table{takes}. It waits for transactions that are open."
    if not index.is_valid:
        risk = f"It is invalid, from a CREATE INDEX CONCURRENTLY that failed. {risk}"
    return f"REINDEX INDEX CONCURRENTLY {index.sql_name};", risk


def _table_fix(table: HeapFacts, version_num: int) -> tuple[str, str]:
    if table.is_keyed and not table.is_catalog and version_num >= REPACK_VERSION:
        return (
            f"REPACK (CONCURRENTLY) {table.sql_name};",
            "Writes the table and its indexes anew, and as much WAL. Its end locks the table.",
        )
    risk = "Locks the table while it writes it anew, with its indexes and as much WAL."
    if not table.is_catalog:
        risk += " pg_repack and pg_squeeze do it without that lock."
    return f"VACUUM (FULL) {table.sql_name};", risk


def _bloat(
    facts: IndexFacts | HeapFacts,
    of: str,
    kind: str,
    content: int | None,
    basis: str,
    fix: tuple[str, str],
    size: int,
) -> Bloat:
    content = None if content is None else min(content, size)
    return Bloat(
        schemaname=facts.schemaname,
        relname=facts.relname,
        table_relname=of,
        kind=kind,
        size=size,
        content=content,
        wasted=None if content is None else size - content,
        basis=basis,
        fix=fix[0],
        risk=fix[1],
    )


def of_index(index: IndexFacts, block: int) -> Bloat:
    """Return how large an index is and would be. Of one that is invalid all is wasted."""
    pages, basis = index_pages(index, block)
    content = None if pages is None else int(pages) * block
    if index.built_by is not None:
        content, basis = None, "it is being built"
    elif not index.is_valid:
        content, basis = 0, "it is invalid"
    fix = _index_fix(index, content)
    size = index.pages * block
    return _bloat(index, index.table_relname, index.method, content, basis, fix, size)


def of_table(table: HeapFacts, block: int, version_num: int) -> Bloat:
    """Return how large a table is and would be with its TOAST table, without its indexes."""
    pages, basis = table_pages(table, block)
    content = None if pages is None else int(pages) * block
    fix = _table_fix(table, version_num)
    size = (table.pages + table.toast_pages) * block
    return _bloat(table, "", TABLE, content, basis, fix, size)


def horizon_note(blockers: Sequence[Blocker], dbname: str, now: datetime) -> tuple[str, ...]:
    """Return what a rebuild at this time would bring along, if somebody needs old rows for long."""
    for blocker in blockers:
        if is_old(blocker, now):
            who = f"{described(blocker, dbname)}{held_for(blocker, now)}"
            return (f"A rebuild now keeps dead rows that are needed by {who}.",)
    return ()


def worst_first(rows: Iterable[Bloat]) -> list[Bloat]:
    """Return those from which most could be given back first, and those not known last."""
    return sorted(rows, key=lambda row: (row.wasted is None, -(row.wasted or 0), row.relname))
