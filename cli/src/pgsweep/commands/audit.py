"""`pgsweep audit`: who held, slowed, cancelled, snoozed or set what."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from pgsweep import db, names
from pgsweep.commands.options import Json, Limit, OfTable, Watch, with_target
from pgsweep.model import CallFilter
from pgsweep.page import Page, show
from pgsweep.render import answers, as_json


@with_target
def audit(
    target: db.Target,
    limit: Limit = 20,
    table: OfTable = None,
    user: Annotated[
        str | None, typer.Option("--user", help="Only by who has logged in as this role.")
    ] = None,
    watch: Watch = None,
    json: Json = False,
) -> int:
    """Show who held, slowed, cancelled, snoozed or set what, the latest first."""
    schemaname, relname = names.qualified(table) if table else (None, None)
    wanted = CallFilter(
        limit=limit, usename=user, schemaname=schemaname, relname=relname, shown=table
    )

    def look(session: db.Session) -> Page:
        session.require_extension()
        found = session.audit(wanted)
        now = session.server().now
        return Page(
            lines=partial(answers.audit_lines, found, now),
            document=partial(as_json.rows, found),
        )

    return show(target, look, json, watch)
