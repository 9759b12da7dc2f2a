"""What is set for tables of Citus: each node keeps its own, and the coordinator's are the model.

Nothing of Citus carries them to a node that is added. So they are compared and copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.base import errors
from pgsweep.fleet.citus import COORDINATOR_GROUP
from pgsweep.fleet.node import STANDBYS
from pgsweep.model import TableSetting
from pgsweep.output.terminal import as_json
from pgsweep.output.terminal.acts import written
from pgsweep.output.terminal.page import Page

if TYPE_CHECKING:
    from pgsweep.fleet.node import Node
    from pgsweep.fleet.providers import Fleet
    from pgsweep.fleet.seats import Seats
    from pgsweep.source.db import Session

# Values by the name of a setting, by the name of a table as SQL has it.
Settings = Mapping[str, Mapping[str, str]]


def wanted(seats: Seats, fleet: Fleet, deadline_s: float) -> dict[str, Settings]:
    """Return what the coordinator of each Citus cluster of a fleet has."""
    names = dict.fromkeys(node.citus for node in fleet.nodes if node.citus)
    if not names:
        raise errors.UsageError("there is no node of Citus", "Name a cluster: --citus HOST.")
    coordinators = [node for node in fleet.everyone if node.citus in names and _has_them(node)]
    answers = seats.ask(coordinators, lambda session, _: settings(session), deadline_s)
    found: dict[str, Settings] = {}
    for node, answer in zip(coordinators, answers, strict=True):
        if answer.value is None:
            said = answer.problem.one_line() if answer.problem else "no answer"
            raise errors.CannotConnectError(
                f"nothing was done: {node.name} of {node.citus} does not say what is set: {said}",
                "Try again, or a longer --deadline.",
            )
        found[node.citus or ""] = answer.value
    return found


def _has_them(node: Node) -> bool:
    return node.group_id == COORDINATOR_GROUP and node.role not in STANDBYS


def settings(session: Session) -> Settings:
    """Return what is set for tables of Citus on a node."""
    session.require_extension()
    return by_table(session.rows("fleet_citus_settings", TableSetting))


def by_table(rows: Iterable[TableSetting]) -> Settings:
    """Return settings by their tables."""
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        found.setdefault(written(row), {})[row.name] = row.value
    return found


def missing(session: Session, of_coordinator: Settings) -> dict[str, dict[str, str | None]]:
    """Return what a node has not, or has otherwise, by table."""
    return different(settings(session), of_coordinator)


def different(here: Settings, there: Settings) -> dict[str, dict[str, str | None]]:
    """Return what is there and is not so here."""
    found: dict[str, dict[str, str | None]] = {}
    for table, values in there.items():
        for name, value in values.items():
            if here.get(table, {}).get(name) != value:
                found.setdefault(table, {})[name] = value
    return found


def nothing_missing() -> Page:
    """Return what is said of a node that has everything."""
    return Page(
        lines=lambda _: [Text("it has all that is set on the coordinator")],
        document=lambda: as_json.dump({"settings": {}}),
    )
