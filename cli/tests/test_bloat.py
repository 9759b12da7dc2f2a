"""What a rebuilt index would take, by what ANALYZE knows, against sizes of real ones."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

import samples
from pgsweep.findings.bloat import horizon_note, of_index, of_table, worst_first
from pgsweep.findings.content import heap_pages, index_pages
from pgsweep.model.bloat import ColumnFacts, HeapFacts, IndexFacts

BLOCK = 8192
BIGINT = ColumnFacts(8, "d", True, width=8, null_frac=0, n_distinct=-1, dedup=True)
TEXT = ColumnFacts(-1, "i", True, width=33, null_frac=0, n_distinct=-1, lengths=[32], dedup=True)
INDEX = IndexFacts(
    relid=16390,
    schemaname="public",
    relname="t_pkey",
    sql_name="public.t_pkey",
    table_relid=16384,
    table_schemaname="public",
    table_relname="t",
    method="btree",
    pages=5000,
    entries=1e6,
    table_rows=1e6,
    table_pages=10000,
    reloptions=None,
    is_unique=True,
    is_exclusion=False,
    is_valid=True,
    is_catalog=False,
    is_partial=False,
    keys=1,
    built_by=None,
    columns=(BIGINT,),
)
TABLE = HeapFacts(
    relid=16384,
    schemaname="public",
    relname="t",
    sql_name="public.t",
    pages=10000,
    table_rows=1e6,
    reloptions=None,
    is_catalog=False,
    columns=(BIGINT, TEXT),
    is_keyed=True,
)


@pytest.mark.parametrize(
    ("index", "pages"),
    [
        # CREATE INDEX of a million rows, PostgreSQL 15: what pg_relation_size() said after it
        (INDEX, 2745),
        (replace(INDEX, reloptions=["fillfactor=50"]), 4971),
        (replace(INDEX, reloptions=["fillfactor=100"]), 2475),
        (replace(INDEX, is_unique=False), 2745),
        (replace(INDEX, columns=(TEXT,)), 7210),
    ],
)
def test_index_without_equal_keys(index: IndexFacts, pages: int) -> None:
    found, _ = index_pages(index, BLOCK)
    assert found == pytest.approx(pages, rel=0.02)


@pytest.mark.parametrize(
    ("column", "pages"),
    [
        # a value for each ten rows, and for each hundred thousand
        (replace(BIGINT, n_distinct=-0.1), 1157),
        (replace(BIGINT, n_distinct=10, freqs=[0.1] * 10), 850),
    ],
)
def test_equal_keys_are_stored_once(column: ColumnFacts, pages: int) -> None:
    index = replace(INDEX, is_unique=False, columns=(column,))
    found, _ = index_pages(index, BLOCK)
    assert found == pytest.approx(pages, rel=0.10)
    alone = replace(index, reloptions=["deduplicate_items=off"])
    assert index_pages(alone, BLOCK)[0] == pytest.approx(2745, rel=0.02)
    unsafe = replace(index, columns=(replace(column, dedup=False),))
    assert index_pages(unsafe, BLOCK)[0] == pytest.approx(2745, rel=0.02)


def test_what_nobody_has_analyzed_is_not_known() -> None:
    unknown = replace(TEXT, width=None, lengths=None)
    assert index_pages(replace(INDEX, columns=(unknown,)), BLOCK)[0] is None
    assert index_pages(replace(INDEX, table_rows=-1, entries=-1), BLOCK)[0] is None
    assert heap_pages(replace(TABLE, table_rows=-1), BLOCK)[0] is None
    row = of_index(replace(INDEX, columns=(unknown,)), BLOCK)
    assert (row.content, row.wasted) == (None, None)
    assert "may not read the table" in row.basis


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
@pytest.mark.parametrize("method", ["btree", "hash", "gin", "gist", "spgist"])
def test_a_queue_that_is_nearly_empty(rows: int, method: str) -> None:
    half = replace(BIGINT, notnull=False, null_frac=0.5, elem_freqs=[0.0], elem_counts=[1.0])
    columns = (half,) * (1 if method in ("hash", "gin") else 3)
    index = replace(INDEX, is_unique=False, method=method, keys=len(columns), columns=columns)
    pages, _ = index_pages(replace(index, table_rows=rows, entries=rows), BLOCK)
    assert pages is None or pages <= 8


def test_an_empty_index_has_one_page() -> None:
    assert index_pages(replace(INDEX, table_rows=0, entries=0), BLOCK)[0] == 1


def test_a_fixed_column_needs_no_statistics() -> None:
    bare = ColumnFacts(8, "d", True)
    assert index_pages(replace(INDEX, columns=(bare,)), BLOCK)[0] == pytest.approx(2745, rel=0.02)


def test_table() -> None:
    # a million rows of bigint and md5, PostgreSQL 15
    assert heap_pages(TABLE, BLOCK)[0] == pytest.approx(9346, rel=0.02)


@pytest.mark.parametrize(
    ("index", "fix", "risk"),
    [
        (INDEX, "REINDEX INDEX CONCURRENTLY public.t_pkey;", "21 MB and as much WAL"),
        (replace(INDEX, is_catalog=True), "REINDEX INDEX public.t_pkey;", "system catalog"),
        (replace(INDEX, is_exclusion=True), "REINDEX INDEX public.t_pkey;", "exclusion"),
        (
            replace(INDEX, is_valid=False, relname="t_pkey_ccnew1"),
            "DROP INDEX CONCURRENTLY public.t_pkey;",
            "REINDEX CONCURRENTLY that failed",
        ),
        (
            replace(INDEX, is_valid=False),
            "REINDEX INDEX CONCURRENTLY public.t_pkey;",
            "CREATE INDEX CONCURRENTLY that failed",
        ),
        (replace(INDEX, is_valid=False, built_by=4711), "", "process 4711 is building it"),
    ],
)
def test_index_is_mended(index: IndexFacts, fix: str, risk: str) -> None:
    row = of_index(index, BLOCK)
    assert row.fix == fix
    assert risk in row.risk


def test_all_of_an_invalid_index_is_wasted_unless_somebody_builds_it() -> None:
    broken = replace(INDEX, is_valid=False)
    assert of_index(broken, BLOCK).wasted == 5000 * BLOCK
    assert of_index(replace(broken, built_by=4711), BLOCK).wasted is None


def test_table_is_mended_as_the_version_can() -> None:
    assert of_table(TABLE, BLOCK, 180001).fix == "VACUUM (FULL) public.t;"
    assert "pg_repack" in of_table(TABLE, BLOCK, 180001).risk
    assert of_table(TABLE, BLOCK, 190000).fix == "REPACK (CONCURRENTLY) public.t;"
    # A TOAST table has four chunks on a page at least. A small one is as large as it is.
    plain = of_table(TABLE, BLOCK, 160000)
    toasted = of_table(replace(TABLE, toast_pages=1000, toast_chunks=400), BLOCK, 160000)
    assert (toasted.size - plain.size, toasted.content) == (
        1000 * BLOCK,
        (plain.content or 0) + 100 * BLOCK,
    )
    small = of_table(replace(TABLE, toast_pages=8, toast_chunks=-1), BLOCK, 160000)
    assert small.wasted == plain.wasted
    unknown = of_table(replace(TABLE, toast_pages=1000, toast_chunks=-1), BLOCK, 160000)
    assert (unknown.content, unknown.basis) == (None, "its TOAST table was never vacuumed")
    no_key = replace(TABLE, is_keyed=False)
    assert of_table(no_key, BLOCK, 190000).fix == "VACUUM (FULL) public.t;"
    catalog = replace(TABLE, is_catalog=True)
    assert of_table(catalog, BLOCK, 190000).fix == "VACUUM (FULL) public.t;"


def test_what_is_smaller_than_estimated_has_no_bloat() -> None:
    row = of_index(replace(INDEX, pages=2000), BLOCK)
    assert (row.size, row.wasted) == (row.content, 0)


def test_who_holds_the_horizon_for_long_is_named() -> None:
    young = samples.blocker(since=samples.NOW - timedelta(minutes=59), age=5)
    old = samples.blocker(since=samples.NOW - timedelta(minutes=61), pid=4711)
    assert horizon_note((), "shop", samples.NOW) == ()
    assert horizon_note((young,), "shop", samples.NOW) == ()
    (note,) = horizon_note((young, old), "shop", samples.NOW)
    assert "A rebuild now keeps dead rows that are needed by" in note
    assert "process 4711" in note


def test_the_worst_comes_first_and_what_is_not_known_last() -> None:
    worse = replace(of_index(INDEX, BLOCK), relname="worse", wasted=10**9)
    unknown = replace(worse, relname="unknown", wasted=None)
    rows = worst_first([unknown, of_index(INDEX, BLOCK), worse])
    assert [row.relname for row in rows] == ["worse", "t_pkey", "unknown"]
