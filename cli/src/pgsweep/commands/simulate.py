"""`pgsweep simulate`: what other settings would have done with what users did."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Annotated

import typer

from pgsweep import db, errors, simulation
from pgsweep.commands.options import Json, Limit, with_target
from pgsweep.page import Page, show
from pgsweep.render import simulations

# More hours than this are shown by the day.
MOST_HOURS = 48


class By(str, Enum):
    """What a line is of."""

    HOUR = "hour"
    DAY = "day"
    TABLE = "table"


@with_target
def simulate(
    target: db.Target,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="What if this setting had been so? May be given often.",
        ),
    ] = None,
    since: Annotated[
        str, typer.Option("--since", help="How far to go back, as an interval.")
    ] = "7 days",
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            "-t",
            metavar="PATTERN",
            help="Only tables of such names: [SCHEMA.]NAME with * and ?.",
        ),
    ] = None,
    by: Annotated[
        By | None,
        typer.Option(
            "--by",
            help="A line for each hour, day or table. By default hours, or days if there are many.",
        ),
    ] = None,
    limit: Limit = 50,
    json: Json = False,
) -> int:
    """Show what other settings would have done with what users did (sweep.simulate).

    The recorded hours are gone through once more. Beside the answer is how far the same model is
    off for what was recorded. Nothing is changed.
    """
    settings = tuple(given or ())
    for one in settings:
        if "=" not in one:
            raise errors.UsageError(f'invalid setting "{one}"', "Write --set NAME=VALUE.")
    if table is not None and by not in (None, By.TABLE):
        raise errors.UsageError("--table shows tables, and not hours or days")

    def look(session: db.Session) -> Page:
        session.require_extension()
        answer = _answer(session, settings, since, By.TABLE if table is not None else by, table)
        if table is not None and not answer.lines:
            raise errors.UsageError(
                f'no recorded table is called "{table}"',
                "Write * for any characters. pgsweep simulate --by table lists those that are.",
            )
        return Page(
            lines=partial(simulations.lines, answer, limit),
            document=partial(simulations.document, answer),
        )

    return show(target, look, json)


def _answer(
    session: db.Session,
    settings: tuple[str, ...],
    since: str,
    by: By | None,
    pattern: str | None,
) -> simulation.Answer:
    summary = session.simulate_summary(settings, since)
    if by is By.TABLE:
        lines = simulation.by_table(
            session.simulate_tables((), since),
            session.simulate_tables(settings, since) if settings else None,
            session.simulate_tables((), since, back_test=True),
            pattern,
        )
        return simulation.Answer(settings, summary, lines, By.TABLE.value)
    hours = simulation.by_hour(
        session.simulate((), since),
        session.simulate(settings, since) if settings else None,
        session.simulate((), since, back_test=True),
    )
    by = by or (By.DAY if len(hours) > MOST_HOURS else By.HOUR)
    lines = hours if by is By.HOUR else simulation.by_day(hours)
    return simulation.Answer(settings, summary, lines, by.value)
