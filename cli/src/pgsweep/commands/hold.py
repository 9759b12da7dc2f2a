"""`pgsweep hold` and `pgsweep unhold`: begin no new vacuum for a while, and go on."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from pgsweep import db
from pgsweep.commands.options import Json, with_target
from pgsweep.page import Page, show
from pgsweep.render import acts, as_json


@partial(with_target, positional=False)
def hold(
    target: db.Target,
    duration: Annotated[
        str, typer.Argument(metavar="INTERVAL", help="For how long: '2 h', 30min.")
    ] = "1 hour",
    json: Json = False,
) -> int:
    """Begin no new vacuum in any database for a while (sweep.hold).

    Vacuums that run go on. So does the core daemon. The hold ends by itself, or by pgsweep
    unhold.
    """

    def look(session: db.Session) -> Page:
        session.require_extension()
        before = session.status().held_until
        until = session.hold(duration)
        running, now = session.progress(), session.server().now
        return Page(
            lines=lambda _: (
                acts.unheld(before, now) if until is None else acts.held(until, now, running)
            ),
            document=lambda: as_json.dump({"held_until": until}),
        )

    return show(target, look, json)


@with_target
def unhold(target: db.Target, json: Json = False) -> int:
    """End what pgsweep hold began: vacuums begin again (sweep.hold)."""

    def look(session: db.Session) -> Page:
        session.require_extension()
        before, now = session.status().held_until, session.server().now
        until = session.hold("0")
        return Page(
            lines=lambda _: acts.unheld(before, now),
            document=lambda: as_json.dump({"held_until": until}),
        )

    return show(target, look, json)
