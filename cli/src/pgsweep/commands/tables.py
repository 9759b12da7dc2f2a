"""`pgsweep tables`: the tables of a database, the most urgent first."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import partial
from typing import Annotated

import typer

from pgsweep.base import errors
from pgsweep.commands.options import Json, Watch, with_target
from pgsweep.findings import sources
from pgsweep.findings.core.tables import pick
from pgsweep.model import Table, Worth
from pgsweep.output.terminal import answers, as_json, worths
from pgsweep.output.terminal.page import Page, show
from pgsweep.source import db


class Sort(str, Enum):
    """By what tables are put in order. But for freeze and name the greatest comes first."""

    SCORE = "score"
    DEAD = "dead"
    INSERTED = "inserted"
    AGE = "age"
    FREEZE = "freeze"
    SIZE = "size"
    NAME = "name"


@with_target
def tables(
    target: db.Target,
    database: Annotated[
        list[str] | None,
        typer.Option("--database", help="Of this database. It may be given several times."),
    ] = None,
    due: Annotated[bool, typer.Option("--due", help="Only those that are due.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 20,
    sort: Annotated[Sort | None, typer.Option("--sort", help="In which order.")] = None,
    worth: Annotated[
        bool,
        typer.Option("--worth", help="What garbage costs index scans, and what a vacuum costs."),
    ] = False,
    watch: Watch = None,
    json: Json = False,
) -> int:
    """Show tables: counters, thresholds, how urgent each is, and what was decided about it.

    It works without the extension, too, from core's own views. --worth needs the extension.
    """
    if worth:
        if due or sort is not None:
            raise errors.UsageError("--worth cannot be combined with --due or --sort")
        return _worth(target, database or (), limit, watch, json)

    def look(session: db.Session) -> Page:
        found: list[Table] = []
        notes: dict[str, None] = {}
        now = session.server().now
        if not database:
            answer = sources.tables(session)
            found.extend(answer.rows)
            notes.update(dict.fromkeys(answer.notes))
        for name in database or ():
            with session.beside(name) as other:
                answer = sources.tables(other)
            found.extend(answer.rows)
            notes.update(dict.fromkeys(answer.notes))
        rows = pick(found, (sort or Sort.SCORE).value, due, limit)
        several = len(database or ()) > 1
        return Page(
            lines=lambda width: answers.table_lines(rows, found, now, width, several),
            document=partial(as_json.rows, rows),
            notes=tuple(notes),
        )

    return show(target, look, json, watch)


def _worth(
    target: db.Target, database: Sequence[str], limit: int, watch: float | None, json: bool
) -> int:
    def look(session: db.Session) -> Page:
        found: list[Worth] = []
        now = session.server().now
        if not database:
            session.require_extension()
            found.extend(session.worth())
        for name in database:
            with session.beside(name) as other:
                other.require_extension()
                found.extend(other.worth())
        found.sort(key=lambda row: -1 if row.lost_reads is None else row.lost_reads, reverse=True)
        rows, number = found[:limit], len(found)
        several = len(database) > 1
        return Page(
            lines=lambda width: worths.lines(rows, number, now, width, several),
            document=partial(as_json.rows, rows),
        )

    return show(target, look, json, watch)
