"""`pgsweep cancel`: cancel a running vacuum."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Annotated

import typer

from pgsweep.base import errors, output
from pgsweep.commands.options import Json, Yes, with_target
from pgsweep.findings import sources
from pgsweep.model import Progress
from pgsweep.output.terminal import acts, as_json, question
from pgsweep.source import db


@partial(with_target, positional=False)
def cancel(
    target: db.Target,
    pid: Annotated[
        int, typer.Argument(metavar="PID", help="The process, as pgsweep progress shows it.")
    ],
    snooze: Annotated[
        str | None,
        typer.Option(
            "--snooze", metavar="INTERVAL", help="Also leave the table alone for so long."
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Also autovacuum's vacuum against wraparound. pg_sweep freezes the table instead.",
        ),
    ] = False,
    yes: Yes = False,
    json: Json = False,
) -> int:
    """Cancel the running vacuum of a process, whoever started it (sweep.cancel).

    It shows the vacuum and asks first. The exit code is 1 if the answer is no.
    """
    question.require_answer(yes, "cancel")
    with db.connect(target) as session:
        session.require_extension()
        row = _running(session, pid)
        if not yes:
            output.note(acts.to_cancel(row, session.server().now, snooze).plain)
            if not question.confirmed("Cancel it?"):
                output.note("not cancelled")
                return 1
            sources.require_running(session, row)
        done, said = session.cancel(pid, snooze, force)
        dbname = session.dbname
    if not done:
        raise errors.QueryError(said or f"process {pid} is not running a vacuum", NOT_RUNNING)
    if json:
        output.document(
            as_json.dump({**dataclasses.asdict(row), "cancelled": True, "snooze": snooze})
        )
    else:
        output.lines(acts.cancelled(row, snooze, dbname))
        if said:
            output.note(said)
    return 0


NOT_RUNNING = "pgsweep progress shows what runs."


def _running(session: db.Session, pid: int) -> Progress:
    """Return the vacuum of a process, or raise if there is none that can be cancelled."""
    rows = {row.pid: row for row in session.progress()}
    row = rows.get(pid)
    if row is None:
        raise errors.UsageError(f"process {pid} is not running a vacuum", NOT_RUNNING)
    if row.leader_pid is not None:
        raise errors.UsageError(
            f"process {pid} helps process {row.leader_pid} with its vacuum",
            f"Run pgsweep cancel {row.leader_pid}.",
        )
    return row
