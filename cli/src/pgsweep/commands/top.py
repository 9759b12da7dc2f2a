"""`pgsweep top`: watch vacuums live, of a server or of a fleet."""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated

import typer

from pgsweep.base import errors
from pgsweep.commands.fleet_options import with_server_or_fleet
from pgsweep.fleet.node import Node
from pgsweep.fleet.providers import Choice, target_of
from pgsweep.source import db

INTERVAL_S = 1.0
FLEET_INTERVAL_S = 2.0


@with_server_or_fleet
def top(
    target: db.Target,
    choice: Choice | None,
    deadline: float,
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            "-i",
            min=0.5,
            max=60,
            help="Seconds between reads. The default is 1, and 2 for a fleet.",
            show_default=False,
        ),
    ] = None,
    act: Annotated[
        bool, typer.Option("--act", help="Allow C < > = to cancel, slow, hurry, release.")
    ] = False,
) -> int:
    """Watch running vacuums, recent runs and databases live. The key h shows all keys.

    It works without the extension, too, from core's own views. With --fleet it has a row for each
    node, and Enter opens the node's own top.
    """
    if choice is not None:
        require_terminal("Use pgsweep fleet --json.")
        return _of_fleet(choice, deadline, interval or FLEET_INTERVAL_S, act)
    require_terminal("Use pgsweep progress --json.")
    # Textual takes a third of a second to import. The other commands do without it.
    from pgsweep.output.top.app import TopApp

    session = checked(db.connect(target))
    TopApp(session, interval_s=interval or INTERVAL_S, act=act).run()
    return 0


def _of_fleet(choice: Choice, deadline: float, interval: float, act: bool) -> int:
    from pgsweep.fleet.lookout import Lookout
    from pgsweep.output.top.app import TopApp
    from pgsweep.output.top.fleet_app import FleetApp
    from pgsweep.output.top.fleet_state import FleetUi

    lookout = Lookout(choice, deadline, interval)
    lookout.start()
    ui = FleetUi(interval_s=interval)
    while True:
        app = FleetApp(lookout, ui)
        node = app.run()
        ui = app.ui
        if node is None:
            break
        # While one node is looked at nobody looks at the others.
        lookout.set(ui.interval_s, paused=True)
        TopApp(None, act=act, connect=partial(_node_session, node)).run()
        lookout.set(ui.interval_s, paused=False)
        lookout.look_now()
    lookout.stop()
    return 0


def _node_session(node: Node) -> db.Session:
    return checked(db.connect(target_of(node)))


def checked(session: db.Session) -> db.Session:
    """Return the session if the extension, where it is, fits this command."""
    try:
        if session.views().extension:
            session.require_extension()
    except errors.PgsweepError:
        session.close()
        raise
    return session


def require_terminal(hint: str) -> None:
    """Raise unless there is a terminal to draw on and to read keys from."""
    if not (sys.stdout.isatty() and sys.stdin.isatty()):
        raise errors.UsageError("top needs a terminal", hint)
