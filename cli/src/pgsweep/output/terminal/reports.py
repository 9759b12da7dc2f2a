"""What status, doctor, progress, runs and databases print for people."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from rich.text import Text

from pgsweep.base import text
from pgsweep.findings.checks import Level
from pgsweep.model import compute
from pgsweep.model.compute import described
from pgsweep.output.terminal import columns, grid

if TYPE_CHECKING:
    from pgsweep.findings.checks import Check
    from pgsweep.model import Database, Progress, Run, Server, StatusReport

T = TypeVar("T")

LABEL_WIDTH = 11
PROBLEM_LINES = 2
LEVEL_STYLE = {
    Level.OK: "green",
    Level.NOTE: "cyan",
    Level.WARN: "bold yellow",
    Level.FAIL: "bold red",
}


def status_lines(report: StatusReport, width: int) -> list[Text]:
    """Return at most ten lines about how pg_sweep is doing."""
    server, status, hour = report.server, report.status, report.last_hour
    role = "standby" if server.in_recovery else "primary"
    up = text.duration(server.now - server.started_at)
    kept = f" in the {compute.span_text(hour.since, server.now)} known" if hour.since else ""
    rows = [
        ("server", f"PostgreSQL {server.version.split()[0]}, {role}, up {up}"),
        ("pg_sweep", f"{status.library_version}, mode {_mode_text(report)}"),
        ("launcher", _launcher_text(report)),
        ("running", _running_text(report.progress)),
        ("due", _due_text(report)),
        (
            "last hour",
            f"{compute.plural(hour.runs, 'run')}{kept}, "
            f"{compute.plural(hour.tuples_removed, 'tuple')} removed, "
            f"{hour.failed:,} failed, {hour.cancelled:,} cancelled",
        ),
        ("oldest xid", _oldest_text(report.databases, server)),
        ("horizon", _horizon_text(report)),
    ]
    lines = [_labelled(label, value, width) for label, value in rows]
    found = compute.problems(report)
    if not found:
        lines.append(_labelled("problems", "none", width, "green"))
        return lines
    shown = list(found)
    if len(found) > PROBLEM_LINES:
        shown = [found[0], compute.sentences(*found[1:])]
    for i, problem in enumerate(shown):
        lines.append(_labelled("problems" if i == 0 else "", problem, width, "bold red"))
    return lines


def _labelled(label: str, value: str, width: int, style: str = "") -> Text:
    room = max(20, width - LABEL_WIDTH)
    shown = text.cut(text.printable(value), room)
    return Text.assemble((label.ljust(LABEL_WIDTH), "bold"), (shown, style))


def _mode_text(report: StatusReport) -> str:
    status = report.status
    held = _held_text(report)
    if status.effective_mode == status.mode:
        return f"{status.mode}{held}"
    reason = f" ({status.reason})" if status.reason else ""
    return f"{status.mode}, in effect {status.effective_mode}{reason}{held}"


def _due_text(report: StatusReport) -> str:
    status = report.status
    relations = compute.plural(status.relations or 0, "relation")
    due = f"{compute.due(status, report.queue):,} of {relations}"
    return f"{due}, {report.snoozed:,} snoozed" if report.snoozed else due


def _held_text(report: StatusReport) -> str:
    """Return until when pg_sweep starts no vacuums, because somebody asked for that."""
    until, now = report.status.held_until, report.server.now
    if until is None or until <= now:
        return ""
    return f", on hold until {text.clock(until)} (in {text.duration(until - now)})"


def _launcher_text(report: StatusReport) -> str:
    server, status = report.server, report.status
    if status.launcher_pid is None:
        return "not running" + (" (standby)" if server.in_recovery else "")
    seen = text.ago(status.last_round_at, server.now)
    return (
        f"process {status.launcher_pid}, looked {seen} "
        f"in {text.milliseconds(status.last_round_time)}, "
        f"workers {status.workers or 0} of {status.max_workers or 0}"
    )


def _running_text(rows: Sequence[Progress]) -> str:
    counts = compute.started_by_counts(rows)
    if not counts:
        return "no vacuum"
    total = compute.plural(sum(counts.values()), "vacuum")
    names = {"autovacuum_wraparound": "anti-wraparound"}
    parts = [f"{number} {names.get(starter, starter)}" for starter, number in counts.items()]
    return f"{total}: {', '.join(parts)}"


def _oldest_text(databases: Sequence[Database], server: Server) -> str:
    oldest = compute.oldest_database(databases)
    if oldest is None or oldest.xid_age is None:
        return "unknown"
    pct = compute.xid_pct(oldest.xid_age, server.freeze_max_age)
    return f'{oldest.xid_age:,}, {pct:.0f} % of autovacuum_freeze_max_age, in "{oldest.datname}"'


def _horizon_text(report: StatusReport) -> str:
    """Return who holds the horizon back, and for how long."""
    if report.blockers is None:
        return "unknown: sweep.blockers is missing"
    now = report.server.now
    worst = compute.worst_holder(report.blockers, now)
    if worst is None:
        return "nothing holds it back"
    who = described(worst, report.server.dbname)
    more = len(report.blockers) - 1
    others = f", and {compute.plural(more, 'other')}" if more else ""
    return f"held{compute.held_for(worst, now)} by {who}, {worst.age or 0:,} xids{others}"


def doctor_lines(checks: Sequence[Check], width: int) -> list[Text]:
    """Return the checks, each with what to do about it."""
    lines: list[Text] = []
    indent = " " * (5 + LABEL_WIDTH)
    for check in checks:
        wrapped = textwrap.wrap(text.printable(check.text), max(30, width - len(indent))) or [""]
        lines.append(
            Text.assemble(
                (f"{check.level.label:<5}", LEVEL_STYLE[check.level]),
                (f"{check.subject:<{LABEL_WIDTH}}", "bold"),
                wrapped[0],
            )
        )
        lines += [Text(indent + rest) for rest in wrapped[1:]]
        for fix in check.fix:
            # Lines that are to be copied into a file or a shell are indented. They stay whole.
            copied = fix.startswith(" ")
            parts = [fix] if copied else textwrap.wrap(fix, max(30, width - len(indent) - 2))
            arrow = " " if copied else "→"
            for part in parts:
                lines.append(Text(f"{indent}{arrow} {part}", style="bold"))
                arrow = " "
    return lines


def progress_lines(rows: Sequence[Progress], now: datetime, width: int) -> list[Text]:
    """Return running vacuums, each with a second line of what it costs."""
    lines = compute.with_workers(rows)
    if not lines:
        return [Text("no vacuum is running")]
    layout = grid.fit(columns.progress_columns(now, with_bar=False), width)
    out = [grid.header(layout)]
    for line in lines:
        out.append(grid.row(layout, line))
        if not line.is_worker and line.row.cost is not None:
            cost = columns.cost_line(line.row)
            basis = f" · ETA by {line.row.eta_basis}" if line.row.eta_basis else ""
            out.append(Text(text.cut(f"        {cost}{basis}", width), style="dim"))
    return out


def run_lines(runs: Sequence[Run], width: int) -> list[Text]:
    """Return finished vacuums, one line each."""
    return _table(columns.run_columns(), runs, width, "no runs")


def database_lines(databases: Sequence[Database], server: Server, width: int) -> list[Text]:
    """Return databases, one line each."""
    return _table(columns.database_columns(server), databases, width, "no databases")


def _table(
    wanted: Sequence[grid.Column[T]], items: Sequence[T], width: int, nothing: str
) -> list[Text]:
    if not items:
        return [Text(nothing)]
    layout = grid.fit(wanted, width)
    return [grid.header(layout), *(grid.row(layout, item) for item in items)]
