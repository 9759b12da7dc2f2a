"""`pgsweep runs`: the finished vacuums."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from pgsweep import db, output
from pgsweep.commands.options import Json, with_target
from pgsweep.model import RunFilter
from pgsweep.render import as_json, reports


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
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 20,
    table: Annotated[
        str | None, typer.Option("--table", "-t", help="Only of this table: [SCHEMA.]NAME.")
    ] = None,
    database: Annotated[
        str | None, typer.Option("--database", help="Only in this database.")
    ] = None,
    started_by: Annotated[
        StartedBy | None, typer.Option("--started-by", help="Only those started by.")
    ] = None,
    outcome: Annotated[Outcome | None, typer.Option("--outcome", help="Only with this.")] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", help="Only those that ended in the last INTERVAL: '2 h', 30min."),
    ] = None,
    json: Json = False,
) -> int:
    """Show finished vacuums, the latest first: what they removed and what they cost."""
    schemaname, _, relname = (table or "").rpartition(".")
    wanted = RunFilter(
        limit=limit,
        schemaname=schemaname or None,
        relname=relname or None,
        datname=database,
        started_by=started_by.value if started_by else None,
        outcome=outcome.value if outcome else None,
        since=since,
    )
    with db.connect(target) as session:
        session.require_extension()
        found = session.runs(wanted)
    if json:
        output.document(as_json.rows(found))
    else:
        output.lines(reports.run_lines(found, output.width()))
    return 0
