"""`pgsweep trial`: what pg_sweep would have done, observing, or with other settings."""

from __future__ import annotations

from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from pgsweep.base import errors, files, output
from pgsweep.commands.options import Json, Watch, with_target
from pgsweep.findings import simulation
from pgsweep.model import Server, TriedTable
from pgsweep.output.terminal import as_json, simulations, trials
from pgsweep.output.terminal.page import Look, Page, show
from pgsweep.source import db

# What a simulation goes back to. More hours than MOST_HOURS are shown by the day.
SINCE = "7 days"
MOST_HOURS = 48

LINES = 20
SIMULATED_LINES = 50


class By(str, Enum):
    """What a line of a simulation is of."""

    HOUR = "hour"
    DAY = "day"
    TABLE = "table"


@with_target
def trial(
    target: db.Target,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="What if this setting had been so (sweep.simulate)? May be given often.",
        ),
    ] = None,
    by: Annotated[
        By | None,
        typer.Option(
            "--by",
            help="A line of the simulation for each hour, day or table. By default hours, or days "
            "if there are many.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", help=f"How far the simulation goes back. The default is {SINCE}."),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            "-t",
            metavar="PATTERN",
            help="Simulate tables of such names only: [SCHEMA.]NAME with * and ?.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            "-n",
            min=1,
            help=f"At most so many lines. The default is {LINES}, and {SIMULATED_LINES} of a "
            "simulation.",
            show_default=False,
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write it as one HTML file instead."),
    ] = None,
    watch: Watch = None,
    json: Json = False,
) -> int:
    """Show what pg_sweep would have done in mode observe, and what autovacuum did.

    With --set, --by, --since or --table the recorded hours are gone through once more, with other
    settings. Beside the answer is how far the same model is off for what was recorded. Nothing is
    changed.
    """
    if given or by or since or table:
        if html is not None or watch is not None:
            raise errors.UsageError("a simulation cannot be combined with --html or --watch")
        lines = limit or SIMULATED_LINES
        return show(target, _simulated(tuple(given or ()), since or SINCE, by, table, lines), json)
    if html is not None and (json or watch is not None):
        raise errors.UsageError("--html cannot be combined with --json or --watch")
    if html is not None:
        return _write(target, html)

    def look(session: db.Session) -> Page:
        rows, server, mode = _read(session)
        return Page(
            lines=(
                partial(trials.lines, rows, server.now, limit or LINES)
                if rows
                else lambda _: [Text(trials.none(mode))]
            ),
            document=partial(as_json.rows, rows),
        )

    return show(target, look, json, watch)


def _read(session: db.Session) -> tuple[tuple[TriedTable, ...], Server, str | None]:
    session.require_extension()
    return session.trial(), session.server(), session.status().effective_mode


def _write(target: db.Target, path: Path) -> int:
    # Only this needs templates.
    from pgsweep.output.report import trial_page

    with db.connect(target) as session:
        rows, server, mode = _read(session)
    page = trial_page.html(rows, server, mode)
    files.write(path, page, "Name another file with --html.")
    output.note(f"wrote {path} ({len(page.encode()) / 1000:,.0f} kB)")
    return 0


def _simulated(
    settings: tuple[str, ...], since: str, by: By | None, table: str | None, limit: int
) -> Look:
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
                "Write * for any characters. pgsweep trial --by table lists those that are.",
            )
        return Page(
            lines=partial(simulations.lines, answer, limit),
            document=partial(simulations.document, answer),
        )

    return look


def _answer(
    session: db.Session,
    settings: tuple[str, ...],
    since: str,
    by: By | None,
    pattern: str | None,
) -> simulation.Answer:
    summary = session.simulate_summary(settings, since)
    today = session.simulate_summary((), since) if settings else None
    if by is By.TABLE:
        lines = simulation.by_table(
            session.simulate_tables((), since),
            session.simulate_tables(settings, since) if settings else None,
            session.simulate_tables((), since, back_test=True),
            pattern,
        )
        return simulation.Answer(settings, summary, lines, By.TABLE.value, today)
    hours = simulation.by_hour(
        session.simulate((), since),
        session.simulate(settings, since) if settings else None,
        session.simulate((), since, back_test=True),
    )
    by = by or (By.DAY if len(hours) > MOST_HOURS else By.HOUR)
    lines = hours if by is By.HOUR else simulation.by_day(hours)
    return simulation.Answer(settings, summary, lines, by.value, today)
