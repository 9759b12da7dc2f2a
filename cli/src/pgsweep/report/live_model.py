"""What the report of a server's last day says: tables and sentences, before they become a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from pgsweep import compute
from pgsweep.model import Day, Decision, Holder, Run, StatusReport
from pgsweep.render import text
from pgsweep.report import live_sums
from pgsweep.report.live_plots import WHO
from pgsweep.report.live_sums import TableTotal

MOST_ROWS = 25
# What holds the horizon back no further than this is what a busy server always has.
OLD_XIDS = 1_000_000
OLD_SINCE = timedelta(hours=1)
BY = {name: f"by {who}" for name, who in WHO.items()} | {"manual": "by hand"}
# Decisions after which nothing is left to be explained.
SETTLED = ("vacuumed", "below threshold")


@dataclass(frozen=True)
class Column:
    """A column's title; numbers are aligned at the right."""

    title: str
    right: bool = False


@dataclass(frozen=True)
class Table:
    """A table of text with what is said above it; without rows only that."""

    title: str
    text: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Today:
    """All that a report of a server's last day says."""

    title: str
    lead: str
    text: str
    problems: tuple[str, ...]
    totals: tuple[TableTotal, ...]
    horizon: Table
    tables: Table
    decisions: Table
    databases: Table


def build(day: Day) -> Today:
    """Return the report of what was read."""
    server = day.server
    role = "standby" if server.in_recovery else "primary"
    totals = tuple(live_sums.by_table(day))
    where = f"{server.host}:{server.port}" if server.host else f"port {server.port}"
    status = StatusReport(server, day.status, day.last_hour, day.progress, day.databases)
    return Today(
        title="The last day's vacuums",
        lead=text.printable(
            f"PostgreSQL {server.version.split()[0]}, {role}, {where}, "
            f"read {server.now.astimezone():%Y-%m-%d %H:%M %Z}; "
            f"sweep.mode {day.status.mode}"
            + (
                f", in effect {day.status.effective_mode}"
                if day.status.effective_mode != day.status.mode
                else ""
            )
        ),
        text=_in_short(day, totals),
        problems=tuple(_capital(problem) for problem in _problems(day, status)),
        totals=totals,
        horizon=_horizon(day),
        tables=_tables(totals),
        decisions=_decisions(day),
        databases=_databases(day),
    )


def _capital(problem: str) -> str:
    return problem[:1].upper() + problem[1:]


def _in_short(day: Day, totals: Sequence[TableTotal]) -> str:
    if not totals:
        return "No vacuum ran in the last day, and none is running."
    who = Counter(live_sums.starter(row) for row in live_sums.whole(day))
    sums = {kind: sum(total.mb[kind] for total in totals) for kind in live_sums.KINDS}
    ends = live_sums.outcomes(day.runs)
    bad = [f"{ends[name]:,} {name}" for name in ("failed", "cancelled", "skipped") if ends[name]]
    analyzes = sum(row.command == "ANALYZE" for row in live_sums.whole(day))
    vacuums = len(live_sums.whole(day)) - analyzes
    what = f"{compute.plural(vacuums, 'vacuum')} and {compute.plural(analyzes, 'analyze')}"
    parts = [
        f"{what} of {compute.plural(len(totals), 'table')}: "
        + ", ".join(f"{number:,} {BY[name]}" for name, number in who.most_common()),
        f"{megabytes(sums['read'])} read, {megabytes(sums['dirtied'])} dirtied, "
        f"{megabytes(sums['wal'])} of WAL",
        _running(len(compute.running(day.progress))),
        ", ".join(bad) if bad else "none failed",
    ]
    return "; ".join(parts) + "."


def _running(number: int) -> str:
    return f"{number or 'none'} of them {'is' if number == 1 else 'are'} running now"


def megabytes(value: float) -> str:
    """Return MB as text with a fitting unit."""
    return text.size(value * live_sums.MB)


def _problems(day: Day, status: StatusReport) -> list[str]:
    found = list(compute.problems(status))
    found += [
        f"{_holder_text(holder)} holds back the removal of dead rows"
        for holder in day.holders
        if _old(holder, day)
    ]
    kept = sum(run.dead_not_removable or 0 for run in _last_of_each(day.runs))
    if kept:
        oldest = max(day.holders, key=lambda holder: holder.xid_age or 0, default=None)
        why = f"; the oldest holder now is {_holder_text(oldest)[:-1]}" if oldest else ""
        found.append(
            f"the last runs of their tables left {kept:,} dead rows that somebody may still need"
            + why
        )
    return found


def _last_of_each(runs: Sequence[Run]) -> list[Run]:
    """Return the last vacuum of each table; runs come latest first."""
    last: dict[tuple[int | None, int | None], Run] = {}
    for run in runs:
        if run.command != "ANALYZE":
            last.setdefault((run.datid, run.relid), run)
    return list(last.values())


def _age(holder: Holder) -> int:
    return max(holder.xid_age or 0, holder.catalog_xid_age or 0)


