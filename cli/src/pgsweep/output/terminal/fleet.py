"""What `fleet` prints of many nodes for people. All of it is pure."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.base import text
from pgsweep.fleet.reading import Row
from pgsweep.fleet.summary import wraparound_pct
from pgsweep.model import compute
from pgsweep.model.compute import described
from pgsweep.output.terminal import grid
from pgsweep.output.terminal.grid import Column

if TYPE_CHECKING:
    from pgsweep.fleet.reading import NodeReading
    from pgsweep.fleet.summary import Skew, Summary

LABEL = 11
MODE_STYLE = {"act": "green", "core": "cyan", "off": "bold yellow"}
SHORT_ROLES = {
    "coordinator": "coord",
    "sync_standby": "sync",
    "quorum_standby": "quorum",
    "standby_leader": "stdby ldr",
}
MOST_PROBLEMS = 8


def columns() -> tuple[Column[Row], ...]:
    """Return the columns of nodes."""
    return (
        Column[Row]("NODE", lambda row: row.node.name, 13, flex=True, most=30, keep_end=True),
        Column[Row]("GROUP", lambda row: row.node.group, 8, False, 4, True, 20),
        Column[Row]("ROLE", _role, 9),
        Column[Row]("MODE", lambda row: _mode(_known(row)), 7),
        Column[Row]("DUE", lambda row: _due(_known(row)), 5, right=True),
        Column[Row]("RUN", lambda row: text.count(_known(row).vacuums), 3, right=True),
        Column[Row]("READ", lambda row: text.rate(_known(row).read_mb_per_s), 4, right=True),
        Column[Row]("DIRTY", lambda row: text.rate(_known(row).dirty_mb_per_s), 5, right=True),
        Column[Row]("WAL", lambda row: text.rate(_known(row).wal_mb_per_s), 4, right=True),
        Column[Row]("XID", lambda row: _age(_known(row)), 5, right=True),
        Column[Row]("DAYS", lambda row: days(_known(row)), 5, right=True),
        Column[Row]("HORIZON", lambda row: _horizon(_known(row)), 7, right=True),
        Column[Row]("LAG", lambda row: text.size(row.node.lag_bytes), 7, True, 6),
        Column[Row]("CONFLICTS", lambda row: text.count(_known(row).conflicts), 9, True, 5),
        Column[Row]("BUDGET", lambda row: _known(row).binding or text.UNKNOWN, 12, priority=3),
        Column[Row]("HELD BY", lambda row: _holder(_known(row)), 16, False, 2, True, 60),
    )


def _known(row: Row) -> NodeReading:
    # Rows without a reading are not drawn by these columns.
    assert row.reading is not None
    return row.reading


def _role(row: Row) -> str:
    return SHORT_ROLES.get(row.role, row.role) or text.UNKNOWN


def _mode(reading: NodeReading) -> Text:
    return Text(reading.mode, style=MODE_STYLE.get(reading.mode, ""))


def _due(reading: NodeReading) -> Text:
    return Text(text.count(reading.due), style="bold yellow" if reading.due else "")


def _age(reading: NodeReading) -> Text:
    if reading.oldest is None:
        return Text(text.UNKNOWN)
    pct = compute.xid_pct(reading.oldest.xid_age, reading.server.freeze_max_age)
    style = "bold red" if pct >= compute.XID_WARN_PCT else "yellow" if pct >= 100 else ""
    return Text(text.count(reading.oldest.xid_age), style=style)


def days(reading: NodeReading) -> str:
    """Return the days until the server stops writing."""
    return text.count(reading.days_left)


def _horizon(reading: NodeReading) -> str:
    return text.count(reading.blocker.age) if reading.blocker else "0"


def _holder(reading: NodeReading) -> str:
    return holder(reading) if reading.blocker else ""


def holder(reading: NodeReading) -> str:
    """Return who holds a node's horizon, and for whom."""
    blocker, origin = reading.blocker, reading.origin
    assert blocker is not None
    # A session of Citus is named by its origin.
    who = described(blocker, reading.server.dbname)
    if origin is None:
        return f'{who}, user "{blocker.usename}"' if blocker.usename else who
    user = origin.usename or blocker.usename
    of = f' of user "{user}"' if user else ""
    application = f" ({origin.application_name})" if origin.application_name else ""
    return f"{who}, for process {origin.pid} on {origin.node}{of}{application}"


def trouble(row: Row, now: float | None = None) -> str:
    """Return why there are no figures. With `now`, of the monotonic clock, also the last answer."""
    if row.node.unasked or not row.trouble:
        return row.node.unasked or "being asked"
    if now is None or row.answered_at is None:
        return row.trouble
    ago = text.duration(timedelta(seconds=now - row.answered_at))
    return f"{row.trouble}; it answered last {ago} ago"


