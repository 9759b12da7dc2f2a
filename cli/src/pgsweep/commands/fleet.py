"""`pgsweep fleet`: many servers in one view, and the commands below it.

To load all of it takes longer than to ask a hundred servers. So what is not called is not loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated

import typer

from pgsweep.base import output
from pgsweep.base.errors import CannotConnectError, UsageError
from pgsweep.commands.fleet_options import DEADLINE_S, PATIENT_S, given_before, with_fleet
from pgsweep.commands.options import Json, Watch
from pgsweep.fleet import providers, view
from pgsweep.fleet.providers import Choice, Fleet
from pgsweep.fleet.reading import Row
from pgsweep.fleet.seats import Seats
from pgsweep.fleet.summary import summary
from pgsweep.output.terminal import as_json, fleet as render, fleet_json, page
from pgsweep.output.terminal.page import Page

# The commands below it, in their order.
BELOW = ("hold", "snooze", "vacuum", "set")
# Names that commands had, and how they are called now.
RENAMED = {"explain": "--explain TABLE", "sync": "set --from-coordinator", "unhold": "hold 0"}
# Options of `fleet` itself after which no value comes.
FLAGS = ("--tables", "--json", "--help")


def application(arguments: Sequence[str] | None = None) -> typer.Typer:
    """Return `fleet` with the commands below it, or without them if none is called."""
    app = typer.Typer(invoke_without_command=True)
    app.callback()(fleet)
    if _goes_on(arguments):
        from pgsweep.commands import fleet_acts

        app.command()(fleet_acts.hold)
        app.command()(fleet_acts.snooze)
        app.command()(fleet_acts.vacuum)
        # "set" is Python's own name.
        app.command("set")(fleet_acts.set_)
    return app


def _goes_on(arguments: Sequence[str] | None) -> bool:
    """Tell whether the arguments may call a command below it, or ask which there are."""
    if arguments is None or "--help" in arguments or not set(BELOW).isdisjoint(arguments):
        return True
    # Whatever is neither an option nor the value of one is a command, if only a misspelt one.
    value = False
    for word in arguments:
        if not word.startswith("-") and not value:
            if word in RENAMED:
                raise UsageError(f'"fleet {word}" is now "pgsweep fleet {RENAMED[word]}"')
            return True
        value = word.startswith("-") and "=" not in word and word not in FLAGS
    return False


@partial(with_fleet, deadline_s=DEADLINE_S)
def fleet(
    ctx: typer.Context,
    choice: Choice,
    deadline: float,
    tables: Annotated[
        bool,
        typer.Option("--tables", help="Tables with all their shards or partitions, not nodes."),
    ] = False,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain",
            metavar="TABLE",
            help="Why a table is not vacuumed, over all its shards or partitions on all nodes.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="With --tables: at most so many.")
    ] = 20,
    watch: Watch = None,
    json: Json = False,
) -> int | None:
    """Show many servers as one: what each does, which is slowest, who holds the oldest horizon.

    The exit code is 0 if all is well, 1 if something needs attention or a node is silent, and 2 if
    no node has answered. Without the extension nodes answer from core's own views.
    """
    if ctx.invoked_subcommand is not None:
        if given_before(ctx):
            raise UsageError(
                f"options stand before {ctx.invoked_subcommand}",
                f"Write them behind it: pgsweep fleet {ctx.invoked_subcommand} --file FILE.",
            )
        return None
    if explain is not None:
        if tables or watch is not None:
            raise UsageError("--explain cannot be combined with --tables or --watch")
        from pgsweep.commands.fleet_explain import explained

        given = ctx.get_parameter_source("deadline")
        patient = deadline if given and given.name == "COMMANDLINE" else PATIENT_S
        return page.printed(explained(choice, patient, explain), json)
    with Seats(reuse=tables or watch is not None) as seats:
        look = _Look(seats, choice, deadline, limit if tables else None)
        if watch is not None:
            return page.repeated(look, json, watch)
        with output.passing() as say:
            found = look(lambda rows: say(render.waiting_for(rows)))
        return page.printed(found, json)


class _Look:
    """One look at the fleet. Who is there is asked each time, and kept if nobody says it."""

    def __init__(self, seats: Seats, choice: Choice, deadline: float, limit: int | None) -> None:
        self._seats = seats
        self._roster = providers.Roster(choice, deadline)
        self._deadline = deadline
        self._limit = limit

    def __call__(self, seen: Callable[[tuple[Row, ...]], None] = lambda _: None) -> Page:
        found = self._roster.find()
        if self._limit is not None:
            return _tables_page(self._seats, found, self._deadline, self._limit)
        rows = view.look(self._seats, found, self._deadline, seen)
        outcome = summary(rows)
        said = (*found.notes, *render.notes(rows))
        return Page(
            lines=partial(render.lines, rows, outcome),
            document=partial(fleet_json.document, rows, outcome, said),
            notes=said,
            code=outcome.code or int(found.incomplete),
        )


def _tables_page(seats: Seats, found: Fleet, deadline: float, limit: int) -> Page:
    from pgsweep.fleet import tables
    from pgsweep.output.terminal import fleet_tables

    seen = tables.look(seats, found, deadline)
    if seen.trouble:
        raise CannotConnectError(seen.trouble)
    silent = (f"{node.name}: {what}" for node, what in seen.silent)
    return Page(
        lines=partial(fleet_tables.lines, seen.tables, limit),
        document=partial(as_json.rows, seen.tables[:limit]),
        notes=(*found.notes, *seen.notes, *silent),
        code=1 if seen.silent or found.incomplete else 0,
    )
