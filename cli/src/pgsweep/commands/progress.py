"""`pgsweep progress`: the running vacuums."""

from __future__ import annotations

from functools import partial

from pgsweep.commands.options import Json, Watch, with_target
from pgsweep.findings import sources
from pgsweep.output.terminal import as_json, reports
from pgsweep.output.terminal.page import Page, show
from pgsweep.source import db


@with_target
def progress(target: db.Target, watch: Watch = None, json: Json = False) -> int:
    """Show the vacuums that run now, in all databases: who, what, how far, at what cost.

    It works without the extension, too, from core's own views, which know no cost.
    """

    def look(session: db.Session) -> Page:
        answer = sources.progress(session)
        now = session.server().now
        return Page(
            lines=partial(reports.progress_lines, answer.rows, now),
            document=partial(as_json.rows, answer.rows),
            notes=answer.notes,
        )

    return show(target, look, json, watch)
