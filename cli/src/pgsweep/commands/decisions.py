"""`pgsweep decisions`: what was decided last about tables that looked due."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from pgsweep import db, names
from pgsweep.commands.options import Json, Limit, OfDatabase, OfTable, Watch, with_target
from pgsweep.model import DecisionFilter
from pgsweep.page import Page, show
from pgsweep.render import answers, as_json


@with_target
def decisions(
    target: db.Target,
    limit: Limit = 20,
    table: OfTable = None,
    database: OfDatabase = None,
    decision: Annotated[
        str | None, typer.Option("--decision", help="Only this one, such as 'would vacuum'.")
    ] = None,
    watch: Watch = None,
    json: Json = False,
) -> int:
    """Show what was decided last about tables that looked due, and why, the latest first."""
    schemaname, relname = names.qualified(table) if table else (None, None)
    wanted = DecisionFilter(
        limit=limit,
        datname=database,
        schemaname=schemaname,
        relname=relname,
        shown=table,
        decision=decision,
    )

    def look(session: db.Session) -> Page:
        session.require_extension()
        found = session.decisions(wanted)
        now = session.server().now
        return Page(
            lines=partial(answers.decision_lines, found, now),
            document=partial(as_json.rows, found),
        )

    return show(target, look, json, watch)
