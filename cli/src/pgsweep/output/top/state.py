"""What `top` shows and what a key does to it. All of it is pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from pgsweep.model import Progress, TableKey, compute

if TYPE_CHECKING:
    from pgsweep.model import Run, Snapshot, Waiting

INTERVALS_S = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 15.0, 30.0, 60.0)


# A number of rows that no list has.
FARTHEST = 1_000_000
# By how many rows a key moves.
MOVES = {"up": -1, "k": -1, "down": 1, "j": 1, "pageup": -10, "pagedown": 10}
MOVES |= {"home": -FARTHEST, "end": FARTHEST}


class Panel(Enum):
    """The panels, by the key that goes there."""

    PROGRESS = 1
    RUNS = 2
    DATABASES = 3
    QUEUE = 4

    @property
    def label(self) -> str:
        """Return the panel's name for people."""
        labels = {1: "running vacuums", 2: "recent runs", 3: "databases", 4: "next vacuums"}
        return labels[self.value]


def panels(snapshot: Snapshot | None) -> list[Panel]:
    """Return the panels there are. An old server cannot tell what is next."""
    known = snapshot is not None and snapshot.queue is not None
    return [panel for panel in Panel if panel is not Panel.QUEUE or known]


# How many orders a panel has beside the server's own. They are in tui/orders.py.
NUMBER_OF_ORDERS = {Panel.PROGRESS: 4, Panel.RUNS: 5, Panel.DATABASES: 3, Panel.QUEUE: 4}


class Action(Enum):
    """What the application has to do after a key, beside taking the new state."""

    NONE = "none"
    QUIT = "quit"
    REFRESH = "refresh"
    # What the question asked for.
    ACT = "act"


class Verb(Enum):
    """What can be done to a running vacuum."""

    CANCEL = "cancel"
    SLOW = "slow"
    HURRY = "hurry"
    RELEASE = "release"


VERBS = {
    "C": Verb.CANCEL,
    "upper_c": Verb.CANCEL,
    "less_than_sign": Verb.SLOW,
    "<": Verb.SLOW,
    "greater_than_sign": Verb.HURRY,
    ">": Verb.HURRY,
    "equals_sign": Verb.RELEASE,
    "=": Verb.RELEASE,
}


@dataclass(frozen=True)
class Question:
    """What is to be done to a vacuum if the answer is yes.

    It is about the vacuum as it was shown, and not about whatever its process does later.
    """

    verb: Verb
    row: Progress


@dataclass(frozen=True)
class UiState:
    """The state of the display."""

    interval_s: float = 1.0
    act: bool = False
    # It is a node of a fleet, and the end of it leads back there.
    in_fleet: bool = False
    focus: Panel = Panel.PROGRESS
    frozen: bool = False
    help: bool = False
    question: Question | None = None
    message: str = ""
    # Only rows with this in their name are shown. While it is typed, keys are characters.
    filter: str = ""
    typing: bool = False
    # By which of its orders a panel is sorted. 0 is the server's own.
    order: dict[Panel, int] = field(default_factory=dict)
    # The table whose history is shown, and how many of its lines are scrolled away.
    story: TableKey | None = None
    scroll: int = 0
    # Why the data is old, or why there is none.
    trouble: str = ""
    # The selected row of each panel, by its key (pid, run_id, datid, or database and table). An
    # index would not do, because rows come and go.
    selected: dict[Panel, int] = field(default_factory=dict)

    def position(self, panel: Panel, keys: Sequence[int]) -> int:
        """Return the index of the selected row, or of the first when that row is gone."""
        key = self.selected.get(panel)
        return keys.index(key) if key in keys else 0


def seen(ui: UiState, snapshot: Snapshot) -> UiState:
    """Return the state after a snapshot has arrived. A question about what has ended is dropped."""
    ui = replace(ui, trouble="")
    asked = ui.question
    if asked is None or any(row.is_run_of(asked.row) for row in snapshot.progress):
        return ui
    ended = f"{asked.row.command or 'VACUUM'} of {compute.relation(asked.row)} has ended"
    return replace(ui, question=None, message=f"nothing was done: {ended}")


