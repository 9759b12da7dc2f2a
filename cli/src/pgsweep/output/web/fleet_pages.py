"""The page of a fleet. It waits for no node: it shows what was seen last, with its age."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pgsweep.base import errors
from pgsweep.fleet import tables as fleet_tables
from pgsweep.fleet.seats import Seats
from pgsweep.output.logs import LOGGER, say
from pgsweep.output.web import fleet_views as views
from pgsweep.output.web.frame import Frame, static
from pgsweep.output.web.pages import FLEET
from pgsweep.output.web.worker import Worker

if TYPE_CHECKING:
    from pgsweep.fleet.lookout import Lookout
    from pgsweep.fleet.providers import Fleet
    from pgsweep.fleet.tables import TablesSeen
    from pgsweep.output.web.frame import Values, Who
    from pgsweep.output.web.signin import SignIn

EVERY_S = 5
# Tables are read while somebody looks, and no more often than that, in seconds.
TABLES_S = 60.0
# For so long a node may take to tell its tables, in seconds.
TABLES_DEADLINE_S = 10.0


class TablesDesk:
    """Reads the tables of all nodes for whoever looks, who does not wait for it.

    Its sessions are others than the lookout's, and they end when the tables are read.
    """

    def __init__(self) -> None:
        self._worker = Worker("pgsweep-fleet-tables", lambda: None)
        self._pending: asyncio.Future[TablesSeen] | None = None
        self._last: TablesSeen | None = None
        self._at = 0.0

    async def stop(self, patience_s: float) -> None:
        """End the thread, unless it takes longer than that."""
        await self._worker.stop(patience_s)

    def latest(self, fleet: Fleet) -> tuple[TablesSeen | None, float]:
        """Return what was read last, and how old it is. Have it read again if it is old."""
        age_s = time.monotonic() - self._at
        if self._pending is None and (self._last is None or age_s > TABLES_S):
            self._pending = self._worker.do(lambda: _read(fleet))
            self._pending.add_done_callback(self._took)
        return self._last, age_s

    def _took(self, done: asyncio.Future[TablesSeen]) -> None:
        self._pending, self._at = None, time.monotonic()
        failure = done.exception()
        if failure is None:
            self._last = done.result()
        else:
            LOGGER.error("reading tables failed", exc_info=failure)


def _read(fleet: Fleet) -> TablesSeen:
    with Seats() as seats:
        return fleet_tables.look(seats, fleet, TABLES_DEADLINE_S)


class FleetPages(Frame):
    """Answers the requests for the page of a fleet. Nothing is changed here."""

    def __init__(self, lookout: Lookout, sign_in: SignIn | None) -> None:
        super().__init__(sign_in, acts=False, nav=(FLEET,))
        self._lookout = lookout
        self.desk = TablesDesk()

    def routes(self) -> list[Route]:
        """Return the addresses."""
        return [Route("/", self._fleet), Route("/static/{digest}/{name}", static)]

    async def _fleet(self, request: Request) -> Response:
        who = self.who(request)
        if who is None:
            return self.turned_away(request)
        return self._page(request, who)

    def _page(self, request: Request, who: Who) -> Response:
        seen = self._lookout.seen
        every: Values = {"every_s": EVERY_S}
        if seen.fleet is None:
            if not seen.trouble:
                return self.answer(request, who, "fleet.html.j2", {**every, "reading": True})
            trouble = errors.CannotConnectError(seen.trouble)
            return self.answer(request, who, "fleet.html.j2", {**every, "trouble": trouble}, 503)
        found = views.fleet(
            seen,
            views.tables(*self.desk.latest(seen.fleet)),
            request.query_params.get("find", "")[:200],
            request.query_params.get("by", ""),
            time.monotonic(),
        )
        return self.answer(
            request, who, "fleet.html.j2", {**every, "fleet": found, "orders": views.BY}
        )


async def keep_log(lookout: Lookout) -> None:
    """Say in the log which nodes fall silent and which answer again."""
    was: dict[str, str] = {}
    while True:
        seen = lookout.seen
        now = {row.node.name: row.trouble for row in seen.rows if row.is_silent}
        if seen.trouble:
            now[""] = seen.trouble
        for name, why in now.items():
            if name not in was:
                say(logging.ERROR, "cannot read", node=name, error=why)
        for name in was.keys() - now.keys():
            say(logging.INFO, "reads again", node=name)
        was = now
        await asyncio.sleep(1)
