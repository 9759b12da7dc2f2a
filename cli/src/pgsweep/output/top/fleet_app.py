"""The Textual application of `top --fleet`.

It draws what render.fleet_screen says, and does what tui.fleet_state decides. It ends with the node
whose own top is to be opened, or with None.
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.message import Message
from textual.widgets import Static

from pgsweep.fleet.lookout import Seen
from pgsweep.fleet.node import Node
from pgsweep.output.top import fleet_screen
from pgsweep.output.top.fleet_state import Action, handle_key, shown

if TYPE_CHECKING:
    from pgsweep.fleet.lookout import Lookout
    from pgsweep.fleet.reading import Row
    from pgsweep.output.top.fleet_state import FleetUi

FOOTER_LINES = 1
TITLE_LINES = 1
# Ages are counted on between two looks.
DRAW_EVERY_S = 1.0


class Told(Message):
    """The lookout has something new."""


class FleetApp(App[Node | None]):
    """`pgsweep top --fleet`."""

    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    TITLE = "pgsweep top"
    CSS = """
    Screen { layers: base help; background: ansi_default; }
    Static { background: ansi_default; color: ansi_default; }
    #header { height: 5; }
    #footer { height: 1; }
    #nodes { border-top: heavy ansi_green; padding: 0 1; border-title-style: bold; }
    #help { layer: help; display: none; width: 72; height: auto; border: round ansi_green;
            padding: 0 1; offset: 4 2; }
    #help.shown { display: block; }
    """

    def __init__(self, lookout: Lookout, ui: FleetUi) -> None:
        super().__init__(ansi_color=True)
        self.ui = ui
        self.seen = Seen()
        self.lines: list[Text] = []
        self._lookout = lookout

    def compose(self) -> ComposeResult:
        """Create the widgets."""
        yield Static(id="header")
        yield Static(id="nodes")
        yield Static(id="footer")
        help_box = Static(fleet_screen.HELP, id="help", markup=False)
        help_box.border_title = "keys and words"
        yield help_box

    def on_mount(self) -> None:
        """Begin to be told."""
        self._lookout.tell(self._post)
        self.set_interval(DRAW_EVERY_S, self.draw)
        self.on_told()

    def _post(self) -> None:
        self.post_message(Told())

    def on_unmount(self) -> None:
        """Be told no more."""
        self._lookout.tell(lambda: None)

    def on_told(self) -> None:
        """Show what was seen, unless the display is frozen."""
        if not self.ui.frozen:
            self.seen = self._lookout.seen
            self.draw()

    def on_resize(self, _event: events.Resize) -> None:
        """Fit the nodes into the new size."""
        self.draw()

    async def on_event(self, event: events.Event) -> None:
        """Take all keys, and leave none to Textual."""
        if isinstance(event, events.Key):
            self.press(event.key, event.character)
        else:
            await super().on_event(event)

    def on_mouse_scroll_down(self) -> None:
        """Scroll by moving the selection."""
        self.press("down")

    def on_mouse_scroll_up(self) -> None:
        """Scroll by moving the selection."""
        self.press("up")

    @property
    def shown(self) -> list[Row]:
        """The nodes that are shown, in their order."""
        return shown(self.seen.rows, self.ui)

    def press(self, key: str, character: str | None = None) -> None:
        """Do what a key does."""
        rows = self.shown
        self.ui, action = handle_key(self.ui, key, rows, character)
        self._lookout.set(self.ui.interval_s, self.ui.frozen)
        if action is Action.QUIT:
            self.exit(None)
        elif action is Action.OPEN:
            self.ui = replace(self.ui, frozen=False)
            self.exit(rows[self.ui.position(rows)].node)
        elif action is Action.REFRESH:
            self._lookout.look_now()
        self.draw()

    def draw(self) -> None:
        """Bring every widget up to date."""
        if not self.is_running or not self.query("#footer"):
            return
        width, rows, now = self.size.width, self.shown, time.monotonic()
        header = fleet_screen.header(self.seen, self.ui, width, datetime.now().astimezone())
        self.query_one("#header", Static).update(Text("\n").join(header))
        room = self.size.height - fleet_screen.HEADER_LINES - FOOTER_LINES
        nodes = self.query_one("#nodes", Static)
        nodes.styles.height = room
        nodes.border_title = f" {fleet_screen.title(self.seen, self.ui, rows)} "
        # The padding takes two columns, and the title a line.
        inner = (max(20, width - 2), max(1, room - TITLE_LINES))
        self.lines = fleet_screen.nodes(rows, self.ui, *inner, now)
        nodes.update(Text("\n", no_wrap=True).join(self.lines))
        self.query_one("#footer", Static).update(fleet_screen.footer(self.ui, width))
        self.query_one("#help", Static).set_class(self.ui.help, "shown")
