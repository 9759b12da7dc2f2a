"""`pgsweep vacuum`: have a table vacuumed next."""

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
def vacuum(
    target: db.Target,
    table: TableArgument,
    aux: Annotated[
        bool, typer.Option("--aux", help="Only its TOAST table, and not the table itself.")
    ] = False,
    json: Json = False,
) -> int:
    """Have a table vacuumed next, before all that is due (sweep.vacuum).

    It does not wait for the vacuum. The exit code is 1 if there is nothing to vacuum.
    """
    return show(target, partial(request, table=table, aux=aux), json)


def request(session: db.Session, table: str, aux: bool) -> Page:
    """Ask for a vacuum of a table, or of its TOAST table."""
    session.require_extension()
    found = session.find_relation(table)
    request_id = session.vacuum(found.relid, aux)
    said = "; ".join(session.notices)
    waiting = [row for row in session.queue() if request_id and row.request_id == request_id]
    return Page(
        lines=lambda _: acts.requested(found, request_id, waiting, said),
        document=lambda: as_json.dump(
            {
                **dataclasses.asdict(found),
                "aux": aux,
                "request_id": request_id,
                "waiting": [dataclasses.asdict(row) for row in waiting],
            }
        ),
        code=0 if request_id else 1,
    )
