"""The agents of all servers: one thread for each."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
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
        self._at_work: dict[tuple[str | None, int | None, str | None], threading.Thread] = {}

    def look_after(self, target: Target, choice: Choice | None, deadline: float, once: bool) -> int:
        """Look after one server, or all nodes of a fleet that take writes. Return the exit code."""
        if choice is None:
            self._look_after_one(target, once)
        else:
            self._look_after_fleet(choice, deadline, once)
        return 0

    def _look_after_one(self, target: Target, once: bool) -> None:
        one = self._agent(target, "")
        if once:
            one.step()
            one.close()
        else:
            one.run()

    def _look_after_fleet(self, choice: Choice, deadline: float, once: bool) -> None:
        roster = providers.Roster(choice, deadline)
        while True:
            try:
                for node in roster.find().nodes:
                    self._send(node, once)
            except errors.DatabaseError as exc:
                LOGGER.log(logging.WARNING, "nobody says who is there: %s", exc.one_line())
            if once or self._stop.wait(ROSTER_S):
                break
        for thread in self._at_work.values():
            thread.join()

    def _agent(self, target: Target, name: str) -> Agent:
        return Agent(target, self._store, self._rules, self._stop, name, self._password)

    def _send(self, node: Node, once: bool) -> None:
        """Have somebody look after a node, unless that is so."""
        key = node.host, node.port, node.service
        thread = self._at_work.get(key)
        if node.unasked or node.role in STANDBYS or (thread is not None and thread.is_alive()):
            return
        one = self._agent(providers.target_of(node), node.name)
        thread = threading.Thread(target=_once if once else Agent.run, args=(one,), daemon=False)
        self._at_work[key] = thread
        thread.start()


def _once(one: Agent) -> None:
    one.attempt()
    one.close()