def row_line(layout: Sequence[tuple[Column[Row], int]], row: Row, now: float | None = None) -> Text:
    """Return one node. Where there is no reading, the reason takes the place of figures."""
    if row.reading is not None:
        return grid.row(layout, row)
    first = [(column, width) for column, width in layout if column.title in ("NODE", "ROLE")]
    line = grid.row(first, row)
    room = sum(width for _, width in layout) + grid.GAP * (len(layout) - 1) - line.cell_len - 1
    style = "bold red" if row.is_silent else "dim"
    # The address is known. The reason follows it.
    why = trouble(row, now).rpartition(" failed: ")[2]
    return Text.assemble(line, " ", (text.cut(text.printable(why), room), style))


def lines(rows: Sequence[Row], found: Summary, width: int) -> list[Text]:
    """Return the nodes, one line each, and what follows for all of them."""
    layout = grid.fit(columns(), width)
    out = [grid.header(layout), *(row_line(layout, row) for row in rows), Text()]
    for label, value in sentences(found):
        out += labelled(label, value, width)
    return [*out, *_problems(found, width)]


def waiting_for(rows: Sequence[Row]) -> str:
    """Return how many nodes have answered, and which are waited for."""
    awaited = [row for row in rows if row.reading is None and not row.trouble]
    if not awaited:
        return ""
    return f"{len(rows) - len(awaited)} of {len(rows)} nodes, waiting for {_names(awaited)}"


def notes(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return what has to be said about where figures come from, and which are missing."""
    said = []
    core = [row for row in rows if row.reading and row.reading.status is None]
    if core:
        said.append(
            f"{_names(core)}: there is no pg_sweep, and core's own views know no MB/s and no "
            "budget. DUE is of the database that was asked, by dead rows."
        )
    missing: dict[str, list[Row]] = {}
    for row in rows:
        for what in row.reading.missing if row.reading else ():
            missing.setdefault(what, []).append(row)
    said += [f"{_names(where)}: not known there: {what}." for what, where in missing.items()]
    return tuple(said)


def _names(rows: Sequence[Row]) -> str:
    names = [row.node.name for row in rows]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def sentences(found: Summary) -> list[tuple[str, str]]:
    """Return what follows for all nodes together, by labels."""
    where = ""
    if found.machines < found.nodes:
        where = f" on {compute.plural(found.machines, 'machine')}"
    nodes = compute.plural(found.nodes, "node")
    said = [("nodes", f"{nodes}{where}, {found.answered} of {found.asked} asked have answered")]
    if found.slowest is not None and found.slowest.seconds is not None:
        took = text.took(timedelta(seconds=found.slowest.seconds))
        said.append(("slowest", f"{found.slowest.node.name} answered in {took}"))
    if found.due is not None:
        said.append(("due", skew_text(found.due, text.count)))
    if found.mb_per_s is not None:
        said.append(("MB/s", skew_text(found.mb_per_s, text.rate)))
    if found.held is not None and found.held.reading is not None:
        reading = found.held.reading
        age = compute.old(reading.blocker.age if reading.blocker else 0)
        long = f" for {text.duration(reading.held_for)}" if reading.held_for else ""
        who = f"held{long} by {holder(reading)}"
        said.append(("horizon", f"{found.held.node.name}: {age}, {who}"))
    elif found.answered:
        said.append(("horizon", "not held back anywhere"))
    if found.wraparound is not None and found.wraparound.reading is not None:
        said.append(("wraparound", _wraparound(found.wraparound, found.wraparound.reading)))
    return said


def _wraparound(row: Row, reading: NodeReading) -> str:
    oldest = reading.oldest
    assert oldest is not None
    pct = wraparound_pct(oldest.xid_age)
    end = ""
    if reading.days_left is not None:
        end = f", {reading.days_left:,.0f} days left at {text.figure(reading.xids_per_s)} xids/s"
    return f'{row.node.name}: {oldest.xid_age:,}, {pct:.1f} % used up, in "{oldest.datname}"{end}'


def skew_text(skew: Skew, figure: Callable[[float | None], str]) -> str:
    """Return the largest against the median."""
    largest = f"most on {skew.node} ({figure(skew.largest)})"
    if skew.largest == 0:
        return "none anywhere"
    times = f", {skew.times:.1f} times the median" if skew.times is not None else ", the median is"
    return f"{largest}{times} {figure(skew.median)}"


def _problems(found: Summary, width: int) -> list[Text]:
    if not found.problems:
        return labelled("problems", "none", width, "green")
    shown = [f"{name}: {what}" for name, what in found.problems[:MOST_PROBLEMS]]
    if len(found.problems) > MOST_PROBLEMS:
        shown.append(f"and {len(found.problems) - MOST_PROBLEMS:,} more")
    out: list[Text] = []
    for problem in shown:
        out += labelled("" if out else "problems", problem, width, "bold red")
    return out


def labelled(label: str, value: str, width: int, style: str = "") -> list[Text]:
    """Return a label and a text beside it, in as many lines as it takes."""
    clean = text.printable(" ".join(value.split()))
    parts = textwrap.wrap(clean, max(20, width - LABEL)) or [""]
    first = Text.assemble((label.ljust(LABEL), "bold"), (parts[0], style))
    return [first, *(Text.assemble(" " * LABEL, (part, style)) for part in parts[1:])]
