"""What the report of a server's last day says: tables and sentences, before they become a page.

A longer span is reported in the same way, by the hour or by the day.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pgsweep.base import text
from pgsweep.model import StatusReport, compute
from pgsweep.model.compute import described
from pgsweep.output.report import live_span, live_sums
from pgsweep.output.report.live_plots import WHO

if TYPE_CHECKING:
    from pgsweep.model import Blocker, Database, Day, Decision, Run, Span
    from pgsweep.output.report.live_sums import TableTotal

MOST_ROWS = 25
# Who has held the horizon for less than this is gone when the page is read.
A_MOMENT = timedelta(minutes=1)
MANY_XIDS = 10_000
# So many stretches of which nothing is known are named.
MOST_GAPS = 5
BY = {name: f"by {who}" for name, who in WHO.items()} | {"manual": "by hand"}
# Decisions after which nothing is left to be explained.
SETTLED = ("vacuumed", "below threshold", "analyzed", "temporary", "waits for checkpoint")
# Their reason is the mode of now, not the mode of the time when it was decided.
OBSERVED = ("would vacuum", "would analyze")


@dataclass(frozen=True)
class Column:
    """A column's title. Numbers are aligned at the right."""

    title: str
    right: bool = False


@dataclass(frozen=True)
class Table:
    """A table of text with what is said above it. Without rows there is only that text."""

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
    # From when on the plots over time are whole. It is empty if all of them is whole.
    single_runs: str
    # Of a longer span: what each hour or day came to.
    times: Table | None
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
    status = StatusReport(
        server,
        day.status,
        day.last_hour,
        day.progress,
        day.databases,
        queue=day.queue,
        blockers=day.blockers,
    )
    return Today(
        title=_title(day),
        lead=text.printable(
            f"PostgreSQL {server.version.split()[0]}, {role}, {where}, "
            f"read {server.now.astimezone():%Y-%m-%d %H:%M %Z}; "
            f"sweep.mode is now {day.status.mode}"
            + (
                f", in effect {day.status.effective_mode}"
                if day.status.effective_mode != day.status.mode
                else ""
            )
        ),
        text=_in_short(day, totals),
        problems=tuple(_capital(problem) for problem in _problems(day, status)),
        totals=totals,
        single_runs=single_runs(day),
        times=_times(day),
        horizon=_horizon(day),
        tables=_tables(totals),
        decisions=_decisions(day),
        databases=_databases(day),
    )


def _title(day: Day) -> str:
    if day.span is not None and day.span.until is not None:
        return f"Vacuums on {day.span.begin.astimezone():%Y-%m-%d}"
    return f"Vacuums of the {_span(day)}"


def _span(day: Day) -> str:
    """Return "last day", or "last 5 h" if no more is known."""
    if day.span is None:
        return compute.last(day.since, day.server.now, "day")
    hours = int((day.server.now - live_span.begin(day, day.span)) / live_span.HOUR)
    if hours < 1:
        return "last hour"
    return f"last {compute.plural(hours // 24, 'day')}" if hours >= 72 else f"last {hours} h"


def _capital(problem: str) -> str:
    return problem[:1].upper() + problem[1:]


def _in_short(day: Day, totals: Sequence[TableTotal]) -> str:
    if day.span is not None and not day.span.work and not day.span.counted:
        return "Nothing is known of this time."
    if not totals and day.span is not None and day.span.until is not None:
        return "No vacuum ran."
    if not totals:
        return f"No vacuum ran in the {_span(day)}, and none is running."
    who: Counter[str] = Counter()
    for total in totals:
        who += total.runs_by
    sums = {kind: sum(total.mb[kind] for total in totals) for kind in live_sums.KINDS}
    ends = live_sums.outcomes(day)
    bad = [f"{ends[name]:,} {name}" for name in ("failed", "cancelled", "skipped") if ends[name]]
    vacuums, analyzes = live_sums.commands(day)
    what = f"{compute.plural(vacuums, 'vacuum')} and {compute.plural(analyzes, 'analyze')}"
    parts = [
        f"{what} of {_tables_counted(totals)}: "
        + ", ".join(f"{number:,} {BY[name]}" for name, number in who.most_common()),
        f"{megabytes(sums['read'])} read, {megabytes(sums['dirtied'])} dirtied, "
        f"{megabytes(sums['wal'])} of WAL",
    ]
    if day.history_since is not None:
        parts.append(
            f"counted by the hour, from {day.history_since.astimezone():%Y-%m-%d %H:%M} on"
        )
    running = len(compute.running(day.progress))
    if running:
        parts.append(f"{running} of them {'is' if running == 1 else 'are'} running now")
    if bad:
        parts.append(", ".join(bad))
    return "; ".join(parts) + "."


