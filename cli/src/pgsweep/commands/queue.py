"""`pgsweep queue`: the tables that are to be vacuumed next, or what was decided about them."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from pgsweep.base import errors, names
from pgsweep.commands.options import Json, Limit, OfDatabase, OfTable, Watch, with_target
from pgsweep.model import DecisionFilter
from pgsweep.output.terminal import answers, as_json
from pgsweep.output.terminal.page import Page, show
from pgsweep.source import db


@with_target
def queue(
    target: db.Target,
    decisions: Annotated[
        bool,
        typer.Option(
            "--decisions",
            help="Instead, what was decided about tables that looked due, the latest first.",
        ),
    ] = False,
    decision: Annotated[
        str | None,
        typer.Option("--decision", help="Only decisions of this kind, such as 'would vacuum'."),
    ] = None,
    table: OfTable = None,
    database: OfDatabase = None,
    limit: Limit = 20,
    watch: Watch = None,
    json: Json = False,
) -> int:
    """Show the tables that are to be vacuumed next, in their order, and what each waits for."""
    if decisions or decision is not None:
        schemaname, relname = names.qualified(table) if table else (None, None)
        wanted = DecisionFilter(
            limit=limit,
            datname=database,
            schemaname=schemaname,
            relname=relname,
            shown=table,
            decision=decision,
        )
        return show(target, partial(_decisions, wanted), json, watch)
    if table is not None:
        raise errors.UsageError(
            "--table is for decisions", "Write --decisions as well, or see pgsweep explain."
        )
    return show(target, partial(_queue, database, limit), json, watch)


def _queue(database: str | None, limit: int, session: db.Session) -> Page:
    session.require_extension()
    found = [row for row in session.queue() if database in (None, row.datname)]
    now = session.server().now
    shown = found[:limit]
    return Page(
        lines=partial(answers.queue_lines, shown, len(found), now),
        document=partial(as_json.rows, shown),
    )


def _decisions(wanted: DecisionFilter, session: db.Session) -> Page:
    session.require_extension()
    found = session.decisions(wanted)
    now = session.server().now
    return Page(
        lines=partial(answers.decision_lines, found, now),
        document=partial(as_json.rows, found),
    )
