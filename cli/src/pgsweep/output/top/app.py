"""The Textual application of `top`.

It draws what render.screen says, and does what tui.state decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.message import Message
from textual.widgets import Static

from pgsweep.output.terminal import story
from pgsweep.output.top import header, orders, screen
from pgsweep.output.top.fetcher import Fetcher
from pgsweep.output.top.state import Action, Panel, UiState, handle_key, keys_of, panels, seen

if TYPE_CHECKING:
    from pgsweep.model import Snapshot, TableHistory
    from pgsweep.source.db import Session

PANELS = {
    Panel.PROGRESS: screen.progress_panel,
    Panel.RUNS: screen.runs_panel,
    Panel.DATABASES: screen.databases_panel,
    Panel.QUEUE: screen.queue_panel,
}
FOOTER_LINES = 1


class Fetched(Message):
    """A snapshot has arrived."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__()
        self.snapshot = snapshot


class Told(Message):
    """The history of a table has arrived."""

    def __init__(self, history: TableHistory) -> None:
        super().__init__()
        self.history = history


class Trouble(Message):
    """There is no snapshot, and why."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Answered(Message):
    """What came of what a key asked for."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Ending(Message):
    """A signal asked for the end."""


class PanelWidget(Static):
    """A part of the screen, below a title."""

    def __init__(self, panel: Panel) -> None:
        super().__init__(id=f"panel{panel.value}")
        self.panel = panel
        self.lines: list[Text] = []

    def draw(self, lines: list[Text]) -> None:
        """Show these lines."""
        self.lines = lines
        self.update(Text("\n", no_wrap=True).join(lines))

    def on_click(self, event: events.Click) -> None:
        """Select the panel. Textual delivers clicks to the widget."""
        event.stop()
        app = self.app
        assert isinstance(app, TopApp)
        app.press(str(self.panel.value))

    def on_mouse_scroll_down(self) -> None:
        """Scroll by moving the selection."""
        self._scroll_key("down")

    def on_mouse_scroll_up(self) -> None:
        """Scroll by moving the selection."""
        self._scroll_key("up")

    def _scroll_key(self, key: str) -> None:
        app = self.app
        assert isinstance(app, TopApp)
        app.press(str(self.panel.value))
        app.press(key)


