"""The parts of `top --fleet`, from what was seen and a state of the display to lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.base import text
from pgsweep.fleet.summary import node_problems, summary
from pgsweep.model.compute import described
from pgsweep.output.terminal import fleet, grid
from pgsweep.output.top.fleet_state import order_name
from pgsweep.output.top.header import segments
from pgsweep.output.top.screen import SELECTED, keys_line, visible

if TYPE_CHECKING:
    from pgsweep.fleet.lookout import Seen
    from pgsweep.fleet.reading import Row
    from pgsweep.output.top.fleet_state import FleetUi
    from pgsweep.output.top.header import Part

HEADER_LINES = 5
DETAIL_LINES = 3
# What is said above the nodes, each in a line.
SAID = ("due", "MB/s", "horizon", "wraparound")
HELP = """\
Space +-   freeze the display; refresh less or more often
Up Down    select a node (also k j)
Enter      the node's own top; q or Esc comes back
/          show only nodes with this in their name or group
s S        sort the nodes by the next, the previous order:
           problems, due, MB/s, age, horizon, time to answer, name
r h q      look now, this help, quit

MODE   the mode in effect of pg_sweep. core: there is no pg_sweep
DUE    tables that are due      RUN  running vacuums
READ DIRTY WAL  MB/s of all of them together
XID    age of the oldest database in transactions
DAYS   until the server stops writing, at the present use
HORIZON  age of the oldest holder of the horizon
A node without figures is silent: why stands in their place."""


def header(seen: Seen, ui: FleetUi, width: int, at: datetime) -> list[Text]:
    """Return the lines on top: how many answer, and what follows for all nodes."""
    if seen.trouble:
        state: Part = (seen.trouble, "bold red", 0)
    elif ui.frozen:
        state = ("FROZEN", "black on yellow", 0)
    else:
        state = (f"every {ui.interval_s:g} s", "", 2)
    found = summary(seen.rows)
    silent = sum(row.is_silent for row in seen.rows)
    parts: list[Part] = [
        (f"fleet of {found.nodes}", "bold", 0),
        (f"{found.answered} answer", "green", 0),
        *([(f"{silent} silent", "bold red", 0)] if silent else []),
        *(
            [("not all nodes are known", "bold red", 1)]
            if seen.fleet and seen.fleet.incomplete
            else []
        ),
        state,
        (f"{at:%H:%M:%S}", "", 3),
    ]
    if seen.fleet is None:
        parts = [("asking who is there ...", "dim", 0), *([state] if seen.trouble else [])]
    said = dict(fleet.sentences(found)) if found.answered else {}
    lines = [segments("pgsweep", parts, width)]
    for label in SAID:
        value = text.printable(said.get(label, text.UNKNOWN))
        line = Text.assemble(f" {label.ljust(fleet.LABEL)}", value, no_wrap=True)
        line.stylize("bold", 0, fleet.LABEL)
        line.truncate(width, overflow="ellipsis")
        lines.append(line)
    return lines


def title(seen: Seen, ui: FleetUi, shown: Sequence[Row]) -> str:
    """Return the title over the nodes."""
    counted = f"{len(seen.rows)}"
    if ui.filter:
        counted = f"{len(shown)} of {counted} with {text.printable(ui.filter)}"
    order = order_name(ui)
    return f"nodes ({counted})" + (f" by {order}" if order else "")


def nodes(rows: Sequence[Row], ui: FleetUi, width: int, height: int, now: float) -> list[Text]:
    """Return the nodes that fit, and what is known about the selected one below.

    `now` is by the monotonic clock.
    """
    if not rows:
        said = f"no node has {text.printable(ui.filter)} in its name" if ui.filter else "no nodes"
        return [Text(said, style="dim")]
    details = DETAIL_LINES if height >= 3 * DETAIL_LINES else 0
    layout = grid.fit(fleet.columns(), width)
    selected = ui.position(rows)
    some, first = visible(rows, selected, height - 1 - details)
    out = [grid.header(layout)]
    out[0].truncate(width)
    for index, row in enumerate(some, start=first):
        line = fleet.row_line(layout, row, now)
        if index == selected:
            line = Text(line.plain.ljust(width), style=SELECTED, no_wrap=True)
        line.truncate(width)
        out.append(line)
    out += [Text()] * (height - len(out) - details)
    about = about_node(rows[selected], now)
    return out + [
        Text(text.cut(line, width), style="dim", no_wrap=True) for line in about[:details]
    ]


def about_node(row: Row, now: float) -> list[str]:
    """Return what there is no room for in a row."""
    node, reading = row.node, row.reading
    first = [node.name, node.group, str(node.address)]
    if reading is None:
        return [_line(first), text.printable(fleet.trouble(row, now)), ""]
    if row.seconds is not None and row.answered_at is not None:
        took = text.took(timedelta(seconds=row.seconds))
        first.append(f"answered in {took}, {max(0.0, now - row.answered_at):.0f} s ago")
    first.append(f"PostgreSQL {reading.server.version.split()[0]}")
    held = "nothing holds the horizon back"
    if reading.blocker is not None:
        held = f"horizon held by {fleet.holder(reading) or described(reading.blocker, '')}"
    problems = [*([f"{node.provider} says: {node.state}"] if node.state else [])]
    problems += node_problems(row)
    return [_line(first), text.printable(held), _line(problems) or "no problems"]


def _line(parts: Sequence[str]) -> str:
    return text.printable(" · ".join(" ".join(part.split()) for part in parts if part))


def footer(ui: FleetUi, width: int) -> Text:
    """Return the last line: a message, what is typed, or the keys."""
    if ui.typing:
        typed = f" /{text.printable(ui.filter)}█   Enter keeps the filter, Esc drops it"
        return Text(text.cut(typed, width), style="bold", no_wrap=True)
    if ui.message:
        return Text(text.cut(f" {text.printable(ui.message)}", width), style="bold", no_wrap=True)
    keys = [("h", "help"), ("q", "quit"), ("Enter", "its top"), ("/", "filter"), ("s", "sort")]
    return keys_line([*keys, ("↑↓", "select"), ("Space", "freeze"), ("+/-", "refresh")], width)
