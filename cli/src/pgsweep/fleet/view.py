"""One look at all nodes of a fleet."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pgsweep.fleet import reader
from pgsweep.fleet.citus import gpid_of
from pgsweep.fleet.reading import Row

if TYPE_CHECKING:
    from pgsweep.fleet.asking import Answer
    from pgsweep.fleet.citus import Origin
    from pgsweep.fleet.node import Node
    from pgsweep.fleet.providers import Fleet
    from pgsweep.fleet.reading import NodeReading
    from pgsweep.fleet.seats import Seats
    from pgsweep.source.db import Session


def look(
    seats: Seats,
    fleet: Fleet,
    deadline_s: float,
    seen: Callable[[tuple[Row, ...]], None] = lambda _: None,
    before: Mapping[Node, Row] | None = None,
) -> tuple[Row, ...]:
    """Return all nodes with what they say, those that are silent as such.

    `seen` is told all rows whenever a node has answered. The others are as they were `before`.
    """
    rows = {node: (before or {}).get(node) or unanswered(node) for node in fleet.nodes}
    asked = [node for node in fleet.nodes if not node.unasked]
    for index, answer in seats.answers(asked, lambda session, _: reader.read(session), deadline_s):
        node = asked[index]
        rows[node] = _row(node, answer, rows[node])
        seen(tuple(rows.values()))
    return _with_origins(seats, fleet, tuple(rows.values()), deadline_s)


def unanswered(node: Node) -> Row:
    """Return what there is of a node before it is asked."""
    return Row(node, trouble=node.unasked)


def _gpid(reading: NodeReading) -> int | None:
    return gpid_of(reading.blocker.name) if reading.blocker else None


def _row(node: Node, answer: Answer[NodeReading], before: Row) -> Row:
    reading = answer.value
    if reading is None:
        return Row(node, answer.seconds, None, trouble_of(answer), before.answered_at)
    earlier = before.reading.origin if before.reading is not None else None
    if earlier is not None and _gpid(reading) == earlier.gpid:
        # Whom it works for is asked at the end. Until then it is who it was.
        reading = replace(reading, origin=earlier)
    return Row(node, answer.seconds, reading, answered_at=time.monotonic())


def trouble_of(answer: Answer[Any]) -> str:
    """Return why there is no value, in one line."""
    if answer.silent:
        return f"no answer in {answer.seconds:.1f} s"
    # The hint is for one server: there is no room for it beside many.
    return " ".join(answer.problem.message.split()) if answer.problem else ""


def _with_origins(
    seats: Seats, fleet: Fleet, rows: Sequence[Row], deadline_s: float
) -> tuple[Row, ...]:
    """Return the rows, where Citus' sessions hold a horizon with whom they work for.

    Only the node that began it knows that, so these nodes are asked once more.
    """
    wanted: dict[int, tuple[Node | None, Origin]] = {}
    for index, row in enumerate(rows):
        found = reader.wanted_origin(fleet.everyone, row.reading)
        if found is not None:
            wanted[index] = found
    nodes = list({node for node, _ in wanted.values() if node is not None and not node.unasked})

    def ask(session: Session, node: Node) -> dict[Origin, Origin]:
        mine = {found for there, found in wanted.values() if there == node}
        return {found: reader.fill_origin(session, found) for found in mine}

    known: dict[Origin, Origin] = {}
    for answer in seats.ask(nodes, ask, deadline_s) if nodes else ():
        known.update(answer.value or {})

    def told(index: int, row: Row) -> Row:
        if index not in wanted or row.reading is None:
            return row
        found = wanted[index][1]
        return replace(row, reading=replace(row.reading, origin=known.get(found, found)))

    return tuple(told(index, row) for index, row in enumerate(rows))
