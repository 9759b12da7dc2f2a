"""`pgsweep blockers`: what keeps dead rows from being removed."""

from __future__ import annotations

from functools import partial

from pgsweep.commands.options import Json, Watch, with_target
from pgsweep.findings import sources
from pgsweep.output.terminal import answers, as_json
from pgsweep.output.terminal.page import Page, show
from pgsweep.source import db


@with_target
def blockers(target: db.Target, watch: Watch = None, json: Json = False) -> int:
    """Show what holds the horizon back, the oldest first, with fix and risk of each.

    It works without the extension, too, from core's own views.
    """

    def look(session: db.Session) -> Page:
        answer = sources.blockers(session)
        now = session.server().now
        return Page(
            lines=partial(answers.blocker_lines, answer.rows, now),
            document=partial(as_json.rows, answer.rows),
            notes=answer.notes,
        )

    return show(target, look, json, watch)
