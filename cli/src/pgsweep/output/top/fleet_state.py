"""What `top --fleet` shows and what a key does to it. All of it is pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from pgsweep.fleet.summary import node_problems
from pgsweep.output.top.orders import Order, rank
from pgsweep.output.top.state import MOVES, next_interval

if TYPE_CHECKING:
    from pgsweep.fleet.reading import NodeReading, Row

# More than any node that answers has.
SILENT = 1_000


@dataclass(frozen=True)
class FleetUi:
    """The state of the display."""

    interval_s: float = 2.0
    frozen: bool = False
    help: bool = False
    message: str = ""
    # Only nodes with this in their name or their group. While it is typed, keys are characters.
    filter: str = ""
    typing: bool = False
    # By which of the orders the nodes are sorted. 0 is the fleet's own.
    order: int = 0
    # The selected node's name. None is the first, whoever that is.
    selected: str | None = None

    def position(self, rows: Sequence[Row]) -> int:
        """Return the index of the selected node, or of the first when that one is gone."""
        names = [row.node.name for row in rows]
        return names.index(self.selected) if self.selected in names else 0


class Action(Enum):
    """What the application has to do after a key, beside taking the new state."""

    NONE = "none"
    QUIT = "quit"
    REFRESH = "refresh"
    # Open the selected node's own top.
    OPEN = "open"


def _problems(row: Row) -> float:
    if row.reading is None:
        return SILENT if row.is_silent else 0
    return len(node_problems(row)) + bool(row.node.state)


def _of(figure: str, reading: NodeReading | None) -> float | None:
    return None if reading is None else getattr(reading, figure)


ORDERS = (
    Order("problems", _problems),
    Order("due", lambda row: _of("due", row.reading)),
    Order("MB/s", lambda row: _of("mb_per_s", row.reading)),
    Order("age", lambda row: _of("xid_age", row.reading)),
    Order("horizon", lambda row: _of("horizon_age", row.reading)),
    Order("time to answer", lambda row: row.seconds),
    Order("name", lambda row: row.node.name.casefold()),
)


def shown(rows: Sequence[Row], ui: FleetUi) -> list[Row]:
    """Return the nodes that are shown, in their order."""
    wanted = ui.filter.casefold()
    kept = [row for row in rows if wanted in f"{row.node.name} {row.node.group}".casefold()]
    if ui.order:
        value = ORDERS[ui.order - 1].value
        kept.sort(key=lambda row: rank(value(row)))
    return kept


def order_name(ui: FleetUi) -> str:
    """Return the name of the order. It is empty for the fleet's own."""
    return ORDERS[ui.order - 1].name if ui.order else ""


def handle_key(
    ui: FleetUi, key: str, rows: Sequence[Row], character: str | None = None
) -> tuple[FleetUi, Action]:
    """Return the state after a key (Textual's name of it), and what is to be done.

    The rows are those that are shown. `character` is what the key types.
    """
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
    if key == "enter":
        return _open(ui, rows)
    return _choose(ui, key, rows), Action.NONE


def _choose(ui: FleetUi, key: str, rows: Sequence[Row]) -> FleetUi:
    """Return the state after a key that is about which nodes are shown or selected."""
    if key in MOVES:
        if not rows:
            return ui
        position = max(0, min(len(rows) - 1, ui.position(rows) + MOVES[key]))
        # The first is not held on to. Whoever comes on top is selected.
        return replace(ui, selected=rows[position].node.name if position else None)
    if key in ("slash", "/"):
        return replace(ui, typing=True)
    if key == "escape":
        return replace(ui, filter="")
    if key in ("s", "S", "upper_s"):
        step = 1 if key == "s" else -1
        return replace(ui, order=(ui.order + step) % (len(ORDERS) + 1))
    return ui


def _open(ui: FleetUi, rows: Sequence[Row]) -> tuple[FleetUi, Action]:
    if not rows:
        return replace(ui, message="there is no node to open"), Action.NONE
    node = rows[ui.position(rows)].node
    if node.unasked:
        return replace(ui, message=f"{node.name} takes no sessions: {node.unasked}"), Action.NONE
    return replace(ui, selected=node.name), Action.OPEN


def _type(ui: FleetUi, key: str, character: str | None) -> FleetUi:
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
