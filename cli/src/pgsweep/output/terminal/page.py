"""What a command found, printed once, or again and again until Ctrl-C."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rich.text import Text

from pgsweep.base import errors, output, paragraph
from pgsweep.base.interrupts import Interrupted, Interrupts
from pgsweep.source import db

EXIT_CTRL_C = 128 + signal.SIGINT


@dataclass(frozen=True)
class Page:
    """What was found, for people and for programs. `code` is the exit code that follows."""

    # Returns the lines for a width in characters.
    lines: Callable[[int], Iterable[Text]]
    document: Callable[[], str]
    # What has to be said about where it comes from.
    notes: tuple[str, ...] = ()
    code: int = 0
    # The words of our command that undoes what was done. Empty if none does.
    undo: tuple[str, ...] = ()


Look = Callable[[db.Session], Page]


def show(target: db.Target, look: Look, json: bool = False, watch: float | None = None) -> int:
    """Connect, look and print, every `watch` seconds if that is given. Return the exit code."""
    with db.connect(target) as session:
        if watch is None:
            return printed(look(session), json)
        with _Kept(session, look) as kept:
            return repeated(kept, json, watch)


def printed(page: Page, json: bool) -> int:
    """Print a page once. Return its exit code."""
    if json:
        output.document(page.document())
        output.notes(page.notes)
    else:
        output.lines(_lines(page))
    return page.code


def repeated(find: Callable[[], Page], json: bool, interval_s: float) -> int:
    """Print what is found again and again until Ctrl-C. Return the exit code of the last page."""
    return _Watch(find, json, interval_s).run()


def _lines(page: Page) -> list[Text]:
    width = output.width()
    return [*page.lines(width), *paragraph.notes(page.notes, width)]


class _Kept:
    """A look by a session that is kept. A lost connection is made again by the next look."""

    def __init__(self, session: db.Session, look: Look) -> None:
        self._session: db.Session | None = session
        self._again = session.again
        self._look = look

    def __enter__(self) -> _Kept:
        return self

    def __exit__(self, *_: object) -> None:
        self._drop()

    def __call__(self) -> Page:
        try:
            if self._session is None:
                self._session = self._again()
            return self._look(self._session)
        except (errors.ConnectionLostError, errors.CannotConnectError):
            self._drop()
            raise

    def _drop(self) -> None:
        # The first session belongs to the caller. A second close does nothing.
        if self._session is not None:
            self._session.close()
            self._session = None


class _Watch:
    """A page that is printed again and again, also when once it cannot be found."""

    def __init__(self, find: Callable[[], Page], json: bool, interval_s: float) -> None:
        self._find = find
        self._json = json
        self._interval_s = interval_s
        self._code = 0
        self._seen = False

    def run(self) -> int:
        """Print until Ctrl-C. Return the exit code of the last page."""
        try:
            with Interrupts().installed():
                while True:
                    self._step()
                    time.sleep(self._interval_s)
        except Interrupted as exc:
            # The terminal has written ^C into the line.
            if sys.stdout.isatty():
                sys.stdout.write("\n")
            return self._code if exc.exit_code == EXIT_CTRL_C else exc.exit_code

    def _step(self) -> None:
        try:
            page = self._find()
        except (errors.ConnectionLostError, errors.CannotConnectError) as exc:
            if not self._seen:
                raise
            self._code = 2
            output.note(f"no data, trying again: {' '.join(exc.message.split())}")
            return
        first, self._seen, self._code = not self._seen, True, page.code
        if self._json:
            output.document(page.document())
            sys.stdout.flush()
            # Once is enough.
            output.notes(page.notes if first else ())
        else:
            output.screen(_lines(page), f"every {self._interval_s:g} s, Ctrl-C ends")
