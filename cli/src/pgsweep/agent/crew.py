"""The agents of all servers: one thread for each."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pgsweep.agent.loop import LOGGER, Agent
from pgsweep.base import errors
from pgsweep.fleet import providers
from pgsweep.fleet.node import STANDBYS

if TYPE_CHECKING:
    from pgsweep.agent.rules import Rules
    from pgsweep.agent.store import Store
    from pgsweep.fleet.node import Node
    from pgsweep.fleet.providers import Choice
    from pgsweep.source.db import Target

# Who is there is asked again after so long.
ROSTER_S = 60.0
JOIN_S = 0.5

# Where a node is: host, port and service
Where = tuple["str | None", "int | None", "str | None"]


@dataclass(frozen=True)
class Hand:
    """Who looks after a node, and what ends that."""

    thread: threading.Thread
    stop: threading.Event


class Crew:
    """Looks after one server or a fleet until `stop` is set."""

    def __init__(
        self,
        store: Store,
        rules: Rules,
        stop: threading.Event,
        password: Callable[[], str] | None = None,
    ) -> None:
        self._password = password
        self._store = store
        self._rules = rules
        self._stop = stop
        self._at_work: dict[Where, Hand] = {}

    def look_after(self, target: Target, choice: Choice | None, deadline: float, once: bool) -> int:
        """Look after one server, or all nodes of a fleet that take writes. Return the exit code."""
        if choice is None:
            self._look_after_one(target, once)
        else:
            self._look_after_fleet(choice, deadline, once)
        return 0

    def _look_after_one(self, target: Target, once: bool) -> None:
        one = self._agent(target, "", self._stop)
        if once:
            one.step()
            one.close()
        else:
            one.run()

    def _look_after_fleet(self, choice: Choice, deadline: float, once: bool) -> None:
        roster = providers.Roster(choice, deadline)
        while True:
            try:
                self._send_to(roster.find().nodes, once)
            except errors.DatabaseError as exc:
                LOGGER.log(logging.WARNING, "nobody says who is there: %s", exc.one_line())
            if once or self._stop.wait(ROSTER_S):
                break
        while alive := [hand for hand in self._at_work.values() if hand.thread.is_alive()]:
            if not once or self._stop.is_set():
                for hand in alive:
                    hand.stop.set()
            alive[0].thread.join(JOIN_S)

    def _agent(self, target: Target, name: str, stop: threading.Event) -> Agent:
        target = replace(target, password=self._password)
        return Agent(target, self._store, self._rules, stop, name)

    def _send_to(self, nodes: Sequence[Node], once: bool) -> None:
        """Have somebody look after each node, and nobody after those that have left."""
        for where in self._at_work.keys() - {_where(node) for node in nodes}:
            self._at_work.pop(where).stop.set()
        for node in nodes:
            self._send(node, once)

    def _send(self, node: Node, once: bool) -> None:
        """Have somebody look after a node, unless that is so."""
        hand = self._at_work.get(_where(node))
        if node.unasked or node.role in STANDBYS or (hand is not None and hand.thread.is_alive()):
            return
        stop = threading.Event()
        one = self._agent(providers.target_of(node), node.name, stop)
        work = _once if once else Agent.run
        thread = threading.Thread(target=work, args=(one,), name=f"agent of {node.name}")
        self._at_work[_where(node)] = Hand(thread, stop)
        thread.start()


def _where(node: Node) -> Where:
    return node.host, node.port, node.service


def _once(one: Agent) -> None:
    one.attempt()
    one.close()
