"""Questions on the terminal before something is done."""

from __future__ import annotations

import sys

from pgsweep.base import errors


def require_answer(yes: bool, what: str) -> None:
    """Raise unless a question can be answered, or need not be asked."""
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise errors.UsageError(
            f"{what} asks before it changes anything, and there is no terminal", "Add --yes."
        )


def confirmed(asked: str) -> bool:
    """Ask on stderr. Anything but yes is no."""
    sys.stderr.write(f"pgsweep: {asked} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
