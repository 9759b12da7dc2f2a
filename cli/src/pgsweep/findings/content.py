"""How many pages an index or a table would have if it were built anew. All of it is pure.

What is known is what ANALYZE knows: rows, widths, how many values are equal. The layouts and the
ways in which indexes are built are those of PostgreSQL 13 to 19: nbtsort.c, nbtdedup.c and
nbtree.h, hashpage.c, gininsert.c and ginpostinglist.c, bufpage.h and indextuple.c. Where a build
goes by the order of insertion, how full its pages become was measured by bench/bloat.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pgsweep.model.bloat import SMALL_PAGES
from pgsweep.model.core_options import boolean, number_of, parse

if TYPE_CHECKING:
    from pgsweep.model.bloat import ColumnFacts, HeapFacts, IndexFacts

PAGE_HEADER, SPECIAL, LINE_POINTER = 24, 16, 4
ALIGNMENTS = {"c": 1, "s": 2, "i": 4, "d": 8}
SHORT_VARLENA = 127
# An index entry begins with 8 bytes, and with 16 if one of its values is null.
ENTRY, ENTRY_WITH_NULLS = 8, 16
HEAP_HEADER = 23
# BTREE_NONLEAF_FILLFACTOR, and HASH_DEFAULT_FILLFACTOR
NONLEAF_FILL, HASH_FILL = 70, 75
TID = 6
# Above this most buckets of equal keys are alike.
MANY = 40
# So many rows are made up to see how wide they become.
SAMPLE = 200
# How full pages become that split in the order of insertion, measured.
GIN_ENTRY_FILL, GIN_POSTING_FILL = 0.62, 0.95
GIST_FILL, SPGIST_FILL = 0.68, 0.60
# EXTERN_TUPLES_PER_PAGE (access/heaptoast.h)
CHUNKS_PER_PAGE = 4


def _aligned(value: float, to: int = 8) -> int:
    return -(-math.ceil(value) // to) * to


def _widths(column: ColumnFacts, dice: random.Random) -> Iterator[int]:
    """Return widths of values of the column, without end. 0 is a null."""
    while True:
        if column.null_frac and dice.random() < column.null_frac:
            yield 0
        elif column.length > 0:
            yield column.length
        elif column.lengths:
            long = dice.choice(column.lengths)
            yield long + 1 if column.length == -2 or long < SHORT_VARLENA - 1 else long + 4
        else:
            # pg_stats cuts the fraction off. By how much values differ nobody knows.
            yield max(1, round(dice.uniform(0.88, 1.12) * ((column.width or 0) + 0.5)))


def _data(columns: Sequence[ColumnFacts], widths: Sequence[int]) -> int:
    """Return the bytes of a row's values, with the gaps between them."""
    end = 0
    for column, width in zip(columns, widths, strict=True):
        if width == 0:
            continue
        short = column.length == -1 and width <= SHORT_VARLENA
        end = (end if short else _aligned(end, ALIGNMENTS[column.align])) + width
    return end


def is_known(columns: Sequence[ColumnFacts]) -> bool:
    """Return whether it is known how wide all columns are."""
    return all(
        column.width is not None or (column.length >= 0 and column.notnull) or column.null_frac == 1
        for column in columns
    )


def _mean(columns: Sequence[ColumnFacts], header: int, with_nulls: int) -> float:
    """Return the bytes of a row, whose header is longer if one of its values is null."""
    dice = random.Random(1)
    rows = zip(*(_widths(column, dice) for column in columns), strict=False)
    alike = all(
        column.null_frac == 1 or (not column.null_frac and column.length > 0) for column in columns
    )
    number = 1 if alike else SAMPLE
    total = 0
    for widths in itertools.islice(rows, number):
        total += _aligned(_aligned(header if all(widths) else with_nulls) + _data(columns, widths))
    return total / number


def _mean_entry(columns: Sequence[ColumnFacts]) -> float:
    """Return the bytes of an index entry, without its line pointer."""
    return _mean(columns, ENTRY, ENTRY_WITH_NULLS)


