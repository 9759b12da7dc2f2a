"""The pages of single nodes of a fleet: those of one server, below an address of its own.

A node's session is opened when somebody looks, and ends when nobody has for a while.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Router
from starlette.types import Receive, Scope, Send

from pgsweep.fleet.providers import target_of
from pgsweep.output.web.desk import Desk
from pgsweep.output.web.fleet_views import key
from pgsweep.output.web.pages import Pages
from pgsweep.source import db

if TYPE_CHECKING:
    from pgsweep.fleet.lookout import Lookout
    from pgsweep.fleet.node import Node
    from pgsweep.output.web.signin import SignIn
    from pgsweep.source.db import Session

# So many nodes can be looked at at a time. A look at another one ends the oldest.
OPEN = 8
IDLE_S = 120.0
END_PATIENCE_S = 1.0


@dataclass
class _Open:
    """A node that somebody looks at."""

    node: Node
    desk: Desk
    router: Router
    used_at: float


class NodePages:
    """Answers below /node/KEY/."""

    def __init__(self, lookout: Lookout, sign_in: SignIn | None) -> None:
        self._lookout, self._sign_in = lookout, sign_in
        self._open: dict[str, _Open] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def route(self) -> Mount:
        """Return the address."""
        return Mount("/node/{key}", app=self)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        name = scope["path_params"]["key"]
        node = next((n for n in self._nodes() if key(n.name) == name), None)
        if node is None or node.unasked:
            gone = PlainTextResponse("There is no such node. / has all of them.\n", 404)
            await gone(scope, receive, send)
            return
        there = self._opened(name, node)
        there.used_at = time.monotonic()
        await there.router(scope, receive, send)

    def _nodes(self) -> tuple[Node, ...]:
        fleet = self._lookout.seen.fleet
        return fleet.nodes if fleet is not None else ()

    def _opened(self, name: str, node: Node) -> _Open:
        there = self._open.get(name)
        if there is not None and there.node == node:
            return there
        if there is not None:
            # It has another address now.
            self._end(name)
        elif len(self._open) >= OPEN:
            self._end(min(self._open, key=lambda each: self._open[each].used_at))
        desk = Desk(lambda: _session(node))
        pages = Pages(desk, self._sign_in, acts=False, base=f"/node/{name}", node=node.name)
        self._open[name] = _Open(node, desk, Router(routes=pages.routes()), 0.0)
        return self._open[name]

    def _end(self, name: str) -> None:
        task = asyncio.ensure_future(self._open.pop(name).desk.stop(END_PATIENCE_S))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def keep(self) -> None:
        """End the sessions to nodes that nobody looks at any more, again and again."""
        while True:
            await asyncio.sleep(IDLE_S / 4)
            now = time.monotonic()
            for name in [n for n, one in self._open.items() if now - one.used_at > IDLE_S]:
                self._end(name)

    async def stop(self) -> None:
        """End all sessions."""
        for name in list(self._open):
            self._end(name)
        await asyncio.gather(*self._ending)


def _session(node: Node) -> Session:
    return db.light(db.connect(target_of(node), extra=db.KEEPALIVES))
