"""`pgsweep databases`: what the scout sees."""

from __future__ import annotations

from pgsweep import db, output, sources
from pgsweep.commands.options import Json, with_target
from pgsweep.render import as_json, reports


@with_target
def databases(target: db.Target, json: Json = False) -> int:
    """Show all databases: tables due, dead rows, age, when a worker was there last."""
    with db.connect(target) as session:
        session.require_extension()
        found = sources.databases(session)
        server = session.server()
    if json:
        output.document(as_json.rows(found))
    else:
        output.lines(reports.database_lines(found, server, output.width()))
    return 0
