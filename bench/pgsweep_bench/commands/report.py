"""`report`: results of experiments as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pgsweep.base import extras, files
from pgsweep_bench import store
from pgsweep_bench.report import markdown, model, page


def report(
    results: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Results, the first to compare with."),
    ],
    path: Annotated[
        str | None,
        typer.Option("--output", "-o", help="The file to write, or - for stdout. [report.html]"),
    ] = None,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Tables and sentences for pasting, to stdout.")
    ] = False,
) -> None:
    """Make one HTML file that needs no network of results."""
    if not as_markdown:
        extras.require("bench", "an HTML report", ("vl_convert",))
    built = model.build([store.load(file) for file in results])
    text = markdown.results(built) if as_markdown else page.html(built)
    files.write_document(text, path or ("-" if as_markdown else "report.html"))
