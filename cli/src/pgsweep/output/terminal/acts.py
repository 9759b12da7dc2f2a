"""What the commands that act say: what was done, until when, and how to undo it. All of it is pure.

A name is shown as it can be read. A command to copy has it quoted for SQL, and for a shell.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.base import text
from pgsweep.model import TableSetting, compute
from pgsweep.output.terminal import grid
from pgsweep.output.terminal.grid import Column
from pgsweep.source.core.blockers import identifier

if TYPE_CHECKING:
    from pgsweep.model import Progress, TableName, Waiting

UNDO = "undo    "
MORE = "see     "
UNHOLD = ("hold", "0")


def command(*words: str) -> str:
    """Return a command of ours as a shell takes it."""
    return text.printable(shlex.join(["pgsweep", *words]))


def written(table: TableName | TableSetting | Progress) -> str:
    """Return a table's name as our commands take it."""
    name = identifier(table.relname or "")
    if table.schemaname in (None, "public"):
        return name
    return f"{identifier(table.schemaname)}.{name}"


def _for(until: datetime, now: datetime) -> str:
    """Return how long that is, to the nearest second."""
    return text.duration(until - now + timedelta(seconds=0.5))


def _said(sentence: str) -> Text:
    return Text(text.printable(sentence), style="bold")


def _undo(line: str) -> Text:
    return Text.assemble(UNDO, (line, "bold green"))


def _more(line: str) -> Text:
    return Text.assemble(MORE, (line, "green"))


def held(until: datetime, now: datetime, running: Sequence[Progress]) -> list[Text]:
    """Return what a hold means."""
    ours = sum(row.started_by == "sweep" for row in compute.running(running))
    lines = [
        _said(
            f"pg_sweep begins no new vacuum in any database until {text.moment(until, now)}, "
            f"for {_for(until, now)}"
        ),
    ]
    if ours:
        lines.append(
            Text(f"        {compute.plural(ours, 'vacuum')} of its own goes on to the end")
            if ours == 1
            else Text(f"        {ours} vacuums of its own go on to the end")
        )
    lines.append(Text("        autovacuum and VACUUM by hand are not held"))
    return [*lines, _undo(command(*UNHOLD))]


def unheld(until: datetime | None, now: datetime) -> list[Text]:
    """Return what the end of a hold means. `until` is what it would have lasted to."""
    if until is None or until <= now:
        return [_said("there was no hold, and there is none")]
    line = f"the hold is over, which would have lasted until {text.moment(until, now)}"
    return [_said(line), _undo(command(*hold_again(until, now)))]


def hold_again(until: datetime | None, now: datetime) -> tuple[str, ...]:
    """Return the words that begin again a hold that was ended. Empty if there was none."""
    return ("hold", _seconds(until, now)) if until is not None and until > now else ()


def _seconds(until: datetime, now: datetime) -> str:
    return f"{max(1, round((until - now).total_seconds()))} s"


def snoozed(
    table: TableName, until: datetime | None, before: datetime | None, now: datetime
) -> list[Text]:
    """Return what a snooze, or its end, means. `before` is until when it was snoozed already."""
    name = compute.relation(table)
    was = before is not None and before > now
    back = snooze_back(table, until, before, now)
    undo = [_undo(command(*back))] if back else []
    if until is None:
        said = "is not snoozed any more" if was else "was not snoozed"
        return [_said(f"{name} {said}"), *undo]
    line = f"pg_sweep leaves {name} alone until {text.moment(until, now)}, for {_for(until, now)}"
    lines = [_said(line)]
    if was:
        lines.append(Text(f"        it was snoozed until {text.moment(before, now)}"))
    lines.append(Text("        autovacuum and VACUUM by hand are not held"))
    return [*lines, *undo]


def snooze_back(
    table: TableName, until: datetime | None, before: datetime | None, now: datetime
) -> tuple[str, ...]:
    """Return the words that bring back the snooze that there was. Empty if nothing changed."""
    if before is not None and before > now:
        return ("snooze", written(table), _seconds(before, now))
    return () if until is None else ("snooze", written(table), "0")


