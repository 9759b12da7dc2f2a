"""`pgsweep fleet`: many servers in one view, and why a table is not vacuumed anywhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer

from pgsweep import output, page
from pgsweep.commands.fleet_acts import hold, set_, snooze, sync, unhold, vacuum
from pgsweep.commands.fleet_options import DEADLINE_S, PATIENT_S, given_before, with_fleet
from pgsweep.commands.options import Json, Watch
from pgsweep.db import Session
from pgsweep.errors import CannotConnectError, UsageError
from pgsweep.fleet import causes, providers, spread, view
from pgsweep.fleet import tables as tables_of
from pgsweep.fleet.node import Node
from pgsweep.fleet.providers import Choice, Fleet
from pgsweep.fleet.reading import Row
from pgsweep.fleet.seats import Seats
from pgsweep.fleet.summary import summary
from pgsweep.fleet.tables import TablesSeen
from pgsweep.page import Page
from pgsweep.render import as_json, fleet_json
from pgsweep.render import fleet as render

app = typer.Typer(invoke_without_command=True)


@app.callback()
@partial(with_fleet, deadline_s=DEADLINE_S)
def fleet(
    ctx: typer.Context,
    choice: Choice,
    deadline: float,
    tables: Annotated[
        bool,
        typer.Option("--tables", help="Tables with all their shards or partitions, not nodes."),
    ] = False,
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
            tables = tables_of.look(self._seats, found, self._deadline)
            return _tables_page(tables, found, self._limit)
        rows = view.look(self._seats, found, self._deadline, seen)
        outcome = summary(rows)
        said = (*found.notes, *render.notes(rows))
        return Page(
            lines=partial(render.lines, rows, outcome),
            document=partial(fleet_json.document, rows, outcome, said),
            notes=said,
            code=outcome.code or int(found.incomplete),
        )


def _tables_page(seen: TablesSeen, found: Fleet, limit: int) -> Page:
    if seen.trouble:
        raise CannotConnectError(seen.trouble)
    silent = (f"{node.name}: {what}" for node, what in seen.silent)
    return Page(
        lines=partial(render.table_lines, seen.tables, limit),
        document=partial(as_json.rows, seen.tables[:limit]),
        notes=(*found.notes, *seen.notes, *silent),
        code=1 if seen.silent or found.incomplete else 0,
    )


@app.command()
@partial(with_fleet, deadline_s=PATIENT_S)
def explain(
    choice: Choice,
    deadline: float,
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE", help="[SCHEMA.]NAME, quoted as in SQL.", show_default=False
        ),
    ],
    json: Json = False,
) -> int:
    """Say why a table is not vacuumed, over all its shards or partitions on all nodes.

    Equal causes come once. Each fix has the node where it must run.
    """
    with Seats() as seats:
        found = providers.discover(choice, deadline)
        where = spread.spread(seats, found, table, deadline)
        asked = [
            node
            for node in found.nodes
            if tables_of.has_tables(node) and (where.on(node) or not where.is_distributed(node))
        ]

        def read(session: Session, node: Node) -> causes.NodeCauses:
            try:
                return causes.read(session, node.name, table, where.on(node))
            except UsageError:
                # It is not on every node that is no part of a Citus cluster.
                return causes.NodeCauses(0, ())

        answers = seats.ask(asked, read, deadline)
    silent = [
        (node, view.trouble_of(answer))
        for node, answer in zip(asked, answers, strict=True)
        if answer.value is None
    ]
    said = [answer.value for answer in answers if answer.value is not None]
    if not said:
        raise CannotConnectError(tables_of.no_answer(silent))
    if not silent:
        causes.require_any(said, table)
    groups = causes.grouped([cause for one in said for cause in one.causes])
    total = (sum(one.parts for one in said), sum(bool(one.parts) for one in said))
    return page.printed(
        Page(
            lines=partial(render.cause_lines, groups, table, total),
            document=partial(as_json.rows, groups),
            notes=(
                *found.notes,
                *where.notes,
                *(f"{node.name}: {what}" for node, what in silent),
            ),
            code=1 if silent or found.incomplete else 0,
        ),
        json,
    )


for command in (hold, unhold, snooze, vacuum, set_, sync):
    # "set" is Python's own name.
    app.command(command.__name__.rstrip("_"))(command)
