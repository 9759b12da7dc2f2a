"""`pgsweep progress`: the running vacuums, once."""

from __future__ import annotations

from pgsweep import db, output
from pgsweep.commands.options import Json, with_target
from pgsweep.render import as_json, reports


@with_target
def progress(target: db.Target, json: Json = False) -> int:
    """Show the vacuums that run now, in all databases: who, what, how far, at what cost."""
    with db.connect(target) as session:
        session.require_extension()
        rows = session.progress()
        server = session.server()
    if json:
        output.document(as_json.rows(rows))
    else:
        output.lines(reports.progress_lines(rows, server.now, output.width()))
    return 0