class TopApp(App[None]):
    """`pgsweep top`."""

    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    TITLE = "pgsweep top"
    CSS = """
    Screen { layers: base help; background: ansi_default; }
    Static { background: ansi_default; color: ansi_default; }
    #header { height: 4; }
    #footer { height: 1; }
    PanelWidget, #story { border-top: solid ansi_bright_black; padding: 0 1;
                          border-title-style: bold; }
    PanelWidget.focused, #story { border-top: heavy ansi_green; }
    #story { display: none; }
    #help { layer: help; display: none; width: 72; height: auto; border: round ansi_green;
            padding: 0 1; offset: 4 2; }
    #help.shown { display: block; }
    """

    def __init__(
        self,
        session: Session | None,
        *,
        interval_s: float = 1.0,
        act: bool = False,
        ends_in_s: float | None = None,
        connect: Callable[[], Session] | None = None,
    ) -> None:
        """Watch by a session, or by one that `connect` opens for a node of a fleet."""
        super().__init__(ansi_color=True)
        self.ui = UiState(interval_s=interval_s, act=act, in_fleet=connect is not None)
        self.snapshot: Snapshot | None = None
        self.history: TableHistory | None = None
        self._ends_in_s = ends_in_s
        self._fetcher: Fetcher | None = None
        if session is not None:
            connect = session.again
        if connect is not None:
            self._fetcher = Fetcher(
                connect,
                session,
                interval_s,
                on_snapshot=lambda snapshot: self._post(Fetched(snapshot)),
                on_trouble=lambda text: self._post(Trouble(text)),
                on_answer=lambda text: self._post(Answered(text)),
                on_history=lambda history: self._post(Told(history)),
            )

    def _post(self, message: Message) -> None:
        self.post_message(message)

    def exit_soon(self) -> None:
        """End from a signal handler, by way of the event loop."""
        self._post(Ending())

    def on_ending(self, _message: Ending) -> None:
        """End as asked by a signal."""
        self.exit()

    def compose(self) -> ComposeResult:
        """Create the widgets."""
        yield Static(id="header")
        for panel in Panel:
            yield PanelWidget(panel)
        yield Static(id="story")
        yield Static(id="footer")
        help_box = Static(screen.HELP, id="help", markup=False)
        help_box.border_title = "keys and words"
        yield help_box

    def on_mount(self) -> None:
        """Start reading."""
        if self._ends_in_s is not None:
            self.set_timer(self._ends_in_s, self.exit)
        if self._fetcher is not None:
            self._fetcher.start()
        self.draw()

    def on_unmount(self) -> None:
        """Stop reading."""
        if self._fetcher is not None:
            self._fetcher.stop()

    def on_resize(self, _event: events.Resize) -> None:
        """Fit the panels into the new size."""
        self.draw()

    def on_fetched(self, message: Fetched) -> None:
        """Show what was read, unless the display is frozen."""
        if not self.ui.frozen:
            self.snapshot = message.snapshot
            self.ui = seen(self.ui, message.snapshot)
            self.draw()

    def on_told(self, message: Told) -> None:
        """Show the history of a table, unless another one is wanted meanwhile."""
        if message.history.key == self.ui.story:
            self.history = message.history
            self.draw()

    def on_trouble(self, message: Trouble) -> None:
        """Say why nothing was read. What was read before stays."""
        self.ui = replace(self.ui, trouble=message.text)
        self.draw()

    def on_answered(self, message: Answered) -> None:
        """Say what came of it."""
        self.ui = replace(self.ui, message=message.text)
        self.draw()

    async def on_event(self, event: events.Event) -> None:
        """Take all keys, and leave none to Textual."""
        if isinstance(event, events.Key):
            self.press(event.key, event.character)
        else:
            await super().on_event(event)

    @property
    def shown(self) -> Snapshot | None:
        """The snapshot with the rows that the panels show, in their order."""
        return orders.shown(self.snapshot, self.ui)

    def press(self, key: str, character: str | None = None) -> None:
        """Do what a key does."""
        self.ui, action = handle_key(self.ui, key, self.shown, character)
        if self.history is not None and self.history.key != self.ui.story:
            self.history = None
        fetcher = self._fetcher
        if fetcher is not None:
            fetcher.set(self.ui.interval_s, self.ui.frozen, self.ui.story)
        if action is Action.QUIT:
            self.exit()
        elif action is Action.ACT:
            question, self.ui = self.ui.question, replace(self.ui, question=None)
            if fetcher is not None and question is not None:
                fetcher.act(question)
        elif action is Action.REFRESH and fetcher is not None:
            fetcher.read_now()
        self.draw()

    def draw(self) -> None:
        """Bring every widget up to date."""
        if not self.is_running or not self.query("#footer"):
            return
        width, snapshot = self.size.width, self.snapshot
        self.query_one("#header", Static).update(
            Text("\n").join(header.lines(snapshot, self.ui, width))
        )
        self.query_one("#help", Static).set_class(self.ui.help, "shown")
        room = self.size.height - header.LINES - FOOTER_LINES
        # The padding takes two columns, and the title a line.
        self._draw_story(room, max(20, width - 2))
        self._draw_panels(room, max(20, width - 2))
        self.query_one("#footer", Static).update(screen.footer(snapshot, self.ui, width))

    def _draw_story(self, room: int, width: int) -> None:
        widget, key = self.query_one("#story", Static), self.ui.story
        widget.display = key is not None
        if key is None:
            return
        widget.styles.height = room
        widget.border_title = f" {story.title(key)} "
        lines = story.lines(self.history, width)
        # The last page stays full.
        self.ui = replace(self.ui, scroll=min(self.ui.scroll, max(0, len(lines) - room + 1)))
        shown = lines[self.ui.scroll :][: max(1, room - 1)]
        widget.update(Text("\n", no_wrap=True).join(shown))

    def _draw_panels(self, room: int, width: int) -> None:
        snapshot, shown = self.snapshot, self.shown
        rows = {panel: len(keys_of(panel, shown)) for panel in Panel}
        waiting = rows[Panel.QUEUE] if Panel.QUEUE in panels(snapshot) else None
        heights = screen.heights(
            self.ui.focus, room, rows[Panel.DATABASES], rows[Panel.PROGRESS], waiting
        )
        if self.ui.story is not None:
            heights = {}
        for widget in self.query(PanelWidget):
            widget.display = widget.panel in heights
            if widget.panel not in heights:
                continue
            height = heights[widget.panel]
            widget.styles.height = height
            widget.set_class(widget.panel is self.ui.focus, "focused")
            title = screen.panel_title(widget.panel, snapshot, self.ui, shown)
            widget.border_title = f" {title} "
            inner = (width, max(1, height - 1))
            lines = [] if shown is None else PANELS[widget.panel](shown, self.ui, *inner)
            widget.draw(lines)
