"""`pgsweep top`: watch vacuums live."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from pgsweep import db, errors
from pgsweep.commands.options import with_target


@with_target
def top(
    target: db.Target,
    interval: Annotated[
        float, typer.Option("--interval", "-i", min=0.5, max=60, help="Seconds between reads.")
    ] = 1.0,
    act: Annotated[
        bool, typer.Option("--act", help="Allow C < > = to cancel, slow, hurry, release.")
    ] = False,
) -> int:
    """Watch running vacuums, recent runs and databases live. The key h shows all keys.

    It works without the extension, too, from core's own views.
    """
    require_terminal("Use pgsweep progress --json.")
    # Textual takes a third of a second to import. The other commands do without it.
    from pgsweep.tui.app import TopApp

    session = db.connect(target)
    try:
        if session.views().extension:
            session.require_extension()
    except errors.PgsweepError:
        session.close()
        raise
    TopApp(session, interval_s=interval, act=act).run()
    return 0


def require_terminal(hint: str) -> None:
    """Raise unless there is a terminal to draw on and to read keys from."""
    if not (sys.stdout.isatty() and sys.stdin.isatty()):
        raise errors.UsageError("top needs a terminal", hint)
