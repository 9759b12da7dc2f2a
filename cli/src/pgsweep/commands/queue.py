"""`pgsweep queue`: the tables that are to be vacuumed next."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from pgsweep import db
from pgsweep.commands.options import Json, Watch, with_target
from pgsweep.page import Page, show
from pgsweep.render import answers, as_json


@with_target
def queue(
    target: db.Target,
    database: Annotated[
        str | None, typer.Option("--database", help="Only in this database.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 20,
    watch: Watch = None,
    json: Json = False,
) -> int:
    """Show the tables that are to be vacuumed next, in their order, and what each waits for."""

    def look(session: db.Session) -> Page:
        session.require_extension()
        found = [row for row in session.queue() if database in (None, row.datname)]
        now = session.server().now
        shown = found[:limit]
        return Page(
            lines=partial(answers.queue_lines, shown, len(found), now),
            document=partial(as_json.rows, shown),
        )

    return show(target, look, json, watch)
