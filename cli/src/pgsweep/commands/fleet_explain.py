"""`pgsweep fleet --explain`: why a table is not vacuumed anywhere."""

from __future__ import annotations

from functools import partial

from pgsweep.base.errors import CannotConnectError, UsageError
from pgsweep.fleet import causes, providers, spread, tables as tables_of, view
from pgsweep.fleet.node import Node
from pgsweep.fleet.providers import Choice
from pgsweep.fleet.seats import Seats
from pgsweep.output.terminal import as_json, fleet_causes as render
from pgsweep.output.terminal.page import Page
from pgsweep.source.db import Session


def explained(choice: Choice, deadline: float, table: str) -> Page:
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
    return Page(
        lines=partial(render.lines, groups, table, total),
        document=partial(as_json.rows, groups),
        notes=(
            *found.notes,
            *where.notes,
            *(f"{node.name}: {what}" for node, what in silent),
        ),
        code=1 if silent or found.incomplete else 0,
    )