def _tables_counted(totals: Sequence[TableTotal]) -> str:
    tables = sum(total.name != live_sums.REST for total in totals)
    more = " and others" if tables < len(totals) else ""
    return f"{compute.plural(tables, 'table')}{more}"


def single_runs(day: Day) -> str:
    """Return since when the plots over time show every run.

    The answer is empty if they show all of them.
    """
    if day.span is not None:
        return _span_runs(day, day.span)
    if not day.history or day.runs_since is None:
        return ""
    return (
        "Single runs are all known since "
        f"{day.runs_since.astimezone():%Y-%m-%d %H:%M}. "
        "Of earlier ones only those that are still kept are shown."
    )


def _span_runs(day: Day, span: Span) -> str:
    """Return what the plots over a longer span show, and what they cannot."""
    step = "day" if live_span.is_by_day(day, span) else "hour"
    said = [f"By the {step}."]
    if day.since is not None:
        said.append(f"Nothing is known of the time before {text.short(day.since)}.")
    gaps = live_span.gaps(day, span)
    if gaps:
        named = [f"{text.short(begin)} to {text.short(end)}" for begin, end in gaps[:MOST_GAPS]]
        more = f", and {len(gaps) - MOST_GAPS:,} more" if len(gaps) > MOST_GAPS else ""
        said.append(
            "Nothing was counted, because the server was down or sweep.mode was off: "
            f"{'; '.join(named)}{more}."
        )
    if day.runs_since is None:
        said.append("pgsweep runs still has each single run of this time.")
    else:
        said.append(f"pgsweep runs has each single run since {text.short(day.runs_since)}.")
    return " ".join(said)


def _times(day: Day) -> Table | None:
    """Return what each hour or day of a longer span came to."""
    if day.span is None:
        return None
    by_day = live_span.is_by_day(day, day.span)
    columns = (
        Column("Day" if by_day else "Hour"),
        Column("Runs", right=True),
        Column("Read", right=True),
        Column("Dirtied", right=True),
        Column("WAL", right=True),
        Column("Rows inserted", right=True),
        Column("Updated", right=True),
        Column("Deleted", right=True),
        Column("Transactions", right=True),
    )
    rows: list[tuple[str, ...]] = []
    for one in live_span.stretches(day, day.span):
        local = one.begin.astimezone()
        when = f"{local:%Y-%m-%d}" if by_day else f"{local:%Y-%m-%d %H:%M}"
        if not one.known:
            rows.append((when, "not known", *[""] * (len(columns) - 2)))
            continue
        changes = (one.inserted, one.updated, one.deleted)
        rows.append(
            (
                when,
                f"{one.runs:,}",
                *(megabytes(one.mb[kind]) for kind in live_sums.KINDS),
                # Of the hour that it is, and of one without a count, nobody knows them.
                *(text.count(value) if one.xids is not None else "" for value in changes),
                text.count(one.xids) if one.xids is not None else "",
            )
        )
    said = (
        "What vacuums came to, what users did to rows of all tables, and how many transaction "
        "ids were used. What users did is counted when an hour is over."
    )
    return Table(f"By the {'day' if by_day else 'hour'}", said, columns, tuple(rows))


def megabytes(value: float) -> str:
    """Return MB as text with a fitting unit."""
    return text.size(value * live_sums.MB)


def _problems(day: Day, status: StatusReport) -> list[str]:
    found = list(compute.problems(status))
    kept = sum(run.dead_not_removable or 0 for run in _last_of_each(day.runs))
    worst = compute.worst_holder(day.blockers or (), day.server.now)
    # The next vacuum removes what somebody needed for a moment only.
    if kept and worst is not None and compute.is_old(worst, day.server.now):
        found.append(
            f"the last runs of their tables left {kept:,} dead rows that somebody may still need. "
            f"The oldest holder now is {_holder_text(worst, day)}"
        )
    return found


def _last_of_each(runs: Sequence[Run]) -> list[Run]:
    """Return the last vacuum of each table. The runs come latest first."""
    last: dict[tuple[int | None, int | None], Run] = {}
    for run in runs:
        if run.command != "ANALYZE":
            last.setdefault((run.datid, run.relid), run)
    return list(last.values())


def _holder_text(holder: Blocker, day: Day) -> str:
    return f"{described(holder, day.server.dbname)}, {compute.old(holder.age)}"


