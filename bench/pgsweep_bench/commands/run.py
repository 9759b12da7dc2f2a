"""`run`: the seeds' experiments, with and without pg_sweep, side by side."""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from pgsweep.base import errors, output
from pgsweep.base.interrupts import Interrupted, Interrupts
from pgsweep_bench import request as requests, runner, store, summary
from pgsweep_bench.servers.server import default_pg_config


class Against(str, Enum):
    """What ours is held against."""

    STOCK = "stock"
    OFF = "off"


def run(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="EXPERIMENT...",
            help="insert, catalog, cost, cleaner, limit, tpcds, all; insert_full, day, sparse.",
            show_default=False,
        ),
    ],
    scale: Annotated[
        float | None,
        typer.Option("--scale", min=0.001, help="Size of the tables. 1 suits two cores."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=1, help="Load per variant and repeat.")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option("--repeats", min=1, help="How often each variant is measured.")
    ] = None,
    smoke: Annotated[
        bool, typer.Option("--smoke", help="As short and small as can be: does it all run?")
    ] = False,
    against: Annotated[
        Against, typer.Option("--against", help="What pg_sweep is held against.")
    ] = Against.STOCK,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the variant with pg_sweep."),
    ] = None,
    pg_config: Annotated[
        list[str] | None,
        typer.Option("--pg-config", help="PostgreSQL to use. Several run side by side."),
    ] = None,
    dsn: Annotated[
        str | None,
        typer.Option("--dsn", help="Use this existing server instead of throwaway ones."),
    ] = None,
    output_file: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where the result goes.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", help="Go on with an interrupted run's result.")
    ] = None,
) -> None:
    """Measure what pg_sweep is good for, beside a server without it.

    It runs on throwaway servers, and touches an existing one only with --dsn. The result is
    written after each piece, so that an interrupted run can be resumed.
    """
    asked = requests.Request(
        names=requests.names_of(names),
        output=_output(output_file, resume),
        pg_configs=tuple(pg_config or [default_pg_config()]),
        scale=scale,
        seconds=seconds,
        repeats=repeats,
        smoke=smoke,
        against=against.value,
        settings=requests.settings_of(settings or []),
        dsn=dsn,
        resume=store.load(resume) if resume else None,
    )
    interrupts = Interrupts()
    try:
        with interrupts.installed():
            outcome = runner.run(asked)
    except Interrupted as exc:
        output.note("interrupted; servers and folders are removed")
        if asked.output.exists():
            output.note(f"what was measured is kept; go on with --resume {asked.output}")
        raise typer.Exit(exc.exit_code) from exc
    if outcome.result.experiments:
        output.lines(summary.lines(outcome.result, asked.names))
        output.note(f"the result is in {asked.output}")
    for name, failure in outcome.failures:
        raise errors.ServerError(
            f"experiment {name} failed: {failure.message}", failure.hint
        ) from failure


def _output(given: Path | None, resume: Path | None) -> Path:
    """Return where the result goes. Nobody's result is overwritten."""
    if given is None:
        if resume is not None:
            return resume
        return Path(f"pgsweep-bench-{datetime.now().astimezone():%Y%m%d-%H%M%S}.json")
    if given.exists() and (resume is None or not given.samefile(resume)):
        raise errors.UsageError(
            f'"{given}" exists', "Name another file, or go on with it by --resume."
        )
    return given
