"""How far a benchmark is: bars on a terminal, lines elsewhere. All of it goes to stderr."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from pgsweep.base import output

# A piece takes longer than its load, because a server is made and tables are filled.
NEVER_FULL = 0.97


class Reporter(AbstractContextManager["Reporter"]):
    """Lines on stderr, and the base of the bars."""

    def __init__(self, pieces: int) -> None:
        self._pieces = pieces
        self._done = 0
        self._piece = ""

    def __exit__(self, *_: object) -> None:
        return None

    def begin(self, piece: str, expected_s: float) -> None:
        """A piece begins, which takes about so many seconds."""
        self._piece = piece
        self.note(f"{self._done + 1}/{self._pieces} {piece}, about {expected_s:.0f} s")

    def stage(self, text: str) -> None:
        """Say what is being done in this piece."""
        self.note(f"{self._piece}: {text}")

    def tick(self) -> None:
        """Time passes."""

    def end(self) -> None:
        """The piece is done, or was done already."""
        self._done += 1

    def note(self, text: str) -> None:
        """Say something that stays to be read."""
        output.note(text)


class Bars(Reporter):
    """Two bars: all pieces, and the present one by its expected time."""

    def __init__(self, pieces: int) -> None:
        super().__init__(pieces)
        console = Console(stderr=True, emoji=False, highlight=False)
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._all: TaskID = self._bars.add_task("all", total=pieces)
        self._one: TaskID | None = None
        self._began = 0.0
        self._expected_s = 1.0

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def begin(self, piece: str, expected_s: float) -> None:
        self._piece = piece
        self._began = time.monotonic()
        self._expected_s = max(1.0, expected_s)
        self._one = self._bars.add_task(piece, total=self._expected_s)

    def stage(self, text: str) -> None:
        if self._one is not None:
            self._bars.update(self._one, description=f"{self._piece}: {text}")
        self.tick()

    def tick(self) -> None:
        if self._one is not None:
            passed = min(time.monotonic() - self._began, NEVER_FULL * self._expected_s)
            self._bars.update(self._one, completed=passed)
            self._bars.update(self._all, completed=self._done + passed / self._expected_s)

    def end(self) -> None:
        super().end()
        if self._one is not None:
            self._bars.remove_task(self._one)
            self._one = None
        self._bars.update(self._all, completed=self._done)

    def note(self, text: str) -> None:
        self._bars.console.print(f"pgsweep: {text}", markup=False, soft_wrap=True)


def reporter(pieces: int) -> Reporter:
    """Return bars if somebody looks at stderr, else lines."""
    return Bars(pieces) if sys.stderr.isatty() else Reporter(pieces)