def keys_of(panel: Panel, snapshot: Snapshot | None) -> list[int]:
    """Return the keys of a panel's rows in the order in which they are shown."""
    if snapshot is None:
        return []
    if panel is Panel.PROGRESS:
        return [line.row.pid for line in compute.with_workers(snapshot.progress)]
    if panel is Panel.RUNS:
        return [run.run_id for run in snapshot.runs]
    if panel is Panel.QUEUE:
        return [waiting_key(row) for row in snapshot.queue or ()]
    return [database.datid for database in snapshot.databases]


def waiting_key(row: Waiting) -> int:
    """Return one number for a table of a database."""
    return (row.datid or 0) << 32 | row.relid


def next_interval(interval_s: float, longer: bool) -> float:
    """Return the next longer or shorter refresh interval, in seconds."""
    if longer:
        return next((value for value in INTERVALS_S if value > interval_s), INTERVALS_S[-1])
    return next((value for value in reversed(INTERVALS_S) if value < interval_s), INTERVALS_S[0])


def handle_key(
    ui: UiState, key: str, snapshot: Snapshot | None, character: str | None = None
) -> tuple[UiState, Action]:
    """Return the state after a key (Textual's name of it), and what is to be done.

    The snapshot has the rows as they are shown. `character` is what the key types.
    """
    if ui.question is not None:
        return _answer(ui, key)
    if ui.typing and key != "ctrl+c":
        return _type(ui, key, character), Action.NONE
    if ui.help:
        return replace(ui, help=False), Action.QUIT if key == "q" else Action.NONE
    ui = replace(ui, message="")
    if key in ("q", "ctrl+c", "ctrl+q"):
        return ui, Action.QUIT
    if key in ("h", "question_mark", "f1"):
        return replace(ui, help=True), Action.NONE
    if key == "space":
        return replace(ui, frozen=not ui.frozen), Action.REFRESH if ui.frozen else Action.NONE
    if key in ("plus", "minus"):
        return replace(ui, interval_s=next_interval(ui.interval_s, key == "plus")), Action.REFRESH
    if key == "r":
        return replace(ui, frozen=False), Action.REFRESH
    if ui.story is not None:
        return _read(ui, key), Action.NONE
    if key == "escape" and ui.in_fleet and not ui.filter:
        return ui, Action.QUIT
    if key == "enter":
        ui = _open(ui, snapshot)
        return ui, Action.REFRESH if ui.story is not None else Action.NONE
    return _handle_panels(ui, key, snapshot), Action.NONE


def _handle_panels(ui: UiState, key: str, snapshot: Snapshot | None) -> UiState:
    """Return the state after a key that is about the panels and their rows."""
    there = panels(snapshot)
    if key in ("1", "2", "3", "4") and Panel(int(key)) in there:
        return replace(ui, focus=Panel(int(key)))
    if key in ("tab", "shift+tab"):
        step = 1 if key == "tab" else -1
        at = there.index(ui.focus) if ui.focus in there else 0
        return replace(ui, focus=there[(at + step) % len(there)])
    if key in MOVES:
        return _move(ui, key, snapshot)
    if key in ("slash", "/"):
        return replace(ui, typing=True)
    if key == "escape":
        return replace(ui, filter="")
    if key in ("s", "S", "upper_s"):
        return _sort(ui, 1 if key == "s" else -1)
    if key in VERBS:
        return _ask(ui, VERBS[key], snapshot)
    return ui


