"""How large indexes and tables are, and how large they would be if they were built anew."""

from __future__ import annotations

from dataclasses import dataclass

# What has no more pages than that is never worth a rebuild.
SMALL_PAGES = 8


@dataclass(frozen=True)
class ColumnFacts:
    """A column of an index or a table: its type, and what ANALYZE knows of it (pg_stats).

    None means that ANALYZE has not seen it, or that this role may not read the table.
    """

    # pg_attribute.attlen: bytes, -1 for a varlena, -2 for a C string
    length: int
    # pg_attribute.attalign: c, s, i or d
    align: str
    notnull: bool
    # bytes, with the header of a varlena
    width: int | None = None
    null_frac: float | None = None
    # as pg_stats has it: negative is a share of the table's rows
    n_distinct: float | None = None
    # of the most common values, as shares of the table's rows
    freqs: list[float] | None = None
    # bytes of the values at the bounds of the histogram, which are a sample
    lengths: list[int] | None = None
    # of the elements of an array or tsvector
    elem_freqs: list[float] | None = None
    elem_counts: list[float] | None = None
    # whether equal keys are stored once (btree, from 13 on)
    dedup: bool = False


@dataclass(frozen=True)
class IndexFacts:
    """An index, as the catalogs describe it."""

    relid: int
    schemaname: str
    relname: str
    sql_name: str
    table_relid: int
    table_schemaname: str
    table_relname: str
    # the access method
    method: str
    # As of the last VACUUM or ANALYZE. entries and table_rows are negative if not known.
    pages: int
    entries: float
    table_rows: float
    table_pages: int
    reloptions: list[str] | None
    is_unique: bool
    is_exclusion: bool
    is_valid: bool
    is_catalog: bool
    is_partial: bool
    # columns that are no INCLUDE ones
    keys: int
    # the process that builds it, if somebody does
    built_by: int | None
    columns: tuple[ColumnFacts, ...]


@dataclass(frozen=True)
class HeapFacts:
    """A table, as the catalogs describe it."""

    relid: int
    schemaname: str
    relname: str
    sql_name: str
    pages: int
    table_rows: float
    reloptions: list[str] | None
    is_catalog: bool
    columns: tuple[ColumnFacts, ...]
    # Of its TOAST table, as of the last VACUUM. Negative chunks: not known.
    toast_pages: int = 0
    toast_chunks: float = 0
    # of all its indexes
    index_pages: int = 0
    # It has the key that REPACK (CONCURRENTLY) needs.
    is_keyed: bool = False

    @property
    def table_relid(self) -> int:
        """As an index has it."""
        return self.relid


@dataclass(frozen=True)
class Bloat:
    """An index or a table: its size, and what of it a rebuild would give back.

    Sizes are in bytes. `content` is what it would take if it were built anew. It is an estimate.
    None means that it is not known, and `basis` says why.
    """

    schemaname: str
    relname: str
    table_relname: str
    # btree, gin, ..., or table
    kind: str
    size: int
    content: int | None
    wasted: int | None
    basis: str
    # the statement that gives the space back, what it takes and what it risks
    fix: str
    risk: str
