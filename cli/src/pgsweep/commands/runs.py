"""`pgsweep runs`: the finished vacuums, or who steered them."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Annotated

import typer

from pgsweep.base import errors, names
from pgsweep.commands.options import Json, Limit, OfDatabase, OfTable, Watch, with_target
from pgsweep.model import CallFilter, RunFilter
from pgsweep.output.terminal import answers, as_json, reports
from pgsweep.output.terminal.page import Page, show
from pgsweep.source import db


class StartedBy(str, Enum):
    """Who can start a vacuum."""

    SWEEP = "sweep"
    AUTOVACUUM = "autovacuum"
    AUTOVACUUM_WRAPAROUND = "autovacuum_wraparound"
    MANUAL = "manual"


class Outcome(str, Enum):
    """How a vacuum can end."""

    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    SKIPPED = "skipped"


@with_target
def runs(
    target: db.Target,
    limit: Limit = 20,
    table: OfTable = None,
    database: OfDatabase = None,
    started_by: Annotated[
        StartedBy | None, typer.Option("--started-by", help="Only those started by.")
    ] = None,
    outcome: Annotated[Outcome | None, typer.Option("--outcome", help="Only with this.")] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", help="Only those that ended in the last INTERVAL: '2 h', 30min."),
    ] = None,
    audit: Annotated[
        bool,
        typer.Option("--audit", help="Instead, who held, slowed, cancelled, snoozed or set what."),
    ] = False,
    user: Annotated[
        str | None,
        typer.Option("--user", help="With --audit: only by who has logged in as this role."),
    ] = None,
    watch: Watch = None,
    json: Json = False,
) -> int:
    """Show finished vacuums, the latest first: what they removed and what they cost."""
    schemaname, relname = names.qualified(table) if table else (None, None)
    if audit:
        if database or started_by or outcome or since:
            raise errors.UsageError("--audit can be combined with --table, --user and --limit only")
        calls = CallFilter(
            limit=limit, usename=user, schemaname=schemaname, relname=relname, shown=table
        )
        return show(target, partial(_audit, calls), json, watch)
    if user is not None:
        raise errors.UsageError("--user is for --audit", "Write --audit as well.")
    wanted = RunFilter(
        limit=limit,
        schemaname=schemaname,
        relname=relname,
        shown=table,
        datname=database,
        started_by=started_by.value if started_by else None,
        outcome=outcome.value if outcome else None,
        since=since,
    )

    return show(target, partial(_runs, wanted), json, watch)


def _runs(wanted: RunFilter, session: db.Session) -> Page:
    session.require_extension()
    found = session.runs(wanted)
    return Page(lines=partial(reports.run_lines, found), document=partial(as_json.rows, found))


def _audit(wanted: CallFilter, session: db.Session) -> Page:
    session.require_extension()
    found = session.audit(wanted)
    now = session.server().now
    return Page(
        lines=partial(answers.audit_lines, found, now),
        document=partial(as_json.rows, found),
    )
