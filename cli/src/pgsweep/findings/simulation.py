"""What a simulation came to: from its rows to figures and sentences. Nothing is read here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pgsweep.base import text
from pgsweep.base.names import folded
from pgsweep.findings.trial import many, words
from pgsweep.model import compute

if TYPE_CHECKING:
    from pgsweep.model import SimulatedHour, SimulatedTable, SimulationSummary

# With fewer recorded vacuums an error says nothing.
LEAST_VACUUMS = 5
LEFT_OUT_PCT = 1.0

HOW = (
    "The recorded hours were gone through once more. What is due, and when, was decided by the "
    "same rules as for real tables. What a vacuum costs is a model, corrected by the vacuums that "
    "were recorded. The comparison with what was recorded uses corrections learned from the other "
    "half of the time."
)


@dataclass(frozen=True)
class Sums:
    """What vacuums come to in some time. `dead` is a mean of dead rows, `most` what one table had.

    `blocks` are pages read and dirtied. What is not known is None.
    """

    vacuums: int = 0
    blocks: int = 0
    busy_ms: float = 0.0
    dead: float = 0.0
    most: int = 0
    waiting: int = 0


@dataclass(frozen=True)
class Line:
    """A time, or a table: with today's settings, with others, by the back-test, as it was."""

    label: str
    today: Sums
    other: Sums | None
    tested: Sums
    recorded: Sums


@dataclass(frozen=True)
class Answer:
    """A simulation, and what it goes by: with the settings, and with today's."""

    settings: tuple[str, ...]
    summary: SimulationSummary
    lines: tuple[Line, ...]
    by: str
    today: SimulationSummary | None = None

    @property
    def total(self) -> Line:
        """Return all lines together."""
        return _joined("total", self.lines, self.by == "table")


def of_hour(row: SimulatedHour) -> Sums:
    """Return what is simulated of an hour."""
    return Sums(
        row.vacuums,
        row.blks_read + row.blks_dirtied,
        row.run_time,
        row.dead_tuples,
        row.max_dead_tuples,
        row.waiting,
    )


def of_table(row: SimulatedTable) -> Sums:
    """Return what is simulated of a table."""
    return Sums(
        row.vacuums,
        row.blks_read + row.blks_dirtied,
        row.run_time,
        row.dead_tuples,
        row.max_dead_tuples,
    )


def recorded(row: SimulatedHour | SimulatedTable) -> Sums:
    """Return what was recorded of the same."""
    return Sums(
        row.recorded_vacuums,
        row.recorded_blks_read + row.recorded_blks_dirtied,
        dead=row.recorded_dead_tuples,
    )


def _joined_sums(parts: Sequence[Sums], tables: bool) -> Sums:
    """Return times together, or tables of the same time."""
    dead = sum(part.dead for part in parts)
    return Sums(
        sum(part.vacuums for part in parts),
        sum(part.blocks for part in parts),
        sum(part.busy_ms for part in parts),
        dead if tables else dead / max(len(parts), 1),
        max((part.most for part in parts), default=0),
        max((part.waiting for part in parts), default=0),
    )


def _joined(label: str, lines: Sequence[Line], tables: bool = False) -> Line:
    others = [line.other for line in lines if line.other is not None]
    return Line(
        label,
        _joined_sums([line.today for line in lines], tables),
        _joined_sums(others, tables) if others else None,
        _joined_sums([line.tested for line in lines], tables),
        _joined_sums([line.recorded for line in lines], tables),
    )


def by_hour(
    today: Sequence[SimulatedHour],
    other: Sequence[SimulatedHour] | None,
    tested: Sequence[SimulatedHour],
) -> tuple[Line, ...]:
    """Return a line for each hour that all three have."""
    others = {row.hour: of_hour(row) for row in other} if other is not None else {}
    tests = {row.hour: of_hour(row) for row in tested}
    return tuple(
        Line(
            row.hour.astimezone().strftime("%Y-%m-%d %H:%M"),
            of_hour(row),
            others.get(row.hour),
            tests[row.hour],
            recorded(row),
        )
        for row in today
        if row.hour in tests and (other is None or row.hour in others)
    )