def requested(
    table: TableName, request_id: int, waiting: Sequence[Waiting], said: str
) -> list[Text]:
    """Return what became of a request. `said` is what the server had to say about it."""
    name = compute.relation(table)
    lines = [Text(text.printable(said), style="yellow")] if said else []
    if request_id == 0:
        return [_said(f"nothing was requested of {name}"), *lines]
    where = "a worker has taken it already"
    if waiting:
        first = waiting[0]
        more = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
        where = f"place {first.position}{more} in the queue, waiting for {first.waiting_for}"
    lines = [_said(f"vacuum of {name} is request {request_id}: {where}"), *lines]
    return [
        *lines,
        _more(command("queue")),
        _more(command("runs", "--table", written(table))),
        Text(f"{UNDO}a request cannot be taken back. Once it runs, pgsweep cancel PID ends it"),
    ]


def to_cancel(row: Progress, now: datetime, snooze: str | None) -> Text:
    """Return what would be cancelled."""
    done = f", {text.percent(row.done_pct)} done" if row.done_pct is not None else ""
    alone = f", and leave the table alone for {snooze}" if snooze else ""
    what = (row.command or "vacuum").lower()
    return Text(
        text.printable(
            f"cancel {what} of {_of(row)}, process {row.pid}, started by "
            f"{text.who(row.started_by)}, running for "
            f"{text.duration(compute.elapsed(row, now))}{done}{alone}"
        )
    )


def _of(row: Progress) -> str:
    """Return the table of a running vacuum, which it has to lock first."""
    return compute.relation(row) if row.relid else "a table that it has not locked yet"


def cancelled(row: Progress, snooze: str | None, dbname: str) -> list[Text]:
    """Return what a cancel means for the table. `dbname` is the database that was asked."""
    lines = [_said(f"cancel sent to process {row.pid}, which vacuums {_of(row)}")]
    if row.started_by == "sweep" and not snooze:
        lines.append(Text("        pg_sweep tries the table again after 5 minutes"))
    elif row.started_by == "autovacuum":
        lines.append(Text("        autovacuum tries the table again within its naptime"))
    if row.relname is None:
        return lines
    there = [] if row.datname in (None, dbname) else ["-d", str(row.datname)]
    if snooze:
        lines.append(_undo(command("snooze", *there, written(row), "0")))
    return [*lines, _undo(command("vacuum", *there, written(row)))]


def changed(
    table: TableName, before: Mapping[str, str], values: Mapping[str, str | None]
) -> list[Text]:
    """Return which settings a table has now, and which it had."""
    name = compute.relation(table)
    lines = []
    for setting, value in values.items():
        old = before.get(setting)
        was = f"it was {old}" if old is not None else "it was the server's"
        now = f"is {value} now" if value is not None else "is the server's again"
        lines.append(_said(f"{setting} of {name} {now}, {was}"))
    return [*lines, _undo(command(*set_back(table, before, values)))]


def set_back(
    table: TableName, before: Mapping[str, str], values: Mapping[str, str | None]
) -> tuple[str, ...]:
    """Return the words that bring back the settings that there were."""
    back: list[str] = []
    removed: list[str] = []
    for setting in values:
        old = before.get(setting)
        if old is None:
            removed += ["--reset", setting]
        else:
            back.append(f"{setting}={old}")
    return ("set", written(table), *back, *removed)


def setting_columns(now: datetime) -> tuple[Column[TableSetting], ...]:
    """Return the columns of the settings that tables have of their own."""
    return (
        Column[TableSetting]("TABLE", _table, 20, flex=True, most=60, keep_end=True),
        Column[TableSetting]("SETTING", lambda row: row.name, 21),
        Column[TableSetting]("VALUE", lambda row: row.value, 10, flex=True, most=20),
        Column[TableSetting]("SET BY", lambda row: row.set_by or "", 8, False, 1, True, 20),
        Column[TableSetting]("SET", lambda row: text.ago(row.set_at, now), 12, True, 2),
    )


def _table(row: TableSetting) -> str:
    return compute.relation(row, with_database=False)


def setting_lines(rows: Sequence[TableSetting], now: datetime, width: int) -> list[Text]:
    """Return the settings that tables have of their own, one line each."""
    if not rows:
        return [Text("no table has a setting of its own")]
    layout = grid.fit(setting_columns(now), width)
    return [grid.header(layout), *(grid.row(layout, row) for row in rows)]