def _old(holder: Holder, day: Day) -> bool:
    long = holder.since is not None and day.server.now - holder.since > OLD_SINCE
    # A standby is connected for long without holding much back.
    return _age(holder) > OLD_XIDS or (
        long and holder.kind != "standby feedback" and _age(holder) > 0
    )


def _holder_text(holder: Holder) -> str:
    name = f' "{text.printable(holder.name)}"' if holder.name else ""
    pid = f" of process {holder.pid}" if holder.pid and holder.kind == "transaction" else ""
    return f"{holder.kind}{name}{pid}, {_age(holder):,} transactions old,"


def _horizon(day: Day) -> Table:
    columns = (
        Column("What"),
        Column("Who"),
        Column("Database"),
        Column("For", right=True),
        Column("Transactions", right=True),
        Column("State"),
    )
    rows = []
    for holder in day.holders:
        took = text.duration(day.server.now - holder.since) if holder.since else text.UNKNOWN
        state = holder.state or ""
        if holder.active is not None:
            state = f"{state}, {'active' if holder.active else 'inactive'}".strip(", ")
        if holder.xid_age is None and holder.catalog_xid_age is not None:
            state = f"{state}, catalogs only".strip(", ")
        who = " ".join(
            filter(None, (holder.name, holder.usename, f"pid {holder.pid}" if holder.pid else ""))
        )
        values = (holder.kind, who, holder.datname or "", took, f"{_age(holder):,}", state)
        rows.append(tuple(text.printable(value) for value in values))
    said = (
        "Dead rows that became dead after the oldest of these cannot be removed by any vacuum."
        if rows
        else "Nothing holds the xmin horizon back: vacuums can remove every dead row."
    )
    return Table("What holds the horizon", said, columns, tuple(rows))


def _tables(totals: Sequence[TableTotal]) -> Table:
    columns = (
        Column("Table"),
        Column("Runs", right=True),
        Column("Cost", right=True),
        Column("Time", right=True),
        Column("Read", right=True),
        Column("Dirtied", right=True),
        Column("WAL", right=True),
        Column("Removed", right=True),
        Column("Not removable", right=True),
    )
    rows = tuple(
        (
            text.printable(total.name),
            f"{total.runs:,}",
            text.count(total.cost),
            text.took(timedelta(seconds=total.seconds)),
            megabytes(total.mb["read"]),
            megabytes(total.mb["dirtied"]),
            megabytes(total.mb["wal"]),
            text.count(total.removed),
            text.count(total.kept),
        )
        for total in totals[:MOST_ROWS]
    )
    said = (
        f"The {MOST_ROWS} of {len(totals):,} tables whose vacuums cost most; "
        if len(totals) > MOST_ROWS
        else ""
    )
    said += (
        "rows removed are counted where a run told them."
        if rows
        else "No table was vacuumed in this time."
    )
    return Table("Tables by cost", said[:1].upper() + said[1:], columns, rows)


def _decision_name(row: Decision) -> str:
    return text.printable(compute.relation(row))


def _decisions(day: Day) -> Table:
    columns = (Column("Table"), Column("Decision"), Column("Why"), Column("Last", right=True))
    open_ones = [row for row in day.decisions if row.decision not in SETTLED]
    rows = tuple(
        (
            _decision_name(row),
            row.decision or text.UNKNOWN,
            text.printable(row.reason or ""),
            text.ago(row.last_at, day.server.now),
        )
        for row in open_ones[:MOST_ROWS]
    )
    counts = Counter(row.decision or "unknown" for row in day.decisions)
    said = ", ".join(f"{name} {number:,}" for name, number in counts.most_common())
    if not day.decisions:
        said = "pg_sweep has found no table that looked due."
    elif not rows:
        said = f"Last decisions: {said}. No table that looked due was left alone."
    else:
        more = len(open_ones) - len(rows)
        said = f"Last decisions: {said}." + (f" {more:,} more are not shown." if more else "")
    return Table("Tables that looked due and were not vacuumed", said, columns, rows)


def _xid_age(age: int, freeze_max_age: int) -> str:
    return f"{age:,} ({compute.xid_pct(age, freeze_max_age):.0f} %)"


def _databases(day: Day) -> Table:
    columns = (
        Column("Database"),
        Column("Relations", right=True),
        Column("Due", right=True),
        Column("Dead rows", right=True),
        Column("Age of oldest row", right=True),
        Column("pg_sweep"),
    )
    rows = tuple(
        (
            text.printable(db.datname),
            text.count(db.relations),
            text.count(db.due),
            text.count(db.dead_tuples),
            _xid_age(db.xid_age or 0, day.server.freeze_max_age),
            text.printable("takes care" if db.ours else db.reason or "does not look there"),
        )
        for db in day.databases[:MOST_ROWS]
    )
    said = "Age in transactions, and in % of autovacuum_freeze_max_age, where a vacuum is forced."
    return Table("Databases", said, columns, rows)
