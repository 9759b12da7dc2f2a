"""`pgsweep bloat`: indexes and tables that are larger than they have to be."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from pgsweep.commands.options import Json, Limit, Watch, with_target
from pgsweep.findings import sources
from pgsweep.findings.bloat import TABLE
from pgsweep.output.terminal import as_json, bloats
from pgsweep.output.terminal.page import Page, show
from pgsweep.source import db


@with_target
def bloat(
    target: db.Target,
    indexes: Annotated[bool, typer.Option("--indexes", help="Only indexes.")] = False,
    limit: Limit = 20,
    watch: Watch = None,
    json: Json = False,
) -> int:
    """Show indexes and tables of a database, those first that could give most space back.

    It needs no extension. What each would take if it were built anew is estimated by what ANALYZE
    knows: nothing is read for that.
    """

    def look(session: db.Session) -> Page:
        answer = sources.bloat(session)
        found = [row for row in answer.rows if not indexes or row.kind != TABLE]
        rows = found[:limit]
        return Page(
            lines=partial(bloats.lines, rows, found),
            document=partial(as_json.rows, rows),
            notes=answer.notes,
        )

    return show(target, look, json, watch)
