"""`pgsweep explain`: why a table is not being vacuumed."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from pgsweep.base import output, paragraph
from pgsweep.commands.options import Json, complete_tables, with_target
from pgsweep.findings import sources
from pgsweep.output.terminal import answers, as_json
from pgsweep.source import db


@partial(with_target, positional=False)
def explain(
    target: db.Target,
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE",
            help="[SCHEMA.]NAME. Without it you get the ten worst causes of all.",
            show_default=False,
            autocompletion=complete_tables,
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds",
            min=0,
            max=60,
            help="Without the extension: read the counters twice, so far apart, for dates.",
        ),
    ] = 0.0,
    json: Json = False,
) -> int:
    """Say why a table is not being vacuumed: causes, evidence, fix and its risk, the worst first.

    It works without the extension, too, from core's own views.
    """
    with db.connect(target) as session:
        answer = sources.causes(session, table, seconds)
    if json:
        output.document(as_json.rows(answer.rows))
        output.notes(answer.notes)
    else:
        width = output.width()
        output.lines(answers.cause_lines(answer.rows, width))
        output.lines(paragraph.notes(answer.notes, width))
    return 0
