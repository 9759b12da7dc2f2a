"""Where text leaves the program."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from rich.console import Console
from rich.text import Text

from pgsweep.base.text import cut, printable

DEFAULT_WIDTH = 80
CLEAR_LINE = "\x1b[K\n"


def _console() -> Console:
    # Rich takes COLUMNS and the terminal's size. Without either it takes a page of 80.
    return Console(highlight=False, soft_wrap=True, emoji=False, markup=False)


def width() -> int:
    """Return how many characters a line may have."""
    return _console().width if sys.stdout.isatty() else max(DEFAULT_WIDTH, _columns())


def _columns() -> int:
    value = os.environ.get("COLUMNS", "")
    return int(value) if value.isdigit() else 0


def lines(texts: Iterable[Text]) -> None:
    """Print lines for people, coloured on a terminal only."""
    console = _console()
    for text in texts:
        text.rstrip()
        console.print(text, soft_wrap=True)


def screen(texts: Sequence[Text], caption: str) -> None:
    """Print lines below the time and a caption.

    On a terminal they take the place of what was there, as far as they fit. Elsewhere they follow
    it.
    """
    console = _console()
    head = Text(f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}  {caption}", style="dim")
    if not sys.stdout.isatty():
        lines([head, *texts, Text()])
        sys.stdout.flush()
        return
    # Each line is overwritten and then cut off, and what is below is cleared. So nothing
    # flickers.
    shown = [head, *texts][: max(2, console.height - 1)]
    with console.capture() as captured:
        for text in shown:
            text.rstrip()
            text.truncate(console.width)
            console.print(text, soft_wrap=True)
    sys.stdout.write(f"\x1b[H{captured.get().replace(chr(10), CLEAR_LINE)}\x1b[J")
    sys.stdout.flush()


def document(text: str) -> None:
    """Print one document for programs."""
    sys.stdout.write(text + "\n")


def notes(texts: Iterable[str]) -> None:
    """Say on stderr what belongs to a document on stdout."""
    for text in texts:
        note(text)


@contextmanager
def passing() -> Iterator[Callable[[str], None]]:
    """Yield what says, on a terminal only, what is waited for. Nothing of it stays there."""
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        yield lambda _: None
        return
    room = _console().width - 1

    def say(text: str) -> None:
        sys.stderr.write(f"\r{cut(printable(text), room)}\x1b[K")
        sys.stderr.flush()

    try:
        yield say
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def note(text: str) -> None:
    """Say on stderr what is being done."""
    sys.stderr.write(f"pgsweep: {text}\n")
    sys.stderr.flush()
