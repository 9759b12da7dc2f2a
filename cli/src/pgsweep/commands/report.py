"""`pgsweep report`: a server's last day or longer, as one HTML file."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Annotated

import typer

from pgsweep.base import errors, files
from pgsweep.commands.options import with_target
from pgsweep.findings import sources
from pgsweep.model import Day
from pgsweep.source import db

DEFAULT_OUTPUT = "report.html"


@with_target
def report(
    target: db.Target,
    since: Annotated[
        str | None,
        typer.Option("--since", help="Not the last day but since then: '7 days', 2026-11-01."),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option("--output", "-o", help="The file to write, or - for stdout. [report.html]"),
    ] = None,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Tables and sentences for pasting, to stdout.")
    ] = False,
) -> int:
    """Make one HTML file that needs no network of a server's last day or longer."""
    # Only this command needs templates and charts.
    from pgsweep.output.report import live_model, live_page, markdown

    day = _read(target, since)
    text = markdown.live(live_model.build(day)) if as_markdown else live_page.html(day)
    files.write_document(text, path or ("-" if as_markdown else DEFAULT_OUTPUT))
    return 0


def _read(target: db.Target, since: str | None) -> Day:
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
