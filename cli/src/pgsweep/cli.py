"""The command line, and the one place where errors become a line and an exit code."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from pgsweep import __version__, errors
from pgsweep.commands.bench import bench
from pgsweep.commands.blockers import blockers
from pgsweep.commands.budget import budget
from pgsweep.commands.check import CheckCommand, check
from pgsweep.commands.databases import databases
from pgsweep.commands.demo import demo
from pgsweep.commands.doctor import doctor
from pgsweep.commands.explain import explain
from pgsweep.commands.progress import progress
from pgsweep.commands.report import report
from pgsweep.commands.runs import runs
from pgsweep.commands.status import status
from pgsweep.commands.tables import tables
from pgsweep.commands.top import top
from pgsweep.commands.tune import tune

EXIT_CANNOT = 2
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="pgsweep",
    help="See, steer and trust PostgreSQL's vacuums: the command of pg_sweep.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pgsweep {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            help="Print the version.",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    pass


for command in (
    *(demo, bench, report, status, top, progress, runs, databases),
    *(tables, explain, blockers, budget, doctor, tune),
):
    app.command()(command)
app.command(cls=CheckCommand)(check)


@app.command()
def version() -> None:
    """Print the version of this command."""
    _print_version(wanted=True)


def main() -> None:
    """Run the command.

    Every failure of ours becomes one line on stderr and exit code 2.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal of another encoding gets escaped names and no traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            # Python writes what is still buffered when it ends. Nobody could catch a failure
            # there.
            sys.stdout.flush()
    except errors.PgsweepError as exc:
        sys.stderr.write(f"pgsweep: error: {exc.one_line()}\n")
        sys.exit(EXIT_CANNOT)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader has gone (head, a pager). Without this the interpreter would complain about
        # it too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