def _distinct(column: ColumnFacts, table_rows: float) -> float:
    """Return how many values the column has in all of the table, without null."""
    found = column.n_distinct
    if found is None or found == 0:
        return max(table_rows, 1)
    return max(1.0, found if found > 0 else -found * table_rows)


def _met(values: float, table_rows: float, rows: float) -> float:
    """Return how many of the values so many rows have, which are some of the table's."""
    share = min(1.0, rows / max(table_rows, 1))
    return values * -math.expm1(table_rows / values * math.log1p(-min(share, 1 - 1e-9)))


def _of_one_column(
    index: IndexFacts, columns: Sequence[ColumnFacts], rows: float
) -> Iterator[tuple[float, float]]:
    """Yield how many keys there are, each with how many rows have it. No key is null."""
    column = columns[0]
    known = 1 - (column.null_frac or 0)
    freqs = [freq / known for freq in column.freqs or () if freq * rows > known]
    yield from ((1.0, freq * rows) for freq in freqs)
    rest = rows * (1 - sum(freqs))
    if rest < 1:
        return
    table_rows = max(index.table_rows, rows)
    others = max(1.0, _distinct(column, table_rows) - len(freqs))
    keys = _met(others, table_rows, rest) if index.is_partial else min(others, rest)
    yield max(1.0, keys), rest / max(1.0, keys)


def _of_several(
    index: IndexFacts, columns: Sequence[ColumnFacts], rows: float
) -> Iterator[tuple[float, float]]:
    """Yield the same for several columns, of which nobody knows how they depend on each other."""
    table_rows = max(index.table_rows, rows)
    values = 1.0
    for column in columns:
        values = min(1e15, values * _distinct(column, table_rows))
    keys = max(1.0, min(rows, values * -math.expm1(-rows / values)))
    yield keys, rows / keys


def _groups(index: IndexFacts, rows: float) -> Iterator[tuple[float, float, float]]:
    """Yield how many keys there are, how many rows have each, and the bytes of its entry.

    Nulls are equal to each other, and narrower than values. So the rows are told apart by them.
    """
    columns = index.columns[: index.keys]
    nullable = [i for i, column in enumerate(columns) if (column.null_frac or 0) > 0][:3]
    for which in itertools.product((0.0, 1.0), repeat=len(nullable)):
        known = list(columns)
        part = rows
        for i, null in zip(nullable, which, strict=True):
            frac = columns[i].null_frac or 0
            part *= frac if null else 1 - frac
            known[i] = replace(columns[i], null_frac=null)
        if part < 1:
            continue
        entry = _mean_entry(known)
        left = [column for column in known if not column.null_frac]
        if not left:
            yield 1.0, part, entry
            continue
        found = (_of_one_column if len(left) == 1 else _of_several)(index, left, part)
        yield from ((number, equal, entry) for number, equal in found)


def _shares(equal: float) -> Iterator[tuple[int, float]]:
    """Return how many rows a key has by chance, at least one, if it has so many on average."""
    if equal > MANY:
        yield round(equal), 1.0
        return
    rate = max(1e-9, equal - 1)
    for _ in range(50):  # the mean of a Poisson distribution without zero
        rate = max(1e-9, equal * -math.expm1(-rate))
    chance = math.exp(-rate) / -math.expm1(-rate)
    for number in range(1, 4 * MANY):
        chance *= rate / number
        yield number, chance


