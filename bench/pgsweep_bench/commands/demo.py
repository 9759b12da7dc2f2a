"""`demo`: a throwaway server under load, and `top` on it."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from pgsweep.base import errors, output
from pgsweep.base.interrupts import Interrupted, Interrupts
from pgsweep.commands.options import Json
from pgsweep.model import Run, RunFilter
from pgsweep.output.terminal import as_json
from pgsweep.source import db
from pgsweep_bench import workload
from pgsweep_bench.servers.server import ThrowawayServer, default_pg_config, extension_is_installed

DEFAULT_SECONDS = 60.0
REPORT_S = 10.0
POLL_S = 0.5


def demo(
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", min=1, help="End after so long (without a terminal: 60)."),
    ] = None,
    json: Json = False,
    pg_config: Annotated[
        str | None,
        typer.Option("--pg-config", help="PostgreSQL to use (else $PG_CONFIG or the first found)."),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the stopped server's folder, with its log.")
    ] = False,
) -> None:
    """Start a throwaway server under a real workload and watch its vacuums.

    It touches no existing server. With --json or without a terminal nothing is drawn. Then the
    runs are printed as JSON after --seconds, and the exit code is 1 if pg_sweep finished no
    vacuum.
    """
    config = pg_config or default_pg_config()
    if not extension_is_installed(config):
        raise errors.ServerError(
            f'extension "pg_sweep" is not installed in the PostgreSQL of "{config}"',
            f"Run make install PG_CONFIG={config} in pg_sweep's sources.",
        )
    interactive = not json and sys.stdout.isatty() and sys.stdin.isatty()
    interrupts = Interrupts()
    try:
        with interrupts.installed():
            code = _run(config, seconds, keep, interactive, interrupts)
    except Interrupted as exc:
        output.note("interrupted; server and folder are removed")
        code = exc.exit_code
    raise typer.Exit(code)


def _run(
    config: str, seconds: float | None, keep: bool, interactive: bool, interrupts: Interrupts
) -> int:
    output.note("starting a throwaway server")
    with ThrowawayServer(config, workload.SETTINGS, interrupts, keep) as server:
        if keep:
            output.note(f"folder {server.folder} will be kept")
        workload.prepare(server)
        workload.start(server)
        flags = f"-h {server.folder} -p {server.port} -U postgres"
        output.note(f"ready: psql {flags} {workload.DATABASE}")
        if interactive:
            code = _watch(server, seconds, interrupts)
        else:
            code = _collect(server, seconds or DEFAULT_SECONDS)
        output.note("removing the server")
    return code


def _watch(server: ThrowawayServer, seconds: float | None, interrupts: Interrupts) -> int:
    from pgsweep.output.top.app import TopApp

    session = db.connect(server.target(workload.DATABASE))
    app = TopApp(session, act=True, ends_in_s=seconds)
    interrupts.callback = app.exit_soon
    app.run()
    interrupts.callback = None
    interrupts.check()
    return 0


def _collect(server: ThrowawayServer, seconds: float) -> int:
    end = time.monotonic() + seconds
    next_report = time.monotonic() + REPORT_S
    everything = RunFilter(limit=None)
    with db.connect(server.target(workload.DATABASE)) as session:
        while (now := time.monotonic()) < end:
            server.check()
            if now >= next_report:
                next_report += REPORT_S
                output.note(f"{end - now:.0f} s left, {_summary(session.runs(everything))}")
            time.sleep(min(POLL_S, max(0.0, end - now)))
        runs = session.runs(everything)
    output.document(as_json.rows(runs))
    done = [run for run in runs if run.started_by == "sweep" and run.outcome == "done"]
    if not done:
        output.note("pg_sweep finished no vacuum")
    return 0 if done else 1


def _summary(runs: tuple[Run, ...]) -> str:
    counts: dict[str, int] = {}
    for run in runs:
        starter = run.started_by or "unknown"
        counts[starter] = counts.get(starter, 0) + 1
    by = ", ".join(f"{number} {starter}" for starter, number in sorted(counts.items()))
    return f"runs: {by or 'none yet'}"
