"""The parts of `top`, each from a frozen snapshot and a state of the display to lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from rich.text import Text

from pgsweep.base import text
from pgsweep.model import compute
from pgsweep.output.terminal import answers, columns, grid
from pgsweep.output.top import orders
from pgsweep.output.top.state import Panel, Verb, keys_of, panels, waiting_key

if TYPE_CHECKING:
    from pgsweep.model import Database, Run, Snapshot, Waiting
    from pgsweep.output.top.state import Question, UiState

T = TypeVar("T")

# What the panels have where core's views answer.
CORE_LABELS = {Panel.RUNS: "last runs in this database", Panel.QUEUE: "due in this database"}
SELECTED = "bold white on blue"
HELP = """\
Space +-   freeze the display; refresh less or more often
Up Down    select a row (also k j)       Tab 1-4  go to a panel
Enter      the history of the row's table; Esc goes back
/          show only rows with this in the name of table or database
s S        sort the panel by its next, its previous order
C          cancel the selected vacuum (asks; only with --act)
< > =      slow it to half, let it hurry, release it (the same)
r h q      read now, this help, quit

WHO    sweep: pg_sweep · autovac: autovacuum · manual: somebody
       antiwrap: autovacuum against wraparound
READ DIRTY WAL  MB/s over the last seconds
DONE   dim: of this phase, because the whole is not known
COST   cost units (vacuum_cost_page_*), so far and per second
ETA    by the table's last run if there was one, else by progress
KEPT   dead rows that somebody's snapshot still needs
XID %  age of the oldest row in % of autovacuum_freeze_max_age"""


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
        return [_nothing("no vacuum is running", ui)]
    layout = grid.fit(columns.progress_columns(snapshot.server.now), width)
    selected = ui.position(Panel.PROGRESS, [line.row.pid for line in lines])
    detail_rows = 2 if height >= 6 else 0
    out = [grid.header(layout)]
    out += _rows(lines, layout, selected, height - 1 - detail_rows, ui, Panel.PROGRESS)
    if detail_rows:
        details = columns.progress_details(lines[selected].row, snapshot.server.now)
        out = _at_bottom(out, details, width, height)
    return out


def _nothing(said: str, ui: UiState) -> Text:
    """Return what stands in the place of rows."""
    if ui.filter:
        said = f"no row has {text.printable(ui.filter)} in its name"
    return Text(said, style="dim")


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
        return [_nothing("no vacuum has finished yet", ui)]
    known = columns.core_run_columns(snapshot.server.now)
    layout = grid.fit(known if snapshot.core else columns.run_columns(), width)
    selected = ui.position(Panel.RUNS, [run.run_id for run in runs])
    detail_rows = 1 if ui.focus is Panel.RUNS and height >= 5 and snapshot.core is None else 0
    out = [grid.header(layout)]
    out += _rows(runs, layout, selected, height - 1 - detail_rows, ui, Panel.RUNS)
    if detail_rows:
        out = _at_bottom(out, [columns.run_details(runs[selected])], width, height)
    return out


def databases_panel(snapshot: Snapshot, ui: UiState, width: int, height: int) -> list[Text]:
    """Return the databases, those with tables due first."""
    databases: tuple[Database, ...] = snapshot.databases
    if not databases:
        return [_nothing("no database is visible", ui)]
    known = columns.core_database_columns if snapshot.core else columns.database_columns
    layout = grid.fit(known(snapshot.server), width)
    selected = ui.position(Panel.DATABASES, [database.datid for database in databases])
    out = [grid.header(layout)]
    out += _rows(databases, layout, selected, height - 1, ui, Panel.DATABASES)
    return out


def queue_panel(snapshot: Snapshot, ui: UiState, width: int, height: int) -> list[Text]:
    """Return the tables that are to be vacuumed next, in their order, and why."""
    waiting: tuple[Waiting, ...] = snapshot.queue or ()
    if not waiting:
        return [_nothing("no table is waiting", ui)]
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


def panel_title(
    panel: Panel, snapshot: Snapshot | None, ui: UiState, shown: Snapshot | None = None
) -> str:
    """Return the title over a panel. `shown` are the rows that the filter has left."""
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
    counted = f"{number} and {asked} asked for" if asked else f"{number}"
    if ui.filter and shown is not None:
        rows = keys_of(panel, shown)
        counted = f"{len(rows)} of {counted} with {text.printable(ui.filter)}"
    order = orders.name(panel, ui)
    label = CORE_LABELS.get(panel, panel.label) if snapshot.core else panel.label
    return f"{panel.value} {label} ({counted})" + (f" by {order}" if order else "")


def footer(snapshot: Snapshot | None, ui: UiState, width: int) -> Text:
    """Return the last line: a question, a message, what is typed, or the keys."""
    if ui.question is not None:
        question = _question(ui.question)
        return Text(text.cut(question, width), style="bold black on yellow", no_wrap=True)
    if ui.typing:
        typed = f" /{text.printable(ui.filter)}█   Enter keeps the filter, Esc drops it"
        return Text(text.cut(typed, width), style="bold", no_wrap=True)
    if ui.message:
        return Text(text.cut(f" {text.printable(ui.message)}", width), style="bold", no_wrap=True)
    return keys_line(_story_keys() if ui.story is not None else _keys(snapshot, ui), width)


def keys_line(keys: Sequence[tuple[str, str]], width: int) -> Text:
    """Return the keys as far as they fit, each with what it does."""
    line = Text(" ", no_wrap=True)
    for key, what in keys:
        if line.cell_len + len(key) + len(what) + 1 > width:
            break
        line.append(key, style="bold reverse")
        line.append(f" {what}  ")
    line.truncate(width)
    return line


def _story_keys() -> list[tuple[str, str]]:
    return [("Esc", "back"), ("↑↓", "scroll"), ("Space", "freeze"), ("h", "help"), ("q", "quit")]


def _keys(snapshot: Snapshot | None, ui: UiState) -> list[tuple[str, str]]:
    """Return the keys, the most wanted first. What does not fit is left out."""
    end = "to the fleet" if ui.in_fleet else "quit"
    keys = [("h", "help"), ("q", end), ("/", "filter"), ("s", "sort"), ("Enter", "history")]
    acts = ui.act and snapshot is not None and snapshot.status is not None
    keys += [("C", "cancel"), ("< >", "pace")] if acts else []
    keys += [(f"1-{len(panels(snapshot))}", "panel"), ("↑↓", "select"), ("Space", "freeze")]
    return [*keys, ("+/-", "refresh")]


def _question(asked: Question) -> str:
    row = asked.row
    name = text.printable(f"vacuum of {compute.relation(row)} (process {row.pid})")
    if asked.verb is Verb.SLOW:
        return f" slow {name} to half of what it does? y/n"
    if asked.verb is Verb.HURRY:
        return f" let {name} hurry, with no limit? y/n"
    return f" {asked.verb.value} {name}? y/n"


def heights(
    focus: Panel, room: int, databases: int, vacuums: int, waiting: int | None = None
) -> dict[Panel, int]:
    """Return the heights, titles included, of the panels that share `room` lines.

    The panel in focus gets more. Databases and the tables waiting never get more than they need.
    Where there is no room for all, databases and tables waiting take turns.
    """
    least = {Panel.PROGRESS: 7, Panel.RUNS: 4, Panel.DATABASES: 4}
    if waiting is not None:
        least[Panel.QUEUE] = min(4, waiting + 2)
        tight = sum(least.values()) + 4 > room
        if sum(least.values()) > room or (tight and focus in (Panel.DATABASES, Panel.QUEUE)):
            del least[Panel.DATABASES if focus is Panel.QUEUE else Panel.QUEUE]
    if sum(least.values()) > room:
        least[Panel.PROGRESS] = 5
    spare = max(0, room - sum(least.values()))
    weights = {panel: 1 if panel is Panel.DATABASES else 2 for panel in least}
    if focus in weights:
        weights[focus] += 3
    wanted = {
        Panel.DATABASES: databases + 2,
        Panel.QUEUE: (waiting or 0) + (3 if waiting else 2),
        Panel.PROGRESS: max(vacuums, 4) + 4,
    }
    out = dict(least)
    for panel, want in wanted.items():
        if panel in least:
            share = spare * weights[panel] // sum(weights.values())
            out[panel] += max(0, min(share, want - least[panel]))
    rest = sum(height for panel, height in out.items() if panel is not Panel.RUNS)
    out[Panel.RUNS] = max(least[Panel.RUNS], room - rest)
    return out
