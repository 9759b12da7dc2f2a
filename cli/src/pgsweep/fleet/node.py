"""A node of a fleet, as a provider knows it. All of it is pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from pgsweep.base import errors
from pgsweep.fleet.address import Address

if TYPE_CHECKING:
    from pgsweep.fleet.address import Map

T = TypeVar("T")

# Nodes with these roles take writes, as far as their provider knows.
PRIMARIES = frozenset({"primary", "leader", "coordinator", "worker", "segment"})
STANDBYS = frozenset(
    {"replica", "sync_standby", "quorum_standby", "standby_leader", "standby", "mirror"}
)


@dataclass(frozen=True)
class Node:
    """A server of a fleet."""

    name: str
    # nodes that belong together: a Patroni cluster, a Citus cluster, a place
    group: str
    # the provider's word: leader, worker, mirror and so on. It is empty where nobody says.
    role: str
    # The address as the provider has it. None is libpq's default, or its service's.
    host: str | None
    port: int | None
    # the machine: nodes with the same one share its disks
    host_id: str
    provider: str = "file"
    # what goes to libpq beside the address
    service: str | None = None
    dbname: str | None = None
    user: str | None = None
    options: str | None = None
    # What the provider says of its state. It is empty if all is well.
    state: str = ""
    # Why it is not asked at all. It is empty if it is asked.
    unasked: str = ""
    # how far it is behind, in bytes, and on which timeline
    lag_bytes: int | None = None
    timeline: int | None = None
    # Citus: the cluster, the number that global pids begin with, the group that placements name
    citus: str | None = None
    node_id: int | None = None
    group_id: int | None = None
    # Patroni: the addresses of its REST API
    patroni: tuple[str, ...] = ()

    @property
    def address(self) -> Address:
        """Return the address as the provider has it."""
        return Address(self.host, self.port)


@dataclass(frozen=True)
class Found:
    """What a provider knows: the nodes, and what has to be said about them."""

    nodes: tuple[Node, ...] = ()
    notes: tuple[str, ...] = ()


def understood(
    rows: Iterable[T], make: Callable[[T], Node], what: str
) -> tuple[list[Node], list[str]]:
    """Return the nodes of rows, and a sentence for each row of `what` that makes no sense."""

    def tried(row: T) -> Node | str:
        try:
            return make(row)
        except ValueError as exc:
            return f"{what} is left out: {exc}."

    found = [tried(row) for row in rows]
    nodes = [one for one in found if isinstance(one, Node)]
    return nodes, [one for one in found if isinstance(one, str)]


def merged(found: Iterable[Found]) -> Found:
    """Return the nodes of all providers, each server once, with names that differ.

    A server is the same if its address is. The first provider names it. A provider other than
    the file says better what its role and state are.
    """
    kept: dict[object, Node] = {}
    notes: dict[str, None] = {}
    for part in found:
        notes.update(dict.fromkeys(part.notes))
        for node in part.nodes:
            key = _identity(node)
            kept[key] = _both(kept[key], node) if key in kept else node
    return Found(_named(tuple(kept.values())), tuple(notes))


def _identity(node: Node) -> object:
    if node.host is None:
        # A member of Patroni that has no address yet has nothing but its name.
        return ("service", node.service) if node.service else (node.group, node.name)
    return (node.host, node.port, node.options)


def _both(first: Node, second: Node) -> Node:
    """Return a node that two providers know."""
    knows = second if second.provider != "file" else first
    return replace(
        first,
        group=first.group or second.group,
        role=knows.role or first.role or second.role,
        provider=knows.provider,
        state=knows.state or first.state,
        unasked=first.unasked or second.unasked,
        service=first.service or second.service,
        dbname=first.dbname or second.dbname,
        user=first.user or second.user,
        lag_bytes=_known(second.lag_bytes, first.lag_bytes),
        timeline=_known(second.timeline, first.timeline),
        citus=first.citus or second.citus,
        node_id=_known(first.node_id, second.node_id),
        group_id=_known(first.group_id, second.group_id),
        patroni=first.patroni or second.patroni,
    )


def _known(one: int | None, other: int | None) -> int | None:
    return one if one is not None else other


def _named(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the nodes with names that differ: with their group where that helps, else numbered."""
    found = _renamed(tuple(nodes), lambda node: f"{node.group}/{node.name}" if node.group else "")
    found = _renamed(found, lambda node: f"{node.name} {node.address}")
    seen: Counter[str] = Counter()
    unique = []
    for node in found:
        seen[node.name] += 1
        number = seen[node.name]
        unique.append(node if number == 1 else replace(node, name=f"{node.name} #{number}"))
    return tuple(unique)


def _renamed(nodes: tuple[Node, ...], longer: Callable[[Node], str]) -> tuple[Node, ...]:
    counts = Counter(node.name for node in nodes)
    return tuple(
        replace(node, name=longer(node) or node.name) if counts[node.name] > 1 else node
        for node in nodes
    )


def chosen(nodes: Sequence[Node], names: Sequence[str], groups: Sequence[str]) -> tuple[Node, ...]:
    """Return the nodes of these names and groups. Without any it returns all of them."""
    for what, wanted, known in (
        ("node", names, {node.name for node in nodes}),
        ("group", groups, {node.group for node in nodes if node.group}),
    ):
        for name in wanted:
            if name not in known:
                there = ", ".join(sorted(known)[:8]) or "none"
                raise errors.UsageError(
                    f'there is no {what} "{name}" in this fleet', f"There are: {there}."
                )
    return tuple(
        node
        for node in nodes
        if (not names or node.name in names) and (not groups or node.group in groups)
    )


def reached(nodes: Sequence[Node], places: Map) -> tuple[Node, ...]:
    """Return the nodes with the addresses at which they are reached from here."""

    def moved(node: Node) -> Node:
        if node.host is None:
            return node
        there = places.reached(node.address)
        return replace(node, host=there.host, port=there.port)

    return tuple(moved(node) for node in nodes)
