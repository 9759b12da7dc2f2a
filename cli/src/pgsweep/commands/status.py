"""`pgsweep status`: ten lines and an exit code."""

from __future__ import annotations

from functools import partial

from pgsweep import compute, db, errors, sources
from pgsweep.commands.options import Json, Watch, with_target
from pgsweep.page import Page, show
from pgsweep.render import answers, as_json, reports


@with_target
def status(target: db.Target, watch: Watch = None, json: Json = False) -> int:
    """Say in ten lines how pg_sweep is doing, or without it how autovacuum is doing.

    The exit code is 0 if all is well, 1 if something needs attention, and 2 if that cannot be
    told.
    """
    return show(target, _look, json, watch)


def _look(session: db.Session) -> Page:
    try:
        session.require_extension()
    except errors.ExtensionMissingError:
        return _of_core(session)
    report = sources.status_report(session)
    return Page(
        lines=partial(reports.status_lines, report),
        document=partial(as_json.status, report),
        code=1 if compute.problems(report) else 0,
    )


def _of_core(session: db.Session) -> Page:
    """Return the same of a server without the extension."""
    found, notes = sources.core_status(session)
    return Page(
        lines=partial(answers.overview_lines, found),
        document=partial(as_json.core_status, found),
        notes=notes,
        code=1 if found.problems else 0,
    )