def _type(ui: UiState, key: str, character: str | None) -> UiState:
    """Return the state after a key while the filter is typed."""
    if key == "enter":
        return replace(ui, typing=False)
    if key == "escape":
        return replace(ui, typing=False, filter="")
    if key == "backspace":
        # Nothing is left to be taken away: that is the end of it.
        return replace(ui, filter=ui.filter[:-1], typing=bool(ui.filter))
    if character and character.isprintable():
        return replace(ui, filter=ui.filter + character)
    return ui


def _sort(ui: UiState, step: int) -> UiState:
    """Return the state with the next or the previous order of the panel in focus."""
    order = (ui.order.get(ui.focus, 0) + step) % (NUMBER_OF_ORDERS[ui.focus] + 1)
    return replace(ui, order={**ui.order, ui.focus: order})


def _open(ui: UiState, snapshot: Snapshot | None) -> UiState:
    """Return the state with the history of the selected row's table."""
    row = selected(ui, snapshot)
    if isinstance(row, Progress) and row.leader_pid is not None and snapshot is not None:
        # A worker may not know its leader's table.
        row = next((each for each in snapshot.progress if each.pid == row.leader_pid), row)
    if row is None or not row.relid:
        return replace(ui, message="select a running vacuum, a run or a waiting table first")
    # A shared catalog is the same table in every database.
    key = TableKey(row.datid or None, row.relid, compute.relation(row))
    return replace(ui, story=key, scroll=0)


def selected(ui: UiState, snapshot: Snapshot | None) -> Progress | Run | Waiting | None:
    """Return the selected row, if it is one of a table."""
    keys = keys_of(ui.focus, snapshot)
    if snapshot is None or not keys:
        return None
    at = ui.position(ui.focus, keys)
    if ui.focus is Panel.PROGRESS:
        return compute.with_workers(snapshot.progress)[at].row
    if ui.focus is Panel.RUNS:
        return snapshot.runs[at]
    return (snapshot.queue or ())[at] if ui.focus is Panel.QUEUE else None


def _read(ui: UiState, key: str) -> UiState:
    """Return the state after a key while a table's history is shown."""
    if key in ("escape", "enter", "backspace", "left"):
        return replace(ui, story=None, scroll=0)
    if key in MOVES:
        return replace(ui, scroll=max(0, min(ui.scroll + MOVES[key], FARTHEST)))
    return ui


def _answer(ui: UiState, key: str) -> tuple[UiState, Action]:
    if key in ("y", "Y", "upper_y"):
        # The question stays, because the application takes from it what to do.
        return ui, Action.ACT
    return replace(ui, question=None, message="nothing was done"), Action.NONE


def _move(ui: UiState, key: str, snapshot: Snapshot | None) -> UiState:
    keys = keys_of(ui.focus, snapshot)
    if not keys:
        return ui
    position = ui.position(ui.focus, keys) + MOVES[key]
    position = max(0, min(len(keys) - 1, position))
    selected = dict(ui.selected)
    if position == 0:
        # The first row is not held on to. Whatever comes on top is selected.
        selected.pop(ui.focus, None)
    else:
        selected[ui.focus] = keys[position]
    return replace(ui, selected=selected)


def _ask(ui: UiState, verb: Verb, snapshot: Snapshot | None) -> UiState:
    if snapshot is not None and snapshot.status is None:
        return replace(ui, message="that needs pg_sweep, which this database does not have")
    if not ui.act:
        return replace(
            ui, message="read-only: start pgsweep top --act to cancel, slow or hurry a vacuum"
        )
    if ui.focus is not Panel.PROGRESS:
        return replace(ui, message="go to panel 1 and select a vacuum first")
    keys = keys_of(Panel.PROGRESS, snapshot)
    if snapshot is None or not keys:
        return replace(ui, message="no vacuum is running")
    lines = compute.with_workers(snapshot.progress)
    row = lines[ui.position(Panel.PROGRESS, keys)].row
    # A parallel worker does as its leader does.
    row = next((line.row for line in lines if line.row.pid == row.leader_pid), row)
    return replace(ui, question=Question(verb, row))
