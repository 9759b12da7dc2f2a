"""`pgsweep hold`: begin no new vacuum for a while. `pgsweep hold 0` ends that."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Annotated

import typer

from pgsweep.commands.options import Json, with_target
from pgsweep.output.terminal import acts, as_json
from pgsweep.output.terminal.page import Page, show
from pgsweep.source import db


@partial(with_target, positional=False)
def hold(
    target: db.Target,
    duration: Annotated[
        str, typer.Argument(metavar="INTERVAL", help="For how long: '2 h', 30min. 0 ends the hold.")
    ] = "1 hour",
    json: Json = False,
) -> int:
    """Begin no new vacuum in any database for a while (sweep.hold).

    Running vacuums and autovacuum are unaffected. The hold ends by itself, or by pgsweep hold 0.
    """

    return show(target, partial(begin, duration=duration), json)


def begin(session: db.Session, duration: str) -> Page:
    """Begin a hold, or end it if the duration is 0."""
    session.require_extension()
    before = session.status().held_until
    until = session.hold(duration)
    running, now = session.progress(), session.server().now
    if until is None:
        return _ended(before, now)
    return Page(
        lines=lambda _: acts.held(until, now, running),
        document=lambda: as_json.dump({"held_until": until}),
        undo=acts.UNHOLD,
    )


def _ended(before: datetime | None, now: datetime) -> Page:
    return Page(
        lines=lambda _: acts.unheld(before, now),
        document=lambda: as_json.dump({"held_until": None}),
        undo=acts.hold_again(before, now),
    )