def by_day(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return the hours of each day together."""
    days: dict[str, list[Line]] = {}
    for line in lines:
        days.setdefault(line.label.split(" ")[0], []).append(line)
    return tuple(_joined(day, some) for day, some in days.items())


def by_table(
    today: Sequence[SimulatedTable],
    other: Sequence[SimulatedTable] | None,
    tested: Sequence[SimulatedTable],
    pattern: str | None = None,
) -> tuple[Line, ...]:
    """Return a line for each table that the pattern fits."""
    others = {_key(row): of_table(row) for row in other} if other is not None else {}
    tests = {_key(row): of_table(row) for row in tested}
    return tuple(
        Line(
            compute.relation(row),
            of_table(row),
            others.get(_key(row)),
            tests[_key(row)],
            recorded(row),
        )
        for row in today
        if _key(row) in tests
        and (other is None or _key(row) in others)
        and (pattern is None or fits(row, pattern))
    )


def _key(row: SimulatedTable) -> tuple[int | None, int]:
    return row.datid, row.relid


def fits(row: SimulatedTable, pattern: str) -> bool:
    """Return whether a pattern with * and ? fits the table's name.

    That is with its schema or without, in small letters, or as it is shown.
    """
    name, schema = row.relname or "", row.schemaname or ""
    return (
        fnmatchcase(name, folded(pattern))
        or fnmatchcase(f"{schema}.{name}", folded(pattern))
        or fnmatchcase(compute.relation(row), pattern)
        or fnmatchcase(compute.relation(row, with_database=False), pattern)
    )


def without_quiet(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return the tables that were vacuumed, or would be."""
    return tuple(
        line
        for line in lines
        if line.today.vacuums or line.recorded.vacuums or (line.other and line.other.vacuums)
    )


def error(said: float, was: float) -> float | None:
    """Return by how much a figure is too high, in percent. None if there is nothing to compare."""
    return 100 * (said - was) / was if was > 0 else None


# ---- sentences


def headline(answer: Answer) -> str:
    """Return the sentence for those who read no other."""
    total, size = answer.total, answer.summary.block_size
    span = words(answer.summary.recorded_until - answer.summary.recorded_from)
    if total.other is None:
        return (
            f"Today's settings come to {many(total.today.vacuums, 'vacuum')} in {span}, which read "
            f"and dirty {text.size(total.today.blocks * size)}, and to "
            f"{text.count(total.today.dead)} dead rows on average."
        )
    return (
        f"With {_listed(answer.settings)} there would be {many(total.other.vacuums, 'vacuum')} in "
        f"{span} instead of {total.today.vacuums:,}, which read and dirty "
        f"{text.size(total.other.blocks * size)} instead of "
        f"{text.size(total.today.blocks * size)}{_change(total.other.blocks, total.today.blocks)}, "
        f"and {text.count(total.other.dead)} dead rows on average instead of "
        f"{text.count(total.today.dead)}{_change(total.other.dead, total.today.dead)}."
    )


def _listed(settings: Sequence[str]) -> str:
    return ", ".join(" = ".join(part.strip() for part in one.split("=", 1)) for one in settings)


def _change(new: float, old: float) -> str:
    change = error(new, old)
    if change is None:
        return ""
    return f" ({change:+.0f} %)" if abs(change) < 900 else f" ({new / old:,.0f} times)"


def back_test(answer: Answer) -> str:
    """Return how far the model is off, for today's settings and the same time."""
    line = answer.total
    if line.recorded.vacuums < LEAST_VACUUMS:
        return (
            f"How good this is cannot be told: {many(line.recorded.vacuums, 'vacuum')} "
            f"{'was' if line.recorded.vacuums == 1 else 'were'} recorded in that time."
        )
    size = answer.summary.block_size
    vacuums = _off(line.tested.vacuums, line.recorded.vacuums)
    blocks = _off(line.tested.blocks, line.recorded.blocks)
    return (
        f"The same model with today's settings is {vacuums} on vacuums and {blocks} on I/O for "
        "that time: "
        f"{line.recorded.vacuums:,} were recorded, which read and dirtied "
        f"{text.size(line.recorded.blocks * size)}."
    )


def _off(said: float, was: float) -> str:
    off = error(said, was)
    if off is None:
        return "not comparable"
    if abs(off) < 0.5:
        return "exact"
    return f"{abs(off):,.0f} % {'high' if off > 0 else 'low'}"


def sentences(answer: Answer) -> tuple[str, ...]:
    """Return what else is to be said, the back-test first."""
    found = [back_test(answer)]
    total = answer.total
    if answer.by != "table" and total.other is not None:
        found.append(_busy(total.today, total.other))
    found.append(_ids(answer.summary))
    if any(one and one.tables_to_freeze for one in (answer.summary, answer.today)):
        found.append(_to_freeze(answer, answer.summary))
    return tuple(found)


def _busy(today: Sums, other: Sums) -> str:
    line = (
        f"Workers would be busy for {text.took(_ms(other.busy_ms))} instead of "
        f"{text.took(_ms(today.busy_ms))}"
    )
    if not other.waiting and not today.waiting:
        return f"{line}, and no table would wait for one."
    return (
        f"{line}, and at most {many(other.waiting, 'table')} would wait for one at a time instead "
        f"of {today.waiting:,}."
    )


def _ms(value: float) -> timedelta:
    return timedelta(milliseconds=value)


def _ids(found: SimulationSummary) -> str:
    oldest = f"The oldest transaction id is {text.count(found.xid_age)} old"
    if found.xids_per_hour is None:
        return f"{oldest}. How many are used is not recorded."
    line = f"{oldest}, and {text.count(found.xids_per_hour)} are used each hour"
    limit = f"autovacuum_freeze_max_age ({text.count(found.freeze_max_age)})"
    reaches = f"reaches {limit} {_on(found.freeze_max_age_at)}"
    if found.xid_age >= found.freeze_max_age:
        reaches = f"has reached {limit}"
    return (
        f"{line}: it {reaches}. If no vacuum freezes anything until then, the server stops "
        f"{_on(found.wraparound_at)}."
    )


def _to_freeze(answer: Answer, found: SimulationSummary) -> str:
    span = words(found.recorded_until - found.recorded_from)
    modes = [one.split("=", 1)[1].strip().lower() for one in answer.settings if _has_mode([one])]
    act = [found.mode, *modes][-1] == "act"
    reach, them = ("reaches", "it") if found.tables_to_freeze == 1 else ("reach", "them")
    line = (
        f"In the next {span}, {_frozen(found)} of this database {reach} the age at which "
        f"{'pg_sweep' if act else 'autovacuum'} freezes {them}"
    )
    today = answer.today
    if today is None or today.tables_to_freeze is None or _frozen(today) == _frozen(found):
        return f"{line}."
    return f"{line}; with today's settings, {_frozen(today)}."


def _frozen(found: SimulationSummary) -> str:
    tables = many(found.tables_to_freeze or 0, "table")
    if not found.pages_to_freeze:
        return tables
    return f"{tables} ({text.size(found.pages_to_freeze * found.block_size)} not frozen yet)"


def _on(at: datetime | None) -> str:
    return "in more than a hundred years" if at is None else f"on {at.astimezone():%Y-%m-%d}"


def notes(answer: Answer) -> tuple[str, ...]:
    """Return what makes the answer less sure than it looks."""
    found = answer.summary
    said = []
    if found.missing_hours:
        said.append(
            f"{many(found.missing_hours, 'hour')} of that time "
            f"{'is' if found.missing_hours == 1 else 'are'} not recorded, and left out."
        )
    if found.changes_left_out_pct >= LEFT_OUT_PCT:
        said.append(
            f"{found.changes_left_out_pct:.0f} % of all changes were in tables that are not "
            "recorded one by one. They are left out."
        )
    if found.unlearned_tables:
        said.append(
            f"Of {found.unlearned_tables:,} of {many(found.tables, 'table')} no vacuum was "
            f"recorded: {_without_vacuums(found)}."
        )
    if found.mode != "act" and not _has_mode(answer.settings):
        said.append(
            f"sweep.mode is {found.mode}, so what is simulated is the server's own daemon. "
            "Add --set sweep.mode=act for what pg_sweep would do."
        )
    return tuple(said)


def _without_vacuums(found: SimulationSummary) -> str:
    if found.unlearned_tables < found.tables:
        return "what theirs cost is taken from those of the others"
    return "what theirs cost is the model without correction, which takes nothing to be in memory"


def _has_mode(settings: Iterable[str]) -> bool:
    return any(one.split("=", 1)[0].strip().lower() == "sweep.mode" for one in settings)


def rounded(answer: Answer) -> dict[str, object]:
    """Return the errors of the back-test for programs, in percent."""
    line = answer.total
    return {
        "vacuums": line.tested.vacuums,
        "blocks": line.tested.blocks,
        "recorded_vacuums": line.recorded.vacuums,
        "recorded_blocks": line.recorded.blocks,
        "vacuums_error_pct": error(line.tested.vacuums, line.recorded.vacuums),
        "blocks_error_pct": error(line.tested.blocks, line.recorded.blocks),
    }
