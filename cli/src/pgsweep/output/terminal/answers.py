"""What tables, explain, blockers, queue, decisions and audit print for people.

So does status without the extension.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.base import paragraph, text
from pgsweep.findings.core.tables import frozen_soon
from pgsweep.model import Blocker, Call, Decision, Table, Waiting, compute
from pgsweep.model.compute import described
from pgsweep.output.terminal import grid
from pgsweep.output.terminal.grid import Column

if TYPE_CHECKING:
    from pgsweep.findings.core.overview import Overview
    from pgsweep.model import Cause

INDENT = "    "
LABEL = 10
DECISION_STYLE = {
    "due": "bold yellow",
    "vacuum": "bold yellow",
    "locked": "bold red",
    "running": "bold green",
    "disabled": "cyan",
    "unknown": "yellow",
}


# -- tables ------------------------------------------------------------------


def table_columns(
    now: datetime, with_database: bool, missing: Sequence[str] = ()
) -> tuple[Column[Table], ...]:
    """Return the columns of tables, without those that this server knows nothing of."""

    def name(table: Table) -> str:
        return compute.relation(table, with_database)

    columns = (
        Column[Table]("TABLE", name, 20, flex=True, most=40, keep_end=True),
        Column[Table]("LANE", lambda table: table.lane or "", 7, priority=10),
        Column[Table]("DECISION", _decision, 15),
        Column[Table]("SCORE", lambda table: _score(table.score), 5, right=True),
        Column[Table]("DEAD", lambda table: text.count(table.dead_tuples), 5, right=True),
        Column[Table]("OF", lambda table: text.count(table.vacuum_threshold), 5, True, 1),
        Column[Table]("INSERTED", lambda table: text.count(table.ins_since_vacuum), 8, True, 3),
        Column[Table]("OF", _insert_threshold, 5, True, 3),
        Column[Table]("XID %", _age, 5, True, 2),
        Column[Table]("FREEZE IN", lambda table: _freeze(table, now), 9, True, 4),
        Column[Table]("PAGES", lambda table: text.count(table.pages), 5, True, 6),
        Column[Table]("FROZEN", _frozen, 6, True, 8),
        Column[Table]("LAST RUN", lambda table: text.ago(table.last_run, now), 10, True, 5),
        Column[Table]("REASON", lambda table: table.reason or "", 20, False, 7, True, 70),
    )
    return tuple(column for column in columns if column.title not in missing)


def _decision(table: Table) -> Text:
    decision = table.decision or text.UNKNOWN
    style = DECISION_STYLE.get(decision, "bold yellow" if table.do_vacuum else "")
    return Text(decision, style=style)


def _freeze(table: Table, now: datetime) -> str:
    """Return how long it is until pg_sweep freezes the table, at the present rate of ids."""
    if table.freeze_time is None:
        return text.UNKNOWN
    return text.duration(min(table.freeze_time - now, timedelta(days=9999)))


def _score(value: float | None) -> str:
    if value is None:
        return text.UNKNOWN
    return f"{value:.2f}" if value < 99.995 else text.count(value)


def _insert_threshold(table: Table) -> str:
    return "off" if table.insert_threshold is None else text.count(table.insert_threshold)


def _age(table: Table) -> Text:
    if table.xid_score is None or table.xid_age is None:
        return Text(text.UNKNOWN)
    style = "bold red" if table.xid_score >= 1.5 else "yellow" if table.xid_score > 1 else ""
    return Text(text.percent(100 * table.xid_score), style=style)


def _frozen(table: Table) -> str:
    if table.frozen_pages is None or not table.pages:
        return text.UNKNOWN
    return text.percent(100.0 * min(table.frozen_pages, table.pages) / table.pages)


def table_lines(
    rows: Sequence[Table],
    everything: Sequence[Table],
    now: datetime,
    width: int,
    with_database: bool = False,
) -> list[Text]:
    """Return tables, one line each, and how many there are."""
    due = sum(1 for table in everything if table.do_vacuum)
    total = f"{len(rows):,} of {compute.plural(len(everything), 'table')} shown, {due:,} due"
    if not rows:
        return [Text(total)]
    missing = []
    if all(table.frozen_pages is None for table in rows):
        missing.append("FROZEN")
    if all(table.freeze_time is None for table in rows):
        missing.append("FREEZE IN")
    layout = grid.fit(table_columns(now, with_database, missing), width)
    lines = [grid.header(layout), *(grid.row(layout, table) for table in rows)]
    said = filter(None, (total, frozen_soon(everything, now)))
    return [*lines, *(Text(line, style="dim") for line in said)]


# -- causes --------------------------------------------------------------------


def cause_lines(causes: Sequence[Cause], width: int) -> list[Text]:
    """Return causes with evidence, fix and risk, the worst first.

    The causes of one table stand together.
    """
    if not causes:
        return [Text("no table is due, and nothing keeps one from being vacuumed")]
    lines: list[Text] = []
    before = ""
    for cause in causes:
        head = f"{cause.relation or text.UNKNOWN}: {cause.verdict or ''}"
        if head != before:
            lines += paragraph.wrapped(head, width, "", INDENT, "bold")
        before = head
        number = f"{cause.rank}."
        lines += _part("cause", cause.cause, width, f"{number:<{len(INDENT)}}")
        lines += _part("evidence", cause.evidence, width)
        lines += _statement("fix", cause.fix)
        lines += _part("risk", cause.risk, width)
    return lines


def _part(label: str, value: str | None, width: int, lead: str = INDENT) -> list[Text]:
    if not value:
        return []
    first = f"{lead}{label:<{LABEL}}"
    return paragraph.wrapped(value, width, first, " " * len(first))


def _statement(label: str, value: str | None) -> list[Text]:
    """Return a statement. It stays whole because it is to be copied."""
    if not value:
        return []
    clean = text.printable(" ".join(value.split()))
    return [Text.assemble(f"{INDENT}{label:<{LABEL}}", (clean, "bold green"), no_wrap=True)]


# -- blockers --------------------------------------------------------------------


def blocker_columns(now: datetime) -> tuple[Column[Blocker], ...]:
    """Return the columns of what holds the horizon back."""
    return (
        Column[Blocker]("KIND", lambda row: row.kind, 20),
        Column[Blocker]("AGE", lambda row: text.count(row.age), 6, right=True),
        Column[Blocker]("FOR", lambda row: _for(row, now), 8, right=True),
        Column[Blocker]("PID", lambda row: str(row.pid or text.UNKNOWN), 7, right=True),
        Column[Blocker]("NAME", lambda row: row.name or "", 12, flex=True, most=40),
        Column[Blocker]("DATABASE", lambda row: row.datname or "", 10, False, 1, True, 24),
        Column[Blocker]("USER", lambda row: row.usename or "", 8, False, 2, True, 20),
        Column[Blocker]("STATE", lambda row: row.state or "", 10, False, 3, True, 30),
    )


def _for(row: Blocker, now: datetime) -> str:
    since = compute.held_since(row)
    return text.UNKNOWN if since is None else text.duration(now - since)


def blocker_lines(rows: Sequence[Blocker], now: datetime, width: int) -> list[Text]:
    """Return what holds the horizon back, the oldest first, with fix and risk."""
    if not rows:
        return [Text("nothing holds the horizon back")]
    layout = grid.fit(blocker_columns(now), width)
    lines = [grid.header(layout)]
    for row in rows:
        lines.append(grid.row(layout, row))
        if row.query:
            query = text.cut(
                text.printable(" ".join(row.query.split())), width - len(INDENT) - LABEL
            )
            lines.append(Text(f"{INDENT}{'query':<{LABEL}}{query}", style="dim"))
        lines += _part("withholds", row.withholds, width)
        lines += _statement("fix", row.fix)
        lines += _part("risk", row.risk, width)
    return lines


# -- status without the extension ----------------------------------------------


def overview_lines(found: Overview, width: int) -> list[Text]:
    """Return at most ten lines about how autovacuum is doing."""
    server = found.server
    role = "standby" if server.in_recovery else "primary"
    up = text.duration(server.now - server.started_at)
    daemon = "on" if found.daemon_on else "off"
    rows = [
        ("server", f"PostgreSQL {server.version.split()[0]}, {role}, up {up}"),
        ("pg_sweep", f'not in database "{server.dbname}"'),
        ("autovacuum", f"{daemon}, {found.workers} of {found.max_workers} workers busy"),
        ("running", compute.plural(found.vacuums, "vacuum")),
        ("due", f"{found.due:,} of {compute.plural(found.tables, 'table')} of this database"),
        ("worst", _worst(found.worst)),
        ("oldest xid", _oldest(found)),
        ("horizon", _horizon(found.blocker, server.dbname, server.now)),
    ]
    lines = [_labelled(label, value, width) for label, value in rows]
    if not found.problems:
        return [*lines, _labelled("problems", "none", width, "green")]
    shown = list(found.problems[:1])
    if len(found.problems) > 1:
        shown.append(compute.sentences(*found.problems[1:]))
    for i, problem in enumerate(shown):
        lines.append(_labelled("problems" if i == 0 else "", problem, width, "bold red"))
    return lines


def _labelled(label: str, value: str, width: int, style: str = "") -> Text:
    room = max(20, width - LABEL - 1)
    shown = text.cut(text.printable(value), room)
    return Text.assemble((label.ljust(LABEL + 1), "bold"), (shown, style))


def _worst(table: Table | None) -> str:
    if table is None:
        return "no table is due"
    return f"{compute.relation(table, False)}: {table.reason}"


def _oldest(found: Overview) -> str:
    oldest = found.oldest
    if oldest is None:
        return "unknown"
    pct = compute.xid_pct(oldest.xid_age, found.server.freeze_max_age)
    return f'{oldest.xid_age:,}, {pct:.0f} % of autovacuum_freeze_max_age, in "{oldest.datname}"'


def _horizon(blocker: Blocker | None, dbname: str, now: datetime) -> str:
    if blocker is None:
        return "not held back"
    since = f" for {text.duration(now - blocker.since)}" if blocker.since else ""
    age = compute.old(blocker.age)
    return f"held{since} by {described(blocker, dbname)}, {age}"


# -- what is next ----------------------------------------------------------------


def queue_columns(now: datetime) -> tuple[Column[Waiting], ...]:
    """Return the columns of the tables that are to be vacuumed next."""
    return (
        Column[Waiting]("#", lambda row: str(row.position), 3, right=True),
        Column[Waiting]("TABLE", compute.relation, 20, flex=True, most=40, keep_end=True),
        Column[Waiting]("LANE", lambda row: row.lane or "", 7, priority=4),
        Column[Waiting]("SCORE", lambda row: _score(row.score), 5, True, 2),
        Column[Waiting]("WAITED", lambda row: _waited(row, now), 7, True, 3),
        Column[Waiting]("TAKES", lambda row: text.duration(row.estimated_duration), 7, True, 5),
        Column[Waiting]("MB", lambda row: text.count(row.estimated_mb), 5, True, 6),
        Column[Waiting]("WAITING FOR", _waiting_for, 14, flex=True, most=40),
        Column[Waiting]("WHY", lambda row: row.reason or "", 16, False, 1, True, 60),
    )


def queue_lines(rows: Sequence[Waiting], number: int, now: datetime, width: int) -> list[Text]:
    """Return the tables that are to be vacuumed next, and how many there are in all."""
    if not rows:
        return [Text("no table is waiting")]
    layout = grid.fit(queue_columns(now), width)
    lines = [grid.header(layout), *(grid.row(layout, row) for row in rows)]
    total = f"{len(rows):,} of {compute.plural(number, 'table')} shown"
    return [*lines, Text(total, style="dim")]


def _waited(row: Waiting, now: datetime) -> str:
    return text.UNKNOWN if row.waiting_since is None else text.duration(now - row.waiting_since)


def _waiting_for(row: Waiting) -> Text:
    style = "bold green" if row.requested_by else ""
    return Text(row.waiting_for or text.UNKNOWN, style=style)


def queue_details(row: Waiting) -> str:
    """Return the line about the selected waiting table."""
    asked = f"requested by {text.printable(row.requested_by)}" if row.requested_by else ""
    reason = text.printable(row.reason or "")
    parts = [
        text.printable(compute.relation(row)),
        asked,
        # A table that is not due has no other reason.
        reason if reason != asked else "",
        f"waiting for {text.printable(row.waiting_for)}" if row.waiting_for else "",
    ]
    return " · ".join(filter(None, parts))


# -- decisions -------------------------------------------------------------------


def decision_columns(now: datetime) -> tuple[Column[Decision], ...]:
    """Return the columns of what was decided about tables."""
    return (
        Column[Decision]("TABLE", compute.relation, 20, flex=True, most=40, keep_end=True),
        Column[Decision]("DECISION", lambda row: row.decision or text.UNKNOWN, 15),
        Column[Decision]("LAST", lambda row: text.ago(row.last_at, now), 11, True, 2),
        Column[Decision]("TIMES", lambda row: text.count(row.times), 5, True, 4),
        Column[Decision]("AGAIN IN", lambda row: _again(row, now), 8, True, 1),
        Column[Decision]("DEAD", lambda row: text.count(row.dead_tuples), 5, True, 6),
        Column[Decision]("INSERTED", lambda row: text.count(row.ins_since_vacuum), 8, True, 7),
        Column[Decision]("INSTEAD", _instead, 9, priority=5),
        Column[Decision]("REASON", lambda row: row.reason or "", 18, False, 3, True, 70),
    )


def _again(row: Decision, now: datetime) -> str:
    if row.not_before is None:
        return text.UNKNOWN
    return text.duration(row.not_before - now) if row.not_before > now else "now"


def _instead(row: Decision) -> str:
    return text.who(row.vacuumed_instead_by) if row.vacuumed_instead_by else ""


def decision_lines(rows: Sequence[Decision], now: datetime, width: int) -> list[Text]:
    """Return what was decided about tables, the latest first."""
    if not rows:
        return [Text("no decisions")]
    layout = grid.fit(decision_columns(now), width)
    return [grid.header(layout), *(grid.row(layout, row) for row in rows)]


# -- audit -----------------------------------------------------------------------


def audit_columns(now: datetime) -> tuple[Column[Call], ...]:
    """Return the columns of who has called which of the functions that act."""
    return (
        Column[Call]("WHEN", lambda row: text.moment(row.called_at, now), 8),
        Column[Call]("USER", _caller, 15, flex=True, most=30),
        Column[Call]("CALLED", lambda row: row.command, 10),
        Column[Call]("ON", _acted_on, 20, flex=True, most=50, keep_end=True),
        Column[Call]("DETAIL", lambda row: row.detail or "", 20, False, 1, True, 60),
        Column[Call]("APPLICATION", lambda row: row.application_name or "", 12, priority=2),
    )


def _caller(row: Call) -> str:
    user = row.usename or text.UNKNOWN
    return user if row.role == row.usename else f"{user} as {row.role or text.UNKNOWN}"


def _acted_on(row: Call) -> str:
    if row.relid is None and row.vacuum_pid is None:
        return "the server"
    table = compute.relation(row)
    return table if row.vacuum_pid is None else f"PID {row.vacuum_pid} {table}"


def audit_lines(rows: Sequence[Call], now: datetime, width: int) -> list[Text]:
    """Return who has called which of the functions that act, the latest first."""
    if not rows:
        return [Text("no calls since the server was started")]
    layout = grid.fit(audit_columns(now), width)
    return [grid.header(layout), *(grid.row(layout, row) for row in rows)]
