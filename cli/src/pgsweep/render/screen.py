"""The parts of `top`, each from a frozen snapshot and a state of the display to lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from rich.text import Text

from pgsweep import compute
from pgsweep.model import Database, Run, Server, Snapshot, Status, Waiting
from pgsweep.render import answers, columns, grid, text
from pgsweep.tui.state import Panel, Question, UiState, Verb, panels, waiting_key

T = TypeVar("T")

SELECTED = "bold white on blue"
HELP = """\
Space      freeze the display, and go on
+ -        refresh less or more often (0.5 s to 60 s)
Up Down    select a row (also k j)
Tab 1-4    go to a panel; 4 where the server knows what is next
C          cancel the selected vacuum (asks; only with --act)
< > =      slow it to half, let it hurry, release it (the same)
r          read now
h ?        this help
q          quit

WHO    sweep: pg_sweep · autovac: the core daemon · manual: somebody
       antiwrap: the core daemon against wraparound
READ DIRTY WAL  MB/s over the last seconds
DONE   dim: of this phase, because the whole is not known
COST   cost units (vacuum_cost_page_*), so far and per second
ETA    by the table's last run if there was one, else by progress
KEPT   dead rows that somebody's snapshot still needs
XID %  age of the oldest row in % of autovacuum_freeze_max_age"""


def header(snapshot: Snapshot | None, ui: UiState, width: int) -> tuple[Text, Text]:
    """Return the two lines on top: which server, and how pg_sweep is doing there."""
    if snapshot is None:
        first = Text(" pgsweep top", style="bold")
        state = ui.trouble or "connecting ..."
        return first, Text(f" {state}", style="bold red" if ui.trouble else "dim")
    return _server_line(snapshot.server, width), _state_line(snapshot, ui, width)


def _server_line(server: Server, width: int) -> Text:
    role = "standby" if server.in_recovery else "primary"
    parts = [
        (f"PostgreSQL {server.version.split()[0]}", "bold", 0),
        (role, "bold yellow" if server.in_recovery else "bold green", 0),
        (_place(server), "", 1),
        (f"as {server.role}", "", 3),
        (f"up {text.duration(server.now - server.started_at)}", "", 2),
        (text.clock(server.now), "", 4),
    ]
    return _segments("pgsweep", parts, width)


def _place(server: Server) -> str:
    host = server.host or "local"
    # The folder of a socket says little and can be long.
    host = "socket" if host.startswith("/") else host
    return text.printable(f"{host}:{server.port}/{server.dbname}")


def _state_line(snapshot: Snapshot, ui: UiState, width: int) -> Text:
    if ui.trouble:
        return Text(text.cut(f" {text.printable(ui.trouble)}", width), style="bold red")
    status, server = snapshot.status, snapshot.server
    parts = [_mode(status, server)]
    parts.append(_launcher(status, server))
    parts.append((f"workers {text.count(status.workers)}/{text.count(status.max_workers)}", "", 2))
    due = compute.due(status, snapshot.queue)
    due_style = "bold yellow" if due else ""
    parts.append((f"due {text.count(due)} of {text.count(status.relations)}", due_style, 1))
    oldest = compute.oldest_database(snapshot.databases)
    if oldest is not None and oldest.xid_age is not None:
        pct = compute.xid_pct(oldest.xid_age, server.freeze_max_age)
        style = "bold red" if pct >= compute.XID_WARN_PCT else ""
        parts.append((f"oldest xid {pct:.0f}%", style, 3))
    refresh = f"every {ui.interval_s:g} s"
    parts.append(("FROZEN", "black on yellow", 0) if ui.frozen else (refresh, "", 4))
    return _segments("", parts, width)


def _mode(status: Status, server: Server) -> tuple[str, str, int]:
    if status.effective_mode == status.mode:
        style = {"act": "bold green", "observe": "bold cyan"}.get(status.mode or "", "bold yellow")
        return f"mode {status.mode}", style, 0
    reason = f" ({status.reason})" if status.reason else ""
    style = "bold cyan" if server.in_recovery else "bold red"
    return f"mode {status.mode} → {status.effective_mode}{reason}", style, 0


def _launcher(status: Status, server: Server) -> tuple[str, str, int]:
    if status.launcher_pid is not None:
        return f"launcher {status.launcher_pid}", "", 5
    if server.in_recovery or status.mode == "off":
        return "no launcher", "dim", 5
    return "no launcher", "bold red", 1


def _segments(title: str, parts: Sequence[tuple[str, str, int]], width: int) -> Text:
    """Join segments, leaving out the least important ones until they fit."""
    kept = list(parts)

    def build() -> Text:
        line = Text(" ", no_wrap=True)
        if title:
            line.append(title, style="bold reverse")
            line.append("  ")
        for i, (segment, style, _) in enumerate(kept):
            line.append("  " if i else "")
            line.append(text.printable(segment), style=style)
        return line

    line = build()
    while line.cell_len > width and any(priority for _, _, priority in kept):
        worst = max(priority for _, _, priority in kept)
        kept = [part for part in kept if part[2] != worst]
        line = build()
    line.truncate(width, overflow="ellipsis")
    return line


def visible(items: Sequence[T], selected: int, room: int) -> tuple[Sequence[T], int]:
    """Return the items that fit, around the selected one, and the index of the first."""
    if room <= 0:
        return items[:0], 0
    first = min(max(0, selected - room + 1), max(0, len(items) - room))
    return items[first : first + room], first


def progress_panel(snapshot: Snapshot, ui: UiState, width: int, height: int) -> list[Text]:
    """Return the running vacuums, with what is known about the selected one below."""
    lines = compute.with_workers(snapshot.progress)
    if not lines:
        return [Text("no vacuum is running", style="dim")]
    layout = grid.fit(columns.progress_columns(snapshot.server.now), width)
    selected = ui.position(Panel.PROGRESS, [line.row.pid for line in lines])
    detail_rows = 2 if height >= 6 else 0
    out = [grid.header(layout)]
    out += _rows(lines, layout, selected, height - 1 - detail_rows, ui, Panel.PROGRESS)
    if detail_rows:
        details = columns.progress_details(lines[selected].row, snapshot.server.now)
        out = _at_bottom(out, details, width, height)
    return out


def _at_bottom(out: list[Text], details: Sequence[str], width: int, height: int) -> list[Text]:
    """Return a panel with what is known about its selected row in the last lines."""
    room = [Text()] * (height - len(out) - len(details))
    return [
        *out,
        *room,
        *(Text(text.cut(detail, width), style="dim", no_wrap=True) for detail in details),
    ]


def runs_panel(snapshot: Snapshot, ui: UiState, width: int, height: int) -> list[Text]:
    """Return the latest finished vacuums."""
    runs: tuple[Run, ...] = snapshot.runs
    if not runs:
        return [Text("no vacuum has finished yet", style="dim")]
    layout = grid.fit(columns.run_columns(), width)
    selected = ui.position(Panel.RUNS, [run.run_id for run in runs])
    detail_rows = 1 if ui.focus is Panel.RUNS and height >= 5 else 0
    out = [grid.header(layout)]
    out += _rows(runs, layout, selected, height - 1 - detail_rows, ui, Panel.RUNS)
    if detail_rows:
        out = _at_bottom(out, [columns.run_details(runs[selected])], width, height)
    return out


def databases_panel(snapshot: Snapshot, ui: UiState, width: int, height: int) -> list[Text]:
    """Return the databases, those with tables due first."""
    databases: tuple[Database, ...] = snapshot.databases
    if not databases:
        return [Text("no database is visible", style="dim")]
    layout = grid.fit(columns.database_columns(snapshot.server), width)
    selected = ui.position(Panel.DATABASES, [database.datid for database in databases])
    out = [grid.header(layout)]
    out += _rows(databases, layout, selected, height - 1, ui, Panel.DATABASES)
    return out


def queue_panel(snapshot: Snapshot, ui: UiState, width: int, height: int) -> list[Text]:
    """Return the tables that are to be vacuumed next, in their order, and why."""
    waiting: tuple[Waiting, ...] = snapshot.queue or ()
    if not waiting:
        return [Text("no table is waiting", style="dim")]
    layout = grid.fit(answers.queue_columns(snapshot.server.now), width)
    selected = ui.position(Panel.QUEUE, [waiting_key(row) for row in waiting])
    detail_rows = 1 if ui.focus is Panel.QUEUE and height >= 4 else 0
    out = [grid.header(layout)]
    out += _rows(waiting, layout, selected, height - 1 - detail_rows, ui, Panel.QUEUE)
    if detail_rows:
        out = _at_bottom(out, [answers.queue_details(waiting[selected])], width, height)
    return out


def _rows(
    items: Sequence[T],
    layout: list[tuple[grid.Column[T], int]],
    selected: int,
    room: int,
    ui: UiState,
    panel: Panel,
) -> list[Text]:
    shown, first = visible(items, selected, room)
    out = []
    for index, item in enumerate(shown, start=first):
        line = grid.row(layout, item)
        if index == selected and ui.focus is panel:
            # The whole row has one style, because colours of single words would not stand on it.
            line = Text(line.plain, style=SELECTED, no_wrap=True)
        out.append(line)
    return out


def panel_title(panel: Panel, snapshot: Snapshot | None) -> str:
    """Return the title in a panel's frame."""
    if snapshot is None:
        return f"{panel.value} {panel.label}"
    number = {
        Panel.PROGRESS: len(compute.running(snapshot.progress)),
        Panel.RUNS: len(snapshot.runs),
        Panel.DATABASES: len(snapshot.databases),
        Panel.QUEUE: compute.due(snapshot.status, snapshot.queue),
    }[panel]
    asked = 0
    if panel is Panel.QUEUE:
        asked = sum(row.score is None for row in snapshot.queue or ())
    more = f" and {asked} asked for" if asked else ""
    return f"{panel.value} {panel.label} ({number}{more})"


