"""What the agent does and did, for people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.agent.act import DONE, FAILED, WOULD
from pgsweep.base import text
from pgsweep.output.terminal import acts, grid
from pgsweep.output.terminal.grid import Column
from pgsweep.source.core.blockers import identifier

if TYPE_CHECKING:
    from pgsweep.agent.store import Done, Summary

MAINTAIN = 170000


def _at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)


def _took(row: Done) -> str:
    if row.outcome == WOULD:
        return ""
    return text.took(None if row.ended is None else timedelta(seconds=row.ended - row.began))


def _outcome(row: Done) -> Text:
    bad = row.outcome == FAILED
    style = "bold red" if bad else "dim" if row.outcome == WOULD else ""
    return Text(row.outcome, style=style)


def _why(row: Done) -> str:
    size = row.size_after
    after = "" if size is None else f"; now {text.size(size)}"
    return f"{row.reason}{after}" + (f": {row.detail}" if row.detail else "")


COLUMNS = (
    Column["Done"]("BEGAN", lambda row: text.short(_at(row.began)), 16, False, 3),
    Column["Done"]("DATABASE", lambda row: row.datname, 10, False, 2, True, 24),
    Column["Done"]("ACT", lambda row: row.kind, 7),
    Column["Done"]("NAME", lambda row: row.name, 16, False, 0, True, 48, True),
    Column["Done"]("OUTCOME", _outcome, 8),
    Column["Done"]("TOOK", _took, 7, True, 1),
    Column["Done"]("WHY", _why, 20, False, 0, True, 120),
)


def history(rows: Sequence[Done], _now: float, width: int) -> list[Text]:
    """Return acts, one line each, and the statement of the latest."""
    if not rows:
        return [Text("Nothing was done, and nothing was due.")]
    layout = grid.fit(COLUMNS, width)
    return [
        grid.header(layout),
        *(grid.row(layout, row) for row in rows),
        Text(text.printable(f"The latest: {rows[0].statement};"), style="dim"),
    ]


def status(found: Summary, now: float, _width: int) -> list[Text]:
    """Return the servers, what is being done, and what the last day came to."""
    lines = []
    if found.paused_until is not None:
        lines += paused(found.paused_until)
    for one in found.servers:
        looked = None if one.looked is None else _at(one.looked)
        said = one.problem or f"looked at {text.ago(looked, _at(now))}"
        lines.append(
            Text(text.printable(f"{one.name}: {said}"), style="yellow" if one.problem else "")
        )
    if not found.servers:
        lines.append(Text("No server was looked at."))
    lines += [
        Text(
            text.printable(
                f"now: {row.statement}; ({row.reason}), since {text.short(_at(row.began))}"
            )
        )
        for row in found.running
    ]
    if found.sums:
        lines.append(Text("In the last 24 hours:", style="bold"))
    for row in found.sums:
        told = f"{row.acts:,} × {row.kind}: {row.outcome}"
        if row.outcome == DONE:
            told += f", {text.took(timedelta(seconds=row.seconds or 0))}"
        if row.read_pages or row.dirtied_pages:
            told += f", {row.read_pages:,} pages read, {row.dirtied_pages:,} dirtied"
        if row.given_back:
            told += f", {text.size(row.given_back)} given back"
        lines.append(Text(told))
    return lines


def paused(until: float | None) -> list[Text]:
    """Return what a pause means."""
    if until is None:
        return [Text("The agent acts again.")]
    return [
        Text(f"No act begins until {text.short(_at(until))}.", style="bold"),
        Text(f"{acts.UNDO}pgsweep agent resume"),
    ]


def grants(role: str, version_num: int, owners: Sequence[str]) -> list[Text]:
    """Return the SQL that gives a role what the agent needs in one database, and no more."""
    name = identifier(role)
    lines = [
        f"-- Make the role first: CREATE ROLE {name} LOGIN;",
        "-- to see sessions, settings and statistics",
        f"GRANT pg_monitor TO {name};",
    ]
    if version_num >= MAINTAIN:
        lines += [
            "-- to vacuum, analyze and freeze all tables, catalogs as well",
            f"GRANT pg_maintain TO {name};",
        ]
    lines.append(
        "-- to rebuild indexes and drop what a rebuild left"
        if version_num >= MAINTAIN
        else "-- to vacuum, analyze, freeze and rebuild what these roles own"
    )
    if not owners:
        lines.append("-- (no table here has an owner who is not a superuser)")
    lines += [f"GRANT {identifier(owner)} TO {name};" for owner in owners]
    return [Text(text.printable(line)) for line in lines]
