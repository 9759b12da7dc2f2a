"""`pgsweep status`: ten lines and an exit code."""

from __future__ import annotations

from pgsweep import compute, db, output
from pgsweep.commands.options import Json, with_target
from pgsweep.render import as_json, reports


@with_target
def status(target: db.Target, json: Json = False) -> int:
    """Say in ten lines how pg_sweep is doing.

    Exit code: 0 all is well, 1 something needs attention, 2 it cannot be told.
    """
    with db.connect(target) as session:
        session.require_extension()
        report = session.status_report()
    if json:
        output.document(as_json.status(report))
    else:
        output.lines(reports.status_lines(report, output.width()))
    return 1 if compute.problems(report) else 0
