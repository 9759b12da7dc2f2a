"""`pgsweep databases`: what the scout sees."""

from __future__ import annotations

from functools import partial

from pgsweep import db, sources
from pgsweep.commands.options import Json, Watch, with_target
from pgsweep.page import Page, show
from pgsweep.render import as_json, reports


@with_target
def databases(target: db.Target, watch: Watch = None, json: Json = False) -> int:
    """Show all databases: tables due, dead rows, age, when a worker was there last."""

    def look(session: db.Session) -> Page:
        session.require_extension()
        found = sources.databases(session)
        server = session.server()
        return Page(
            lines=partial(reports.database_lines, found, server),
            document=partial(as_json.rows, found),
        )

    return show(target, look, json, watch)
