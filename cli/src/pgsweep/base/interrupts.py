"""Ctrl-C, SIGTERM and a closed terminal as one exception, which can be held back.

Between "started" and "written down" a signal would leave something behind. There it waits until
both are done.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# A signal that was lost is sent again after so long. By then Python code has returned to where
# its exceptions are heard.
AGAIN_S = 0.01


class Interrupted(BaseException):
    """A signal asked the program to end. This carries the exit code that says so."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
        self.exit_code = 128 + number


class Interrupts:
    """Signal handling for the main thread while something needs to be cleaned up."""

    def __init__(self) -> None:
        self._held = 0
        self._ignored = False
        self._pending: int | None = None
        # The first signal that was ignored. It may still be meant for what comes next.
        self.missed: int | None = None
        # It is called in place of raising, for an event loop that has to end in its own way.
        self.callback: Callable[[], None] | None = None
        # The signal that is sent until it is heard, and the function in which it cannot be.
        self._lost: int | None = None
        self._deaf: CodeType | None = None
        # held while it is sent, so that none comes after the block
        self._sending = threading.Lock()
        self._ends = False

    @contextmanager
    def installed(self) -> Iterator[Interrupts]:
        """Turn the signals into Interrupted inside this block."""
        before = {number: signal.signal(number, self._handle) for number in SIGNALS}
        hook = sys.unraisablehook
        self._ends = False

        def lost(ignored: UnraisableHookArgs) -> None:
            if isinstance(ignored.exc_value, Interrupted):
                self._lost = ignored.exc_value.number
                threading.Thread(target=self._send_until_heard, daemon=True).start()
            else:
                hook(ignored)

        self._deaf = lost.__code__
        sys.unraisablehook = lost
        try:
            yield self
        finally:
            self._ends = True
            sys.unraisablehook = hook
            with self._sending:
                self._lost = None
            for number, handler in before.items():
                signal.signal(number, handler)

    def _send_until_heard(self) -> None:
        """Send the main thread a signal whose exception was raised where nobody hears one.

        That is so in a callback from C, as libpq's for notices is, and in __del__. Python reports
        such an exception and goes on.
        """
        main = threading.main_thread().ident
        assert main is not None
        while self._lost is not None:
            time.sleep(AGAIN_S)
            with self._sending:
                if (number := self._lost) is not None:
                    signal.pthread_kill(main, number)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._ends or self._is_deaf(frame):
            return
        self._lost = None
        if self._ignored:
            self.missed = self.missed or number
            return
        if self._held:
            self._pending = number
        elif self.callback is not None:
            self._pending = number
            self.callback()
        else:
            raise Interrupted(number)

    def _is_deaf(self, frame: FrameType | None) -> bool:
        """Tell whether the signal came where a lost one was noticed. It is sent again."""
        while frame is not None and frame.f_code is not self._deaf:
            frame = frame.f_back
        return frame is not None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold signals back until the end of this block."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
        self.check()

    def check(self) -> None:
        """Raise if a signal came while it was held back or answered by the callback."""
        if not self._held and not self._ignored and self._pending is not None:
            number, self._pending = self._pending, None
            raise Interrupted(number)

    def ignore(self) -> None:
        """Ignore signals from now on: the clean-up has begun."""
        self._ignored = True