def footer(snapshot: Snapshot | None, ui: UiState, width: int) -> Text:
    """Return the last line: a question, a message, or the keys."""
    if ui.question is not None:
        question = _question(ui.question, snapshot)
        return Text(text.cut(question, width), style="bold black on yellow", no_wrap=True)
    if ui.message:
        return Text(text.cut(f" {text.printable(ui.message)}", width), style="bold", no_wrap=True)
    keys = [
        ("Space", "freeze"),
        ("+/-", "refresh"),
        (f"1-{len(panels(snapshot))}", "panel"),
        ("↑↓", "select"),
    ]
    keys += [("C", "cancel"), ("< >", "pace"), ("h", "help"), ("q", "quit")]
    line = Text(" ", no_wrap=True)
    for key, what in keys:
        line.append(key, style="bold reverse")
        line.append(f" {what}  ")
    line.truncate(width)
    return line


def _question(asked: Question, snapshot: Snapshot | None) -> str:
    name = f"process {asked.pid}"
    for row in snapshot.progress if snapshot else ():
        if row.pid == asked.pid:
            name = f"vacuum of {compute.relation(row)} (process {row.pid})"
    name = text.printable(name)
    if asked.verb is Verb.SLOW:
        return f" slow {name} to half of what it does? y/n"
    if asked.verb is Verb.HURRY:
        return f" let {name} hurry, with no limit? y/n"
    return f" {asked.verb.value} {name}? y/n"


