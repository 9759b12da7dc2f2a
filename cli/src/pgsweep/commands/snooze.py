"""`pgsweep snooze`: leave a table alone for a while."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Annotated

import typer

from pgsweep.commands.options import Json, TableArgument, with_target
from pgsweep.output.terminal import acts, as_json
from pgsweep.output.terminal.page import Page, show
from pgsweep.source import db


@partial(with_target, positional=False)
def snooze(
    target: db.Target,
    table: TableArgument,
    duration: Annotated[
        str,
        typer.Argument(metavar="INTERVAL", help="For how long: '2 h', 30min. 0 ends the snooze."),
    ],
    json: Json = False,
) -> int:
    """Have pg_sweep leave a table alone for a while (sweep.snooze).

    A vacuum that runs goes on. So does autovacuum. The snooze ends by itself, or with 0.
    """
    return show(target, partial(leave_alone, table=table, duration=duration), json)


def leave_alone(session: db.Session, table: str, duration: str) -> Page:
    """Snooze a table, or end its snooze if the duration is 0."""
    session.require_extension()
    found = session.find_relation(table)
    before = session.snoozed_until(found.relid)
    until = session.snooze(found.relid, duration)
    now = session.server().now
    return Page(
        lines=lambda _: acts.snoozed(found, until, before, now),
        document=lambda: as_json.dump({**dataclasses.asdict(found), "snoozed_until": until}),
        undo=acts.snooze_back(found, until, before, now),
    )
