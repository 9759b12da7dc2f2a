"""`pgsweep trial`: what pg_sweep would have done while it only observed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from pgsweep import db, errors, extras, files, output
from pgsweep.commands.options import Json, Limit, Watch, with_target
from pgsweep.model import Server, TriedTable
from pgsweep.page import Page, show
from pgsweep.render import as_json, trials


@with_target
def trial(
    target: db.Target,
    limit: Limit = 20,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write it as one HTML file instead."),
    ] = None,
    watch: Watch = None,
    json: Json = False,
) -> int:
    """Show what pg_sweep would have done in mode observe, and what autovacuum did."""
    if html is not None and (json or watch is not None):
        raise errors.UsageError("--html cannot be combined with --json or --watch")
    if html is not None:
        return _write(target, html)

    def look(session: db.Session) -> Page:
        rows, server, mode = _read(session)
        return Page(
            lines=(
                partial(trials.lines, rows, server.now, limit)
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
    extras.require_report("an HTML page")
    # Only this needs templates.
    from pgsweep.report import trial_page

    with db.connect(target) as session:
        rows, server, mode = _read(session)
    page = trial_page.html(rows, server, mode)
    files.write(path, page, "Name another file with --html.")
    output.note(f"wrote {path} ({len(page.encode()) / 1000:,.0f} kB)")
    return 0