def heights(
    focus: Panel, room: int, databases: int, vacuums: int, waiting: int | None = None
) -> dict[Panel, int]:
    """Return the heights, frames included, of the panels that share `room` lines.

    The panel in focus gets more. Databases and the tables waiting never get more than they need.
    Where there is no room for all, databases and tables waiting take turns.
    """
    least = {Panel.PROGRESS: 7, Panel.RUNS: 5, Panel.DATABASES: 5}
    if waiting is not None:
        least[Panel.QUEUE] = min(5, waiting + 3)
        if sum(least.values()) > room:
            least[Panel.PROGRESS] = 6
        tight = sum(least.values()) + 4 > room
        if sum(least.values()) > room or (tight and focus in (Panel.DATABASES, Panel.QUEUE)):
            least[Panel.PROGRESS] = 7
            del least[Panel.DATABASES if focus is Panel.QUEUE else Panel.QUEUE]
    spare = max(0, room - sum(least.values()))
    weights = {panel: 1 if panel is Panel.DATABASES else 2 for panel in least}
    if focus in weights:
        weights[focus] += 3
    wanted = {
        Panel.DATABASES: databases + 3,
        Panel.QUEUE: (waiting or 0) + (4 if waiting else 3),
        Panel.PROGRESS: max(vacuums, 4) + 5,
    }
    out = dict(least)
    for panel, want in wanted.items():
        if panel in least:
            share = spare * weights[panel] // sum(weights.values())
            out[panel] += max(0, min(share, want - least[panel]))
    rest = sum(height for panel, height in out.items() if panel is not Panel.RUNS)
    out[Panel.RUNS] = max(least[Panel.RUNS], room - rest)
    return out
