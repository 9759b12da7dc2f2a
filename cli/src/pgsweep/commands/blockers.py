"""`pgsweep blockers`: what keeps dead rows from being removed."""

from __future__ import annotations

from pgsweep import db, output, sources
from pgsweep.commands.options import Json, with_target
from pgsweep.render import answers, as_json


@with_target
def blockers(target: db.Target, json: Json = False) -> int:
    """Show what holds the horizon back, the oldest first, with fix and risk of each.

    It works without the extension, too, from core's own views.
    """
    with db.connect(target) as session:
        answer = sources.blockers(session)
        now = session.server().now
    if json:
        output.document(as_json.rows(answer.rows))
        output.notes(answer.notes)
    else:
        width = output.width()
        output.lines(answers.blocker_lines(answer.rows, now, width))
        output.lines(answers.note_lines(answer.notes, width))
    return 0
