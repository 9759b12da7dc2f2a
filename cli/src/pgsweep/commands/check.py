"""`pgsweep check`: one line and an exit code for Nagios, Icinga and the like."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from pgsweep.base import errors, output
from pgsweep.commands.options import Json, with_target
from pgsweep.findings import nagios, sources
from pgsweep.output.terminal import health_json
from pgsweep.source import db


class Command(TyperCommand):
    """A command whose wrong usage is UNKNOWN.

    Elsewhere exit code 2 means wrong usage, but here it is CRITICAL.
    """

    def make_context(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Parse the arguments."""
        try:
            return super().make_context(*args, **kwargs)
        except Exception as exc:
            # These are Click's own errors. Typer does not say where it keeps their class.
            if not hasattr(exc, "format_message"):
                raise
            output.document(nagios.line(nagios.unknown(exc.format_message())))
            raise typer.Exit(nagios.State.UNKNOWN.value) from exc


@with_target
def check(
    target: db.Target,
    warning: Annotated[
        list[str] | None,
        typer.Option("--warning", help="NAME=VALUE from where on it is a WARNING, or NAME=off."),
    ] = None,
    critical: Annotated[
        list[str] | None,
        typer.Option("--critical", help="NAME=VALUE from where on it is CRITICAL, or NAME=off."),
    ] = None,
    times: Annotated[
        float,
        typer.Option("--times", min=1, help="Overdue: over so many times its threshold."),
    ] = 3.0,
    least_rows: Annotated[
        int,
        typer.Option("--least-rows", min=0, help="Overdue: with so many rows at least."),
    ] = 10_000,
    json: Json = False,
) -> int:
    """Print one line in Nagios' form, from thresholds on ages, holders, overdue tables.

    The exit code is 0 for OK, 1 for WARNING, 2 for CRITICAL and 3 for UNKNOWN. It works without
    the extension, too.
    """
    try:
        given = nagios.rules(warning or (), critical or (), times, least_rows)
        with db.connect(target) as session:
            outcome = nagios.check(sources.watched(session), given)
    except errors.PgsweepError as exc:
        outcome = nagios.unknown(exc.one_line())
    output.document(health_json.check(outcome) if json else nagios.line(outcome))
    return outcome.state.value
