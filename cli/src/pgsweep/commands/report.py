"""`pgsweep report`: results, or a server's last day, as one HTML file."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from pgsweep import db, errors, files, output
from pgsweep.bench import store
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
            help="Results of pgsweep bench, the first to compare with; with --live DBNAME.",
            show_default=False,
        ),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="The last day of a server with pg_sweep.")
    ] = False,
    path: Annotated[
        str | None,
        typer.Option("--output", "-o", help="The file to write; - for stdout. [report.html]"),
    ] = None,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Tables and sentences for pasting, to stdout.")
    ] = False,
) -> int:
    """Make one HTML file that needs no network of results, or of a server's last day."""
    # Templates and plots are for this command only.
    from pgsweep.report import bench_model, bench_page, live_model, live_page, markdown

    given = files or []
    if live:
        day = _read(target, given)
        text = markdown.live(live_model.build(day)) if as_markdown else live_page.html(day)
    elif not given:
        raise errors.UsageError(
            "no result given", "Name files that pgsweep bench wrote, or use --live."
        )
    else:
        built = bench_model.build([store.load(Path(name)) for name in given])
        text = markdown.results(built) if as_markdown else bench_page.html(built)
    _write(text, path or ("-" if as_markdown else str(DEFAULT_OUTPUT)))
    return 0


def _read(target: db.Target, given: list[str]) -> Day:
    if len(given) > 1:
        raise errors.UsageError("--live takes one database", "Name it as psql does, or with -d.")
    if given and not target.dbname:
        target = dataclasses.replace(target, dbname=given[0])
    with db.connect(target) as session:
        session.require_extension()
        return session.day()


def _write(text: str, path: str) -> None:
    """Write the whole file or nothing; a reader never sees a part."""
    if path == "-":
        output.document(text)
        return
    files.write(Path(path), text, "Name another file with --output.")
    output.note(f"wrote {path} ({len(text.encode()) / 1000:,.0f} kB)")
