"""What a trial came to: from the rows of sweep.trial to sentences. Nothing is read here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pgsweep.base import text

if TYPE_CHECKING:
    from pgsweep.model import TriedTable

HOW = (
    "The vacuums were decided by the same rules as in mode act, as if each had been made. What "
    "they would have read and dirtied is estimated at each time from a sample of the pages and of "
    "what shared buffers have of them. What autovacuum did is counted."
)


@dataclass(frozen=True)
class Range:
    """Bytes between two bounds."""

    least: int
    most: int


def cost(row: TriedTable) -> Range:
    """Return what the vacuums would have read and dirtied, in bytes."""
    return Range(
        (row.blks_read_min + row.blks_dirtied_min) * row.block_size,
        (row.blks_read_max + row.blks_dirtied_max) * row.block_size,
    )


def autovacuum_cost(row: TriedTable) -> int:
    """Return what autovacuum has read and dirtied, in bytes."""
    return (row.autovacuum_blks_read + row.autovacuum_blks_dirtied) * row.block_size


def between(found: Range) -> str:
    """Return a range in words: 2 to 5 MB, or one figure where both round to the same."""
    least, most = text.size(found.least), text.size(found.most)
    if least == most:
        return most
    if least.split()[-1] == most.split()[-1]:
        return f"{least.split()[0]} to {most}"
    return f"{least} to {most}"


def told(rows: Sequence[TriedTable]) -> tuple[TriedTable, ...]:
    """Return the rows that say something: tables vacuumed by hand alone do not."""
    return tuple(row for row in rows if row.vacuums or row.autovacuums)


def untouched(row: TriedTable) -> bool:
    """Return whether nobody has vacuumed a table that would have been vacuumed."""
    return row.vacuums > 0 and row.autovacuums == 0 and row.manual_vacuums == 0


def why_untouched(row: TriedTable) -> str:
    """Return why autovacuum has not come to a table."""
    if row.relid is None:
        return ""
    if row.autovacuum_threshold is None:
        return "autovacuum is off"
    if not (row.insert_vacuums and row.ins_since_vacuum):
        return _of("dead rows", row.dead_tuples, row.autovacuum_threshold)
    if row.autovacuum_insert_threshold is None:
        return f"{text.count(row.ins_since_vacuum)} new rows, for which it does not come"
    return _of("new rows", row.ins_since_vacuum, row.autovacuum_insert_threshold)


def _of(rows: str, number: int | None, threshold: int) -> str:
    """Return how far a table is from being due for autovacuum."""
    line = f"{text.count(number)} {rows}, and it comes beyond {text.count(threshold)}"
    return f"{line}: soon" if (number or 0) > threshold else line


@dataclass(frozen=True)
class Summary:
    """What a trial came to, in sentences. The first one is for those who read no other."""

    headline: str
    sentences: tuple[str, ...]
    untouched: tuple[TriedTable, ...]


def summary(rows: Sequence[TriedTable], now: datetime) -> Summary:
    """Return the sentences about a trial with at least one row."""
    lasted = (rows[0].until or now) - rows[0].since
    tried = [row for row in rows if row.vacuums > 0]
    left = tuple(row for row in tried if untouched(row))
    return Summary(_headline(rows, tried, lasted), tuple(_sentences(rows, tried, left)), left)


def _sum(rows: Sequence[TriedTable], of: Callable[[TriedTable], int]) -> int:
    return sum(of(row) for row in rows)


def _headline(rows: Sequence[TriedTable], tried: Sequence[TriedTable], lasted: timedelta) -> str:
    vacuums = _sum(tried, lambda row: row.vacuums)
    theirs = _sum(rows, lambda row: row.autovacuums)
    if not vacuums:
        return (
            f"In {words(lasted)} pg_sweep would not have vacuumed anything. "
            f"Autovacuum made {many(theirs, 'vacuum')}."
        )
    line = (
        f"In {words(lasted)} pg_sweep would have made {many(vacuums, 'vacuum')} of "
        f"{many(len(tried), 'table')}, where autovacuum made {theirs:,}"
    )
    earlier = _earlier(tried)
    if earlier is not None:
        line += f", and would have begun {words(earlier)} earlier on average"
    return f"{line}."


def _earlier(rows: Sequence[TriedTable]) -> timedelta | None:
    """Return by how much, on average over all vacuums that others made after that."""
    followed = _sum(rows, lambda row: row.followed)
    if not followed:
        return None
    waited = sum(((row.earlier or timedelta(0)) * row.followed for row in rows), timedelta(0))
    return waited / followed


def _sentences(
    rows: Sequence[TriedTable], tried: Sequence[TriedTable], left: Sequence[TriedTable]
) -> list[str]:
    costs = [cost(row) for row in tried]
    ours = Range(sum(c.least for c in costs), sum(c.most for c in costs))
    theirs = sum(autovacuum_cost(row) for row in rows)
    found = [
        f"It would have read and dirtied {between(ours)} for that. "
        f"Autovacuum read and dirtied {text.size(theirs)}{_saved(ours, theirs)}."
    ]
    catalogs = [row for row in tried if row.schemaname == "pg_catalog"]
    if catalogs:
        grown = sum(row.blks_grown * row.block_size for row in catalogs)
        found.append(
            f"System catalogs: {many(_sum(catalogs, lambda row: row.vacuums), 'vacuum')}, where "
            f"autovacuum made {_sum(catalogs, lambda row: row.autovacuums):,}. "
            f"While they waited for it they grew by {text.size(grown)}."
        )
    grown = sum(row.blks_grown * row.block_size for row in tried if row not in catalogs)
    if grown:
        found.append(
            f"Other tables grew by {text.size(grown)} between the time when pg_sweep would have "
            "vacuumed them and the time when somebody did, some of that by rows that are needed."
        )
    frozen = sum(row.blks_frozen * row.block_size for row in tried)
    if frozen:
        found.append(
            f"It would have frozen {text.size(frozen)} while that was being vacuumed anyway, "
            "which nobody has to freeze later."
        )
    if left:
        found.append(
            f"Autovacuum has not come to {many(len(left), 'table')} that pg_sweep would have "
            "vacuumed."
        )
    return found


def _saved(ours: Range, theirs: int) -> str:
    """Return how the two compare, where the range leaves no doubt."""
    if theirs > ours.most:
        saved = Range(theirs - ours.most, theirs - ours.least)
        return f": {between(saved)} could have been saved"
    if ours.least > theirs:
        more = Range(ours.least - theirs, ours.most - theirs)
        return f": coming earlier would have cost {between(more)} more"
    return ""


def many(number: int, noun: str) -> str:
    """Return 1 table, 12 tables."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def words(span: timedelta) -> str:
    """Return a span of time for a sentence: 12 s, 4 min, 3 h 20 min, 2 d 3 h."""
    seconds = max(0, round(span.total_seconds()))
    if seconds < 120:
        return f"{seconds} s"
    minutes, hours = seconds // 60, seconds // 3600
    if minutes < 120:
        return f"{minutes} min"
    if hours < 48:
        rest = minutes - 60 * hours
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    days, rest = divmod(hours, 24)
    return f"{days} d {rest} h" if rest else f"{days} d"
