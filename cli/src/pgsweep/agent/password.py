"""A password that a command prints, such as a token of a managed server that holds for minutes."""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Callable

from pgsweep.base.errors import CannotConnectError

# Tokens of RDS hold for 15 minutes.
HOLDS_S = 300.0
TIMEOUT_S = 30.0


class PasswordCommand:
    """Calls the command when its last answer is old. Not by a shell. For several threads."""

    def __init__(self, command: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._words = shlex.split(command)
        self._clock = clock
        self._last: tuple[float, str] | None = None

    def __call__(self) -> str:
        """Return the password."""
        now = self._clock()
        if self._last is None or now - self._last[0] >= HOLDS_S:
            self._last = now, self._ask()
        return self._last[1]

    def _ask(self) -> str:
        try:
            done = subprocess.run(
                self._words, stdout=subprocess.PIPE, text=True, check=True, timeout=TIMEOUT_S
            )
        except (OSError, ValueError, subprocess.SubprocessError) as exc:
            # What it has printed may be a part of a password.
            why = type(exc).__name__ if isinstance(exc, subprocess.TimeoutExpired) else str(exc)
            raise CannotConnectError(
                f"the password command failed: {why}", "Try it by hand: it prints a password."
            ) from None
        return done.stdout.removesuffix("\n")
