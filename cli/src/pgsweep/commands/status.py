"""`pgsweep status`: ten lines and an exit code."""

from __future__ import annotations

from pgsweep import compute, db, errors, output, sources
from pgsweep.commands.options import Json, with_target
from pgsweep.render import answers, as_json, reports


@with_target
def status(target: db.Target, json: Json = False) -> int:
    """Say in ten lines how pg_sweep is doing, or without it how the core daemon is doing.

    The exit code is 0 if all is well, 1 if something needs attention, and 2 if that cannot be
    told.
    """
    with db.connect(target) as session:
        try:
            session.require_extension()
        except errors.ExtensionMissingError:
            return _of_core(session, json)
        report = sources.status_report(session)
    if json:
        output.document(as_json.status(report))
    else:
        output.lines(reports.status_lines(report, output.width()))
    return 1 if compute.problems(report) else 0


def _of_core(session: db.Session, json: bool) -> int:
    """Print the same of a server without the extension."""
    found, notes = sources.core_status(session)
    if json:
        output.document(as_json.core_status(found))
        output.notes(notes)
    else:
        width = output.width()
        output.lines(answers.overview_lines(found, width))
        output.lines(answers.note_lines(notes, width))
    return 1 if found.problems else 0