def _lasts(holder: Blocker, now: datetime) -> bool:
    """Tell whether a holder is more than what every busy server always has."""
    since = compute.held_since(holder)
    return (holder.age or 0) >= MANY_XIDS or (since is not None and now - since >= A_MOMENT)


def _horizon(day: Day) -> Table:
    columns = (
        Column("What"),
        Column("Who"),
        Column("Database"),
        Column("For", right=True),
        Column("Transactions", right=True),
        Column("State"),
        Column("Withholds"),
    )
    rows = []
    lasting = [row for row in day.blockers or () if _lasts(row, day.server.now)]
    for holder in lasting:
        since = compute.held_since(holder)
        took = text.duration(day.server.now - since) if since else text.UNKNOWN
        who = " ".join(
            filter(None, (holder.name, holder.usename, f"pid {holder.pid}" if holder.pid else ""))
        )
        values = (
            *(holder.kind, who, holder.datname or "", took, f"{holder.age or 0:,}"),
            *(holder.state or "", holder.withholds or ""),
        )
        rows.append(tuple(text.printable(value) for value in values))
    if day.blockers is None:
        said = "This version of the extension does not say it: sweep.blockers is missing."
    elif rows:
        said = (
            "Dead rows that became dead after the oldest of these cannot be removed by any vacuum."
        )
    elif day.blockers:
        said = "Nothing has held the xmin horizon back for longer than a minute."
    else:
        said = "Nothing holds the xmin horizon back: vacuums can remove every dead row."
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
    telling = [total for total in totals if _tells(total)]
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
        for total in telling[:MOST_ROWS]
    )
    if not totals:
        said = "No table was vacuumed in this time."
    else:
        said = (
            "Rows removed are counted where a run told them. Not removable are those that the "
            "last vacuum left, which each finds again."
        )
        if len(telling) > MOST_ROWS:
            said += (
                f" These are the {MOST_ROWS} of {len(telling):,} tables whose vacuums cost most."
            )
        idle = len(totals) - len(telling)
        if idle:
            said += f" Left out: {compute.plural(idle, 'table')} whose vacuums cost nothing."
    return Table("Tables by cost", said, columns, rows)


def _tells(total: TableTotal) -> bool:
    """Tell whether its vacuums did anything at all."""
    return bool(total.cost or total.removed or total.kept)


def _decision_name(row: Decision) -> str:
    return text.printable(compute.relation(row))


def _last_ends(runs: Sequence[Run]) -> dict[tuple[int | None, int | None], datetime]:
    """Return when each table was last vacuumed."""
    ends: dict[tuple[int | None, int | None], datetime] = {}
    for run in runs:
        if run.command != "ANALYZE" and run.outcome == "done" and run.ended_at is not None:
            key = (run.datid, run.relid)
            ends[key] = max(run.ended_at, ends.get(key, run.ended_at))
    return ends


def _why(row: Decision) -> str:
    return "sweep.mode was observe" if row.decision in OBSERVED else row.reason or ""


def _decisions(day: Day) -> Table:
    columns = (Column("Table"), Column("Decision"), Column("Why"), Column("Last", right=True))
    begin = day.since or day.server.now - timedelta(hours=day.hours)
    ended = _last_ends(day.runs)
    open_ones = [
        row
        for row in day.decisions
        if row.decision not in SETTLED
        and row.last_at is not None
        and max(begin, ended.get((row.datid, row.relid), begin)) <= row.last_at
    ]
    rows = tuple(
        (
            _decision_name(row),
            row.decision or text.UNKNOWN,
            text.printable(_why(row)),
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

    def tells(db: Database) -> bool:
        pct = compute.xid_pct(db.xid_age or 0, day.server.freeze_max_age)
        return bool(db.relations or db.due) or pct >= compute.XID_WARN_PCT

    shown = [db for db in day.databases if tells(db)]
    rows = tuple(
        (
            text.printable(db.datname),
            text.count(db.relations),
            text.count(db.due),
            text.count(db.dead_tuples),
            _xid_age(db.xid_age or 0, day.server.freeze_max_age),
            text.printable("takes care" if db.ours else db.reason or "does not look there"),
        )
        for db in shown[:MOST_ROWS]
    )
    said = "Age in transactions, and in % of autovacuum_freeze_max_age, where a vacuum is forced."
    if len(shown) < len(day.databases):
        left = [db.datname for db in day.databases if db not in shown]
        said += f" Nothing is known of {text.printable(', '.join(left))}."
    return Table("Databases", said, columns, rows)
