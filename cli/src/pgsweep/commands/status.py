"""`pgsweep status`: ten lines and an exit code, or its databases, or its limits."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from pgsweep.base import errors
from pgsweep.commands.options import Json, Watch, with_target
from pgsweep.findings import sources
from pgsweep.model import compute
from pgsweep.output.terminal import answers, as_json, budgets, reports
from pgsweep.output.terminal.page import Page, show
from pgsweep.source import db

# Steps of the governor: a minute.
STEPS = 240


@with_target
def status(
    target: db.Target,
    databases: Annotated[
        bool,
        typer.Option(
            "--databases",
            help="Instead, all databases: tables due, dead rows, age, when a worker was there.",
        ),
    ] = False,
    budget: Annotated[
        bool,
        typer.Option(
            "--budget",
            help="Instead, the limits of vacuums, which of them binds, and the governor's "
            "decisions of the last minute.",
        ),
    ] = False,
    watch: Watch = None,
    json: Json = False,
) -> int:
    """Say in ten lines how pg_sweep is doing, or without it how autovacuum is doing.

    The exit code is 0 if all is well, 1 if something needs attention, and 2 if that cannot be
    told.
    """
    if databases and budget:
        raise errors.UsageError("--databases and --budget cannot be combined")
    look = _databases if databases else _budget if budget else _look
    return show(target, look, json, watch)


def _databases(session: db.Session) -> Page:
    session.require_extension()
    found = sources.databases(session)
    server = session.server()
    return Page(
        lines=partial(reports.database_lines, found, server),
        document=partial(as_json.rows, found),
    )


def _budget(session: db.Session) -> Page:
    """Return the limits. Steps of the governor that follow each other alike are one line."""
    session.require_extension()
    limits = session.budget()
    taken = session.governor(STEPS)
    return Page(
        lines=partial(budgets.lines, limits, compute.stretches(taken)),
        document=partial(as_json.budget, limits, taken),
    )


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
