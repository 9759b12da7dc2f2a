"""`python -m pgsweep_bench`: the command line of the experiments and the demo."""

from __future__ import annotations

import typer

from pgsweep import cli
from pgsweep_bench.commands.demo import demo
from pgsweep_bench.commands.report import report
from pgsweep_bench.commands.run import run

NAME = "pgsweep_bench"


def application() -> typer.Typer:
    """Return the command line."""
    app = typer.Typer(
        name=NAME,
        help="pg_sweep's experiments, with and without it, and its demo.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    for command in (run, report, demo):
        app.command()(command)
    return app


def main() -> None:
    """Run the command."""
    cli.run(lambda: application()(prog_name=NAME), NAME)


if __name__ == "__main__":
    main()