def _posting_lists(entry: float, equal: int, block: int) -> tuple[float, float]:
    """Return how many items so many equal keys take on leaf pages, and their bytes."""
    most = block // 10 // 8 * 8 - LINE_POINTER
    fit = int((most - entry) // TID)
    if fit < 2:
        return equal, equal * (entry + LINE_POINTER)
    full, rest = divmod(equal, fit)
    bytes_: float = full * (_aligned(entry + TID * fit) + LINE_POINTER)
    if rest > 1:
        bytes_ += _aligned(entry + TID * rest) + LINE_POINTER
    elif rest == 1:
        bytes_ += entry + LINE_POINTER
    return full + (rest > 0), bytes_


def _btree_items(index: IndexFacts, rows: float, block: int) -> tuple[float, float]:
    """Return how many items leaf pages have, and their bytes."""
    keys = index.columns[: index.keys]
    wanted = boolean(parse(index.reloptions).get("deduplicate_items"), True)
    included = len(keys) < len(index.columns)
    each_alone = rows, rows * (_mean_entry(index.columns) + LINE_POINTER)
    if index.is_unique or not wanted or included or not all(column.dedup for column in keys):
        return each_alone
    items = bytes_ = 0.0
    for number, equal, entry in _groups(index, rows):
        for each, chance in _shares(equal):
            of_key = _posting_lists(entry, each, block)
            items += number * chance * of_key[0]
            bytes_ += number * chance * of_key[1]
    # Of a handful of rows no group may have a whole one.
    return (items, bytes_) if items >= 1 else each_alone


def _btree(index: IndexFacts, rows: float, block: int) -> float:
    fill = number_of(parse(index.reloptions).get("fillfactor")) or 90
    items, bytes_ = _btree_items(index, rows, block)
    # A page is closed when less than this is free. Its last entry moves on, but for its key.
    room = block - PAGE_HEADER - SPECIAL - 2 * LINE_POINTER - block * (100 - fill) / 100
    per_page = max(2.0, math.floor(room / (bytes_ / items)))
    if items != rows:  # of different sizes
        per_page = max(2.0, room / (bytes_ / items) - 0.5)
    level = math.ceil(items / per_page)
    pages = 1.0 + level
    pivot = _mean_entry(index.columns[: index.keys]) + LINE_POINTER
    fan_out = max(2.0, (block * NONLEAF_FILL / 100 - PAGE_HEADER - SPECIAL) / pivot)
    while level > 1:
        level = math.ceil(level / fan_out)
        pages += level
    return pages


def _hash(index: IndexFacts, rows: float, block: int) -> float:
    fill = number_of(parse(index.reloptions).get("fillfactor")) or HASH_FILL
    item = 8 + 8 + LINE_POINTER
    wanted = max(2.0, rows / max(10, block * fill // 100 // item))
    # The number of buckets doubles in four steps from 1,024 on.
    buckets = 2.0 ** math.ceil(math.log2(wanted))
    if buckets > 1024:
        step = buckets / 8
        buckets = buckets / 2 + step * math.ceil((wanted - buckets / 2) / step)
    per_page = (block - PAGE_HEADER - SPECIAL) // item
    overflow = 0.0
    for number, equal, _ in _groups(index, rows):
        own = rows / buckets if equal < per_page else equal
        overflow += min(number, buckets) * max(0, math.ceil(own / per_page) - 1)
    return 2 + buckets + min(overflow, rows / per_page)


def _posting_bytes(freq: float, table_rows: float, rows_per_page: float) -> float:
    """Return the bytes per row number in a list that has that share of the rows."""
    if freq * table_rows < 1:
        return TID
    # Within a page numbers differ by 1 / freq, from page to page by 2,048.
    near = max(0.0, 1 - 1 / max(freq * rows_per_page, 1))
    far = 2048 / min(1.0, max(freq * rows_per_page, 1e-9))
    within = math.ceil(max(1.0, math.log2(max(2.0, 1 / freq))) / 7)
    return near * within + (1 - near) * math.ceil(math.log2(far) / 7)


def _gin(index: IndexFacts, rows: float, block: int) -> float | None:
    column = index.columns[0]
    if len(index.columns) > 1 or not column.elem_counts or not column.elem_freqs:
        return None
    postings = rows * column.elem_counts[-1]
    # The last ones are the least, the greatest, and, of an array, that of nulls.
    freqs = sorted(freq for freq in column.elem_freqs if freq > 0)
    if not freqs:
        return None
    least = freqs[0]
    rest = max(0.0, postings - rows * sum(freqs))
    lists = [(1.0, freq) for freq in freqs]
    if rest > postings / 20:
        lists.append((rest / max(1.0, least / 2 * rows), least / 2))
    per_page = max(1.0, max(index.table_rows, rows) / max(1, index.table_pages))
    room = block - PAGE_HEADER - SPECIAL
    entry_bytes = trees = 0.0
    for number, freq in lists:
        bytes_ = freq * rows * _posting_bytes(freq, rows, per_page)
        if bytes_ > room / 4:
            trees += number * max(1, math.ceil(bytes_ / (room * GIN_POSTING_FILL)))
            bytes_ = 0
        entry_bytes += number * (_aligned(16 + (column.width or 16) / 4 + bytes_) + LINE_POINTER)
    return 2 + trees + math.ceil(entry_bytes / (room * GIN_ENTRY_FILL))


def _by_fill(index: IndexFacts, rows: float, block: int, fill: float) -> float:
    entry = _mean_entry(index.columns) + LINE_POINTER
    leaves = math.ceil(rows * entry / ((block - PAGE_HEADER - SPECIAL) * fill))
    return 1 + leaves * (1 + entry / (block * fill))


def index_pages(index: IndexFacts, block: int) -> tuple[float | None, str]:
    """Return the pages of the index if it were built anew, and what that goes by.

    `block` is block_size, in bytes. None means that it is not known.
    """
    rows = index.entries if index.is_partial or index.table_rows < 0 else index.table_rows
    if index.pages <= SMALL_PAGES or index.method == "brin":
        return float(index.pages), "small"
    if rows < 0:
        return None, "never analyzed"
    if rows == 0:
        return 1.0, "estimate"
    if not is_known(index.columns):
        return None, "not analyzed, or this role may not read the table"
    pages: float | None = None
    if index.method == "btree":
        pages = _btree(index, rows, block)
    elif index.method == "hash":
        pages = _hash(index, rows, block)
    elif index.method == "gin":
        pages = _gin(index, rows, block)
    elif index.method in ("gist", "spgist"):
        pages = _by_fill(index, rows, block, GIST_FILL if index.method == "gist" else SPGIST_FILL)
    if pages is None:
        return None, f"nothing tells how large the content of such a {index.method} index is"
    return pages, "estimate"


def table_pages(table: HeapFacts, block: int) -> tuple[float | None, str]:
    """Return the pages of the table and its TOAST table if they were written anew.

    Of TOAST it is the most that its chunks can take: the last one of a value is smaller.
    """
    pages, basis = heap_pages(table, block)
    if pages is None:
        return None, basis
    if table.toast_pages <= SMALL_PAGES:
        return pages + table.toast_pages, basis
    if table.toast_chunks < 0:
        return None, "its TOAST table was never vacuumed"
    return pages + math.ceil(table.toast_chunks / CHUNKS_PER_PAGE), "estimate"


def heap_pages(table: HeapFacts, block: int) -> tuple[float | None, str]:
    """Return the pages of the table if it were written anew, without TOAST."""
    if table.pages <= SMALL_PAGES:
        return float(table.pages), "small"
    if table.table_rows < 0:
        return None, "never analyzed"
    if table.table_rows == 0:
        return 0.0, "estimate"
    if not is_known(table.columns):
        return None, "not analyzed, or this role may not read the table"
    with_nulls = HEAP_HEADER + -(-len(table.columns) // 8)
    row = _mean(table.columns, HEAP_HEADER, with_nulls) if table.columns else _aligned(HEAP_HEADER)
    fill = number_of(parse(table.reloptions).get("fillfactor")) or 100
    room = block - PAGE_HEADER - block * (100 - fill) / 100
    return math.ceil(table.table_rows / max(1, math.floor(room / (row + LINE_POINTER)))), "estimate"
