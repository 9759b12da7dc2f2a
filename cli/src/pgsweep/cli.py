"""The command line, and the one place where errors become a line and an exit code."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer
from typer.completion import completion_init  # type: ignore[attr-defined]

from pgsweep import __version__, errors
from pgsweep.commands.audit import audit
from pgsweep.commands.bench import bench
from pgsweep.commands.blockers import blockers
from pgsweep.commands.budget import budget
from pgsweep.commands.cancel import cancel
from pgsweep.commands.check import CheckCommand, check
from pgsweep.commands.completion import NAME, completion
from pgsweep.commands.databases import databases
from pgsweep.commands.decisions import decisions
from pgsweep.commands.demo import demo
from pgsweep.commands.doctor import doctor
from pgsweep.commands.explain import explain
from pgsweep.commands.hold import hold, unhold
from pgsweep.commands.progress import progress
from pgsweep.commands.queue import queue
from pgsweep.commands.report import report
from pgsweep.commands.runs import runs
from pgsweep.commands.serve import serve
from pgsweep.commands.set import set_
from pgsweep.commands.snooze import snooze
from pgsweep.commands.status import status
from pgsweep.commands.tables import tables
from pgsweep.commands.top import top
from pgsweep.commands.trial import trial
from pgsweep.commands.tune import tune
from pgsweep.commands.vacuum import vacuum

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


PANELS = {
    "See": (status, top, progress, runs, databases, tables, queue, decisions, audit, serve),
    "Find out why": (explain, blockers, budget, doctor, check),
    "Steer": (vacuum, cancel, hold, unhold, snooze, set_),
    "Try and measure": (trial, demo, bench, report, tune),
    "The command itself": (completion,),
}

for panel, commands in PANELS.items():
    for command in commands:
        # "set" is Python's own name.
        app.command(
            command.__name__.rstrip("_"),
            cls=CheckCommand if command is check else None,
            rich_help_panel=panel,
        )(command)


@app.command(rich_help_panel="The command itself")
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
    # Without this typer's command line does not know the shells' questions.
    completion_init()
    try:
        try:
            # The name is the same by whatever path the command was called.
            app(prog_name=NAME)
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
