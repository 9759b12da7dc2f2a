"""Settings of whole servers: ALTER SYSTEM where nobody else manages them, Patroni where it does.

Only those of vacuums are set. No value that a server takes for one of these keeps it from starting,
or a session from beginning, and none of them is a list. Of others nobody can tell from a session
whether the server starts with them: with a library that is not there it does not, nor with more
memory than there is.

Patroni writes the server's files from its dynamic configuration, and passes some settings on the
command line. What ALTER SYSTEM wrote would hold on one member only, and win there over whatever
Patroni says later. So its members are never written to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from pgsweep.base import errors
from pgsweep.fleet import arrival, patroni
from pgsweep.output.terminal import as_json
from pgsweep.output.terminal.page import Page
from pgsweep.tune import change

if TYPE_CHECKING:
    from pgsweep.fleet.node import Node
    from pgsweep.fleet.patroni import Cluster
    from pgsweep.source.db import Session

# A member writes its files within Patroni's loop_wait. This is for the rest.
RELOAD_S = 3.0
VACUUMS = re.compile(
    r"sweep\.\w+|autovacuum(_\w+)?|vacuum_\w+|log_auto(vacuum|analyze)_min_duration"
    r"|track_counts|track_cost_delay_timing|maintenance_work_mem|hot_standby_feedback"
)
# These size what a server has to get from the machine when it starts. Of the latter an element
# takes so many bytes, and every machine has room for some.
SIZES = frozenset({"autovacuum_max_workers", "autovacuum_worker_slots"})
ELEMENTS = {"sweep.max_runs": 1400, "sweep.max_decisions": 400}
ROOM_BYTES = 128 << 20
BY_PATRONI = (
    "Name its cluster by --patroni URL, with --patch-config, or use patronictl edit-config."
)


def require_of_vacuums(values: Mapping[str, str | None]) -> None:
    """Raise unless all of these are settings of vacuums that no server fails to start with."""
    others = [
        name
        for name, value in values.items()
        if name in SIZES or not VACUUMS.fullmatch(name) or _is_large(name, value)
    ]
    if others:
        raise errors.UsageError(
            f"pgsweep fleet does not set {', '.join(others)}: "
            "a server may not start with such a value",
            "It sets those of pg_sweep and of vacuums. Set others where they are managed: in the "
            "servers' configuration files, or by patronictl edit-config.",
        )


def _is_large(name: str, value: str | None) -> bool:
    if name not in ELEMENTS or value is None:
        return False
    return not re.fullmatch("[0-9]{1,9}", value) or int(value) * ELEMENTS[name] > ROOM_BYTES


@dataclass(frozen=True)
class Managed:
    """A Patroni cluster among the nodes, and the nodes that it manages."""

    cluster: Cluster
    group: str
    nodes: tuple[Node, ...]


def managed(nodes: Sequence[Node], clusters: Sequence[Cluster]) -> tuple[Managed, ...]:
    """Return the Patroni clusters to which nodes belong."""
    found = []
    for cluster in clusters:
        mine = tuple(node for node in nodes if node.patroni == cluster.urls)
        if mine:
            found.append(Managed(cluster, mine[0].group, mine))
    return tuple(found)


def alter(session: Session, values: Mapping[str, str | None]) -> Page:
    """Set settings of a server by ALTER SYSTEM, all of them or none. None removes one."""
    change.require_possible(session, values, BY_PATRONI)
    current = session.current(list(values))
    change.require_effect(current.values())
    before = {name: current[name].auto for name in values}
    change.alter(session, values, before)
    session.reload()
    after = session.current(list(values))
    waits = [name for name in values if not after[name].applied]
    lines = [_said(name, value, before[name]) for name, value in values.items()]
    if waits:
        lines.append(f"{', '.join(waits)} takes effect only after a restart")
    return Page(
        lines=lambda _: [Text(line) for line in ["; ".join(lines)]],
        document=lambda: as_json.dump({"before": before, "settings": dict(values)}),
        undo=undo_words(before),
    )


def _said(name: str, value: str | None, before: str | None) -> str:
    now = f"is {value} now" if value is not None else "is not set by ALTER SYSTEM any more"
    was = f"it was {before}" if before is not None else "it was not set by ALTER SYSTEM"
    return f"{name} {now}, {was}"


def undo_words(before: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return the words that bring back what there was."""
    back = [f"{name}={value}" for name, value in before.items() if value is not None]
    removed = [word for name, old in before.items() if old is None for word in ("--reset", name)]
    return ("set", *back, *removed)


@dataclass(frozen=True)
class Patched:
    """A change of Patroni's dynamic configuration that was made."""

    url: str
    before: Mapping[str, str | None]
    # how long its members may take for it
    patience_s: float

    @property
    def undo(self) -> tuple[str, ...]:
        """Return the words that bring back what there was."""
        return (*undo_words(self.before), "--patch-config")


def patch(one: Managed, values: Mapping[str, str | None], timeout_s: float) -> Patched:
    """Change Patroni's dynamic configuration. It reaches all members, also those not picked."""
    there = patroni.configuration(one.cluster, timeout_s)
    before = {
        name: None if there.parameters.get(name) is None else _text(there.parameters[name])
        for name in values
    }
    url = patroni.patch(one.cluster, values, timeout_s)
    return Patched(url, before, there.loop_wait_s + RELOAD_S)


def arrived(session: Session, values: Mapping[str, str | None], done: Patched) -> Page:
    """Wait until a change has come to a member. Raise if it does not go by it."""
    line = arrival.wait(session, values, done.patience_s)
    return Page(
        lines=lambda _: [Text(line)],
        document=lambda: as_json.dump({"before": dict(done.before), "settings": dict(values)}),
        undo=done.undo,
    )


def require_known(session: Session, values: Mapping[str, str | None]) -> None:
    """Raise if the server has no such setting. Patroni takes any name, and the server does not."""
    wanted = [name for name, value in values.items() if value is not None]
    for one in arrival.read(session, wanted):
        if one.shown is None:
            raise errors.QueryError(
                f'this server has no setting "{one.name}"',
                "Is it written well? A library's settings are known once it is loaded.",
            )


def _text(value: object) -> str:
    """Return a value of Patroni's configuration as PostgreSQL takes it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
