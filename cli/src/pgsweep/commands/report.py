"""`pgsweep report`: results, or a server's last day or longer, as one HTML file."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from pgsweep import db, errors, extras, files, output, sources
from pgsweep.bench import store
from pgsweep.bench.result import Result
from pgsweep.commands.options import with_target
from pgsweep.model import Day

DEFAULT_OUTPUT = Path("report.html")


@partial(with_target, positional=False)
def report(
    target: db.Target,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Results of pgsweep bench, the first to compare with. With --live it is DBNAME.",
            show_default=False,
        ),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="The last day of a server with pg_sweep.")
    ] = False,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            help="With --live: not the last day but since then: '7 days', 2026-11-01.",
        ),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option("--output", "-o", help="The file to write, or - for stdout. [report.html]"),
    ] = None,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Tables and sentences for pasting, to stdout.")
    ] = False,
) -> int:
    """Make one HTML file that needs no network of results, or of a server's last day or longer."""
    given = files or []
    if not given and not live:
        raise errors.UsageError(
            "no result given", "Name files that pgsweep bench wrote, or use --live."
        )
    if since is not None and not live:
        raise errors.UsageError("--since is of a server", "Add --live, with the database.")
    if not as_markdown:
        extras.require_report("an HTML report")
    if live:
        text = _live(_read(target, given, since), as_markdown)
    else:
        text = _results([store.load(Path(name)) for name in given], as_markdown)
    _write(text, path or ("-" if as_markdown else str(DEFAULT_OUTPUT)))
    return 0


def _live(day: Day, as_markdown: bool) -> str:
    # Only this command needs templates and plots.
    from pgsweep.report import live_model, live_page, markdown

    return markdown.live(live_model.build(day)) if as_markdown else live_page.html(day)


def _results(results: list[Result], as_markdown: bool) -> str:
    from pgsweep.report import bench_model, bench_page, markdown

    built = bench_model.build(results)
    return markdown.results(built) if as_markdown else bench_page.html(built)


def _read(target: db.Target, given: list[str], since: str | None) -> Day:
    if len(given) > 1:
        raise errors.UsageError("--live takes one database", "Name it as psql does, or with -d.")
    if given and not target.dbname:
        target = dataclasses.replace(target, dbname=given[0])
    with db.connect(target) as session:
        session.require_extension()
        if since is None:
            return sources.day(session)
        return sources.span(session, moment(session, since))


def moment(session: db.Session, text: str) -> datetime:
    """Return the time that a date, a date with a time, or an interval before now means."""
    now = session.server().now
    try:
        found = datetime.fromisoformat(text.strip())
        found = found if found.tzinfo is not None else found.astimezone()
    except (ValueError, OverflowError):
        try:
            found = session.ago(text)
        except errors.ConnectionLostError:
            raise
        except errors.QueryError:
            raise errors.UsageError(
                f'"{text}" is neither a date nor a span of time',
                "Write --since '7 days', --since 2026-11-01 or --since '2026-11-01 14:00'.",
            ) from None
    if found >= now:
        raise errors.UsageError(
            f"{text} is not in the past", "Write --since '7 days' or a date before now."
        )
    return found.astimezone(timezone.utc)


def _write(text: str, path: str) -> None:
    """Write the whole file or nothing. A reader never sees a part."""
    if path == "-":
        output.document(text)
        return
    files.write(Path(path), text, "Name another file with --output.")
    output.note(f"wrote {path} ({len(text.encode()) / 1000:,.0f} kB)")
